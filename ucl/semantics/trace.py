"""Why an option scores as it does: the meaning, told declaration by declaration.

In: what `evaluate` takes, for one option of a batch. Out: its `Outcome` and a trace for each rule and constraint on its
schema, silent ones too. Every answer comes from the functions that score: nothing is worked out a second time here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ucl.semantics import program as p
from ucl.semantics.evaluate.options import (
    Judgement,
    Record,
    Ruleset,
    exception_taken,
    frames,
    in_source_order,
    judge,
    outcome_of,
)
from ucl.semantics.expressions import STEPS, Budget, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, Invalid, Outcome, Reason
from ucl.semantics.program import Constraint, Expr, Program, Rule, Schema, ScoreException


@dataclass(frozen=True, slots=True)
class Read:
    """A value that a test looked at: `name` as one writes it (`start.time` has read `start`), and its expression."""

    name: str
    value: Any
    expr: Expr


@dataclass(frozen=True, slots=True)
class Test:
    """One conjunct of a `when` (or a whole `unless`, `except when` or `require`). `holds` is None where it overflows,
    and where an earlier conjunct had decided before it was needed: then `needed` is False."""

    expr: Expr
    holds: bool | None
    needed: bool
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class RuleTrace:
    """What became of one declaration.

    `valid` says whether today lies in its `valid`. `when` has the conjuncts in order (none: it always holds), `unless`
    and `exceptions` a test each; `require` is a constraint's. `silenced_by` names active declarations that override it
    and apply. `contribution` is in units of 10^-9, None for what does not fire; where `priority` dropped it, it is what
    it would have added. `taken` is the exception whose score counts.
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


@dataclass(frozen=True, slots=True)
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
    rules = Ruleset.of(program, schema, call.today)
    declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
    with bounded():
        frame = frames(options, call, groups, Budget(steps))[row]
        judgement = judge(rules, frame)
        traces = tuple(_traced(d, rules, judgement, frame) for d in in_source_order(program, declared))
    return Trace(outcome_of(rules, judgement, call), traces)


def _traced(declaration: Rule | Constraint, rules: Ruleset, judgement: Judgement, frame: Frame) -> RuleTrace:
    name, fires = declaration.name, declaration.name in judgement.fired
    is_rule = isinstance(declaration, Rule)
    when = _conjuncts(declaration.when, frame)
    unless = tuple(_test(expr, frame) for expr in declaration.unless)
    requires = None if is_rule or declaration.require is None else _test(declaration.require, frame)
    return RuleTrace(
        declaration=declaration,
        valid=declaration.meta.valid.holds(frame.call.today),
        applies=all(test.holds for test in when) and not any(test.holds for test in unless),
        fires=fires,
        violated=name in judgement.violated,
        when=when,
        unless=unless,
        exceptions=tuple(_test(e.condition, frame) for e in declaration.exceptions) if is_rule else (),
        require=requires,
        taken=_taken(declaration, frame) if is_rule and fires else None,
        silenced_by=tuple(other for other in rules.silencers.get(name, ()) if other in judgement.applying),
        contribution=judgement.contributions.get(name),
        dropped=name in judgement.dropped,
        failed=judgement.failed.get(name),
    )


def _taken(rule: Rule, frame: Frame) -> ScoreException | None:
    try:
        return exception_taken(rule, frame)
    except Overflow:
        return None


# --- tests ----------------------------------------------------------------------------------------------------------


def _conjuncts(when: Expr | None, frame: Frame) -> tuple[Test, ...]:
    """Each operand of a top `and`, up to the first that decides; the rest are shown as not needed."""
    operands = () if when is None else when.operands if isinstance(when, p.And) else (when,)
    tests: list[Test] = []
    for operand in operands:
        decided = any(not test.holds for test in tests)
        tests.append(Test(operand, None, False, ()) if decided else _test(operand, frame))
    return tuple(tests)


def _test(expr: Expr, frame: Frame) -> Test:
    try:
        holds: bool | None = bool(evaluate(expr, frame))
    except Overflow:
        holds = None
    return Test(expr, holds, True, tuple(_reads(expr, frame)))


def _reads(expr: Expr, frame: Frame) -> Iterator[Read]:
    """What the option, the context and the memory gave to a test, each once, in the order of the text.

    Local parts are shown whole (`start.time`, not `start`), as are the answers of comprehensions and definitions.
    """
    seen: set[str] = set()
    for part in _looked_at(expr):
        name = written(part)
        if name in seen:
            continue
        seen.add(name)
        try:
            yield Read(name, evaluate(part, frame), part)
        except Overflow:
            continue


def _looked_at(expr: Expr) -> Iterator[Expr]:
    match expr:
        case p.OptionValue() | p.ContextValue() | p.MemoryValue() | p.Comprehension() | p.BatchValue() | p.DefCall():
            yield expr
        case p.Apply(arguments=(p.OptionValue() | p.ContextValue(),)):
            yield expr
        case p.Const() | p.LetValue():
            return
        case _:
            for child in children(expr):
                yield from _looked_at(child)


def children(expr: Expr) -> Iterator[Expr]:
    """The expressions that stand directly in an expression, in the order of the text."""
    for field in fields(expr):
        value = getattr(expr, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, p.Typed):
                yield item  # type: ignore[misc]  # every node of the union is Typed, and only they are


def written(expr: Expr) -> str:
    """The expression as its source says it, on one line."""
    return " ".join(expr.span.source.text[expr.span.start : expr.span.end].split())
