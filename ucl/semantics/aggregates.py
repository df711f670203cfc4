"""What comprehensions and batch builtins make of many values: the folds of LANGUAGE §5.

In: present values in their order, and their type. Out: a value, None where there is none of nothing, or `Overflow`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.operations import Overflow, checked_float, checked_int, div_duration
from ucl.semantics.types import Type


def total(values: Sequence[Any], type: Type) -> Any:
    """The sum: exact in ints and durations, rounded once in floats and quantities; 0 of nothing."""
    if isinstance(type, t.Float | t.Quantity):
        return _float_total(values)
    return checked_int(sum(values))


def mean(values: Sequence[Any], type: Type) -> Any:
    """The sum divided by the count, as `/` divides: a float of ints, otherwise of the values' own type."""
    if not values:
        return None
    if isinstance(type, t.Duration):
        return div_duration(total(values, type), float(len(values)))
    return checked_float(float(total(values, type)) / float(len(values)))


def _float_total(values: Sequence[float]) -> float:
    try:
        return checked_float(math.fsum(values))
    except OverflowError:  # fsum's word for a sum that no double holds, or a part of one, which depends on the order
        pass
    try:
        return float(sum(map(Fraction, values)))
    except OverflowError:
        raise Overflow from None


def mode(values: Sequence[Any]) -> Any:
    """The commonest value; of equally common ones the one met first."""
    counts = Counter(values)
    return max(counts, key=counts.__getitem__) if counts else None


def frequent(values: Sequence[Any], share: float) -> frozenset[Any]:
    """The values that make up at least that share: count >= share * n, exactly, for the share as one writes it."""
    least = Fraction(str(share)) * len(values)
    return frozenset(value for value, count in Counter(values).items() if count >= least)
