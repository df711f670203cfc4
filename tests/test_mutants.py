"""Mutants: which are made, that each is a program, and that what is said of them is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_here
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from promises import HEADER, NOW, every_call, random_source

from ucl.cli import progress
from ucl.diagnostics import Source
from ucl.driver import check_module, check_source
from ucl.semantics.evaluate import property_holds, score_option
from ucl.semantics.program import Program, Property
from ucl.testing.mutants import Asked, Fate, Kind, Mutant, Mutation, Score, mutants_of

EXAMPLE = Path(__file__).parent.parent / "examples" / "meetings" / "meetings.ucl"


def made(source: str, most: int = 1000, seed: int = 0) -> list[Mutant]:
    checked, report = check_module(Source("p.ucl", source))
    assert checked is not None, [d.message for d in report]
    return mutants_of(checked[1], most, seed)[0]


def said(source: str, *kinds: Kind) -> list[str]:
    return [f"{mutant.name}: {mutant.said}" for mutant in made(source) if not kinds or mutant.kind in kinds]


def score(source: str, properties: str = "", **asked: Any) -> Score:
    settings = {"samples": 100, **asked}
    mutation = Mutation(Source("p.ucl", source), None, properties, Asked(NOW, **settings))
    return mutation.score(mutation.verdicts())


# --- which there are ------------------------------------------------------------------------------------------------

S = """timezone "UTC"
schema S { n: int in 0..=9  f: float in 0..=1 = 0.5  b: bool  at: datetime  d: duration = 1h  t: set<text> = {} }
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n > 4", ["`n > 4` turned to `n >= 4`", "`n > 4` made `n > 5`"]),
        ("n <= 4", ["`n <= 4` turned to `n < 4`", "`n <= 4` made `n <= 5`"]),
        ("n == 4", ["`n == 4` turned to `n != 4`", "`n == 4` made `n == 3`", "`n == 4` made `n == 5`"]),
        ("f < 0.25", ["`f < 0.25` turned to `f <= 0.25`", "`f < 0.25` made `f < 0.24`", "`f < 0.25` made `f < 0.26`"]),
        ("f >= 15%", ["`f >= 15%` turned to `f > 15%`", "`f >= 15%` made `f >= 14%`", "`f >= 15%` made `f >= 16%`"]),
        ("d > 90min", ["`d > 90min` turned to `d >= 90min`", "`d > 90min` made `d > 89min`", "… made `d > 91min`"]),
        ("d > 2h", ["… turned to `d >= 2h`", "… made `d > 1h59min`", "… made `d > 2h1min`"]),
        ("d > 1h", ["… turned to `d >= 1h`", "… made `d > 59min`", "… made `d > 1h1min`"]),
        ("not b", ["`not b` without its `not`"]),
        ('"x" not in t', ['`"x" not in t` without its `not`']),
        ("b or n in {1, 2}", ["`and` for `or` in `b or n in {1, 2}`", "1 left out of a set", "2 left out of a set"]),
        (
            "(b and n != 3) or b",
            ["`and` for `or` in `b and n != 3 or b`", "`or` for `and` in `b and n != 3`", *"…" * 3],
        ),
        (
            "n in 3..5",
            ["range start 3 moved to 2", "range start 3 moved to 4", "range end 5 moved to 4", "`3..5` made `3..=5`"],
        ),
        ("n in 3..=5", ["range start 3 moved to 2", "… moved to 4", "range end 5 moved to 6", "`3..=5` made `3..5`"]),
        ("n in 3..", ["range start 3 moved to 2", "range start 3 moved to 4"]),
        (
            "at.time in 00:00..01:00",
            ["… moved to 00:01", "range end 01:00 moved to 00:59", "… moved to 01:01", "… made `00:00..=01:00`"],
        ),
        (
            "at.time in 23:00..24:00",
            ["… moved to 22:59", "… moved to 23:01", "range end 24:00 moved to 23:59", "`23:00..24:00` made …"],
        ),
        (
            "at.weekday in sat..=sun",
            ["range start sat moved to fri", "… moved to sun", "range end sun moved to sat", "… moved to mon"],
        ),
        ("at.date >= 2026-01-01", ["… turned to `at.date > 2026-01-01`", "… made `at.date >= 2025-12-31`"]),
        (
            "at < 2026-01-01T00:00",
            ["… turned to …", "… made `at < 2025-12-31T23:59`", "… made `at < 2026-01-01T00:01`"],
        ),
    ],
)
def test_conditions_are_mistaken_in_one_place(condition: str, expected: list[str]) -> None:
    rule = f"{S} rule r on S {{ when {condition} score 1 }}"
    kinds = set(Kind) - {Kind.SIGN, Kind.WEIGHT, Kind.STATUS}
    told = [each.removeprefix("r: ") for each in said(rule, *kinds)]
    assert len(told) == len(expected), told
    for found, wanted in zip(told, expected, strict=True):
        assert fnmatchcase(found, wanted.replace("…", "*")), (found, wanted)


