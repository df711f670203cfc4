"""Rules and constraints to the masks that say what is said of an option: LANGUAGE §9.

In: the rules of a schema on the call's day. Out: `Outcomes`. Follows `semantics.evaluate.options` step by step: what
can't be evaluated counts as not applying in what follows, and the first such in source order is what an invalid row
carries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ucl.frozen import frozen
from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.forms import Fixed, Number
from ucl.kernels.lowering.parts.comparisons import at_least
from ucl.kernels.plan import FALSE, TRUE, Contribution, Failure, Flag, Literal, Operation, Outcomes, negated
from ucl.semantics import program as p
from ucl.semantics.evaluate.options import Ruleset
from ucl.semantics.outcome import MAGNITUDE, NANO, Reason
from ucl.semantics.program import Constraint, Expr, Resolution, Rule


@frozen
class Added:
    """Where `mask` holds, a firing rule's score is this much, in units of 10^-9."""

    mask: Literal
    amount: int | None
    varying: Number | None


@frozen
class Case:
    """What rule number `rule` adds, and where."""

    rule: int
    mask: Literal
    amount: int | None
    varying: Number | None


@frozen
class _Scored:
    """What a rule adds where it fires, and where finding that out overflows or is beyond all scores."""

    rule: Rule
    added: tuple[Added, ...]
    over: Literal
    beyond: Literal


@dataclass
class Rulebook:
    """What became of each declaration, for whoever lowers the next version of a program into the same graph.

    By the identity of declarations, which an edit elsewhere keeps; each entry holds its declaration alive.
    """

    conditions: dict[int, tuple[Rule | Constraint, Literal, Literal]] = field(default_factory=dict)
    scores: dict[tuple[int, Literal], _Scored] = field(default_factory=dict)


def outcomes(lowering: Lowering, ruleset: Ruleset, known: Rulebook | None = None) -> Outcomes:
    """The masks of every rule and constraint, and of the whole. What is `known` is not lowered again."""
    graph = lowering.graph
    known = Rulebook() if known is None else known
    failures: dict[str, list[Failure]] = {declared.name: [] for declared in ruleset.active}
    applying: dict[str, Literal] = {}
    for declared in ruleset.active:
        holds, over = _applies(lowering, declared, known)
        applying[declared.name] = graph.all_of(holds, negated(over))
        _note(failures, declared.name, over, Reason.OVERFLOW)

    def not_silenced(name: str) -> Literal:
        silencers = ruleset.silencers.get(name)
        return TRUE if silencers is None else graph.all_of(*[negated(applying[silencer]) for silencer in silencers])

    fired: list[Literal] = []
    cases: list[Case] = []
    violated: list[Literal] = []
    for declared in ruleset.active:
        fires = graph.all_of(applying[declared.name], not_silenced(declared.name))
        if isinstance(declared, Rule):
            scored = _scores(lowering, declared, fires, known)
            # A row in which it overflows has no magnitude.
            _note(failures, declared.name, scored.over, Reason.OVERFLOW)
            _note(failures, declared.name, scored.beyond, Reason.MAGNITUDE)
            cases += [Case(len(fired), added.mask, added.amount, added.varying) for added in scored.added]
            fired.append(fires)
        else:
            violated.append(_violated(lowering, declared, fires, failures))
    shadow = []
    for declared in ruleset.shadow:
        holds, over = _applies(lowering, declared, known)
        fires = graph.all_of(holds, negated(over), not_silenced(declared.name))
        shadow.append(fires if isinstance(declared, Rule) else _violated(lowering, declared, fires, None))
    counted = _resolved(lowering, ruleset, cases)
    in_order = tuple(failure for declared in ruleset.active for failure in failures[declared.name])
    return Outcomes(
        rules=tuple(rule.name for rule in ruleset.rules),
        constraints=tuple(constraint.name for constraint in ruleset.constraints),
        fired=tuple(fired),
        violated=tuple(violated),
        shadows=tuple(declared.name for declared in ruleset.shadow),
        shadow=tuple(shadow),
        contributions=tuple(
            Contribution(case.rule, case.mask, case.amount, None if case.varying is None else case.varying.value)
            for case in counted
            if case.mask != FALSE
        ),
        infeasible=graph.any_of(*violated),
        contested=_contested(lowering, counted),
        failures=in_order,
        failed=graph.any_of(*(failure.mask for failure in in_order)),
    )


def _note(failures: Mapping[str, list[Failure]], name: str, mask: Literal, reason: Reason) -> None:
    if mask != FALSE:
        failures[name].append(Failure(mask, name, reason))


def _applies(lowering: Lowering, declared: Rule | Constraint, known: Rulebook) -> tuple[Literal, Literal]:
    """Where its `when` holds and no `unless` does; and where finding that out overflows."""
    found = known.conditions.get(id(declared))
    if found is None:
        found = known.conditions[id(declared)] = declared, *_condition(lowering, declared)
    return found[1], found[2]


def _condition(lowering: Lowering, declared: Rule | Constraint) -> tuple[Literal, Literal]:
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
    if failures is not None:
        _note(failures, constraint.name, over, Reason.OVERFLOW)
    return graph.all_of(fires, negated(require.holds), negated(require.over))


