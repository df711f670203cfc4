"""Rules and constraints to the masks that say what is said of an option: LANGUAGE §9.

In: the rules of a schema on the call's day. Out: `Outcomes`. Follows `semantics.evaluate.options` step by step: what
can't be evaluated counts as not applying in what follows, and the first such in source order is what an invalid row
carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.forms import Fixed, Number
from ucl.kernels.lowering.graph import Graph
from ucl.kernels.lowering.parts.comparisons import at_least
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Contribution,
    Failure,
    Flag,
    Literal,
    Operation,
    Outcomes,
    Wanted,
    negated,
)
from ucl.semantics import program as p
from ucl.semantics.evaluate.options import Ruleset
from ucl.semantics.outcome import MAGNITUDE, NANO, Reason
from ucl.semantics.program import Constraint, Expr, Resolution, Rule


@dataclass(slots=True)
class _Entry:
    """What became of a declaration: where it applies, where finding that out overflows, and how it last scored."""

    declared: Rule | Constraint
    applies: Literal
    over: Literal
    scored: _Scored | None = None


@dataclass(slots=True)
class _Scored:
    """What a rule adds where it fires, by masks that rule each other out; and where finding that out overflows or is
    beyond all scores."""

    fires: Literal
    added: list[Contribution]
    over: Literal = FALSE
    beyond: Literal = FALSE

    def add_constant(self, graph: Graph, rule: int, mask: Literal, weight: float, score: Any) -> None:
        if mask == FALSE:
            return
        weighted = weight * float(score)
        if abs(weighted) <= MAGNITUDE:
            self.added.append(Contribution(rule, mask, round(weighted * NANO), None))
        else:
            self.beyond = graph.any_of(self.beyond, mask)


@dataclass
class Rulebook:
    """What became of each declaration, for whoever lowers the next version of a program into the same graph.

    By the identity of declarations, which an edit elsewhere keeps; each entry holds its declaration alive.
    """

    entries: dict[int, _Entry] = field(default_factory=dict)
    wanted: Wanted | None = None
    """What the last version wanted: where the next one wants the same, they share its schedule."""


def outcomes(lowering: Lowering, ruleset: Ruleset, known: Rulebook) -> Outcomes:
    """The masks of every rule and constraint, and of the whole. What is `known` is not lowered again."""
    graph = lowering.graph
    entries = [_entry(lowering, declared, known) for declared in ruleset.active]
    applying = {entry.declared.name: entry.applies for entry in entries}
    failures: dict[str, list[Failure]] = defaultdict(list)

    def firing(entry: _Entry) -> Literal:
        silencers = ruleset.silencers.get(entry.declared.name)
        if silencers is None:
            return entry.applies
        return graph.all_of(entry.applies, *[negated(applying[silencer]) for silencer in silencers])

    fired: list[Literal] = []
    cases: list[Contribution] = []
    violated: list[Literal] = []
    for entry in entries:
        declared, fires = entry.declared, firing(entry)
        if entry.over != FALSE:
            failures[declared.name].append(Failure(entry.over, declared.name, Reason.OVERFLOW))
        if isinstance(declared, Rule):
            scored = _scored(lowering, entry, declared, len(fired), fires)
            # A row in which it overflows has no magnitude.
            if scored.over != FALSE:
                failures[declared.name].append(Failure(scored.over, declared.name, Reason.OVERFLOW))
            if scored.beyond != FALSE:
                failures[declared.name].append(Failure(scored.beyond, declared.name, Reason.MAGNITUDE))
            cases += scored.added
            fired.append(fires)
        else:
            violated.append(_violated(lowering, declared, fires, failures))
    shadow = []
    for entry in [_entry(lowering, declared, known) for declared in ruleset.shadow]:
        declared, fires = entry.declared, firing(entry)
        shadow.append(fires if isinstance(declared, Rule) else _violated(lowering, declared, fires, None))
    counted = _resolved(lowering, ruleset, cases)
    in_order = tuple(failure for name in applying for failure in failures.get(name, ()))
    return Outcomes(
        rules=tuple([rule.name for rule in ruleset.rules]),
        constraints=tuple([constraint.name for constraint in ruleset.constraints]),
        fired=tuple(fired),
        violated=tuple(violated),
        shadows=tuple([declared.name for declared in ruleset.shadow]),
        shadow=tuple(shadow),
        contributions=tuple([case for case in counted if case.mask != FALSE]),
        infeasible=graph.any_of(*violated),
        contested=_contested(lowering, counted),
        failures=in_order,
        failed=graph.any_of(*(failure.mask for failure in in_order)),
    )


def _entry(lowering: Lowering, declared: Rule | Constraint, known: Rulebook) -> _Entry:
    entry = known.entries.get(id(declared))
    if entry is None:
        holds, over = _condition(lowering, declared)
        applies = holds if over == FALSE else lowering.graph.all_of(holds, negated(over))
        entry = known.entries[id(declared)] = _Entry(declared, applies, over)
    return entry


def _condition(lowering: Lowering, declared: Rule | Constraint) -> tuple[Literal, Literal]:
    """Where its `when` holds and no `unless` does; and where finding that out overflows."""
    graph = lowering.graph
    holds, over = TRUE, FALSE
    if declared.when is not None:
        when = lowering.truth(declared.when)
        holds, over = when.holds, when.over
    for expr in declared.unless:
        if holds == FALSE:
            break
        unless = lowering.truth(expr)
        over = graph.any_of(over, graph.all_of(holds, unless.over))
        holds = graph.all_of(holds, negated(unless.holds))
    return holds, over


def _violated(
    lowering: Lowering, constraint: Constraint, fires: Literal, failures: Mapping[str, list[Failure]] | None
) -> Literal:
    """Without `failures`, where it overflows it is not violated and nobody is told."""
    graph = lowering.graph
    if constraint.require is None or fires == FALSE:
        return fires
    require = lowering.truth(constraint.require)
    over = graph.all_of(fires, require.over)
    if failures is not None and over != FALSE:
        failures[constraint.name].append(Failure(over, constraint.name, Reason.OVERFLOW))
    return graph.all_of(fires, negated(require.holds), negated(require.over))


# --- what a firing rule contributes ---------------------------------------------------------------------------------


def _scored(lowering: Lowering, entry: _Entry, rule: Rule, number: int, fires: Literal) -> _Scored:
    """As the version before has it, where it fires as it did; the rule may have another number now."""
    scored = entry.scored
    if scored is None or scored.fires != fires:
        scored = _Scored(fires, [])
        weight = rule.meta.priority * rule.meta.confidence * lowering.call.recency.get(rule.name, 1.0)
        if isinstance(rule.score, p.Const) and not rule.exceptions:
            scored.add_constant(lowering.graph, number, fires, weight, rule.score.value)
        else:
            _Scores(lowering, number, weight, scored).add_rule(rule)
        entry.scored = scored
    elif scored.added and scored.added[0].rule != number:
        scored.added = [Contribution(number, case.mask, case.amount, case.varying) for case in scored.added]
    return scored


@dataclass(slots=True)
class _Scores:
    """What one rule adds: its score where no exception holds, and each exception's where it is the first that does."""

    lowering: Lowering
    number: int
    weight: float
    found: _Scored

    def add_rule(self, rule: Rule) -> None:
        rest = self.found.fires
        for exception in rule.exceptions:
            rest = self._branch(exception.condition, exception.score, rest)
        self._add(rule.score, rest)

    def _branch(self, condition: Expr, score: Expr, mask: Literal) -> Literal:
        """Adds the score where the condition holds; returns where it doesn't."""
        if mask == FALSE:
            return FALSE
        graph = self.lowering.graph
        truth = self.lowering.truth(condition)
        self.found.over = graph.any_of(self.found.over, graph.all_of(mask, truth.over))
        self._add(score, graph.all_of(mask, truth.holds))
        return graph.all_of(mask, negated(truth.holds))

    def _add(self, score: Expr, mask: Literal) -> None:
        if mask == FALSE:
            return
        if isinstance(score, p.If):  # of constants, this keeps them constant
            self._add(score.otherwise, self._branch(score.condition, score.then, mask))
            return
        graph, found = self.lowering.graph, self.found
        form = self.lowering.form(score)
        if form.over != FALSE:
            found.over = graph.any_of(found.over, graph.all_of(mask, form.over))
        match form:
            case Fixed(value):
                found.add_constant(graph, self.number, mask, self.weight, value)
            case Number(value, floating):
                double = value if floating else graph.value(Operation("to_float", (value,)))
                nanos = graph.value(Operation("contribution", (double, graph.number(self.weight))))
                found.beyond = graph.any_of(found.beyond, graph.all_of(mask, graph.test(Flag(nanos, "over"))))
                found.added.append(Contribution(self.number, mask, None, nanos))
            case _:
                raise AssertionError(form)


