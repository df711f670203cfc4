"""Promises over more than can be gone through cell by cell, by z3: many fields, sums of fields, scores that vary.

In: a promise as it was written, over a space. Out: `Proved`, where no choice of cells and numbers breaks it; else a
point that may, which nobody believes before it has been replayed; or None where the steps did not reach.

What a rule adds is a real number between the ends of its score, which follow from the cell. It is a whole number of
10^-9 really, and further bound: what no such numbers break, nothing does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from typing import Any

import z3

from ucl.analysis.cells.bounds import Ends, ends_of
from ucl.analysis.cells.inputs import Key, Place
from ucl.analysis.cells.outcomes import Case, Declarations
from ucl.analysis.cells.space import Space, View
from ucl.analysis.cells.survey import speaks
from ucl.analysis.formulas import line
from ucl.analysis.properties.spoken import WrittenPromise
from ucl.analysis.properties.worlds import Claim, World
from ucl.analysis.smt import bounded_solver
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.outcome import CONTESTED_FROM, MAGNITUDE, NANO, Decision, as_score
from ucl.semantics.parts import children
from ucl.semantics.program import Constraint, Expr, Resolution, Rule
from ucl.semantics.values.read import constant

_MOST_CELLS = 512
_LIMIT = round(MAGNITUDE * NANO)
# No total is beyond this: it fits 64 bits.
_FAR = 2**63


@frozen
class Found:
    """Values of inputs with which the promise may be broken; of a `prefer` of the better option, and of the worse."""

    values: tuple[dict[Key, Any], ...]


@frozen
class Never:
    """Nothing breaks it. `vacuous`: nothing is of the kind that it speaks of. `certain`: no way to answer is missed."""

    vacuous: bool
    certain: bool


def solved(
    declarations: Declarations, space: Space, written: WrittenPromise, steps: int, cells: int
) -> Found | Never | None:
    """`steps` are the solver's own."""
    context = z3.Context()
    solver = bounded_solver(context, steps)
    worlds: list[World] = []
    for number, side in enumerate(written.sides):
        view = View(space, cells)
        view.restrict(side)
        if len(written.sides) > 1:
            # Contexts are shared by both sides, so that their places stay as they are.
            view.kept = {axis: kept for axis, kept in view.kept.items() if _is_of_option(space, axis)}
        worlds.append(World(view, solver, f"{number}: ", worlds[0] if worlds else None))
        solver.add(worlds[-1].truth(side))
    if (answer := solver.check()) != z3.sat:
        return None if answer == z3.unknown else Never(True, all(world.view.certain() for world in worlds))
    solver.add(_broken(declarations, written, worlds))
    answer = solver.check()
    if answer == z3.unknown:
        return None
    if answer == z3.unsat:
        return Never(False, all(world.view.certain() for world in worlds))
    model = solver.model()
    return Found(tuple(_values(world, model) for world in worlds))


def _is_of_option(space: Space, axis: int) -> bool:
    key = space.axes[axis].key
    return key is None or key[0] is Place.OPTION


def _broken(declarations: Declarations, written: WrittenPromise, worlds: Sequence[World]) -> Claim:
    outcomes = [Outcomes(declarations, world) for world in worlds]
    if len(outcomes) == 2:
        return outcomes[0].total() < outcomes[1].total()
    (outcome,) = outcomes
    return z3.Not(worlds[0].both([outcome.says(expr) for expr in written.expect]))


def _values(world: World, model: Any) -> dict[Key, Any]:
    """Those of the chosen places, and in their place the numbers of the model."""
    found = world.chosen(model)
    numbers = {**(world.shared.inputs if world.shared else {}), **world.inputs}
    for key, number in numbers.items():
        if key in found and found[key] is None:
            continue
        value = model.eval(number, model_completion=True)
        if z3.is_int_value(value):
            found[key] = value.as_long()
        else:
            found[key] = value.numerator_as_long() / value.denominator_as_long()
    return found


