"""Scores a table with a plan: blocks of rows, on as many threads as asked for.

In: a plan, columns, choice sets. Out: `Scores` for all rows, and `Details` for the rows that are asked for. Both are
equal to what `evaluate` says, whatever the engine, the size of blocks and the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns
from ucl.kernels.engines.choice import EngineName, choose
from ucl.kernels.engines.portable import Portable
from ucl.kernels.execution.distinct import take
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.execution.vector import Vector
from ucl.kernels.execution.whole import Groups, add_wholes
from ucl.kernels.plan import Outcomes, Plan
from ucl.semantics.outcome import Invalid, Reason

_BLOCKS_A_THREAD = 4
_LEAST_BLOCK = 4096

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Scores:
    """For every row: `total` in units of 10^-9, `feasible`, `contested`; of rows that are not `valid`, 0 and false.

    `invalid` says why, by row: what `columns` found, or the first rule or constraint that can't be evaluated.
    """

    total: Ints
    feasible: Bits
    contested: Bits
    valid: Bits
    invalid: Mapping[int, Invalid]


@dataclass(frozen=True)
class Details:
    """For the rows asked for: matrices of shape (rows, names), false and 0 in invalid rows. Names are in source order.

    `contributions` are of `rules`, in units of 10^-9, where `counted`: firing and not dropped by priority.
    """

    rules: tuple[str, ...]
    constraints: tuple[str, ...]
    shadows: tuple[str, ...]
    fired: Bits
    violated: Bits
    shadow: Bits
    counted: Bits
    contributions: Ints


# --- scores ---------------------------------------------------------------------------------------------------------


def score(
    plan: Plan,
    columns: Columns,
    *,
    groups: Groups | None = None,
    threads: int = 1,
    engine: EngineName = "auto",
    block_rows: int | None = None,
    on_compile: Callable[[], None] | None = None,
) -> Scores:
    """Scores every row. `groups` has a number for each row's choice set; without it the table is one.

    `block_rows` is the engine's own unless given. `on_compile` is called before kernels are compiled, which takes some
    seconds once per machine.
    """
    chosen = choose(engine, columns.rows, plan.scoring.rows, on_compile)
    binding = Binding(plan, columns, chosen)
    add_wholes(binding, columns, groups)
    result = _Result.empty(columns)
    size = block_rows or _block_rows(chosen.block_rows, columns.rows, threads)
    blocks = [(start, min(start + size, columns.rows)) for start in range(0, columns.rows, size)]
    adder = _Adder(plan)
    if threads > 1 and len(blocks) > 1:
        with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
            failed = list(pool.map(lambda block: _score_block(plan, binding, adder, result, *block), blocks))
    else:
        failed = [_score_block(plan, binding, adder, result, *block) for block in blocks]
    return result.scores(failed)


def _block_rows(most: int, rows: int, threads: int) -> int:
    """Whole words of a mask, and a few blocks for each thread, so that they end together."""
    if threads == 1:
        return most
    share = -(-rows // (threads * _BLOCKS_A_THREAD))
    return max(_LEAST_BLOCK, min(most, -(-share // 64) * 64))


@dataclass(frozen=True)
class _Result:
    """Arrays that blocks fill, each its own rows; totals are padded to whole words of a mask."""

    columns: Columns
    total: Ints
    feasible: Bits
    contested: Bits
    valid: Bits

    @staticmethod
    def empty(columns: Columns) -> _Result:
        rows = columns.rows
        valid = np.ones(rows, np.bool_)
        valid[list(columns.invalid)] = False
        return _Result(columns, np.zeros(rows, np.int64), np.empty(rows, np.bool_), np.empty(rows, np.bool_), valid)

    def scores(self, failed: Sequence[Mapping[int, Invalid]]) -> Scores:
        invalid = {
            row: Invalid(cell.field, Reason(cell.reason), cell.value) for row, cell in self.columns.invalid.items()
        }
        for found in failed:
            invalid.update(found)
        rows = np.fromiter(invalid, np.int64, len(invalid))
        self.valid[rows] = False
        self.total[rows] = 0
        self.feasible[rows] = False
        self.contested[rows] = False
        return Scores(self.total, self.feasible, self.contested, self.valid, dict(sorted(invalid.items())))


class _Adder:
    """What scoring adds up: constants by mask, and values by mask."""

    def __init__(self, plan: Plan) -> None:
        place = plan.scoring.place
        constant = [(place[c.mask], c.amount) for c in plan.outcomes.contributions if c.amount]
        self.literals = np.array([literal for literal, _ in constant], np.int64)
        self.amounts = np.array([amount for _, amount in constant], np.int64)
        self.varying = [(c.mask, c.varying) for c in plan.outcomes.contributions if c.varying is not None]


def _score_block(
    plan: Plan, binding: Binding, adder: _Adder, result: _Result, start: int, stop: int
) -> dict[int, Invalid]:
    """Fills the block's rows of the result; returns why rows of it are invalid that looked valid."""
    outcomes = plan.outcomes
    execution = Execution(binding, plan.scoring, start, stop)
    totals = result.total[start:stop]
    binding.engine.add(execution.masks, adder.literals, adder.amounts, totals)
    for mask, value in adder.varying:
        execution.add_values(mask, value, totals)
    result.feasible[start:stop] = ~execution.bits(outcomes.infeasible)
    result.contested[start:stop] = execution.bits(outcomes.contested)
    return _failures(outcomes, execution, result.valid[start:stop])


