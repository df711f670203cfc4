"""The function that an index is written out as says what `evaluate` says, of plain values and of odd ones alike."""

from __future__ import annotations

import datetime as dt
import keyword
import math
import re
from decimal import Decimal
from types import CodeType
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_kernels_equal import call_of, compiled, patient

from ucl.kernels.execution.vector import OPERATIONS
from ucl.kernels.lower import lower
from ucl.kernels.single import Index, Unindexed, index_of, straight
from ucl.kernels.single.scalars import FORMULAS, operate
from ucl.kernels.single.straight import source
from ucl.semantics.evaluate import score_option
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.outcome import Invalid
from ucl.semantics.program import Program
from ucl.semantics.types import DAY
from ucl.semantics.values import read_record

FIELDS = {
    "n": "int in -3..=9",
    "big": "int",
    "m": "int? in 5..=9",
    "d": "int in 0..1000 = 7",
    "f": "float in 0.5..100.0",
    "g": "float? in 1.0..=2.0",
    "h": "float",
    "cost": "money unit CENT",
    "fee": "money? in 1USD..=5USD",
    "long": "duration in 1min.. unit min",
    "length": "duration? in ..2h",
    "clock": "time in 06:00..=22:00",
    "night": "time? in 22:00..06:00",
    "start": "datetime in 2026-01-01T00:00..2027-01-01T00:00",
    "end": "datetime?",
    "day": "date in 2026-01-01..=2026-12-31",
    "w": "weekday in mon..=fri",
    "kind": '"low" | "mid"',
    "b": "bool",
    "c": "bool?",
    "title": "text",
    "place": 'text? in {"home", "é"}',
    "tags": "set<text> = {}",
    "nums": "set<int>?",
}
SCHEMA = "\n".join(f"  {name}: {kind}" for name, kind in FIELDS.items())
PROGRAM = f"""
timezone "America/New_York"
dimension money {{ USD, CENT = 0.01USD }}
schema S {{
{SCHEMA}
}}
rule a on S {{ when n in 0..5 and big > 3 score 0.1 * n }}
rule b on S {{ when (m ?? 0) > 6 or d >= 500 score 0.25 }}
rule c on S {{ when f >= 2.5 and h < 1000000.0 score 0.001 * f }}
rule e on S {{ when present(g) and g > 1.5 score -0.3 * g }}
rule k on S {{ when cost > 2USD or (fee ?? 2USD) >= 3USD score -0.2 }}
rule l on S {{ when long in 30min..=90min and (length ?? 1h) < 90min score 0.5 * ramp(long, 30min, 90min) }}
rule o on S {{ when clock in 12:00..13:00 or (night ?? 23:00) < 03:00 score near(clock, 12:30, 1h) }}
rule p on S {{ when start.weekday == fri and start.time >= 15:00 score -0.6 }}
rule q on S {{ when start.date == day or (end ?? start) - start > 3h score 0.4 }}
rule r on S {{ when w in {{mon, fri}} and kind == "low" unless b score 0.7 }}
rule s on S {{ when c ?? true score if b then 0.1 else 0.2 }}
rule u on S {{ when title == "x" or (place ?? "") == "é" score 0.3 }}
rule v on S {{ when overlaps(tags, {{"a", "é"}}) and not overlaps(tags, {{"b"}}) score 0.9 }}
rule x on S {{ when present(nums) and 3 in nums score -0.9 }}
rule y on S overrides x {{ when big + n > 100 and start.month > 6 score 0.01 * n + 0.5 }}
constraint z on S {{ require n + d < 900 when day.weekday != sun }}
"""
GOOD: dict[str, Any] = {
    "n": 4, "big": 10, "m": None, "d": 3, "f": 3.5, "g": 1.75, "h": 0.0, "cost": 250, "fee": None, "long": 45,
    "length": None, "clock": dt.time(12, 15), "night": None, "end": None, "day": dt.date(2026, 3, 6), "w": "fri",
    "start": dt.datetime(2026, 3, 6, 20, 30, tzinfo=dt.UTC), "kind": "low", "b": False, "c": None, "title": "x",
    "place": None, "tags": ["a"], "nums": None,
}  # fmt: skip
NEW_YORK = ZoneInfo("America/New_York")
ODD: list[Any] = [
    None, True, False, 0, 1, -3, -4, 5, 9, 10, 999, 1000, 2**53 + 1, INT_MAX, INT_MAX + 1, INT_MIN, INT_MIN - 1,
    10**400, 0.5, -0.0, 1.0, 2.0, 2.0000000000000004, 3.7, 100.0, 99.99999999999999, 45.5, math.nan, math.inf,
    -math.inf, 5e-324, 1.7976931348623157e308, np.int64(3), np.float64(2.0), np.str_("x"), Decimal(3), b"x",
    "x", "", "low", "LOW", "fri", "sat", "13:00", "24:00", "5:00", "home", "e\u0301", "é", "\ud800", "PT45M", "P1D",
    "2026-03-06", "2026-13-01", "2026-03-06T20:30Z", "2026-03-06T15:30", "2026-11-01T01:30", "9999-12-31T23:59Z",
    dt.time(0), dt.time(5, 59, 59, 999999), dt.time(6), dt.time(22), dt.time(22, 0, 0, 1), dt.time(12, 30, fold=1),
    dt.time(12, tzinfo=dt.UTC), dt.date(2026, 1, 1), dt.date(2025, 12, 31), dt.date(2026, 12, 31), dt.date.max,
    dt.datetime(2026, 3, 6, 15, 30), dt.datetime(2026, 3, 6, tzinfo=dt.UTC), dt.datetime(2027, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=NEW_YORK), dt.datetime(2026, 1, 1, tzinfo=NEW_YORK),
    dt.datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK), dt.datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=1),
    dt.datetime.max, dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=14))),
    dt.timedelta(minutes=90), dt.timedelta(0), dt.timedelta.max, dt.timedelta(hours=2) - dt.timedelta.resolution,
    [], ["a"], ("a", "b"), {"é"}, frozenset({"e\u0301"}), ["a", 1], ["a", None], ["a", ["b"]], [3], [3.0, True],
    {"a": 1}, {}, object(),
]  # fmt: skip


