"""What an edit changed, held to what every option says; what is equivalent; witnesses that show the difference."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_here
from promises import HEADER, NOW, compiled, every_call, every_option, random_source, rules

from ucl.analysis.diff import Comparison, compare
from ucl.semantics.evaluate import score_option
from ucl.semantics.program import Program


def compared(old: str, new: str, now: int = NOW) -> Comparison:
    return compare(compiled(old), compiled(new), now)


def differ(old: Program, new: Program) -> bool:
    """By asking every option in every context."""
    return any(said(old, option, call) != said(new, option, call) for call in every_call() for option in every_option())


def said(program: Program, option: Any, call: Any) -> tuple[Any, ...]:
    outcome = score_option(program, program.schemas["S"], option, call)
    return outcome.total, outcome.feasible, outcome.contested, outcome.decision


def edited(source: str, chance: random.Random) -> str:
    """One small edit, some of which change nothing."""
    edits = [
        (r"n > (\d)", lambda m: f"n >= {int(m[1]) + 1}"),
        (r"n > (\d)", lambda m: f"n >= {m[1]}"),
        (r'k in \{"x", "y"\}', lambda m: 'k != "z"'),
        (r"score 0\.5", lambda m: "score 0.25 + 0.25"),
        (r"priority 1", lambda m: "priority 2"),
        (r"status active", lambda m: "status shadow"),
        (r"absent\(m\)", lambda m: "not present(m)"),
        (r"w in fri\.\.=mon", lambda m: "w in {fri, sat, sun, mon}"),
        (r"unless .* score", lambda m: "score"),
    ]
    pattern, change = chance.choice(edits)
    return re.sub(pattern, change, source, count=1)


@pytest.mark.parametrize("seed", range(16))
def test_answers_are_those_of_every_option(seed: int) -> None:
    chance = random.Random(seed)
    source = random_source(seed, promised=False)
    other = edited(source, chance) if seed % 4 else HEADER + "\n".join(rules(chance))
    old, new = compiled(source), compiled(other)
    found = compare(old, new, NOW)
    assert bool(found.differences) == differ(old, new)
    assert found.undecided == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 600))
def test_answers_are_those_of_every_option_in_a_long_campaign(seed: int) -> None:
    """500 pairs of programs: about a minute and a half."""
    test_answers_are_those_of_every_option(seed)


# --- equivalent -----------------------------------------------------------------------------------------------------

MEETING = """
schema Meeting {
  start: datetime  kind: "internal" | "external" | "personal" = "internal"
  priority: int in 0..=10 = 5  title: text = ""  length: duration unit min = 30min
}
"""
RAMP = 'rule long on Meeting { when length > 2h unless kind == "personal" score -ramp(length, 2h, 8h) }'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "rule a on Meeting { when priority in 3..=7 score 0.5 }",
            "rule b on Meeting { when priority in 3..8 score 0.5 }",
        ),
        (
            'let who = {"external"} rule a on Meeting { when kind in who and start.time < 09:00 score 1 }',
            'rule a on Meeting { when start.hour < 9 and kind == "external" score 1 }',
        ),
        (
            "rule a on Meeting { when start.weekday in sat..=sun score -1 }",
            "rule s on Meeting { when start.weekday == sun score -1 }"
            "rule t on Meeting { when start.weekday == sat score -1 }",
        ),
        (
            'rule a on Meeting { when start.weekday == fri unless kind == "external" score -0.6 }',
            "rule a on Meeting { when start.weekday == fri score -0.6 }"
            'rule b on Meeting overrides a { when kind == "external" score 0 }',
        ),
        (
            "rule a on Meeting { score 0.5 confidence 0.5 }",
            "rule a on Meeting { score 0.25 }",
        ),
        (
            "rule a on Meeting { when priority > 5 score 1 except when priority > 8 score 2 }",
            "rule a on Meeting { score if priority > 8 then 2 else 1 when priority >= 6 }",
        ),
        (
            "constraint c on Meeting { forbid when start.time in 22:00..06:00 }",
            "constraint c on Meeting { require start.time >= 06:00 and start.time < 22:00 }",
        ),
        (RAMP, RAMP.replace('length > 2h unless kind == "personal"', 'kind != "personal" and length > 120min')),
        (
            "def late(t: time) -> bool = t >= 22:00 rule a on Meeting { when late(start.time) score -1 }",
            "rule a on Meeting { when not (start.time < 22:00) score -1 status active }",
        ),
        (
            "rule a on Meeting { score 1 status retired }",
            "rule z on Meeting { when priority > 3 score 1 status shadow }",
        ),
        ('rule a on Meeting { score 1 because "so" from chat "c" }', "rule b on Meeting { score 1 }"),
        ("rule a on Meeting { when priority > 10 score 1 }", ""),
        (
            'rule a on Meeting { when contains(title, "window seat") or contains(title, "seat") score 1 }',
            'rule a on Meeting { when contains(title, "seat") score 1 }',
        ),
    ],
)
def test_equivalent(old: str, new: str) -> None:
    assert compared(MEETING + old, MEETING + new) == Comparison((), 0)
    assert compared(MEETING + new, MEETING + old) == Comparison((), 0)


def test_what_cannot_be_decided_is_the_same_where_it_is_written_the_same() -> None:
    memory = MEETING + "schema Visit { title: text } memory visits: list<Visit>\n"
    often = "count(v in visits where v.title == title) > 3"
    old = memory + f"rule a on Meeting {{ when {often} and priority > 3 score 1 }}"
    assert compared(old, memory + f"rule a on Meeting {{ when priority >= 4 and {often} score 1 }}").equivalent
    other = compared(old, memory + f"rule a on Meeting {{ when priority >= 4 and {often.replace('3', '4')} score 1 }}")
    assert not other.equivalent
    assert other.undecided or other.differences


# --- different ------------------------------------------------------------------------------------------------------


def only(found: Comparison) -> Any:
    (difference,) = found.differences
    return difference


def test_the_smallest_witness_is_at_the_end_of_the_range() -> None:
    rule = 'rule r on Meeting {{ when start.time in 13:00{}14:00 and kind == "external" score -0.5 }}'
    found = only(compared(MEETING + rule.format(".."), MEETING + rule.format("..=")))
    assert found.option["start"] == "2026-03-03T14:00:00+00:00"
    assert (found.old.total, found.new.total) == (0, -500_000_000)
    assert (found.schema, found.rules, found.context) == ("Meeting", ("r",), {})


def test_differences_are_grouped_by_the_rules_that_make_them() -> None:
    old = (
        MEETING
        + """rule a on Meeting { when priority > 5 score 1 }
      rule b on Meeting { when kind == "external" score 0.5 }
      rule c on Meeting { when start.weekday == fri score 0.25 }"""
    )
    new = old.replace("priority > 5", "priority > 6").replace("score 0.5", "score 0.4")
    found = compared(old, new)
    assert [difference.rules for difference in found.differences] == [("a",), ("b",), ("a", "b")]
    assert found.differences[0].option["priority"] == 6
    assert found.undecided == 0


def test_a_narrower_domain_makes_options_invalid() -> None:
    new = MEETING.replace("0..=10", "0..=8")
    rule = "rule r on Meeting { when priority > 5 score 0.3 }"
    found = only(compared(MEETING + rule, new + rule))
    assert found.option["priority"] == 9
    assert found.old.total == 300_000_000
    assert found.new.invalid.field == "priority"
    assert found.rules == ()


def test_another_default_shows_where_the_field_is_left_out() -> None:
    rule, other = "rule r on Meeting { when priority > 5 score 0.3 }", MEETING.replace("= 5", "= 6")
    found = only(compared(MEETING + rule, other + rule))
    assert "priority" not in found.option
    unread = "rule r on Meeting { score 1 }"
    assert compared(MEETING + unread, other + unread).equivalent


def test_another_unit_of_the_data_shows() -> None:
    rule = "rule r on Meeting { when length > 2h score 0.3 }"
    found = only(compared(MEETING + rule, MEETING.replace("unit min", "unit h") + rule))
    assert found.option["length"] == 30
    assert (found.old.total, found.new.total) == (0, 300_000_000)


def test_a_renamed_field_of_the_same_column_is_the_same() -> None:
    new = MEETING.replace("priority: int in 0..=10", 'urgency: int in 0..=10 from "priority"')
    old = MEETING + "rule r on Meeting { when priority > 5 score 1 }"
    assert compared(old, new + "rule r on Meeting { when urgency > 5 score 1 }").equivalent


def test_swapped_columns_are_no_renaming() -> None:
    fields = 'schema S {{ a: int in 0..=9 from "{}"  b: int in 0..=9 from "{}" }} rule r on S {{ when a > b score 1 }}'
    found = compared(fields.format("x", "y"), fields.format("y", "x"))
    assert not found.equivalent
    assert compared(fields.format("x", "y"), fields.format("x", "y")).equivalent


def test_what_reads_other_values_is_not_the_same_for_being_written_the_same() -> None:
    fields = "schema S {{ a: duration unit {}  b: duration unit min }} rule r on S {{ when a > b {} score 1 }}"
    found = compared(fields.format("min", "and a > 5min"), fields.format("h", "and a > 5min"))
    assert not found.equivalent


def test_scores_that_read_other_values_are_not_the_same() -> None:
    fields = "schema S {{ a: duration unit {} }} rule r on S {{ score ramp(a, 1h, 3h) }}"
    assert not compared(fields.format("min"), fields.format("h")).equivalent


def test_another_zone_is_not_claimed_to_be_equivalent() -> None:
    rule = MEETING + "rule r on Meeting { when start.time < 09:00 score 1 }"
    found = compared(rule, rule + ' timezone "Asia/Tokyo"')
    assert not found.equivalent
    assert found.differences
    days = MEETING + "rule r on Meeting { when today.weekday == sat score 1 }"
    assert not compared(days, days + ' timezone "Asia/Tokyo"').equivalent


def test_another_resolution_of_scores_that_vary_is_left_undecided() -> None:
    rule = MEETING + RAMP + "rule up on Meeting { score 0.1 priority 2 }"
    assert not compared(rule, rule + " resolve Meeting by priority").equivalent


def test_contexts_and_days() -> None:
    context = 'context { mood: "calm" | "busy" = "calm" }\n'
    old = MEETING + context + "rule r on Meeting { score 1 }"
    new = MEETING + context + 'rule r on Meeting { when mood == "calm" score 1 }'
    assert only(compared(old, new)).context == {"mood": "busy"}
    ended = only(compared(old, old.replace("score 1", "score 1 valid ..2027-01-01")))
    assert ended.context == {"mood": "calm", "now": "2027-01-01T00:00:00+00:00"}
    past = old.replace("score 1", "score 1 valid 2020-01-01..")
    assert compared(old, past).equivalent


def test_another_way_to_resolve() -> None:
    old = (
        MEETING
        + """rule a on Meeting { when priority > 5 score 1 priority 2 }
      rule b on Meeting { when kind == "external" score -0.5 }"""
    )
    found = compared(old, old + "resolve Meeting by priority")
    assert found.differences
    assert all(d.option["priority"] > 5 and d.option["kind"] == "external" for d in found.differences)
    assert compared(
        MEETING + "rule a on Meeting { score 1 }", MEETING + "resolve Meeting by priority rule a on Meeting { score 1 }"
    ).equivalent


def test_a_schema_that_one_program_alone_scores() -> None:
    old = MEETING + "rule a on Meeting { score 1 }"
    new = "schema Trip { hours: int in 0..=24 } rule t on Trip { when hours > 3 score 1 }"
    found = compared(old, new)
    assert {(d.schema, d.rules) for d in found.differences} == {("Meeting", ("a",)), ("Trip", ("t",))}
    assert {d.schema: (d.old is None, d.new is None) for d in found.differences} == {
        "Meeting": (False, True),
        "Trip": (True, False),
    }


def test_what_is_not_decided_is_not_equivalent() -> None:
    old = MEETING + "rule a on Meeting { when start.minute * 7 > priority * 30 score 1 }"
    new = MEETING + "rule a on Meeting { when start.minute * 7 >= priority * 30 + 1 score 1 }"
    found = compared(old, new)
    assert not found.equivalent
    assert found.undecided > 0 or found.differences


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rule = 'rule r on Meeting {{ when start.time in 13:00{}14:00 and kind == "external" score -0.5 }}'
    (tmp_path / "old.ucl").write_text(MEETING + rule.format(".."))
    (tmp_path / "new.ucl").write_text(MEETING + rule.format("..="))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_prints_witnesses_that_score_replays(pair: Path) -> None:
    ran = run_here("diff", "old.ucl", "new.ucl", "--format", "json")
    assert ran.status == 1
    (told,) = ran.lines
    assert set(told) == {"equivalent", "undecided", "differences"}
    (found,) = told["differences"]
    (pair / "row.jsonl").write_text(json.dumps(found["option"]))
    (pair / "context.json").write_text(json.dumps(found["context"]))
    for name in ("old", "new"):
        scored = run_here("score", f"{name}.ucl", "row.jsonl", "--context", "context.json", "--format", "json")
        assert scored.lines == [found[name]]


def test_the_command_says_so_in_words(pair: Path) -> None:
    ran = run_here("diff", "old.ucl", "new.ucl")
    assert ran.status == 1
    assert "2026-03-03T14:00:00" in ran.out
    assert "-0.5 r" in ran.out
    same = run_here("diff", "old.ucl", "old.ucl")
    assert (same.status, same.out.split(":")[0]) == (0, "equivalent")
    assert run_here("diff", "old.ucl", "missing.ucl").status == 2
