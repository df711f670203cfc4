"""From a sentence or a conversation to atomic facts: spans, times, questions, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from llm_models import Scripted

import ucl.llm
from ucl.llm import Extraction, ModelError, Utterance
from ucl.llm.client import ErrorCode
from ucl.llm.extraction.dates import said_days
from ucl.llm.extraction.numbers import names_part_of_day, said_numbers
from ucl.llm.extraction.spans import find_quote
from ucl.llm.extraction.vague import happens_once, open_words

# A Wednesday.
NOW = dt.datetime(2026, 3, 4, 12, tzinfo=dt.UTC)
LUNCH = "I'd rather not have meetings right after lunch."


def fact(**changed: Any) -> dict[str, Any]:
    return {
        "utterance": 1,
        "quote": "rather not have meetings right after lunch",
        "kind": "preference",
        "relation": "avoids_meeting_time",
        "object": "after_lunch",
        "sentiment": -0.8,
        "when": None,
        "ask": None,
    } | changed


def extract(said: Any, *facts: dict[str, Any], **how: Any) -> Extraction:
    model = Scripted(values=[json.dumps({"facts": facts})])
    return ucl.llm.extract(said, model=model, **{"now": NOW, **how})


# --- facts ----------------------------------------------------------------------------------------------------------


def test_a_preference_is_a_fact_with_the_words_that_say_it() -> None:
    found = extract(Utterance(LUNCH, source_id="c42"), fact())
    (each,) = found.facts
    assert each.quote == LUNCH[each.start : each.end] == "rather not have meetings right after lunch"
    assert each.fact.source_id == "c42"
    assert each.fact.source_type == "chat"
    assert each.fact.utterance == each.quote
    assert each.fact.timestamp == NOW
    assert each.fact.sentiment == -0.8
    assert not each.once
    assert found.usage.calls == 1


def test_the_sign_is_that_of_the_relation() -> None:
    (each,) = extract(LUNCH, fact(sentiment=0.8)).facts
    assert each.fact.sentiment == -0.8
    (each,) = extract(LUNCH, fact(sentiment=-7.0)).facts
    assert each.fact.sentiment == -1.0


def test_a_quotation_is_found_by_us() -> None:
    (each,) = extract(LUNCH, fact(quote="“RATHER  not have\nmeetings”")).facts
    assert LUNCH[each.start : each.end] == "rather not have meetings"
    found = extract(LUNCH, fact(quote="I love meetings right after lunch"))
    assert found.facts == ()
    assert found.refused[0].why == "nobody said these words"


def test_an_utterance_that_is_named_wrong_is_found_all_the_same() -> None:
    talk = [Utterance("Hello"), Utterance(LUNCH)]
    for number in (1, 2, 99, -3):
        (each,) = extract(talk, fact(utterance=number)).facts
        assert each.utterance == 1


def test_what_only_the_assistant_said_is_no_fact() -> None:
    talk = [{"role": "assistant", "content": LUNCH}, {"role": "user", "content": "Hm."}]
    found = extract(talk, fact())
    assert found.facts == ()
    assert found.refused[0].why == "only the assistant said it"
    repeated = extract([*talk, {"role": "user", "content": f"Yes: {LUNCH}"}], fact())
    assert repeated.facts[0].utterance == 2


def test_a_one_off_event_is_a_fact_with_its_day_and_no_preference() -> None:
    said = "I have a dentist appointment Tuesday."
    (each,) = extract(
        said,
        fact(quote=said, kind="event", relation="has_appointment", object="dentist", when="Tuesday", sentiment=0),
    ).facts
    assert each.once
    assert each.fact.sentiment is None
    assert each.fact.topic is None
    assert (each.fact.context["since"], each.fact.context["until"]) == ("2026-03-10", "2026-03-11")


def test_days_are_worked_out_from_the_utterance_and_not_from_now() -> None:
    said = Utterance("Dinner with Bo tomorrow", at=dt.datetime(2026, 1, 30, 23, 30))
    event = fact(quote="Dinner with Bo", kind="event", relation="has_dinner", object="Bo", when="tomorrow")
    (each,) = extract(said, event, timezone="America/New_York").facts
    assert each.fact.context["since"] == "2026-01-31"
    assert each.fact.timestamp == dt.datetime(2026, 1, 31, 4, 30, tzinfo=dt.UTC)
    (each,) = extract(Utterance(said.text, at=dt.datetime(2026, 1, 31, 4, 30, tzinfo=dt.UTC)), event).facts
    assert each.fact.context["since"] == "2026-02-01", "in UTC it is the next day already"


def test_a_day_that_a_model_makes_up_counts_for_nothing() -> None:
    event = fact(quote="dentist", kind="event", relation="has_appointment", object="dentist", when="next Friday")
    (each,) = extract("dentist, at some time", event).facts
    assert "since" not in each.fact.context


def test_chinese_stays_chinese() -> None:
    said = "我不想在午饭后马上开会，陈静的会除外"
    found = extract(said, fact(quote="不想在午饭后马上开会", object="午饭后"))
    (each,) = found.facts
    assert each.quote == "不想在午饭后马上开会"
    assert each.fact.object == "午饭后"


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("soonish would be good", {"quote": "soonish would be good", "object": "09:00"}),
        ("nothing too late", {"quote": "nothing too late", "object": "not_after_20:00"}),
        ("不要太晚", {"quote": "不要太晚", "object": "not_after_20:00"}),
        ("I like it early", {"quote": "I like it early", "object": "08:00"}),
        ("whatever suits", {"quote": "whatever suits", "kind": "vague"}),
    ],
)
def test_a_vague_statement_comes_back_as_a_question(said: str, changed: dict[str, Any]) -> None:
    found = extract(said, fact(**changed))
    assert found.facts == ()
    (question,) = found.questions
    assert question.quote == changed["quote"]
    assert question.question.endswith("?")


def test_the_persons_language_is_kept_in_a_question() -> None:
    found = extract("不要太晚", fact(quote="不要太晚", kind="vague", ask="最晚几点？"))
    assert found.questions[0].question == "最晚几点？"


@pytest.mark.parametrize(
    "changed",
    [
        {"relation": "DROP TABLE"},
        {"relation": "prefers_"},
        {"relation": "has_meeting"},
        {"relation": "overrides_rule"},
        {"object": ""},
        {"object": "\x00\x1b"},
        {"object": "x" * 5000},
        {"quote": ""},
        {"quote": "."},
    ],
)
def test_what_has_no_form_of_a_fact_is_refused(changed: dict[str, Any]) -> None:
    found = extract(LUNCH, fact(**changed))
    assert found.facts == ()
    assert len(found.refused) == 1


def test_the_same_fact_twice_is_one() -> None:
    assert len(extract(LUNCH, fact(), fact(sentiment=-0.5)).facts) == 1
    assert len(extract(LUNCH, *[fact(object=f"after_lunch_{n}") for n in range(150)]).facts) == 100


def test_long_conversations_are_read_as_far_as_they_are_read() -> None:
    found = extract([Utterance(f"{n} {LUNCH}") for n in range(500)], fact())
    assert any("of 500 utterances the first 200 were read" in note for note in found.notes)
    long = extract("x" * 10_000 + LUNCH, fact())
    assert long.facts == ()
    assert any("first 4,000" in note for note in long.notes)


def test_nothing_said_asks_nobody() -> None:
    model = Scripted()
    found = ucl.llm.extract([{"role": "assistant", "content": LUNCH}], model=model, now=NOW)
    assert found.facts == ()
    assert not model.asks


def test_conversations_are_asked_at_once_and_one_error_takes_none_of_the_others() -> None:
    model = Scripted(values=[json.dumps({"facts": [fact()]}), ModelError(ErrorCode.TIMEOUT, "too slow")])
    first, second = ucl.llm.extract_conversations([LUNCH, LUNCH], model=model, now=NOW)
    assert isinstance(first, Extraction)
    assert isinstance(second, ModelError)
    with pytest.raises(ModelError, match="too slow"):
        ucl.llm.extract(LUNCH, model=Scripted(values=[ModelError(ErrorCode.TIMEOUT, "too slow")]), now=NOW)


def test_what_is_no_conversation_is_said() -> None:
    for wrong in ([{"speaker": "user"}], [{"text": 3}], [{"text": "x", "at": "yesterday"}]):
        with pytest.raises(ValueError, match=r"utterance|isoformat"):
            ucl.llm.extract(wrong, model=Scripted(), now=NOW)


def test_topics_are_those_of_the_schema() -> None:
    model = Scripted(values=['{"facts": []}'])
    program = ucl.compile('import std.mail (Email)\nrule r on Email { when "x" in labels score 0.1 }')
    ucl.llm.extract("hello", program, "Email", model=model, now=NOW)
    assert "Topics: sender, recipients, subject, arrived" in model.ours


# --- dates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on Tuesday", [("Tuesday", "2026-03-10", 1)]),
        ("Wednesday", [("Wednesday", "2026-03-11", 1)]),
        ("this Wednesday", [("this Wednesday", "2026-03-04", 1)]),
        ("next Friday", [("next Friday", "2026-03-13", 1)]),
        ("last Wednesday", [("last Wednesday", "2026-02-25", 1)]),
        ("today, tomorrow", [("today", "2026-03-04", 1), ("tomorrow", "2026-03-05", 1)]),
        ("the day after tomorrow", [("the day after tomorrow", "2026-03-06", 1)]),
        ("yesterday", [("yesterday", "2026-03-03", 1)]),
        ("in two weeks", [("in two weeks", "2026-03-18", 1)]),
        ("3 days ago", [("3 days ago", "2026-03-01", 1)]),
        ("next week", [("next week", "2026-03-09", 7)]),
        ("this weekend", [("this weekend", "2026-03-07", 2)]),
        ("last month", [("last month", "2026-02-01", 28)]),
        ("March 3rd", [("March 3rd", "2026-03-03", 1)]),
        ("1 January", [("1 January", "2026-01-01", 1)]),
        ("4 June 2027", [("4 June 2027", "2027-06-04", 1)]),
        ("on 2026-12-24", [("2026-12-24", "2026-12-24", 1)]),
        ("2026-02-30 and February 30", []),
        ("on Tuesdays, every Friday, each Monday", []),
        ("明天", [("明天", "2026-03-05", 1)]),
        ("大后天", [("大后天", "2026-03-07", 1)]),
        ("下周二", [("下周二", "2026-03-10", 1)]),
        ("这周三", [("这周三", "2026-03-04", 1)]),
        ("周五", [("周五", "2026-03-06", 1)]),
        ("十天后", [("十天后", "2026-03-14", 1)]),
        ("3月8号", [("3月8号", "2026-03-08", 1)]),
        ("下个月", [("下个月", "2026-04-01", 30)]),
        ("每周二和每个周五", []),
    ],
)
def test_days_are_resolved_against_the_utterance(text: str, days: list[tuple[str, str, int]]) -> None:
    found = said_days(text, dt.date(2026, 3, 4))
    told = [(text[d.start : d.end], d.first.isoformat(), (d.until - d.first).days) for d in found]
    assert told == days


def test_days_at_the_ends_of_the_calendar_are_left_out() -> None:
    assert said_days("tomorrow, next week, next month", dt.date.max) == []
    assert said_days("yesterday", dt.date.min) == []
    assert said_days("February 29", dt.date(2027, 3, 1))[0].first == dt.date(2028, 2, 29)


# --- numbers and what is vague --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("after ten", {10}),
        ("twenty-five minutes", {25}),
        ("1,500.5 dollars", {1500.5}),
        ("25MB", {25, 25_000_000}),
        ("half past nine", {0.5, 30, 9}),
        ("noon", {12}),
        ("二十五分钟", {25}),
        ("两点半", {2, 0.5, 30}),
        ("一百二十", {120}),
        ("nothing", set()),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, numbers: set[float]) -> None:
    assert said_numbers(text) == numbers


def test_parts_of_the_day_are_words() -> None:
    assert names_part_of_day("after lunch")
    assert names_part_of_day("午饭后")
    assert not names_part_of_day("launch")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("soonish", "soonish"),
        ("not too late", "not too late"),
        ("not too late, ten at most", None),
        ("not too early in the morning", None),
        ("sometimes", "sometimes"),
        ("尽量早点", "尽量"),
        ("never after ten", None),
    ],
)
def test_open_words_are_those_that_nothing_fills(text: str, words: str | None) -> None:
    assert open_words(text) == words


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("I have a dentist appointment Tuesday", True),
        ("we fly to Rome tomorrow", True),
        ("下周二我有牙医", True),
        ("I prefer Tuesday", False),
        ("never on Tuesdays", False),
        ("meetings are tiring", False),
        ("周五不要开会", False),
    ],
)
def test_what_happens_once_names_a_day_and_no_wish(text: str, once: bool) -> None:
    assert happens_once(text, dt.date(2026, 3, 4)) is once


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("after lunch", "right After  Lunch!", "After  Lunch"),
        ('"don’t"', "I don't", "don't"),
        ("STRASSE", "die Straße", "Straße"),
        ("午饭后", "我在午饭后", "午饭后"),
        ("not there", "nothing", None),
        ("", "nothing", None),
    ],
)
def test_quotations_are_found_in_the_text(quote: str, text: str, found: str | None) -> None:
    span = find_quote(quote, text)
    assert (None if span is None else text[slice(*span)]) == found
