"""The standard library: every module checks by itself, and holds what LANGUAGE §17 says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from checking import check_text

from ucl.resources import stdlib_modules, stdlib_source
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.program import Program


def module(name: str) -> Program:
    source = stdlib_source(f"std.{name}")
    assert source is not None
    program = check_text(source[1], source[0]).right
    assert program.module == f"std.{name}"
    return program


@pytest.mark.parametrize("name", stdlib_modules())
def test_every_module_is_right_by_itself(name: str) -> None:
    module(name.removeprefix("std."))


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("early_morning", ["05:00", "07:59:59"], ["04:59", "08:00"]),
        ("morning", ["06:00", "11:59"], ["05:59", "12:00"]),
        ("lunch", ["12:00", "12:59"], ["11:59", "13:00"]),
        ("after_lunch", ["13:00", "13:59"], ["12:59", "14:00"]),
        ("afternoon", ["12:00", "17:59"], ["11:59", "18:00"]),
        ("evening", ["18:00", "21:59"], ["17:59", "22:00"]),
        ("night", ["22:00", "00:00", "05:59"], ["21:59", "06:00", "12:00"]),
        ("working_hours", ["09:00", "17:59"], ["08:59", "18:00"]),
        ("workdays", ["mon", "wed", "fri"], ["sat", "sun"]),
        ("weekend", ["sat", "sun"], ["mon", "fri"]),
    ],
)
def test_dayparts(name: str, inside: list[str], outside: list[str]) -> None:
    """Each value is the default of a field whose domain the daypart's own text is: inside fits, outside does not."""
    source = stdlib_source("std.dayparts")
    assert source is not None
    written = next(line for line in source[1].splitlines() if line.startswith(f"let {name} ")).partition(" = ")[2]
    type = "weekday" if name in ("workdays", "weekend") else "time"
    for value in inside:
        assert check_text(f"schema S {{ x: {type} in {written} = {value} }}").errors == [], value
    for value in outside:
        assert check_text(f"schema S {{ x: {type} in {written} = {value} }}").errors == [("out-of-range", 1)], value


def test_units() -> None:
    dimensions = module("units").dimensions
    assert {u.name: u.factor for u in dimensions["length"].units} == {
        "m": 1,
        "km": 1000,
        "mi": Fraction("1609.344"),
        "ft": Fraction("0.3048"),
    }
    assert {u.name: u.factor for u in dimensions["mass"].units} == {
        "kg": 1,
        "g": Fraction(1, 1000),
        "lb": Fraction("0.45359237"),
    }


def test_money() -> None:
    dimensions = module("money").dimensions
    assert {name: [u.name for u in d.units] for name, d in dimensions.items()} == {
        "usd": ["USD"],
        "eur": ["EUR"],
        "cny": ["CNY"],
        "gbp": ["GBP"],
        "jpy": ["JPY"],
    }


def test_a_meeting_needs_only_its_start() -> None:
    meeting = module("scheduling").schemas["Meeting"]
    required = [f.name for f in meeting.fields if f.default is None and not isinstance(f.type, t.Optional)]
    assert required == ["start"]
    assert [f.name for f in meeting.fields] == [
        "title",
        "start",
        "duration",
        "kind",
        "attendees",
        "organizer",
        "priority",
        "remote",
        "place",
    ]
    duration = meeting.field("duration")
    assert duration is not None
    assert duration.unit == next(u for u in t.DURATION_UNITS if u.name == "min")
    assert isinstance(duration.default, p.Const)
    assert duration.default.value == 30 * 60 * t.SECOND


def test_an_email() -> None:
    email = module("mail").schemas["Email"]
    assert {f.name: str(f.type) for f in email.fields} == {
        "sender": "text",
        "recipients": "set<text>",
        "subject": "text",
        "arrived": "datetime",
        "labels": "set<text>",
        "has_attachment": "bool",
        "size": "int?",
    }


def test_records_of_dining_and_travel() -> None:
    assert list(module("dining").schemas) == ["Restaurant"]
    assert list(module("travel").schemas) == ["Train", "Hotel", "Flight"]


def test_the_library_is_used_together() -> None:
    program = check_text("""
        import std.dayparts (after_lunch, weekend)
        import std.scheduling (Meeting)
        import std.travel (Train)
        import std.money (gbp)
        import std.dining (Restaurant)
        rule a on Meeting { when start.time in after_lunch or start.weekday in weekend score -0.5 }
        rule b on Train { when price < 20GBP and duration <= 1h30min and leaves >= 07:00 score 0.5 }
        rule c on Restaurant { when price_range == "cheap" and food == "indian" score 0.5 }
    """).right
    assert len(program.rules) == 3
