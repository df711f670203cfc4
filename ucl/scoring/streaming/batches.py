"""A table that comes in parts, scored part by part.

In: a program, a call, an iterable of record batches or tables. Out: record batches with the results appended, as
Spark's `mapInArrow` wants them. One part is held at a time, and the program is lowered once for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ucl.kernels.execution.whole import compares_rows
from ucl.kernels.lower import lower
from ucl.scoring import errors
from ucl.scoring.results.making import score_planned
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.tables.frames import to_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.kernels.plan import Plan

# Counts of a part say nothing of the whole; all parts have one schema, its metadata too.
_OF_ONE_PART = (b"ucl_folds", b"ucl_gaps", b"ucl_invalid_rows")


def score_batches(
    program: Program, schema: Schema, call: Call, batches: Iterable[Any], threads: int | None
) -> Iterator[pa.RecordBatch]:
    """Raises `CallError` at once where the program can't be scored in parts."""
    with errors.bounded():
        plan = lower(program, schema, call)
    if compares_rows(plan):
        raise errors.needs_whole_table()
    return _scored(program, schema, call, plan, batches, threads)


def _scored(
    program: Program, schema: Schema, call: Call, plan: Plan, batches: Iterable[Any], threads: int | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        table = score_planned(program, schema, call, plan, to_table(batch), threads=threads).to_arrow()
        facts = table.schema.metadata or {}
        table = table.replace_schema_metadata({key: facts[key] for key in facts if key not in _OF_ONE_PART})
        yield from table.combine_chunks().to_batches() or [_empty(table)]


def _empty(table: pa.Table) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=table.schema)
