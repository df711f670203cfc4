"""Expressions: what type each has, what it means, and what is said of those that mean nothing.

The golden files `bad/expressions-*.ucl` hold the messages; here are the types, the trees and the helps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from checking import check_text
from expression_places import (
    GLOBALS,
    KIND,
    LENGTH,
    NOWHERE,
    OPTION,
    UNITS,
    WITHOUT_SCORE,
    check,
    constant,
    definition,
    read,
    scope,
)
from golden_files import Chunk, chunks
from hypothesis import given
from hypothesis import strategies as st

from ucl.diagnostics import Report
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import OPERATORS, WIDEN
from ucl.semantics.check.expressions import (
    check_constant,
    check_expression,
    check_range,
    expanded_size,
    fold,
    is_constant,
)
from ucl.semantics.check.expressions.measure import loops_in
from ucl.semantics.suggest import edit_distance, nearest
from ucl.semantics.types import BOOL, DATE, DURATION, FLOAT, INT, TEXT, TIME, WEEKDAY, Type
from ucl.syntax import ast

TYPES = {
    "1": "int",
    "15%": "float",
    '"a"': "text",
    "mon": "weekday",
    "13:00": "time",
    "2026-03-04": "date",
    "2026-03-04T13:00": "datetime",
    "2026-03-04T13:00Z": "datetime",
    "90min": "duration",
    "2km500m": "length",
    "{1, 2}": "set<int>",
    '{"a"}': "set<text>",
    "{mon}": "set<weekday>",
    "{2026-03-04}": "set<date>",
    "{}": "set",
    "n + 1": "int",
    "n + f": "float",
    "n * 0.5": "float",
    "-f": "float",
    "-lasts": "duration",
    "far + 1km": "length",
    "far * 2": "length",
    "2 * far": "length",
    "far / 2": "length",
    "far / 1km": "float",
    "lasts * 2": "duration",
    "lasts / 1.5": "duration",
    "lasts / 1h": "float",
    "lasts / lasts": "float?",
    "n / m": "float?",
    "n / m ?? 0": "float",
    "start + 1h": "datetime",
    "start - start": "duration",
    "day + 2d": "date",
    "day + lasts": "date",
    "day - day": "duration",
    "start.date": "date",
    "start.time.hour": "int",
    "day.weekday": "weekday",
    "lasts.hours": "float",
    "rating": "float?",
    "rating ?? 1": "float",
    "count_ ?? 0": "int",
    "count_ ?? 0.5": "float",
    "count_ ?? limit": "int?",
    "guest": "Person?",
    "host.age": "int",
    "host.mail": "text?",
    "kind": '"internal" | "external"',
    "option.place": "text",
    "context.place": "text",
    "memory.trips": "list<Trip>",
    "five": "int",
    "vip": "set<text>",
    "moment": "datetime",
    "base.limit": "int",
    "base.twice(2)": "int",
    "twice(n)": "int",
    "half(n)": "float",
    "today": "date",
    "now.year": "int",
    "n > 1.5": "bool",
    "kind == also": "bool",
    "kind == name": "bool",
    '"ann" in tags': "bool",
    "n not in 1..5": "bool",
    "t in quiet": "bool",
    "if b then 1 else 2": "int",
    "if b then 1 else 2.5": "float",
    "if b then kind else name": "text",
    "if b then kind else also": "text",
    "if b then rating else 1": "float?",
    "if b then tags else {}": "set<text>",
    "contains(kind, name)": "bool",
    "length(name)": "int",
    "overlaps(kinds, tags)": "bool",
    "size(distinct(v.place for v in trips))": "int",
    "min(n, f)": "float",
    "max(far, 1km)": "length",
    "clamp(t, 09:00, 10:00)": "time",
    "floor(f)": "int",
    "round(n)": "int",
    "near(n, 5, k)": "float",
    "ramp(far, 1km, 5km)": "float",
    "at(day, t)": "datetime",
    "next_weekday(day, fri)": "date",
    "add_months(day, n)": "date",
    "night_of(start)": "weekday",
    "present(note)": "bool",
    "absent(note)": "bool",
    "lowest(f)": "bool",
    "highest(start)": "bool",
    "rank_of(day)": "int",
    "mean_of(n)": "float",
    "mean_of(far)": "length",
    "count(v in trips)": "int",
    "count(v in tags where v == name)": "int",
    "any(v in trips where v.cost > 3)": "bool",
    "all(v in trips where v.cost > 3)": "bool",
    "sum(v.cost for v in trips)": "int",
    "sum(v.fare for v in trips)": "float",
    "min(v.start for v in trips)": "datetime?",
    "max(v.cost for v in trips)": "int?",
    "mean(v.cost for v in trips)": "float?",
    "first(v.place for v in trips by v.cost desc)": "text?",
    "last(v for v in trips by v.start)": "Trip?",
    "mode(v.place for v in trips)": "text?",
    "distinct(v.start.weekday for v in trips)": "set<weekday>",
    "frequent(v.place for v in trips, 25%)": "set<text>",
    "first(x for x in distinct(v.place for v in trips) by sum(q.cost for q in trips where q.place == x))": "text?",
}


@pytest.mark.parametrize("text", TYPES)
def test_types(text: str) -> None:
    result = check(text)
    assert result.codes == []
    assert str(result.expr.type) == TYPES[text]


HELPS = {
    "nme == name": "did you mean `name`?",
    "place == name": "write `option.place` or `context.place`",
    "option.nam == name": "did you mean `option.name`?",
    "start.wekday == mon": "did you mean `weekday`?",
    'name.contains("x")': 'write `contains(name, "x")`',
    "name.length > 3": "write `length(name)`",
    "far > 5USD": "write `import std.money (usd)`",
    "far > 5mi": "write `import std.units (length)`",
    "lasts > 30sec": "write `s`",
    "lasts > 30m": "write `lasts > 30min`",
    "lasts > 30": "write `lasts > 30min`",
    "30m < lasts": "write `30min < lasts`",
    "far > 5": "write `far > 5m`",
    "lasts == 1h30m": "for minutes write `min`",
    "start > 2026-03-04": "write `start.date > 2026-03-04`",
    "2026-03-04 < start": "write `2026-03-04 < start.date`",
    "start in 2026-03-04..=2026-03-05": "write `start.date in 2026-03-04..=2026-03-05`",
    "start not in 09:00..10:00": "write `start.time not in 09:00..10:00`",
    "start in mon..=fri": "write `start.weekday in mon..=fri`",
    'start.weekday == "mon"': "write `start.weekday == mon`",
    'w == "Monday"': "write `w == mon`",
    'day == "2026-03-04"': "write `day == 2026-03-04`",
    'n == "3"': "write `n == 3`",
    "w in mon..fri": "write `mon..=fri`",
    "n in 5..3": "did you mean `3..5`?",
    "n in 5..5": "write `5..=5` for that one value",
    "rating > 3": "test `present(rating) and …` first, or give a default: `rating ?? …`",
    "n / m > 2": "test `m != 0` first, or give a default: `n / m ?? …`",
    'kind == "extrenal"': 'did you mean `"external"`?',
    'kind == "personal"': 'it is one of `"internal"`, `"external"`',
    "twice(1, 2) > 3": "it is `twice(x: int)`",
    "contains(name)": 'as in `contains(title, "standup")`',
    "lowest": "write `lowest(x)`",
    "start.date() == day": "write `start.date`",
    "now() > start": "write `now`",
    "any(n in trips where n.cost > 3)": "write `option.n`, or give one of them another name",
    "tags == vip": "write `subset(tags, vip) and subset(vip, tags)`",
    "tags == {}": "write `size(tags) == 0`",
    'name in "abc"': 'write `contains("abc", name)`',
    "n in 3": "write `n == 3`",
    "n in {1, m}": "join comparisons by `or`, as in `x == m or …`",
    "fires(no_lnch)": "did you mean `no_lunch`?",
    "day in 2026-07-01..2026-07-31": "write `2026-07-01..=2026-07-31` to keep it in",
    "start.time in 22:00..06:00 and start.weekday == fri": "write `night_of(start)`",
}


@pytest.mark.parametrize("text", HELPS)
def test_helps(text: str) -> None:
    assert check(text, BOOL, scope(in_expect=True)).only.help == HELPS[text]


@pytest.mark.parametrize(
    "text",
    [
        "(nn + 1) * 2 > f and twice(nn) / nn == 3 or nn in {nn}",
        "broken > 3 and broken(2) in broken and length(broken.x) > broken",
        "any(v in nowhere where v.cost > 3)",
        'sum(v.cots for v in trips where v.place == "x" by v.cost) / 3 > 2',
        "if nn then n else name",
        "near(nn, n, name)",
        "twice(nn) == name",
        "option.nn.year.month",
        "fires(broken) and b",
        "(n ?? 3) > broken",
    ],
)
def test_one_mistake_one_message(text: str) -> None:
    report = Report()
    found = check_expression(read(text), scope(in_expect=True), report, wanted=BOOL)
    names = [d for d in report if d.severity == "error"]
    assert len({(d.code, d.message) for d in names}) <= 1
    assert isinstance(found.type, t.Unknown)


@pytest.mark.parametrize("chunk", chunks("bad", "expressions-*.ucl"), ids=lambda chunk: chunk.name)
def test_messages(chunk: Chunk) -> None:
    assert chunk.differences(check_text(chunk.text).report) == []


# --- literals and what they adapt to --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        ("1_000", INT, 1000),
        ("-9223372036854775808", INT, -(2**63)),
        ("15%", FLOAT, 0.15),
        ("sun", WEEKDAY, 6),
        ("07:30:15", TIME, (7 * 3600 + 30 * 60 + 15) * 10**6),
        ("2026-03-04", DATE, 20516),
        ("1969-12-31", DATE, -1),
        ("2026-03-04T13:00+08:00", t.DATETIME, (20516 * 24 + 5) * 3600 * 10**6),
        ("1h30min", DURATION, 90 * 60 * 10**6),
        ("1.5ms", DURATION, 1500),
        ("2km500m", t.Quantity(LENGTH), 2500.0),
        ("1h * 2", DURATION, 2 * 3600 * 10**6),
        ("2 * 3 + 1", INT, 7),
        ("1 / 4", FLOAT, 0.25),
        ("-0.8", FLOAT, -0.8),
        ("2026-03-04 + 1d", DATE, 20517),
        ("min(3, 4.5)", FLOAT, 3.0),
        ("{3, 1 + 1, five}", t.Set(INT), frozenset((2, 3, 5))),
    ],
)
def test_constants(text: str, type: Type, value: object) -> None:
    result = check(text)
    assert result.codes == []
    assert result.expr == p.Const(type, NOWHERE, value)  # type: ignore[arg-type]


def test_a_datetime_without_an_offset_waits_for_the_zone() -> None:
    local = (20516 * 24 + 13) * 3600 * 10**6
    assert check("2026-03-04T13:00").expr == p.LocalInstant(t.DATETIME, NOWHERE, local)


@pytest.mark.parametrize(
    ("text", "wanted", "type"),
    [
        ('"external"', KIND, KIND),
        ('if b then "internal" else "external"', KIND, KIND),
        ('if b then "internal" else kind', KIND, KIND),
        ("kind", TEXT, KIND),
        ("kinds", t.Set(TEXT), t.Set(KIND)),
        ('{"internal"}', t.Set(KIND), t.Set(KIND)),
        ("{}", t.Set(INT), t.Set(INT)),
        ("n", FLOAT, FLOAT),
        ("count_", t.Optional(FLOAT), t.Optional(FLOAT)),
        ("3", FLOAT, FLOAT),
        ("n", t.Optional(INT), INT),
        ("rating ?? 3", FLOAT, FLOAT),
    ],
)
def test_what_fits(text: str, wanted: Type, type: Type) -> None:
    result = check(text, wanted)
    assert result.codes == []
    assert result.expr.type == type


@pytest.mark.parametrize(
    ("text", "wanted", "code"),
    [
        ("name", KIND, "type-mismatch"),
        ("also", KIND, "type-mismatch"),
        ("tags", t.Set(KIND), "type-mismatch"),
        ('"extern"', KIND, "unknown-variant"),
        ('if b then "internal" else "extern"', KIND, "unknown-variant"),
        ("f", INT, "type-mismatch"),
        ("rating", FLOAT, "absent-unhandled"),
        ("count_", FLOAT, "absent-unhandled"),
        ("note", INT, "type-mismatch"),
        ("far", FLOAT, "unit-mismatch"),
        ("3", DURATION, "unit-mismatch"),
        ("30m", DURATION, "unit-mismatch"),
        ("heavy", t.Quantity(LENGTH), "unit-mismatch"),
        ("numbers", t.Set(TEXT), "type-mismatch"),
        ("trips", TEXT, "type-mismatch"),
        ("1..3", INT, "type-mismatch"),
        ("quiet", TIME, "type-mismatch"),
    ],
)
def test_what_does_not_fit(text: str, wanted: Type, code: str) -> None:
    result = check(text, wanted)
    assert result.only.code == code
    assert isinstance(result.expr.type, t.Unknown)


def test_an_int_widens_by_one_operation_and_a_literal_by_itself() -> None:
    widened = check("n", FLOAT).expr
    assert isinstance(widened, p.Apply)
    assert widened.signature is WIDEN
    assert check("3", FLOAT).expr == constant(FLOAT, 3.0)


def test_comparisons_of_int_and_float_do_not_convert_what_is_not_exact() -> None:
    big = 2**53 + 1
    assert check(f"f == {big}").expr == p.Compare(
        BOOL, NOWHERE, "==", p.OptionValue(FLOAT, NOWHERE, ("f",)), constant(INT, big)
    )
    mixed = check("n < f").expr
    assert isinstance(mixed, p.Compare)
    assert (mixed.left.type, mixed.right.type) == (INT, FLOAT)


def test_a_unit_of_two_dimensions_is_settled_by_what_it_stands_beside() -> None:
    other = t.Dimension("m", "mood", (t.Unit("km", UNITS["km"][0][1].factor),))
    both = replace(scope(), units={**UNITS, "km": (*UNITS["km"], (other, other.units[0]))})
    assert check("far > 3km", where=both).codes == []
    assert check("3km > far", where=both).codes == []
    assert check("3km", where=both).only.code == "ambiguous-name"


def test_a_long_set_literal_is_read_in_one_go() -> None:
    elements = tuple(ast.IntLiteral(NOWHERE, n, str(n)) for n in range(100_000))
    report = Report()
    found = check_expression(ast.SetLiteral(NOWHERE, elements), scope(), report)
    assert found == constant(t.Set(INT), frozenset(range(100_000)))


def test_a_call_of_what_has_no_name_is_refused() -> None:
    node = ast.Call(NOWHERE, ast.IntLiteral(NOWHERE, 3, "3"), ())
    report = Report()
    check_expression(node, scope(), report)
    assert [d.code for d in report] == ["type-mismatch"]


# --- the tree -------------------------------------------------------------------------------------------------------


def test_paths() -> None:
    assert check("host.mail").expr == p.OptionValue(t.Optional(TEXT), NOWHERE, ("host", "mail"))
    assert check("context.mood").expr == p.ContextValue(INT, NOWHERE, ("mood",))
    inside = check("any(v in trips where v.cost > 3)").expr
    assert isinstance(inside, p.Comprehension)
    assert isinstance(inside.condition, p.Compare)
    assert isinstance(inside.condition.left, p.Member)


def test_a_narrowed_path_has_the_type_of_what_is_there() -> None:
    both = check("present(rating) and rating > 3").expr
    assert isinstance(both, p.And)
    test = both.operands[1]
    assert isinstance(test, p.Compare)
    assert test.left == p.OptionValue(FLOAT, NOWHERE, ("rating",))


def test_lets_are_their_values_where_they_have_one_before_the_call() -> None:
    assert check("five").expr == constant(INT, 5)
    moment = GLOBALS["moment"]
    assert isinstance(moment, p.Let)
    assert check("moment").expr == p.LetValue(t.DATETIME, NOWHERE, moment)


def test_ranges_wrap_for_times_and_weekdays_alone() -> None:
    for text, wraps in (("t in 22:00..06:00", True), ("w in fri..=mon", True), ("n in 1..3", False)):
        found = check(text).expr
        assert isinstance(found, p.InRange)
        assert found.wraps is wraps
    negated = check("t not in quiet").expr
    assert isinstance(negated, p.Not)
    assert isinstance(negated.operand, p.InRange)


def test_what_expect_can_ask() -> None:
    place = scope(WITHOUT_SCORE, in_expect=True)
    assert check("score > 0", where=place).codes == []
    assert check('decision == "accept" and feasible and not contested', where=place).codes == []
    assert check("fires(no_lunch) and applies(no_nights)", where=place).codes == []
    assert check("contribution(no_lunch) > 0", where=place).codes == []
    assert check("contribution(no_nights) > 0", where=place).only.code == "type-mismatch"
    assert check("score > 0", where=scope(WITHOUT_SCORE)).only.code == "type-mismatch"


def test_a_field_called_score_is_the_field_but_in_expect() -> None:
    assert check("score").expr == p.OptionValue(FLOAT, NOWHERE, ("score",))
    found = check("score > 0", where=scope(in_expect=True)).only
    assert (found.code, found.help) == ("ambiguous-name", "write `option.score`")


def test_a_rule_may_be_called_like_a_field_and_a_prefix_like_a_value() -> None:
    place = replace(scope(), find_global=lambda name: GLOBALS["no_lunch"] if name == "n" else GLOBALS.get(name))
    assert check("n > 3", where=place).codes == []
    local = scope().with_local("option", t.Record(OPTION))
    assert check("option.n > 3", where=local).codes == []


def test_where_nothing_is_scored_there_is_no_option() -> None:
    assert check("option.n > 3", where=scope(None)).only.code == "unknown-name"
    assert check("lowest(3)", where=scope(None)).only.code == "type-mismatch"


# --- constants and ranges -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("1 + 2", True),
        ("moment.date", True),
        ("at(2026-03-04, 10:00)", True),
        ("size(vip) > 1 and not false", True),
        ('count(x in vip where contains(x, "a"))', True),
        ("n", False),
        ("context.mood + 1", False),
        ("limit ?? 3", False),
        ("today", False),
        ("twice(3)", False),
        ("lowest(f)", False),
    ],
)
def test_is_constant(text: str, known: bool) -> None:
    assert is_constant(check(text).expr) is known
    report = Report()
    found = check_constant(read(text), scope(), report)
    assert [d.code for d in report] == ([] if known else ["not-constant"])
    assert isinstance(found.type, t.Unknown) is not known


def test_a_variable_is_constant_only_inside_its_comprehension() -> None:
    assert not is_constant(p.Variable(INT, NOWHERE, "x"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 < 2 and 3 in 1..5", True),
        ("1 > 2 or 23:00 in 22:00..06:00", True),
        ("not (mon in fri..=sun)", True),
        ('"a" in {"b"}', False),
        ("if 1 < 2 then 3 else 4", 3),
        ("(1 / 0) ?? 2", None),
        ("2 == 2.0", True),
        ("9007199254740993 == 9007199254740992.0", False),
    ],
)
def test_fold(text: str, value: object) -> None:
    folded = fold(check(text).expr)
    if value is None:
        assert not isinstance(folded, p.Const)
    else:
        assert isinstance(folded, p.Const)
        assert folded.value == value


def test_folding_leaves_what_the_zone_decides_and_drops_what_decides_nothing() -> None:
    zoned = check("moment.hour == 3 and 1 < 2").expr
    folded = fold(zoned)
    assert isinstance(folded, p.Compare)
    assert isinstance(folded.left, p.Apply)
    assert fold(check("1 > 2 and moment.hour == 3").expr) == constant(BOOL, False)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.sampled_from("+-*"))
def test_folding_is_exact_or_left_undone(a: int, b: int, operator: str) -> None:
    exact = {"+": a + b, "-": a - b, "*": a * b}[operator]
    sum_ = p.Apply(INT, NOWHERE, OPERATORS[operator][0], (constant(INT, a), constant(INT, b)))
    folded = fold(sum_)
    assert folded == (constant(INT, exact) if -(2**63) <= exact < 2**63 else sum_)


def ends(text: str, wanted: Type | None = None) -> tuple[tuple[p.Expr | None, p.Expr | None, bool, Type], list[str]]:
    node = read(text)
    assert isinstance(node, ast.Range)
    report = Report()
    return check_range(node, scope(), report, wanted=wanted), [d.code for d in report]


def test_check_range() -> None:
    assert ends("1..=3") == ((constant(INT, 1), constant(INT, 3), True, INT), [])
    assert ends("1..", FLOAT) == ((constant(FLOAT, 1.0), None, False, FLOAT), [])
    assert ends("..1km", t.Quantity(LENGTH)) == (
        (None, constant(t.Quantity(LENGTH), 1000.0), False, t.Quantity(LENGTH)),
        [],
    )
    assert ends("22:00..24:00")[0][3] == TIME
    assert ends("1..2.5")[0][3] == FLOAT
    assert ends("2026-01-01..2026-02-01")[1] == []


@pytest.mark.parametrize(
    ("text", "wanted", "codes"),
    [
        ("3..1", None, ["empty-range"]),
        ("mon..fri", None, ["type-mismatch"]),
        ("1..=mon", None, ["type-mismatch"]),
        ("0..1", DATE, ["type-mismatch", "type-mismatch"]),
        ("0..10", t.Quantity(LENGTH), ["unit-mismatch", "unit-mismatch"]),
        ("rating..", None, ["absent-unhandled"]),
        ("nn..", None, ["unknown-name"]),
    ],
)
def test_wrong_ranges(text: str, wanted: Type | None, codes: list[str]) -> None:
    found, said = ends(text, wanted)
    assert said == codes
    assert isinstance(found[3], t.Unknown)


# --- sizes ----------------------------------------------------------------------------------------------------------


def doubling(times: int) -> p.Definition:
    """f0(x) = x + x, f1(x) = f0(f0(x)), … in a few lines."""
    x = p.Variable(INT, NOWHERE, "x")
    found = definition("f0", INT, p.Apply(INT, NOWHERE, OPERATORS["+"][0], (x, x)), x=INT)
    for i in range(1, times):
        inner = p.DefCall(INT, NOWHERE, found, (x,))
        found = definition(f"f{i}", INT, p.DefCall(INT, NOWHERE, found, (inner,)), x=INT)
    return found


def test_the_size_of_an_expression_counts_its_defs_written_out() -> None:
    assert expanded_size(check("n + 1 > 2").expr) == 5
    assert expanded_size(doubling(1).body) == 3
    assert expanded_size(doubling(2).body) == 7
    assert expanded_size(doubling(40).body) == 10**12


def test_an_argument_that_is_not_used_counts_once() -> None:
    ignores = definition("g", INT, constant(INT, 1), x=INT)
    call = p.DefCall(INT, NOWHERE, ignores, (check("n + 1").expr,))
    assert expanded_size(call) == 4


def test_loops_count_through_defs() -> None:
    loop = check("count(v in trips where v.cost > 3)").expr
    called = p.DefCall(INT, NOWHERE, definition("h", INT, loop), ())
    assert loops_in(called) == 1
    assert loops_in(check("count(v in trips where count(w in tags) > 3)").expr) == 2


# --- did you mean ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "known", "meant"),
    [
        ("extrenal", ["internal", "external"], "external"),
        ("Priority", ["priority", "prior"], "priority"),
        ("m", ["n"], None),
        ("abc", ["xyz"], None),
        ("kilometer", ["kilometre", "metre"], "kilometre"),
        ("", ["a"], None),
        ("x" * 100, ["x" * 99], None),
        ("same", ["same"], None),
        ("naem", ["name", "neam"], "name"),
        ("URGENT", ["agent", "urgent"], "urgent"),
        ("N", ["m", "n"], "n"),
    ],
)
def test_nearest(written: str, known: Iterable[str], meant: str | None) -> None:
    assert nearest(written, known) == meant


def slow_distance(a: str, b: str) -> int:
    """The textbook's recursion."""
    if not a or not b:
        return len(a) + len(b)
    least = min(
        slow_distance(a[:-1], b) + 1,
        slow_distance(a, b[:-1]) + 1,
        slow_distance(a[:-1], b[:-1]) + (a[-1] != b[-1]),
    )
    if len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and a[-2] == b[-1]:
        least = min(least, slow_distance(a[:-2], b[:-2]) + 1)
    return least


@given(st.text("ab", max_size=5), st.text("abc", max_size=5), st.integers(0, 6))
def test_edit_distance_is_the_textbooks_up_to_its_cap(a: str, b: str, cap: int) -> None:
    assert edit_distance(a, b, cap) == min(slow_distance(a, b), cap + 1)
