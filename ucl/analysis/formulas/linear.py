"""Linear sums of terms: what a solver for linear arithmetic is told.

In: numeric expressions over terms. Out: `coefficients × terms + constant` in exact fractions, or None. Doubles are
taken as the reals that they stand for; what rounding makes of that is seen when a witness is replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ucl.analysis.formulas.terms import CLOCK, DAY, Terms
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.program import Expr
from ucl.semantics.types import DAY as DAY_LENGTH
from ucl.semantics.types import SECOND

_NUMERIC = (t.Int, t.Float, t.Quantity, t.Duration, t.Date, t.Time, t.DateTime)
_PARTS_OF_DURATION = {
    "duration_days": DAY_LENGTH,
    "duration_hours": HOUR,
    "duration_minutes": MINUTE,
    "duration_seconds": SECOND,
}


@frozen
class Sum:
    """`coefficients` are by the term's name, sorted, none of them 0."""

    coefficients: tuple[tuple[str, Fraction], ...]
    constant: Fraction

    def plus(self, other: Sum) -> Sum:
        found = dict(self.coefficients)
        for name, coefficient in other.coefficients:
            found[name] = found.get(name, Fraction(0)) + coefficient
        return _sum(found, self.constant + other.constant)

    def minus(self, other: Sum) -> Sum:
        return self.plus(other.scaled(Fraction(-1)))

    def scaled(self, factor: Fraction) -> Sum:
        return _sum({name: c * factor for name, c in self.coefficients}, self.constant * factor)


def _sum(coefficients: Mapping[str, Fraction], constant: Fraction) -> Sum:
    kept = tuple(sorted((name, c) for name, c in coefficients.items() if c != 0))
    return Sum(kept, constant)


def constant_sum(value: float | Fraction) -> Sum:
    return Sum((), Fraction(value))


def linear(expr: Expr, terms: Terms) -> Sum | None:
    match expr:
        case p.Const(value=bool()) | p.Const(value=None):
            return None
        case p.Const(value=int() | float() as value):
            return constant_sum(value)
        case p.Variable(name=name) if isinstance(expr.type, _NUMERIC):
            return Sum(((name, Fraction(1)),), Fraction(0))
        case p.Apply(signature=signature, arguments=arguments):
            return _applied(signature.op, [linear(a, terms) for a in arguments], terms)
        case _:
            return None


def _applied(op: str, sums: list[Sum | None], terms: Terms) -> Sum | None:
    first = sums[0]
    second = sums[1] if len(sums) > 1 else None
    if first is None:
        return None
    if op == "to_float":
        return first
    if op in ("neg_int", "neg_float"):
        return first.scaled(Fraction(-1))
    if op in _PARTS_OF_DURATION:
        return first.scaled(Fraction(1, _PARTS_OF_DURATION[op]))
    if second is None:
        return None
    match op:
        case "add_int" | "add_float" | "add_instant":
            return first.plus(second)
        case "sub_int" | "sub_float" | "sub_instant":
            return first.minus(second)
        case "days_between":
            return first.minus(second).scaled(Fraction(DAY_LENGTH))
        case "add_days" | "sub_days":
            if second.coefficients:
                return None
            days = Fraction(second.constant // DAY_LENGTH)
            return first.plus(constant_sum(days if op == "add_days" else -days))
        case "mul_int" | "mul_float":
            if not second.coefficients:
                return first.scaled(second.constant)
            return second.scaled(first.constant) if not first.coefficients else None
        case "div_float" | "div_duration":
            return None if second.coefficients or second.constant == 0 else first.scaled(1 / second.constant)
        case "at":
            if terms.zone.transitions or DAY == CLOCK:
                return None
            offset = constant_sum(terms.zone.offsets[0])
            return first.scaled(Fraction(DAY_LENGTH)).plus(second).minus(offset)
        case _:
            return None
