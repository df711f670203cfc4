"""Meetings, with twelve rules about them written by hand, and any number of generated ones.

In: how many rows or rules. Out: the table's columns, the program's text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.diagnostics import Source
from ucl.driver import compile_program
from ucl.kernels.columns import Columns, Scalars, Sets, Texts
from ucl.kernels.lower import lower
from ucl.kernels.plan import Plan
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone

KINDS = ("one_on_one", "standup", "review", "allhands", "interview", "social", "workshop", "lunch")
PEOPLE = tuple(f"p{number:03d}" for number in range(500))
ZONE = "America/New_York"
MINUTE = 60_000_000
START_OF_2026 = 1_767_225_600_000_000

HEADER = f"""
timezone "{ZONE}"
schema Meeting {{
  start: datetime  duration: duration unit min  kind: {" | ".join(f'"{kind}"' for kind in KINDS)}  organizer: text
  count: int in 0..=1000  remote: bool  priority: int in 0..=10  attendees: set<text>  cost: float in 0.0..
}}
"""
TWELVE = (
    HEADER
    + """
rule lunch on Meeting { when start.time in 13:00..14:00 unless kind == "lunch" or organizer == "p007" score -0.8 }
rule friday_late on Meeting { when start.weekday == fri and start.time in 15:00.. score -0.6 }
rule midweek on Meeting { when start.weekday in tue..=thu and start.time in 10:00..12:00 score 0.4 }
rule short_talk on Meeting { when kind == "one_on_one" and duration in ..=30min score 0.3 }
rule crowded on Meeting { when kind in {"standup", "allhands", "review"} and count >= 13 score -0.025 * count }
rule early_remote on Meeting { when remote and start.time in ..09:00 score -0.4 }
rule on_site on Meeting { when not remote and start.weekday in {mon, fri} score -0.25 }
rule friends on Meeting { when overlaps(attendees, {"p017", "p042", "p103"}) score 0.5 }
rule boss on Meeting { when organizer == "p007" or priority >= 8 score 0.2 * priority }
rule costly on Meeting { when cost >= 500.0 and priority <= 4 score -0.001 * cost }
rule cosy on Meeting {
  when duration in 45min..=60min and count in 3..=6 and kind not in {"social", "allhands"}
  score 0.15
}
constraint hours on Meeting {
  require start.weekday in mon..=fri and start.time in 08:00..18:00
          and (priority >= 2 or not overlaps(attendees, {"p001", "p002"}))
}
"""
)


@dataclass(frozen=True)
class Meetings:
    """The table's columns, each of shape (rows,); attendees of row i are `attendees[offsets[i]:offsets[i + 1]]`."""

    start: NDArray[np.int64]
    minutes: NDArray[np.int64]
    kind: NDArray[np.int32]
    organizer: NDArray[np.int32]
    count: NDArray[np.int64]
    remote: NDArray[np.bool_]
    priority: NDArray[np.int64]
    offsets: NDArray[np.int64]
    attendees: NDArray[np.int32]
    cost: NDArray[np.float64]


def some_meetings(rows: int, seed: int = 7) -> Meetings:
    """The same table for the same seed."""
    generator = np.random.default_rng(seed)
    slots = generator.integers(0, 365, rows) * 1440 + 660 + generator.integers(0, 14 * 12, rows) * 5
    invited = generator.integers(1, 9, rows)
    offsets = np.concatenate(([0], np.cumsum(invited)))
    return Meetings(
        start=START_OF_2026 + slots * MINUTE,
        minutes=generator.choice(np.array([15, 30, 45, 60, 90, 120]), rows, p=[0.15, 0.35, 0.1, 0.25, 0.1, 0.05]),
        kind=generator.integers(0, len(KINDS), rows).astype(np.int32),
        organizer=(len(PEOPLE) * generator.random(rows) ** 1.5).astype(np.int32),
        count=invited + generator.integers(0, 16, rows),
        remote=generator.random(rows) < 0.4,
        priority=generator.integers(0, 11, rows),
        offsets=offsets,
        attendees=generator.integers(0, len(PEOPLE), int(offsets[-1])).astype(np.int32),
        cost=np.round(generator.exponential(300, rows) * 64) / 64,
    )


def columns_of(table: Meetings) -> Columns:
    return Columns(
        len(table.start),
        {
            ("start",): Scalars(table.start, None),
            ("duration",): Scalars(table.minutes * MINUTE, None),
            ("kind",): Texts(table.kind, None, KINDS),
            ("organizer",): Texts(table.organizer, None, PEOPLE),
            ("count",): Scalars(table.count, None),
            ("remote",): Scalars(table.remote, None),
            ("priority",): Scalars(table.priority, None),
            ("attendees",): Sets(table.offsets, table.attendees, None, PEOPLE),
            ("cost",): Scalars(table.cost, None),
        },
    )


def prepared_columns(table: Meetings, columns: Mapping[str, NDArray[Any]]) -> Columns:
    """For a program that `prepared` made: local times and weekdays are columns of the table."""
    known = columns_of(table)
    found = {path: column for path, column in known.columns.items() if path != ("start",)}
    found["clock",] = Scalars(columns["clock"].astype(np.int64) * MINUTE, None)
    found["day",] = Scalars(columns["day"].astype(np.int64), None)
    return Columns(known.rows, found)


def prepared(text: str) -> str:
    """A program of this module on a table that holds local times and weekdays."""
    text = text.replace("start: datetime", "clock: time  day: weekday")
    return text.replace("start.time", "clock").replace("start.weekday", "day")


def many_rules(count: int, seed: int = 11) -> str:
    """A program of so many rules: a time range, a closed text or some people, and a numeric range each."""
    chosen = random.Random(seed)
    rules = []
    for number in range(count):
        first = chosen.randrange(7 * 60, 19 * 60, 15)
        last = first + chosen.choice((30, 60, 120, 240))
        parts = [f"start.time in {first // 60:02}:{first % 60:02}..{last // 60:02}:{last % 60:02}"]
        who = ", ".join(f'"{person}"' for person in chosen.sample(PEOPLE, 3))
        kinds = ", ".join(f'"{kind}"' for kind in chosen.sample(KINDS, 2))
        tests = (f"kind in {{{kinds}}}", f"organizer in {{{who}}}", f"overlaps(attendees, {{{who}}})")
        parts.append(chosen.choices(tests, (6, 2, 2))[0])
        low = chosen.randrange(0, 9)
        parts.append(
            chosen.choice((f"priority in {low}..={low + 2}", f"count in {low}..={low + 6}", f"cost >= {low * 100}.5"))
        )
        amount = chosen.choice((-1, 1)) * chosen.randrange(1, 100) / 100
        rules.append(f"rule r{number} on Meeting {{ when {' and '.join(parts)} score {amount} }}")
    return HEADER + "\n".join(rules)


def compiled(text: str) -> Program:
    return compile_program(Source("bench.ucl", text))


def plan_of(program: Program) -> Plan:
    zone = Zone.load(ZONE)
    assert zone is not None
    return lower(program, program.schemas["Meeting"], Call(zone, START_OF_2026, 20_454))