def ways(program: Program) -> tuple[Index, Any]:
    call = call_of(program)
    index = index_of(lower(program, program.schemas["S"], call), program.schemas["S"])
    assert index is not None
    return index, straight(index)


def assert_as_evaluate(program: Program, way: Any, option: dict[str, Any]) -> bool:
    """Whether there was an answer; where the record is invalid there may be none."""
    call, schema = call_of(program), program.schemas["S"]
    try:
        found = way(option)
    except Unindexed:
        return False
    record = read_record(option, schema.fields, call.zone)
    assert not isinstance(record, Invalid), (option, found)
    outcome = score_option(program, schema, record, call)
    assert found == (outcome.total, outcome.feasible, outcome.contested), option
    return True


@pytest.fixture(scope="module")
def program() -> Program:
    found = compiled(PROGRAM)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def function(program: Program) -> Any:
    return ways(program)[1]


@pytest.mark.parametrize("field", FIELDS)
def test_each_odd_value_in_each_field(program: Program, field: str) -> None:
    """Twice, since what is remembered must be what was found, and with what Python holds equal in between."""
    index, function = ways(program)
    for raw in [*ODD, *ODD]:
        for way in (function, index.score):
            assert_as_evaluate(program, way, {**GOOD, field: raw})
    without = {name: value for name, value in GOOD.items() if name != field}
    assert assert_as_evaluate(program, function, without) == ("?" in FIELDS[field] or " = " in FIELDS[field])


@settings(max_examples=50, **patient)
@given(changes=st.lists(st.tuples(st.sampled_from(list(FIELDS)), st.sampled_from(ODD)), max_size=4))
def test_several_odd_values_at_once(program: Program, function: Any, changes: list[tuple[str, Any]]) -> None:
    assert_as_evaluate(program, function, {**GOOD, **dict(changes)})


