"""Ordered values as whole numbers on a line, and sets of them as intervals.

In: values of an ordered type. Out: keys, so that comparing keys is comparing values and neighbours differ by one: an
int, date, time, duration or datetime is its own key, a double its place among all doubles. What doubles lack between
two neighbours is so as exactly empty as what ints lack between 3 and 4. Sets are sorted, disjoint `[low, end)`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.calendar import FIRST_DAY, FIRST_INSTANT, LAST_DAY, LAST_INSTANT
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.types import DAY, Type

Interval = tuple[int, int]
Intervals = tuple[Interval, ...]

NOTHING: Intervals = ()
_SIGN = 1 << 63
_LAST_DOUBLE = 0x7FEF_FFFF_FFFF_FFFF


def span_of(type: Type) -> Interval | None:
    """All keys of a type, or None where its values have no order."""
    match type:
        case t.Int() | t.Duration():
            return INT_MIN, INT_MAX + 1
        case t.Float() | t.Quantity():
            return -_LAST_DOUBLE, _LAST_DOUBLE + 1
        case t.Date():
            return FIRST_DAY, LAST_DAY + 1
        case t.Time():
            return 0, DAY
        case t.DateTime():
            return FIRST_INSTANT, LAST_INSTANT + 1
        case t.Bool():
            return 0, 2
        case t.Weekday():
            return 0, 7
        case t.Closed(values):
            return 0, len(values)
        case _:
            return None


def key_of(value: Any, type: Type) -> int:
    """The place of a value; 0.0 and -0.0 are one."""
    match type:
        case t.Float() | t.Quantity():
            (bits,) = struct.unpack("<q", struct.pack("<d", float(value)))
            return int(bits) if bits >= 0 else -(bits + _SIGN)
        case t.Closed(values):
            return values.index(value)
        case _:
            return int(value)


def value_at(key: int, type: Type) -> Any:
    match type:
        case t.Float() | t.Quantity():
            bits = key if key >= 0 else -key - _SIGN
            (value,) = struct.unpack("<d", struct.pack("<q", bits))
            return value + 0.0
        case t.Bool():
            return bool(key)
        case t.Closed(values):
            return values[key]
        case _:
            return key


# --- sets of keys ---------------------------------------------------------------------------------------------------


def joined(parts: Iterable[Interval]) -> Intervals:
    """The union, as sorted intervals that do not touch."""
    found: list[Interval] = []
    for low, end in sorted(part for part in parts if part[0] < part[1]):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((low, end))
    return tuple(found)


def common(a: Intervals, b: Intervals) -> Intervals:
    """The intersection."""
    found = []
    i = j = 0
    while i < len(a) and j < len(b):
        low, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < end:
            found.append((low, end))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def complement(a: Intervals, within: Interval) -> Intervals:
    found = []
    place = within[0]
    for low, end in a:
        if place < low:
            found.append((place, low))
        place = max(place, end)
    if place < within[1]:
        found.append((place, within[1]))
    return tuple(found)


def keys_in(a: Intervals, low: int, end: int) -> bool:
    """Whether all keys of `[low, end)` lie in the set."""
    return any(first <= low and end <= last for first, last in a)


def holding(keys: Iterable[int]) -> Intervals:
    """The set of these keys."""
    return joined((key, key + 1) for key in keys)


def first_where(holds: Callable[[int], bool], low: int, end: int) -> int:
    """The first key of `[low, end)` from which on `holds`, which turns true at most once; `end` where it never does."""
    while low < end:
        middle = (low + end) // 2
        if holds(middle):
            end = middle
        else:
            low = middle + 1
    return low
