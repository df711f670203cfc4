"""What a trace tells of one option, against what is known of it."""

from __future__ import annotations

from typing import Any

from small_programs import (
    BIG,
    call_of,
    compiled,
    read,
    schema_of,
)

from ucl.semantics.evaluate import (
    score_options,
)
from ucl.semantics.outcome import NANO, Invalid, Reason
from ucl.semantics.trace import RuleTrace, trace

TRACED = """
schema S { start: datetime  n: int  m: float? }
rule up on S {
  when start.time in 12:00..13:00 and present(m) and m > 1 unless n > 7
  score 0.5 except when n == 5 score 0.25 except when n > 4 score 0.125
}
rule off on S overrides up { when n == 6 score -1 }
rule asleep on S { score 1 valid 2027-01-01.. }
constraint c on S { require n < 7 when n > 5 }
"""


def traced(n: int, m: float | None, clock: str = "12:30") -> dict[str, RuleTrace]:
    program = compiled(TRACED)
    options = read(program, {"start": f"2026-03-04T{clock}", "n": n, "m": m})
    call = call_of(program)
    told = trace(program, schema_of(program), options, 0, call)
    assert told.outcome == score_options(program, schema_of(program), options, call)[0]
    return {rule.declaration.name: rule for rule in told.rules}


def read_by(expressions: Any) -> list[list[tuple[str, Any]]]:
    return [[(r.name, r.value) for r in test.reads] for test in expressions]


def test_a_trace_tells_what_was_looked_at() -> None:
    up = traced(5, 2.0)["up"]
    assert [test.holds for test in up.when] == [True, True, True]
    assert read_by(up.when) == [[("start.time", 45_000_000_000)], [("m", 2.0)], [("m", 2.0)]]
    assert [(test.holds, test.needed) for test in up.unless] == [(False, True)]
    assert [(test.holds, test.needed) for test in up.exceptions] == [(True, True), (None, False)]
    assert up.taken is not None
    assert (up.applies, up.fires, up.contribution, up.silenced_by) == (True, True, 250_000_000, ())


def test_a_trace_does_not_look_at_what_was_not_needed() -> None:
    up = traced(5, None)["up"]
    assert [(test.holds, test.needed) for test in up.when] == [(True, True), (False, True), (None, False)]
    assert [test.needed for test in up.unless] == [False]
    assert (up.applies, up.fires, up.contribution, up.taken) == (False, False, None, None)


def test_a_trace_tells_who_silenced_and_what_is_violated() -> None:
    told = traced(6, 2.0)
    assert (told["up"].applies, told["up"].fires, told["up"].silenced_by) == (True, False, ("off",))
    assert (told["off"].fires, told["off"].contribution) == (True, -NANO)
    assert (told["asleep"].valid, told["asleep"].applies, told["asleep"].fires) == (False, True, False)
    assert told["c"].require is not None
    assert (told["c"].require.holds, told["c"].violated) == (True, False)
    assert traced(7, 2.0)["c"].violated


def test_a_trace_tells_what_priority_dropped_and_what_failed() -> None:
    program = compiled(f"""
    schema S {{ n: int }}
    resolve S by priority
    rule up on S {{ score 0.5 priority 2 }}
    rule down on S {{ score -0.5 }}
    rule big on S {{ when n > 1 score n * {BIG} }}
    """)
    call = call_of(program)
    fine, failing = (trace(program, schema_of(program), [{"n": n}], 0, call) for n in (1, BIG))
    dropped = [(rule.dropped, rule.contribution) for rule in fine.rules]
    assert dropped == [(False, NANO), (True, -NANO // 2), (False, None)]
    assert fine.outcome.total == NANO
    assert failing.rules[2].failed is Reason.OVERFLOW
    assert failing.outcome.invalid == Invalid("big", Reason.OVERFLOW)
