"""Which facts rule when: later ones, exceptions, habits, and what can't be tested."""

from __future__ import annotations

from typing import Any

from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.facts import Fact, read_fact
from ucl.facts.history import Belief, History, history_of
from ucl.facts.language import region_text
from ucl.facts.vocabulary import vocabulary
from ucl.semantics.values import iso
from ucl.semantics.zones import UTC

PROGRAM, _ = check_source(
    Source("m.ucl", "import std.scheduling (Meeting)\nrule r on Meeting { when remote score 0.1 }\n")
)
assert PROGRAM is not None
WORDS = vocabulary(PROGRAM.schemas["Meeting"])


def fact(relation: str, object: str, day: str | None, sentiment: float | None = None, **more: Any) -> Fact:
    told = {"source_type": "chat", "subject": "lena", "extracted_relation": relation, "object": object}
    read = read_fact({**told, "timestamp": day, "sentiment": sentiment, **more})
    assert isinstance(read, Fact)
    return read


def came_of(*facts: Fact) -> History:
    return history_of(facts, WORDS, UTC)


def told(belief: Belief) -> str:
    first, end = ("" if day is None else iso.write_date(day) for day in (belief.first, belief.end))
    return f"{region_text(belief.region)} {belief.sign:+d} {first}..{end}"


LUNCH = "start.time in 12:00..13:00"


def test_a_change_of_mind_ends_what_was_said_before() -> None:
    history = came_of(
        fact("avoids_meeting_time", "lunch", "2026-03-01", -0.5),
        fact("prefers_meeting_time", "午休", "2026-05-01", 0.5),
    )
    assert [told(belief) for belief in history.beliefs] == [
        f"{LUNCH} -1 2026-03-01..2026-05-01",
        f"{LUNCH} +1 2026-05-01..",
    ]
    (contradiction,) = history.contradictions
    assert (contradiction.earlier.object, contradiction.later.object) == ("lunch", "午休")
    assert contradiction.day == iso.read_date("2026-05-01")


def test_the_order_of_the_file_does_not_matter_but_for_equal_times() -> None:
    one = fact("avoids_meeting_time", "lunch", "2026-03-01", -0.5)
    other = fact("prefers_meeting_time", "lunch", "2026-05-01", 0.5)
    assert came_of(one, other) == came_of(other, one)
    undated = [fact("avoids_meeting_time", "lunch", None, -0.5), fact("prefers_meeting_time", "lunch", None, 0.5)]
    assert [belief.sign for belief in came_of(*undated).beliefs] == [1]
    assert [belief.sign for belief in came_of(*undated[::-1]).beliefs] == [-1]


def test_what_ruled_for_no_day_is_said() -> None:
    history = came_of(
        fact("avoids_meeting_time", "lunch", "2026-03-01T09:00Z", -0.5),
        fact("prefers_meeting_time", "lunch", "2026-03-01T15:00Z", 0.5),
    )
    assert [belief.sign for belief in history.beliefs] == [1]
    assert history.untested[0].reason.startswith("no day lies before what was said later")


def test_a_later_statement_takes_a_part() -> None:
    earlier, later = came_of(
        fact("avoids_meeting_time", "12:00-18:00", "2026-03-01", -0.5),
        fact("prefers_meeting_time", "13:00-14:00", "2026-05-01", 0.5),
    ).beliefs
    assert (earlier.end, len(earlier.revisions), later.revisions) == (None, 1, ())
    assert region_text(earlier.revisions[0].region) == "start.time in 13:00..14:00"


def test_what_is_narrower_by_something_else_is_an_exception_whenever_it_was_said() -> None:
    general = fact("avoids_meeting_time", "lunch", "2026-03-01", -0.5)
    narrow = fact("prefers_meeting_time", "lunch", "2026-01-01", 0.5, context={"kind": "external"})
    for facts in ([general, narrow], [narrow, general]):
        history = came_of(*facts)
        assert history.contradictions == ()
        assert [belief.end for belief in history.beliefs] == [None, None]


