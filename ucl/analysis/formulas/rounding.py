"""What rounding may make of a comparison of sums of doubles.

In: a comparison over terms. Out: by how much its sides, as doubles are put together, may be off from the sums that they
stand for; and a key by which comparisons are told apart that are one comparison of reals and two of doubles, such as
`price + fee > limit` and `price > limit - fee`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ucl.analysis.formulas.linear import Sum, linear
from ucl.analysis.formulas.terms import Terms
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.program import Expr
from ucl.semantics.values.read import constant

# Each operation rounds by at most half of this share of its result, or by at most the least double.
_SHARE = Fraction(1, 1 << 52)
_WHOLE = 1 << 53
_LEAST = Fraction(1, 1 << 1074)
_EXACT = frozenset("neg_int neg_float add_int sub_int mul_int add_instant sub_instant days_between at".split())
_SUMS = frozenset("to_float add_float sub_float neg_int neg_float add_int sub_int add_instant sub_instant at".split())
_COMMUTING = frozenset("add_int add_float mul_int mul_float".split())

# By the name of a term, how often its magnitude counts; by "" what is added to that.
Size = Mapping[str, Fraction]


@frozen
class Slack:
    """`off` bounds how far the one side minus the other may be from the sum that they stand for, in the sum's own
    scale. `once`: the value of one side is a sum rounded once, and the other side exact, so that what is strictly less
    (or more) as doubles is so as reals."""

    off: Size
    once: bool


def slack(expr: Expr, terms: Terms) -> Slack | None:
    """Of a comparison; nothing is off where nothing is rounded. None where it can't be told."""
    if not isinstance(expr, p.Compare):
        return None
    sums = linear(expr.left, terms), linear(expr.right, terms)
    sides = _off(expr.left, terms), _off(expr.right, terms)
    if sums[0] is None or sums[1] is None or sides[0] is None or sides[1] is None:
        return None
    difference: Sum = sums[0].minus(sums[1])
    if not difference.coefficients:
        return None
    off = _scaled(_together(sides), 1 / abs(difference.coefficients[0][1]))
    return Slack(
        off,
        any(not one and _rounds_last(side, terms) for one, side in zip(sides, (expr.right, expr.left), strict=True)),
    )


def key(expr: Expr, terms: Terms) -> object:
    """None for a comparison in which nothing is rounded."""
    found = slack(expr, terms)
    if found is not None and not found.off:
        return None
    return tuple(sorted((_shape(expr.left), _shape(expr.right)))) if isinstance(expr, p.Compare) else _shape(expr)


def _shape(expr: Expr) -> str:
    match expr:
        case p.Apply(signature=signature, arguments=arguments):
            parts = [_shape(argument) for argument in arguments]
            return f"{signature.op}({','.join(sorted(parts) if signature.op in _COMMUTING else parts)})"
        case p.Variable(name=name):
            return name
        case p.Const(value=value):
            return repr(value)
        case _:
            return repr(expr)


def _off(expr: Expr, terms: Terms) -> Size | None:
    """At least by what rounding moves the value of a linear expression."""
    match expr:
        case p.Const() | p.Variable():
            return {}
        case p.Apply(signature=signature, arguments=(p.Variable(name=name),)) if (
            signature.op == "to_float" and _is_small(name, terms)
        ):
            return {}
        case p.Apply(signature=signature, arguments=arguments):
            parts = [_off(argument, terms) for argument in arguments]
            size = _size(expr)
            if size is None or any(part is None for part in parts):
                return None
            factor = _factor(expr)
            moved = _scaled(_together(parts), 1 if factor is None else factor)
            if signature.op in _EXACT or (factor is not None and _is_power(factor) and signature.op != "div_duration"):
                return moved
            whole = isinstance(t.present(expr.type), t.Duration)
            own = {"": Fraction(1)} if whole else {**_scaled(size, _SHARE), "": size.get("", 0) * _SHARE + _LEAST}
            return _together([moved, own])
        case _:
            return None


def _size(expr: Expr) -> Size | None:
    """At least the magnitude of everything that is put together in it."""
    match expr:
        case p.Const(value=int() | float() as value):
            return {"": abs(Fraction(value))}
        case p.Variable(name=name):
            return {name: Fraction(1)}
        case p.Apply(signature=signature, arguments=arguments):
            sizes = [_size(argument) for argument in arguments]
            if any(size is None for size in sizes):
                return None
            if signature.op in _SUMS:
                return _together(sizes)
            factor = _factor(expr)
            if factor is None:
                return None
            return _scaled(
                _together([s for a, s in zip(arguments, sizes, strict=True) if not isinstance(a, p.Const)]), factor
            )
        case _:
            return None


def _factor(expr: p.Apply) -> Fraction | None:
    """The magnitude of the constant that something is multiplied by."""
    match expr.signature.op, expr.arguments:
        case (
            ("mul_int" | "mul_float"),
            (p.Const(value=int() | float() as value), _) | (_, p.Const(value=int() | float() as value)),
        ):
            return abs(Fraction(value))
        case (("div_float" | "div_duration"), (_, p.Const(value=int() | float() as value))) if value:
            return 1 / abs(Fraction(value))
        case "days_between", _:
            return Fraction(1)
        case _:
            return None


def _is_small(name: str, terms: Terms) -> bool:
    """Whether an int is one that every double of its size can tell from the next."""
    match terms.by_name[name].place.declared.domain:
        case p.RangeDomain(low, high) if low is not None and high is not None and not terms.by_name[name].part:
            ends = [constant(end, terms.zone) for end in (low, high)]
        case p.SetDomain(values):
            ends = [end for end in values if isinstance(end, int)]
        case _:
            return bool(terms.by_name[name].part)
    return all(abs(end) <= _WHOLE for end in ends)


def _is_power(factor: Fraction) -> bool:
    """Whether a double that is multiplied by it is not rounded."""
    return factor.denominator == 1 and factor.numerator.bit_count() == 1


def _rounds_last(expr: Expr, terms: Terms) -> bool:
    """Whether all that is rounded is what the last operation gives."""
    return isinstance(expr, p.Apply) and not any(_off(argument, terms) for argument in expr.arguments)


def _together(sizes: Any) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for size in sizes:
        for name, amount in size.items():
            found[name] = found.get(name, Fraction(0)) + amount
    return found


def _scaled(size: Size, factor: Fraction | int) -> dict[str, Fraction]:
    return {name: amount * factor for name, amount in size.items()}
