"""Many people, each with twenty rules and fifty options of their own, in one pass and by a call a person.

In: how many people, how many repeats. Out: a comparison, and where a pass spends its time. Rules are drawn from 2,000
checked ones, so that programs are made as fast as an application makes them; each of 1,000 different programs has many
people. The totals of a sample are compared first, and a call a person is timed on that sample. To show what it costs
where nobody shares a program, the walk is timed on as many copies of the programs as there are people, too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import numpy as np
import pyarrow as pa

from ucl import CompiledProgram, Crowd
from ucl.bench.comparison import OURS, Comparison
from ucl.bench.meetings import compiled, many_rules, some_meetings
from ucl.bench.peers.frames import arrow_table
from ucl.spans import recorded

RULES, OPTIONS = 20, 50
_POOL, _PROGRAMS, _SAMPLE = 2000, 1000, 200
_NOW = "2026-01-01T00:00:00Z"


def many_people(people: int, repeats: int) -> Iterator[Comparison]:
    people = max(people, _SAMPLE)
    programs = _programs()
    crowd = Crowd()
    start = time.perf_counter()
    for person in range(people):
        crowd[person] = programs[person % len(programs)]
    added = time.perf_counter() - start
    table = arrow_table(some_meetings(people * OPTIONS)).append_column("person", _owners(people))
    start = time.perf_counter()
    result = crowd.score(table, "person", now=_NOW, threads=1)
    first = time.perf_counter() - start
    sample = random.Random(7).sample(range(people), _SAMPLE)
    slices = {person: table.slice(person * OPTIONS, OPTIONS) for person in sample}
    for person, rows in slices.items():
        mine = slice(person * OPTIONS, (person + 1) * OPTIONS)
        alone = crowd[person].score(rows, now=_NOW)
        if not np.array_equal(alone.total, result.total[mine]):
            raise AssertionError(f"person {person} has other totals alone")
    seconds: dict[str, list[float]] = {OURS: [], "a call a person": []}
    spans: dict[str, list[float]] = {}
    for _ in range(repeats):
        with recorded() as recording:
            crowd.score(table, "person", now=_NOW, threads=1)
        seconds[OURS].append(recording.total)
        for name, taken in recording.own.items():
            spans.setdefault(name, []).append(taken)
        start = time.perf_counter()
        for person, rows in slices.items():
            crowd[person].score(rows, now=_NOW)
        seconds["a call a person"].append((time.perf_counter() - start) / _SAMPLE * people)
    found = Comparison(f"{people:,} people with {RULES} rules and {OPTIONS} options each", seconds)
    found.print()
    print(f"  {'adding a person':34} {added / people * 1e6:10.1f} µs, lowering with the first call {first:.1f} s")
    for name, all_taken in spans.items():
        print(f"  {name:34} {median(all_taken) / people * 1e6:10.2f} µs a person")
    print(
        f"  {'the same, no program shared':34} {_walk_apart(crowd, people, repeats) / people * 1e6:10.2f} µs a person"
    )
    yield found


def _owners(people: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(np.repeat(np.arange(people, dtype=np.int32), OPTIONS)), pa.array(range(people))
    )


def _programs() -> list[CompiledProgram]:
    """Each with rules of its own out of a common pool."""
    pool = compiled(many_rules(_POOL))
    chosen = random.Random(11)
    return [CompiledProgram(replace(pool, rules=tuple(chosen.sample(pool.rules, RULES)))) for _ in range(_PROGRAMS)]


def _walk_apart(crowd: Crowd, people: int, repeats: int) -> float:
    """Seconds of the walk alone where each person's rules stand in a place of their own."""
    from ucl.kernels.crowd.columns import BEYOND, readable
    from ucl.kernels.crowd.walk import KERNELS
    from ucl.scoring.calls import start_call
    from ucl.tables.ingest import ingest

    rules = next(rules for rules in crowd._shelf.rules if rules is not None)
    tables = rules.layout.tables
    code, starts, ints, floats = tables.arrays
    copies = -(-people // len(starts))
    used = int(max(stop for _, stop in tables._spans))
    apart = np.tile(code[:used], copies)
    begins = np.concatenate([starts + copy * used for copy in range(copies)])
    rows = people * OPTIONS
    call = start_call(rules.program.semantic, now=_NOW)
    columns = ingest(arrow_table(some_meetings(rows + BEYOND)), rules.schema, call.zone)
    read = readable(tables, columns, call)
    stops = np.arange(1, people + 1) * OPTIONS
    who = np.stack([np.arange(people), stops - OPTIONS, stops], axis=1)
    total, feasible, contested = np.zeros(rows, np.int64), np.ones(rows, np.bool_), np.zeros(rows, np.bool_)
    out = (total.ctypes.data, feasible.ctypes.data, contested.ctypes.data, tables.most_masks)
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        KERNELS["walk"][0](apart, begins, ints, floats, read.words, read.slots, who, 0, people, *out)
        taken.append(time.perf_counter() - start)
    return median(taken)
