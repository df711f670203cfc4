"""Datetimes in text to wall clocks, by whole columns where they are spelled in the usual ways.

In: distinct texts. Out: `Clocks`. Texts of one length are a matrix of bytes, whose columns are digits and marks; what
is spelled otherwise (or wrongly) is left to `semantics.values.iso`, one text at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.values.iso import WallClock
from ucl.tables.ingest.readers.reading import Mask, indices_of, numpy_of

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# `2026-03-04T09:30`, then seconds, then three or six decimals; then nothing, `Z`, or `+01:00`.
_BODIES = {16: 0, 19: 0, 23: 3, 26: 6}
_ENDS = (0, 1, 6)
_DAYS_BEFORE = np.array([0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334], np.int64)
_DAYS_IN = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
_EPOCH_YEAR_DAYS = 719_162  # from 0001-01-01 to 1970-01-01


@frozen
class Clocks:
    """For each text, and past the last for null: what the clock shows and its offset east of UTC, in microseconds;
    whether it has no offset; and whether it was read at all."""

    local: Ints
    offset: Ints
    naive: Mask
    read: Mask

    def put(self, place: int, clock: WallClock) -> None:
        self.local[place] = clock.local
        self.offset[place] = clock.offset or 0
        self.naive[place] = clock.offset is None
        self.read[place] = True


def read_clocks(words: pa.Array) -> Clocks:
    """Nulls, and texts in other spellings, are not read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    count = len(words) + 1
    nothing, naive = np.zeros(count, np.int64), np.ones(count, np.bool_)
    clocks = Clocks(nothing, nothing.copy(), naive, np.zeros(count, np.bool_))
    lengths, _ = numpy_of(pc.binary_length(words))
    for body in _BODIES:
        for end in _ENDS:
            places = np.flatnonzero(lengths == body + end)
            if len(places):
                texts = words.take(indices_of(places)).cast(pa.binary()).cast(pa.binary(body + end))
                matrix = np.frombuffer(texts.buffers()[1], np.uint8, len(places) * (body + end))
                _read_matrix(matrix.reshape(len(places), body + end), body, end, places, clocks)
    return clocks


def _read_matrix(text: Bytes, body: int, end: int, places: Ints, clocks: Clocks) -> None:
    """Fills in the clocks at `places`, one for each row of the matrix."""
    parts = _Parts(text)
    days = _days(parts.number(0, 4), parts.number(5, 2), parts.number(8, 2), parts)
    parts.expect(4, "-")
    parts.expect(7, "-")
    parts.expect(10, "T ")
    time = _clock(parts, 11) + (parts.number(17, 2, below=60) * SECOND if body >= 19 else 0)
    if body >= 19:
        parts.expect(16, ":")
    if decimals := _BODIES[body]:
        parts.expect(19, ".")
        time = time + parts.number(20, decimals) * 10 ** (6 - decimals)
    if end == 1:
        parts.expect(body, "Zz")
    elif end:
        parts.expect(body, "+-")
        east = _clock(parts, body + 1)
        clocks.offset[places] = np.where(text[:, body] == ord("-"), -east, east)
    clocks.local[places] = days * DAY + time
    clocks.naive[places] = end == 0
    clocks.read[places] = parts.fine


class _Parts:
    """The numbers and marks in rows of text; `fine` where everything asked for so far was there."""

    def __init__(self, text: Bytes) -> None:
        self.text = text
        self.fine = np.ones(len(text), np.bool_)

    def number(self, start: int, digits: int, below: int | None = None) -> Ints:
        value = np.zeros(len(self.text), np.int64)
        for column in range(start, start + digits):
            digit = self.text[:, column] - np.uint8(ord("0"))
            self.fine &= digit <= 9
            value = value * 10 + digit
        if below is not None:
            self.fine &= value < below
        return value

    def expect(self, column: int, marks: str) -> None:
        self.fine &= np.isin(self.text[:, column], np.frombuffer(marks.encode(), np.uint8))


def _clock(parts: _Parts, start: int) -> Ints:
    parts.expect(start + 2, ":")
    hours, minutes = parts.number(start, 2, below=24), parts.number(start + 3, 2, below=60)
    return (hours * 60 + minutes) * (60 * SECOND)


def _days(year: Ints, month: Ints, day: Ints, parts: _Parts) -> Ints:
    """Days since 1970-01-01 of days that exist."""
    parts.fine &= (year >= 1) & (month >= 1) & (month <= 12)
    month = np.where(parts.fine, month, 1)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    parts.fine &= (day >= 1) & (day <= _DAYS_IN[month] + (leap & (month == 2)))
    past = year - 1
    whole_years: Ints = past * 365 + past // 4 - past // 100 + past // 400
    days: Ints = whole_years + _DAYS_BEFORE[month] + (leap & (month > 2)) + day - 1 - _EPOCH_YEAR_DAYS
    return days
