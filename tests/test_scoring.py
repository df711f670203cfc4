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
from ucl.scoring.results.ranking import highest
from ucl.semantics import types as t
from ucl.semantics.evaluate import score_options
from ucl.semantics.outcome import Invalid, Reason
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
    gone = result.invalid
    expected = sorted(
        range(len(rows)),
        key=lambda row: (row in gone, not result.feasible[row], 0 if row in gone else -result.total[row], row),
    )
    assert [place.row for place in result.ranking(top)] == expected[:top]
    everyone = result.ranking(None)
    assert [place.row for place in everyone] == expected
    assert [place.invalid for place in everyone] == [gone.get(row) for row in expected]
    assert all((place.invalid is None) == (place.decision is not None) for place in everyone)


BATCHES = """\
schema Inner { w: float }
schema S { n: int in -100..=100  o: int?  g: text = ""  inner: Inner }
rule least on S { when lowest(n) score 0.1 }
rule most on S { when highest(o ?? 7) score 0.2 }
rule place on S { when rank_of(n * 1000000000000000000) <= 2 score 0.4 }
rule below on S { when inner.w < mean_of(inner.w) score 0.8 }
rule far on S { when rank_of(inner.w * 2.0 - mean_of(inner.w)) == 1 score 0.05 }
"""
INNERS = st.fixed_dictionaries({"w": st.sampled_from([0.0, 0.1, 0.3, 2.5])})
OPTIONS = st.fixed_dictionaries(
    {"n": st.sampled_from([-101, -3, 0, 1, 1, 20]), "o": st.sampled_from([None, 5, 9]), "g": st.sampled_from("ab")}
    | {"inner": INNERS}
)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(OPTIONS, min_size=1, max_size=10), grouped=st.booleans())
def test_a_row_is_explained_among_those_that_it_is_compared_with(rows: list[Any], grouped: bool) -> None:
    """`explain` evaluates the row by the definition, and fails where the kernels say something else."""
    result = ucl.compile(BATCHES).score(rows, now=NOW, group_by="g" if grouped else None)
    for row in range(len(rows)):
        assert result.explain(row).outcome == result.outcome(row)


def test_what_rows_are_compared_with_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ucl.compile(BATCHES).score([{"n": n, "inner": {"w": 0.5}, "g": "ab"[n % 2]} for n in range(9)])
    result.explain(0)
    monkeypatch.setattr("ucl.scoring.results.choice_sets.distinct_records", lambda *_: pytest.fail("again"))
    assert result.explain(8).outcome == result.outcome(8)


@given(st.lists(st.integers(-3, 3), max_size=20), st.integers(0, 25))
def test_highest_is_a_stable_sort_cut_short(values: list[int], top: int) -> None:
    expected = sorted(range(len(values)), key=lambda place: -values[place])[:top]
    assert highest(np.array(values, np.int64), top).tolist() == expected


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


SIDES = """\
schema S { n: int  m: int = 0 }
rule up on S { when n > 0 score 0.5 because "two\\n  lines" from chat "c\\n1" }
rule slightly on S { when n > 0 score 0.1 }
rule down on S { when n > 0 score -0.4 }
rule old on S { when n < 0 score 1 status retired }
rule wild on S { when n * 4000000000000000000 > 5 score 1 status shadow }
constraint low on S { require n * 4000000000000000000 < 9 when n > 0 status shadow }
constraint some on S { require n > 0 status shadow }
rule broken on S { when m * 4000000000000000000 > 5 score 1 }
"""


@pytest.mark.parametrize(
    ("row", "name", "verdict"),
    [
        ({"n": -1}, "old", "`old` is retired"),
        ({"n": 3}, "old", "`old` is retired"),
        ({"n": 3}, "wild", "`wild` is in shadow, and can't be evaluated: a value leaves the range of its type"),
        ({"n": 3}, "low", "`low` is in shadow, and can't be evaluated: a value leaves the range of its type"),
        ({"n": 1}, "some", "`some` is in shadow, and would be kept"),
        ({"n": 0}, "some", "`some` is in shadow: it would be violated, and changes nothing"),
        ({"n": 1, "m": 3}, "up", "`up` would add +0.5"),
    ],
)
@pytest.mark.parametrize("resolve", ["", "resolve S by priority\n"])
def test_what_becomes_of_what_does_not_count(row: dict[str, int], name: str, verdict: str, resolve: str) -> None:
    told = ucl.compile(SIDES + resolve).score([row], now=NOW).explain(0)
    assert next(rule["verdict"] for rule in told.to_json()["rules"] if rule["name"] == name) == verdict
    assert verdict in str(told)
    assert "higher priority" not in str(told)


