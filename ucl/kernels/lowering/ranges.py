"""How small and how large values can be, by what a schema says of its fields.

In: a schema's domains, a node of the graph and the ranges of its arguments. Out: its `Range`, or None where nothing is
known. Rows that lie outside are invalid, and absent ones are never looked at, so that a test which a range decides is
no test, and what can't leave its type needs no mask that says where it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from ucl.kernels.columns import Path
from ucl.kernels.plan import Constant, Operation, Read, Select, SetSize, ValueNode
from ucl.semantics import calendar
from ucl.semantics import types as t
from ucl.semantics.operations import INT_MAX, INT_MIN, Overflow
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.program import Field, RangeDomain, Schema, SetDomain
from ucl.semantics.types import DAY
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone


class Range(NamedTuple):
    """All values lie from `low` to `high`; either may be infinite, of doubles and of ints."""

    low: float
    high: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def has_no_zero(self) -> bool:
        return self.low > 0 or self.high < 0


OfColumn = Callable[[Path], Range | None]

_EVERYTHING = Range(-math.inf, math.inf)

_OF_TYPES: Mapping[type[t.Type], Range] = {
    t.Weekday: Range(0, 6),
    t.Time: Range(0, DAY - 1),
    t.Date: Range(calendar.FIRST_DAY, calendar.LAST_DAY),
    t.DateTime: Range(calendar.FIRST_INSTANT, calendar.LAST_INSTANT),
}
_OF_PARTS: Mapping[str, Range] = {
    "wall_time": Range(0, DAY - 1),
    "date_weekday": Range(0, 6),
    "date_month": Range(1, 12),
    "date_day": Range(1, 31),
    "time_hour": Range(0, 23),
    "time_minute": Range(0, 59),
}


def of_columns(schema: Schema, zone: Zone) -> OfColumn:
    """The ranges of the columns that rows of the schema have."""
    known: dict[Path, Range | None] = {}

    def of_column(path: Path) -> Range | None:
        if path not in known:
            known[path] = _of_field(_field_at(schema, path), zone)
        return known[path]

    return of_column


def _field_at(schema: Schema, path: Path) -> Field | None:
    """None where the path leads to no field, as that of a column that is made does."""
    found = None
    for name in path:
        found = schema.field(name)
        if found is None:
            return None
        kind = t.present(found.type)
        if isinstance(kind, t.Record):
            schema = kind.schema
    return found


def _of_field(field: Field | None, zone: Zone) -> Range | None:
    if field is None:
        return None
    found = _OF_TYPES.get(type(t.present(field.type)), _EVERYTHING)
    match field.domain:
        case RangeDomain(low, high, _, wraps) if not wraps:
            least = -math.inf if low is None else constant(low, zone)
            most = math.inf if high is None else constant(high, zone)
            found = Range(max(found.low, least), min(found.high, most))
        case SetDomain(values):
            numbers = [value for value in values if isinstance(value, int)]
            if numbers:
                found = Range(min(numbers), max(numbers))
    if field.default is not None and found != _EVERYTHING:
        found = _with_default(field, found, zone)
    return None if found == _EVERYTHING or found.low > found.high else found


def _with_default(field: Field, found: Range, zone: Zone) -> Range:
    """Of a default nobody asks whether it lies in the domain."""
    assert field.default is not None
    try:
        value = constant(field.default, zone)
    except Overflow:  # a row that would need it is invalid
        return found
    return Range(min(found.low, value), max(found.high, value))


def of_value(node: ValueNode, of_column: OfColumn, ranges: Sequence[Range | None]) -> Range | None:
    """`ranges` are those of the values before it. Never None where a part is one of `_OF_PARTS`."""
    match node:
        case Read(path):
            return of_column(path)
        case Constant(value):
            return Range(value, value)
        case SetSize():
            return Range(0, math.inf)
        case Select(_, then, otherwise):
            return _hull(ranges[then], ranges[otherwise])
        case Operation(op, arguments):
            part = _OF_PARTS.get(op)
            if part is not None:
                return part
            ends = [ranges[argument] for argument in arguments]
            known = [end for end in ends if end is not None and end.finite]
            run = _MONOTONE.get(op)
            if run is None or len(known) < len(ends) or (op == "div_float" and not known[1].has_no_zero):
                return None
            return _of_corners(run, known, _WITHIN.get(op, _EVERYTHING))
        case _:
            return None


def _hull(first: Range | None, second: Range | None) -> Range | None:
    if first is None or second is None:
        return None
    return Range(min(first.low, second.low), max(first.high, second.high))


# Operations that take their least and their greatest value where each argument does: in each argument they go one way.
# Rounding goes along, since of two numbers the greater is never rounded to a smaller one.
_MONOTONE: Mapping[str, Callable[..., float]] = {
    "add_int": lambda a, b: a + b,
    "sub_int": lambda a, b: a - b,
    "mul_int": lambda a, b: a * b,
    "neg_int": lambda a: -a,
    "add_float": lambda a, b: float(a + b),
    "sub_float": lambda a, b: float(a - b),
    "mul_float": lambda a, b: float(a * b),
    "div_float": lambda a, b: float(a / b),
    "neg_float": lambda a: -a,
    "to_float": float,
    "min": min,
    "max": max,
    "contribution": lambda value, weight: _nearest(weight * value * NANO),
}
# Doubles that may have a fraction.
_FRACTIONS = 2.0**53


def _nearest(value: float) -> float:
    return float(round(value)) if abs(value) < _FRACTIONS else value


def _of_corners(run: Callable[..., float], ends: Sequence[Range], limits: Range) -> Range | None:
    """None where a corner leaves the type: products of products would soon have more digits than a double can hold."""
    corners = [run(*corner) for corner in product(*ends)]
    return Range(min(corners), max(corners)) if all(limits.low <= corner <= limits.high for corner in corners) else None


_WITHIN: Mapping[str, Range] = {
    **dict.fromkeys(("add_int", "sub_int", "mul_int"), Range(INT_MIN, INT_MAX)),
    "neg_int": Range(INT_MIN, INT_MAX),
    **dict.fromkeys(("add_float", "sub_float", "mul_float", "div_float"), _EVERYTHING),
    # One unit less than a contribution may be, since the product with it is rounded once more.
    "contribution": Range(-MAGNITUDE * NANO + 1, MAGNITUDE * NANO - 1),
}


def stays_within(node: ValueNode, found: Range | None) -> bool:
    """Whether a value of this range never leaves its type."""
    if not isinstance(node, Operation) or found is None or not found.finite:
        return False
    limits = _WITHIN.get(node.op)
    return limits is not None and limits.low <= found.low and found.high <= limits.high


def is_never_missing(node: ValueNode, ranges: Sequence[Range | None]) -> bool:
    """Whether what may have no value, as a quotient by 0, always has one."""
    if not isinstance(node, Operation) or node.op != "div_float":
        return False
    divisor = ranges[node.arguments[1]]
    return divisor is not None and divisor.has_no_zero
