"""Whole tables: from Arrow to scores, and from prepared columns to scores, beside engines of tables and of arrays.

In: how many rows and repeats. Out: comparisons. All run on one thread but for the line that says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ucl import CompiledProgram
from ucl.bench.comparison import OURS, Comparison, compare, same_answers
from ucl.bench.meetings import (
    TWELVE,
    Meetings,
    compiled,
    many_rules,
    plan_of,
    prepared,
    prepared_columns,
    some_meetings,
)
from ucl.bench.peers.frames import Answer, arrow_table, duckdb_query, polars_frame, polars_query
from ucl.bench.peers.work import Work, work_of
from ucl.kernels.run import score

Peers = dict[str, Callable[[], Callable[[], Answer]]]
"""By name: what prepares an engine, and returns what runs it."""

PROGRAMS = {12: TWELVE, 100: many_rules(100), 1000: many_rules(1000)}
# What takes microseconds a row is given fewer rows.
_FEW = 10
_NOW = "2026-01-01T00:00:00Z"


def arrow_to_scores(rows: int, repeats: int) -> Iterator[Comparison]:
    """Dictionary-encoded Arrow in, totals out, local times included."""
    table = some_meetings(rows)
    for rules in (12, 100):
        program = compiled(PROGRAMS[rules])
        ours, arrow = CompiledProgram(program), arrow_table(table)
        work = work_of(program, table)
        result = ours.score(arrow, now=_NOW, threads=1)
        answer = np.rint(result.total * 1e9).astype(np.int64), result.feasible
        peers: Peers = {
            "polars (Enum)": partial(_polars, work, table),
            "DuckDB": partial(duckdb_query, work, arrow, threads=1),
        }
        runs: dict[str, Callable[[], object]] = {OURS: partial(ours.score, arrow, now=_NOW, threads=1)}
        runs |= _agreeing(peers, answer)
        yield compare(f"Arrow to scores, {rules} rules, {len(table.start):,} rows", runs, repeats, len(table.start))


def prepared_to_scores(rows: int, repeats: int, threads: int) -> Iterator[Comparison]:
    """Columns as each engine likes them best; ours are those that reading a table makes."""
    for rules, text in PROGRAMS.items():
        table = some_meetings(rows if rules < 1000 else max(1, rows // _FEW))
        work = work_of(compiled(text), table)
        plan, columns = plan_of(compiled(prepared(text))), prepared_columns(table, work.columns)
        ours = partial(score, plan, columns, engine="numba")
        found = ours()
        runs: dict[str, Callable[[], object]] = {OURS: ours}
        if threads > 1:
            runs[f"ucl, {threads} threads"] = partial(ours, threads=threads)
        runs |= _agreeing(_array_peers(work, table, rules), (found.total, found.feasible))
        yield compare(f"prepared columns, {rules} rules, {len(table.start):,} rows", runs, repeats, len(table.start))


def _polars(work: Work, table: Meetings) -> Callable[[], Answer]:
    return polars_query(work, polars_frame(table))


def _array_peers(work: Work, table: Meetings, rules: int) -> Peers:
    from ucl.bench.peers.arrays import numexpr_query, numpy_query, sharrow_query
    from ucl.bench.peers.native import native_query

    peers: Peers = {"C (-O3, AVX-512)": partial(native_query, work)}
    if rules != 100:
        peers["polars (Enum)"] = partial(_polars, work, table)
    if rules < 1000:
        peers |= {"NumPy, in blocks": partial(numpy_query, work), "numexpr": partial(numexpr_query, work, threads=1)}
    if rules == 12:
        peers["sharrow"] = partial(sharrow_query, work)
    return peers


def _agreeing(peers: Peers, ours: Answer) -> dict[str, Callable[[], object]]:
    """What runs each peer that is here and finds what we find."""
    from ucl.bench.peers.native import NoCompiler

    runs: dict[str, Callable[[], object]] = {}
    for name, prepare in peers.items():
        try:
            run = prepare()
        except (ImportError, NoCompiler):
            print(f"  {name} is not here: left out")
            continue
        if same_answers(name, run(), ours):
            runs[name] = run
    return runs
