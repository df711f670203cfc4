"""Conditions of a program, read as formulas.

In: typed conditions. Out: formulas in negation normal form. `if`, `??` and the presence of partial results are taken
apart into cases first, so that an atom is free of them; what can't be decided becomes an `Unknown`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ucl.analysis.formulas import line, rounding
from ucl.analysis.formulas.formula import (
    FALSE,
    TRUE,
    Atom,
    Formula,
    Holds,
    Is,
    Literal,
    Relation,
    Unknown,
    Within,
    every,
    literals,
    negated,
    some,
)
from ucl.analysis.formulas.line import Intervals
from ucl.analysis.formulas.linear import Sum, linear
from ucl.analysis.formulas.sampled import is_sampled, of_size, within_sizes
from ucl.analysis.formulas.solve import Solver
from ucl.analysis.formulas.terms import (
    CLOCK,
    COUNT,
    DAY,
    MINUTE_PART,
    NIGHT,
    WEEKDAY_PART,
    FieldPath,
    Place,
    Term,
    Terms,
    fields_read,
    valued,
)
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.outcome import Call
from ucl.semantics.parts import children, mapped
from ucl.semantics.program import Expr
from ucl.semantics.types import BOOL
from ucl.semantics.types import DAY as DAY_LENGTH

# --- reading --------------------------------------------------------------------------------------------------------


# An `if` or `??` inside an atom doubles it; past so many cases the atom is unknown.
_MOST_CASES = 64
_LISTED = 40  # two closed texts are compared value by value up to so many


class Reader:
    """Reads conditions of one schema. Atoms that are alike are one, so that axes see each of them once."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.solver = Solver(terms)
        self._atoms: dict[Expr, Formula] = {}
        self.interned: dict[Atom, Atom] = {}
        self._fields: dict[frozenset[FieldPath], frozenset[FieldPath]] = {}
        self._call = Call(terms.zone, 0, 0)

    def condition(self, expr: Expr | None) -> Formula:
        return TRUE if expr is None else self._formula(self.terms.written_out(expr), True)

    def atoms(self, formulas: Iterable[Formula]) -> tuple[Atom, ...]:
        """Those of the formulas, in their order, each once: atoms that are equal are one object."""
        found = dict.fromkeys(each.atom for formula in formulas for each in literals(formula))
        return tuple(self.interned.setdefault(atom, atom) for atom in found)

    def fields(self, exprs: Iterable[Expr | None]) -> frozenset[FieldPath]:
        """What expressions speak of; sets that are equal are one object."""
        found = frozenset(field for expr in exprs if expr is not None for field in fields_read(expr))
        return self._fields.setdefault(found, found)

    def comparison(self, expr: Expr, operator: str, value: float) -> Formula:
        """`expr operator value` for a number of any kind, such as a score."""
        return self._formula(
            p.Compare(BOOL, expr.span, operator, self.terms.written_out(expr), p.Const(t.FLOAT, expr.span, value)), True
        )

    def different(self, a: Expr, b: Expr) -> Formula:
        left, right = self.terms.written_out(a), self.terms.written_out(b)
        if left == right:
            return FALSE
        return self._formula(p.Compare(BOOL, a.span, "!=", left, right), True)

    def day_in(self, first: int | None, end: int | None) -> Formula:
        """Whether today lies in these days."""
        place = self.terms.place("context", ("now",))
        term = Term(place, DAY)
        self.terms.by_name.setdefault(term.name, term)
        low, high = line.span_of(t.DATE) or (0, 0)
        keys = line.joined([(low if first is None else first, high if end is None else end)])
        return Literal(Within(term, keys), True)

    def _formula(self, expr: Expr, positive: bool) -> Formula:
        match expr:
            case p.Const(value=value):
                return TRUE if bool(value) is positive else FALSE
            case p.And(operands=operands):
                parts = [self._formula(operand, positive) for operand in operands]
                return every(parts) if positive else some(parts)
            case p.Or(operands=operands):
                parts = [self._formula(operand, positive) for operand in operands]
                return some(parts) if positive else every(parts)
            case p.Not(operand=operand):
                return self._formula(operand, not positive)
            case p.If(condition=condition, then=then, otherwise=otherwise):
                return self._either(self._formula(condition, True), then, otherwise, positive)
            case p.Coalesce(value=value, default=default):
                return self._either(self._presence(value), value, default, positive)
            case p.Present(value=value):
                found = self._presence(value)
                return found if positive else negated(found)
            case p.Compare(operator="==" | "!=" as operator, left=left, right=right) if isinstance(left.type, t.Bool):
                same = self._same(left, right)
                return same if (operator == "==") is positive else negated(same)
            case _:
                found = self._atom(expr)
                return found if positive else negated(found)

    def _either(self, condition: Formula, then: Expr, otherwise: Expr, positive: bool) -> Formula:
        yes = every((condition, self._formula(then, positive)))
        no = every((negated(condition), self._formula(otherwise, positive)))
        return some((yes, no))

    def _same(self, left: Expr, right: Expr) -> Formula:
        both = every((self._formula(left, True), self._formula(right, True)))
        neither = every((self._formula(left, False), self._formula(right, False)))
        return some((both, neither))

    # --- presence ---------------------------------------------------------------------------------------------------

    def _presence(self, expr: Expr) -> Formula:
        match expr:
            case p.Const(value=value):
                return FALSE if value is None else TRUE
            case p.Variable(name=name) if name in self.terms.by_name:
                return self._place_is(self.terms.by_name[name].place)
            case p.OptionValue(path=path):
                return self._place_is(self.terms.place("option", path))
            case p.ContextValue(path=path):
                return self._place_is(self.terms.place("context", path))
            case p.Apply(signature=signature, arguments=arguments):
                parts = [self._presence(a) for a in arguments]
                if signature.partial:
                    zero = p.Const(t.FLOAT, expr.span, 0.0)
                    parts.append(self._formula(p.Compare(BOOL, expr.span, "!=", arguments[1], zero), True))
                return every(parts)
            case p.If(condition=condition, then=then, otherwise=otherwise):
                holds = self._formula(condition, True)
                yes, no = self._presence(then), self._presence(otherwise)
                return some((every((holds, yes)), every((negated(holds), no))))
            case p.Coalesce(value=value, default=default):
                return some((self._presence(value), self._presence(default)))
            case _ if isinstance(expr.type, t.Optional):
                return Literal(Unknown(p.Present(BOOL, expr.span, expr)), True)
            case _:
                return TRUE

    def _place_is(self, place: Place) -> Formula:
        around = [Literal(Is(self.terms.place(place.root, path)), True) for path in place.optional]
        own = [Literal(Is(place), True)] if place.may_be_absent else []
        return every([*around, *own])

    # --- atoms ------------------------------------------------------------------------------------------------------

    def _atom(self, expr: Expr) -> Formula:
        known = self._atoms.get(expr)
        if known is None:
            cases = self._by_cases(expr)
            known = self._atoms[expr] = self._classified(expr) if cases is None else cases
        return known

    def _by_cases(self, expr: Expr) -> Formula | None:
        """Takes apart what decides between values inside an atom; None where nothing does."""
        if _decisions(expr) == 0:
            return None
        if _decisions(expr) > _MOST_CASES.bit_length():
            return Literal(Unknown(expr), True)
        inner = _first_decision(expr)
        assert inner is not None
        if isinstance(inner, p.If):
            condition, yes, no = self._formula(inner.condition, True), inner.then, inner.otherwise
        else:
            condition, yes, no = self._presence(inner.value), inner.value, inner.default
        then = self._formula(_with(expr, inner, yes), True)
        otherwise = self._formula(_with(expr, inner, no), True)
        return some((every((condition, then)), every((negated(condition), otherwise))))

    def _classified(self, expr: Expr) -> Formula:
        names, free = _variables(expr)
        if free or not names <= self.terms.by_name.keys():
            return Literal(Unknown(expr), True)
        if not names:
            return self._constant(expr)
        if len(names) == 1:
            (name,) = names
            return self._about(self.terms.by_name[name], expr)
        return self._between(expr, sorted(names))

    def _constant(self, expr: Expr) -> Formula:
        value = valued(expr, self._call)(None)
        if value is None:
            return Literal(Unknown(expr), True)
        return TRUE if value else FALSE

    def _about(self, term: Term, expr: Expr) -> Formula:
        if isinstance(term.type, t.Text | t.Set):
            return self._of_samples(term, expr)
        keys = self.solver.keys(term, expr)
        if keys is not None:
            return self._part_within(term, keys)
        return self._relation(expr) or Literal(Unknown(expr), True)

    def _of_samples(self, term: Term, expr: Expr) -> Formula:
        """Samples answer what they are made for. Of another test that reads a text or set by its size alone, the sizes
        are found; of all else a sample that passes may be missing, unless every value is listed."""
        if isinstance(term.place.declared.domain, p.SetDomain) or is_sampled(expr):
            return Literal(Holds(term, expr), True)
        count = Term(term.place, COUNT)
        counted = of_size(expr, p.Variable(count.type, expr.span, count.name))
        if term.name in _variables(counted)[0]:
            return Literal(Unknown(expr), True)
        self.terms.by_name.setdefault(count.name, count)
        keys = self.solver.keys(count, counted)
        tests = None if keys is None else within_sizes(expr, keys)
        if tests is None:
            return Literal(Unknown(expr), True)
        return some(Literal(Holds(term, test), True) for test in tests)

    def _part_within(self, term: Term, keys: Intervals) -> Formula:
        """Minutes as times of day, and nights as days and halves of the day, since axes know nothing of them."""
        if term.part == MINUTE_PART:
            minutes = [range(low, end) for low, end in keys]
            clock = Term(term.place, CLOCK if isinstance(term.place.type, t.DateTime) else "")
            spans = [
                (hour * HOUR + m * MINUTE, hour * HOUR + (m + 1) * MINUTE)
                for hour in range(24)
                for ms in minutes
                for m in ms
            ]
            return self._within(clock, line.joined(spans))
        if term.part == NIGHT:
            clock, weekday = Term(term.place, CLOCK), Term(term.place, WEEKDAY_PART)
            noon = DAY_LENGTH // 2
            same = every((self._within(clock, ((noon, DAY_LENGTH),)), self._within(weekday, keys)))
            next_day = line.holding((key + 1) % 7 for low, end in keys for key in range(low, end))
            return some((same, every((self._within(clock, ((0, noon),)), self._within(weekday, next_day)))))
        return self._within(term, keys)

    def _within(self, term: Term, keys: Intervals) -> Formula:
        if not keys:
            return FALSE
        self.terms.by_name.setdefault(term.name, term)
        return Literal(Within(term, keys), True)

    def _between(self, expr: Expr, names: list[str]) -> Formula:
        match expr:
            case p.InRange() if not isinstance(expr.low, p.Const | None) or not isinstance(expr.high, p.Const | None):
                return self._formula(_as_comparisons(expr), True)
            case p.InRange():
                return self._formula(_as_comparisons(expr), True)
            case p.InSet(value=value, container=p.Const(value=members)):
                parts = [
                    p.Compare(BOOL, expr.span, "==", value, p.Const(value.type, expr.span, member))
                    for member in sorted(members)  # type: ignore[arg-type, type-var]
                ]
                if len(parts) <= _LISTED:
                    return self._formula(p.Or(BOOL, expr.span, tuple(parts)), True)
            case p.Compare(operator="!="):
                return negated(self._atom(replace(expr, operator="==")))
            case p.Compare(operator="==", left=p.Variable(), right=p.Variable()):
                listed = self._value_by_value(expr, names)
                if listed is not None:
                    return listed
        return self._relation(expr) or Literal(Unknown(expr), True)

    def _value_by_value(self, expr: p.Compare, names: list[str]) -> Formula | None:
        """Equality of two fields with few values each."""
        terms = [self.terms.by_name[name] for name in names]
        if not all(isinstance(term.type, t.Closed | t.Weekday) for term in terms):
            return None
        values = [_values(term.type) for term in terms]
        shared = [value for value in values[0] if value in values[1]]
        if len(shared) > _LISTED:
            return None
        both = []
        for value in shared:
            keys = [line.key_of(value, term.type) for term in terms]
            both.append(every(self._part_within(term, ((k, k + 1),)) for term, k in zip(terms, keys, strict=True)))
        return some(both)

    def _relation(self, expr: Expr) -> Formula | None:
        match expr:
            case p.InRange():
                return self._formula(_as_comparisons(expr), True)
            case p.Compare(operator="!="):
                return negated(self._atom(replace(expr, operator="==")))
            case p.Compare(operator=operator, left=left, right=right):
                first, second = linear(left, self.terms), linear(right, self.terms)
                if first is None or second is None:
                    return None
                total = first.minus(second)
                if first.coefficients and not total.coefficients and isinstance(t.present(left.type), _ROUNDED):
                    return None  # what is left of reals that cancel out, doubles may round away
                return _compared(total, operator, expr, rounding.key(expr, self.terms))
            case _:
                return None


