"""Proofs and counterexamples of promises, held to what every option says; who is blamed; how small examples are."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from cli_runs import run_here
from promises import NOW, compiled, every_call, every_option, numeric_source, random_source, some_numbers

from ucl.analysis.points import call_of, option_of
from ucl.analysis.properties import Answer, Counterexample, Proved, Prover, Undecided, analyse_properties, to_blame
from ucl.diagnostics import Severity
from ucl.semantics.calendar import weekday_of_days
from ucl.semantics.evaluate import property_holds, satisfies, score_option
from ucl.semantics.outcome import Call
from ucl.semantics.program import Prefer, Program, Property
from ucl.testing.verdicts import Verdict, verdicts


def prover_of(source: str, now: int = NOW) -> Prover:
    program = compiled(source)
    return Prover(program, program.properties[0].schema, now)


def answers(source: str, now: int = NOW) -> dict[str, Answer]:
    prover = prover_of(source, now)
    return {promise.name: prover.prove(promise) for promise in prover.promises}


def answer(source: str, now: int = NOW) -> Answer:
    """Of the only promise."""
    (found,) = answers(source, now).values()
    return found


def is_broken(program: Program, promise: Property | Prefer) -> bool:
    """By asking every option in every context."""
    for call in every_call():
        if isinstance(promise, Property):
            if any(property_holds(program, promise, option, call) is False for option in every_option()):
                return True
            continue
        totals = [(o, score_option(program, promise.schema, o, call).total) for o in every_option()]
        valid = [(option, total) for option, total in totals if total is not None]
        better = [total for option, total in valid if satisfies(promise.better, option, call)]
        worse = [total for option, total in valid if satisfies(promise.worse, option, call)]
        if better and worse and min(better) < max(worse):
            return True
    return False


@pytest.mark.parametrize("seed", range(10))
def test_answers_are_those_of_every_option(seed: int) -> None:
    program = compiled(random_source(seed))
    prover = Prover(program, program.schemas["S"], NOW)
    for promise in prover.promises:
        found = prover.prove(promise)
        assert isinstance(found, Counterexample) == is_broken(program, promise), promise.name
        assert not isinstance(found, Undecided)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_answers_are_those_of_every_option_in_a_long_campaign(seed: int) -> None:
    """300 programs: about a minute."""
    test_answers_are_those_of_every_option(seed)


def the_solver_says_what_every_option_says(seeds: range) -> None:
    told = 0
    for seed in seeds:
        program = compiled(random_source(seed))
        prover = Prover(program, program.schemas["S"], NOW)
        for promise in prover.promises:
            found = prover.prove(promise, cells=0)
            told += not isinstance(found, Undecided)
            if not isinstance(found, Undecided):
                assert isinstance(found, Counterexample) == is_broken(program, promise), (seed, promise.name)
    assert told > 0.9 * 4 * len(seeds)


def test_the_solver_says_what_every_option_says() -> None:
    """Alone, where cells would do as well: never wrong, and seldom undecided."""
    the_solver_says_what_every_option_says(range(12))


@pytest.mark.slow
def test_the_solver_says_what_every_option_says_in_a_long_campaign() -> None:
    """200 programs: about a minute."""
    the_solver_says_what_every_option_says(range(200, 400))


def no_option_breaks_what_is_proved(seeds: range, samples: int) -> None:
    proved = 0
    for seed in seeds:
        program = compiled(numeric_source(seed))
        prover = Prover(program, program.schemas["N"], NOW)
        options = some_numbers(random.Random(seed), samples)
        for promise in prover.promises:
            if isinstance(prover.prove(promise), Proved):
                proved += 1
                assert not breaks(program, promise, options), (seed, promise.name)
    assert proved > len(seeds)


def breaks(program: Program, promise: Property | Prefer, options: list[tuple[dict[str, Any], Call]]) -> bool:
    if isinstance(promise, Property):
        return any(property_holds(program, promise, option, call) is False for option, call in options)
    totals: dict[tuple[float, str], list[int]] = {}
    for option, call in options:
        total = score_option(program, promise.schema, option, call).total
        for side, condition in (("better", promise.better), ("worse", promise.worse)):
            if total is not None and satisfies(condition, option, call):
                totals.setdefault((call.context["budget"], side), []).append(total)
    budgets = {budget for budget, _ in totals}
    return any(min(totals.get((b, "better"), [2**62])) < max(totals.get((b, "worse"), [-(2**62)])) for b in budgets)


def test_no_option_breaks_what_is_proved() -> None:
    """Sums of fields, doubles, scores that vary: options at the edges of everything that is asked."""
    no_option_breaks_what_is_proved(range(12), 200)


@pytest.mark.slow
def test_no_option_breaks_what_is_proved_in_a_long_campaign() -> None:
    """250 programs, 600 options each: about a minute."""
    no_option_breaks_what_is_proved(range(100, 350), 600)


@pytest.mark.parametrize("cells", [1, 7, 60])
def test_looking_in_parts_finds_the_same(cells: int) -> None:
    """A cap so small that the view is split, again and again; past its work the answer is undecided, never wrong."""
    for seed in range(6):
        program = compiled(random_source(seed))
        prover = Prover(program, program.schemas["S"], NOW)
        for promise in prover.promises:
            found = prover.prove(promise, cells)
            if not isinstance(found, Undecided):
                assert isinstance(found, type(prover.prove(promise)))


# --- what the core decides ------------------------------------------------------------------------------------------

MEETING = """
timezone "America/New_York"
schema Meeting {
  start: datetime  title: text = ""  place: text?  attendees: set<text> = {}  days: set<weekday> = {}
  price: float in 0..=100 = 1  priority: int in 0..=10 = 5  length: duration = 30min
}
"""


def decided(rules: str, given: str, expect: str) -> Answer:
    return answer(f"{MEETING} {rules} property p on Meeting {{ given {given} expect {expect} }}")


@pytest.mark.parametrize(
    ("when", "given"),
    [
        ('contains(title, "seat")', 'contains(title, "window seat")'),
        ('contains(title, "seat")', 'ends_with(title, "the seat")'),
        ('starts_with(title, "a")', 'title in {"a", "abc"}'),
        ('starts_with(title, "re:")', 'like(title, "re: *")'),
        ('contains(lower(title), "ab")', 'contains(lower(title), "xabx")'),
        ("length(title) < 4", 'title in {"abc", "", "x"}'),
        ('(place ?? "home") == "home"', "absent(place)"),
        ('overlaps(attendees, {"ann", "bo"})', '"ann" in attendees'),
        ('not subset(attendees, {"ann"})', '"bo" in attendees'),
        ('"ann" in attendees', 'subset({"ann", "bo"}, attendees)'),
        ("size(attendees) > 1", 'subset({"ann", "bo"}, attendees)'),
        ('any(a in attendees where ends_with(a, "@x.org"))', '"ann@x.org" in attendees'),
        ("overlaps(days, {sat, sun})", "subset({sun}, days)"),
        ("price > 2.5", "price >= 2.6"),
        ("price * 2 > 5", "price > 2.5"),
        ("priority - 1 >= 3", "priority > 3"),
        ("length.hours >= 1", "length >= 60min"),
        ("length > 45min", "length + 15min > 1h"),
        ("start.weekday == tue", "start.date == 2026-03-03"),
        ("start.hour == 13", "start.time in 13:00..14:00"),
        ("start.month == 2", "start.date in 2026-02-01..=2026-02-28"),
        ("start.year > 2025", "start >= 2026-01-01T00:00"),
        ("night_of(start) == fri", "start.weekday == sat and start.time < 06:00"),
        ("start.time in 22:00..06:00", "start.time >= 23:30"),
        ("start.day > 28", "start.month == 2 and start.day == 29"),
    ],
)
def test_one_condition_implies_another(when: str, given: str) -> None:
    rule = f"rule r on Meeting {{ when {when} score 1 }}"
    assert decided(rule, given, "fires(r)") == Proved()
    turned = decided(rule, "true", "fires(r)")
    assert isinstance(turned, Counterexample)


def test_sets_of_many_closed_values_hold_others_too() -> None:
    values = " | ".join(f'"v{number}"' for number in range(12))
    source = f"""schema S {{ tags: set<{values}> = {{}} }}
      rule few on S {{ when subset(tags, {{"v1", "v2"}}) score 1 }}
      property p on S {{ given "v1" in tags expect fires(few) }}"""
    assert isinstance(answer(source), Counterexample)


def test_texts_of_a_long_list() -> None:
    values = ", ".join(f'"v{number}"' for number in range(200))
    source = f"""schema S {{ code: text in {{{values}}} }}
      rule odd on S {{ when ends_with(code, "7") score 1 }}
      property p on S {{ given contains(code, "7") expect fires(odd) }}
      property q on S {{ given code in {{"v7", "v17"}} expect fires(odd) }}"""
    found = answers(source)
    assert isinstance(found["p"], Counterexample)
    assert found["q"] == Proved()


@pytest.mark.parametrize(
    ("given", "expect"),
    [
        ('contains(title, "seat")', "fires(r)"),
        ("price >= 2.5 and price <= 2.5", "fires(r)"),
        ("true", "not (fires(r) and fires(s))"),
    ],
)
def test_what_does_not_follow_is_shown(given: str, expect: str) -> None:
    rules = """rule r on Meeting { when contains(title, "window seat") or price > 2.5 score 1 }
               rule s on Meeting { when contains(title, "aisle") score 1 }"""
    assert isinstance(decided(rules, given, expect), Counterexample)


def test_the_clock_never_shows_what_a_gap_skips() -> None:
    rule = "rule r on Meeting { when start.time in 02:15..02:45 score 1 }"
    assert decided(rule, "start.date == 2026-03-08", "not fires(r)") == Proved()
    assert isinstance(decided(rule, "start.date == 2026-03-09", "not fires(r)"), Counterexample)


def test_an_instant_after_a_fold_shows_its_hour_again() -> None:
    rule = "rule r on Meeting { when start.time in 01:15..01:45 score 1 }"
    given = "start > 2026-11-01T06:00Z and start.date == 2026-11-01"
    assert isinstance(decided(rule, given, "not fires(r)"), Counterexample)


def test_pieces_in_an_order_are_not_claimed_to_be_proved() -> None:
    rule = 'rule r on Meeting { when contains(title, "b") score 1 }'
    assert isinstance(decided(rule, 'like(title, "a*b*c")', "fires(r)"), Undecided)


def test_what_cannot_be_decided_may_be_anything() -> None:
    seen = 'count(v in visits where v.place == (place ?? ""))'
    rules = f"""schema Visit {{ place: text }} memory visits: list<Visit>
               rule often on Meeting {{ when {seen} > 3 score 0.5 }}
               rule never on Meeting {{ when {seen} > 3 and {seen} < 2 score 1 }}
               rule early on Meeting {{ when start.time < 09:00 score -0.25 }}"""
    assert decided(rules, "true", "score >= -0.25 and score <= 1.5") == Proved()
    assert isinstance(decided(rules, "true", "score <= 0.5"), Undecided)
    shown = decided(rules, "start.time < 08:00", "score <= 0")
    assert isinstance(shown, Counterexample)
    assert len(shown.point.values["memory", ("visits",)]) > 3


def test_a_score_that_varies_is_known_by_its_ends() -> None:
    rules = """rule dear on Meeting { when price > 10 score -0.5 * ramp(price, 10, 100) }
               rule first on Meeting { when priority > 8 score 0.25 }"""
    assert decided(rules, "price <= 10", "score >= 0 and not contested") == Proved()
    assert decided(rules, "true", "score >= -0.5 and score <= 0.25") == Proved()
    assert not isinstance(decided(rules, "true", "score >= -0.25"), Proved)
    assert decided(rules, "price > 90 and priority < 9", "score < 0") == Proved()
    assert decided(rules, "price > 55 and priority < 9", "score <= -0.25") == Proved()
    assert isinstance(decided(rules, "price > 54 and priority < 9", "score <= -0.25"), Counterexample)
    assert decided(rules, "true", "score > 1 or not (score > 0.25)") == Proved()
    assert decided(rules, "true", "score < -0.3 or score > -0.4") == Proved()


# --- what the solver decides ----------------------------------------------------------------------------------------

FAR = """
timezone "Europe/Berlin"
schema Trip {
  starts: datetime  ends: datetime  a: int in 0..=1000  b: int in 0..=1000
  x: float  y: float  price: float in 0.0..=90.0
}
context { budget: float in 0.0..=100.0 = 50.0 }
"""


def solved(when: str, given: str, expect: str = "fires(r)") -> Answer:
    return answer(
        f"{FAR} rule r on Trip {{ when {when} score 0.5 }} property p on Trip {{ given {given} expect {expect} }}"
    )


@pytest.mark.parametrize(
    ("when", "given"),
    [
        ("ends - starts > 2h", "ends - starts >= 3h"),
        ("ends > starts + 2h", "ends - starts >= 3h"),
        ("b > 300", "a + b > 1200 and a < 900"),
        ("a != b", "2 * a == 2 * b + 2"),
        ("a >= b or b > a", "true"),
        ("x + y > 0.3", "x >= 0.11 and y >= 0.2"),
        ("price <= budget", "price * 2 < budget"),
        ("price < budget + 1.0", "price <= budget and budget > 20.0"),
    ],
)
def test_sums_and_differences_are_decided(when: str, given: str) -> None:
    assert solved(when, given) == Proved()
    assert isinstance(solved(when, "a == a" if given == "true" else "true", "not fires(r)"), Counterexample)


@pytest.mark.parametrize(
    ("when", "given"),
    [
        # So in doubles, by a hair: 0.1 + 0.2 is above 0.3.
        ("x + y > 0.3", "x == 0.1 and y == 0.2"),
        # Not so in doubles: what is added is lost.
        ("x + 100000000000000000.0 - 100000000000000000.0 > 0.5", "x > 1.0"),
        ("x + y - y > 0.5", "x > 1.0"),
        ("(x + y) * 3 > x * 3 + y * 3 - 0.1", "true"),
        ("x * y >= 0.0", "x > 0.0 and y > 0.0"),
    ],
)
def test_what_rounding_or_products_may_break_is_not_claimed(when: str, given: str) -> None:
    assert not isinstance(solved(when, given), Proved)


def test_many_fields_and_rules_are_decided() -> None:
    """Some 10^14 cells: the best and the worst that sixty rules can add up to."""
    chance = random.Random(1)
    fields = [f"f{number}" for number in range(14)]

    def rule(number: int) -> str:
        parts = (f"{name} in {chance.randint(0, 4)}..={chance.randint(5, 9)}" for name in chance.sample(fields, 2))
        return f"rule r{number} on S {{ when {' and '.join(parts)} score {chance.choice(['0.5', '-0.5', '-0.3'])} }}"

    rules_ = "\n".join(map(rule, range(60)))
    source = f"""schema S {{ {" ".join(f"{name}: int in 0..=9" for name in fields)} }} {rules_}
      property low on S {{ given f0 > 3 expect score > -20 }}
      property high on S {{ given f0 > 3 expect score < 2 }}
      prefer third on S {{ better f3 > 8 worse f3 < 2 }}"""
    found = answers(source)
    assert found["low"] == Proved()
    assert isinstance(found["high"], Counterexample)
    assert isinstance(found["third"], Counterexample)


def test_priority_decides_between_scores_that_vary() -> None:
    rules = """resolve Meeting by priority
               rule dear on Meeting { when price > 10 score -0.5 * ramp(price, 10, 100) priority 2 }
               rule first on Meeting { when priority > 8 score 0.25 }"""
    assert decided(rules, "price > 20", "score < 0 and not contested") == Proved()
    assert decided(rules, "priority == 9", "score <= 0.25") == Proved()
    assert isinstance(decided(rules, "priority == 9", "score >= 0"), Counterexample)


def test_a_preference_between_scores_that_vary() -> None:
    source = """schema P { price: float in 0.0..=100.0  stars: int in 1..=5 }
      context { thrift: float in 0.0..=1.0 = 0.5 }
      rule dear on P { score -0.4 * ramp(price, 20, 80) }
      rule good on P { when stars > 3 score 0.5 }
      prefer good_ones on P { better stars > 3  worse stars <= 3 }
      prefer cheap_ones on P { better price < 20 and thrift > 0.5  worse price > 50 and stars < 3 and thrift > 0.2 }
      prefer cheap_first on P { better price < 40  worse price > 50 }"""
    found = answers(source)
    assert found["good_ones"] == Proved()
    assert found["cheap_ones"] == Proved()
    assert isinstance(found["cheap_first"], Counterexample)


def test_what_one_rule_adds_does_not_wait_for_others() -> None:
    rules = """rule dear on Meeting { when price > 10 score -ramp(price, 10, 100) }
               rule first on Meeting { when priority > 8 score 0.5 }"""
    assert decided(rules, "priority == 9", "contribution(first) == 0.5") == Proved()
    assert isinstance(decided(rules, "priority >= 8", "contribution(first) == 0.5"), Counterexample)


def test_rows_that_overflow_keep_every_promise() -> None:
    source = """schema S { n: int }
      rule r on S { when n + 1 > n score 1 }
      property p on S { given n > 9223372036854775800 expect fires(r) }"""
    found = answer(source)
    assert not isinstance(found, Counterexample)


# --- days -----------------------------------------------------------------------------------------------------------

DATED = """schema S { n: int in 0..=9 }
rule good on S { score 1 valid ..2027-01-01 }
rule bad on S { when n > 5 score -2 valid 2027-06-01.. }
"""


def test_a_promise_holds_on_all_days_to_come() -> None:
    prover = prover_of(DATED + "property p on S { expect score > 0 }")
    found = prover.prove(prover.promises[0])
    assert isinstance(found, Counterexample)
    call = call_of(prover.side, found.point)
    assert call.today == 20_819  # 2027-01-01, the first day without the rule
    assert verdict_of(DATED + "property p on S { expect score > 0 }").to_json()["counterexample"]["context"] == {
        "now": "2027-01-01T00:00:00+00:00"
    }


def test_a_promise_holds_where_the_rules_that_it_names_are_valid() -> None:
    assert answer(DATED + "property p on S { given n <= 5 expect fires(good) and score > 0 }") == Proved()
    assert answer(DATED + "property p on S { expect score > 0 valid ..2027-01-01 }") == Proved()
    gone = answer(DATED + "property p on S { expect not fires(good) }", now=1_900_000_000_000_000)
    assert gone == Proved(vacuous=True)


def test_conditions_on_today_and_now() -> None:
    source = """schema S { n: int in 0..=9 }
      rule weekend on S { when today.weekday in sat..=sun score -1 }
      property p on S { given today.weekday == wed expect score == 0 }
      property q on S { given now.hour < 12 expect score == 0 }"""
    found = answers(source)
    assert found["p"] == Proved()
    assert isinstance(found["q"], Counterexample)
    prover = prover_of(source)
    call = call_of(prover.side, found["q"].point)
    assert weekday_of_days(call.today) > 4
    assert call.now >= NOW


# --- counterexamples ------------------------------------------------------------------------------------------------

LATER = """schema Dish { spice: int in 0..=10  vegetarian: bool  name: text = ""  served: datetime }
rule likes_it_hot on Dish { when spice >= 5 score 0.5 from chat "c1" at 2026-01-05 }
rule no_meat on Dish { when not vegetarian score -0.75 from chat "c2" at 2026-02-05 }
rule weekday on Dish { when served.weekday in mon..=fri score 0.1 }
property hot_is_good on Dish {
  given spice >= 5
  expect score > 0
  because "I like it hot"
  from chat "c1" at 2026-01-05
}
"""


def verdict_of(source: str, samples: int = 0) -> Verdict:
    (found,) = verdicts(compiled(source), NOW, samples)
    return found


def test_a_counterexample_is_what_people_would_write() -> None:
    found = verdict_of(LATER).found
    assert found is not None
    told = verdict_of(LATER).to_json()["counterexample"]
    assert told["option"] == {
        "spice": 5,
        "vegetarian": False,
        "name": "",
        "served": "2026-03-03T12:00:00+00:00",
    }
    assert told["total"] == -0.15
    assert told["rules"] == ["no_meat"]


@pytest.mark.parametrize(
    ("rules", "expect", "blamed"),
    [
        ("rule a on D { when n > 3 score 1 } rule b on D { when n > 5 score -2 }", "score > 0", ["b"]),
        ("rule a on D { when n > 3 score 1 } rule b on D overrides a { when n > 5 score 0 }", "fires(a)", ["b"]),
        ("rule a on D { when n > 3 unless n > 5 score 1 }", "fires(a)", ["a"]),
        ("rule a on D { score -1 } rule b on D { score -2 }", "score > 0", ["a", "b"]),
        ("rule a on D { score 1 } constraint c on D { forbid when n == 7 }", "feasible", ["c"]),
    ],
)
def test_who_is_blamed(rules: str, expect: str, blamed: list[str]) -> None:
    prover = prover_of(f"schema D {{ n: int in 0..=9 }} {rules} property p on D {{ given n > 3 expect {expect} }}")
    found = prover.prove(prover.promises[0])
    assert isinstance(found, Counterexample)
    assert list(to_blame(prover, prover.promises[0], found)) == blamed


def test_a_preference_is_judged_in_one_context() -> None:
    source = """schema P { far: bool  stars: int in 1..=5 }
      context { hurry: bool = false }
      rule near on P { when hurry and not far score 1 }
      rule good on P { when not hurry and stars > 3 score 0.5 }
      prefer close on P { better not far  worse far }
      prefer close_and_good on P { better not far and stars > 3  worse far }"""
    prover = prover_of(source)
    found = {promise.name: prover.prove(promise) for promise in prover.promises}
    assert found["close_and_good"] == Proved()
    broken = found["close"]
    assert isinstance(broken, Counterexample)
    assert broken.worse is not None
    context = call_of(prover.side, broken.point).context
    assert context == {"hurry": False} == call_of(prover.side, broken.worse).context
    assert option_of(prover.side, broken.worse)["stars"] > 3


def test_a_finding_for_check() -> None:
    (found,) = analyse_properties(compiled(LATER), NOW)
    assert (found.code, found.severity, found.certainty) == ("broken-property", Severity.ERROR, "certain")
    assert found.rules == ("hot_is_good", "no_meat")
    assert "I like it hot" in found.message
    assert found.witness is not None
    assert found.witness.total == -0.15


@pytest.mark.parametrize("status", ["shadow", "retired"])
def test_a_promise_that_is_not_active_fails_nothing(status: str) -> None:
    source = LATER.replace('from chat "c1" at 2026-01-05\n}', f"status {status}\n}}")
    assert analyse_properties(compiled(source), NOW) == []
    assert not any(verdict.fails for verdict in verdicts(compiled(source), NOW, 0))


# --- samples --------------------------------------------------------------------------------------------------------


def test_samples_find_what_proofs_leave_open() -> None:
    source = """schema S { a: int in 0..=1000  b: int in 0..=1000 }
      rule r on S { when a > b score 1 }
      property sums on S { given a + b > 1200 and a < 900 expect not fires(r) }
      property always on S { expect score >= 0 }
      property ramps on S { given a < b expect score <= b * 0.0 }"""
    found = {v.promise.name: v for v in verdicts(compiled(source), NOW, 400)}
    assert str(found["sums"].outcome) == "broken"
    assert str(found["always"].outcome) == "proved"
    assert str(found["ramps"].outcome) == "held"
    assert found["ramps"].samples > 50


def test_samples_agree_with_proofs_and_are_the_same_each_time() -> None:
    for seed in range(2):
        program = compiled(random_source(seed))
        first, again = (verdicts(program, NOW, 60, seed=5) for _ in range(2))
        assert [v.to_json() for v in first] == [v.to_json() for v in again]
        for verdict in first:
            assert (str(verdict.outcome) == "broken") == is_broken(program, verdict.promise)


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_prints_a_line_for_each_promise(tmp_path: Any) -> None:
    (tmp_path / "dish.ucl").write_text(LATER + "prefer hot on Dish { better spice > 7 worse spice <= 7 }")
    ran = run_here("test", tmp_path / "dish.ucl", "--format", "json", "--samples", "50")
    assert ran.status == 1
    assert [(line["property"], line["status"]) for line in ran.lines] == [("hot_is_good", "broken"), ("hot", "broken")]
    assert set(ran.lines[0]) == {"property", "status", "samples", "counterexample", "message"}
    assert "no_meat" in ran.lines[0]["message"]


def test_the_first_lines_say_which_statement_is_broken(tmp_path: Any) -> None:
    (tmp_path / "dish.ucl").write_text(LATER)
    ran = run_here("test", tmp_path / "dish.ucl", "--samples", "50")
    first = "\n".join(ran.out.splitlines()[:3])
    assert "hot_is_good" in first
    assert "no_meat" in first
    assert '"I like it hot" (chat "c1", 2026-01-05)' in first


def test_every_way_to_tell_says_who_broke_which_statement(tmp_path: Any) -> None:
    """Within the first three lines of text, and in the message of JSON."""
    (tmp_path / "dish.ucl").write_text(LATER)
    said = '"I like it hot" (chat "c1", 2026-01-05)'
    told = run_here("test", tmp_path / "dish.ucl", "--samples", "50", "--format", "json").lines[0]["message"]
    diagnostics = json.loads(run_here("check", tmp_path / "dish.ucl", "--format", "json").out)["diagnostics"]
    (found,) = (d for d in diagnostics if d["code"] == "broken-property")
    _, _, text = run_here("check", tmp_path / "dish.ucl").out.partition("error[broken-property]")
    text = "\n".join(text.splitlines()[:3])
    for words in (told, found["message"], text):
        assert "`hot_is_good`" in words
        assert "`no_meat`" in words
        assert said in words
    assert found["rules"] == ["hot_is_good", "no_meat"]


def test_coverage_counts_rules_exceptions_and_constraints(tmp_path: Any) -> None:
    program = """schema S { n: int in 0..=9 }
      rule a on S { when n > 2 score 1 except when n > 6 score 2 except when n > 4 score 3 }
      rule b on S overrides a { when n == 9 score 0 }
      constraint c on S { require n < 8 when n > 5 }"""
    (tmp_path / "s.ucl").write_text(program)
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"n": n}) for n in range(10)))
    words = ["--format", "json", "--coverage", "--table", str(tmp_path / "rows.jsonl")]
    ran = run_here("test", tmp_path / "s.ucl", *words)
    assert ran.status == 0
    assert ran.lines == [
        {"rule": "a", "rows": 10, "applied": 7, "fired": 6, "overridden": 1, "exceptions": [2, 2]},
        {"rule": "b", "rows": 10, "applied": 1, "fired": 1, "overridden": 0, "exceptions": []},
        {"constraint": "c", "rows": 10, "applied": 4, "fired": 4, "overridden": 0, "violated": 2},
    ]


@pytest.mark.parametrize("command", ["check", "build", "test"])
@pytest.mark.parametrize(
    ("code", "program"),
    [
        ("never-applies", "rule dead on S { when n > 9 score 1 }"),
        ("nothing-feasible", "constraint a on S { forbid when n > 3 } constraint b on S { require n > 5 }"),
        ("broken-property", "rule a on S { when n > 3 score -1 } property q on S { expect score >= 0 }"),
        ("broken-property", "rule a on S { when n > 3 score -1 } prefer q on S { better n > 2 worse n <= 2 }"),
        ("empty-range", "rule a on S { when n in 5..3 score 1 }"),
    ],
)
def test_errors_that_only_the_analysis_finds_fail(command: str, code: str, program: str, tmp_path: Any) -> None:
    """A program that is right otherwise, and keeps another promise."""
    source = f"module rules.s schema S {{ n: int in 0..=9 }} {program} property p on S {{ expect score <= 1 }}"
    (tmp_path / "s.ucl").write_text(source)
    more = {"check": [], "build": ["-o", tmp_path / "built"], "test": ["--samples", "20"]}[command]
    ran = run_here(command, tmp_path / "s.ucl", *more)
    assert ran.status == 1
    assert ("broken" if command == "test" and code == "broken-property" else code) in ran.out + ran.err
    assert not (tmp_path / "built").exists()


def test_warnings_fail_nothing(tmp_path: Any) -> None:
    source = """module rules.s schema S { n: int in 0..=9 }
      rule a on S { when n > 3 score 1 } rule b on S { when n > 5 score -1 }"""
    (tmp_path / "s.ucl").write_text(source)
    assert run_here("build", tmp_path / "s.ucl", "-o", tmp_path / "built").status == 0
    assert "conflict" in run_here("check", tmp_path / "s.ucl").out


def test_a_program_with_mistakes_is_not_tested(tmp_path: Any) -> None:
    (tmp_path / "s.ucl").write_text("rule r on Nowhere { score 1 }")
    ran = run_here("test", tmp_path / "s.ucl", "--format", "json")
    assert (ran.status, ran.out) == (1, "")
    assert "no property" not in run_here("test", tmp_path / "s.ucl").err
    assert run_here("test", tmp_path / "missing.ucl").status == 2
