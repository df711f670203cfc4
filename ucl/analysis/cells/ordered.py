"""Values of numbers, lengths of time and times of day, around the constants that they are compared with.

In: a range of the type and constants. Out: values, one at least in every stretch that the constants can tell apart, on
both sides of each constant; and in each stretch one that people would write: 13:30, 20, 0.5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.doubles import least_above, least_from
from ucl.semantics.operations import HOUR, INT_MAX, INT_MIN, MINUTE, Overflow
from ucl.semantics.types import DAY, SECOND

LARGEST_FLOAT = 1.7976931348623157e308
NOON = 12 * HOUR
# From what people write first to what nobody does.
_GRAINS = (HOUR, 30 * MINUTE, 15 * MINUTE, 5 * MINUTE, MINUTE, SECOND, 1000, 1)


# --- whole numbers --------------------------------------------------------------------------------------------------


def ints_around(constants: Iterable[Any], low: int, high: int, kind: t.Type) -> set[int]:
    """In each stretch of [low, high] that the constants make: its ends and one that people would write."""
    cuts = sorted({cut for c in constants for cut in (math.ceil(c), math.floor(c) + 1) if low < cut <= high})
    found = set()
    for start, end in pairwise([low, *cuts, high + 1]):
        found |= {start, end - 1, _plain_int(start, end - 1, kind)}
    return found if low <= high else set()


def _plain_int(first: int, last: int, kind: t.Type) -> int:
    match kind:
        case t.Time():
            return plain_time(first, last)
        case t.Duration():
            return _multiple(first, last, (HOUR, *_GRAINS)) if first > 0 or last < HOUR else HOUR
        case _:
            digits = len(str(max(first, -last, 1)))
            return _multiple(first, last, (10**power for power in range(digits, -1, -1)))


def _multiple(first: int, last: int, sizes: Iterable[int]) -> int:
    """The multiple of the first size of which one lies between, the nearest to 0."""
    if first <= 0 <= last:
        return 0
    for size in sizes:
        multiple = -(-first // size) * size if first > 0 else last // size * size
        if first <= multiple <= last:
            return multiple
    return first


def plain_time(first: int, last: int) -> int:
    """A time of day as people make appointments: on the hour, by day where it can be."""
    for grain in _GRAINS:
        here = [m * grain for m in {-(-first // grain), last // grain, min(max(NOON, first), last) // grain}]
        inside = [time for time in here if first <= time <= last]
        if inside:
            return min(inside, key=lambda time: abs(time - NOON))
    return first


def grain_of(time: int) -> int:
    """0 for a whole hour, more the finer it is."""
    return next(place for place, grain in enumerate(_GRAINS) if time % grain == 0)


# --- doubles --------------------------------------------------------------------------------------------------------


def floats_around(constants: Iterable[Any], low: float, high: float) -> set[float]:
    cuts = sorted({cut for c in constants for cut in (least_from(c), least_above(c)) if low < cut <= high})
    found: set[float] = set()
    for start, end in pairwise([low, *cuts, math.nextafter(high, math.inf)]):
        last = math.nextafter(end, -math.inf)
        found |= {start + 0.0, last + 0.0, _plain_float(start, last)}
    return found if low <= high else set()


def _plain_float(first: float, last: float) -> float:
    """The shortest decimal that lies between, no longer than it must be: beyond 5 it is 10, whatever the end."""
    if first <= 0.0 <= last:
        return 0.0
    highest = math.floor(math.log10(max(first, -last))) + 1
    for power in range(min(highest, 308), highest - 20, -1):
        size = Fraction(10) ** power
        multiple = math.ceil(Fraction(first) / size) if first > 0 else math.floor(Fraction(last) / size)
        try:
            plain = float(multiple * size)
        except OverflowError:
            continue
        if first <= plain <= last:
            return plain
    return first


# --- numbers that grow or fall with the field -----------------------------------------------------------------------


def passing(function: Callable[[Any], Any], constant: Any, low: Any, high: Any) -> set[Any]:
    """Where a steady function of a number in [low, high] passes a constant, or begins to overflow: both sides."""
    if isinstance(low, float):
        return {
            _double(place)
            for place in _passing(lambda i: _state(function, constant, _double(i)), _ordinal(low), _ordinal(high))
        }
    return _passing(lambda i: _state(function, constant, i), low, high)


def _passing(state: Callable[[int], int | None], low: int, high: int) -> set[int]:
    anchors = [low, *([0] if low < 0 < high else []), high]
    return {place for a, b in pairwise(anchors) for place in _between(state, a, b)}


def _between(state: Callable[[int], int | None], a: int, b: int) -> Iterator[int]:
    todo = [(a, state(a), b, state(b))]
    while todo:
        a, at_a, b, at_b = todo.pop()
        if at_a == at_b:
            continue
        if b - a <= 1:
            yield a
            yield b
            continue
        middle = (a + b) // 2
        between = state(middle)
        todo += [(a, at_a, middle, between), (middle, between, b, at_b)]


def _state(function: Callable[[Any], Any], constant: Any, value: Any) -> int | None:
    try:
        result = function(value)
    except Overflow:
        return None
    return None if result is None else (result > constant) - (result < constant)


def _ordinal(value: float) -> int:
    """The place of a double among all doubles, 0.0 at 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _double(ordinal: int) -> float:
    value: float = struct.unpack("<d", struct.pack("<q", abs(ordinal)))[0]
    return value if ordinal >= 0 else -value


def type_range(kind: t.Type) -> tuple[Any, Any]:
    """The least and the greatest value of an ordered type other than dates and instants."""
    match kind:
        case t.Float() | t.Quantity():
            return -LARGEST_FLOAT, LARGEST_FLOAT
        case t.Time():
            return 0, DAY - 1
        case t.Weekday():
            return 0, 6
        case _:
            return INT_MIN, INT_MAX