# --- all rules together ---------------------------------------------------------------------------------------------


def _sides(lowering: Lowering, case: Contribution, least: int = 1) -> tuple[Literal, Literal]:
    """Where a case adds at least so much, and where it takes at least so much away."""
    graph = lowering.graph
    if case.amount is not None:
        return (case.mask if case.amount >= least else FALSE), (case.mask if case.amount <= -least else FALSE)
    assert case.varying is not None
    nanos = Number(case.varying, floating=False)
    up, down = at_least(graph, nanos, least), negated(at_least(graph, nanos, 1 - least))
    return graph.all_of(case.mask, up), graph.all_of(case.mask, down)


def _resolved(lowering: Lowering, ruleset: Ruleset, cases: list[Contribution]) -> list[Contribution]:
    """Under `priority`, the cases without those of the side whose highest priority is the lower one.

    The highest priority of the ups exceeds that of the downs where, for some level, one of the ups reaches it and none
    of the downs does. Without downs there is nothing to drop.
    """
    if ruleset.resolution is not Resolution.PRIORITY:
        return cases
    graph = lowering.graph
    priorities = [rule.meta.priority for rule in ruleset.rules]
    sides = [_sides(lowering, case) for case in cases]
    at_level: dict[float, list[tuple[Literal, Literal]]] = defaultdict(list)
    for case, side in zip(cases, sides, strict=True):
        at_level[priorities[case.rule]].append(side)
    up = down = up_wins = down_wins = FALSE
    for _, here in sorted(at_level.items(), reverse=True):
        up, down = graph.any_of(up, *(a for a, _ in here)), graph.any_of(down, *(b for _, b in here))
        up_wins = graph.any_of(up_wins, graph.all_of(up, negated(down)))
        down_wins = graph.any_of(down_wins, graph.all_of(down, negated(up)))
    kept = []
    for case, (upward, downward) in zip(cases, sides, strict=True):
        dropped = graph.any_of(graph.all_of(upward, down_wins), graph.all_of(downward, up_wins))
        kept.append(replace(case, mask=graph.all_of(case.mask, negated(dropped))))
    return kept


def _contested(lowering: Lowering, cases: list[Contribution]) -> Literal:
    """Where two that count pull both ways, each with at least the magnitude that contests."""
    least = max(1, round(lowering.call.contested_from * NANO))
    graph = lowering.graph
    up, down = set[Literal](), set[Literal]()
    for case in cases:
        if case.amount is None:
            upward, downward = _sides(lowering, case, least)
            up.add(upward)
            down.add(downward)
        elif case.amount >= least:
            up.add(case.mask)
        elif case.amount <= -least:
            down.add(case.mask)
    return graph.all_of(graph.any_of(*up), graph.any_of(*down)) if up and down else FALSE
