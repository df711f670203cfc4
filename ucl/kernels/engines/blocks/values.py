"""Values of one block: what the commonest operations of `execution.vector` do, step for step.

In: addresses of int64 or float64 rows. Out: rows at another address, and the mask of rows in which a result leaves its
type, where one is asked for. There the value means nothing, and is never looked at. This module imports numba.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import njit

from ucl.kernels.engines.blocks.addresses import float64s, int8s, int16s, int32s, int64s, uint64s
from ucl.kernels.engines.blocks.opcodes import ADD, DIVIDE, GREATEST, HOUR, LEAST, MULTIPLY, SUBTRACT, WEEKDAY
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

_DAY, _NANO, _MAGNITUDE = DAY, float(NANO), MAGNITUDE
_HOUR, _MINUTE = DAY // 24, DAY // 1440
_GREATEST = sys.float_info.max
_NEVER = np.int64(2**63 - 1)
_PER_DAY = 2.0**13 / DAY
_SEVENTH = 1.0 / 7.0

# Local times are found for so many rows at a time, by addition where at most so many changes of offset lie among them.
_ROWS_OF_A_ZONE = 1024
_FEW_CHANGES = 8

# --- time -----------------------------------------------------------------------------------------------------------


@njit
def place_of(instant, transitions):  # type: ignore[no-untyped-def]
    """How many of the transitions, which ascend, are not after the instant. What numba has for NumPy's `searchsorted`
    stands in a module that imports SciPy, where there is one, in each process that loads the kernel."""
    first, beyond = 0, transitions.shape[0]
    while first < beyond:
        middle = (first + beyond) >> 1
        if transitions[middle] <= instant:
            first = middle + 1
        else:
            beyond = middle
    return first


@njit
def to_wall(instants, transitions, offsets, walls, rows):  # type: ignore[no-untyped-def]
    """Of a few rows at a time, the first and the last instant say which changes of offset lie between: mostly none."""
    given, found = int64s(instants, rows), int64s(walls, rows)
    for start in range(0, rows, _ROWS_OF_A_ZONE):
        here = given[start : start + _ROWS_OF_A_ZONE]
        out = found[start : start + _ROWS_OF_A_ZONE]
        earliest = here[0]
        latest = here[0]
        for row in range(here.shape[0]):
            earliest = min(earliest, here[row])
            latest = max(latest, here[row])
        first = place_of(earliest, transitions)
        last = place_of(latest, transitions)
        if last - first > _FEW_CHANGES:
            for row in range(here.shape[0]):
                out[row] = here[row] + offsets[place_of(here[row], transitions)]
            continue
        # Two changes go with the first pass, since a year has as many; where there are fewer they come never.
        offset = offsets[first]
        one = transitions[first] if last > first else _NEVER
        two = transitions[first + 1] if last > first + 1 else _NEVER
        to_one = offsets[first + 1] - offset if last > first else 0
        to_two = offsets[first + 2] - offsets[first + 1] if last > first + 1 else 0
        for row in range(here.shape[0]):
            out[row] = here[row] + offset + (to_one if here[row] >= one else 0) + (to_two if here[row] >= two else 0)
        for change in range(first + 2, last):
            moment = transitions[change]
            step = offsets[change + 1] - offsets[change]
            for row in range(here.shape[0]):
                out[row] += step if here[row] >= moment else 0


@njit
def whole_days(wall):  # type: ignore[no-untyped-def]
    """The day of a wall clock of the years 1 to 9999, as a double. A day is a whole number of 2^13 microseconds, of
    which doubles hold all there are; half of one more keeps the quotient so far from the next whole number that
    rounding never reaches it."""
    return np.floor((np.float64(wall >> 13) + 0.5) * _PER_DAY)


@njit
def split(walls, days, times, weekdays, rows):  # type: ignore[no-untyped-def]
    """`day_of`, `time_of` and the weekday, in one pass."""
    given, day_rows = int64s(walls, rows), int64s(days, rows)
    time_rows, weekday_rows = int64s(times, rows), int64s(weekdays, rows)
    for row in range(rows):
        day = whole_days(given[row])
        day_rows[row] = np.int64(day)
        time_rows[row] = given[row] - np.int64(day) * _DAY
        weekday_rows[row] = np.int64(day + 3.0 - 7.0 * np.floor((day + 3.5) * _SEVENTH))


@njit
def time_of(walls, times, rows):  # type: ignore[no-untyped-def]
    """The time of day of each wall clock."""
    given, out = int64s(walls, rows), int64s(times, rows)
    for row in range(rows):
        out[row] = given[row] - np.int64(whole_days(given[row])) * _DAY


@njit
def day_of(walls, back, days, rows):  # type: ignore[no-untyped-def]
    """The day of each wall clock that is turned back by so much."""
    given, out = int64s(walls, rows), int64s(days, rows)
    for row in range(rows):
        out[row] = np.int64(whole_days(given[row] - back))


@njit
def part(kind, values, parts, rows):  # type: ignore[no-untyped-def]
    """A part of each day or time of day. Days lie within some three million of 1970, so that 32 bits hold them, moved
    on by whole weeks."""
    given, out = int64s(values, rows), int64s(parts, rows)
    if kind == WEEKDAY:
        for row in range(rows):
            out[row] = np.uint32(given[row] + 7_000_003) % np.uint32(7)
    elif kind == HOUR:
        for row in range(rows):
            out[row] = np.uint64(given[row]) // np.uint64(_HOUR)
    else:
        for row in range(rows):
            out[row] = np.uint64(given[row]) // np.uint64(_MINUTE) % np.uint64(60)


# --- numbers --------------------------------------------------------------------------------------------------------


@njit
def no_rows(mask, rows):  # type: ignore[no-untyped-def]
    if mask:
        words = uint64s(mask, rows // 64)
        for word in range(words.shape[0]):
            words[word] = np.uint64(0)


@njit
def set_row(mask, row):  # type: ignore[no-untyped-def]
    if mask:
        words = uint64s(mask, row // 64 + 1)
        words[row // 64] |= np.uint64(1) << np.uint64(row % 64)


@njit
def combine_ints(kind, left, right, out, over, rows):  # type: ignore[no-untyped-def]
    a, b, c = int64s(left, rows), int64s(right, rows), int64s(out, rows)
    no_rows(over, rows)
    if kind == LEAST:
        for row in range(rows):
            c[row] = min(a[row], b[row])
        return
    if kind == GREATEST:
        for row in range(rows):
            c[row] = max(a[row], b[row])
        return
    signs = np.int64(0)
    if kind == ADD:
        for row in range(rows):
            total = a[row] + b[row]
            signs |= (a[row] ^ total) & (b[row] ^ total)
            c[row] = total
    else:
        for row in range(rows):
            difference = a[row] - b[row]
            signs |= (a[row] ^ b[row]) & (a[row] ^ difference)
            c[row] = difference
    if signs < 0:
        for row in range(rows):
            x, y = a[row], b[row] if kind == ADD else ~b[row]
            if (x ^ c[row]) & (y ^ c[row]) < 0:
                set_row(over, row)


@njit
def combine_floats(kind, left, right, out, over, missing, rows):  # type: ignore[no-untyped-def]
    a, b, c = float64s(left, rows), float64s(right, rows), float64s(out, rows)
    no_rows(over, rows)
    no_rows(missing, rows)
    if kind == LEAST:
        for row in range(rows):
            c[row] = np.minimum(a[row], b[row])
        return
    if kind == GREATEST:
        for row in range(rows):
            c[row] = np.maximum(a[row], b[row])
        return
    finite = True
    if kind == ADD:
        for row in range(rows):
            c[row] = a[row] + b[row]
            finite &= abs(c[row]) <= _GREATEST
    elif kind == SUBTRACT:
        for row in range(rows):
            c[row] = a[row] - b[row]
            finite &= abs(c[row]) <= _GREATEST
    elif kind == MULTIPLY:
        for row in range(rows):
            c[row] = a[row] * b[row]
            finite &= abs(c[row]) <= _GREATEST
    else:
        for row in range(rows):
            c[row] = a[row] / b[row]
            finite &= (abs(c[row]) <= _GREATEST) & (b[row] != 0)
    if not finite:
        for row in range(rows):
            if kind == DIVIDE and b[row] == 0:
                c[row] = 0.0
                set_row(missing, row)
            elif not abs(c[row]) <= _GREATEST:
                c[row] = 0.0
                set_row(over, row)


@njit
def to_float(values, doubles, rows):  # type: ignore[no-untyped-def]
    given, out = int64s(values, rows), float64s(doubles, rows)
    for row in range(rows):
        out[row] = given[row]


@njit
def widen(values, width, out, rows):  # type: ignore[no-untyped-def]
    """Ints of fewer bytes as int64."""
    wide = int64s(out, rows)
    if width == 1:
        bytes = int8s(values, rows)
        for row in range(rows):
            wide[row] = bytes[row]
    elif width == 2:
        shorts = int16s(values, rows)
        for row in range(rows):
            wide[row] = shorts[row]
    else:
        ints = int32s(values, rows)
        for row in range(rows):
            wide[row] = ints[row]


@njit
def take(codes, table, values, rows):  # type: ignore[no-untyped-def]
    given, known, out = int32s(codes, rows), int64s(table, 0), int64s(values, rows)
    for row in range(rows):
        out[row] = known[np.uint32(given[row])]


@njit
def select(mask, flip, then, otherwise, out, rows):  # type: ignore[no-untyped-def]
    held = uint64s(mask, rows // 64)
    a, b, c = int64s(then, rows), int64s(otherwise, rows), int64s(out, rows)
    for word in range(held.shape[0]):
        bits = held[word] ^ flip
        for row in range(word * 64, word * 64 + 64):
            c[row] = a[row] if (bits >> np.uint64(row & 63)) & np.uint64(1) else b[row]


@njit
def sizes(offsets, values, rows):  # type: ignore[no-untyped-def]
    ends, out = int64s(offsets, rows + 1), int64s(values, rows)
    for row in range(rows):
        out[row] = ends[row + 1] - ends[row]


# --- bounds ---------------------------------------------------------------------------------------------------------


@njit
def outside_ints(values, least, greatest, rows):  # type: ignore[no-untyped-def]
    """Whether any row does not lie from `least` to `greatest`."""
    given = int64s(values, rows)
    within = True
    for row in range(rows):
        within &= (given[row] >= least) & (given[row] <= greatest)
    return not within


@njit
def outside_floats(values, least, greatest, rows):  # type: ignore[no-untyped-def]
    """The same, NaN lying nowhere."""
    given = float64s(values, rows)
    within = True
    for row in range(rows):
        within &= (given[row] >= least) & (given[row] <= greatest)
    return not within


# --- contributions --------------------------------------------------------------------------------------------------


@njit
def contribute(values, whole, factor, weight, nanos, over, beyond, rows):  # type: ignore[no-untyped-def]
    """`factor * value`, times `weight`, in units of 10^-9; `whole` says that values are ints.

    `over` gets where the product is no double, `beyond` where a contribution would be larger than one may be.
    """
    out = int64s(nanos, rows)
    no_rows(over, rows)
    no_rows(beyond, rows)
    within = True
    if whole:
        ints = int64s(values, rows)
        for row in range(rows):
            weighted = weight * (factor * np.float64(ints[row]))
            within &= abs(weighted) <= _MAGNITUDE
            out[row] = np.int64(np.rint(weighted * _NANO))
    else:
        floats = float64s(values, rows)
        for row in range(rows):
            weighted = weight * (factor * floats[row])
            within &= abs(weighted) <= _MAGNITUDE
            out[row] = np.int64(np.rint(weighted * _NANO))
    if within and weight != 0:
        return
    for row in range(rows):
        value = factor * (np.float64(int64s(values, rows)[row]) if whole else float64s(values, rows)[row])
        if not abs(value) <= _GREATEST:
            out[row] = 0
            set_row(over, row)
        elif not abs(weight * value) <= _MAGNITUDE:
            out[row] = 0
            set_row(beyond, row)
