"""The doubles next to a number that may be none itself: whoever compares a column of doubles with it compares exactly.

In: a number of any kind. Out: a double, infinite where there is none that far out.
"""

from __future__ import annotations

import math


def least_from(number: float) -> float:
    """The least double that is not below."""
    nearest = _nearest(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def least_above(number: float) -> float:
    """The least double that is above."""
    nearest = least_from(number)
    return nearest if nearest > number else math.nextafter(nearest, math.inf)


def greatest_to(number: float) -> float:
    """The greatest double that is not above."""
    nearest = _nearest(number)
    return nearest if nearest <= number else math.nextafter(nearest, -math.inf)


def _nearest(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
