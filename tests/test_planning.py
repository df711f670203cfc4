"""Plans that are kept over calls and edits say what fresh plans say, and are kept where nothing asks for another."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import PROGRAMS, TABLES, Table
from test_kernels_equal import assert_equal, call_of, patient

from ucl.diagnostics import Source
from ucl.editing import Versions
from ucl.kernels.planning import Planner
from ucl.semantics.program import Program

DAY = 86_400_000_000


@settings(max_examples=60, **patient)
@given(PROGRAMS, TABLES, st.integers(0, 2**32), st.sampled_from(["calm", "busy"]))
def test_over_edits_and_calls_it_is_as_if_lowered_anew(source: str, table: Table, seed: int, mood: str) -> None:
    chance, versions, planner = random.Random(seed), Versions(), Planner()
    lines = source.splitlines()
    bodies = [line for line in lines if line.startswith(("rule", "constraint"))]
    header = [line for line in lines if line not in bodies]
    memory = {"visits": table.visits}
    for _ in range(4):
        kept = [line for line in bodies if chance.random() < 0.8]
        if chance.random() < 0.3:
            chance.shuffle(kept)
        checked, _ = versions.check(Source("p.ucl", "\n".join([*header, *kept])))
        if checked is None:  # what is overridden was dropped
            continue
        call = call_of(checked[0], context={"mood": chance.choice([mood, "calm"]), "level": None}, memory=memory)
        assert_equal(checked[0], table.options, call, planner=planner)


TEXT = """
schema S { n: int  start: datetime }
memory limit: int = 3
context { level: int = 1 }
rule plain on S { when n > 3 score 0.5 }
rule remembers on S { when n > limit score 0.25 }
rule asks on S { when n > context.level score 0.125 }
"""


def opened(text: str) -> Program:
    checked, report = Versions().check(Source("s.ucl", text))
    assert checked is not None, list(report)
    return checked[0]


def test_a_plan_is_kept_until_the_program_reads_something_else() -> None:
    program, planner = opened(TEXT), Planner()
    call = call_of(program, context={"level": 1}, memory={"limit": 3})
    first = planner.plan(program, program.schemas["S"], call)
    later = planner.plan(program, program.schemas["S"], replace(call, now=call.now + 2 * DAY, today=call.today + 2))
    assert later.scoring is first.scoring
    assert later.call.today == call.today + 2
    for changed in (replace(call, context={"level": 2}), replace(call, memory={"limit": 4})):
        assert planner.plan(program, program.schemas["S"], changed).scoring is not first.scoring


def test_a_program_that_reads_the_clock_is_planned_for_each_moment() -> None:
    definition = "def near(s: datetime) -> bool = s < context.now + 1d\n"
    program, planner = opened(TEXT + definition + "rule soon on S { when near(start) score 0.5 }"), Planner()
    call = call_of(program, context={"level": 1}, memory={"limit": 3})
    first = planner.plan(program, program.schemas["S"], call)
    assert planner.plan(program, program.schemas["S"], call).scoring is first.scoring
    assert planner.plan(program, program.schemas["S"], replace(call, now=call.now + 1)).scoring is not first.scoring


def test_a_program_with_days_is_planned_for_each_day() -> None:
    program, planner = opened(TEXT + "rule soon on S { when n > 1 valid ..2026-06-01 score 0.5 }"), Planner()
    call = call_of(program, context={"level": 1}, memory={"limit": 3})
    first = planner.plan(program, program.schemas["S"], call)
    later = planner.plan(program, program.schemas["S"], replace(call, today=call.today + 100))
    assert len(later.outcomes.fired) == len(first.outcomes.fired) - 1


def test_what_edits_leave_behind_is_bounded() -> None:
    versions, planner = Versions(), Planner()
    sizes = []
    for version in range(40):
        rules = [f"rule r{n} on S {{ when n > {n * 1000 + version} score 0.5 }}" for n in range(20)]
        checked, _ = versions.check(Source("s.ucl", "schema S { n: int }\n" + "\n".join(rules)))
        assert checked is not None
        plan = planner.plan(checked[0], checked[0].schemas["S"], call_of(checked[0], context={}, memory={}))
        sizes.append(len(plan.graph.masks))
    assert max(sizes) <= 4 * sizes[0]
