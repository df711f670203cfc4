"""Short ways through lowering lead to the very plan that the long ones do, and what is kept is never half done."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from strategies import PROGRAMS
from test_kernels_equal import NOW, assert_equal, call_of, compiled, patient

from ucl.diagnostics import Source
from ucl.editing import Versions
from ucl.frozen import collector_paused
from ucl.kernels.lower import lower
from ucl.kernels.lowering import expressions, rules
from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.graph import Graph
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.plan import FALSE, TRUE, HasValue, Plan
from ucl.kernels.planning import Planner
from ucl.semantics.expressions import Exhausted
from ucl.semantics.program import Program

SCHEMA = "schema S { n: int  f: float  t: text  b: bool  start: datetime  tags: set<text>  k: int? }\n"


def program_of(text: str) -> Program:
    program = compiled(SCHEMA + text)
    assert program is not None
    return program


def plan_of(program: Program, **given: Any) -> Plan:
    return lower(program, program.schemas["S"], call_of(program, **given))


@settings(max_examples=60, **patient)
@given(PROGRAMS)
def test_a_test_that_was_met_is_what_its_parts_are_lowered_to(source: str) -> None:
    program = compiled(source)
    assume(program is not None)
    assert program is not None
    short = plan_of(program)
    with mock.patch.object(expressions, "KEYS", {}):
        long = plan_of(program)
    assert short.graph.masks == long.graph.masks
    assert short.values == long.values
    assert short.outcomes == long.outcomes
    assert (short.wanted.masks, short.wanted.values) == (long.wanted.masks, long.wanted.values)


TESTS = (
    "n in 3..5",
    "n in 3..=5",
    "n in 3..",
    "n in ..5",
    "n >= 3",
    "n >= 3.0",
    "n > 3",
    "3 < n",
    "n == 3",
    "n != 3",
    "f >= 0.0",
    "f >= -0.0",
    "f > 0.0",
    "f >= 9007199254740993",
    "f >= 9007199254740992.0",
    "f > 9007199254740992.0",
    "n >= 9007199254740993",
    "n >= 9007199254740992.0",
    't == "a"',
    't in {"a"}',
    't in {"a", "b"}',
    'contains(t, "a")',
    'starts_with(t, "a")',
    "b == true",
    "b == false",
    'overlaps(tags, {"a"})',
    'subset(tags, {"a"})',
    '"a" in tags',
    "start.weekday in {mon}",
    "start.weekday == mon",
    "start.weekday in mon..=tue",
    "start.weekday in tue..=mon",
    "start.time in 09:00..17:00",
    "start.time in 17:00..09:00",
    "start.hour in 9..17",
    "start.hour == 9",
    "present(k) and k >= 3",
    "size(tags) >= 3",
)


def test_tests_that_differ_in_anything_are_told_apart() -> None:
    """Whichever was met first."""
    edges = (2, 3, 4, 5, 6, 2**53, 2**53 + 1, 2**53 + 2)
    options = [
        {
            "n": n,
            "f": float(n) if row % 3 else -0.0,
            "t": "abc"[row % 3],
            "b": row % 2 == 0,
            "start": NOW + row * 13 * 3_600_000_000,
            "tags": frozenset("abcd"[: row % 5]),
            "k": None if row % 2 else n,
        }
        for row, n in enumerate(edges)
    ]
    for tests in (TESTS, TESTS[::-1]):
        program = program_of("".join(f"rule r{i} on S {{ when {test} score 1 }}\n" for i, test in enumerate(tests)))
        assert_equal(program, options, call_of(program))


# --- what is kept over versions -------------------------------------------------------------------------------------


def versions_of(*texts: str) -> list[Program]:
    versions, programs = Versions(), []
    for text in texts:
        checked, report = versions.check(Source("s.ucl", SCHEMA + text))
        assert checked is not None, list(report)
        programs.append(checked[0])
    return programs


FIRST = "rule a on S { when n > 3 score 0.5 }\nrule c on S { when n > 5 score 0.25 * n except when b score -1 }\n"
BEFORE = "rule before on S { when n > 1 score 0.125 }\n"


def test_rules_that_have_other_numbers_say_the_same() -> None:
    options = [
        {"n": n, "f": 0.0, "t": "", "b": n % 2 == 0, "start": 0, "tags": frozenset(), "k": None} for n in range(9)
    ]
    planner = Planner()
    for program in versions_of(FIRST, BEFORE + FIRST, FIRST):
        assert_equal(program, options, call_of(program, context={}, memory={}), planner=planner)


def test_versions_that_want_the_same_masks_share_a_schedule() -> None:
    planner = Planner()
    first, other_score, other_rule = versions_of(FIRST, FIRST.replace("0.5", "0.75"), BEFORE + FIRST)
    plans = [
        planner.plan(p, p.schemas["S"], call_of(p, context={}, memory={})) for p in (first, other_score, other_rule)
    ]
    assert plans[1].scoring is plans[0].scoring
    assert plans[1].constant_amounts.tolist() != plans[0].constant_amounts.tolist()
    assert plans[2].scoring is not plans[0].scoring


def test_calls_of_one_program_share_what_was_found_of_its_plan() -> None:
    (program,), planner = versions_of(FIRST), Planner()
    call = call_of(program, context={}, memory={})
    first = planner.plan(program, program.schemas["S"], call)
    detailed = first.detailed
    later = planner.plan(program, program.schemas["S"], replace(call, now=call.now + 1))
    assert later.call.now == call.now + 1
    assert later.detailed is detailed
    assert later.scoring is first.scoring


def test_lowering_that_broke_off_is_taken_up_from_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call may run out of steps anywhere; the next one has all of the rule."""
    before, after = versions_of(FIRST, FIRST.replace("score -1", "score -2"))
    planner, call = Planner(), call_of(before, context={}, memory={})
    planner.plan(before, before.schemas["S"], call)
    with monkeypatch.context() as broken:
        broken.setattr(rules._Scores, "_add", fail_once_done(rules._Scores._add))
        with pytest.raises(Exhausted):
            planner.plan(after, after.schemas["S"], call)
    plan = planner.plan(after, after.schemas["S"], call)
    assert sorted(c.amount or 0 for c in plan.outcomes.contributions) == sorted(
        c.amount or 0 for c in plan_of(after, context={}, memory={}).outcomes.contributions
    )