def _compared(total: Sum, operator: str, expr: Expr, rounded: object) -> Formula:
    """In the one form in which relations are written: the first coefficient is 1."""
    if not total.coefficients:
        return TRUE if _COMPARED[operator](total.constant) else FALSE
    scaled = total.scaled(1 / abs(total.coefficients[0][1]))
    if operator == "==":
        if scaled.coefficients[0][1] < 0:
            scaled = scaled.scaled(Fraction(-1))
        return Literal(Relation(scaled, "==", expr, rounded), True)
    if operator in (">", ">="):
        scaled, operator = scaled.scaled(Fraction(-1)), {">": "<", ">=": "<="}[operator]
    if scaled.coefficients[0][1] > 0:
        return Literal(Relation(scaled, operator, expr, rounded), True)
    opposite = {"<": "<=", "<=": "<"}[operator]
    return Literal(Relation(scaled.scaled(Fraction(-1)), opposite, expr, rounded), False)


_ROUNDED = (t.Float, t.Quantity)
_COMPARED: dict[str, Any] = {
    "<": lambda x: x < 0,
    "<=": lambda x: x <= 0,
    ">": lambda x: x > 0,
    ">=": lambda x: x >= 0,
    "==": lambda x: x == 0,
}


def _as_comparisons(expr: p.InRange) -> Expr:
    """`low <= value and value < high`, or the two ways round of a range that may wrap."""
    parts: list[Expr] = []
    if expr.low is not None:
        parts.append(p.Compare(BOOL, expr.span, "<=", expr.low, expr.value))
    if expr.high is not None:
        parts.append(p.Compare(BOOL, expr.span, "<=" if expr.inclusive else "<", expr.value, expr.high))
    if len(parts) == 2 and expr.wraps:
        assert expr.low is not None
        assert expr.high is not None
        turned = p.Compare(BOOL, expr.span, ">", expr.low, expr.high)
        return p.If(BOOL, expr.span, turned, p.Or(BOOL, expr.span, tuple(parts)), p.And(BOOL, expr.span, tuple(parts)))
    return parts[0] if len(parts) == 1 else p.And(BOOL, expr.span, tuple(parts))


