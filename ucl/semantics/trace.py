"""Why an option scores as it does: the meaning, told declaration by declaration.

In: what `evaluate` takes, for one option of a batch. Out: its `Outcome` and a trace for each rule and constraint on its
schema, silent ones too. Every answer comes from the functions that score: nothing is worked out a second time here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.evaluate.options import (
    Judgement,
    Record,
    Ruleset,
    frames,
    in_source_order,
    judge,
    outcome_of,
)
from ucl.semantics.expressions import STEPS, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, Invalid, Outcome, Reason
from ucl.semantics.program import Constraint, Expr, Program, Rule, Schema, ScoreException, Status


@frozen
class Read:
    """A value that a test looked at: `name` as one writes it (`start.time` has read `start`), and its expression."""

    name: str
    value: Any
    expr: Expr


@frozen
class Test:
    """One conjunct of a `when`, or a whole `unless`, `except when` or `require`.

    `holds` is None where it overflows; and where it was not needed, since what came before had decided: then `needed`
    is False and nothing was looked at.
    """

    __test__: ClassVar[bool] = False  # no test of pytest's

    expr: Expr
    holds: bool | None
    needed: bool
    reads: tuple[Read, ...]


@frozen
class RuleTrace:
    """What became of one declaration.

    `valid` says whether today lies in its `valid`. `when` has the conjuncts in order (none: it always holds), `unless`
    and `exceptions` a test each, `require` that of a constraint. `taken` is the exception whose score counts.
    `silenced_by` names active declarations that override it and apply. `contribution` is in units of 10^-9, None for
    what does not fire; where `priority` dropped it, it is what it would have added.
    """

    declaration: Rule | Constraint
    valid: bool
    applies: bool
    fires: bool
    violated: bool
    when: tuple[Test, ...]
    unless: tuple[Test, ...]
    exceptions: tuple[Test, ...]
    require: Test | None
    taken: ScoreException | None
    silenced_by: tuple[str, ...]
    contribution: int | None
    dropped: bool
    failed: Reason | None


@frozen
class Trace:
    outcome: Outcome
    rules: tuple[RuleTrace, ...]


def trace(
    program: Program,
    schema: Schema,
    options: Sequence[Record | Invalid],
    row: int,
    call: Call,
    groups: Sequence[Hashable] | None = None,
    steps: int = STEPS,
) -> Trace:
    """The trace of `options[row]`, which must be a valid record; the others are its choice set."""
    return trace_in(program, schema, frames(options, call, groups, steps)[row])


def trace_in(program: Program, schema: Schema, frame: Frame) -> Trace:
    """The trace of the option of a frame, in the frame's choice set."""
    rules = Ruleset.of(program, schema, frame.call.today)
    declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
    with bounded():
        judgement = judge(rules, frame)
        traces = tuple(_traced(d, rules, judgement, frame) for d in in_source_order(program, declared))
    return Trace(outcome_of(rules, judgement, frame.call), traces)


def _traced(declaration: Rule | Constraint, rules: Ruleset, judgement: Judgement, frame: Frame) -> RuleTrace:
    """What is not needed is not looked at: it may be without meaning where what comes before does not hold."""
    name = declaration.name
    when = _tests(_conjuncts(declaration.when), frame, until=False)
    held = all(test.holds for test in when)
    unless = _tests(declaration.unless, frame, until=True, needed=held)
    applies = held and all(test.holds is False for test in unless)
    silenced_by = tuple(other for other in rules.silencers.get(name, ()) if other in judgement.applying)
    fires = name in judgement.fired
    exceptions: tuple[Test, ...] = ()
    require, taken = None, None
    if isinstance(declaration, Rule):
        conditions = [exception.condition for exception in declaration.exceptions]
        exceptions = _tests(conditions, frame, until=True, needed=fires)
        taken = next((e for e, test in zip(declaration.exceptions, exceptions, strict=True) if test.holds), None)
    elif declaration.require is not None:
        # Of a constraint in shadow, whether it would be kept is told too.
        in_shadow = declaration.meta.status is Status.SHADOW and applies and not silenced_by
        (require,) = _tests((declaration.require,), frame, until=True, needed=fires or in_shadow)
    return RuleTrace(
        declaration=declaration,
        valid=declaration.meta.valid.holds(frame.call.today),
        applies=applies,
        fires=fires,
        violated=name in judgement.violated,
        when=when,
        unless=unless,
        exceptions=exceptions,
        require=require,
        taken=taken,
        silenced_by=silenced_by,
        contribution=judgement.contributions.get(name),
        dropped=name in judgement.dropped,
        failed=judgement.failed.get(name),
    )


# --- tests ----------------------------------------------------------------------------------------------------------


def _conjuncts(when: Expr | None) -> tuple[Expr, ...]:
    if when is None:
        return ()
    return when.operands if isinstance(when, p.And) else (when,)


def _tests(conditions: Iterable[Expr], frame: Frame, until: bool, needed: bool = True) -> tuple[Test, ...]:
    """A test of each condition; after the first with the answer `until`, or that overflows, they are not needed."""
    tests: list[Test] = []
    for condition in conditions:
        test = _test(condition, frame) if needed else Test(condition, None, False, ())
        needed = needed and test.holds is (not until)
        tests.append(test)
    return tuple(tests)


def _test(expr: Expr, frame: Frame) -> Test:
    reads: list[Read] = []
    try:
        holds: bool | None = bool(evaluate(expr, replace(frame, watch=lambda part, value: _note(reads, part, value))))
    except Overflow:
        holds = None
    return Test(expr, holds, True, tuple(reads))


def _note(reads: list[Read], part: Expr, value: Any) -> None:
    """Keeps what the option, the context and the memory gave, each once; a local part stands for its whole."""
    match part:
        case p.Apply(arguments=(p.OptionValue() | p.ContextValue() as whole,)):
            if reads and reads[-1].expr is whole:
                reads.pop()
        case p.OptionValue() | p.ContextValue() | p.Comprehension() | p.BatchValue() | p.DefCall():
            pass
        case p.MemoryValue() if not isinstance(part.type, t.List):
            pass
        case _:
            return
    name = written(part)
    if all(read.name != name for read in reads):
        reads.append(Read(name, value, part))


def written(expr: Expr) -> str:
    """The expression as its source says it, on one line."""
    return " ".join(expr.span.source.text[expr.span.start : expr.span.end].split())
