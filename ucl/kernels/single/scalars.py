"""The operations of `execution.vector` on one value each.

In: ints, floats. Out: a `Scalar`: the value, and whether it overflows or is missing, which counts as 0. The commonest
are formulas of Python, which `straight` writes out; of the others NumPy's are used on an array of one, which are slower
and never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ucl.kernels.execution.vector import OPERATIONS
from ucl.semantics import calendar
from ucl.semantics.operations import HOUR, INT_MAX, INT_MIN, MINUTE
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY, SECOND

GREATEST = 1.7976931348623157e308
"""The greatest double."""


class Scalar(NamedTuple):
    value: Any
    over: bool = False
    missing: bool = False


INTS, FLOATS = (INT_MIN, INT_MAX), (-GREATEST, GREATEST)
Ends = tuple[int, int] | tuple[float, float]


class Formula(NamedTuple):
    """An operation as Python of `a`, `b` and `c`, and of `FUNCTIONS`. What it gives overflows where it is not `within`
    these ends, and where it raises `OverflowError`; it is missing where it divides by zero."""

    text: str
    within: Ends | None = None


_INSTANTS = (calendar.FIRST_INSTANT, calendar.LAST_INSTANT)
_DAYS = (calendar.FIRST_DAY, calendar.LAST_DAY)

FORMULAS: dict[str, Formula] = {
    "to_float": Formula("float(a)"),
    "add_int": Formula("a + b", INTS),
    "sub_int": Formula("a - b", INTS),
    "mul_int": Formula("a * b", INTS),
    "neg_int": Formula("-a", INTS),
    "abs_int": Formula("abs(a)", INTS),
    "add_float": Formula("a + b", FLOATS),
    "sub_float": Formula("a - b", FLOATS),
    "mul_float": Formula("a * b", FLOATS),
    "div_float": Formula("a / b", FLOATS),
    "neg_float": Formula("-a"),
    "abs_float": Formula("abs(a)"),
    "min": Formula("min(a, b)"),
    "max": Formula("max(a, b)"),
    "clamp": Formula("max(b, min(a, c))"),
    "ramp_float": Formula("ramp_float(a, b, c)", FLOATS),
    "ramp_int": Formula("ramp_int(a, b, c)", FLOATS),
    "near_float": Formula("near_float(a, b, c)", FLOATS),
    "near_int": Formula("near_int(a, b, c)", FLOATS),
    "near_time": Formula("near_time(a, b, c)", FLOATS),
    "duration_days": Formula(f"float(a) / {DAY}"),
    "duration_hours": Formula(f"float(a) / {HOUR}"),
    "duration_minutes": Formula(f"float(a) / {MINUTE}"),
    "duration_seconds": Formula(f"float(a) / {SECOND}"),
    "add_instant": Formula("a + b", _INSTANTS),
    "sub_instant": Formula("a - b", _INSTANTS),
    "add_days": Formula(f"a + b // {DAY}", _DAYS),
    "sub_days": Formula(f"a - b // {DAY}", _DAYS),
    "days_between": Formula(f"(a - b) * {DAY}"),
    "date_weekday": Formula("(a + 3) % 7"),
    "date_year": Formula("civil(a)[0]"),
    "date_month": Formula("civil(a)[1]"),
    "date_day": Formula("civil(a)[2]"),
    "time_hour": Formula(f"a // {HOUR}"),
    "time_minute": Formula(f"a // {MINUTE} % 60"),
    "wall_day": Formula(f"a // {DAY}"),
    "wall_time": Formula(f"a % {DAY}"),
    "wall_of": Formula(f"a * {DAY} + b"),
    "night_day": Formula(f"(a - {12 * HOUR}) // {DAY}"),
    "less": Formula("a < b"),
    "equal": Formula("a == b"),
}


def operate(op: str, arguments: list[Any]) -> Scalar:
    quick = _QUICK.get(op)
    if quick is not None:
        scalar: Scalar = quick(*arguments)
        return scalar
    with np.errstate(all="ignore"):
        vector = OPERATIONS[op].run(*(np.array([argument]) for argument in arguments))
    over = vector.over is not None and bool(np.ravel(vector.over)[0])
    missing = vector.missing is not None and bool(np.ravel(vector.missing)[0])
    return Scalar(np.ravel(vector.values)[0].item(), over, missing)


# --- functions of formulas ------------------------------------------------------------------------------------------


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, float(part) / float(whole)))


def _within(number: float, ends: Ends) -> float:
    if not ends[0] <= number <= ends[1]:
        raise OverflowError
    return number


def _ramp(ends: Ends) -> Callable[[float, float, float], float]:
    def ramp(x: float, start: float, end: float) -> float:
        if start == end:
            return 1.0 if x >= start else 0.0
        return _share(_within(x - start, ends), _within(end - start, ends))

    return ramp


def _near(ends: Ends, round_the_clock: bool = False) -> Callable[[float, float, float], float]:
    def near(x: float, target: float, tolerance: float) -> float:
        if tolerance <= 0:
            return 1.0 if x == target else 0.0
        apart = _within(abs(_within(x - target, ends)), ends)
        if round_the_clock:
            apart = min(apart, DAY - apart)
        return max(0.0, 1.0 - float(apart) / float(tolerance))

    return near


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ramp_float": _ramp(FLOATS),
    "ramp_int": _ramp(INTS),
    "near_float": _near(FLOATS),
    "near_int": _near(INTS),
    "near_time": _near(INTS, round_the_clock=True),
    "civil": calendar.civil_from_days,
}


# --- the commonest --------------------------------------------------------------------------------------------------


def _operation(formula: Formula) -> Callable[..., Scalar]:
    value: Callable[..., Any] = eval(f"lambda a, b=None, c=None: {formula.text}", dict(FUNCTIONS))
    if formula.within is None:
        return lambda *arguments: Scalar(value(*arguments))
    low, high = formula.within
    zero = type(low)(0)

    def checked(*arguments: Any) -> Scalar:
        try:
            found = value(*arguments)
        except OverflowError:
            return Scalar(zero, over=True)
        except ZeroDivisionError:
            return Scalar(zero, missing=True)
        return Scalar(found) if low <= found <= high else Scalar(zero, over=True)

    return checked


def _contribution(value: float, weight: float) -> Scalar:
    weighted = weight * value
    return Scalar(round(weighted * NANO)) if abs(weighted) <= MAGNITUDE else Scalar(0, over=True)


_QUICK = {op: _operation(formula) for op, formula in FORMULAS.items()} | {"contribution": _contribution}