def test_a_question_names_those_who_make_it() -> None:
    result = ucl.compile(SIDES).score([{"n": 1}], now=NOW)
    why = "`up` speaks for it, but `down` speaks against it"
    assert (next(result.rows(reasons=True))["why"], result.explain(0).to_json()["why"]) == (why, why)
    all_three = ucl.compile(SIDES).score([{"n": 1}], now=NOW, contested_from=0.1).explain(0).to_json()["why"]
    assert all_three.startswith("`up` and `slightly` speak")


def test_words_on_several_lines_stay_in_their_place() -> None:
    told = str(ucl.compile(SIDES).score([{"n": 1}], now=NOW).explain(0)).splitlines()
    assert '    "two lines"' in told
    assert "    from chat c 1" in told


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
    for reason in Reason:
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


@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_lines_of_json_are_the_rows_own(program: ucl.CompiledProgram, rows: list[Any]) -> None:
    result = program.score([*rows, {"n": "x", "g": 'a"b'}, {"n": 1.5}, {"n": 98, "vip": True}], now=NOW)
    lines = [json.loads(line) for line in result.json_lines()]
    assert lines == list(result.rows())
    assert all(type(line["total"]) is float for line in lines if line["invalid"] is None)
    assert all(type(added) is float for line in lines for added in line["contributions"].values())
    assert [json.loads(line)["row"] for line in result.json_lines([2, 0])] == [2, 0]


def test_a_memory_is_read_once_for_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ucl.compile(
        'timezone "Europe/Berlin"\nschema V { n: int  at: datetime }\nmemory seen: list<V>\nmemory limit: int = 3\n'
        "schema S { n: int }\nrule r on S { when count(v in seen where v.n == n) >= limit score 1 }"
    )
    given: dict[str, Any] = {"seen": [{"n": row % 7, "at": "2026-03-04T12:00"} for row in range(100)], "limit": 15}
    rows = [{"n": row} for row in range(9)]
    expected = program.score(rows, memory=given, now=NOW).total.tolist()
    memory = program.remember(given)
    given["seen"].clear()
    monkeypatch.setattr("ucl.semantics.values.calls._memory", None)
    for _ in range(2):
        assert program.score(rows, memory=memory, now=NOW).total.tolist() == expected
    assert sum(expected) == 2.0
    with pytest.raises(ucl.scoring.CallError, match="zone Europe/Berlin"):
        program.score(rows, memory=memory, timezone="UTC")
    other = ucl.compile("memory seen: int = 1\nschema S { n: int }\nrule r on S { when n > seen score 1 }")
    with pytest.raises(ucl.scoring.CallError, match="remembers something else"):
        other.score(rows, memory=memory)
    with pytest.raises(TypeError):
        memory.values["limit"] = 4  # type: ignore[index]


def test_a_memory_that_does_not_fit_is_said_when_it_is_read() -> None:
    program = ucl.compile("memory seen: int = 1\nschema S { n: int }\nrule r on S { when n > seen score 1 }")
    with pytest.raises(ucl.scoring.CallError, match="no memory `sen`"):
        program.remember({"sen": 1})
    with pytest.raises(ucl.scoring.CallError, match="not an object"):
        program.remember([1])
    with pytest.raises(ucl.scoring.CallError, match="`Mars` is not a time zone"):
        program.remember({}, timezone="Mars")


def test_the_best_of_each_choice_set() -> None:
    program = ucl.compile("schema S { n: int }\nrule r on S { score 0.1 * n }")
    rows = [{"n": n, "set": "abc"[n % 3]} for n in (5, 1, 9, 2, 7, 0, 4)]
    result = program.score(rows, group_by="set", now=NOW)
    found = [[place.row for place in ranking] for ranking in result.rankings(2)]
    assert found == [[0, 3], [4, 6], [2, 5]]
    assert [[place.row for place in ranking] for ranking in program.score(rows, now=NOW).rankings(1)] == [[2]]
    with pytest.raises(ucl.scoring.CallError, match="`top`"):
        result.rankings(True)


def test_a_part_of_a_result_says_what_the_whole_says(program: ucl.CompiledProgram) -> None:
    rows = [{"n": n, "vip": n % 5 == 0} for n in (99, 0, 200, -60, 51, 97, 2)]
    whole = program.score(rows, now=NOW)
    chosen = np.array([5, 2, 0])
    part = whole.part(chosen)
    assert list(part.rows(reasons=True)) == list(whole.rows(chosen.tolist(), reasons=True))
    assert list(part.json_lines()) == list(whole.json_lines(chosen.tolist()))
    assert part.numbers.tolist() == [5, 2, 0]
    assert part.part(np.array([1])).numbers.tolist() == [2]
    for columns in ("all", "results", "scores"):
        assert (
            part.to_arrow(columns=columns).to_pylist() == whole.to_arrow(chosen.tolist(), columns=columns).to_pylist()
        )
