"""Scores a table with a plan: ranges of rows, on as many threads as asked for.

In: a plan, columns, choice sets. Out: `Scores` for all rows, and `Details` or `Told` for the rows that are asked for.
They are equal to what `evaluate` says, whatever the engine, the size of blocks and the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Columns
from ucl.kernels.engines.choice import EngineName, choose
from ucl.kernels.engines.engine import Engine, Fill, Kept, Results
from ucl.kernels.execution.distinct import take
from ucl.kernels.execution.masks import Words, pack, words_for
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.execution.vector import Vector
from ucl.kernels.execution.whole import Groups, add_wholes
from ucl.kernels.plan import Outcomes, Plan
from ucl.semantics.outcome import Invalid, Reason

_RANGES_A_THREAD = 8
# What engines look at together.
_BLOCK = 4096
_FAILED_AT_ONCE = 1 << 16
# Of rows that are told of at once; and of one row's lists, about.
_TOLD_BYTES, _LISTED_BYTES = 1 << 25, 64

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]


@frozen
class Scores:
    """For every row: `total` in units of 10^-9, `feasible`, `contested`; of rows that are not `valid`, 0 and false.

    `invalid` says why, by row: what `columns` found, or the first rule or constraint that can't be evaluated.
    """

    total: Ints
    feasible: Bits
    contested: Bits
    valid: Bits
    invalid: Mapping[int, Invalid]


@frozen
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


@frozen
class Lists:
    """By row some of `names`: row i has those that `numbers[ends[i]:ends[i + 1]]` number, in source order."""

    names: tuple[str, ...]
    ends: Ints
    numbers: NDArray[np.int32]


@frozen
class Told:
    """The same of a range of rows as lists, empty in invalid rows; `amounts` has a contribution for each of `counted`,
    in units of 10^-9."""

    rows: int
    fired: Lists
    violated: Lists
    shadow: Lists
    counted: Lists
    amounts: Ints


class BoundsError(Exception):
    """One of the columns' bounds does not hold: the table must be read again."""


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
    before kernels are compiled, which takes some seconds once per machine. Raises `BoundsError`.
    """
    engine_of = choose(engine, columns.rows, plan.scoring.rows, on_compile)
    binding = Binding(plan, columns)
    if binding.formulas.wholes and not all(bounds.hold() for bounds in columns.bounds):
        raise BoundsError
    add_wholes(binding, columns, groups)
    results = _no_results(columns.rows)
    fill = engine_of.start(plan, binding, results, block_rows)
    size = block_rows or _rows_at_once(engine_of.rows_at_once, columns.rows, threads)
    ranges = [(start, min(start + size, columns.rows)) for start in range(0, columns.rows, size)]
    _fill_all(fill, ranges, results, min(threads, len(ranges)))
    if results.outside[0]:
        raise BoundsError
    return _scores(plan, binding, columns, results)


def _fill_all(fill: Fill, ranges: Sequence[tuple[int, int]], results: Results, threads: int) -> None:
    """On so many threads, this one among them: each takes the next range that nobody has, while bounds hold."""
    waiting = iter(ranges)  # of a list: no two threads get the same

    def work() -> None:
        for rows in waiting:
            if results.outside[0]:
                break
            fill(*rows)

    if threads <= 1:
        work()
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
    for other in others:
        other.result()


def _rows_at_once(most: int, rows: int, threads: int) -> int:
    """Whole blocks, and a few ranges for each thread, so that they end together."""
    if threads == 1:
        return most
    share = -(-rows // (threads * _RANGES_A_THREAD))
    return max(_BLOCK, min(most, share // _BLOCK * _BLOCK))


def _no_results(rows: int) -> Results:
    bits = (np.empty(rows, np.bool_), np.empty(rows, np.bool_), np.zeros(rows, np.bool_))
    return Results(np.empty(rows, np.int64), *bits, np.zeros(1, np.int64))


def _scores(plan: Plan, binding: Binding, columns: Columns, results: Results) -> Scores:
    """The results, with what rows that are invalid are told."""
    invalid = {row: Invalid(cell.field, Reason(cell.reason), cell.value) for row, cell in columns.invalid.items()}
    valid = np.ones(columns.rows, np.bool_)
    valid[list(invalid)] = False
    if plan.outcomes.failures:
        failed = np.flatnonzero(results.failed)
        invalid.update(_failures(plan, binding, columns, failed[valid[failed]]))
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


def tell(
    plan: Plan, columns: Columns, wholes: Sequence[Vector], valid: Bits, engine: EngineName = "auto"
) -> Iterator[Told]:
    """What is said of all rows, range after range; each takes a bounded part of memory. There is at least one range.

    `wholes` is what `whole_columns` gave for these rows, `valid` what `score` did.
    """
    engine_of = choose(engine, columns.rows, plan.detailed.rows)
    keep = engine_of.keep(plan, Binding(plan, columns, wholes))
    a_row = len(plan.outcomes.told) // 8 + 8 * len(plan.varying) + _LISTED_BYTES
    size = max(min(2 * engine_of.rows_at_once, _TOLD_BYTES // a_row) // 64, 1) * 64
    for start in range(0, max(columns.rows, 1), size):
        stop = min(start + size, columns.rows)
        yield _told(plan, keep(start, stop), valid[start:stop], engine_of)


def _told(plan: Plan, kept: Kept, valid: Bits, engine: Engine) -> Told:
    """The masks of a range of rows as lists."""
    outcomes, rows = plan.outcomes, len(valid)
    only = np.empty(words_for(rows), np.uint64)
    pack(valid, only)
    fired, violated, shadow, added, _ = _shares(outcomes, kept.masks & only)

    def lists(names: tuple[str, ...], masks: Words) -> Lists:
        return Lists(names, *engine.lists(np.ascontiguousarray(masks), rows))

    each = lists(outcomes.rules, added)
    added_by = outcomes.contributions
    varying = np.array([c.varying is not None for c in added_by], np.bool_)
    constants = np.array([c.amount or 0 for c in added_by], np.int64)
    places = np.where(varying, np.cumsum(varying) - 1, -1)
    of_rule = np.array([c.rule for c in added_by], np.int32)
    return Told(
        rows,
        lists(outcomes.rules, fired),
        lists(outcomes.constraints, violated),
        lists(outcomes.shadows, shadow),
        replace(each, numbers=of_rule[each.numbers]),
        engine.amounts(each.ends, each.numbers, constants, places, kept.values),
    )


def _shares(outcomes: Outcomes, masks: Words) -> list[Words]:
    """`fired`, `violated`, `shadow`, those of contributions, `failed`."""
    parts = (outcomes.fired, outcomes.violated, outcomes.shadow, outcomes.contributions)
    return np.split(masks, np.cumsum([len(part) for part in parts]))


def details(
    plan: Plan,
    columns: Columns,
    rows: slice | Ints,
    groups: Groups | None = None,
    wholes: Sequence[Vector] | None = None,
    engine: EngineName = "portable",
) -> Details:
    """What fired, was violated and contributed in the rows asked for. Batch builtins see the whole table; `wholes` is
    what `whole_columns` gave for it."""
    numbers = np.arange(columns.rows)[rows]
    everywhere = whole_columns(plan, columns, groups) if wholes is None else wholes
    binding = Binding(plan, rows_of(columns, numbers), [take(vector, numbers) for vector in everywhere])
    outcomes, count = plan.outcomes, len(numbers)
    kept = choose(engine, count, plan.detailed.rows).keep(plan, binding)(0, count)
    parts = [
        np.unpackbits(part.view(np.uint8), axis=1, count=count, bitorder="little").view(np.bool_).T
        for part in _shares(outcomes, kept.masks)
    ]
    valid = ~np.isin(numbers, np.fromiter(columns.invalid, np.int64, len(columns.invalid)))
    valid &= ~parts.pop()[:, 0]
    fired, violated, shadow, added = (np.ascontiguousarray(part & valid[:, None]) for part in parts)
    counted = np.zeros((count, len(outcomes.rules)), np.bool_)
    contributions = np.zeros(counted.shape, np.int64)
    own = iter(kept.values)
    for contribution, here in zip(outcomes.contributions, added.T, strict=True):
        counted[:, contribution.rule] |= here
        amounts = np.int64(contribution.amount or 0) if contribution.varying is None else next(own)
        np.copyto(contributions[:, contribution.rule], amounts, where=here)
    names = (outcomes.rules, outcomes.constraints, outcomes.shadows)
    return Details(*names, fired, violated, shadow, counted, contributions)
