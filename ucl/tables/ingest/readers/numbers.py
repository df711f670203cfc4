"""Numbers: from Arrow's integers, floats and decimals to int64 and float64, exactly or not at all.

In: one Arrow array. Out: a `Read`. NaN is absent, an infinite number unreadable. An int takes 5.0 and refuses 1.5 and
whatever leaves 64 bits. A number in a unit becomes the double nearest to the exact product, and a duration the nearest
microsecond (half to even).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars
from ucl.tables.ingest.readers.reading import Extent, Mask, Read, both, extent_of, numpy_of, outside, settled

if TYPE_CHECKING:
    import pyarrow as pa

_INT_LIMIT = 2**63
# Doubles hold every integer up to here.
_EXACT = 2**53
_HALVES_EXACT = 2.0**50
_LARGEST = sys.float_info.max


def read_ints(array: pa.Array) -> Read:
    values, valid = numpy_of(array)
    if values.dtype.kind == "f":
        missing = _missing(values, extent_of(values))
        valid = both(valid, None if missing is None else ~missing)
        whole = (np.trunc(values) == values) & (values >= -_INT_LIMIT) & (values < _INT_LIMIT)
        return settled(np.where(whole, values, 0).astype(np.int64), valid, ~whole)
    if values.dtype == np.uint64:
        return settled(values.astype(np.int64), valid, values >= _INT_LIMIT)
    return Read(Scalars(values.astype(np.int64, copy=False), valid))


def read_floats(array: pa.Array, factor: Fraction) -> Read:
    """`factor` is how many base units one of the data's unit has; 1 for plain floats."""
    values, valid, extent = _doubles(array)
    product = exact_product(values, factor)
    if product is not values:
        extent = extent_of(product)
    beyond = outside(product, -_LARGEST, _LARGEST, extent)
    return settled(product, valid, beyond, extent)


def read_durations(array: pa.Array, factor: Fraction) -> Read:
    """Numbers of a unit of `factor` microseconds."""
    values, valid, _ = _doubles(array)
    microseconds, beyond = exact_microseconds(values, factor)
    return settled(microseconds, valid, beyond)


def _doubles(array: pa.Array) -> tuple[NDArray[Any], Mask | None, Extent | None]:
    """Numbers as they are, but that those with a point are doubles, and those that are NaN are absent; the extent,
    where it was looked for."""
    values, valid = numpy_of(array)
    extent = None
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        extent = extent_of(values)
        missing = _missing(values, extent)
        valid = both(valid, None if missing is None else ~missing)
        if valid is not None:
            values, extent = np.where(valid, values, 0.0), None
    return values, valid, extent


def exact_product(values: NDArray[Any], factor: Fraction) -> NDArray[np.float64]:
    """The double nearest to each exact product, infinite where there is none.

    One IEEE multiplication or division of exact operands is rounded correctly; whatever would need two goes through
    whole numbers, once for each distinct value.
    """
    if values.dtype.kind in "iu" and not _fits_doubles(values):
        return _by_distinct(values, lambda value: _quotient(value * factor.numerator, factor.denominator))
    doubles = values.astype(np.float64, copy=False)
    if factor == 1:
        return doubles
    with np.errstate(over="ignore"):
        if Fraction(float(factor)) == factor:
            return doubles * float(factor)
        if factor.numerator == 1 and factor.denominator <= _EXACT:
            return doubles / factor.denominator
    finite = np.isfinite(doubles)
    products = _by_distinct(np.where(finite, doubles, 0.0), lambda value: _product(value, factor))
    return np.where(finite, products, doubles)


def exact_microseconds(values: NDArray[Any], factor: Fraction) -> tuple[NDArray[np.int64], Mask | None]:
    """The whole number nearest to each exact product, half to even, and where it leaves 64 bits (0 there), if it does.

    The rounded product decides where its own error can't move it over a half; elsewhere whole numbers do.
    """
    if values.dtype.kind in "iu" and factor.denominator == 1:
        most = (_INT_LIMIT - 1) // factor.numerator
        beyond = outside(values, -most, most)
        kept = values if beyond is None else np.where(beyond, 0, values)
        return np.multiply(kept, np.int64(factor.numerator), dtype=np.int64), beyond
    doubles = values.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        rough = doubles * float(factor)
        to_half = np.abs(rough - np.floor(rough) - 0.5)
        # Two roundings, of the factor and of the product, are at most one unit in the last place and a half.
        unsure = ~((np.abs(rough) < _HALVES_EXACT) & (to_half > 2 * np.spacing(np.abs(rough))))
    result = np.rint(np.where(unsure, 0.0, rough)).astype(np.int64)
    too_large = np.zeros(len(values), np.bool_)
    for place in np.flatnonzero(unsure):
        exact = _rounded(values[place].item(), factor)
        too_large[place] = exact is None
        result[place] = exact or 0
    return result, too_large


def _missing(values: NDArray[Any], extent: Extent | None) -> Mask | None:
    """Where there is no number, if anywhere: then the least is none."""
    if extent is None or not np.isnan(extent.least):
        return None
    missing: Mask = np.isnan(values)
    return missing


def _fits_doubles(values: NDArray[Any]) -> bool:
    extent = extent_of(values)
    return extent is None or extent.within(-_EXACT, _EXACT)


def _by_distinct(values: NDArray[Any], convert: Callable[[Any], float]) -> NDArray[np.float64]:
    known, places = np.unique(values, return_inverse=True)
    return np.array([convert(value) for value in known.tolist()], np.float64)[places]


def _product(value: float, factor: Fraction) -> float:
    numerator, denominator = value.as_integer_ratio()
    return _quotient(numerator * factor.numerator, denominator * factor.denominator)


def _quotient(numerator: int, denominator: int) -> float:
    """Python divides whole numbers with one correct rounding."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf")


def _rounded(value: float, factor: Fraction) -> int | None:
    if not np.isfinite(value):
        return None
    exact = round(Fraction(value) * factor)
    return exact if -_INT_LIMIT <= exact < _INT_LIMIT else None
