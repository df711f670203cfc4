"""Defaults for absent cells, and domains that values must lie in.

In: a column that was read, and its field. Out: the column with defaults filled in; a mask of the rows outside the
domain. Constants that name a wall clock are resolved in the call's zone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars, Sets, Texts
from ucl.semantics.doubles import greatest_to, least_from
from ucl.semantics.program import Domain, SetDomain, Value
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone
from ucl.tables.ingest.readers.reading import Extent, Mask, extent_of, some
from ucl.tables.ingest.readers.sets import ragged_take


def with_default(column: Scalars | Texts | Sets, absent: Mask, value: Any) -> Scalars | Texts | Sets:
    """The column with `value` in every absent row."""
    valid = None if column.valid is None else column.valid | absent
    valid = None if valid is None or valid.all() else valid
    match column:
        case Scalars():
            return Scalars(np.where(absent, np.asarray(value, column.values.dtype), column.values), valid)
        case Texts():
            dictionary, code = _placed(column.dictionary, value)
            return Texts(np.where(absent, np.int32(code), column.codes), valid, dictionary)
        case Sets():
            return _sets_with_default(column, absent, value, valid)


def outside_domain(
    column: Scalars | Texts | Sets, domain: Domain, zone: Zone, extent: Extent | None = None
) -> Mask | None:
    """Rows whose value the domain refuses. `extent` is of the column's values, where it is known."""
    match column:
        case Scalars():
            if _all_accepted(column.values, domain, zone, extent):
                return None
            outside = ~_accepted(column.values, domain, zone)
        case Texts():
            accepted = np.array([_has(domain, word) for word in (*column.dictionary, "")], np.bool_)
            outside = ~accepted[column.codes]
        case Sets():
            raise AssertionError("no domain is a set of sets")
    refused = outside if column.valid is None else outside & column.valid
    return some(refused)


def _all_accepted(values: NDArray[Any], domain: Domain, zone: Zone, extent: Extent | None) -> bool:
    """Whether the least and the greatest show that all are, which is seen sooner than it is for each."""
    if isinstance(domain, SetDomain) or values.dtype == np.bool_:
        return False
    extent = extent or extent_of(values)
    return extent is None or bool(_accepted(np.array(extent, values.dtype), replace(domain, wraps=False), zone).all())


def _accepted(values: NDArray[Any], domain: Domain, zone: Zone) -> Mask:
    if isinstance(domain, SetDomain):
        return np.isin(values, np.array(sorted(domain.values), values.dtype))
    low = None if domain.low is None else constant(domain.low, zone)
    high = None if domain.high is None else constant(domain.high, zone)
    everywhere = np.ones(len(values), np.bool_)
    from_low = everywhere if low is None else values >= _at_least(low, values.dtype)
    if high is None:
        to_high = everywhere
    else:
        to_high = values <= _at_most(high, values.dtype) if domain.inclusive else values < _at_least(high, values.dtype)
    wrapped = domain.wraps and low is not None and high is not None and low > high
    accepted: Mask = np.logical_or(from_low, to_high) if wrapped else np.logical_and(from_low, to_high)
    return accepted


def ends_of(domain: Domain, dtype: Any, zone: Zone) -> tuple[float, float] | None:
    """The least and the greatest value of the column's type that the domain accepts, where it is one range."""
    if isinstance(domain, SetDomain) or domain.wraps:
        return None
    low = None if domain.low is None else constant(domain.low, zone)
    high = None if domain.high is None else constant(domain.high, zone)
    least = -np.inf if low is None else _at_least(low, dtype)
    if high is None:
        return least, np.inf
    if domain.inclusive:
        return least, _at_most(high, dtype)
    beyond = _at_least(high, dtype)
    return least, float(np.nextafter(beyond, -np.inf)) if dtype == np.float64 else beyond - 1


def _at_least(bound: float, dtype: Any) -> Any:
    """The least value of the column's type that is not below the bound, so that nothing is compared rounded."""
    if dtype == np.float64:
        return least_from(bound)
    return math.ceil(bound)


def _at_most(bound: float, dtype: Any) -> Any:
    if dtype == np.float64:
        return greatest_to(bound)
    return math.floor(bound)


def _has(domain: Domain, word: str) -> bool:
    return isinstance(domain, SetDomain) and word in domain.values


def _placed(dictionary: tuple[str, ...], word: str) -> tuple[tuple[str, ...], int]:
    """The dictionary with the word in it, and its place."""
    if word in dictionary:
        return dictionary, dictionary.index(word)
    return (*dictionary, word), len(dictionary)


def _sets_with_default(column: Sets, absent: Mask, value: Value, valid: Mask | None) -> Sets:
    assert isinstance(value, frozenset)
    dictionary = column.dictionary
    members: list[Any] = []
    ordered: list[Any] = sorted(value, key=repr)
    for member in ordered:
        if isinstance(member, str):
            dictionary, member = _placed(dictionary or (), member)
        members.append(member)
    if not members:
        return replace(column, valid=valid)
    lengths = np.where(absent, len(members), np.diff(column.offsets))
    starts = np.where(absent, len(column.elements), column.offsets[:-1])
    offsets, elements = ragged_take(np.append(column.elements, members).astype(np.int64), starts, lengths)
    return Sets(offsets, elements, valid, dictionary, column.repeats)