def test_a_turned_object_speaks_against_the_rest() -> None:
    (belief,) = came_of(fact("prefers_meeting_time", "not_after_17:00", "2026-03-01", 0.8)).beliefs
    assert told(belief) == "start.time > 17:00 -1 2026-03-01.."
    assert belief.feeling == -0.8
    history = came_of(fact("avoids_meeting_time", "not_after_17:00", "2026-03-01", -0.8))
    assert "say twice" in history.untested[0].reason


def test_the_sentiment_says_more_than_the_relation() -> None:
    signs = [
        came_of(fact(relation, "lunch", None, sentiment)).beliefs[0].sign
        for relation, sentiment in [
            ("avoids_meeting_time", None),
            ("prefers_meeting_time", None),
            ("avoids_meeting_time", 0.7),
            ("prefers_meeting_time", 0.0),
        ]
    ]
    assert signs == [-1, 1, 1, 0]


def test_days_and_narrowing_of_the_context() -> None:
    context = {"since": "2026-09-01", "until": "2031-07-15", "kind": ["review", "standup"], "place": None}
    (belief,) = came_of(fact("avoids_meeting_time", "lunch", "2026-03-01", -0.5, context=context)).beliefs
    assert told(belief) == f'{LUNCH} and kind in {{"standup", "review"}} and absent(place) -1 2026-09-01..2031-07-15'


def test_what_a_context_says_that_nobody_knows_is_not_passed_over() -> None:
    reasons = [
        came_of(fact(relation, object, None, context=context)).untested[0].reason
        for relation, object, context in [
            ("avoids_meeting_time", "lunch", {"weather": "rain"}),
            ("avoids_meeting_time", "friday lunch", {"weekday": "monday"}),
            ("avoids_meeting_time", "lunch", {"hard": "yes"}),
            ("avoids_meeting_time", "lunch", {"until": "soon"}),
            ("avoids_coffee", "flat white", {}),
            ("met", "Ann", {}),
        ]
    ]
    assert ["`weather`" in reasons[0], "different things" in reasons[1], "`hard`" in reasons[2]] == [True] * 3
    assert ["`until`" in reasons[3], "`coffee`" in reasons[4], "no preference" in reasons[5]] == [True] * 3


# --- behaviour ------------------------------------------------------------------------------------------------------


def seen(count: int, feelings: tuple[float, ...], source: str = "s") -> list[Fact]:
    return [
        fact(
            "avoids_meeting_day",
            "weekend",
            f"2026-03-{n + 1:02}",
            feelings[n % len(feelings)],
            id=f"{source}{n}",
            source_type="calendar",
            source_id=f"{source}{n}",
        )
        for n in range(count)
    ]


def test_a_habit_takes_more_than_five_that_agree() -> None:
    assert "seen 5 times" in came_of(*seen(5, (-0.8,))).untested[0].reason
    (habit,) = came_of(*seen(6, (-0.8,))).beliefs
    assert (habit.habit, len(habit.facts), round(habit.feeling, 3)) == (True, 6, -0.8)
    assert "both ways" in came_of(*seen(8, (-0.8, 0.7))).untested[0].reason
    assert "no stronger than 0.5" in came_of(*seen(8, (-0.4, -0.3))).untested[0].reason
    assert came_of(*seen(8, (-0.5,))).beliefs == ()


def test_facts_of_one_source_are_one_observation() -> None:
    same = [each.model_copy(update={"source_id": "s"}) for each in seen(9, (-0.8,))]
    assert "seen once" in came_of(*same).untested[0].reason
    statements = [
        fact("avoids_meeting_time", "lunch", "2026-03-01", -0.5, id=name, source_id="c1") for name in ("a", "b")
    ]
    (belief,) = came_of(*statements).beliefs
    assert [each.id for each in belief.facts] == ["a", "b"]


def test_what_was_said_rules_over_what_was_seen_before_or_after() -> None:
    for day in ("2026-01-01", "2026-12-01"):
        said = fact("prefers_meeting_day", "weekend", day, 0.5)
        history = came_of(*seen(6, (-0.8,)), said)
        assert [belief.habit for belief in history.beliefs] == [False]
        assert history.contradictions[0].later == said
