"""One option by the index is what a table of it is by the kernels: for every program, and for every way to write it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import PROGRAMS, TABLES, Table, columns_of
from test_kernels import EDGES, OPTION, options_with, program_of
from test_kernels_equal import call_of, compiled, patient

import ucl
from ucl.kernels.columns import InvalidCell
from ucl.kernels.lower import lower
from ucl.kernels.run import score
from ucl.kernels.single import Unindexed, index_of, straight
from ucl.models.values import to_python
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.semantics.values import to_data


def as_json(option: Mapping[str, Any], schema: Schema, call: Call) -> dict[str, Any]:
    return to_data(option, schema.fields, call.zone)


def as_python(option: Mapping[str, Any], schema: Schema, call: Call) -> dict[str, Any]:
    return {f.column: to_python(option[f.name], f.type, call.zone) for f in schema.fields if f.unit is None}


def assert_same(program: Program, options: list[Any], call: Call) -> int:
    """How many options the index answered; what it says is what the kernels say."""
    schema = program.schemas["S"]
    plan = lower(program, schema, call)
    index = index_of(plan, schema)
    answered = 0
    ways = [] if index is None else [index.score, straight(index)]
    for option in options:
        scores = score(plan, columns_of(schema, [option]), engine="portable")
        if isinstance(option, InvalidCell):
            continue
        json, python = as_json(option, schema, call), as_python(option, schema, call)
        for raw, way in product((json, python, json, python), ways):  # what is remembered is what was found
            try:
                found = way(raw)
            except Unindexed:
                continue
            answered += 1
            assert scores.valid[0], (option, scores.invalid)
            assert found == (int(scores.total[0]), bool(scores.feasible[0]), bool(scores.contested[0])), option
    return answered


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge: str) -> None:
    rules, field, values = EDGES[edge]
    program = program_of(rules)
    assert_same(program, options_with(field, values), call_of(program))


SIMPLE = """
rule a on S { when t in 22:00..06:00 and n > 3 score 0.5 }
rule b on S { when title in {"a", "你好"} or kind == "mid" score -0.25 }
rule c on S { when overlaps(tags, {"a"}) unless start.weekday in sat..=sun score 0.1 * n }
rule d on S { when any(x in tags where contains(x, "b")) and not overlaps(tags, {"c"}) score f }
rule e on S overrides a { when not b and n + k > 5 score 0.3 }
rule g on S { when title in tags or (inner.a ?? 3) == 3 score 0.125 }
constraint z on S { forbid when n in {1, 2, 3, 50} unless overlaps(tags, {"a", "b"}) and size(tags) > 2 }
"""


def test_what_a_field_says_is_found_once() -> None:
    program = program_of(SIMPLE)
    options = [
        {**OPTION, "n": n, "tags": frozenset("abc"[: n % 4]), "title": "a你b"[n % 3], "b": bool(n % 2), "f": n / 7}
        for n in range(60)
    ]
    assert assert_same(program, options, call_of(program)) == 8 * len(options)


@settings(max_examples=100, **patient)
@given(source=PROGRAMS, table=TABLES, mood=st.sampled_from(["calm", "busy"]), level=st.sampled_from([None, 3, 2**62]))
def test_equal_to_the_kernels(source: str, table: Table, mood: str, level: int | None) -> None:
    program = compiled(source)
    assume(program is not None)
    assert program is not None
    call = call_of(program, context={"mood": mood, "level": level}, memory={"visits": []}, recency={"r0": 0.5})
    assert_same(program, list(table.options), call)


@pytest.mark.slow
@settings(max_examples=5000, **patient)
@given(source=PROGRAMS, table=TABLES, mood=st.sampled_from(["calm", "busy"]), level=st.sampled_from([None, 3, 2**62]))
def test_equal_to_the_kernels_in_a_long_campaign(source: str, table: Table, mood: str, level: int | None) -> None:
    program = compiled(source)
    assume(program is not None)
    assert program is not None
    call = call_of(program, context={"mood": mood, "level": level}, memory={"visits": []}, recency={"r0": 0.5})
    assert_same(program, list(table.options), call)


WHEN = dt.datetime(2026, 5, 28, 20, 26, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("field", "raw"),
    [
        ("n", True),
        ("n", "1"),
        ("n", 2**63),
        ("k", 10),
        ("b", 1),
        ("b", 0.0),
        ("f", float("inf")),
        ("kind", "none"),
        ("title", None),
        ("tags", "a"),
        ("tags", ["a", 1]),
        ("tags", ["a", ["b"]]),
        ("nums", [1, True]),
        ("start", "2026-13-01T00:00"),
        ("start", WHEN.date()),
        ("day", WHEN),
        ("inner", None),
        ("host", "x"),
        ("host", {"label": 3}),
        ("day", object()),
    ],
)
def test_what_is_wrong_goes_the_general_way(field: str, raw: object) -> None:
    """After what is right, too: values that Python holds equal are not of one type."""
    program = program_of(SIMPLE)
    schema, call = program.schemas["S"], call_of(program)
    index = index_of(lower(program, schema, call), schema)
    assert index is not None
    good = as_json({**OPTION, "n": 1, "nums": frozenset([1])}, schema, call)
    for way in (index.score, straight(index)):
        way(good)
        with pytest.raises(Unindexed):
            way({**good, field: raw})


def test_names_that_may_be_spelled_otherwise_go_the_general_way() -> None:
    program = program_of(SIMPLE)
    schema, call = program.schemas["S"], call_of(program)
    index = index_of(lower(program, schema, call), schema)
    assert index is not None
    good = as_json(OPTION, schema, call)
    for way in (index.score, straight(index)):
        assert way({**good, "else": 1}) == index.score(good)
        for odd in ({"caf\u00e9": 1}, {3: 4}, {"host.a": 5}):
            with pytest.raises(Unindexed):
                way({**good, **odd})  # type: ignore[dict-item]


def test_a_version_may_be_planned_before_the_last_one_is_indexed() -> None:
    versions = ucl.Editing()
    rule = "schema S { n: int  f: float }\nrule a on S { score 0.5 * f }\n"
    first, second = versions.update(rule), versions.update(rule + "rule b on S { when n * n > 3 score 0.25 * f + f }")
    call = call_of(first.semantic)
    plans = [second._planner.plan(p, p.schemas["S"], call) for p in (first.semantic, second.semantic)]
    assert plans[0].graph is plans[1].graph
    index = index_of(plans[0], first.schemas["S"])
    assert index is not None
    for way in (index.score, straight(index)):
        assert way({"n": 3, "f": 0.5}) == (250_000_000, True, False)


def test_moments_of_a_clock_that_is_turned_back_are_told_apart() -> None:
    program = program_of("rule r on S { when start >= 2026-11-01T06:00Z score 0.5 }")
    schema, call = program.schemas["S"], call_of(program)
    index = index_of(lower(program, schema, call), schema)
    assert index is not None
    good = as_json(OPTION, schema, call)
    clock = dt.datetime(2026, 11, 1, 1, 30, tzinfo=ZoneInfo("America/New_York"))
    for way in (index.score, straight(index)):
        assert way({**good, "start": clock})[0] == 0
        assert way({**good, "start": clock.replace(fold=1)})[0] == 500_000_000
