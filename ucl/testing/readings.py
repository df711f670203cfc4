"""What the compiled kernels say of promises, for whole tables: the program with probes in it.

In: a prover's program and promises, a batch. Out: for each promise the options of which it says something and those for
which it holds; for each `prefer` the options of both sides and their totals. A probe is a shadow rule, which changes
nothing: one for each condition, and for each rule whose `fires` or `applies` somebody speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.analysis.cells.survey import speaks
from ucl.analysis.properties import Promise, Prover
from ucl.analysis.properties.spoken import Fact, answers, facts_in
from ucl.frozen import frozen
from ucl.kernels.lower import lower
from ucl.kernels.run import Details, Scores, details, score
from ucl.semantics import program as p
from ucl.semantics.outcome import Decision
from ucl.semantics.parts import children
from ucl.semantics.program import Constraint, Expr, Meta, Program, Property, Rule, Status
from ucl.semantics.types import FLOAT
from ucl.testing.samples import Batch

Bits = NDArray[np.bool_]
_ROWS_AT_ONCE = 1 << 15
"""Rows whose details are in memory together."""


@frozen
class Reading:
    """For each row: whether the promise says something of it and, where it does, whether it holds."""

    says: Bits
    holds: Bits


@frozen
class Sides:
    """For each row: whether it is of the better and of the worse kind, and its total in units of 10^-9."""

    better: Bits
    worse: Bits
    totals: NDArray[np.int64]


class Probes:
    """A program with shadow rules in it whose effects are read off."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rules: list[Rule] = []
        self._silenced: dict[str, list[str]] = {}

    def condition(
        self, schema: p.Schema, expr: Expr | None, unless: Sequence[Expr] = (), valid: p.Validity = p.ALWAYS
    ) -> str:
        """The name of a probe that fires where the condition holds; no name of a program has a blank."""
        name = f"probe {len(self._rules)}"
        span = schema.span
        meta = Meta(valid=valid, status=Status.SHADOW)
        zero = p.Const(FLOAT, span, 0.0)
        self._rules.append(Rule(name, schema, (), expr, tuple(unless), zero, (), meta, None, span))
        return name

    def applies(self, declared: Rule | Constraint) -> str:
        return self.condition(declared.schema, declared.when, declared.unless)

    def fires(self, declared: Rule | Constraint) -> str:
        """Whoever silences the rule silences its probe."""
        name = self.condition(declared.schema, declared.when, declared.unless, declared.meta.valid)
        self._silenced.setdefault(declared.name, []).append(name)
        return name

    def program(self) -> Program:
        rules = tuple(self._probing(rule) for rule in self._program.rules)
        constraints = tuple(self._probing(constraint) for constraint in self._program.constraints)
        return replace(self._program, rules=(*rules, *self._rules), constraints=constraints)

    def _probing(self, declared: Any) -> Any:
        more = tuple(probe for name in declared.overrides for probe in self._silenced.get(name, ()))
        return replace(declared, overrides=(*declared.overrides, *more)) if more else declared


@frozen
class Told:
    """One batch's scores and details."""

    scores: Scores
    details: Details

    def probe(self, name: str) -> Bits:
        found: Bits = self.details.shadow[:, self.details.shadows.index(name)]
        return found


def told(program: Program, schema: p.Schema, batch: Batch) -> Told:
    """Each option is a choice set by itself, as the definition has it."""
    rows = batch.columns.rows
    alone = np.arange(rows, dtype=np.int64)
    plan = lower(program, schema, batch.call)
    scores = score(plan, batch.columns, groups=alone)
    parts = [
        details(plan, batch.columns, slice(start, min(start + _ROWS_AT_ONCE, rows)), alone)
        for start in range(0, max(rows, 1), _ROWS_AT_ONCE)
    ]
    return Told(scores, _joined(parts))


def _joined(parts: Sequence[Details]) -> Details:
    """The names of the first, and the rows of all."""
    rows: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("fired", "violated", "shadow", "counted", "contributions")
    }
    return replace(parts[0], **rows)


