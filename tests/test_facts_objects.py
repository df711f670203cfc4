"""What objects of facts name, in English and Chinese; what can mean two things is left unread."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.diagnostics import Report, Source
from ucl.driver import check_source
from ucl.facts.language import condition_text, negated_text, region_text
from ucl.facts.objects import Named, Unread, read_object, read_value
from ucl.facts.regions import Overlaps, Subject, region_within, regions_meet, without
from ucl.facts.vocabulary import vocabulary
from ucl.semantics import types as t
from ucl.semantics.program import Program, Schema

PROGRAM = """\
module trips
import std.money (usd)
import std.scheduling (Meeting)
context { energy: "low" | "high" = "high"  size: int = 0 }
schema Guide { name: text }
schema Trip {
  leaves: datetime
  back: datetime?
  nights: int in 0..=30
  price: usd?
  seats: set<text> = {}
  class: "first" | "second" = "second"
  guide: Guide
  size: int = 1
}
rule r on Trip { when nights > 3 score 0.1 }
rule s on Meeting { when remote score 0.1 }
"""


def compiled() -> Program:
    program, report = check_source(Source("trips.ucl", PROGRAM))
    assert program is not None, [d.message for d in report]
    return program


PROGRAMS = compiled()
MEETING, TRIP = PROGRAMS.schemas["Meeting"], PROGRAMS.schemas["Trip"]
WORDS = vocabulary(MEETING)


def subject(topic: str) -> Subject:
    found = WORDS.subject(topic)
    assert found is not None
    return found


def text_of(topic: str, words: str) -> str:
    """The condition, with `!` before it where the contrary is meant, or the reason why there is none."""
    named = read_object(words, subject(topic), WORDS.names)
    if isinstance(named, Unread):
        return f"? {named.reason}"
    return ("! " if named.turned else "") + " and ".join(condition_text(s, c) for s, c in named.conditions)


TIMES = {
    "start.time in 13:00..14:00": "13:00-14:00|13:00–14:00|１３：００～１４：００|1pm to 2pm|1-2pm|from 1pm to 2pm|"
    "下午一点到两点|下午1点到2点|immediately_after_lunch|right after lunch|after_lunch|午饭后立刻|午饭后|13点到14点|"
    "between 1pm and 2pm",
    "start.time in 11:00..13:00": "11-1pm|11am-1pm|上午十一点到下午一点",
    "start.time in 09:30..11:00": "上午九点半到十一点|9:30-11:00",
    "start.time in 22:00..06:00": "22:00-06:00|night|夜里|晚上十点到早上六点|10pm-6am",
    "start.time >= 22:00": "晚上十点以后|22:00-24:00|10pm to midnight",
    "start.time < 08:00": "before 8am|before_08:00|早上8点前|00:00-08:00",
    "! start.time > 17:00": "not_after_17:00|no later than 5pm|不晚于17:00",
    "! start.time < 09:00": "not_before_09:00|no earlier than 9am|不早于上午九点",
    "start.time in 06:00..12:00": "morning|mornings|in_the_morning|早上|上午",
    "start.time in 15:00..15:01": "15:00|3pm|下午三点",
    "start.weekday == fri": "friday|Fridays|fri|周五|星期五|on friday",
    "start.weekday in {tue, thu}": "tuesday and thursday|tue, thu|周二和周四",
    "start.weekday in mon..=fri": "monday to friday|mon-fri|weekdays|workdays|工作日|周一到周五|not weekend",
    "start.weekday in {sat, sun}": "weekend|weekends|周末|saturday or sunday",
    "start.weekday == fri and start.time in 12:00..18:00": "friday_afternoon|Friday afternoons|周五下午",
    "start.date == 2026-03-04": "2026-03-04",
}


@pytest.mark.parametrize(("meant", "words"), [(k, w) for k, v in TIMES.items() for w in v.split("|")])
def test_times_and_days(meant: str, words: str) -> None:
    assert text_of("meeting_time", words) == meant


@pytest.mark.parametrize(
    "words",
    "soonish|around noon|9-10|三点到四点|nine|13:00-13:00|25:00-26:00|13:99|lunchish|yesterday||会后".split("|"),
)
def test_what_is_vague_is_not_guessed(words: str) -> None:
    assert text_of("meeting_time", words).startswith("? ")


@pytest.mark.parametrize(
    ("topic", "words", "meant"),
    [
        ("meeting_duration", "30 minutes", "duration == 30min"),
        ("meeting_duration", "半小时", "duration == 30min"),
        ("meeting_duration", "half an hour", "duration == 30min"),
        ("meeting_duration", "1h30min", "duration == 90min"),
        ("meeting_duration", "一个半小时", "duration == 90min"),
        ("meeting_duration", "30-60 minutes", "duration in 30min..=1h"),
        ("meeting_duration", "over an hour", "duration > 1h"),
        ("meeting_duration", "超过一小时", "duration > 1h"),
        ("meeting_duration", "25分钟以内", "duration <= 25min"),
        ("meeting_duration", "not_longer_than_25_minutes", "! duration > 25min"),
        ("meeting_duration", "30", "? `30` names nothing that `duration` can be"),
        ("meeting_size", "more than 8 people", "size(attendees) > 8"),
        ("meeting_size", "三个人以上", "size(attendees) >= 3"),
        ("meeting_with_person", "ann@example.com", 'overlaps(attendees, {"ann@example.com"})'),
        ("meeting_with_person", "bo; 陈静", 'overlaps(attendees, {"bo", "陈静"})'),
        ("meeting_with_person", ";；", "? `;；` names nothing that `attendees` can be"),
        ("meeting_kind", "One-on-One", 'kind == "one_on_one"'),
        ("meeting_kind", "站会", 'kind == "standup"'),
        ("meeting_kind", "standup or review", 'kind in {"standup", "review"}'),
        ("meeting_kind", "not external", 'kind in {"standup", "review", "one_on_one", "other"}'),
        ("meeting_priority", "at least 8", "priority >= 8"),
        ("meeting_remote", "true", "remote"),
        ("meeting_remote", "not remote", "not remote"),
        ("meeting_title", "Retro", 'contains(casefold(title), "retro")'),
        ("title", "Board*", 'starts_with(title, "Board")'),
        ("meeting_place", "公园", 'present(place) and place == "公园"'),
    ],
)
def test_other_fields(topic: str, words: str, meant: str) -> None:
    assert text_of(topic, words) == meant


def test_a_near_miss_is_suggested() -> None:
    assert text_of("meeting_kind", "externl").endswith("did you mean `external`?")


def test_values_of_json() -> None:
    kinds = read_value(["review", "standup"], subject("kind"), {})
    assert isinstance(kinds, Named)
    assert region_text(dict(kinds.conditions)) == 'kind in {"standup", "review"}'
    nothing = read_value(None, subject("place"), {})
    assert isinstance(nothing, Named)
    assert region_text(dict(nothing.conditions)) == "absent(place)"
    assert isinstance(read_value(None, subject("kind"), {}), Unread)
    assert isinstance(read_value({"a": 1}, subject("kind"), {}), Unread)
    assert isinstance(read_value([], subject("kind"), {}), Unread)


@settings(deadline=None)
@given(st.text(max_size=30), st.sampled_from(sorted(WORDS.topics)))
def test_any_text_is_read_or_not(words: str, topic: str) -> None:
    named = read_object(words, subject(topic), WORDS.names)
    if isinstance(named, Named):
        assert named.conditions
        # `{}` is no set of the language that anything could overlap, and in Python no set at all.
        assert all(condition != Overlaps(frozenset()) for _, condition in named.conditions)


# --- vocabularies ---------------------------------------------------------------------------------------------------


def spoken(tmp_path: Path, text: str, schema: Schema = TRIP, name: str = "words.toml") -> tuple[str, list[str]]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    report = Report()
    found = vocabulary(schema, PROGRAMS.context, path, report)
    told = {topic: f"{each.place}:{each.name}" for topic, each in found.topics.items()}
    return " ".join(f"{k}={v}" for k, v in told.items()), [d.message for d in report]


def test_every_field_is_a_topic_of_its_own_schema() -> None:
    topics = vocabulary(TRIP, PROGRAMS.context).topics
    assert topics["trip_price"].type == t.Quantity(PROGRAMS.schemas["Trip"].field("price").type.inner.dimension)  # type: ignore[union-attr]
    assert (topics["energy"].place, topics["size"].place) == ("context", "option")
    assert "guide" not in topics


def test_a_file_adds_topics_names_and_what_to_ignore(tmp_path: Path) -> None:
    text = (
        'ignore = ["channel"]\nscale = 2\n[topics]\nparty = "size(seats)"\nleader = "guide.name"\nhome = "back.date"\n'
    )
    told, messages = spoken(tmp_path, text)
    assert messages == []
    assert {"party=option:size(seats)", "leader=option:guide.name", "home=option:back.date"} <= set(told.split())
    assert spoken(tmp_path, '{"topics": {"party": "size(seats)"}}', name="words.json")[1] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[topics]\nparty = "seat"', "nothing like `seat`"),
        ('[topics]\nparty = "size(nights)"', "nothing like `size(nights)`"),
        ("[topics]\nparty = 3", "is a text"),
        ("topics = 3", "is a table"),
        ("scale = -1", "from 0 to 8192"),
        ("scales = 1", "no `scales`"),
        ('ignore = "channel"', "a list of keys"),
        ("[topics", "not TOML"),
    ],
)
def test_mistakes_in_a_vocabulary_are_said(tmp_path: Path, text: str, said: str) -> None:
    _, messages = spoken(tmp_path, text)
    assert len(messages) == 1
    assert said in messages[0]


# --- regions as the language has them -------------------------------------------------------------------------------

WORDED = [
    ("leaves", "friday 15:00-22:00"),
    ("leaves", "22:00-06:00"),
    ("back", "after 17:00"),
    ("back", "weekend"),
    ("nights", "3-5"),
    ("nights", "under 2"),
    ("price", "20USD-30USD"),
    ("price", "over 99.5 usd"),
    ("seats", "a; b"),
    ("class", "not first"),
    ("energy", "low"),
    ("size", "3"),
]


@pytest.mark.parametrize(("topic", "words"), WORDED)
def test_conditions_and_their_contraries_check(topic: str, words: str) -> None:
    known = vocabulary(TRIP, PROGRAMS.context)
    named = read_object(words, known.topics[topic], known.names)
    assert isinstance(named, Named), named
    shared = frozenset(("size",))
    for s, c in named.conditions:
        rules = f"rule a on Trip {{ when {condition_text(s, c, shared)} score 0.1 }}\n"
        rules += f"rule b on Trip {{ when {negated_text(s, c, shared)} score 0.1 }}\n"
        _, report = check_source(Source("trips.ucl", PROGRAM + rules))
        assert [d.message for d in report] == []


@pytest.mark.parametrize(("topic", "words"), WORDED)
def test_a_condition_and_its_contrary_have_nothing_in_common(topic: str, words: str) -> None:
    known = vocabulary(TRIP, PROGRAMS.context)
    named = read_object(words, known.topics[topic], known.names)
    assert isinstance(named, Named)
    for s, c in named.conditions:
        other = without(c, s.compared)
        assert other is not None
        assert not regions_meet({s: c}, {s: other})
        assert region_within({s: c}, {s: c})
        assert not region_within({s: c}, {s: other})
