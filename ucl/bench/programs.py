"""What a new program costs before its first scores: from text, from a checked program, after an edit of one rule.

In: how many rules and repeats. Out: comparisons with polars, which builds its expressions and runs them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ucl.bench.comparison import OURS, Comparison, same_answers
from ucl.bench.meetings import columns_of, compiled, many_rules, plan_of, some_meetings
from ucl.bench.peers.frames import polars_frame, polars_query
from ucl.bench.peers.work import work_of
from ucl.diagnostics import Source
from ucl.editing import Versions
from ucl.kernels.planning import Planner
from ucl.kernels.run import score

_ROWS = 1000
_PEER = "polars (Enum), built and run"


def new_program(rules: int, repeats: int) -> Iterator[Comparison]:
    """Every run has a program that this process has not seen."""
    table = some_meetings(_ROWS)
    columns, frame = columns_of(table), polars_frame(table)
    score(plan_of(compiled(many_rules(rules, 1000))), columns, engine="numba")
    versions, planner = Versions(), Planner()
    versions.check(Source("bench.ucl", many_rules(rules, 0)))
    call = plan_of(compiled(many_rules(1, 0))).call
    source, checked, edited, theirs = [], [], [], []
    for seed in range(repeats):
        text = many_rules(rules, seed)
        first = time.perf_counter()
        program = compiled(text)
        second = time.perf_counter()
        found = score(plan_of(program), columns, engine="numba")
        third = time.perf_counter()
        source.append(third - first)
        checked.append(third - second)
        work = work_of(program, table)
        start = time.perf_counter()
        answer = polars_query(work, frame)()
        theirs.append(time.perf_counter() - start)
        if not same_answers(_PEER, answer, (found.total, found.feasible)):
            return
        edited.append(_edited(versions, planner, many_rules(rules, 0), seed, columns, call))
    for what, seconds in (("a checked program", checked), ("its text", source), ("its text, one rule edited", edited)):
        comparison = Comparison(f"first scores of {rules:,} rules from {what}", {OURS: seconds, _PEER: theirs})
        comparison.print()
        yield comparison


def _edited(versions, planner, text, seed, columns, call) -> float:  # type: ignore[no-untyped-def]
    """Seconds from the text in which one rule has another score to the scores."""
    lines = text.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith(f"rule r{seed * 7} "))
    lines[place] = lines[place].rpartition(" score ")[0] + f" score 0.{seed + 11} }}"
    edited = Source("bench.ucl", "\n".join(lines))
    start = time.perf_counter()
    checked, _ = versions.check(edited)
    assert checked is not None
    plan = planner.plan(checked[0], checked[0].schemas["Meeting"], call)
    found = score(plan, columns, engine="numba")
    seconds = time.perf_counter() - start
    assert np.array_equal(found.total, score(plan_of(compiled(edited.text)), columns, engine="numba").total)
    return seconds
