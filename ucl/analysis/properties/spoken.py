"""What promises speak of: which rules and totals, and their truth over a view of cells.

In: a `property` or a `prefer`. Out: what it needs to know of the program; the grids of `score`, `fires(r)` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.analysis.cells.grids import NEVER, Grid, merge_alike, taken
from ucl.analysis.cells.outcomes import Declarations, Ledger, Ranged, Ruling, Undecidable
from ucl.analysis.cells.space import Truth, View
from ucl.analysis.cells.survey import speaks
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.check.expressions.constants import COMPARISONS
from ucl.semantics.expressions import Facts, Frame, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import NANO, Decision, Outcome, as_score
from ucl.semantics.parts import children
from ucl.semantics.program import Expr, Prefer, Property

Promise = Property | Prefer
Fact = p.RuleFact | p.OutcomeValue
# Doubles have every whole number below this.
_EXACT = 2**53


@frozen
class Needs:
    """`facts` are the declarations that it names, `added` the rules whose contributions it asks for."""

    facts: frozenset[str]
    added: frozenset[str]
    total: bool
    feasible: bool


@frozen
class WrittenPromise:
    """`sides` are where it says something: one condition, or the better and the worse."""

    needs: Needs
    sides: tuple[Expr, ...]
    expect: tuple[Expr, ...]


def needs_of(promise: Promise) -> Needs:
    if isinstance(promise, Prefer):
        return Needs(frozenset(), frozenset(), True, False)
    spoken = [fact for expr in promise.expect for fact in facts_in(expr)]
    words = {fact.name for fact in spoken if isinstance(fact, p.OutcomeValue)}
    named = frozenset(fact.rule for fact in spoken if isinstance(fact, p.RuleFact))
    added = frozenset(f.rule for f in spoken if isinstance(f, p.RuleFact) and f.kind == "contribution")
    return Needs(named, added, bool(words - {"feasible"}), bool(words & {"feasible", "decision"}))


def facts_in(expr: Expr) -> Iterator[Fact]:
    if isinstance(expr, p.RuleFact | p.OutcomeValue):
        yield expr
    for part in children(expr):
        yield from facts_in(part)


class Told:
    """What a view's rules say in the words of `expect`."""

    def __init__(self, declarations: Declarations, view: View, needs: Needs) -> None:
        self._all, self._view, self._needs = declarations, view, needs
        self.ruling = Ruling(declarations, view)
        self._ranged: list[Ranged] = []
        self.ruling.ranged = self._ranged
        self._facts: dict[Fact, Grid] = {}
        # Whether `expect` is only a conjunction, so that each part may be false wherever it is not surely true.
        self.conjoined = False
        view.spoken = self._spoken
        # Under `priority` what a rule adds depends on all others.
        every = needs.total or (needs.added and not self.ruling.weighted)
        rules = [name for name in declarations.rules if every or name in needs.added]
        ledgers = self.ruling.ledgers(rules)
        self.violated = [self.ruling.violated(name) for name in declarations.constraints] if needs.feasible else []
        self._named = [self.ruling.applies(name) for name in sorted(needs.facts)]
        self._named += [self.ruling.fires(name) for name in sorted(needs.facts)]
        self._uncounted = ledgers
        self._counted: list[Ledger] | None = None

    def invalid(self) -> Grid:
        return self.ruling.invalid()

    def grids(self) -> list[Grid]:
        """Everything that the facts are made of."""
        masks = [ledger.mask for ledger in self._uncounted]
        amounts = [ledger.nano for ledger in self._uncounted]
        masks += [ranged.mask for ranged in self._ranged]
        return [*masks, *amounts, *self.violated, *self._named, *self.ruling.over.values()]

    def narrow(self, given: Expr, expect: Sequence[Expr]) -> list[Grid]:
        """Lets the view forget what nothing here tells apart; what is left to combine."""
        view = self._view
        plain = [given, *(part for expr in expect for part in unspoken(expr))]
        truths = [view.truth(expr) for expr in plain]
        grids = [grid for truth in truths for grid in (truth.holds, truth.over)]
        kept = merge_alike([*grids, *self.grids()])
        view.narrow(kept)
        return [taken(grid, kept) for grid in (*grids, *self.grids())]

    def surely(self, expr: Expr) -> bool | None:
        """Whether it holds (or fails) in every cell, as far as what each rule can add by itself says; None where that
        leaves both open."""
        match expr:
            case p.And(operands=operands):
                told = [self.surely(part) for part in operands]
                return False if False in told else None if None in told else True
            case p.Or(operands=operands):
                told = [self.surely(part) for part in operands]
                return True if True in told else None if None in told else False
            case p.Not(operand=operand):
                inner = self.surely(operand)
                return None if inner is None else not inner
            case p.Compare(operator="<" | "<=" | ">" | ">=", left=left, right=right):
                fact = left if isinstance(left, p.OutcomeValue) else right
                return self._between(expr, fact) if isinstance(fact, p.OutcomeValue) else None
            case _:
                return None

    def _between(self, expr: Expr, fact: Fact) -> bool | None:
        """What a comparison of the total says at both ends of its bounds, and so between them."""
        ends = compared_at_once(expr, fact, np.array(self._bounds(), np.int64))
        return bool(ends[0]) if ends is not None and ends[0] == ends[1] else None

    def _bounds(self) -> tuple[int, int]:
        """The total lies between these, under either way to resolve."""
        low = high = 0
        for ledger in self._uncounted:
            added = self._view.combine(lambda mask, nano: np.where(mask, nano, 0), ledger.mask, ledger.nano).values
            low, high = low + min(0, int(added.min())), high + max(0, int(added.max()))
            if self.ruling.weighted and added.size and ledger.mask.values.all():
                low, high = low + max(0, int(added.min())), high + min(0, int(added.max()))
        for ranged in self._ranged:
            low, high = low + min(0, ranged.low), high + max(0, ranged.high)
        return low, high

    def require_listed(self) -> None:
        """`Undecidable` where a score that counts can't be listed."""
        if self._ranged:
            raise Undecidable

    def ledgers(self) -> list[Ledger]:
        if self._counted is None:
            self._counted = self.ruling.counted(self._uncounted)
        return self._counted

    def _ends(self) -> list[Grid]:
        """The least and the most that the total can be in each cell."""
        total, view = self.ruling.total(self.ledgers()), self._view
        ends = []
        for end in ("low", "high"):
            found = total
            for ranged in self._ranged:
                amount = getattr(ranged, end)
                found = view.combine(lambda t, m, a=amount: np.where(m, t + a, t), found, ranged.mask)
            ends.append(found)
        return ends

    def _between_ends(self, expr: Expr) -> Truth:
        """Where an order of the total and a constant is so whatever the scores are that can't be listed."""
        facts = list(facts_in(expr))
        ordering = isinstance(expr, p.Compare) and expr.operator in ("<", "<=", ">", ">=")
        of_total = len(facts) == 1 and isinstance(facts[0], p.OutcomeValue) and facts[0].name == "score"
        if not (ordering and of_total and self.conjoined and self.ruling.weighted):
            raise Undecidable
        told = [(end.axes, compared_at_once(expr, facts[0], end.values)) for end in self._ends()]
        grids = [Grid(axes, answer) for axes, answer in told if answer is not None]
        if len(grids) < len(told):
            raise Undecidable
        return Truth(self._view.both(*grids), NEVER)

    def _fact(self, fact: Fact) -> Grid:
        if fact not in self._facts:
            self._facts[fact] = self._new_fact(fact)
        return self._facts[fact]

    def _new_fact(self, fact: Fact) -> Grid:
        ruling, view = self.ruling, self._view
        match fact:
            case p.RuleFact(kind="fires", rule=rule):
                return ruling.fires(rule)
            case p.RuleFact(kind="applies", rule=rule):
                return ruling.applies(rule)
            case p.RuleFact(rule=rule):
                return ruling.total([ledger for ledger in self.ledgers() if ledger.name == rule])
            case p.OutcomeValue(name="score"):
                return ruling.total(self.ledgers())
            case p.OutcomeValue(name="feasible"):
                return view.no(view.either(*self.violated))
            case p.OutcomeValue(name="contested"):
                return ruling.contested(self.ledgers())
            case _:
                return self._decision()

    def _decision(self) -> Grid:
        """As the place of a decision in their list."""
        total, contested = self.ruling.total(self.ledgers()), self.ruling.contested(self.ledgers())
        places = list(Decision)

        def decided(violated: Any, contested: Any, total: Any) -> Any:
            settled = np.where(total >= 0, places.index(Decision.ACCEPT), places.index(Decision.SUGGEST_ALTERNATIVE))
            asked = np.where(contested, places.index(Decision.ASK_USER), settled)
            return np.where(violated, places.index(Decision.INFEASIBLE), asked)

        return self._view.combine(decided, self._view.either(*self.violated), contested, total)

    def _spoken(self, expr: Expr) -> Truth:
        """By evaluating it once for each combination of what it speaks of."""
        if self._ranged and any(_adds(fact) for fact in facts_in(expr)):
            return self._between_ends(expr)
        if isinstance(expr, p.RuleFact | p.OutcomeValue):
            return Truth(self._fact(expr), NEVER)
        if self._view.space.sides[0].inputs.read_by(expr):
            raise Undecidable
        facts = list(dict.fromkeys(facts_in(expr)))
        grids = [self._fact(fact) for fact in facts]
        axes = tuple(sorted({axis for grid in grids for axis in grid.axes}))
        whole = self._view.combine(lambda *values: np.stack(np.broadcast_arrays(*values)), *grids).values
        if len(facts) == 1 and (told := compared_at_once(expr, facts[0], whole[0])) is not None:
            return Truth(Grid(axes, told), NEVER)
        frame = self._view.space.sides[0].frame({})
        told = answers(expr, facts, whole.reshape(len(facts), -1), frame)
        return Truth(Grid(axes, told.reshape(whole.shape[1:])), NEVER)


