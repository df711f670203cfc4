"""Many people, each with twenty rules and fifty options of their own: in one pass, by a call a person, and in polars.

In: how many people, how many repeats. Out: a comparison, where a pass spends its time, what a change costs. Rules are
drawn from 2,000 checked ones, so that programs are made as fast as an application makes them; each of 1,000 different
programs has many people. To show what it costs where nobody shares a program, the walk is timed on as many copies of
the programs as there are people, too. A call a person is timed on a sample, and polars on the first 2,000 people, whose
totals are compared before: seconds are for all people as if they went on like that.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from statistics import median

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ucl import CompiledProgram, Crowd
from ucl.bench.comparison import OURS, Comparison
from ucl.bench.meetings import compiled, many_rules, some_meetings
from ucl.bench.peers.frames import arrow_table
from ucl.bench.peers.work import lines_of
from ucl.bench.timing import interleaved
from ucl.kernels.crowd.run import score_people
from ucl.scoring.calls import start_call
from ucl.semantics.outcome import NANO
from ucl.semantics.program import Program
from ucl.spans import recorded
from ucl.tables.ingest import ingest

RULES, OPTIONS = 20, 50
_POOL, _PROGRAMS, _SAMPLE, _FEW = 2000, 1000, 200, 2000
_NOW = "2026-01-01T00:00:00Z"
_ALONE, _THREADS, _JOIN = "a call a person", "ucl, 2 threads", "polars, a join"


def many_people(people: int, repeats: int) -> Iterator[Comparison]:
    people = max(people, _FEW)
    pool, chosen = compiled(many_rules(_POOL)), random.Random(11)
    programs = [_program(pool, chosen) for _ in range(_PROGRAMS)]
    crowd = Crowd()
    start = time.perf_counter()
    for person in range(people):
        crowd[person] = programs[person % len(programs)]
    added = time.perf_counter() - start
    table = arrow_table(some_meetings(people * OPTIONS)).append_column("person", _owners(people))
    with recorded() as first:
        result = crowd.score(table, "person", now=_NOW, threads=1)
    runs = {_ALONE: _alone(crowd, table, result.total), _JOIN: _join(programs, table, result.total)}
    parts = {_ALONE: _SAMPLE, _JOIN: _FEW}
    spans: dict[str, list[float]] = {}

    def together() -> None:
        with recorded() as recording:
            crowd.score(table, "person", now=_NOW, threads=1)
        for name, taken in recording.own.items():
            spans.setdefault(name, []).append(taken)

    def in_threads() -> None:
        crowd.score(table, "person", now=_NOW, threads=2)

    seconds = interleaved({OURS: together, _THREADS: in_threads, **runs}, repeats)
    for name, size in parts.items():
        seconds[name] = [taken / size * people for taken in seconds[name]]
    found = Comparison(f"{people:,} people with {RULES} rules and {OPTIONS} options each", seconds)
    found.print()
    new = first.own["lowering"] / _PROGRAMS
    _line("adding a person", added / people)
    _line("lowering a new program, in the first call", new, "a program")
    for name, all_taken in spans.items():
        _line(name, median(all_taken) / people)
    _line("the same, no program shared", _walk_apart(crowd, table, people, repeats) / people)
    _line("changing one person's program", _change(crowd, table, _program(pool, chosen), repeats), "")
    yield found


def _line(what: str, seconds: float, each: str = "a person") -> None:
    print(f"  {what:42} {seconds * 1e6:8.2f} µs {each}".rstrip())


def _owners(people: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(np.repeat(np.arange(people, dtype=np.int32), OPTIONS)), pa.array(range(people))
    )


def _program(pool: Program, chosen: random.Random) -> CompiledProgram:
    """With rules of its own out of a common pool."""
    rules = tuple(chosen.sample(pool.rules, RULES))
    return CompiledProgram(replace(pool, rules=rules, order=tuple(rule.name for rule in rules)))


def _rows(person: int) -> slice:
    return slice(person * OPTIONS, (person + 1) * OPTIONS)


def _alone(crowd: Crowd, table: pa.Table, totals: NDArray[np.float64]) -> Callable[[], None]:
    """A call for each person of a sample."""
    sample = random.Random(7).sample(range(len(crowd)), _SAMPLE)
    slices = {person: table.slice(person * OPTIONS, OPTIONS) for person in sample}
    for person, rows in slices.items():
        if not np.array_equal(crowd[person].score(rows, now=_NOW).total, totals[_rows(person)]):
            raise AssertionError(f"person {person} has other totals alone")

    def run() -> None:
        for person, rows in slices.items():
            crowd[person].score(rows, now=_NOW)

    return run


def _join(programs: list[CompiledProgram], table: pa.Table, totals: NDArray[np.float64]) -> Callable[[], object]:
    """Polars, for the first people."""
    from ucl.bench.peers.people import polars_join

    lines = {person: lines_of(programs[person % len(programs)].semantic) for person in range(_FEW)}
    run = polars_join(lines, table.slice(0, _FEW * OPTIONS))
    if not np.array_equal(run() / NANO, totals[: _FEW * OPTIONS]):
        raise AssertionError("polars has other totals")
    return run


def _walk_apart(crowd: Crowd, table: pa.Table, people: int, repeats: int) -> float:
    """Seconds of the walk alone where each person's rules stand in a place of their own."""
    rules = [rules for rules in crowd._shelf.rules if rules is not None]
    tables = deepcopy(rules[0].layout.tables)
    passages = [tables.passage(number) for number in range(len(rules))]
    numbers = [tables.add(passages[person % len(rules)], tables.most_masks) for person in range(people)]
    call = start_call(rules[0].program.semantic, now=_NOW)
    columns = ingest(table, rules[0].schema, call.zone)
    stops = np.arange(1, people + 1) * OPTIONS
    who = np.stack([np.array(numbers), stops - OPTIONS, stops], axis=1)
    taken = []
    for _ in range(repeats):
        with recorded() as recording:
            score_people(tables, columns, call, who)
        taken.append(recording.own["from person to person"])
    return median(taken)


def _change(crowd: Crowd, table: pa.Table, new: CompiledProgram, repeats: int) -> float:
    """Seconds that it takes to give one person a program that nobody has, and the next call to make it ready."""
    person = _SAMPLE
    old, taken = crowd[person], []
    for _ in range(repeats):
        crowd[person] = old
        crowd.score(table, "person", now=_NOW)
        start = time.perf_counter()
        crowd[person] = new
        changed = time.perf_counter() - start
        with recorded() as recording:
            result = crowd.score(table, "person", now=_NOW)
        taken.append(changed + recording.own["lowering"])
        alone = new.score(table.slice(person * OPTIONS, OPTIONS), now=_NOW)
        if not np.array_equal(alone.total, result.total[_rows(person)]):
            raise AssertionError("a program that was changed has other totals alone")
    return median(taken)
