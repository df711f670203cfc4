"""Expressions by small programs whose answers are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from small_programs import (
    BIG,
    MEMORY,
    NOON,
    ROWS,
    call_of,
    compiled,
    scored,
    totals,
    value_of,
    zone_named,
)

from ucl.semantics import aggregates
from ucl.semantics import types as t
from ucl.semantics.evaluate import (
    Budget,
    Exhausted,
    Frame,
    Overflow,
    evaluate,
    query,
)
from ucl.semantics.operations import INT_MAX


@pytest.mark.parametrize(
    ("expression", "type", "value"),
    [
        ("1 + 2 * 3 - -4", "int", 11),
        ("7 / 2", "float", 3.5),
        ("9223372036854775807 == 9223372036854775807", "bool", True),
        ("9007199254740993 > 9007199254740992.0", "bool", True),  # exactly, not in doubles
        ("if 1 < 2 then 3 else 4", "int", 3),
        ("22:30 in 22:00..06:00 and 05:59 in 22:00..06:00 and 06:00 not in 22:00..06:00", "bool", True),
        ("sun in fri..=mon and tue not in fri..=mon", "bool", True),
        ("3 in {1, 2, 3} and 4 not in {1, 2, 3}", "bool", True),
        ("overlaps({1, 2}, {2, 3}) and subset({1}, {1, 2}) and not subset({3}, {1, 2})", "bool", True),
        ('like("ann@corp.example", "*@corp.example")', "bool", True),
        ("round(2.5) + floor(-0.5) + ceil(0.2)", "int", 2),
        ("clamp(9, 1, 5) + min(3, 2) + max(3, 2) + abs(-1)", "int", 11),
        ("(2026-03-04T12:00Z - 2026-03-03T12:00Z).hours", "float", 24.0),
        ("next_weekday(2026-03-04, wed) == 2026-03-11", "bool", True),
        ("add_months(2026-01-31, 1) == 2026-02-28", "bool", True),
        (
            "today - (now - 2026-03-04T00:00Z) == today and today + (2026-03-04T00:00Z - now) == 2026-03-03",
            "bool",
            True,
        ),
        ("near(23:00, 00:00, 2h) + ramp(15, 10, 20)", "float", 1.0),
        ("today == 2026-03-04 and now == 2026-03-04T12:00", "bool", True),
    ],
)
def test_expressions(expression: str, type: str, value: Any) -> None:
    answer = value_of(expression, type)
    assert answer == value
    assert answer.__class__ is value.__class__


def test_literals_without_offset_follow_the_calls_zone() -> None:
    program = compiled("""
    def noon() -> datetime = 2026-03-04T12:00
    let later = 2026-03-04T12:00 + 1h
    def after() -> datetime = later
    """)
    here, there = call_of(program), call_of(program, zone=zone_named("Asia/Shanghai"))
    eight_hours, hour = 8 * 3600 * 10**6, 3600 * 10**6
    assert query(program, "noon", [], here).value == NOON
    assert query(program, "noon", [], there).value == NOON - eight_hours
    assert query(program, "after", [], there).value == NOON - eight_hours + hour


def test_a_definitions_argument_is_needed_where_it_is_used() -> None:
    functions = "def either(c: bool, a: int, b: int) -> int = if c then a else b"
    big = f"{BIG} + 0 * today.year"  # no constant
    assert value_of(f"either(true, 1, ({big}) * ({big}))", before=functions) == 1
    assert value_of(f"either(false, 1, ({big}) * ({big}))", before=functions) is Overflow


def test_definitions_that_double_their_argument_take_linear_time() -> None:
    chain = "def f0(x: int) -> int = x + x\n"
    chain += "\n".join(f"def f{i}(x: int) -> int = f{i - 1}(x) + 0 * f{i - 1}(x)" for i in range(1, 5))
    assert value_of("f4(3)", before=chain) == 6


@pytest.mark.parametrize(
    ("expression", "type", "value", "of_nothing"),
    [
        ("count(t in ts where t.n == 3)", "int", 2, 0),
        ("any(t in ts where t.n > 2)", "bool", True, False),
        ("all(t in ts where t.n > 2)", "bool", False, True),
        ("sum(t.n for t in ts)", "int", 9, 0),
        ("sum(t.f for t in ts)", "float", 2.0**-55, 0.0),  # rounded once: from left to right it is 2.0**-53
        ("sum(t.d for t in ts).hours", "float", 9.0, 0.0),
        ("min(t.n for t in ts) ?? -1", "int", 1, -1),
        ("max(t.n for t in ts) ?? -1", "int", 3, -1),
        ("mean(t.n for t in ts) ?? -1.0", "float", 2.25, -1.0),
        ("(mean(t.d for t in ts) ?? 0s).minutes", "float", 135.0, 0.0),
        ("sum(t.o for t in ts where present(t.o))", "int", 12, 0),
        ('first(t.k for t in ts) ?? "-"', "text", "b", "-"),
        ('last(t.k for t in ts) ?? "-"', "text", "c", "-"),
        ('first(t.k for t in ts by t.n) ?? "-"', "text", "a", "-"),
        ('last(t.k for t in ts by t.n) ?? "-"', "text", "a", "-"),
        ('first(t.k for t in ts by t.n desc) ?? "-"', "text", "b", "-"),
        ('last(t.k for t in ts by t.d desc, t.f) ?? "-"', "text", "b", "-"),
        ('first(t.k for t in ts by t.d desc, t.f) ?? "-"', "text", "a", "-"),
        ('mode(t.k for t in ts) ?? "-"', "text", "a", "-"),
        ("mode(t.n for t in ts where t.n != 3) ?? -1", "int", 1, -1),  # of equals the one met first
        ("distinct(t.n for t in ts)", "set<int>", frozenset({1, 2, 3}), frozenset()),
        ("frequent(t.k for t in ts, 50%)", "set<text>", frozenset({"a"}), frozenset()),
        ("frequent(t.k for t in ts, 25%)", "set<text>", frozenset("abc"), frozenset()),
        ("first(x for x in distinct(t.n for t in ts)) ?? -1", "int", 1, -1),
        ("last(x for x in distinct(t.n for t in ts)) ?? -1", "int", 3, -1),
    ],
)
def test_comprehensions(expression: str, type: str, value: Any, of_nothing: Any) -> None:
    assert value_of(expression, type, MEMORY, memory={"ts": ROWS}) == value
    assert value_of(expression, type, MEMORY) == of_nothing


def test_comprehensions_need_what_they_need() -> None:
    memory = {"ts": [ROWS[0], ROWS[0] | {"n": BIG}]}
    for expression, type, value in (
        ("any(t in ts where t.n * t.n == 9)", "bool", True),
        ("all(t in ts where t.n * t.n == 8)", "bool", False),
        ("first(t.n * t.n for t in ts) ?? 0", "int", 9),
        ("first(t.n for t in ts where t.n * t.n > 0) ?? 0", "int", 3),
        ("last(t.n for t in ts where t.n * t.n > 0) ?? 0", "int", Overflow),
        ("first(t.n for t in ts by t.n * t.n) ?? 0", "int", Overflow),
        ("count(t in ts where t.n * t.n == 9)", "int", Overflow),
        ("sum(t.n * t.n for t in ts)", "int", Overflow),
    ):
        assert value_of(expression, type, MEMORY, memory=memory) == value


def test_sums_are_exact_on_the_way_and_overflow_at_the_end() -> None:
    assert aggregates.total([INT_MAX, 1, -1], t.INT) == INT_MAX
    with pytest.raises(Overflow):
        aggregates.total([INT_MAX, 1], t.INT)
    assert aggregates.total([1e16, 1.0, -1e16], t.FLOAT) == 1.0
    with pytest.raises(Overflow):
        aggregates.total([1.7e308, 1.7e308], t.FLOAT)


def test_a_share_is_the_decimal_that_one_writes() -> None:
    values = ["a"] * 7 + ["b"] * 93
    assert aggregates.frequent(values, 0.07) == {"a", "b"}  # in doubles 0.07 * 100 is above 7
    assert aggregates.frequent(values[1:], 0.07) == {"b"}


def test_a_costly_program_is_stopped() -> None:
    program = compiled(MEMORY + "def costly() -> int = count(a in ts where any(b in ts where b.n + a.n > 99))")
    call = call_of(program, memory={"ts": ROWS * 50})
    with pytest.raises(Exhausted):
        query(program, "costly", [], call, steps=10_000)
    assert query(program, "costly", [], call).value == 0


def test_and_or_stop_at_what_decides() -> None:
    program = compiled("schema S { n: int }\nrule r on S { when n == 1 and n * n > 0 score 1 }")
    condition = program.rules[0].when
    assert condition is not None
    assert evaluate(condition, Frame(call_of(program), Budget(), {"n": BIG})) is False
    budget = Budget()
    before = budget.left
    evaluate(condition, Frame(call_of(program), budget, {"n": BIG}))
    assert before - budget.left == 4  # and, ==, n, 1


def test_the_deepest_expression_that_compiles_has_a_value() -> None:
    deep = "-" * 90 + "x"
    program = compiled(
        f"def once(x: int) -> int = {deep}\n"
        f"def twice(x: int) -> int = {deep.replace('x', 'once(x)')}\n"
        "schema S { n: int }\n"
        f"rule r on S {{ score {deep.replace('x', 'twice(n)')} }}"
    )
    assert totals(scored(program, {"n": 3})) == [3.0]
