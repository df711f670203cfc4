"""Columns of one block of options as `walk` compares them: of as few bytes as their constants need.

In: sources (addresses of whole columns, or places in a room of the block's own), steps from one to another, a range of
rows. Out: the room is filled. No lock of Python's is held. This module imports numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ucl.kernels.engines.blocks import values as parts
from ucl.kernels.engines.blocks.addresses import int8s, int16s, int32s, int64s, uint8s
from ucl.kernels.engines.blocks.vector_forms import RUN
from ucl.kernels.engines.blocks.vectors import fill_run

BLOCK = 2048
"""So many rows are filled in at once: they stay near the processor until all who own them were visited."""

LOCAL, DAY, TIME, PART, WIDEN, NARROW, CODES, COPY, ENDS, ELEMENTS = range(10)
STEP = 6
"""Numbers of a step: what it does, the sources from which and to which, and three more that it needs."""


@njit
def place(source, room, first):  # type: ignore[no-untyped-def]
    """The address of row `first` of a source: an address of row 0, bytes a row, where in the room it stands else."""
    return source[0] + first * source[1] if source[0] else room + source[2]


@njit
def fill(sources, steps, transitions, offsets, room, first, rows):  # type: ignore[no-untyped-def]
    """Fills the room with the rows from `first` on."""
    for number in range(steps.shape[0]):
        step = steps[number]
        kind, a, b, c = step[0], step[3], step[4], step[5]
        given, out = place(sources[step[1]], room, first), place(sources[step[2]], room, first)
        width = sources[step[2], 1]
        if kind == LOCAL:
            parts.to_wall(given, transitions, offsets, out, rows)
        elif kind == DAY:
            parts.day_of(given, a, out, rows)
        elif kind == TIME:
            parts.time_of(given, out, rows)
        elif kind == PART:
            parts.part(a, given, out, rows)
        elif kind == WIDEN:
            parts.widen(given, a, out, rows)
        elif kind == NARROW:
            if width == 1:
                narrow(int64s(given, rows), a, b, c, int8s(out, rows))
            elif width == 2:
                narrow(int64s(given, rows), a, b, c, int16s(out, rows))
            else:
                narrow(int64s(given, rows), a, b, c, int32s(out, rows))
        elif kind == CODES:
            cut(given, width, out, rows)
        elif kind == COPY:
            copy(given, out, rows * width)
        elif kind == ENDS:
            if a == 4:
                parts.widen(given, 4, out, rows + 1)
            else:
                copy(given, out, (rows + 1) * 8)
        else:
            ends = int64s(given, rows + 1)
            cut(a + ends[0] * 4, width, out, ends[rows] - ends[0])
            own(ends, place(sources[b], room, first))


@njit
def narrow(values, low, high, step, out):  # type: ignore[no-untyped-def]
    """How many steps above `low` each value is, -1 below; constants are whole steps from `low` to `high`.

    The quotient of doubles is exact: half a unit is farther from a whole number than what is rounded away, where the
    constants are less than 2^50 apart.
    """
    if step == 1:
        for row in range(values.shape[0]):
            value = values[row]
            above = max(min(value, high), low) - low
            out[row] = -1 if value < low else above
        return
    share = 1.0 / step
    for row in range(values.shape[0]):
        value = values[row]
        above = max(min(value, high), low) - low
        out[row] = -1 if value < low else np.int64((np.float64(above) + 0.5) * share)


@njit
def cut(codes, width, out, size):  # type: ignore[no-untyped-def]
    """Codes of four bytes as codes of fewer."""
    given = int32s(codes, size)
    if width == 1:
        bytes = int8s(out, size)
        for place in range(size):
            bytes[place] = given[place]
    elif width == 2:
        shorts = int16s(out, size)
        for place in range(size):
            shorts[place] = given[place]
    else:
        ints = int32s(out, size)
        for place in range(size):
            ints[place] = given[place]


@njit
def copy(given, out, size):  # type: ignore[no-untyped-def]
    source, target = uint8s(given, size), uint8s(out, size)
    for byte in range(size):
        target[byte] = source[byte]


@njit
def own(ends, owners):  # type: ignore[no-untyped-def]
    """Writes for each element the lowest byte of its row in the block. What is written beyond is written over."""
    for row in range(ends.shape[0] - 1):
        at, stop = owners + ends[row] - ends[0], owners + ends[row + 1] - ends[0]
        while at < stop:
            fill_run(at, np.uint8(row))
            at += RUN
