"""One function runs a whole tape over rows, block by block. This module imports numba.

In: a tape's arrays, a room for one block, a range of rows. Out: the columns of results are filled. Steps are looked at
once a block, not once a row, and no lock of Python's is held. A block that does not end with a whole word of a mask,
as only the table's last one may, is copied to where 64 rows at a time can be read and written.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba import types as nt

from ucl.kernels.engines.blocks import opcodes as op
from ucl.kernels.engines.blocks import tests, totals, values
from ucl.kernels.engines.blocks.addresses import int32s, int64s, uint8s, uint64s

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TABLE = nt.Array(nt.int64, 2, "C", readonly=True)
_INTS = nt.Array(nt.int64, 1, "C", readonly=True)
_FLOATS = nt.Array(nt.float64, 1, "C", readonly=True)

SIGNATURE = nt.void(_TABLE, _TABLE, _INTS, _FLOATS, _INTS, _INTS, nt.int64, nt.int64, nt.int64, nt.int64)


def run(steps, slots, ints, floats, transitions, offsets, room, block, start, stop):  # type: ignore[no-untyped-def]
    """Rows `start` to `stop`, `block` (a multiple of 64) at a time.

    Each of `steps` is an opcode with its operands, each of `slots` an address, bytes a row, a kind, and where in the
    room it stands. `ints` and `floats` are constants, the same bits read in two ways; `transitions` and `offsets` are
    the zone's. `room` is the address of a room, as `opcodes` divides it.
    """
    stride = (block // 64 + op.PADDING) * 8
    masks = room + op.NARROW + block * 4
    places = np.empty(slots.shape[0], np.int64)
    every = uint64s(masks, block // 64)
    every[:] = _ALL
    for first in range(start, stop, block):
        rows = min(block, stop - first)
        words = (rows + 63) // 64
        for slot in range(slots.shape[0]):
            places[slot] = place(slots[slot], room, first, rows)
        for number in range(steps.shape[0]):
            step = steps[number]
            if step[0] < op.CUT_INTS:
                run_value(step, places, floats, transitions, offsets, masks, stride, words * 64)
            elif step[0] < op.CONJOIN:
                run_test(step, places, ints, floats, masks, stride, words, room)
            elif step[0] < op.BOUND_INTS:
                run_total(step, places, ints, masks, stride, words)
            else:
                run_bound(step, places, ints, floats, rows)
        if rows & 63:
            for slot in range(slots.shape[0]):
                if slots[slot, 2] == op.RESULT:
                    copy(places[slot], slots[slot, 0] + first * slots[slot, 1], rows * slots[slot, 1])


@njit
def place(slot, room, first, rows):  # type: ignore[no-untyped-def]
    """The address of a slot's rows of this block."""
    address, width, kind, inside = slot
    if kind == op.KEPT:
        return address + (first >> 6) * 8
    address += first * width
    inside += room
    if kind == op.SCRATCH:
        return inside
    missing = -rows & 63
    if width == 0 or (missing == 0 and not (kind == op.OFFSETS and width == 4)):
        return address
    if kind == op.OFFSETS:
        if width == 4:
            values.widen(address, width, inside, rows + 1)
        else:
            copy(address, inside, (rows + 1) * width)
        # Rows that are not there have no elements.
        ends = int64s(inside, rows + missing + 1)
        ends[rows + 1 :] = ends[rows]
    elif kind == op.COLUMN:
        copy(address, inside, rows * width)
        uint8s(inside, (rows + missing) * width)[rows * width :] = 0
    return inside


@njit
def copy(source, target, size):  # type: ignore[no-untyped-def]
    given, out = uint8s(source, size), uint8s(target, size)
    for byte in range(size):
        out[byte] = given[byte]


@njit
def mask_of(row, masks, stride):  # type: ignore[no-untyped-def]
    """The address of a mask; 0 for a row below 0, which nobody asked for."""
    return masks + row * stride if row >= 0 else 0


