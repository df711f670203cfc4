"""One option at a time, from a dict to its total, beside engines that work so.

In: how many repeats. Out: comparisons, of many calls each. The others are given local times and weekdays; ours reads
instants.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ucl import CompiledProgram
from ucl.bench.comparison import OURS, Comparison, compare
from ucl.bench.meetings import compiled, some_meetings
from ucl.bench.peers.options import (
    Scorer,
    cel_scorer,
    options_of,
    python_scorer,
    rule_engine_scorer,
    zen_scorer,
)
from ucl.bench.peers.work import work_of
from ucl.bench.tables import PROGRAMS
from ucl.scoring.single import Scorer as OurScorer

_PEERS: dict[str, Callable[[Any], Scorer]] = {
    "rule-engine": rule_engine_scorer,
    "zen-engine": zen_scorer,
    "CEL (Rust)": cel_scorer,
    "plain Python": python_scorer,
}
_OPTIONS = 20
_NOW = "2026-01-01T00:00:00Z"


def one_option(repeats: int) -> Iterator[Comparison]:
    for rules in (12, 1000):
        program = compiled(PROGRAMS[rules])
        work = work_of(program, some_meetings(_OPTIONS))
        theirs = options_of(work, _OPTIONS)
        ours = [_with_instant(option, start) for option, start in zip(theirs, work.table.start, strict=True)]
        one_by_one = partial(_totals, CompiledProgram(program).scorer(now=_NOW), ours)
        totals = one_by_one()
        runs: dict[str, Callable[[], object]] = {OURS: one_by_one}
        for name, prepare in _PEERS.items():
            try:
                scorer = prepare(work)
            except ImportError:
                print(f"  {name} is not here: left out")
                continue
            run = partial(_all, scorer, theirs)
            if run() != [round(total * 1e9) for total in totals]:
                print(f"  {name} finds OTHER TOTALS: left out")
                continue
            runs[name] = run
        yield compare(f"{_OPTIONS} options one by one, {rules:,} rules", runs, repeats)


def _totals(scorer: OurScorer, options: list[dict[str, Any]]) -> list[float]:
    return [scorer.score(option).total for option in options]


def _all(scorer: Scorer, options: list[dict[str, Any]]) -> list[int]:
    return [scorer(option) for option in options]


def _with_instant(option: dict[str, Any], start: int) -> dict[str, Any]:
    known = {name: value for name, value in option.items() if name not in ("clock", "day")}
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=int(start))
    return {**known, "start": moment}
