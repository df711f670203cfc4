"""Small programs and their calls, for tests of the meaning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ucl.diagnostics import Severity, Source
from ucl.driver import check_source
from ucl.semantics.evaluate import Overflow, query, score_options
from ucl.semantics.outcome import Call, Invalid, Outcome, as_score
from ucl.semantics.program import Program, Schema
from ucl.semantics.values import make_call, read_record
from ucl.semantics.zones import Zone

NOON = 1_772_625_600_000_000  # 2026-03-04T12:00Z, a Wednesday
BIG = 3_037_000_500  # its square leaves 64 bits
Row = dict[str, Any]


def compiled(text: str, folder: Path | None = None) -> Program:
    program, report = check_source(Source("test.ucl", text), folder)
    assert program is not None, [d.message for d in report if d.severity is Severity.ERROR]
    return program


def schema_of(program: Program) -> Schema:
    return program.schemas["S"]


def zone_named(name: str) -> Zone:
    zone = Zone.load(name)
    assert zone is not None
    return zone


def call_of(program: Program, now: int = NOON, zone: Zone | None = None, **more: Any) -> Call:
    call = make_call(program, now, zone or zone_named(program.timezone), **more)
    assert isinstance(call, Call), call
    return call


def read(program: Program, *rows: Row) -> list[Row | Invalid]:
    zone = zone_named(program.timezone)
    return [read_record(row, schema_of(program).fields, zone) for row in rows]


def scored(text: str | Program, *rows: Row, groups: Sequence[Hashable] | None = None, **more: Any) -> list[Outcome]:
    program = compiled(text) if isinstance(text, str) else text
    return score_options(program, schema_of(program), read(program, *rows), call_of(program, **more), groups)


def totals(outcomes: Iterable[Outcome]) -> list[float | None]:
    return [None if o.total is None else as_score(o.total) for o in outcomes]


def value_of(expression: str, type: str = "int", before: str = "", **more: Any) -> Any:
    """What a definition with that body answers; the class `Overflow` where it overflows."""
    program = compiled(f"{before}\ndef answer() -> {type} = {expression}")
    answer = query(program, "answer", [], call_of(program, **more))
    return answer.value if answer.error is None else Overflow


# What comprehensions go over.
MEMORY = "schema T { k: text  n: int  f: float  d: duration  o: int? }\nmemory ts: list<T>\n"
ROWS = [
    {"k": "b", "n": 3, "f": 0.1, "d": "PT1H", "o": 5},
    {"k": "a", "n": 1, "f": 0.2, "d": "PT2H"},
    {"k": "a", "n": 3, "f": 0.3, "d": "PT4H", "o": 7},
    {"k": "c", "n": 2, "f": -0.6, "d": "PT2H"},
]
