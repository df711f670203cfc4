"""An option and its context in the solver: a choice of a place on each axis of a view, and what conditions say of it.

In: a view (which cells may be), conditions that its survey knows. Out: formulas of z3. What holds for every real option
holds for some choice, so that what no choice satisfies no option does:

- each axis is a choice among its places, phantoms too;
- a free value is a boolean; where it compares sums of fields, it says what they say;
- a number that is compared so lies in the stretches of its axis's place. Doubles are reals here, and a comparison may
  be off by as much as rounding could make it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import z3

from ucl.analysis.cells.grids import Grid, TooLarge
from ucl.analysis.cells.inputs import Key, Place
from ucl.analysis.cells.space import View
from ucl.analysis.cells.survey import Atom, Branch, Free, Same, Spoken
from ucl.analysis.formulas import line
from ucl.analysis.formulas.formula import Every, Formula, Literal, Relation, Some, Within, negated
from ucl.analysis.formulas.linear import linear
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import CLOCK, DAY, Term, Terms
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.parts import children
from ucl.semantics.program import Expr
from ucl.semantics.types import DAY as DAY_LENGTH

Claim = Any  # z3 has no types of its own

# Each operation rounds by at most 2^-53 of its result, and none has so many of them.
_ROUNDING = Fraction(1, 1 << 40)
_TINY = Fraction(1, 10**300)
_MOST_PLACES = 2000


class World:
    """`shared` is the world whose context this one is in. Formulas about how things hang together are asserted."""

    def __init__(self, view: View, solver: Any, name: str, shared: World | None = None) -> None:
        self.view, self.name, self.shared = view, name, shared
        self._solver, self._context = solver, solver.ctx
        self._side = view.space.sides[0]
        self._choices: dict[int, list[Any]] = {}
        self._truths: dict[int, Claim] = {}
        self._bools: dict[object, Any] = {}
        self._numbers: dict[str, Any] = {}
        self._terms = Terms(self._side.program, self._side.schema, self._side.zone)
        self._reader = Reader(self._terms)
        # Numbers of inputs, for who makes an option of a model.
        self.inputs: dict[Key, Any] = {}

    # --- axes -------------------------------------------------------------------------------------------------------

    def choices(self, axis: int) -> list[Any]:
        """For each place that the view keeps, whether it is the one."""
        key = self.view.space.axes[axis].key
        if self.shared is not None and key is not None and key[0] is not Place.OPTION:
            return self.shared.choices(axis)
        if axis not in self._choices:
            self.view.used.add(axis)
            places = self.view.indices(axis)
            if len(places) > _MOST_PLACES:
                raise TooLarge
            found = self._choices[axis] = [self._bool(f"axis {axis} at {place}") for place in places]
            self._solver.add(z3.PbEq([(choice, 1) for choice in found], 1) if found else self.fixed(False))
        return self._choices[axis]

    def chosen(self, model: Any) -> dict[Key, Any]:
        """The values of the places that a model chooses."""
        axes, cell = [], []
        for axis, choices in {**(self.shared._choices if self.shared else {}), **self._choices}.items():
            axes.append(axis)
            cell.append(next(i for i, c in enumerate(choices) if z3.is_true(model.eval(c, model_completion=True))))
        return {key: value for key, (value,) in self.view.point(axes, cell).items()}

    def where(self, grid: Grid) -> Claim:
        """That the cell is one where a grid (of the view) holds."""
        if not grid.axes:
            return self.fixed(bool(grid.values))
        if len(grid.axes) == 1:
            (axis,) = grid.axes
            return self.either([c for c, holds in zip(self.choices(axis), grid.values, strict=True) if holds])
        cells = zip(*grid.values.nonzero(), strict=True)
        return self.either([self.at(grid.axes, cell) for cell in cells])

    def at(self, axes: Sequence[int], cell: Iterable[Any]) -> Claim:
        return self.both([self.choices(axis)[int(i)] for axis, i in zip(axes, cell, strict=True)])

    # --- conditions -------------------------------------------------------------------------------------------------

    def truth(self, expr: Expr) -> Claim:
        known = self._truths.get(id(expr))
        if known is None:
            known = self._truths[id(expr)] = self._truth(expr)
        return known

    def _truth(self, expr: Expr) -> Claim:
        space = self.view.space
        match space.survey.kinds[id(expr)]:
            case Atom():
                return self.where(self.view.part_of(space.tables[id(expr)][0]))
            case Free(key):
                return self._free(space.free[key], space.survey.written[key])
            case Same(other):
                return self.truth(other)
            case Spoken():
                return self.unknown(expr)
            case Branch():
                return self._branch(expr)

    def _branch(self, expr: Expr) -> Claim:
        parts = [self.truth(part) for part in children(expr)]
        match expr:
            case p.Not():
                return z3.Not(parts[0])
            case p.And():
                return self.both(parts)
            case p.Or():
                return self.either(parts)
            case p.If():
                return z3.If(*parts)
            case p.Compare(operator=operator):
                return parts[0] == parts[1] if operator == "==" else parts[0] != parts[1]
            case _:
                raise AssertionError(expr)

    def unknown(self, of: object) -> Claim:
        """May be so or not; the same for equal things."""
        if of not in self._bools:
            self._bools[of] = self._bool(f"unknown {len(self._bools)}")
        return self._bools[of]

    def _free(self, axis: int, expr: Expr) -> Claim:
        """What a free value says of numbers is asserted once."""
        name = ("free", axis)
        first = name not in self._bools
        found = self.unknown(name)
        if first and _of_numbers(expr) and not (_rounds(expr) and _repeats(expr)):
            formula = self._reader.condition(expr)
            self._solver.add(z3.Implies(found, self._formula(formula)))
            self._solver.add(z3.Implies(z3.Not(found), self._formula(negated(formula))))
        return found

    # --- numbers ----------------------------------------------------------------------------------------------------

    def _formula(self, formula: Formula) -> Claim:
        match formula:
            case Literal(atom, positive) if isinstance(atom, Relation):
                return self._relation(atom, positive)
            case Literal(atom, positive):
                known = isinstance(atom, Within) and isinstance(atom.term.type, _NUMBERS)
                found = self._within(atom) if known and isinstance(atom, Within) else self.unknown(atom)
                return found if positive else z3.Not(found)
            case Every(parts):
                return self.both([self._formula(part) for part in parts])
            case Some(parts):
                return self.either([self._formula(part) for part in parts])

    def _within(self, atom: Within) -> Claim:
        number = self._number(atom.term)
        ends = [(line.value_at(low, atom.term.type), line.value_at(end - 1, atom.term.type)) for low, end in atom.keys]
        return self._inside(number, ends)

    def _inside(self, number: Any, stretches: Iterable[tuple[Any, Any]]) -> Claim:
        return self.either([z3.And(number >= self.value(a), number <= self.value(b)) for a, b in stretches])

    def _relation(self, atom: Relation, positive: bool) -> Claim:
        """Where doubles take part the sum may be off by a little; if nobody knows by how much, it may be anything."""
        total = self.value(atom.sum.constant)
        for name, coefficient in atom.sum.coefficients:
            total = total + self.value(coefficient) * self._number(self._terms.by_name[name])
        slack = self._slack(atom) if _rounds(atom.expr) else self.value(0)
        if slack is None:
            return self.fixed(True)
        exact = z3.is_rational_value(slack)
        match atom.operator, positive:
            case "<", True:
                return total < slack
            case "<=", True:
                return total <= slack
            case "==", True:
                return z3.And(total <= slack, total >= -slack)
            case "<", False:
                return total >= -slack
            case "<=", False:
                return total > -slack
            case _:
                return total != 0 if exact else self.fixed(True)

    def _slack(self, atom: Relation) -> Claim | None:
        """More than by what rounding may move the sum; 0 where nothing is rounded, None where that can't be told."""
        expr = atom.expr
        if not isinstance(expr, p.Compare):
            return None
        left, right = linear(expr.left, self._terms), linear(expr.right, self._terms)
        errors = self._error(expr.left), self._error(expr.right)
        if left is None or right is None or errors[0] is None or errors[1] is None:
            return None
        error = z3.simplify(errors[0] + errors[1])
        if z3.is_rational_value(error) and error.numerator_as_long() == 0:
            return error
        scale = 1 / abs(left.minus(right).coefficients[0][1])
        return (error + self.value(_TINY)) * self.value(scale)

    def _error(self, expr: Expr) -> Claim | None:
        """At least by what rounding moves its value: at each step by a share of all that is put together there."""
        match expr:
            case p.Const() | p.Variable():
                return self.value(0)
            case p.Apply(signature=signature, arguments=arguments):
                errors = [self._error(argument) for argument in arguments]
                size = self._size(expr)
                if size is None or any(error is None for error in errors):
                    return None
                factor = _factor(expr)
                if factor is not None:
                    moved = z3.Sum(errors) * self.value(factor)
                    return moved if _doubles(factor) else moved + size * self.value(_ROUNDING)
                own = self.value(0) if signature.op.startswith("neg_") else size * self.value(_ROUNDING)
                return z3.Sum([*errors, own])
            case _:
                return None

    def _size(self, expr: Expr) -> Claim | None:
        """At least the magnitude of everything that is put together in it."""
        match expr:
            case p.Const(value=int() | float() as value):
                return self.value(abs(Fraction(value)))
            case p.Variable(name=name):
                number = self._number(self._terms.by_name[name])
                return z3.If(number >= 0, number, -number)
            case p.Apply(signature=signature, arguments=arguments):
                sizes: list[Any] = [self._size(argument) for argument in arguments]
                if any(size is None for size in sizes):
                    return None
                if signature.op in _SUMS:
                    return z3.Sum(sizes)
                return sizes[0] * sizes[1] if _factor(expr) is not None else None
            case _:
                return None

    def _number(self, term: Term) -> Any:
        """A term's value: inside its domain, and where its axis says."""
        place = term.place
        if self.shared is not None and place.root != Place.OPTION:
            return self.shared._number(term)
        if term.name not in self._numbers:
            sort = z3.Real if isinstance(term.type, t.Float | t.Quantity) else z3.Int
            number = self._numbers[term.name] = sort(f"{self.name}{term.name}", self._context)
            keys = self._reader.solver.domain(term)
            ends = [(line.value_at(low, term.type), line.value_at(end - 1, term.type)) for low, end in keys]
            self._solver.add(self._inside(number, ends))
            if not term.part:
                self._link_axis(term, number)
            if isinstance(place.type, t.DateTime):
                self._link_parts(term)
        return self._numbers[term.name]

    def _link_axis(self, term: Term, number: Any) -> None:
        inputs = self._side.inputs.by_key.values()
        where = Place.OPTION if term.place.root == Place.OPTION else Place.CONTEXT
        found = next((i for i in inputs if i.key[0] is where and i.path == term.place.path), None)
        if found is None:
            return
        self.inputs[found.key] = number
        axis = self.view.space.numbers.get(found.key)
        if axis is None or axis not in self.view.space.stretches:
            return
        stretches = self.view.space.stretches[axis]
        for choice, place in zip(self.choices(axis), self.view.indices(axis), strict=True):
            if place < len(stretches) and stretches[place]:
                self._solver.add(z3.Implies(choice, self._inside(number, stretches[place])))

    def _link_parts(self, term: Term) -> None:
        """A local day and time of day make the instant, by one of the offsets that the zone ever has."""
        if term.part not in ("", DAY, CLOCK):
            return
        instant, day, clock = (self._number(self._part(term, part)) for part in ("", DAY, CLOCK))
        local, offsets = day * DAY_LENGTH + clock, self._side.zone.offsets
        self._solver.add(instant >= local - max(offsets), instant <= local - min(offsets))

    def _part(self, term: Term, part: str) -> Term:
        return Term(term.place, part)

    def number(self, name: str) -> Any:
        """A new one, which may be anything."""
        return z3.Real(f"{self.name}{name}", self._context)

    def claim(self, claim: Claim) -> None:
        self._solver.add(claim)

    # --- building blocks --------------------------------------------------------------------------------------------

    def _bool(self, name: str) -> Any:
        return z3.Bool(f"{self.name}{name}", self._context)

    def fixed(self, value: bool) -> Claim:
        return z3.BoolVal(value, self._context)

    def value(self, value: int | float | Fraction) -> Any:
        exact = Fraction(value)
        return z3.Q(exact.numerator, exact.denominator, self._context)

    def either(self, parts: Sequence[Claim]) -> Claim:
        return z3.Or(*parts) if parts else self.fixed(False)

    def both(self, parts: Sequence[Claim]) -> Claim:
        return z3.And(*parts) if parts else self.fixed(True)