PLAIN: list[dict[str, Any]] = [
    {},
    {"n": -3, "big": -(2**60), "d": 999, "f": 0.5, "h": -1e300, "g": 2.0},
    {"f": 3, "h": 12, "cost": 19.5, "fee": 3.25, "long": dt.timedelta(minutes=60), "length": dt.timedelta(hours=1)},
    {"start": dt.datetime(2026, 7, 10, 16, 0, tzinfo=NEW_YORK), "end": dt.datetime(2026, 7, 10, 23, 1, tzinfo=dt.UTC)},
    {"start": "2026-07-10T16:00-04:00", "clock": "12:30:00.5", "night": dt.time(2), "day": "2026-07-10"},
    {"clock": dt.time(6), "day": dt.date(2026, 12, 31), "w": "mon", "kind": "mid", "b": True, "c": False},
    {"title": "你好", "place": "home", "tags": {"a", "b"}, "nums": [3, 4]},
    {"tags": ("never", "met", "before"), "nums": frozenset()},
    {"n": 9, "big": 95, "start": dt.datetime(2026, 7, 10, 16, 0, tzinfo=dt.UTC), "nums": [3]},
]


@pytest.mark.parametrize("change", PLAIN)
def test_plain_values_need_no_general_way(program: Program, change: dict[str, Any]) -> None:
    index, _ = ways(program)

    def general(option: Any) -> Any:
        raise AssertionError(option)

    index.score = general  # type: ignore[method-assign]
    assert assert_as_evaluate(program, straight(index), {**GOOD, **change})


def test_many_rules_and_many_masks() -> None:
    """More than have a line each, or a sum that is remembered."""
    rules = [
        f"rule r{n} on S {{ when a == {n % 7} or b >= {n}.5 unless a > b score 0.0{n % 9 + 1} }}" for n in range(90)
    ]
    rules += [f"rule o{n} on S overrides r{n} {{ when a + {n} < 20 and c score 0.001 * a }}" for n in range(90)]
    program = compiled("schema S { a: int  b: float  c: bool }\n" + "\n".join(rules))
    assert program is not None
    index, function = ways(program)
    for a, b, c in [(3, 50.0, True), (18, 88.5, False), (0, 0.0, True), (100, 3.25, True), (INT_MAX, 1.0, False)]:
        for way in (function, index.score):
            assert_as_evaluate(program, way, {"a": a, "b": b, "c": c})
    assert function({"a": 3, "b": 50.0, "c": True}) == index.score({"a": 3, "b": 50.0, "c": True})


@pytest.mark.parametrize(
    ("kind", "score", "raw"),
    [
        ("float", "f * f", 1e200),
        ("float", "f * 10.0", 1.7e308),
        ("float in 1.0..", "f * f", 1e155),
        ("float in 0.0..=9000.0", "f", 8999.0),
        ("float? in 5.0..=6.0", "(1.0 / (f ?? 0.0)) ?? 0.25", None),
        ("float", "(1.0 / f) ?? 0.5", 0.0),
        ("float", "abs(-f) - max(f, 2.0) + min(f, -2.0) + clamp(f, 0.0, 1.0)", 3.5),
        ("float", "ramp(f, -1000000000000.0, 2.5)", 2.25),
    ],
)
def test_scores_that_leave_their_type_or_their_magnitude(kind: str, score: str, raw: float | None) -> None:
    program = compiled(f"schema S {{ f: {kind} }}\nrule r on S {{ score {score} }}")
    assert program is not None
    index, function = ways(program)
    call, schema = call_of(program), program.schemas["S"]
    record = read_record({"f": raw}, schema.fields, call.zone)
    assert not isinstance(record, Invalid)
    valid = score_option(program, schema, record, call).invalid is None
    assert [assert_as_evaluate(program, way, {"f": raw}) for way in (function, index.score)] == [valid, valid]


def test_many_fields_and_many_values_of_one() -> None:
    """Expressions as deep as these are many are more than Python compiles."""
    fields = "  ".join(f"f{n}: int = {n}" for n in range(3000))
    rules = "\n".join(f"rule r{n} on S {{ when m + {n} > 2000 or k + {n} == 7 score 0.01 }}" for n in range(1000))
    program = compiled(f"schema S {{ m: int?  k: int  {fields} }}\n{rules}".replace("when m", "when (m ?? 0)"))
    assert program is not None
    _, function = ways(program)
    for option in ({"m": 5, "k": 3}, {"k": 7, "f3": 9}):
        assert assert_as_evaluate(program, function, option)


