"""From a table to its result: read, scored by the kernels.

In: a plan, a table or a few rows, what divides them. Out: a `Result`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns
from ucl.kernels.plan import Plan
from ucl.kernels.run import BoundsError
from ucl.kernels.run import score as run_kernels
from ucl.scoring import errors
from ucl.scoring.results.choice_sets import choice_sets
from ucl.scoring.results.result import Result, Scored
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.semantics.zones import Zone
from ucl.spans import span
from ucl.tables.ingest import FewRows, ingest, ingest_few, table_of

if TYPE_CHECKING:
    import pyarrow as pa

_LONG_TABLE = 1 << 18
# Shorter columns are looked through sooner than steps for their bounds are written.
_WORTH_TRUSTING = 1 << 14


def score_planned(
    program: Program,
    schema: Schema,
    call: Call,
    plan: Plan,
    source: pa.Table | FewRows,
    group_by: str | None = None,
    threads: int | None = None,
    on_compile: Callable[[], None] | None = None,
    numbers: NDArray[np.int64] | None = None,
) -> Result:
    """Scores every row of what holds options of `schema`, by a plan for the call.

    `numbers` are the rows' own in a larger table.
    """
    threads = threads or threads_for(_rows_of(source))
    with span("reading columns"):
        columns = _columns(source, schema, call.zone, threads, trusting=True)
        groups = None if group_by is None else choice_sets(table_of(source), group_by, schema)
    with errors.bounded(), span("kernels"):
        run = partial(run_kernels, plan, groups=groups, threads=threads, on_compile=on_compile)
        try:
            scores = run(columns)
        except BoundsError:
            columns = _columns(source, schema, call.zone, threads)
            scores = run(columns)
    return Result(Scored(program, schema, call, source, columns, plan, group_by, groups, scores, numbers))


def _rows_of(source: pa.Table | FewRows) -> int:
    rows: int = source.rows if isinstance(source, FewRows) else source.num_rows
    return rows


def _columns(
    source: pa.Table | FewRows, schema: Schema, zone: Zone, threads: int, *, trusting: bool = False
) -> Columns:
    """A few rows go without Arrow, unless it has something to say of them."""
    columns = ingest_few(source, schema, zone) if isinstance(source, FewRows) else None
    if columns is not None:
        return columns
    table = table_of(source)
    trusting = trusting and table.num_rows >= _WORTH_TRUSTING
    return ingest(table, schema, zone, trusting=trusting, threads=threads)


def threads_for(rows: int) -> int:
    """All cores for a long table; starting threads costs more than a short one."""
    return (os.cpu_count() or 1) if rows >= _LONG_TABLE else 1