@njit
def run_value(step, places, floats, transitions, offsets, masks, stride, rows):  # type: ignore[no-untyped-def]
    """`step`: an opcode, the slot of the result, then what the operation needs."""
    code, out, a, b = step[0], places[step[1]], step[2], step[3]
    if code == op.LOCAL:
        values.to_wall(places[a], transitions, offsets, out, rows)
    elif code == op.SPLIT:
        values.split(places[a], out, places[b], places[step[4]], rows)
    elif code == op.DAY:
        values.day_of(places[a], b, out, rows)
    elif code == op.TIME:
        values.time_of(places[a], out, rows)
    elif code == op.PART:
        values.part(b, places[a], out, rows)
    elif code == op.COMBINE_INTS:
        values.combine_ints(step[4], places[a], places[b], out, mask_of(step[5], masks, stride), rows)
    elif code == op.COMBINE_FLOATS:
        over, missing = mask_of(step[5], masks, stride), mask_of(step[6], masks, stride)
        values.combine_floats(step[4], places[a], places[b], out, over, missing, rows)
    elif code == op.TO_FLOAT:
        values.to_float(places[a], out, rows)
    elif code == op.CONTRIBUTE:
        over, beyond = mask_of(step[5], masks, stride), mask_of(step[6], masks, stride)
        values.contribute(places[a], step[3], floats[step[4]], floats[step[4] + 1], out, over, beyond, rows)
    elif code == op.TAKE:
        values.take(places[a], b, out, rows)
    elif code == op.SELECT:
        mask, flip = mask_of(a >> 1, masks, stride), totals.flip_of(a)
        values.select(mask, flip, places[b], places[step[4]], out, rows)
    elif code == op.SIZES:
        values.sizes(places[a], out, rows)
    elif code == op.WIDEN:
        values.widen(places[a], b, out, rows)


@njit
def run_test(step, places, ints, floats, masks, stride, words, room):  # type: ignore[no-untyped-def]
    """`step`: an opcode, the first mask of the results, the slot that is tested, then what the test needs."""
    code, out, given, first, beyond = step[0], masks + step[1] * stride, places[step[2]], step[3], step[4]
    if code == op.CUT_INTS:
        tests.cut_ints(given, step[5], ints[first:beyond], out, stride, words)
    elif code == op.CUT_FLOATS:
        tests.cut_floats(given, floats[first:beyond], out, stride, words)
    elif code == op.CUT_NARROW:
        tests.cut_narrow(given, ints[first:beyond], step[5], out, stride, words, room + op.NARROW)
    elif code == op.PACK:
        tests.pack(given, out, words)
    elif code == op.FILL:
        mask = uint64s(out, words)
        mask[:] = _ALL if first else np.uint64(0)
    elif code == op.COMPARE:
        tests.compare(step[4], step[5], given, places[first], out, words)
    elif code == op.ONE_OF_FEW:
        tests.one_of_few(given, ints[first:beyond], step[5], out, stride, words, room + op.NARROW)
    elif code == op.LOOK_UP:
        tests.look_up(given, step[5], step[6], step[7], out, stride, words, room + op.SQUARE)
    elif code == op.ANY_ELEMENT:
        square, owners = room + op.SQUARE, room + op.OWNERS
        # The elements have four bytes each, or eight.
        if step[4] == 4:
            tests.any_element(given, int32s(first, 0), step[5], step[6], step[7], out, stride, words, square, owners)
        else:
            tests.any_element(given, int64s(first, 0), step[5], step[6], step[7], out, stride, words, square, owners)
    elif code == op.ANY_OF_FEW:
        means, square = step[8], room + op.SQUARE
        if step[4] == 4:
            tests.any_of_few(given, int32s(first, 0), step[5], means, step[6], step[7], out, stride, words, square)
        else:
            tests.any_of_few(given, int64s(first, 0), step[5], means, step[6], step[7], out, stride, words, square)
    elif code == op.ANY_OF_CODES:
        wanted, square = ints[step[4] : step[8]], room + op.SQUARE
        tests.any_of_codes(given, first, wanted, step[5], step[6], step[7], out, stride, words, square)


@njit
def run_total(step, places, ints, masks, stride, words):  # type: ignore[no-untyped-def]
    """`step`: an opcode, the first mask or the slot of the results, then what is conjoined, added or spread."""
    code, first, beyond = step[0], step[2], step[3]
    if code == op.CONJOIN:
        operands = ints[first:beyond].reshape((beyond - first) // step[4], step[4])
        totals.conjoin_all(operands, step[1], masks, stride, words)
    elif code == op.ADD_AMOUNTS:
        out = places[step[1]]
        int64s(out, words * 64)[:] = 0
        middle = (first + beyond) // 2
        totals.add_amounts(ints[first:middle], ints[middle:beyond], masks, stride, words, out)
    elif code == op.ADD_VALUES:
        totals.add_values(first, places[beyond], masks, stride, words, places[step[1]])
    elif code == op.SPREAD:
        totals.spread_bools(first, masks, stride, words, places[step[1]])
    elif code == op.KEEP:
        totals.keep_all(ints[first:beyond], masks, stride, words, places[step[1]], step[4])


@njit
def run_bound(step, places, ints, floats, rows):  # type: ignore[no-untyped-def]
    """`step`: an opcode, where to say that a row lies outside, the slot that is looked at, where the bounds stand."""
    given, first = places[step[2]], step[3]
    if step[0] == op.BOUND_INTS:
        outside = values.outside_ints(given, ints[first], ints[first + 1], rows)
    else:
        outside = values.outside_floats(given, floats[first], floats[first + 1], rows)
    if outside:
        int64s(places[step[1]], 1)[0] = 1
