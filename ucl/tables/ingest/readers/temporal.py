"""Dates, times, instants and lengths of time from Arrow's own types, by whole columns.

In: one Arrow array. Out: a `Read` in days or microseconds. A timestamp without a zone is a wall clock in the call's
zone: of two instants that show it the first is meant, and one that the clock skips moves forward by the gap.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars
from ucl.semantics import calendar
from ucl.semantics.outcome import Reason
from ucl.semantics.types import DAY
from ucl.semantics.values.iso import WallClock
from ucl.semantics.zones import Zone
from ucl.tables.ingest.readers.clocks import read_clocks
from ucl.tables.ingest.readers.reading import (
    Distinct,
    Mask,
    Parse,
    Read,
    both,
    either,
    numpy_of,
    outside,
    settled,
    some,
)

if TYPE_CHECKING:
    import pyarrow as pa

# Microseconds in one of Arrow's units, or how many of them make a microsecond.
_MULTIPLE = {"s": 1_000_000, "ms": 1000, "us": 1}
_NANOSECONDS = 1000
_MS_PER_DAY = 86_400_000


def read_dates(array: pa.Array) -> Read:
    """date32, date64, and timestamps without a zone that stand at midnight."""
    import pyarrow as pa

    if pa.types.is_date32(array.type):
        days, valid = numpy_of(array.view(pa.int32()))
        days = days.astype(np.int64)
        return _within(days, valid, calendar.FIRST_DAY, calendar.LAST_DAY)
    if pa.types.is_date64(array.type):
        milliseconds, valid = numpy_of(array.view(pa.int64()))
        return _within(milliseconds // _MS_PER_DAY, valid, calendar.FIRST_DAY, calendar.LAST_DAY)
    walls = _microseconds(array)
    return settled(walls.values // DAY, walls.valid, either(walls.beyond, walls.values % DAY != 0))


def read_times(array: pa.Array) -> Read:
    import pyarrow as pa

    storage = pa.int32() if pa.types.is_time32(array.type) else pa.int64()
    counts, valid = numpy_of(array.view(storage))
    microseconds = _scaled(counts.astype(np.int64), array.type.unit)
    return _within(microseconds, valid, 0, DAY - 1)


def read_instants(array: pa.Array, zone: Zone) -> Read:
    times = _microseconds(array)
    if array.type.tz is not None:
        return settled(times.values, times.valid, times.beyond)
    return local_instants(times.values, times.valid, times.beyond, zone)


def read_lengths(array: pa.Array) -> Read:
    """Arrow durations; those that leave 64 bits in microseconds are unreadable."""
    import pyarrow as pa

    counts, valid = numpy_of(array.view(pa.int64()))
    unit = array.type.unit
    most = np.iinfo(np.int64).max // _MULTIPLE.get(unit, 1)
    beyond = outside(counts, -most, most)
    return settled(_scaled(counts if beyond is None else np.where(beyond, 0, counts), unit), valid, beyond)


def read_datetime_texts(texts: Distinct, parse: Parse, zone: Zone) -> Read:
    """Datetimes by their distinct texts, of which `parse` reads those in unusual spellings as `WallClock`s.

    A text with an offset is an instant; what the others say depends on the zone.
    """
    words, codes = texts.words, texts.codes
    clocks = read_clocks(words)
    wrong = np.zeros(len(words) + 1, np.bool_)
    for place in np.flatnonzero(~clocks.read[:-1]).tolist():
        cell = parse(words[place].as_py())
        if isinstance(cell, WallClock):
            clocks.put(place, cell)
        wrong[place] = cell is Reason.UNREADABLE
    walls, naive = clocks.local[codes], clocks.naive[codes]
    valid = None if clocks.read[:-1].all() and not texts.has_null else clocks.read[codes]
    read = local_instants(walls, naive if valid is None else valid & naive, ~naive, zone)
    if not naive.all():
        assert isinstance(read.column, Scalars)
        instants = np.where(naive, read.column.values, walls - clocks.offset[codes])
        beyond = either(_beyond(instants), read.unreadable)
        read = replace(settled(instants, valid, beyond), folds=read.folds, gaps=read.gaps)
    elif valid is None and read.unreadable is None:
        assert isinstance(read.column, Scalars)
        read = replace(read, column=Scalars(read.column.values, None))
    return replace(read, unreadable=either(some(wrong[codes]), read.unreadable))


def local_instants(walls: NDArray[np.int64], valid: Mask | None, beyond: Mask | None, zone: Zone) -> Read:
    """Wall clocks in `zone` (microseconds) to instants; `beyond` are out of range already."""
    clock = _clock(zone)
    usable = both(valid, None if beyond is None else ~beyond)
    instants, irregular = _resolve(walls, clock)
    folds = gaps = 0
    if irregular is not None:
        places = np.searchsorted(clock.ends, walls[irregular if usable is None else irregular & usable], side="right")
        gaps = int(clock.forward[places].sum())
        folds = len(places) - gaps
    return replace(settled(instants, valid, either(beyond, _beyond(instants))), folds=folds, gaps=gaps)


def _beyond(instants: NDArray[np.int64]) -> Mask | None:
    """Instants outside the years 1 to 9999 in UTC."""
    return outside(instants, calendar.FIRST_INSTANT, calendar.LAST_INSTANT)


class _Clock:
    """A zone's history as arrays. A wall clock at place i of `ends` lies `offsets[i]` east of UTC, and is a fold or a
    gap (`forward[i]`) where it is not before `starts[i]`."""

    def __init__(self, zone: Zone) -> None:
        changes = np.array(zone.transitions, np.int64)
        self.offsets = np.array(zone.offsets, np.int64)
        self.ends = np.array(zone.wall_ends, np.int64)
        before, after = self.offsets[:-1], self.offsets[1:]
        never = np.iinfo(np.int64).max
        self.starts = np.append(changes + np.minimum(before, after), never)
        self.forward = np.append(after > before, False)


_clock = lru_cache(maxsize=64)(_Clock)


def _resolve(walls: NDArray[np.int64], clock: _Clock) -> tuple[NDArray[np.int64], Mask | None]:
    """Instants, and the rows that are folds or gaps. Only the years that the data spans are searched."""
    if len(walls) == 0:
        return walls, None
    first, last = np.searchsorted(clock.ends, [walls.min(), walls.max()], side="right")
    if first == last:
        return walls - clock.offsets[first], some(walls >= clock.starts[first])
    places = first + np.searchsorted(clock.ends[first:last], walls, side="right")
    return walls - clock.offsets[places], some(walls >= clock.starts[places])


class _Microseconds:
    """A timestamp column in microseconds: 0 where null or `beyond` the years 1 to 9999."""

    def __init__(self, values: NDArray[np.int64], valid: Mask | None, beyond: Mask | None) -> None:
        self.values, self.valid, self.beyond = values, valid, beyond


def _microseconds(array: pa.Array) -> _Microseconds:
    import pyarrow as pa

    counts, valid = numpy_of(array.view(pa.int64()))
    unit = array.type.unit
    if unit == "ns":  # 64 bits hold none beyond
        return _Microseconds(counts // _NANOSECONDS, valid, None)
    first, last = calendar.FIRST_INSTANT // _MULTIPLE[unit], calendar.LAST_INSTANT // _MULTIPLE[unit]
    beyond = outside(counts, first, last)
    if beyond is not None:
        counts = np.where(beyond, 0, counts)
    return _Microseconds(_scaled(counts, unit), valid, beyond)


def _scaled(counts: NDArray[np.int64], unit: str) -> NDArray[np.int64]:
    if unit == "ns":
        return counts // _NANOSECONDS
    return counts if unit == "us" else counts * _MULTIPLE[unit]


def _within(values: NDArray[np.int64], valid: Mask | None, first: int, last: int) -> Read:
    return settled(values, valid, outside(values, first, last))
