"""Values that a person would give as an example, out of what is possible.

In: a type and an interval of keys. Out: the key in it that reads best: half past one rather than 13:29:59.999999, a
Tuesday, a round number, the fewest digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ucl.analysis.formulas import line
from ucl.semantics import types as t
from ucl.semantics.calendar import weekday_of_days
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.types import SECOND, Type, Unit

USUAL_DAY = 20_515  # Tuesday, 2026-03-03
USUAL_TIME = 13 * HOUR + 30 * MINUTE
# From Tuesday on, the weekend last.
_WEEKDAY_ORDER = (3, 0, 1, 2, 4, 5, 6)

_TIMES = (
    USUAL_TIME,
    *(h * HOUR for h in (12, 10, 15, 9, 11, 14, 16, 17, 18, 8, 19, 20, 7, 21, 22, 13, 23, 6, 5, 0, 1, 2, 3, 4)),
    *(h * HOUR + 30 * MINUTE for h in (16, 10, 15, 9, 17, 18, 8, 19, 7, 20, 21, 22, 23, 6, 0, 3)),
)
_DURATIONS = tuple(m * MINUTE for m in (30, 60, 15, 45, 90, 120, 180, 240, 480, 10, 5, 1, 1440, 2880, 10080))
_NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000, 0)
_GRAINS = (HOUR, 30 * MINUTE, 15 * MINUTE, 5 * MINUTE, MINUTE, SECOND, SECOND // 1000, 1)


def nice_key(type: Type, low: int, end: int, unit: Unit | None = None) -> int:
    """The key of `[low, end)` that reads best."""
    match type:
        case t.Time():
            return _first(_TIMES, low, end, _coarsest(low, end, _GRAINS, USUAL_TIME))
        case t.Duration():
            return _first(_DURATIONS, low, end, _coarsest(low, end, (24 * HOUR, *_GRAINS), 30 * MINUTE))
        case t.Date():
            return nice_day(low, end)
        case t.Int():
            return _first(_NUMBERS, low, end, _coarsest(low, end, _TENS, 0))
        case t.Float() | t.Quantity():
            return line.key_of(_nice_double(low, end, type, unit), type)
        case _:
            return low


_TENS = tuple(10**power for power in range(18, -1, -1))


def _first(usual: Iterable[int], low: int, end: int, otherwise: int) -> int:
    return next((key for key in usual if low <= key < end), otherwise)


def _coarsest(low: int, end: int, grains: Iterable[int], near: int) -> int:
    """A multiple of the coarsest grain that has one here, the nearest to what is usual."""
    near = max(low, min(near, end - 1))
    for grain in grains:
        for key in ((near // grain) * grain, -(-near // grain) * grain):
            if low <= key < end:
                return key
    return near


def nice_day(low: int, end: int, near: int = USUAL_DAY) -> int:
    """The Tuesday nearest to the usual one, or the next best weekday."""
    middle = max(low, min(near, end - 1))
    days = range(max(low, middle - 7), min(end, middle + 8))
    return min(days, key=lambda day: day_order(day, near))


def day_order(day: int, near: int = USUAL_DAY) -> tuple[int, int]:
    return _WEEKDAY_ORDER[weekday_of_days(day)], abs(day - near)


def _nice_double(low: int, end: int, type: Type, unit: Unit | None) -> float:
    """In the unit in which data give it, where there is one."""
    factor = Fraction(1) if unit is None else unit.factor
    first, last = Fraction(line.value_at(low, type)) / factor, Fraction(line.value_at(end - 1, type)) / factor
    for number in _NUMBERS:
        if first <= number <= last and _inside(Fraction(number) * factor, low, end, type):
            return float(Fraction(number) * factor)
    middle = (first + last) / 2
    if abs(middle) > 10**15:
        return float(line.value_at(max(low, min(0, end - 1)), type))
    for digits in range(18):
        scale = 10**digits
        rounded = Fraction(round(middle * scale), scale)
        for candidate in (
            rounded,
            Fraction(math.ceil(first * scale), scale),
            Fraction(math.floor(last * scale), scale),
        ):
            if _inside(candidate * factor, low, end, type):
                return float(candidate * factor)
    return float(line.value_at((low + end - 1) // 2, type))


def _inside(value: Fraction, low: int, end: int, type: Type) -> bool:
    try:
        return low <= line.key_of(float(value), type) < end
    except OverflowError:
        return False


def several_keys(type: Type, low: int, end: int, unit: Unit | None = None) -> list[int]:
    """A handful of keys spread over `[low, end)`, the nicest first: to try where nothing says which will do."""
    found = [nice_key(type, low, end, unit)]
    if isinstance(type, t.Float | t.Quantity):
        first, last = line.value_at(low, type), line.value_at(end - 1, type)
        spread = [first + (last / 2 - first / 2) * 2 * share for share in (0.5, 0.25, 0.75, 0.1, 0.9)]
        spread = [value for value in spread if math.isfinite(value)]
        found += [line.key_of(round(value, 2), type) for value in spread]
        found += [line.key_of(float(number), type) for number in (*_NUMBERS, -1, -10, -100)]
        found += [line.key_of(value, type) for value in spread]
    else:
        found += _usual(type)
        found += [found[0] - 1, found[0] + 1]
        found += [low + (end - 1 - low) * part // 8 for part in range(1, 8)]
    return [key for key in dict.fromkeys([*found, low, end - 1]) if low <= key < end]


def _usual(type: Type) -> tuple[int, ...]:
    match type:
        case t.Duration():
            return _DURATIONS
        case t.Time():
            return _TIMES
        case t.Int():
            return _NUMBERS
        case _:
            return ()