def test_clauses_are_mistaken_one_by_one() -> None:
    source = f"""{S}
    rule low on S {{ when b score -0.5 priority 4 }}
    rule r on S overrides low {{
      when b
      unless n > 4
      unless f > 0.5
      score 0.5 * n
      except when d > 1h score -0.1
    }}
    rule watched on S {{ when n > 3 score 1 status shadow }}
    rule gone on S {{ when n > 3 score 1 status retired }}
    constraint c on S {{ require b when n > 7 }}
    """
    kinds = (Kind.UNLESS, Kind.EXCEPT, Kind.SIGN, Kind.WEIGHT, Kind.OVERRIDE, Kind.STATUS)
    assert said(source, *kinds) == [
        "low: score -0.5 with its sign flipped",
        "low: `priority` left out",
        "low: weight halved",
        "low: weight doubled",
        "low: switched off",
        "r: `overrides low` left out",
        "r: `unless n > 4` left out",
        "r: `unless f > 0.5` left out",
        "r: score 0.5 * n with its sign flipped",
        "r: `except when d > 1h score -0.1` left out",
        "r: score -0.1 with its sign flipped",
        "r: weight halved",
        "r: weight doubled",
        "r: switched off",
        "watched: switched on",
        "c: switched off",
    ]


def test_what_rules_use_is_mistaken_and_what_nobody_uses_is_not() -> None:
    source = f"""{S}
    let late = 17:00..20:00
    let limit = 2h
    let weight = 0.8
    let idle = 3
    def long(x: duration) -> bool = x > limit
    def unasked(x: int) -> bool = x > 3
    rule r on S {{ when at.time in late and long(d) score weight }}
    property p on S {{ given n > idle and unasked(n) expect score < 1 }}
    """
    assert {line.split(":")[0] for line in said(source)} == {"late", "limit", "long", "r"}
    assert "limit: 2h moved to 1h59min" in said(source)


def test_a_range_of_another_module_is_mistaken_where_it_is_used() -> None:
    source = """import std.dayparts (lunch)
    import std.dayparts
    import std.scheduling (Meeting)
    rule r on Meeting { when start.time in lunch score 1 }
    rule s on Meeting { when start.weekday in dayparts.weekend score 1 }"""
    told = said(source, Kind.END, Kind.ELEMENT)
    assert "r: range end 13:00 moved to 13:01, in place of `lunch`" in told
    assert "s: sat left out of a set, in place of `dayparts.weekend`" in told
    assert any("start.time in 12:00..13:01" in mutant.text for mutant in made(source))


def test_a_way_to_resolve_is_mistaken_too() -> None:
    source = f"{S} resolve S by priority rule r on S {{ when b score 1 }}"
    assert said(source, Kind.RESOLUTION) == ["S: `by weighted` for `by priority`"]


# --- each is a program ----------------------------------------------------------------------------------------------


def test_the_rest_of_the_program_stays_as_it_is_written() -> None:
    source = f"""{S}
    # about r
    rule   r on S {{ when n > 4   # so it is
      score 1 }}
    rule  s on S {{ when   b score 2 }}  # behind
    """
    rest = "    rule  s on S { when   b score 2 }  # behind\n"
    of_r = [mutant for mutant in made(source) if mutant.name == "r"]
    assert of_r
    for mutant in of_r:
        assert rest in mutant.text
        assert "# about r" in mutant.text
        assert "# so it is" in mutant.text
        assert mutant.text.startswith(S)


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 5000))
def test_most_compile_and_none_says_the_same_text(seed: int) -> None:
    source = random_source(seed)
    found = made(source)
    compiled = [check_source(Source("p.ucl", mutant.text))[0] for mutant in found]
    assert sum(program is not None for program in compiled) >= 0.7 * len(found)
    assert all(mutant.text != source for mutant in found)