_SUMS = frozenset("to_float neg_int neg_float add_int add_float sub_int sub_float".split())


def _factor(expr: p.Apply) -> Fraction | None:
    """The magnitude of the constant that something is multiplied by."""
    if expr.signature.op not in ("mul_int", "mul_float"):
        return None
    values = [a.value for a in expr.arguments if isinstance(a, p.Const) and isinstance(a.value, int | float)]
    return abs(Fraction(values[0])) if values else None


def _doubles(factor: Fraction) -> bool:
    """Whether no double is rounded when it is multiplied by it."""
    return factor.denominator == 1 and factor.numerator.bit_count() == 1


_NUMBERS = (t.Int, t.Float, t.Quantity, t.Duration, t.Date, t.Time, t.DateTime)


def _of_numbers(expr: Expr) -> bool:
    """Whether it compares numbers."""
    match expr:
        case p.Compare(left=left):
            return isinstance(t.present(left.type), _NUMBERS)
        case p.InRange(value=value):
            return isinstance(t.present(value.type), _NUMBERS)
        case _:
            return False


def _repeats(expr: Expr) -> bool:
    """Whether it reads a field twice: in sums of doubles what cancels out may leave more than nothing."""
    read = [part for part in _leaves(expr) if isinstance(part, p.OptionValue | p.ContextValue)]
    return len({(type(part), part.path) for part in read}) < len(read)


def _leaves(expr: Expr) -> Iterator[Expr]:
    parts = children(expr)
    if not parts:
        yield expr
    for part in parts:
        yield from _leaves(part)


def _rounds(expr: Expr) -> bool:
    """Whether doubles take part."""
    floating = isinstance(t.present(expr.type), t.Float | t.Quantity)
    return floating or any(_rounds(part) for part in children(expr))