def _values(type: t.Type) -> list[Any]:
    low, end = line.span_of(type) or (0, 0)
    return [line.value_at(key, type) for key in range(low, end)]


def _variables(expr: Expr) -> tuple[set[str], bool]:
    """The variables of an expression, and whether something in it can't be known."""
    names: set[str] = set()
    work = [expr]
    free = False
    while work:
        part = work.pop()
        match part:
            case p.Variable(name=name):
                names.add(name)
            case p.Const():
                pass
            case (
                p.Comprehension()
                | p.BatchValue()
                | p.MemoryValue()
                | p.DefCall()
                | p.LetValue()
                | p.LocalInstant()
                | p.RuleFact()
                | p.OutcomeValue()
                | p.OptionValue()
                | p.ContextValue()
                | p.Member()
            ):
                free = True
        work.extend(children(part))
    return names, free


def _decisions(expr: Expr) -> int:
    """How many `if` and `??` stand in an expression, outside of what is one whole anyway."""
    if isinstance(expr, p.Comprehension | p.BatchValue):
        return 0
    own = 1 if isinstance(expr, p.If | p.Coalesce) else 0
    return own + sum(_decisions(child) for child in children(expr))


def _first_decision(expr: Expr) -> p.If | p.Coalesce | None:
    if isinstance(expr, p.Comprehension | p.BatchValue):
        return None
    if isinstance(expr, p.If | p.Coalesce):
        return expr
    return next((found for child in children(expr) if (found := _first_decision(child)) is not None), None)


def _with(expr: Expr, old: Expr, new: Expr) -> Expr:
    """The expression with one part of it, and all its copies, replaced."""
    if expr is old or (type(expr) is type(old) and expr == old):
        return new
    return mapped(expr, lambda part: _with(part, old, new))