def _adds(fact: Fact) -> bool:
    """Whether it depends on what rules add."""
    return fact.kind == "contribution" if isinstance(fact, p.RuleFact) else fact.name != "feasible"


def compared_at_once(expr: Expr, fact: Fact, values: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """A comparison of a score with a constant, done on doubles as `evaluate` does it; None for anything else."""
    scores = fact.kind == "contribution" if isinstance(fact, p.RuleFact) else fact.name == "score"
    if not scores or not isinstance(expr, p.Compare):
        return None
    match expr.left, expr.right:
        case (p.OutcomeValue() | p.RuleFact(), p.Const(value=int() | float() as limit)) if abs(limit) < _EXACT:
            return np.asarray(COMPARISONS[expr.operator](values / NANO, limit), np.bool_)
        case (p.Const(value=int() | float() as limit), p.OutcomeValue() | p.RuleFact()) if abs(limit) < _EXACT:
            return np.asarray(COMPARISONS[expr.operator](limit, values / NANO), np.bool_)
        case _:
            return None


def answers(expr: Expr, facts: Sequence[Fact], rows: NDArray[np.int64], frame: Frame) -> NDArray[np.bool_]:
    """What the expression says for each column of `rows`, in which each fact has its value: scores in units of 10^-9,
    a decision by its place in their list. It reads nothing else."""
    each, places = np.unique(rows, axis=1, return_inverse=True)
    told = [_evaluated(expr, dict(zip(facts, column, strict=True)), frame) for column in each.T.tolist()]
    return np.array(told, np.bool_)[places.reshape(-1)]


def _evaluated(expr: Expr, facts: Mapping[Fact, int], frame: Frame) -> bool:
    words = {fact.name: value for fact, value in facts.items() if isinstance(fact, p.OutcomeValue)}
    decision = list(Decision)[words.get("decision", 0)]
    feasible, contested = bool(words.get("feasible", True)), bool(words.get("contested", False))
    outcome = Outcome(words.get("score", 0), feasible, contested, decision)

    def told(kind: str, rule: str) -> Any:
        value = next(v for f, v in facts.items() if isinstance(f, p.RuleFact) and (f.kind, f.rule) == (kind, rule))
        return as_score(value) if kind == "contribution" else bool(value)

    try:
        return bool(evaluate(expr, replace(frame, facts=Facts(outcome, told))))
    except Overflow:
        return True  # the property says nothing there


def unspoken(expr: Expr) -> Iterator[Expr]:
    """The conditions inside that speak of no outcome."""
    if not speaks(expr):
        yield expr
    elif isinstance(expr, p.And | p.Or | p.Not | p.If):
        for part in children(expr):
            yield from unspoken(part)