class Reader:
    """Reads promises off batches."""

    def __init__(self, prover: Prover) -> None:
        self._prover = prover
        self._probes = Probes(prover.program)
        self._names: dict[int, str] = {}
        for promise in prover.promises:
            self._note(promise)
        self._facts = {fact: self._probe_of(fact) for promise in prover.promises for fact in _facts(promise)}
        self._program = self._probes.program()

    def _note(self, promise: Promise) -> None:
        if isinstance(promise, Property):
            conditions = [part for expr in promise.expect for part in _unspoken(expr)]
            conditions += [] if promise.given is None else [promise.given]
        else:
            conditions = [promise.better, promise.worse]
        for condition in conditions:
            self._names[id(condition)] = self._probes.condition(promise.schema, condition)

    def _probe_of(self, fact: Fact) -> str | None:
        """None where it is told by the scores, or never so."""
        if not isinstance(fact, p.RuleFact) or fact.kind == "contribution":
            return None
        declared = self._prover.declarations.declared[fact.rule]
        if fact.kind == "applies":
            return self._probes.applies(declared)
        return self._probes.fires(declared) if declared.meta.status is Status.ACTIVE else None

    def read(self, batch: Batch) -> Iterator[tuple[Promise, Reading | Sides]]:
        """Every promise that says something on the day of the call."""
        found = told(self._program, self._prover.side.schema, batch)
        for promise in self._prover.promises:
            if self._prover.on_its_days(promise, batch.call.today):
                yield promise, self._one(promise, found)

    def _one(self, promise: Promise, found: Told) -> Reading | Sides:
        return self._property(promise, found) if isinstance(promise, Property) else self._sides(promise, found)

    def _sides(self, prefer: p.Prefer, found: Told) -> Sides:
        better, worse = (found.probe(self._names[id(side)]) for side in (prefer.better, prefer.worse))
        return Sides(better & found.scores.valid, worse & found.scores.valid, found.scores.total)

    def _property(self, prop: Property, found: Told) -> Reading:
        says = found.scores.valid.copy()
        if prop.given is not None:
            says &= found.probe(self._names[id(prop.given)])
        holds = np.ones(len(says), np.bool_)
        for expr in prop.expect:
            holds &= self._truth(expr, found)
        return Reading(says, holds)

    def _truth(self, expr: Expr, found: Told) -> Bits:
        """Where a condition overflows it may be told as false: who finds something replays it."""
        if id(expr) in self._names:
            return found.probe(self._names[id(expr)])
        match expr:
            case p.And(operands=operands):
                return np.asarray(np.all([self._truth(part, found) for part in operands], axis=0))
            case p.Or(operands=operands):
                return np.asarray(np.any([self._truth(part, found) for part in operands], axis=0))
            case p.Not(operand=operand):
                return ~self._truth(operand, found)
            case p.If(condition=condition, then=then, otherwise=otherwise):
                c = self._truth(condition, found)
                return np.where(c, self._truth(then, found), self._truth(otherwise, found))
            case _:
                return self._leaf(expr, found)

    def _leaf(self, expr: Expr, found: Told) -> Bits:
        """By evaluating it once for each combination of what it speaks of. One that reads the option beside it holds
        as far as this goes: it is tried row by row (`row_by_row`)."""
        if self._prover.side.inputs.read_by(expr):
            return np.ones(len(found.scores.valid), np.bool_)
        facts = list(dict.fromkeys(facts_in(expr)))
        values = np.stack([self._fact(fact, found) for fact in facts])
        return answers(expr, facts, values, self._prover.side.frame({}))

    def row_by_row(self, promise: Promise) -> bool:
        """Whether `expect` compares what it speaks of with what it reads, which only `evaluate` can tell."""
        inputs = self._prover.side.inputs
        return isinstance(promise, Property) and any(
            inputs.read_by(leaf) for expr in promise.expect for leaf in _spoken_leaves(expr)
        )

    def _fact(self, fact: Fact, found: Told) -> NDArray[np.int64]:
        scores = found.scores
        match fact:
            case p.RuleFact(kind="contribution", rule=rule):
                if rule not in found.details.rules:
                    return np.zeros(len(scores.total), np.int64)
                column = found.details.rules.index(rule)
                amounts: NDArray[np.int64] = found.details.contributions[:, column]
                return np.where(found.details.counted[:, column], amounts, 0)
            case p.RuleFact():
                name = self._facts[fact]
                return np.zeros(len(scores.total), np.int64) if name is None else found.probe(name).astype(np.int64)
            case p.OutcomeValue(name="score"):
                return scores.total
            case p.OutcomeValue(name="feasible"):
                return scores.feasible.astype(np.int64)
            case p.OutcomeValue(name="contested"):
                return scores.contested.astype(np.int64)
            case _:
                return decisions(scores)


def decisions(scores: Scores) -> NDArray[np.int64]:
    """The place of each row's decision in their list; of invalid rows it means nothing."""
    place = {decision: number for number, decision in enumerate(Decision)}
    by_total = np.where(scores.total >= 0, place[Decision.ACCEPT], place[Decision.SUGGEST_ALTERNATIVE])
    asked = np.where(scores.contested, place[Decision.ASK_USER], by_total)
    return np.where(scores.feasible, asked, place[Decision.INFEASIBLE])


def _facts(promise: Promise) -> list[Fact]:
    return [fact for expr in promise.expect for fact in facts_in(expr)] if isinstance(promise, Property) else []


def _unspoken(expr: Expr) -> Iterator[Expr]:
    yield from _leaves(expr, lambda part: not speaks(part))


def _spoken_leaves(expr: Expr) -> Iterator[Expr]:
    yield from _leaves(expr, speaks)


def _leaves(expr: Expr, wanted: Callable[[Expr], bool]) -> Iterator[Expr]:
    """The largest conditions inside that speak of no outcome, and the smallest that do, as far as they are wanted."""
    if isinstance(expr, p.And | p.Or | p.Not | p.If) and speaks(expr):
        for part in children(expr):
            yield from _leaves(part, wanted)
    elif wanted(expr):
        yield expr
