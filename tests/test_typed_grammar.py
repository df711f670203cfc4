"""The typed sub-grammar: whatever it allows is right, what is usual it allows, what is wrong it does not."""

from __future__ import annotations

import pytest
from typed_programs import EXAMPLES, MEETINGS, PROGRAMS
from typed_walks import (
    accepts,
    byte_tokenizer,
    errors_in,
    formatted,
    grammar_text,
    matcher,
    new_matcher,
    rule,
    walk_and_check,
)

from ucl.diagnostics import Report, Source
from ucl.syntax import ast
from ucl.syntax.parse import parse

# --- every sentence is right ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_sentences_parse_and_type_check(name: str) -> None:
    walk_and_check(name, 10, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_ten_thousand_sentences_parse_and_type_check(name: str) -> None:
    """480 for each of 21 programs."""
    walk_and_check(name, 480, seed=3)


def test_one_answer_may_hold_several_declarations() -> None:
    answer = (
        "rule no_lunch on Meeting {\n  when start.time in 12:00..13:00\n  score -0.5\n}\n\n"
        "constraint second_no_lunch on Meeting {\n  forbid when start.time in 12:00..13:00\n}\n\n"
        "property third_no_lunch on Meeting {\n  given priority < 3\n  expect not fires(avoid_after_lunch)\n}\n"
    )
    assert accepts(matcher("meetings"), answer)
    assert errors_in(MEETINGS, answer) == []
    assert not accepts(matcher("meetings"), answer.replace("second_no_lunch", "no_lunch"))
    assert not accepts(matcher("meetings"), answer.replace("second_", "third_"))


# --- what people write is a sentence --------------------------------------------------------------------------------

USUAL = {
    "meetings": [
        "start.time in 13:00..14:00",
        "start.time in 22:00..06:00 or start.time in 13:00..13:30",
        "start.time in 20:00..24:00 and start.time not in after_lunch",
        "start.weekday in mon..=fri and start.weekday not in {sat, sun}",
        "start.weekday in weekend or night_of(start) == fri",
        "start >= 2026-03-04T13:00 and start < 2026-03-05T13:00:30+08:00",
        "start.date >= 2024-02-29 and start.date < today + 7d",
        "start - now < 2h",
        "duration > 1h30min or duration in 30min..60min or duration in 30min..1h",
        "priority in 3..=7 and priority in 8.. and priority in 12..15",
        "priority == 1_000 or priority in {1, 2, -3}",
        'kind == "external" and kind in {"standup", "review"} and not remote',
        "not (remote or priority < 3) and (remote or duration > 90min)",
        'overlaps(attendees, vip) or subset({"ann"}, attendees) or "ann" in attendees',
        'any(a in attendees where not ends_with(a, "@corp.example"))',
        'size(attendees) > 8 and length(title) > 40 and contains(lower(title), "sync")',
        'present(place) and contains(place, "room") and not like(place, "A*") and place != "here" and remote',
        'present(organizer) and organizer in attendees and organizer in {"ann", "bo"}',
        'organizer ?? "" == "ann" or absent(place) or not present(place)',
        "lowest(priority) or rank_of(duration) <= 3 or priority > mean_of(priority)",
    ],
    "nested": [
        'present(host) and host.name == "x" and present(host) and present(host.age) and host.age > 3',
        "price ?? 0USD < 100USD or present(price) and price <= cheap",
        "far in 2km.. and far < far_ and far >= 0.5mi",
        "rating in 0.5..1.5 or rating in 0.2..0.75 or rating in 3..=4.5",
        "people_called_x() > 3 and youngest() ?? 18 < seen and opening() < now",
        'fine(decision, seen, 30min, cheap, "big") or in_a_mood()',
        "option.mood > 3 and context.mood ?? 0 > 3",
        "day in spring and when_ ?? 12:00 in dayparts.lunch",
        "doubled(rating) ?? 1 > 2",
        'present(tags) and "a" in tags and subset(tags, favourites) and subset({"b"}, tags ?? {"a"})',
        "present(price) and price < 20USD and price ?? 1USD > 3USD or flag ?? true",
    ],
    "chinese": [
        '开始.time in night and "安" in 参会者 and 类型 != "站会"',
        'overlaps(参会者, 贵宾) and 优先级 in 3..=7 and contains(标题, "你好")',
    ],
    "clause_words": ["priority > 3 and score < 1.5 and status == expect and when and not valid"],
    "units": ["far > 500m and full < 2m and takes > 2d and takes in 1h..2h and contains(far, 2h)"],
    "aliased": ["cost < 20USD and spare ?? 0EUR > 3EUR and meeting.remote and present(other) and other.priority > 3"],
}
SCORES = [
    "1",
    "-0.25",
    "100%",
    "-25%",
    "0.5 * ramp(priority, 0, 10)",
    "-ramp(duration, 15min, 2h)",
    "near(start.time, 10:00, 90min) * -0.5",
    "0.5\n  except when remote score 0.25\n  except when priority > 3 score -1",
]
META = [
    '  from chat "c42" at 2026-03-04\n  from email "e1" at 2026-03-04T13:00\n',
    "  confidence 0.9\n  priority 2.5\n  valid 2026-03-01..\n  status shadow\n",
    "  confidence 90%\n  priority 10\n  valid ..=2026-03-01\n",
]


@pytest.mark.parametrize(("name", "condition"), [(name, c) for name, usual in USUAL.items() for c in usual])
def test_usual_conditions_are_allowed_as_fmt_lays_them_out(name: str, condition: str) -> None:
    program, schema = PROGRAMS[name]
    text = formatted(rule(condition, on=schema))
    assert errors_in(program, text) == []
    assert accepts(matcher(name), text)


@pytest.mark.parametrize(
    "text", [rule("remote", score=score) for score in SCORES] + [rule("remote", rest=m) for m in META]
)
def test_usual_clauses_are_allowed_as_fmt_lays_them_out(text: str) -> None:
    assert errors_in(MEETINGS, formatted(text)) == []
    assert accepts(matcher("meetings"), formatted(text))


@pytest.mark.parametrize(
    "text",
    [
        "rule r on Meeting overrides vip_is_fine, avoid_after_lunch {\n  score 0.5\n}",
        "constraint c on Meeting overrides nothing_late {\n  require remote\n  when priority > 3\n  unless remote\n}",
        'property p on Meeting {\n  given remote\n  expect score < 0 and feasible or decision == "ask_user"\n'
        "  expect not (fires(vip_is_fine) and applies(nothing_late)) and contribution(vip_is_fine) >= 0.5\n}",
        'property p on Meeting {\n  expect not contested or kind == "external"\n}',
    ],
)
def test_usual_declarations_are_allowed(text: str) -> None:
    assert errors_in(MEETINGS, text) == []
    assert accepts(matcher("meetings"), formatted(text))


def test_lines_may_be_broken_where_fmt_breaks_them() -> None:
    names = ", ".join(f'"someone.with.a.name.{number}@example.com"' for number in range(6))
    condition = f"overlaps(attendees, {{{names}}}) and (remote or priority > 3 or duration < 30min and not remote)"
    text = formatted(rule(f'{condition} or {condition} and title == "{"x" * 80}"'))
    assert max(map(len, text.splitlines())) <= 100 < len(text) / 4
    assert accepts(matcher("meetings"), text)


@pytest.mark.parametrize("name", ["meetings/meetings.ucl", "cambridge/trains.ucl"])
def test_most_of_an_example_could_have_been_written_under_its_grammar(name: str) -> None:
    """Each of its rules, were it not there yet."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    file = parse(Source(name, text), Report())
    asked = allowed = 0
    for node in file.declarations:
        if isinstance(node, ast.Rule | ast.Constraint):
            rest = text[: node.span.start] + text[node.span.end :]
            if errors_in(rest, ""):
                continue  # another speaks of it
            asked += 1
            start = new_matcher(byte_tokenizer(), grammar_text(rest, node.schema.text))
            allowed += accepts(start, formatted(text[node.span.start : node.span.end]))
    assert asked >= 5
    assert allowed >= 0.7 * asked


# --- what is wrong is no sentence -----------------------------------------------------------------------------------

WRONG = [
    "urgency >= 8",
    "start.times in 13:00..14:00",
    "overlaps(attendees, vips)",
    'kind == "party"',
    "kind == true",
    "priority",
    'priority >= "8"',
    "priority >= 1.5",
    "priority >= 08",
    "priority >= 12345678901234567890",
    "priority in 7..3",
    "priority in 3..3",
    "duration > 30",
    "duration > 2km",
    "duration > 30 min",
    "duration in 2h..1h",
    "start.time in 13:00..25:00",
    "start.time in 13:00..13:00",
    "start.time < 12:60",
    "start.time < 9:00",
    "start.time < 24:00",
    "start.date > 2026-02-30",
    "start.date > 2025-02-29",
    "start.date > 1900-02-29",
    "start.date > 2026-13-01",
    "start.date >= 13:00",
    "start > 2026-03-04",
    "start.date in 2026-03-04..2026-03-04",
    "start.weekday == funday",
    "start.weekday in mon..fri",
    "start.weekday < fri",
    'title < "x"',
    'organizer == "ann"',
    'present(place) and organizer == "ann"',
    'not present(place) and place == "x"',
    'present(place) or place == "x"',
    "attendees",
    '"ann" in kind',
    "priority in {}",
    "priority < 3 < 5",
    "remote && remote",
    "not",
    "priority > avoid_after_lunch",
    "fires(avoid_after_lunch)",
    "priority  > 3",
    "priority>3",
    "(remote)",
]


@pytest.mark.parametrize("condition", WRONG)
def test_what_is_wrong_can_not_be_written(condition: str) -> None:
    assert accepts(matcher("meetings"), rule("remote"))
    assert not accepts(matcher("meetings"), rule(condition))


@pytest.mark.parametrize(
    "text",
    [
        rule("remote", score="1.5"),
        rule("remote", score="-1.01"),
        rule("remote", score="200%"),
        rule("remote", score="near(start.time, 10:00, 0min)"),
        rule("remote", score="ramp(kind, 0, 1)"),
        rule("remote", rest="  confidence 1.1\n"),
        rule("remote", rest="  priority 11\n"),
        rule("remote", rest="  status sleeping\n"),
        rule("remote", rest="  valid 2026-02-30..\n"),
        rule("remote", rest='  from chat "c" at 2026-02-30\n'),
        rule("remote", on="Meetings"),
        rule("remote").replace("rule r", "rule vip"),
        rule("remote").replace("rule r", "rule avoid_after_lunch"),
        rule("remote").replace("rule r", "rule mon"),
        rule("remote").replace("rule r", "rule option"),
        rule("remote").replace("on Meeting", "on Meeting overrides nothing_late"),
        rule("remote").replace("on Meeting", "on Meeting overrides vip_is_fine, vip_is_fine"),
        rule("remote").replace('"said so"', '"said\nso"'),
        rule("remote").replace('"said so"', '"\\ud800"'),
        rule("remote").replace('"said so"', '"\\x"'),
        rule("remote") + "\n\naction a on Meeting {\n  do nothing\n}",
        rule("remote") + "\n\nimport std.mail",
        "property p on Meeting {\n  expect fires(nothing_late)\n}",
        "property p on Meeting {\n  expect applies(vip)\n}",
        "property p on Meeting {\n  expect contribution(nothing_late) > 0\n}",
        "let x = 3",
    ],
)
def test_wrong_clauses_can_not_be_written(text: str) -> None:
    assert not accepts(matcher("meetings"), text)