def fail_once_done(add: Callable[..., None]) -> Callable[..., None]:
    def failing(*arguments: Any) -> None:
        add(*arguments)
        raise Exhausted

    return failing


# --- the graph ------------------------------------------------------------------------------------------------------


def test_a_conjunction_is_the_same_whatever_it_is_put_together_from() -> None:
    graph = Graph()
    a, b, c, d = (graph.test(HasValue((name,))) for name in "abcd")
    assert graph.all_of() == TRUE
    assert graph.all_of(TRUE, TRUE) == TRUE
    assert graph.all_of(a, a) == a
    assert graph.all_of(FALSE, a) == FALSE
    assert graph.all_of(graph.all_of(a, b), graph.all_of(c, d)) == graph.all_of(d, c, b, a, TRUE)
    assert graph.all_of(graph.all_of(a, b), graph.all_of(a ^ 1, c)) == FALSE
    assert graph.all_of(graph.any_of(a, b), a ^ 1, b ^ 1) != TRUE


def test_conjunctions_of_conjunctions_stand_after_what_they_need() -> None:
    graph = Graph()
    tests = [graph.test(HasValue((f"f{n}",))) for n in range(8)]
    long = graph.all_of(*tests)
    either = graph.any_of(tests[0], tests[1])
    deep = graph.all_of(long ^ 1, either)
    deeper = graph.any_of(deep, tests[2])
    made = schedule(graph, [deeper, FALSE])
    (stage,) = made.stages
    known = {made.place[literal] >> 1 for literal in tests} | {0}
    for group in stage.conjunctions:
        assert {operand >> 1 for operand in group.operands.ravel().tolist()} <= known
        known |= set(range(group.first, group.first + len(group.operands)))
    assert made.place[deeper] >> 1 in known
    assert made.place[FALSE] == FALSE
    assert made.rows == len(known)


def test_a_program_without_rules_has_a_schedule() -> None:
    plan = plan_of(program_of(""))
    assert plan.scoring.rows == 1
    assert plan.outcomes.contested == FALSE


def test_each_lowering_has_tests_of_its_own() -> None:
    """Items of a memory have other columns of the same names."""
    program = program_of("rule a on S { when n > 3 score 0.5 }")
    lowering = Lowering(program.schemas["S"], call_of(program))
    (rule,) = program.rules
    assert rule.when is not None
    assert lowering.truth(rule.when) is lowering.truth(rule.when)
    assert not Lowering(program.schemas["S"], call_of(program))._tests


def test_what_is_checked_lowered_and_dropped_leaves_nothing_to_the_collector() -> None:
    """It would be found in the middle of something else, which then takes long."""
    text = FIRST + "let three = 3\ndef far(n: int) -> bool = n > three\nrule d on S { when far(n) score 0.125 }"
    plan_of(program_of(text))  # what is made once
    gc.collect()
    with collector_paused():
        plan = plan_of(program_of(text))
        assert plan.scoring.rows > 1
        del plan
        assert gc.collect() == 0
