"""One option at a time, from a dict to its total, beside engines that work so.

In: how many repeats. Out: comparisons, of many calls each. The options of a run are new to all engines; in lines `met
before` they are the same in every run.

All are given local times: ours a time of day and a weekday, as its rules name them, the others minutes and a number,
which is what they have. In lines `from instants` options hold a moment instead: ours finds the local time by itself,
for plain Python `zoneinfo` does before each call, as it would have to for the others. Ours also checks each value
against its field, and says whether the option is feasible and contested; the others add up.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, repeat
from typing import Any
from zoneinfo import ZoneInfo

from ucl import CompiledProgram
from ucl.bench.comparison import OURS, Comparison, compare
from ucl.bench.meetings import MINUTE, ZONE, compiled, prepared, some_meetings
from ucl.bench.peers.options import (
    Scorer,
    cel_scorer,
    options_of,
    python_scorer,
    rule_engine_scorer,
    zen_scorer,
)
from ucl.bench.peers.work import Work, work_of
from ucl.bench.tables import PROGRAMS
from ucl.scoring.single import Score
from ucl.semantics.outcome import NANO
from ucl.semantics.program import Program
from ucl.semantics.values.iso import WEEKDAYS

Option = dict[str, Any]

_PEERS: dict[str, Callable[[Work], Scorer]] = {
    "rule-engine": rule_engine_scorer,
    "zen-engine": zen_scorer,
    "CEL (Rust)": cel_scorer,
    "plain Python": python_scorer,
}
_OPTIONS = {12: 200, 1000: 20}
"""Of a run, by rules: as many as the slowest engine does in a fraction of a second."""
_NOW = "2026-01-01T00:00:00Z"


def one_option(repeats: int) -> Iterator[Comparison]:
    for rules, options in _OPTIONS.items():
        runs = _runs(PROGRAMS[rules], options, repeats)
        yield compare(f"{options} new options one by one, {rules:,} rules", runs, repeats)


def _runs(text: str, count: int, repeats: int) -> dict[str, Callable[[], object]]:
    """What each engine runs, for those that are here and find our totals of the first `count` options."""
    program = compiled(text)
    work = work_of(program, some_meetings(count * (repeats + 1)))
    theirs = options_of(work, count * (repeats + 1))
    local = [_with_clock(option) for option in theirs]
    instants = [_with_instant(option, start) for option, start in zip(theirs, work.table.start.tolist(), strict=True)]
    ours = {
        OURS: (_scorer(compiled(prepared(text))), local),
        f"{OURS}, from instants": (_scorer(program), instants),
    }
    runs: dict[str, Callable[[], object]] = {}
    for name, (score, options) in ours.items():
        wanted = [round(score(option).total * NANO) for option in options[:count]]
        runs[name] = _totals(score, cycle(_in_turns(options[count:], count)))
        runs[f"{name}, met before"] = _totals(score, repeat(options[:count]))
    for name, prepare in _PEERS.items():
        try:
            scorer = prepare(work)
        except ImportError:
            print(f"  {name} is not here: left out")
            continue
        if [scorer(option) for option in theirs[:count]] != wanted:
            print(f"  {name} finds OTHER TOTALS: left out")
            continue
        runs[name] = _all(scorer, cycle(_in_turns(theirs[count:], count)))
    converting = _converting(python_scorer(work))
    runs["plain Python, from instants"] = _all(converting, cycle(_in_turns(instants[count:], count)))
    return runs


def _in_turns(options: Sequence[Option], count: int) -> list[Sequence[Option]]:
    return [options[first : first + count] for first in range(0, len(options), count)]


def _totals(score: Callable[[Option], Score], turns: Iterator[Sequence[Option]]) -> Callable[[], object]:
    return lambda: [score(option).total for option in next(turns)]


def _all(scorer: Scorer, turns: Iterator[Sequence[Option]]) -> Callable[[], object]:
    return lambda: [scorer(option) for option in next(turns)]


def _scorer(program: Program) -> Callable[[Option], Score]:
    return CompiledProgram(program).scorer(now=_NOW).score


def _converting(scorer: Scorer) -> Scorer:
    zone = ZoneInfo(ZONE)

    def score(option: Option) -> int:
        local = option["start"].astimezone(zone)
        return scorer({**option, "clock": local.hour * 60 + local.minute, "day": local.weekday()})

    return score


def _with_clock(option: Option) -> Option:
    clock = dt.time(option["clock"] // 60, option["clock"] % 60)
    return {**option, "clock": clock, "day": WEEKDAYS[option["day"]]}


def _with_instant(option: Option, start: int) -> Option:
    known = {name: value for name, value in option.items() if name not in ("clock", "day")}
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(minutes=start // MINUTE)
    return {**known, "start": moment}
