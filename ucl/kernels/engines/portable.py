"""Scores in NumPy: the engine that is always there, and that small tables are answered with.

In and out: as `engine.Engine` says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.engines.engine import Fill, Keep, Kept, Results
from ucl.kernels.execution import masks
from ucl.kernels.execution.masks import Ints, Words, amounts, lists
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.plan import Plan


class Portable:
    """`Engine` in NumPy. Blocks are large, since each call costs a few microseconds."""

    name = "portable"
    rows_at_once = 1 << 16

    def start(self, plan: Plan, binding: Binding, results: Results, block_rows: int | None) -> Fill:
        size = block_rows or self.rows_at_once
        results.outside[0] = not all(each.hold() for each in binding.bounds)

        def fill(start: int, stop: int) -> None:
            for first in range(start, stop, size):
                _score_block(plan, binding, results, first, min(first + size, stop))

        return fill

    def keep(self, plan: Plan, binding: Binding) -> Keep:
        def keep(start: int, stop: int) -> Kept:
            execution = Execution(binding, plan.detailed, start, stop)
            values = np.empty((len(plan.varying), stop - start), np.int64)
            for row, (_, value) in zip(values, plan.varying, strict=True):
                row[:] = execution.vector(value).values
            return Kept(execution.words(plan.outcomes.told), values)

        return keep

    def lists(self, masks: Words, rows: int) -> tuple[Ints, NDArray[np.int32]]:
        return lists(masks, rows)

    def amounts(self, ends: Ints, numbers: NDArray[np.int32], constants: Ints, places: Ints, values: Ints) -> Ints:
        return amounts(ends, numbers, constants, places, values)


def _score_block(plan: Plan, binding: Binding, results: Results, start: int, stop: int) -> None:
    execution = Execution(binding, plan.scoring, start, stop)
    totals = results.total[start:stop]
    totals[:] = 0
    masks.add(execution.masks, plan.constant_literals.tolist(), plan.constant_amounts.tolist(), totals)
    for mask, value in plan.varying:
        values = np.broadcast_to(execution.vector(value).values, totals.shape)
        np.add(totals, values, out=totals, where=execution.bits(mask))
    results.feasible[start:stop] = ~execution.bits(plan.outcomes.infeasible)
    results.contested[start:stop] = execution.bits(plan.outcomes.contested)
    results.failed[start:stop] = execution.bits(plan.outcomes.failed)