def test_places_are_those_of_the_program() -> None:
    source = f"{S}rule r on S {{\n  when n > 4\n  score 1\n}}\n"
    places = {mutant.kind: source[mutant.span.start : mutant.span.end] for mutant in made(source)}
    assert places[Kind.COMPARISON] == "n > 4"
    assert places[Kind.VALUE] == "4"
    assert places[Kind.SIGN] == "1"
    assert places[Kind.STATUS] == "r"


def test_a_sample_is_the_same_for_a_seed_and_in_order() -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    every = [mutant.text for mutant in made(source)]
    some, again, other = ([m.text for m in made(source, 20, seed)] for seed in (1, 1, 2))
    assert some == again != other
    assert len(some) == 20
    assert sorted(some, key=every.index) == some


def test_long_sets_and_long_conditions_stay_cheap() -> None:
    elements = ", ".join(f'"p{n}"' for n in range(1500))
    tests = " or ".join(f"n == {n % 10}" for n in range(250))
    source = f"{S} rule r on S {{ when overlaps(t, {{{elements}}}) or {tests} score 1 }}"
    found = made(source, 20)
    dropped = [mutant for mutant in found if mutant.kind is Kind.ELEMENT]
    assert len(found) == 20
    assert len(dropped) <= 8


# --- what becomes of them -------------------------------------------------------------------------------------------

RULES = """
rule up on S { when n > 2 score 0.5 }
rule down on S overrides up { when n > 2 and b score -0.5 unless k == "x" }
constraint never on S { forbid when n == 0 and b }
"""


def test_without_a_promise_nothing_is_noticed() -> None:
    found = score(HEADER + RULES)
    assert found.share == 0
    assert not found.of(Fate.KILLED)
    assert all(each.difference is not None for each in found.of(Fate.SURVIVED))


def test_what_is_promised_is_noticed() -> None:
    promises = """
    property up_exactly on S { given n > 2 and not b expect score == 0.5 }
    property low on S { given n <= 2 expect score == 0 }
    property down_exactly on S { given n > 2 and b and k != "x" expect score == -0.5 }
    property up_for_x on S { given n > 2 and b and k == "x" expect score == 0.5 }
    property not_at_nothing on S { given n == 0 and b expect not feasible }
    property else_fine on S { given n > 0 or not b expect feasible }
    """
    found = score(HEADER + RULES + promises)
    assert [each.mutant.said for each in found.tried if each.fate not in (Fate.KILLED, Fate.EQUIVALENT)] == []
    assert found.share == 1
    assert len(found.tried) > 15


def test_properties_below_the_program_count_and_are_not_mistaken_themselves() -> None:
    promise = "property low on S { given n <= 2 expect score == 0 }"
    alone, more = score(HEADER + RULES), score(HEADER + RULES, promise)
    assert more.made == alone.made
    assert (more.share or 0) > 0
    assert {each.by for each in more.of(Fate.KILLED)} == {"low"}


def test_a_promise_that_is_broken_or_watched_notices_nothing() -> None:
    promises = """
    property broken on S { given n <= 2 expect score == 1 }
    property watched on S { given n <= 2 expect score == 0 status shadow }
    """
    found = score(HEADER + RULES + promises)
    assert set(found.left_out) == {"broken", "watched"}
    assert found.share == 0


FEW = """
schema S { n: int in 0..=4  m: int? in {0, 2}  b: bool  k: "x" | "y"  w: weekday in {tue, sat} }
context { mood: "calm" | "busy" = "calm" }
"""


@cache
def every_option() -> list[dict[str, Any]]:
    values = product(range(5), (None, 0, 2), (False, True), "xy", (1, 5))
    return [dict(zip("nmbkw", each, strict=True)) for each in values]


@cache
def tried(seed: int) -> tuple[Program, Score]:
    source = random_source(seed).replace(HEADER, FEW)
    program, _ = check_source(Source("p.ucl", source))
    assert program is not None
    return program, score(source)


