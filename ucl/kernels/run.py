"""Scores a table with a plan: ranges of rows, on as many threads as asked for.

In: a plan, columns, choice sets. Out: `Scores` for all rows, and `Details` for the rows that are asked for. Both are
equal to what `evaluate` says, whatever the engine, the size of blocks and the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns
from ucl.kernels.engines.choice import EngineName, choose
from ucl.kernels.engines.engine import Results
from ucl.kernels.execution.distinct import take
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.execution.vector import Vector
from ucl.kernels.execution.whole import Groups, add_wholes
from ucl.kernels.plan import Plan
from ucl.semantics.outcome import Invalid, Reason

_RANGES_A_THREAD = 8
_LEAST_RANGE = 4096
_FAILED_AT_ONCE = 1 << 16

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

    `block_rows`, how many rows are looked at together, is the engine's own number unless given. `on_compile` is called
    before kernels are compiled, which takes some seconds once per machine.
    """
    engine_of = choose(engine, columns.rows, plan.scoring.rows, on_compile)
    binding = Binding(plan, columns)
    add_wholes(binding, columns, groups)
    results = _no_results(columns.rows)
    fill = engine_of.start(plan, binding, results, block_rows)
    size = block_rows or _rows_at_once(engine_of.rows_at_once, columns.rows, threads)
    ranges = [(start, min(start + size, columns.rows)) for start in range(0, columns.rows, size)]
    if threads > 1 and len(ranges) > 1:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(threads, len(ranges))) as pool:
            list(pool.map(lambda rows: fill(*rows), ranges))
    else:
        for rows in ranges:
            fill(*rows)
    return _scores(plan, binding, columns, results)


def _rows_at_once(most: int, rows: int, threads: int) -> int:
    """Whole words of a mask, and a few ranges for each thread, so that they end together."""
    if threads == 1:
        return most
    share = -(-rows // (threads * _RANGES_A_THREAD))
    return max(_LEAST_RANGE, min(most, -(-share // 64) * 64))


def _no_results(rows: int) -> Results:
    bits = (np.empty(rows, np.bool_), np.empty(rows, np.bool_), np.zeros(rows, np.bool_))
    return Results(np.empty(rows, np.int64), *bits)


def _scores(plan: Plan, binding: Binding, columns: Columns, results: Results) -> Scores:
    """The results, with what rows that are invalid are told."""
    invalid = {row: Invalid(cell.field, Reason(cell.reason), cell.value) for row, cell in columns.invalid.items()}
    valid = np.ones(columns.rows, np.bool_)
    valid[list(invalid)] = False
    if plan.outcomes.failures:
        invalid.update(_failures(plan, binding, columns, np.flatnonzero(results.failed & valid)))
    rows = np.fromiter(invalid, np.int64, len(invalid))
    valid[rows] = False
    results.total[rows] = 0
    results.feasible[rows] = False
    results.contested[rows] = False
    return Scores(results.total, results.feasible, results.contested, valid, dict(sorted(invalid.items())))


def _failures(plan: Plan, binding: Binding, columns: Columns, rows: Ints) -> dict[int, Invalid]:
    """The first failure in source order of each of these rows, which all have one."""
    found: dict[int, Invalid] = {}
    for first in range(0, len(rows), _FAILED_AT_ONCE):
        some = rows[first : first + _FAILED_AT_ONCE]
        there = Binding(plan, rows_of(columns, some), [take(whole, some) for whole in binding.wholes])
        execution = Execution(there, plan.scoring, 0, len(some))
        pending = np.ones(len(some), np.bool_)
        for failure in plan.outcomes.failures:
            here = pending & execution.bits(failure.mask)
            found |= dict.fromkeys(some[here].tolist(), Invalid(failure.name, failure.reason))
            pending &= ~here
            if not pending.any():
                break
    return found


# --- details --------------------------------------------------------------------------------------------------------


def whole_columns(plan: Plan, columns: Columns, groups: Groups | None = None) -> list[Vector]:
    """What only the whole table gives, for each of its rows: worth keeping by who asks for details more than once."""
    whole = Binding(plan, columns)
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
    numbers = np.arange(columns.rows)[rows]
    everywhere = whole_columns(plan, columns, groups) if wholes is None else wholes
    wholes = [take(vector, numbers) for vector in everywhere]
    execution = Execution(Binding(plan, rows_of(columns, numbers), wholes), plan.detailed, 0, len(numbers))
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