class Outcomes:
    """LANGUAGE §9 over a world: what fires, what it adds, what becomes of it."""

    def __init__(self, declarations: Declarations, world: World) -> None:
        self._all, self._world = declarations, world
        self._fires: dict[str, Claim] = {}
        self._added: dict[str, Any] = {}
        self._counted: dict[str, Any] | None = None

    def applies(self, name: str) -> Claim:
        return self._world.truth(self._all.written(name).applies)

    def fires(self, name: str) -> Claim:
        if name not in self._all.active:
            return self._world.fixed(False)
        if name not in self._fires:
            silent = [z3.Not(self.applies(other)) for other in self._all.silencers.get(name, ())]
            self._fires[name] = self._world.both([self.applies(name), *silent])
        return self._fires[name]

    def violated(self, name: str) -> Claim:
        written = self._all.written(name)
        if written.require is None:
            return self.fires(name)
        return self._world.both([self.fires(name), z3.Not(self._world.truth(written.require))])

    def feasible(self) -> Claim:
        return z3.Not(self._world.either([self.violated(name) for name in self._all.constraints]))

    # --- scores -----------------------------------------------------------------------------------------------------

    def added(self, name: str) -> Any:
        """In units of 10^-9, 0 where the rule is silent; whether or not priority drops it."""
        if name not in self._added:
            written, world = self._all.written(name), self._world
            value: Any = world.value(0)
            for case in reversed(written.cases):
                amount = self._amount(written.declared, case)
                value = amount if case.condition is None else z3.If(world.truth(case.condition), amount, value)
            self._added[name] = z3.If(self.fires(name), value, world.value(0))
        return self._added[name]

    def _amount(self, rule: Rule | Constraint, case: Case) -> Any:
        assert isinstance(rule, Rule)
        weight = rule.meta.priority * rule.meta.confidence * 1.0
        match case.score:
            case p.Const(value=int() | float() as value):
                return self._world.value(_nano(weight, value))
        return self._between(case.score, weight)

    def _between(self, score: Expr, weight: float) -> Any:
        """A number whose ends follow from the places of what the score reads."""
        world = self._world
        found = world.number(f"amount {len(self._added)} {id(score)}")
        axes = self._axes_of(score)
        for cell in product(*(range(len(world.view.indices(axis))) for axis in axes)):
            ends = self._ends_at(score, dict(zip(axes, cell, strict=True)))
            low, high = (-inf, inf) if ends is None else ends
            least, most = sorted((_nano(weight, low), _nano(weight, high)))
            here = world.at(axes, cell)
            world.claim(z3.Implies(here, z3.And(found >= least, found <= most)))
        return found

    def _ends_at(self, score: Expr, cell: dict[int, int]) -> Ends | None:
        return ends_of(score, lambda field: self._ends(field, cell))

    def _axes_of(self, score: Expr) -> list[int]:
        """The axes of the numbers that it reads; none where these are too many together."""
        space = self._world.view.space
        keys = sorted(space.sides[0].inputs.read_by(score))
        axes = [space.numbers[key] for key in keys if space.numbers.get(key) in space.stretches]
        few = prod(len(self._world.view.indices(axis)) for axis in axes) <= _MOST_CELLS
        return axes if few else []

    def _ends(self, expr: Expr, cell: dict[int, int]) -> Ends | None:
        """Of a field: those of its place, else of its domain."""
        match expr:
            case p.OptionValue(path=path):
                where = Place.OPTION
            case p.ContextValue(path=path) if path not in (("now",), ("today",)):
                where = Place.CONTEXT
            case _:
                return None
        world, side = self._world, self._world.view.space.sides[0]
        input = next((i for i in side.inputs.by_key.values() if i.key[0] is where and i.path == path), None)
        if input is None or not isinstance(t.present(input.field.type), _NUMBERS):
            return None
        axis = world.view.space.numbers.get(input.key)
        if axis in cell:
            stretches = world.view.space.stretches[axis]
            place = int(world.view.indices(axis)[cell[axis]])
            if place < len(stretches) and stretches[place]:
                return stretches[place][0][0], stretches[place][-1][1]
        return _domain_ends(input.field, side.zone)

    def counted(self) -> dict[str, Any]:
        """What each rule adds once priority has dropped a side."""
        if self._counted is None:
            added = {name: self.added(name) for name in self._all.rules}
            self._counted = added if self._all.resolution is Resolution.WEIGHTED else self._resolved(added)
        return self._counted

    def _resolved(self, added: dict[str, Any]) -> dict[str, Any]:
        world = self._world
        priority = {name: self._all.declared[name].meta.priority for name in added}
        levels = sorted(set(priority.values()), reverse=True)
        up, down = (
            [world.either([added[name] * sign > 0 for name in added if priority[name] >= level]) for level in levels]
            for sign in (1, -1)
        )
        up_wins = world.either([z3.And(u, z3.Not(d)) for u, d in zip(up, down, strict=True)])
        down_wins = world.either([z3.And(d, z3.Not(u)) for u, d in zip(up, down, strict=True)])
        nothing = world.value(0)
        return {
            name: z3.If(z3.Or(z3.And(amount > 0, down_wins), z3.And(amount < 0, up_wins)), nothing, amount)
            for name, amount in added.items()
        }

    def total(self) -> Any:
        return z3.Sum([self._world.value(0), *self.counted().values()])

    def contribution(self, name: str) -> Any:
        if name not in self._all.rules:
            return self._world.value(0)
        return self.added(name) if self._all.resolution is Resolution.WEIGHTED else self.counted()[name]

    def contested(self) -> Claim:
        least = max(1, round(CONTESTED_FROM * NANO))
        amounts = list(self.counted().values())
        up, down = ([amount * sign >= least for amount in amounts] for sign in (1, -1))
        return self._world.both([self._world.either(up), self._world.either(down)])

    def decided(self, decision: Decision) -> Claim:
        feasible, contested, total = self.feasible(), self.contested(), self.total()
        match decision:
            case Decision.INFEASIBLE:
                return z3.Not(feasible)
            case Decision.ASK_USER:
                return z3.And(feasible, contested)
            case Decision.ACCEPT:
                return z3.And(feasible, z3.Not(contested), total >= 0)
            case _:
                return z3.And(feasible, z3.Not(contested), total < 0)

    # --- what is expected -------------------------------------------------------------------------------------------

    def says(self, expr: Expr) -> Claim:
        """What can't be read off an outcome may be so or not."""
        world = self._world
        if not speaks(expr):
            return world.truth(expr)
        match expr:
            case p.And() | p.Or() | p.Not() | p.If():
                return self._connected(expr)
            case p.RuleFact(kind="fires", rule=rule):
                return self.fires(rule)
            case p.RuleFact(kind="applies", rule=rule):
                return self.applies(rule)
            case p.OutcomeValue(name="feasible"):
                return self.feasible()
            case p.OutcomeValue(name="contested"):
                return self.contested()
            case p.Compare(operator=operator, left=left, right=right):
                return self._compared(operator, left, right, expr)
            case p.InRange(value=value, low=low, high=high):
                ends = [] if low is None else [self._compared(">=", value, low, expr)]
                below = "<=" if expr.inclusive else "<"
                return world.both([*ends, *([] if high is None else [self._compared(below, value, high, expr)])])
            case p.InSet(value=p.OutcomeValue(name="decision"), container=p.Const(value=frozenset() as decisions)):
                return world.either([self.decided(d) for d in Decision if d in decisions])
            case _:
                return world.unknown(expr)

    def _connected(self, expr: Expr) -> Claim:
        parts = [self.says(part) for part in children(expr)]
        match expr:
            case p.And():
                return self._world.both(parts)
            case p.Or():
                return self._world.either(parts)
            case p.Not():
                return z3.Not(parts[0])
            case _:
                return z3.If(*parts)

    def _compared(self, operator: str, left: Expr, right: Expr, whole: Expr) -> Claim:
        match left, right:
            case p.OutcomeValue(name="decision"), p.Const(value=str() as decision):
                found = self.decided(Decision(decision))
                return found if operator == "==" else z3.Not(found)
            case _, p.Const(value=int() | float() as end) if (amount := self._told(left)) is not None:
                return _against(operator, amount, end)
            case p.Const(value=int() | float() as end), _ if (amount := self._told(right)) is not None:
                return _against(_TURNED.get(operator, operator), amount, end)
            case _:
                return self._world.unknown(whole)

    def _told(self, expr: Expr) -> Any:
        match expr:
            case p.OutcomeValue(name="score"):
                return self.total()
            case p.RuleFact(kind="contribution", rule=rule):
                return self.contribution(rule)
            case _:
                return None


_NUMBERS = (t.Int, t.Float, t.Quantity, t.Duration, t.Time)
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _against(operator: str, amount: Any, end: float) -> Claim:
    """A score, as the double that people read, against a constant."""
    first = line.first_where(lambda nano: as_score(nano) >= end, -_FAR, _FAR)
    above = line.first_where(lambda nano: as_score(nano) > end, -_FAR, _FAR)
    match operator:
        case "<":
            return amount < first
        case "<=":
            return amount < above
        case ">":
            return amount >= above
        case ">=":
            return amount >= first
        case "==":
            return z3.And(amount >= first, amount < above)
        case _:
            return z3.Or(amount < first, amount >= above)


def _nano(weight: float, value: float) -> int:
    """A contribution as `evaluate` rounds it; beyond the magnitude there is none."""
    told = max(-MAGNITUDE, min(weight * value, MAGNITUDE)) if weight else 0.0
    return round(told * NANO)


def _domain_ends(field: p.Field, zone: Any) -> Ends | None:
    match field.domain:
        case p.RangeDomain(low, high, _, False) if low is not None and high is not None:
            return constant(low, zone), constant(high, zone)
        case p.SetDomain(values) if values:
            return min(values), max(values)
        case _:
            return None