@pytest.mark.parametrize("seed", range(4))
def test_fates_are_what_every_option_says(seed: int) -> None:
    """Asked of every option there is: what is called killed breaks its promise, what survives breaks none, what is
    called equivalent says the same."""
    original, found = tried(seed)
    for each in found.tried[:: max(1, len(found.tried) // 8)]:
        mutant, _ = check_source(Source("p.ucl", each.mutant.text))
        assert mutant is not None
        kept = {p.name: p for p in mutant.properties if isinstance(p, Property) and p.name not in found.left_out}
        if each.fate is Fate.KILLED and each.by in kept:
            assert breaks(mutant, kept[each.by]), each
        if each.fate in (Fate.SURVIVED, Fate.UNDECIDED):
            assert not any(breaks(mutant, promise) for promise in kept.values()), each
        assert (each.fate is Fate.EQUIVALENT) <= says_the_same(original, mutant), each


def breaks(program: Program, promise: Property) -> bool:
    return any(
        property_holds(program, promise, option, call) is False for call in every_call() for option in every_option()
    )


def says_the_same(one: Program, other: Program) -> bool:
    def told(program: Program) -> Iterator[Any]:
        for call in every_call():
            for option in every_option():
                outcome = score_option(program, program.properties[0].schema, option, call)
                yield outcome.total, outcome.feasible, outcome.contested, outcome.decision

    return all(a == b for a, b in zip(told(one), told(other), strict=True))


def test_a_shared_value_is_otherwise_in_the_promise_too() -> None:
    """So that what is called killed is what `uclc test` would fail on."""
    source = f"""{HEADER}
    let limit = 2
    rule up on S {{ when n > limit score 0.5 }}
    property shared on S {{ given n > limit expect score == 0.5 }}"""
    assert {each.fate for each in score(source).tried if each.mutant.name == "limit"} == {Fate.SURVIVED}
    plain = source.replace(
        "given n > limit", "given n > 2 expect score > 0 } property low on S { given n <= 2"
    ).replace("expect score == 0.5", "expect score == 0")
    assert {each.fate for each in score(plain).tried if each.mutant.name == "limit"} == {Fate.KILLED}


# --- the command ----------------------------------------------------------------------------------------------------

PROGRAM = f"""{HEADER}{RULES}
property low on S {{ given n <= 2 expect score == 0 }}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("rules.ucl")
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_the_command_says_how_many_and_shows_survivors(program: Path) -> None:
    ran = run_here("test", program, "--mutate", "--now", "2026-03-01")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("proved  low")
    assert re.match(r"rules\.ucl: \d+ of \d+ mutants killed, [\d.]+%", lines[1])
    place = lines.index("survived   up: weight doubled")
    assert lines[place + 1].startswith("  at rules.ucl:5:")
    assert lines[place + 2].startswith("  option  n: 3")
    assert [line[:10] for line in lines[place + 3 : place + 6]] == ["  context ", "  old     ", "  new     "]


def test_the_command_says_it_as_data(program: Path) -> None:
    ran = run_here("test", program, "--mutate", "--format", "json", "--now", "2026-03-01")
    verdict, found = ran.lines
    assert verdict["property"] == "low"
    assert found["program"] == "rules.ucl"
    assert found["killed"] + found["survived"] + found["equivalent"] + found["undecided"] == found["mutants"]
    assert found["share"] == found["killed"] / (found["mutants"] - found["equivalent"])
    killed = next(each for each in found["tried"] if each["fate"] == "killed")
    assert killed["by"] == "low"
    survivor = next(each for each in found["tried"] if each["fate"] == "survived")
    assert survivor["option"]
    assert survivor["old"] != survivor["new"]


def test_the_command_tries_a_sample(program: Path) -> None:
    ran = run_here("test", program, "--mutate", "--mutants", "5", "--now", "2026-03-01")
    assert " (a sample: 5 of " in ran.out


def test_the_command_shows_how_far_it_is(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phases: list[tuple[str, int | None]] = []
    done: list[int] = []
    monkeypatch.setattr(progress.Progress, "phase", lambda self, name, rows=None: phases.append((name, rows)))
    monkeypatch.setattr(progress.Progress, "rows_done", lambda self, count: done.append(count))
    run_here("test", program, "--mutate", "--mutants", "7", "--now", "2026-03-01")
    assert phases == [("trying mutants", 7)]
    assert sum(done) == 7


# --- with facts -----------------------------------------------------------------------------------------------------

LUNCH = """import std.scheduling (Meeting)
import std.dayparts (after_lunch)
rule avoid_after_lunch on Meeting {
  when start.time in after_lunch
  score -0.8
}
"""
FACT = """{"id": "f1", "source_type": "chat", "source_id": "c42", "extracted_relation": "avoids_meeting_time", \
"subject": "lena", "object": "immediately_after_lunch", "sentiment": -0.8, \
"context": {"utterance": "Not right after lunch"}, "timestamp": "2026-03-04T12:00:00Z"}
"""


@pytest.fixture
def lunch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("facts.jsonl").write_text(FACT, encoding="utf-8")
    path = Path("lunch.ucl")
    path.write_text(LUNCH, encoding="utf-8")
    return path


def test_what_facts_state_kills_mutants(lunch: Path) -> None:
    ran = run_here("test", lunch, "--facts", "facts.jsonl", "--mutate", "--format", "json")
    assert ran.status == 0, ran.err
    *verdicts, found = ran.lines
    assert {verdict["status"] for verdict in verdicts} == {"proved"}
    assert found["share"] >= 0.8
    ends = [each["fate"] for each in found["tried"] if each["kind"] in ("range-end", "open-end", "sign", "status")]
    assert set(ends) == {"killed"}


def test_an_older_statement_that_breaks_is_named_in_its_words(lunch: Path) -> None:
    with lunch.open("a", encoding="utf-8") as file:
        file.write("rule talk on Meeting { when duration > 5min score 2 }\n")
    ran = run_here("test", lunch, "--facts", "facts.jsonl")
    assert ran.status == 1
    assert '"Not right after lunch" (chat "c42", 2026-03-04)' in "".join(ran.out.splitlines()[:3])
    assert ", by talk" in ran.out
    assert "  at lunch.ucl:" not in ran.out


def test_facts_that_are_not_there_are_wrong_use(lunch: Path) -> None:
    assert run_here("test", lunch, "--facts", "nowhere.jsonl").status == 2
    assert run_here("test", lunch, "--facts", "facts.jsonl", "--vocabulary", "nowhere.toml").status == 2
    ran = run_here("test", lunch, "--habits")
    assert (ran.status, "name them: `--facts FILE`" in ran.err) == (2, True)


def test_a_fact_that_cannot_be_read_is_an_error(lunch: Path) -> None:
    Path("facts.jsonl").write_text(f"{FACT}{{}}\n", encoding="utf-8")
    ran = run_here("test", lunch, "--facts", "facts.jsonl")
    assert (ran.status, "this fact has no `source_type`" in ran.err) == (1, True)
    assert "proved  f1_avoids" in ran.out


TRIPS = """schema Trip { leaves: datetime  nights: int = 1 }
schema Guide { name: text = "" }
rule early on Trip { when leaves.time < 07:00 score -0.5 }
rule ann on Guide { when name == "ann" score 0.5 }
"""


def test_facts_are_read_as_facts2tests_reads_them(lunch: Path) -> None:
    """By the schema and the vocabulary that are named; what was only seen is a habit where that is asked for."""
    lunch.write_text(TRIPS, encoding="utf-8")
    Path("words.toml").write_text('[topics]\nhour = "leaves"\n', encoding="utf-8")
    seen = '{"id": "%d", "source_type": "calendar", "extracted_relation": "avoids_hour", "subject": "lena", '
    seen += '"object": "before 7am", "sentiment": -0.6, "timestamp": "2026-01-01"}\n'
    Path("facts.jsonl").write_text("".join(seen % number for number in range(9)), encoding="utf-8")
    words = ["--schema", "Trip", "--vocabulary", "words.toml"]
    assert run_here("test", lunch, "--facts", "facts.jsonl", *words).out == ""
    ran = run_here("test", lunch, "--facts", "facts.jsonl", *words, "--habits", "--format", "json")
    assert ran.status == 0, ran.err
    assert [line["status"] for line in ran.lines] == ["proved", "proved"]
    assert run_here("test", lunch, "--facts", "facts.jsonl", "--schema", "Car").status == 2


@pytest.mark.slow
def test_the_facts_of_the_example_kill_nine_mutants_in_ten() -> None:
    ran = run_here("test", EXAMPLE, "--facts", EXAMPLE.with_name("facts.jsonl"), "--mutate", "--format", "json")
    assert ran.status == 0, ran.err
    found = ran.lines[-1]
    assert found["share"] >= 0.9
    assert found["picked"] == found["made"]