def _failures(outcomes: Outcomes, execution: Execution, valid: Bits) -> dict[int, Invalid]:
    """The first failure in source order of each row that has one."""
    pending = execution.bits(outcomes.failed) & valid
    found: dict[int, Invalid] = {}
    for failure in outcomes.failures:
        if not pending.any():
            break
        here = pending & execution.bits(failure.mask)
        found |= {execution.start + row: Invalid(failure.name, failure.reason) for row in np.flatnonzero(here).tolist()}
        pending &= ~here
    return found


# --- details --------------------------------------------------------------------------------------------------------


def whole_columns(plan: Plan, columns: Columns, groups: Groups | None = None) -> list[Vector]:
    """What only the whole table gives, for each of its rows: worth keeping by who asks for details more than once."""
    whole = Binding(plan, columns, Portable())
    add_wholes(whole, columns, groups)
    return whole.wholes


def details(
    plan: Plan,
    columns: Columns,
    rows: slice | Ints,
    groups: Groups | None = None,
    wholes: Sequence[Vector] | None = None,
) -> Details:
    """What fired, was violated and contributed in the rows asked for. Batch builtins see the whole table; `wholes` is
    what `whole_columns` gave for it."""
    engine = Portable()
    numbers = np.arange(columns.rows)[rows]
    everywhere = whole_columns(plan, columns, groups) if wholes is None else wholes
    wholes = [take(vector, numbers) for vector in everywhere]
    execution = Execution(Binding(plan, rows_of(columns, numbers), engine, wholes), plan.detailed, 0, len(numbers))
    outcomes = plan.outcomes
    valid = ~np.isin(numbers, np.fromiter(columns.invalid, np.int64, len(columns.invalid)))
    valid &= ~execution.bits(outcomes.failed)

    def matrix(literals: Sequence[int]) -> Bits:
        bits = np.zeros((len(numbers), len(literals)), np.bool_)
        for column, literal in enumerate(literals):
            bits[:, column] = execution.bits(literal) & valid
        return bits

    counted = np.zeros((len(numbers), len(outcomes.rules)), np.bool_)
    contributions = np.zeros(counted.shape, np.int64)
    for contribution in outcomes.contributions:
        here = execution.bits(contribution.mask) & valid
        counted[:, contribution.rule] |= here
        varying = contribution.varying
        amounts = np.int64(contribution.amount or 0) if varying is None else execution.vector(varying).values
        np.copyto(contributions[:, contribution.rule], amounts, where=here)
    return Details(
        outcomes.rules,
        outcomes.constraints,
        outcomes.shadows,
        matrix(outcomes.fired),
        matrix(outcomes.violated),
        matrix(outcomes.shadow),
        counted,
        contributions,
    )
