"""From JSON to values and back: what is read, what is not, and what a call needs."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucl.diagnostics import Source, Span
from ucl.semantics import types as t
from ucl.semantics.calendar import FIRST_INSTANT, LAST_INSTANT
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.outcome import Call, Invalid, Reason
from ucl.semantics.program import (
    Const,
    Definition,
    Expr,
    Field,
    LocalInstant,
    MemoryField,
    Parameter,
    Program,
    RangeDomain,
    Schema,
    SetDomain,
)
from ucl.semantics.types import DAY, SECOND, Type, Unit
from ucl.semantics.values import (
    Problem,
    Unreadable,
    check_domain,
    make_call,
    parse_value,
    read_arguments,
    read_record,
    record_reader,
    to_data,
    to_echo,
    to_json,
    to_text,
)
from ucl.semantics.zones import UTC, Zone

HOUR, MINUTE = 3600 * SECOND, 60 * SECOND
NOWHERE = Span(Source("test.ucl", ""), 0, 0)
NEW_YORK = Zone.load("America/New_York") or UTC
MINUTES, KM = Unit("min", Fraction(MINUTE)), Unit("km", Fraction(1000))
LENGTH = t.Quantity(t.Dimension("m", "length", (Unit("m", Fraction(1)), KM)))


def instant(*civil: int) -> int:
    return (dt.datetime(*civil) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # type: ignore[arg-type]


def field(name: str, type: Type, **more: Any) -> Field:
    known = {"domain": None, "column": name, "unit": None, "default": None, "doc": None} | more
    return Field(name=name, type=type, span=NOWHERE, **known)


def const(value: Any, type: Type = t.INT) -> Expr:
    return Const(type, NOWHERE, value)


def parse(raw: object, type: Type, unit: Unit | None = None, zone: Zone = UTC) -> Any:
    return parse_value(raw, type, unit, zone)


@pytest.mark.parametrize(
    ("raw", "type", "value"),
    [
        (True, t.BOOL, True),
        (5, t.INT, 5),
        (5.0, t.INT, 5),
        (INT_MIN, t.INT, INT_MIN),
        (5, t.FLOAT, 5.0),
        ("e\u0301", t.TEXT, "é"),
        ("mon", t.WEEKDAY, 0),
        ("2026-03-04", t.DATE, 20_516),
        ("13:00", t.TIME, 13 * HOUR),
        ("23:59:59.9999999", t.TIME, DAY - 1),
        ("2026-03-04 09:00", t.DATETIME, instant(2026, 3, 4, 9)),
        ("2026-03-04T09:00:30.5Z", t.DATETIME, instant(2026, 3, 4, 9, 0, 30, 500_000)),
        ("2026-03-04T09:00+08:00", t.DATETIME, instant(2026, 3, 4, 1)),
        ("2026-03-04T09:00-0530", t.DATETIME, instant(2026, 3, 4, 14, 30)),
        ("PT90M", t.DURATION, 90 * MINUTE),
        ("P1D", t.DURATION, DAY),
        ("P1W2DT3H", t.DURATION, 9 * DAY + 3 * HOUR),
        ("-PT180M", t.DURATION, -3 * HOUR),
        ("P0DT0.0001S", t.DURATION, 100),
        ("PT0.0000005S", t.DURATION, 0),
        ("PT1.5H", t.DURATION, 90 * MINUTE),
        (["b", "a", "b"], t.Set(t.TEXT), frozenset({"a", "b"})),
        (["sat", "mon"], t.Set(t.WEEKDAY), frozenset({0, 5})),
        (dt.date(2026, 3, 4), t.DATE, 20_516),
        (dt.time(13, 0), t.TIME, 13 * HOUR),
        (dt.datetime(2026, 3, 4, 9), t.DATETIME, instant(2026, 3, 4, 9)),
        (dt.datetime(2026, 3, 4, 9, tzinfo=dt.UTC), t.DATETIME, instant(2026, 3, 4, 9)),
        (dt.timedelta(minutes=90), t.DURATION, 90 * MINUTE),
        ({"a"}, t.Set(t.TEXT), frozenset({"a"})),
    ],
)
def test_what_is_read(raw: object, type: Type, value: object) -> None:
    read = parse(raw, type)
    assert read == value
    assert read.__class__ is value.__class__


@pytest.mark.parametrize(
    ("raw", "type"),
    [
        (1, t.BOOL),
        ("true", t.BOOL),
        (1.5, t.INT),
        ("5", t.INT),
        (True, t.INT),
        (INT_MAX + 1, t.INT),
        (1e300, t.INT),
        (math.inf, t.FLOAT),
        (10**400, t.FLOAT),
        (False, t.FLOAT),
        (5, t.TEXT),
        ("\ud800", t.TEXT),
        ("monday!", t.WEEKDAY),
        (0, t.WEEKDAY),
        ("2026-02-29", t.DATE),
        ("2026-3-4", t.DATE),
        ("0000-01-01", t.DATE),
        ("２０２６-03-04", t.DATE),
        ("2026-03-04\n", t.DATE),
        ("25:00", t.TIME),
        ("24:00", t.TIME),
        ("12:60", t.TIME),
        ("9:00", t.TIME),
        ("yesterday", t.DATETIME),
        ("2026-03-04", t.DATETIME),
        ("2026-03-04T09:00+99:00", t.DATETIME),
        ("9999-12-31T23:00-02:00", t.DATETIME),
        ("PT", t.DURATION),
        ("P", t.DURATION),
        ("P1Y", t.DURATION),
        ("P1DT", t.DURATION),
        ("PT9999999999999999H", t.DURATION),
        (3, t.DURATION),
        ([1, "x"], t.Set(t.INT)),
        ([None], t.Set(t.INT)),
        ("a;b", t.Set(t.TEXT)),
        (dt.datetime(2026, 3, 4), t.DATE),
    ],
)
def test_what_is_unreadable(raw: object, type: Type) -> None:
    with pytest.raises(Unreadable):
        parse(raw, type)


def test_numbers_in_a_unit_are_the_exact_product_rounded_once() -> None:
    centimetre = Unit("cm", Fraction(1, 100))
    assert parse(57, LENGTH, centimetre) == 0.57
    assert parse(1.5, LENGTH, KM) == 1500.0
    assert parse(1.5, LENGTH) == 1.5
    assert parse(0.5, t.DURATION, Unit("us", Fraction(1))) == 0
    assert parse(1.5, t.DURATION, Unit("us", Fraction(1))) == 2
    assert parse(1.5, t.DURATION, MINUTES) == 90 * SECOND
    assert parse("PT90M", t.DURATION, MINUTES) == 90 * MINUTE
    for raw in ("90", "1h", True, math.inf, 1e300):
        with pytest.raises(Unreadable):
            parse(raw, t.DURATION, MINUTES)


def test_local_times_follow_the_zone() -> None:
    assert parse("2026-11-01T01:30", t.DATETIME, zone=NEW_YORK) == instant(2026, 11, 1, 5, 30)
    assert parse("2026-11-01T01:30-05:00", t.DATETIME, zone=NEW_YORK) == instant(2026, 11, 1, 6, 30)
    assert parse(dt.datetime(2026, 3, 8, 2, 30), t.DATETIME, zone=NEW_YORK) == instant(2026, 3, 8, 7, 30)


def test_json_is_what_the_interface_says() -> None:
    zone = NEW_YORK
    assert to_json(instant(2026, 3, 8, 13), t.DATETIME, zone) == "2026-03-08T09:00:00-04:00"
    assert to_json(instant(2026, 1, 8, 13, 0, 0, 250), t.DATETIME, UTC) == "2026-01-08T13:00:00.000250+00:00"
    assert to_json(LAST_INSTANT, t.DATETIME, Zone.load("Asia/Tokyo") or UTC) == "9999-12-31T23:59:59.999999+00:00"
    assert to_json(instant(1850, 1, 1), t.DATETIME, zone) == "1849-12-31T19:03:58-04:56:02"
    assert to_json(9 * HOUR, t.TIME, UTC) == "09:00:00"
    assert to_json(frozenset({"b", "a"}), t.Set(t.TEXT), UTC) == ["a", "b"]
    assert to_json(frozenset({6, 0}), t.Set(t.WEEKDAY), UTC) == ["mon", "sun"]
    assert to_json(None, t.Optional(t.DATE), UTC) is None
    assert str(to_json(-0.0, t.FLOAT, UTC)) == "0.0"
    durations = {0: "PT0S", DAY: "P1D", 3 * HOUR: "PT3H", -90 * MINUTE: "-PT90M", 100: "PT0.0001S", SECOND: "PT1S"}
    assert {value: to_json(value, t.DURATION, UTC) for value in durations} == durations
    assert (to_text(6, t.INT, UTC), to_text(None, t.Optional(t.INT), UTC), to_text(True, t.BOOL, UTC)) == (
        "6",
        "",
        "true",
    )
    assert to_text(frozenset({2, 1}), t.Set(t.INT), UTC) == "1, 2"


round_trips = st.one_of(
    st.tuples(st.just(t.INT), st.integers(INT_MIN, INT_MAX)),
    st.tuples(st.just(t.FLOAT), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(t.WEEKDAY), st.integers(0, 6)),
    st.tuples(st.just(t.TIME), st.integers(0, DAY - 1)),
    st.tuples(st.just(t.DATE), st.integers(-700_000, 2_900_000)),
    st.tuples(st.just(t.DURATION), st.integers(INT_MIN, INT_MAX)),
    st.tuples(st.just(t.DATETIME), st.integers(FIRST_INSTANT, LAST_INSTANT)),
    st.tuples(st.just(t.Set(t.DATE)), st.frozensets(st.integers(0, 40_000), max_size=4)),
)


@given(round_trips, st.sampled_from(["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]))
def test_what_is_written_is_read_back(case: tuple[Type, Any], name: str) -> None:
    type, value = case
    zone = Zone.load(name)
    assert zone is not None
    assert parse(to_json(value, type, zone), type, zone=zone) == value


# --- records --------------------------------------------------------------------------------------------------------

PERSON = Schema(
    "m",
    "Person",
    (
        field("name", t.TEXT),
        field("age", t.INT, domain=RangeDomain(const(0), None, False, False), default=const(40)),
        field("mail", t.Optional(t.TEXT)),
    ),
    None,
    NOWHERE,
)
VISIT = (
    field("far", LENGTH, column="Distance (km)", unit=KM),
    field("lasts", t.DURATION, unit=MINUTES, default=const(30 * MINUTE, t.DURATION)),
    field("kind", t.Closed(("a", "b")), default=const("a", t.TEXT)),
    field("host", t.Record(PERSON)),
    field("guest", t.Optional(t.Record(PERSON))),
)


def test_a_record_has_a_value_for_every_field() -> None:
    record = read_record({"Distance (km)": 1.5, "host": {"name": "e\u0301"}, "other": 1}, VISIT, UTC)
    assert record == {
        "far": 1500.0,
        "lasts": 30 * MINUTE,
        "kind": "a",
        "host": {"name": "é", "age": 40, "mail": None},
        "guest": None,
    }
    assert to_data(record, VISIT, UTC) == {
        "Distance (km)": 1.5,
        "lasts": 30,
        "kind": "a",
        "host": {"name": "é", "age": 40},
    }
    assert to_json(record, t.Record(Schema("m", "Visit", VISIT, None, NOWHERE)), UTC)["lasts"] == "PT30M"


def test_an_echoed_record_is_the_data_that_gave_it() -> None:
    data = {
        "Distance (km)": 2, "lasts": 1.5, "kind": "b", "host": {"name": "a", "age": 1, "mail": None}, "guest": None,
    }  # fmt: skip
    record = read_record(data, VISIT, UTC)
    assert not isinstance(record, Invalid)
    assert to_echo(record, VISIT, UTC) == data
    assert type(to_echo(record, VISIT, UTC)["Distance (km)"]) is int


@given(st.integers(INT_MIN, INT_MAX), st.sampled_from(t.DURATION_UNITS))
def test_a_duration_in_a_unit_is_read_back(duration: int, unit: Unit) -> None:
    fields = (field("x", t.DURATION, unit=unit),)
    for write in (to_data, to_echo):
        assert read_record(write({"x": duration}, fields, UTC), fields, UTC) == {"x": duration}


@pytest.mark.parametrize(
    ("data", "invalid"),
    [
        ({}, Invalid("far", Reason.ABSENT)),
        ({"Distance (km)": math.nan}, Invalid("far", Reason.ABSENT)),
        ({"Distance (km)": "1"}, Invalid("far", Reason.UNREADABLE, "1")),
        ({"Distance (km)": 1, "kind": "c"}, Invalid("kind", Reason.DOMAIN, "c")),
        ({"Distance (km)": 1}, Invalid("host.name", Reason.ABSENT)),
        ({"Distance (km)": 1, "host": 3}, Invalid("host", Reason.UNREADABLE, 3)),
        ({"Distance (km)": 1, "host": {"name": "a", "age": -1}}, Invalid("host.age", Reason.DOMAIN, -1)),
        ({"Distance (km)": 1, "host": {"name": "a"}, "guest": {}}, Invalid("guest.name", Reason.ABSENT)),
    ],
)
def test_the_first_wrong_field_is_named(data: dict[str, Any], invalid: Invalid) -> None:
    assert read_record(data, VISIT, UTC) == invalid
    assert record_reader(VISIT, UTC)(data) == invalid


RAW = [
    *[
        None,
        True,
        False,
        0,
        1,
        5.0,
        0.5,
        -0.0,
        math.nan,
        math.inf,
        2**63,
        -(2**63),
        "",
        "a",
        "c",
        "e\u0301",
        "é",
        "\ud800",
    ],
    *["mon", "2026-03-04", "13:00", "2026-03-04T09:00", "PT90M", [], ["a"], {"name": "a"}, {"name": 3}],
]
KINDS: tuple[Type, ...] = (t.BOOL, t.INT, t.FLOAT, t.TEXT, LENGTH, t.Closed(("a", "é")), t.WEEKDAY, t.DATE, t.TIME)
KINDS += (t.DATETIME, t.DURATION, t.Set(t.TEXT), t.Record(PERSON))


@pytest.mark.parametrize("type", KINDS, ids=str)
def test_many_records_are_read_as_one_is(type: Type) -> None:
    fields = [
        field("plain", type),
        field("maybe", t.Optional(type)),
        field("limited", type, domain=SetDomain(frozenset({1}))),
        field("measured", type, unit=KM),
    ]
    for one in fields:
        read = record_reader([one], UTC)
        for raw in RAW:
            if isinstance(one.domain, SetDomain) and isinstance(raw, list):
                continue  # a domain is of scalars
            data = {one.name: raw}
            assert repr(read(data)) == repr(read_record(data, [one], UTC))


def test_domains() -> None:
    night = RangeDomain(const(22 * HOUR, t.TIME), const(6 * HOUR, t.TIME), inclusive=False, wraps=True)
    at_night = field("t", t.TIME, domain=night)
    assert [check_domain(h * HOUR, at_night, UTC) for h in (21, 22, 0, 6)] == [False, True, True, False]
    local = LocalInstant(t.DATETIME, NOWHERE, instant(2026, 1, 1))
    since = field("at", t.DATETIME, domain=RangeDomain(local, None, False, False))
    assert check_domain(instant(2026, 1, 1), since, UTC)
    assert not check_domain(instant(2026, 1, 1), since, NEW_YORK)
    few = field("n", t.INT, domain=SetDomain(frozenset({1, 2})))
    assert [check_domain(n, few, UTC) for n in (2, 3)] == [True, False]
    tags = field("tags", t.Set(t.Closed(("a", "b"))))
    assert [check_domain(frozenset(value), tags, UTC) for value in ("", "ab", "ac")] == [True, True, False]


# --- calls ----------------------------------------------------------------------------------------------------------

NOW = instant(2026, 3, 5, 3)


def program(context: tuple[Field, ...] = (), memory: tuple[MemoryField, ...] = ()) -> Program:
    return Program(
        "m", "UTC", {}, {}, context, memory, {}, {}, {}, (), (), {}, (), (), (), (), (NOWHERE.source,)
    )  # fmt: skip


def remembered(name: str, type: Type, default: Expr | None = None) -> MemoryField:
    return MemoryField(name, type, default, None, NOWHERE)


KNOWN = program(
    (field("mood", t.Closed(("calm", "busy")), default=const("calm", t.TEXT)), field("place", t.Optional(t.TEXT))),
    (remembered("limit", t.INT), remembered("people", t.List(t.Record(PERSON)))),
)


def test_a_call_has_a_value_for_everything() -> None:
    call = make_call(KNOWN, NOW, NEW_YORK, {"place": "home"}, {"limit": 3, "people": [{"name": "a"}]})
    assert isinstance(call, Call)
    assert call.context == {"mood": "calm", "place": "home"}
    assert call.memory == {"limit": 3, "people": ({"name": "a", "age": 40, "mail": None},)}
    assert call.today == 20_516  # the 4th in New York
    empty = make_call(KNOWN, NOW, UTC, None, {"limit": 3})
    assert isinstance(empty, Call)
    assert empty.memory["people"] == ()


@pytest.mark.parametrize(
    ("context", "memory", "said", "help"),
    [
        ({"moood": "calm"}, {"limit": 1}, "`moood`", "`mood`"),
        ({"now": 1}, {"limit": 1}, "`now`", "own `now`"),
        ({"mood": "sad"}, {"limit": 1}, '`mood` may not be `"sad"`', "domain"),
        ({}, {}, "`limit` is not given", None),
        ({}, {"limit": "1"}, '`limit` can\'t be read from `"1"`', None),
        ({}, {"limit": 1, "peple": []}, "`peple`", "`people`"),
        ({}, {"limit": 1, "people": {}}, "list of records", None),
        ({}, {"limit": 1, "people": [{"name": "a"}, {}]}, "`name` in record 2", None),
        ({}, {"limit": 1, "people": [3]}, "record 1", None),
        ([], {"limit": 1}, "the context is a JSON object", None),
        ({}, [1], "the memory is a JSON object", None),
    ],
)
def test_what_is_wrong_with_a_call_is_said(context: Any, memory: Any, said: str, help: str | None) -> None:
    problem = make_call(KNOWN, NOW, UTC, context, memory)
    assert isinstance(problem, Problem)
    assert said in problem.message
    assert help is None or help in (problem.help or "")


HOME = Schema("m", "Home", (field("café", t.TEXT), field("host", t.Optional(t.Record(PERSON)))), None, NOWHERE)
NESTED = program(
    (field("home", t.Optional(t.Record(HOME))), field("été", t.Optional(t.INT))),
    (remembered("homes", t.List(t.Record(HOME))), remembered("own", t.Optional(t.Record(HOME)))),
)


def test_keys_of_a_call_are_composed_at_every_depth() -> None:
    home = {"cafe\u0301": "x", "host": {"name": "a"}}
    call = make_call(NESTED, NOW, UTC, {"home": home, "e\u0301te\u0301": 5}, {"homes": [home], "own": home})
    assert isinstance(call, Call)
    read = {"café": "x", "host": {"name": "a", "age": 40, "mail": None}}
    assert call.context == {"home": read, "été": 5}
    assert call.memory == {"homes": (read,), "own": read}


@pytest.mark.parametrize(
    ("context", "memory", "said", "help"),
    [
        ({"home": {"cafe": "x"}}, {}, "`home` in the context has no field `cafe`", "`café`"),
        ({"home": {"café": "x", "host": {"nme": "a"}}}, {}, "`home.host` in the context has no field `nme`", "`name`"),
        ({"été": 1, "e\u0301te\u0301": 2}, {}, "the context gives `été` twice", None),
        ({}, {"homes": [{"café": "x"}, {"cafe": 1}]}, "record 2 of the memory's `homes` has no field `cafe`", "`café`"),
        ({}, {"homes": [{"café": "x", "host": {"agee": 1}}]}, "`host` in record 1 of the memory's `homes`", "`age`"),
        (
            {},
            {"homes": [{"café": "x", "cafe\u0301": "y"}]},
            "record 1 of the memory's `homes` gives `café` twice",
            None,
        ),
        ({}, {"own": {"cofé": "x"}}, "`own` in the memory has no field `cofé`", "`café`"),
    ],
)
def test_a_key_that_nothing_declares_is_an_error(context: Any, memory: Any, said: str, help: str | None) -> None:
    problem = make_call(NESTED, NOW, UTC, context, memory)
    assert isinstance(problem, Problem)
    assert said in problem.message
    assert help is None or help in (problem.help or "")


def test_a_record_that_is_an_argument_has_no_other_keys() -> None:
    definition = Definition("m", "of", (Parameter("home", t.Record(HOME)),), t.INT, const(1), None, NOWHERE)
    assert read_arguments(definition, [{"cafe\u0301": "x"}], UTC) == [{"café": "x", "host": None}]
    problem = read_arguments(definition, ['{"cafe": "x"}'], UTC)
    assert isinstance(problem, Problem)
    assert "the argument `home` of `of` has no field `cafe`" in problem.message


def test_what_is_shown_of_a_wrong_value_is_no_place_in_memory() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for odd in (object(), b"x", len, circle, 10**5000, {"k": object()}, {1, 2}):
        problem = make_call(KNOWN, NOW, UTC, {"place": odd}, {"limit": 1})
        assert isinstance(problem, Problem)
        assert "0x" not in problem.message
        assert "`place`" in problem.message


def test_weights_are_by_composed_names() -> None:
    problem = make_call(program(), NOW, UTC, recency={"re\u0301gle": 1.0})
    assert isinstance(problem, Problem)
    assert "`régle`" in problem.message


def test_weights_and_now_are_checked() -> None:
    nothing = program()
    assert isinstance(make_call(nothing, NOW, UTC, recency={"r": 1.0}), Problem)
    assert isinstance(make_call(nothing, NOW, UTC, contested_from=math.nan), Problem)
    assert isinstance(make_call(nothing, LAST_INSTANT, Zone.load("Asia/Tokyo") or UTC), Problem)


def test_arguments_of_a_query() -> None:
    parameters = (Parameter("d", t.DATE), Parameter("n", t.INT), Parameter("who", t.TEXT))
    definition = Definition("m", "since", parameters, t.INT, const(1), None, NOWHERE)
    assert read_arguments(definition, ["2026-03-04", "5", "5"], UTC) == [20_516, 5, "5"]
    assert read_arguments(definition, ["2026-03-04", 5, "x"], UTC) == [20_516, 5, "x"]
    few = read_arguments(definition, ["2026-03-04"], UTC)
    assert isinstance(few, Problem)
    assert "takes 3 arguments" in few.message
    wrong = read_arguments(definition, ["2026-03-04", "x", "x"], UTC)
    assert isinstance(wrong, Problem)
    assert "`n`" in wrong.message
