"""From a table to its result: read, scored by the kernels.

In: a plan, a table, what divides it. Out: a `Result`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.plan import Plan
from ucl.kernels.run import score as run_kernels
from ucl.scoring import errors
from ucl.scoring.results.choice_sets import choice_sets
from ucl.scoring.results.result import Result, Scored
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.spans import span
from ucl.tables.ingest import ingest

if TYPE_CHECKING:
    import pyarrow as pa

_LONG_TABLE = 1 << 18


def score_planned(
    program: Program,
    schema: Schema,
    call: Call,
    plan: Plan,
    table: pa.Table,
    group_by: str | None = None,
    threads: int | None = None,
    on_compile: Callable[[], None] | None = None,
    numbers: NDArray[np.int64] | None = None,
) -> Result:
    """Scores every row of a table whose rows are options of `schema`, by a plan for the call.

    `numbers` are the rows' own in a larger table.
    """
    with span("reading columns"):
        columns = ingest(table, schema, call.zone)
        groups = None if group_by is None else choice_sets(table, group_by, schema)
    with errors.bounded(), span("kernels"):
        threads = threads or threads_for(columns.rows)
        scores = run_kernels(plan, columns, groups=groups, threads=threads, on_compile=on_compile)
    return Result(Scored(program, schema, call, table, columns, plan, group_by, groups, scores, numbers))


def threads_for(rows: int) -> int:
    """All cores for a long table; starting threads costs more than a short one."""
    return (os.cpu_count() or 1) if rows >= _LONG_TABLE else 1
