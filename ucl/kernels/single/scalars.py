"""The operations of `execution.vector` on one value each.

In: ints, floats. Out: a `Scalar`: the value, and whether it overflows or is missing, which counts as 0. The commonest
are written in Python; of the others NumPy's are used on an array of one, which are slower and never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ucl.kernels.execution.vector import OPERATIONS
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

_GREATEST = 1.7976931348623157e308


class Scalar(NamedTuple):
    value: Any
    over: bool = False
    missing: bool = False


def operate(op: str, arguments: list[Any]) -> Scalar:
    quick = _QUICK.get(op)
    if quick is not None:
        return quick(*arguments)
    with np.errstate(all="ignore"):
        vector = OPERATIONS[op].run(*(np.array([argument]) for argument in arguments))
    over = vector.over is not None and bool(np.ravel(vector.over)[0])
    missing = vector.missing is not None and bool(np.ravel(vector.missing)[0])
    return Scalar(np.ravel(vector.values)[0].item(), over, missing)


def _int(value: int) -> Scalar:
    return Scalar(value) if INT_MIN <= value <= INT_MAX else Scalar(0, over=True)


def _float(value: float) -> Scalar:
    return Scalar(value) if -_GREATEST <= value <= _GREATEST else Scalar(0.0, over=True)


def _contribution(value: float, weight: float) -> Scalar:
    weighted = weight * value
    return Scalar(round(weighted * NANO)) if abs(weighted) <= MAGNITUDE else Scalar(0, over=True)


_QUICK: dict[str, Callable[..., Scalar]] = {
    "wall_day": lambda wall: Scalar(wall // DAY),
    "wall_time": lambda wall: Scalar(wall % DAY),
    "night_day": lambda wall: Scalar((wall - DAY // 2) // DAY),
    "date_weekday": lambda days: Scalar((days + 3) % 7),
    "time_hour": lambda time: Scalar(time // (DAY // 24)),
    "time_minute": lambda time: Scalar(time // (DAY // 1440) % 60),
    "to_float": lambda number: Scalar(float(number)),
    "add_int": lambda a, b: _int(a + b),
    "sub_int": lambda a, b: _int(a - b),
    "mul_int": lambda a, b: _int(a * b),
    "add_float": lambda a, b: _float(a + b),
    "sub_float": lambda a, b: _float(a - b),
    "mul_float": lambda a, b: _float(a * b),
    "less": lambda a, b: Scalar(a < b),
    "equal": lambda a, b: Scalar(a == b),
    "contribution": _contribution,
}