# --- what a firing rule contributes ---------------------------------------------------------------------------------


def _scores(lowering: Lowering, rule: Rule, fires: Literal, known: Rulebook) -> _Scored:
    key = (id(rule), fires)
    found = known.scores.get(key)
    if found is None:
        scores = _Scores(lowering, rule, fires)
        found = known.scores[key] = _Scored(rule, tuple(scores.added), scores.over, scores.beyond)
    return found


class _Scores:
    """What one rule adds: its score where no exception holds, and each exception's where it is the first that does."""

    def __init__(self, lowering: Lowering, rule: Rule, fires: Literal) -> None:
        self._lowering = lowering
        self._graph = lowering.graph
        recency = lowering.call.recency.get(rule.name, 1.0)
        self._weight = rule.meta.priority * rule.meta.confidence * recency
        self.added: list[Added] = []
        self.over = FALSE
        self.beyond = FALSE
        rest = fires
        for exception in rule.exceptions:
            rest = self._branch(exception.condition, exception.score, rest)
        self._add(rule.score, rest)

    def _branch(self, condition: Expr, score: Expr, mask: Literal) -> Literal:
        """Adds the score where the condition holds; returns where it doesn't."""
        if mask == FALSE:
            return FALSE
        graph = self._graph
        truth = self._lowering.truth(condition)
        self.over = graph.any_of(self.over, graph.all_of(mask, truth.over))
        self._add(score, graph.all_of(mask, truth.holds))
        return graph.all_of(mask, negated(truth.holds))

    def _add(self, score: Expr, mask: Literal) -> None:
        if mask == FALSE:
            return
        if isinstance(score, p.If):  # of constants, this keeps them constant
            self._add(score.otherwise, self._branch(score.condition, score.then, mask))
            return
        graph = self._graph
        form = self._lowering.form(score)
        self.over = graph.any_of(self.over, graph.all_of(mask, form.over))
        match form:
            case Fixed(value):
                weighted = self._weight * float(value)
                if not abs(weighted) <= MAGNITUDE:
                    self.beyond = graph.any_of(self.beyond, mask)
                else:
                    self.added.append(Added(mask, round(weighted * NANO), None))
            case Number(value, floating):
                double = value if floating else graph.value(Operation("to_float", (value,)))
                nanos = graph.value(Operation("contribution", (double, graph.number(self._weight))))
                self.beyond = graph.any_of(self.beyond, graph.all_of(mask, graph.test(Flag(nanos, "over"))))
                self.added.append(Added(mask, None, Number(nanos, floating=False)))
            case _:
                raise AssertionError(form)


# --- all rules together ---------------------------------------------------------------------------------------------


def _sides(lowering: Lowering, case: Case, least: int = 1) -> tuple[Literal, Literal]:
    """Where a case adds at least so much, and where it takes at least so much away."""
    graph = lowering.graph
    if case.amount is not None:
        return (case.mask if case.amount >= least else FALSE), (case.mask if case.amount <= -least else FALSE)
    assert case.varying is not None
    up, down = at_least(graph, case.varying, least), negated(at_least(graph, case.varying, 1 - least))
    return graph.all_of(case.mask, up), graph.all_of(case.mask, down)


def _resolved(lowering: Lowering, ruleset: Ruleset, cases: list[Case]) -> list[Case]:
    """Under `priority`, the cases without those of the side whose highest priority is the lower one.

    The highest priority of the ups exceeds that of the downs where, for some level, one of the ups reaches it and none
    of the downs does. Without downs there is nothing to drop.
    """
    if ruleset.resolution is not Resolution.PRIORITY:
        return cases
    graph = lowering.graph
    priorities = [rule.meta.priority for rule in ruleset.rules]
    sides = [_sides(lowering, case) for case in cases]
    up = down = up_wins = down_wins = FALSE
    for level in sorted(set(priorities), reverse=True):
        at_level = [side for case, side in zip(cases, sides, strict=True) if priorities[case.rule] == level]
        up, down = graph.any_of(up, *(a for a, _ in at_level)), graph.any_of(down, *(b for _, b in at_level))
        up_wins = graph.any_of(up_wins, graph.all_of(up, negated(down)))
        down_wins = graph.any_of(down_wins, graph.all_of(down, negated(up)))
    kept = []
    for case, (upward, downward) in zip(cases, sides, strict=True):
        dropped = graph.any_of(graph.all_of(upward, down_wins), graph.all_of(downward, up_wins))
        kept.append(replace(case, mask=graph.all_of(case.mask, negated(dropped))))
    return kept


def _contested(lowering: Lowering, cases: list[Case]) -> Literal:
    """Where two that count pull both ways, each with at least the magnitude that contests."""
    least = max(1, round(lowering.call.contested_from * NANO))
    sides = [_sides(lowering, case, least) for case in cases]
    graph = lowering.graph
    return graph.all_of(graph.any_of(*(up for up, _ in sides)), graph.any_of(*(down for _, down in sides)))
