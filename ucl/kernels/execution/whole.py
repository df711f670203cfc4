"""Columns that only the whole table gives: batch builtins over choice sets, and what is left to `evaluate`.

In: a binding whose earlier whole columns are there, the rows whose data are valid, the choice sets. Out: a `Vector` for
all rows. Rows whose data are invalid hold nothing that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Columns
from ucl.kernels.execution.distinct import Record, distinct_records, dtype_of, evaluate_each, take
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.execution.vector import Vector
from ucl.kernels.lowering.reads import reads_batch
from ucl.kernels.plan import Batch, MadeTexts, Plan, Residual
from ucl.semantics import aggregates
from ucl.semantics.expressions import Budget, ChoiceSet, Frame
from ucl.semantics.operations import Overflow

Groups = NDArray[np.int64]


def compares_rows(plan: Plan) -> bool:
    """Whether what is said of a row depends on other rows, so that a table can't be scored in parts."""
    return any(
        isinstance(whole, Batch) or (isinstance(whole, Residual) and reads_batch(whole.expression))
        for whole in plan.wholes
    )


def add_wholes(binding: Binding, columns: Columns, groups: Groups | None) -> None:
    """Computes the plan's whole columns, each from those before it."""
    if not binding.formulas.wholes:
        return
    valid = np.ones(columns.rows, np.bool_)
    valid[list(columns.invalid)] = False
    choice_sets = np.zeros(columns.rows, np.int64) if groups is None else np.unique(groups, return_inverse=True)[1]
    for whole in binding.formulas.wholes:
        if isinstance(whole, Batch):
            vector = _batch(whole, Execution(binding, whole.schedule, 0, columns.rows), valid, choice_sets)
        elif isinstance(whole, MadeTexts):
            vector = _made_texts(whole, binding, columns.rows)
        else:
            vector = _residual(whole, binding, columns, np.flatnonzero(valid), choice_sets)
        binding.add_whole(vector)


def _made_texts(made: MadeTexts, binding: Binding, rows: int) -> Vector:
    """The texts' codes."""
    execution = Execution(binding, made.schedule, 0, rows)
    codes = np.broadcast_to(execution.vector(made.codes).values, (rows,)).astype(np.int32)
    return Vector(codes, missing=~execution.bits(made.there))


# --- what is left to `evaluate` -------------------------------------------------------------------------------------


def _residual(
    residual: Residual, binding: Binding, columns: Columns, rows: NDArray[np.int64], choice_sets: Groups
) -> Vector:
    """Evaluated for each distinct tuple; of each choice set, where a batch builtin stands inside."""
    call = binding.formulas.call
    valid = columns if len(rows) == columns.rows else rows_of(columns, rows)
    batch = reads_batch(residual.expression)
    distinct = distinct_records(valid, residual.paths, choice_sets[rows] if batch else None)
    budget = Budget(options=len(distinct.records))
    if batch:
        choices = _choices(distinct.records, distinct.of_row, choice_sets[rows])
        frames = (Frame(call, budget, record, choices[number]) for number, record in enumerate(distinct.records))
    else:
        frames = (Frame(call, budget, record) for record in distinct.records)
    vector = evaluate_each(residual.expression, frames)
    if not len(vector.values):
        return Vector(np.zeros(columns.rows, dtype_of(residual.expression.type)))
    of_row = np.zeros(columns.rows, np.int64)
    of_row[rows] = distinct.of_row
    return take(vector, of_row)


def _choices(records: Sequence[Record], of_row: NDArray[np.int64], choice_sets: Groups) -> dict[int, ChoiceSet]:
    """The choice set of each record: as often as it has rows, the records of its group."""
    members: dict[int, list[Record]] = {}
    group_of: dict[int, int] = {}
    for number, group in zip(of_row.tolist(), choice_sets.tolist(), strict=True):
        members.setdefault(group, []).append(records[number])
        group_of[number] = group
    sets = {group: ChoiceSet(options) for group, options in members.items()}
    return {number: sets[group] for number, group in group_of.items()}


# --- batch builtins -------------------------------------------------------------------------------------------------


@frozen
class _Ranked:
    """The rows that take part, by choice set and then by value; `starts` are where choice sets begin among them."""

    rows: NDArray[np.int64]
    values: NDArray[Any]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def _batch(batch: Batch, execution: Execution, valid: NDArray[np.bool_], choice_sets: Groups) -> Vector:
    values = np.broadcast_to(execution.vector(batch.value).values, valid.shape)
    takes_part = valid & execution.bits(batch.there) & ~execution.bits(batch.over)
    rows = np.flatnonzero(takes_part)
    rows = rows[np.lexsort((values[rows], choice_sets[rows]))]
    sets = choice_sets[rows]
    starts = np.flatnonzero(np.diff(sets, prepend=-1))
    ranked = _Ranked(rows, values[rows], starts, np.diff(starts, append=len(rows)))
    match batch.kind:
        case "lowest" | "highest":
            return Vector(_extreme(ranked, len(valid), lowest=batch.kind == "lowest"))
        case "rank_of":
            return Vector(_ranks(ranked, len(valid)))
        case _:
            return _means(batch, ranked, choice_sets)


def _extreme(ranked: _Ranked, rows: int, lowest: bool) -> NDArray[np.bool_]:
    ends = ranked.starts if lowest else ranked.starts + ranked.sizes - 1
    found = np.zeros(rows, np.bool_)
    found[ranked.rows] = ranked.values == np.repeat(ranked.values[ends], ranked.sizes)
    return found


def _ranks(ranked: _Ranked, rows: int) -> NDArray[np.int64]:
    """One more than how many of the choice set are less."""
    places = np.arange(len(ranked.rows))
    first = np.ones(len(places), np.bool_)
    first[1:] = ranked.values[1:] != ranked.values[:-1]
    first[ranked.starts] = True
    first_equal = np.maximum.accumulate(np.where(first, places, 0))
    ranks = np.zeros(rows, np.int64)
    ranks[ranked.rows] = 1 + first_equal - np.repeat(ranked.starts, ranked.sizes)
    return ranks


def _means(batch: Batch, ranked: _Ranked, choice_sets: Groups) -> Vector:
    """Every row of a choice set has its mean, by the definition's own fold; it overflows where there is none."""
    groups = int(choice_sets.max(initial=-1)) + 1
    means: list[Any] = [None] * groups
    for start, size in zip(ranked.starts.tolist(), ranked.sizes.tolist(), strict=True):
        group = int(choice_sets[ranked.rows[start]])
        try:
            means[group] = aggregates.mean(ranked.values[start : start + size].tolist(), batch.type)
        except Overflow:
            means[group] = None
    over = np.array([mean is None for mean in means], np.bool_)
    dtype = np.int64 if any(isinstance(mean, int) for mean in means) else np.float64
    table = np.array([0 if mean is None else mean for mean in means], dtype)
    return take(Vector(table, over), choice_sets)