@pytest.mark.parametrize(
    "names", [("S", "n", "title", "x", "home"), ("Wörter", "größe", "else_", "__import__", '\\"); (')]
)
def test_no_word_of_a_program_is_in_the_text_of_a_function(names: tuple[str, ...], texts: list[str]) -> None:
    schema, number, text, one, other = names
    program = compiled(
        f'schema {schema} {{ {number}: int in 3..=9  {text}: text = "a" }}\n'
        f'rule r on {schema} {{ when {text} in {{"{one}", "{other}"}} or {number} + 7 > 12 score 0.25 * {number} }}'
    )
    assert program is not None
    call = call_of(program)
    index = index_of(lower(program, program.schemas[schema], call), program.schemas[schema])
    assert index is not None
    straight(index)
    assert len(texts) == 1
    assert set(re.findall(r"[^\W\d]\w*", texts[0])) <= WORDS
    assert texts[0].isascii()


WORDS = {
    *keyword.kwlist,
    *"score option general get lacks late held element total up down amount".split(),
    *"type str float round isascii join".split(),
    *"KeyError TypeError ValueError OverflowError ZeroDivisionError".split(),
    *(f"{letter}{number}" for letter in ("g", "v", "x", "h", "k", "n", "met") for number in range(100)),
}


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of the functions that are written."""
    found: list[str] = []
    compiling = source._code

    def code(text: str) -> CodeType:
        found.append(text)
        return compiling(text)

    monkeypatch.setattr(source, "_code", code)
    return found


# --- formulas -------------------------------------------------------------------------------------------------------

WHOLE = st.one_of(st.sampled_from([0, 1, -1, 2**53 + 1, 2**62, INT_MAX, INT_MIN, INT_MIN + 1]), st.integers(-99, 99))
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
CALENDAR = st.integers(-719_162, 2_932_896)
CLOCK = st.integers(0, DAY - 1)
MOMENTS = CALENDAR.flatmap(lambda day: CLOCK.map(lambda time: day * DAY + time))
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("date_weekday", "date_year", "date_month", "date_day"), (CALENDAR,)),
    **dict.fromkeys(("time_hour", "time_minute"), (CLOCK,)),
    **dict.fromkeys(("wall_day", "wall_time", "night_day"), (MOMENTS,)),
    **dict.fromkeys(("add_instant", "sub_instant"), (MOMENTS, WHOLE)),
    **dict.fromkeys(("add_days", "sub_days"), (CALENDAR, WHOLE)),
    **{f"duration_{unit}": (WHOLE,) for unit in ("days", "hours", "minutes", "seconds")},
    "days_between": (CALENDAR, CALENDAR),
    "wall_of": (CALENDAR, CLOCK),
    "near_time": (CLOCK, CLOCK, WHOLE),
    "to_float": (WHOLE,),
    "clamp": (WHOLE, WHOLE, WHOLE),
    **dict.fromkeys(("min", "max", "less", "equal"), (WHOLE, WHOLE)),
}


def arguments_of(op: str) -> st.SearchStrategy[tuple[Any, ...]]:
    if op in ARGUMENTS:
        return st.tuples(*ARGUMENTS[op])
    verb, kind = op.rsplit("_", 1)
    count = {"neg": 1, "abs": 1, "ramp": 3, "near": 3}.get(verb, 2)
    return st.tuples(*[WHOLE if kind == "int" else DOUBLES] * count)


@pytest.mark.parametrize("op", FORMULAS)
@settings(max_examples=50, **patient)
@given(data=st.data())
def test_formulas_say_what_vectors_say(op: str, data: st.DataObject) -> None:
    arguments = data.draw(arguments_of(op))
    with np.errstate(all="ignore"):
        vector = OPERATIONS[op].run(*(np.array([argument]) for argument in arguments))
    found = operate(op, list(arguments))
    assert found.over == (vector.over is not None and bool(vector.over[0]))
    assert found.missing == (vector.missing is not None and bool(vector.missing[0]))
    assert found.value == vector.values[0].item()
    assert type(found.value) is type(vector.values[0].item())
