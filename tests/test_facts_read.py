"""Facts from files: every good one is kept, each bad one is said with its place, and nothing else is lost."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.diagnostics import Diagnostic, Report, Severity, Source
from ucl.facts import Fact, Facts, parse_facts, read_fact, read_facts
from ucl.facts import read as reading
from ucl.semantics.zones import Zone

FACT: dict[str, Any] = {
    "source_type": "chat",
    "extracted_relation": "avoids_meeting_time",
    "subject": "lena",
    "object": "13:00-14:00",
}


def parsed(text: str) -> tuple[Facts, list[Diagnostic]]:
    report = Report()
    return parse_facts(Source("facts.jsonl", text), report), list(report)


def lines(*facts: Any) -> str:
    return "\n".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in facts)


# --- one fact -------------------------------------------------------------------------------------------------------


def test_what_is_required_is_enough() -> None:
    fact = read_fact(FACT)
    assert isinstance(fact, Fact)
    assert (fact.topic, fact.feeling, fact.said, fact.sentence) == (
        "meeting_time",
        -1.0,
        True,
        "lena avoids meeting time: 13:00-14:00",
    )
    assert Fact.model_validate(fact.to_json()) == fact


def test_the_same_fact_without_an_id_has_the_same_one() -> None:
    one, other, third = read_fact(FACT), read_fact({**FACT, "id": None}), read_fact({**FACT, "object": "lunch"})
    assert isinstance(one, Fact)
    assert isinstance(other, Fact)
    assert isinstance(third, Fact)
    assert one.id == other.id != third.id


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"source_type": "chatt"}, "unknown-variant", "did you mean `chat`?"),
        ({"source_type": "rumour"}, "unknown-variant", "it is one of `calendar`"),
        ({"source_type": 3}, "type-mismatch", "a number, where a text"),
        ({"sentimnt": 1}, "unknown-field", "did you mean `sentiment`?"),
        ({"colour": "red"}, "unknown-field", "put what else is known into `context`"),
        ({"sentiment": 1.5}, "out-of-range", "does not lie in -1..=1"),
        ({"sentiment": "bad"}, "type-mismatch", "a text, where a number"),
        ({"sentiment": True}, "type-mismatch", "a boolean, where a number"),
        ({"object": None}, "syntax", "no `object`"),
        ({"object": ["13:00"]}, "type-mismatch", "an array, where a text"),
        ({"object": ""}, "bad-literal", "`object` is empty"),
        ({"object": "x" * 1001}, "too-large", "more than 1,000"),
        ({"context": "remote"}, "type-mismatch", "a text, where an object"),
        ({"context": {"a": "x" * 20_000}}, "too-large", "longer than 16,384"),
        ({"context": {"a": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]}}, "too-large", "nested deeper"),
        ({"timestamp": "2026-3-4"}, "bad-literal", "no ISO 8601"),
        ({"timestamp": "2026-03-04T09:30:00+99:00"}, "bad-literal", "no ISO 8601"),
        ({"timestamp": 1_772_600_000}, "type-mismatch", "a number"),
    ],
)
def test_each_kind_of_mistake_is_said(changes: dict[str, Any], code: str, said: str) -> None:
    wrong = read_fact({**FACT, **changes})
    assert isinstance(wrong, list)
    assert [each.code for each in wrong] == [code]
    assert said in f"{wrong[0].message} {wrong[0].help}"


def test_several_mistakes_are_all_said_and_what_is_missing_once() -> None:
    wrong = read_fact({"subject": "", "sentiment": 2})
    assert isinstance(wrong, list)
    assert sorted(each.code for each in wrong) == ["bad-literal", "out-of-range", "syntax"]


def test_times_without_an_offset_are_local() -> None:
    zone = Zone.load("America/New_York")
    assert zone is not None
    fact, day = (
        read_fact({**FACT, "timestamp": "2026-03-04T09:30"}, zone),
        read_fact({**FACT, "timestamp": "2026-03-04"}, zone),
    )
    assert isinstance(fact, Fact)
    assert isinstance(day, Fact)
    assert fact.timestamp == dt.datetime(2026, 3, 4, 14, 30, tzinfo=dt.UTC)
    assert day.timestamp == dt.datetime(2026, 3, 4, 5, 0, tzinfo=dt.UTC)


def test_numbers_and_booleans_are_objects_too() -> None:
    told = [read_fact({**FACT, "object": value}) for value in (30, True, 0.5)]
    assert [fact.object for fact in told if isinstance(fact, Fact)] == ["30", "true", "0.5"]


VALUES = st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from([*Fact.model_fields, "else"]), VALUES, max_size=3))
def test_no_object_breaks_the_reader(extra: dict[str, Any]) -> None:
    assert isinstance(read_fact({**FACT, **extra}), Fact | list)


# --- files ----------------------------------------------------------------------------------------------------------


def test_bad_lines_lose_nothing_else() -> None:
    facts, found = parsed(
        lines(FACT, '{"a":', {**FACT, "sentiment": 9}, "", "[1]", {**FACT, "object": "lunch"}, '{"a": 1} x')
    )
    assert [fact.object for fact in facts.facts] == ["13:00-14:00", "lunch"]
    assert facts.bad == 4
    assert [(d.span.line, d.code) for d in found] == [
        (2, "syntax"),
        (3, "out-of-range"),
        (5, "syntax"),
        (7, "syntax"),
    ]


def test_a_mistake_is_shown_where_it_stands() -> None:
    _, (found,) = parsed(lines(FACT, {**FACT, "sentiment": 9}))
    text = found.span.source.text
    assert text[found.span.start : found.span.end] == '"sentiment"'


def test_an_array_and_a_single_object_are_read_too() -> None:
    for text in (json.dumps([FACT, {**FACT, "id": "b"}], indent=2), json.dumps([FACT, {**FACT, "id": "b"}])):
        facts, found = parsed(text)
        assert (len(facts.facts), found) == (2, [])
    assert len(parsed(json.dumps(FACT, indent=1))[0].facts) == 1
    assert parsed("")[0].facts == ()


def test_an_array_goes_on_after_what_is_no_json() -> None:
    facts, found = parsed(f'[\n{json.dumps(FACT)},\n{{"a": }},\n{json.dumps({**FACT, "id": "b"})}\n]')
    assert len(facts.facts) == 2
    assert [(d.code, d.span.line) for d in found] == [("syntax", 3)]
    assert "not closed" in parsed(f"[{json.dumps(FACT)}")[1][0].message


def test_a_repeated_id_counts_once_and_a_difference_is_said() -> None:
    first = {**FACT, "id": "a"}
    facts, found = parsed(lines(first, first, {**first, "sentiment": 0.5}))
    assert (len(facts.facts), facts.repeated) == (1, 2)
    assert facts.facts[0].sentiment is None
    assert [(d.severity, d.span.line, d.notes[0].span.line) for d in found] == [(Severity.WARNING, 3, 1)]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{" * 100_000, '{"a": NaN}', '{"a": 1, "a": 2}', f'{{"a": {"9" * 5000}}}']
)
def test_what_json_lets_pass_is_refused(text: str) -> None:
    facts, found = parsed(lines(FACT) + "\n" + text)
    assert len(facts.facts) == 1
    assert len(found) == 1


def test_what_is_too_large_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    huge, found = parsed(lines({**FACT, "context": {"utterance": "x" * 70_000}}, FACT))
    assert (len(huge.facts), [d.code for d in found]) == (1, ["too-large"])
    monkeypatch.setattr(reading, "MOST_FACTS", 3)
    many, found = parsed(lines(*({**FACT, "id": str(n)} for n in range(9))))
    assert (len(many.facts), [d.code for d in found]) == (3, ["too-large"])
    monkeypatch.setattr(reading, "LARGEST_FILE", 100)
    path = tmp_path / "facts.jsonl"
    path.write_text(lines(FACT, FACT))
    report = Report()
    assert read_facts(path, report).facts == ()
    assert [d.code for d in report] == ["too-large"]


def test_only_the_first_mistakes_of_many_are_told() -> None:
    facts, found = parsed("\n".join(["{"] * 1000))
    assert facts.bad == 1000
    assert len(found) < 300


def test_no_utf8_is_said(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_bytes(b'{"a": 1}\n\xff')
    report = Report()
    assert read_facts(path, report).bad == 1
    assert "line 2" in next(iter(report)).message


# --- databases ------------------------------------------------------------------------------------------------------


def database(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


KIND = '{"kind": "review"}'
COLUMNS = "id integer primary key, source_type, source_id, extracted_relation, subject, object, sentiment, context"


def test_a_cell_of_bytes_is_its_text_or_none(tmp_path: Path) -> None:
    path = database(
        tmp_path / "facts.db",
        f"create table facts ({COLUMNS})",
        "insert into facts values (1, 'chat', 'c1', 'avoids_meeting_title', 'lena', cast('复盘' as blob), -0.5, null)",
        "insert into facts values (2, 'chat', 'c2', 'avoids_meeting_title', 'lena', x'ff00', -0.5, null)",
    )
    report = Report()
    assert [fact.object for fact in read_facts(path, report).facts] == ["复盘"]
    assert [found.message for found in report] == ["`object` is an object, where a text is wanted"]


def test_a_table_of_facts_is_read_by_row(tmp_path: Path) -> None:
    path = database(
        tmp_path / "facts.db",
        f"create table facts ({COLUMNS})",
        f"insert into facts values (1, 'chat', 'c1', 'avoids_meeting_time', 'lena', 'lunch', -0.5, '{KIND}')",
        "insert into facts values (2, 'chat', 'c2', 'avoids_meeting_time', 'lena', 'lunch', -5, null)",
        "insert into facts values (3, 'chat', 'c3', 'avoids_meeting_time', 'lena', 'lunch', null, '{')",
        "insert into facts values (4, 'chat', 'c4', 'avoids_meeting_time', 'lena', x'ff00', null, null)",
        "insert into facts values (5, 'chat', 'c5', 'avoids_meeting_time', 'lena', 'night', null, null)",
    )
    report = Report()
    facts = read_facts(path, report)
    assert [(fact.id, dict(fact.context)) for fact in facts.facts if fact.id in "15"] == [
        ("1", {"kind": "review"}),
        ("5", {}),
    ]
    assert [(d.span.line, d.code) for d in report][:2] == [(2, "out-of-range"), (3, "type-mismatch")]


def test_a_database_without_facts_or_without_an_end_is_said(tmp_path: Path) -> None:
    endless = "with recursive c(n) as (select 1 union all select n + 1 from c) select n as id from c where n < 0"
    for name, statement, said in (
        ("empty", "create table other (a)", "no such table"),
        ("endless", f"create view facts as {endless}", "can't be read"),
    ):
        report = Report()
        facts = read_facts(database(tmp_path / name, statement), report)
        assert (facts.facts, facts.bad) == ((), 1)
        assert said in next(iter(report)).message
