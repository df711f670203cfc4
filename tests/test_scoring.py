"""Results: rankings, rows, explanations, words. That kernels agree with the definition has tests of its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.scoring import words
from ucl.scoring.result import _highest
from ucl.semantics import types as t
from ucl.semantics.evaluate import score_options
from ucl.semantics.outcome import Invalid
from ucl.semantics.values import read_record
from ucl.semantics.zones import Zone

PROGRAM = """\
schema S { n: int in -100..=100  g: text = ""  vip: bool = false }
resolve S by priority
rule up on S { when n > 0 score 0.5 priority 2 because "more is better" }
rule down on S { when n > 50 score -0.3 priority 1 except when n > 90 score -0.4 }
rule strong on S { when n > 95 score -0.6 priority 2 }
rule least on S { when lowest(n) score 0.1 }
rule big on S { when vip score n * 1000 }
rule tried on S { when n > 1 score 1 status shadow }
rule later on S { when n > 1 score 1 valid 2100-01-01.. }
constraint none on S { forbid when n < -50 unless vip }
constraint some on S overrides none { require n > -90 when n < -60 }
constraint shy on S { forbid when n > 1 status shadow }
"""
NOW = "2026-03-04T12:00"
UTC = Zone.load("UTC")


@pytest.fixture(scope="module")
def program() -> ucl.CompiledProgram:
    return ucl.compile(PROGRAM)


ROWS = st.lists(
    st.fixed_dictionaries(
        {"n": st.one_of(st.integers(-101, 101), st.none())},
        optional={"g": st.sampled_from("ab"), "vip": st.booleans()},
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, grouped=st.booleans())
def test_a_result_says_what_the_definition_says(program: ucl.CompiledProgram, rows: list[Any], grouped: bool) -> None:
    rows = [{"g": "", **row} for row in rows]
    result = program.score(rows or {"n": [], "g": []}, now=NOW, group_by="g" if grouped else None)
    assert UTC is not None
    schema = program.schemas["S"]
    options = [read_record(row, schema.fields, UTC) for row in rows]
    groups = [row["g"] for row in rows] if grouped else None
    expected = score_options(program.semantic, schema, options, result._call, groups)
    assert list(result.outcomes()) == expected
    for row, outcome in enumerate(expected):
        assert result.explain(row).outcome == outcome
        assert result.fired(row) == list(outcome.fired)
        assert str(result.decision[row]) == str(outcome.decision)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, top=st.integers(0, 6))
def test_the_ranking(program: ucl.CompiledProgram, rows: list[Any], top: int) -> None:
    result = program.score(rows or {"n": []}, now=NOW)
    valid = [row for row in range(len(rows)) if row not in result.invalid]
    expected = sorted(valid, key=lambda row: (not result.feasible[row], -result.total[row], row))
    assert [place.row for place in result.ranking(top)] == expected[:top]
    assert [place.row for place in result.ranking(None)] == expected


@given(st.lists(st.integers(-3, 3), max_size=20), st.integers(0, 25))
def test_highest_is_a_stable_sort_cut_short(values: list[int], top: int) -> None:
    expected = sorted(range(len(values)), key=lambda place: -values[place])[:top]
    assert _highest(np.array(values, np.int64), top).tolist() == expected


def test_a_total_beyond_doubles_is_rounded_once() -> None:
    rules = "\n".join(f"rule r{i} on S {{ when n == 1 score 8191.999999999 }}" for i in range(2000))
    result = ucl.compile(f"schema S {{ n: int }}\n{rules}").score([{"n": 1}])
    assert result.total[0] == 2000 * 8191999999999 / 10**9


@pytest.mark.parametrize(
    ("row", "name", "verdict"),
    [
        ({"n": 10}, "up", "`up` fires and adds +1"),
        ({"n": 0}, "up", "`up` does not apply"),
        ({"n": 60}, "down", "`down` fires and adds nothing: rules of a higher priority pull the other way"),
        ({"n": 10}, "tried", "`tried` is in shadow: it would fire, and changes nothing"),
        ({"n": 0}, "tried", "`tried` is in shadow, and would not apply"),
        ({"n": 10}, "later", "`later` is silent: it is not valid today"),
        ({"n": -55}, "none", "`none` is violated"),
        ({"n": -70}, "none", "`none` applies, but is silenced by `some`"),
        ({"n": -70}, "some", "`some` is kept"),
        ({"n": 10}, "none", "`none` does not apply"),
        ({"n": 10}, "shy", "`shy` is in shadow: it would be violated, and changes nothing"),
        ({"n": 10, "vip": True}, "big", "`big` can't be counted: it adds more than 8192"),
    ],
)
def test_what_becomes_of_a_rule_in_words(
    program: ucl.CompiledProgram, row: dict[str, Any], name: str, verdict: str
) -> None:
    told = program.score([{"n": 100}, {"n": -100}, row], now=NOW).explain(2).to_json()
    assert next(rule["verdict"] for rule in told["rules"] if rule["name"] == name) == verdict


def test_an_explanation_is_json_and_words(program: ucl.CompiledProgram) -> None:
    result = program.score([{"n": 95}, {"n": 200}], now=NOW)
    told = result.explain(0)
    assert json.loads(json.dumps(told.to_json()))["option"] == {"n": 95, "g": "", "vip": False}
    down = next(rule for rule in told.to_json()["rules"] if rule["name"] == "down")
    assert [test["clause"] for test in down["tests"]] == ["when", "except when"]
    assert "yes  except when n > 90   (n = 95)" in str(told)
    assert "score -0.4" in str(told)
    assert '"more is better"' in str(told)
    invalid = result.explain(1)
    assert "the value `200` of the field `n` is outside its domain" in str(invalid)
    assert invalid.to_json()["rules"] == []


def test_a_disagreement_is_never_explained_away(program: ucl.CompiledProgram) -> None:
    result = program.score([{"n": 10}], now=NOW)
    result._scores.total[0] += 1
    with pytest.raises(RuntimeError, match="the definition says"):
        result.explain(0)


def test_reasons_come_weightiest_first(program: ucl.CompiledProgram) -> None:
    (row,) = program.score([{"n": 96}], now=NOW).rows(reasons=True)
    assert [reason["name"] for reason in row["reasons"]] == ["strong", "up", "down", "least"]
    assert "for it, but" in row["why"]


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (None, t.Optional(t.INT), "absent"),
        ("a\n" + "b" * 100, t.TEXT, '"a\\n' + "b" * 77 + '…"'),
        (True, t.BOOL, "true"),
        (-0.0, t.FLOAT, "0"),
        (0.5, t.FLOAT, "0.5"),
        (0, t.DURATION, "0min"),
        (90 * 60 * t.SECOND, t.DURATION, "1h30min"),
        (-t.DAY - t.SECOND // 2, t.DURATION, "-1d0.5s"),
        (13 * 3600 * t.SECOND, t.TIME, "13:00"),
        (13 * 3600 * t.SECOND + t.SECOND, t.TIME, "13:00:01"),
        (4, t.WEEKDAY, "fri"),
        (frozenset({"b", "a"}), t.Set(t.TEXT), '{"a", "b"}'),
        (frozenset(range(20)), t.Set(t.INT), "{0, 1, 2, 3, 4, 5, 6, 7, and 12 more}"),
        (0, t.DATETIME, "1970-01-01T00:00:00+00:00"),
    ],
)
def test_values_in_words(value: object, type: t.Type, text: str) -> None:
    assert UTC is not None
    assert words.shown(value, type, UTC) == text


def test_every_reason_has_words() -> None:
    for reason in words.Reason:
        assert "`f`" in words.why_invalid(Invalid("f", reason, "x"))


def test_names_of_a_call_are_composed() -> None:
    program = ucl.compile(
        "schema S { café: int }\ncontext { été: int = 0 }\nrule règle on S { when café > 0 and été == 1 score 0.5 }\n"
    )
    decomposed = [{"cafe\u0301": 1, "groupe\u0301": "a"}]
    result = program.score(
        decomposed, context={"e\u0301te\u0301": 1}, weights={"re\u0300gle": 0.5}, now=NOW, group_by="groupé"
    )
    assert result.total.tolist() == [0.25]
    assert "cafe\u0301" in result.to_arrow().column_names


def test_the_record_of_an_alert_is_what_the_memory_said() -> None:
    program = ucl.compile(
        "import std.units (length)\n"
        'schema Run { far: length unit km from "dist"  took: duration unit min  note: text? }\n'
        "memory runs: list<Run>\n"
        'alert long for r in runs { when r.far > 1km say "long" }\n'
    )
    memory = {"runs": [{"dist": 2, "took": 12.5, "note": None}, {"dist": 0.5, "took": 3, "note": "x"}]}
    (alert,) = program.alerts(memory, now=NOW)
    assert json.dumps(alert["record"]) == '{"dist": 2, "took": 12.5, "note": null}'
    assert program.alerts({"runs": [alert["record"]]}, now=NOW) == [alert]
