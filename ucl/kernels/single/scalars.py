"""The operations of `execution.vector` on one value each.

In: ints, floats. Out: a `Scalar`: the value, and whether it overflows or is missing, which counts as 0. The commonest
are formulas of Python, which `straight` writes out; of the others NumPy's are used on an array of one, which are slower
and never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from ucl.kernels.execution.vector import OPERATIONS
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

GREATEST = 1.7976931348623157e308
"""The greatest double."""


class Scalar(NamedTuple):
    value: Any
    over: bool = False
    missing: bool = False


class Formula(NamedTuple):
    """An operation as Python of `a` and `b`. What it gives overflows unless it is `within` the type, where one is
    named."""

    text: str
    within: Literal["int", "float"] | None = None


FORMULAS: dict[str, Formula] = {
    "wall_day": Formula(f"a // {DAY}"),
    "wall_time": Formula(f"a % {DAY}"),
    "night_day": Formula(f"(a - {DAY // 2}) // {DAY}"),
    "date_weekday": Formula("(a + 3) % 7"),
    "time_hour": Formula(f"a // {DAY // 24}"),
    "time_minute": Formula(f"a // {DAY // 1440} % 60"),
    "to_float": Formula("float(a)"),
    "add_int": Formula("a + b", "int"),
    "sub_int": Formula("a - b", "int"),
    "mul_int": Formula("a * b", "int"),
    "add_float": Formula("a + b", "float"),
    "sub_float": Formula("a - b", "float"),
    "mul_float": Formula("a * b", "float"),
    "less": Formula("a < b"),
    "equal": Formula("a == b"),
}
INTS, FLOATS = (INT_MIN, INT_MAX), (-GREATEST, GREATEST)
LIMITS: dict[str, tuple[int, int] | tuple[float, float]] = {"int": INTS, "float": FLOATS}


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


def _operation(formula: Formula) -> Callable[..., Scalar]:
    value: Callable[..., Any] = eval(f"lambda a, b=None: {formula.text}")
    if formula.within is None:
        return lambda *arguments: Scalar(value(*arguments))
    low, high = LIMITS[formula.within]
    zero = type(low)(0)

    def checked(*arguments: Any) -> Scalar:
        found = value(*arguments)
        return Scalar(found) if low <= found <= high else Scalar(zero, over=True)

    return checked


def _contribution(value: float, weight: float) -> Scalar:
    weighted = weight * value
    return Scalar(round(weighted * NANO)) if abs(weighted) <= MAGNITUDE else Scalar(0, over=True)


_QUICK = {op: _operation(formula) for op, formula in FORMULAS.items()} | {"contribution": _contribution}
