"""Between which ends a number lies, when its inputs lie between theirs.

In: a numeric expression, written out, and the ends of the inputs that are known. Out: its least and greatest value, or
None where no end is known. Every operation looked at keeps an order in each of its arguments, in doubles as rounded as
they are, so the ends are those of what `evaluate` gives, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ucl.semantics import program as p
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Expr

Ends = tuple[Any, Any]
Known = Callable[[Expr], Ends | None]

# Rising or falling in each argument, whatever the others are.
_ORDERLY = frozenset(
    "add_int add_float sub_int sub_float neg_int neg_float mul_int mul_float to_float min max clamp floor ceil round "
    "duration_days duration_hours duration_minutes duration_seconds scale_duration scale_duration_by".split()
)
_DIVISIONS = frozenset({"div_float", "div_duration", "ratio_duration"})
_RAMPS = frozenset({"ramp_float", "ramp_int"})
_NEAR = frozenset({"near_float", "near_int", "near_time"})


def ends_of(expr: Expr, known: Known) -> Ends | None:
    match expr:
        case p.Const(value=bool()):
            return None
        case p.Const(value=int() | float() as value):
            return value, value
        case p.If(then=then, otherwise=otherwise):
            return _either(ends_of(then, known), ends_of(otherwise, known))
        case p.Coalesce(value=value, default=default):
            return _either(ends_of(value, known), ends_of(default, known))
        case p.Apply(signature=signature, arguments=arguments):
            return _applied(expr, signature.op, [ends_of(argument, known) for argument in arguments])
        case _:
            return known(expr)


def _either(one: Ends | None, other: Ends | None) -> Ends | None:
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def _applied(expr: p.Apply, op: str, ends: Sequence[Ends | None]) -> Ends | None:
    if op in _RAMPS | _NEAR:
        return _unit(expr, op, ends)
    if any(end is None for end in ends):
        return None
    told = [end for end in ends if end is not None]
    if op in ("abs_int", "abs_float"):
        (low, high) = told[0]
        return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if op in _ORDERLY or (op in _DIVISIONS and not told[1][0] <= 0 <= told[1][1]):
        return _corners(expr, told)
    return None


def _corners(expr: p.Apply, ends: Sequence[Ends]) -> Ends | None:
    try:
        values = [expr.signature.run(*corner) for corner in product(*ends)]
    except Overflow:
        return None
    return None if None in values else (min(values), max(values))


def _unit(expr: p.Apply, op: str, ends: Sequence[Ends | None]) -> Ends:
    """`ramp` rises or falls between two constants; `near` falls on either side of a constant."""
    unit = (0.0, 1.0)
    of, first, second = ends
    if of is None or first is None or second is None or first[0] != first[1] or second[0] != second[1]:
        return unit
    told = _corners(expr, [of, first, second])
    if told is None or op in _RAMPS:
        return told or unit
    # Round midnight the farthest time of day need not be an end.
    least = 0.0 if op == "near_time" else told[0]
    return least, (1.0 if of[0] <= first[0] <= of[1] else told[1])
