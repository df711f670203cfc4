"""The compiled loops. This module imports numba.

In: arrays of one block, contiguous and aligned. Out: masks, totals, a few values, as `schedules.Engine` says. Kernels
read tables, so that one set of machine code serves every program. Each is compiled for the one or two signatures listed
here. Never `fastmath`: sums are whole numbers, comparisons exact. Loops run over 64 rows at a time, which compilers
turn into vector compares. Bits of tests by code become tests by row through bit matrix transposition (Warren, Hacker's
Delight, 7-3).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types as nt

from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

Kernel = Callable[..., Any]

_WORDS = nt.Array(nt.uint64, 2, "C")
_WORD_TABLE = nt.Array(nt.uint64, 2, "C", readonly=True)
_MASK = nt.Array(nt.uint64, 1, "C")
_INTS = nt.Array(nt.int64, 1, "C")
_FLOATS = nt.Array(nt.float64, 1, "C")
_INTS_IN = nt.Array(nt.int64, 1, "C", readonly=True)
_FLOATS_IN = nt.Array(nt.float64, 1, "C", readonly=True)
_CODES_IN = nt.Array(nt.int32, 1, "C", readonly=True)
_BITS_IN = nt.Array(nt.bool_, 1, "C", readonly=True)
_LISTS_IN = nt.Array(nt.int64, 2, "C", readonly=True)

KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
"""Each kernel's dispatcher and signatures, by name, in the order in which they are compiled."""


def _kernel(*signatures: Any) -> Callable[[Kernel], Kernel]:
    def register(function: Kernel) -> Kernel:
        dispatcher: Kernel = numba.njit(nogil=True, boundscheck=False, error_model="numpy")(function)
        KERNELS[function.__name__] = (dispatcher, signatures)
        return dispatcher

    return register


# Rows whose totals stay in the nearest cache while rule after rule adds to them.
_ROWS_AT_ONCE = 4096

# Local times are found for so many rows at a time, by addition where at most so many changes of offset lie among them.
_ROWS_OF_A_ZONE = 1024
_FEW_CHANGES = 8

_ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_DAY, _NANO, _MAGNITUDE = DAY, float(NANO), MAGNITUDE
_GREATEST = sys.float_info.max


# --- tests ----------------------------------------------------------------------------------------------------------


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORDS), nt.void(_FLOATS_IN, _FLOATS_IN, _WORDS))
def at_least(values, constants, masks):  # type: ignore[no-untyped-def]
    rows = values.shape[0]
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for test in range(constants.shape[0]):
            constant = constants[test]
            bits = np.uint64(0)
            if inside == 64:
                for row in range(64):
                    bits |= np.uint64(values[start + row] >= constant) << np.uint64(row)
            else:
                for row in range(inside):
                    bits |= np.uint64(values[start + row] >= constant) << np.uint64(row)
            masks[test, word] = bits


@_kernel(nt.void(_BITS_IN, _MASK))
def pack(bits, mask):  # type: ignore[no-untyped-def]
    rows = bits.shape[0]
    for word in range(mask.shape[0]):
        start = word * 64
        inside = min(64, rows - start)
        packed = np.uint64(0)
        if inside == 64:
            for row in range(64):
                packed |= np.uint64(bits[start + row]) << np.uint64(row)
        else:
            for row in range(inside):
                packed |= np.uint64(bits[start + row]) << np.uint64(row)
        mask[word] = packed


@_kernel(nt.void(_MASK))
def transpose(square):  # type: ignore[no-untyped-def]
    """Turns a 64 by 64 bit matrix in place: bit s of row r becomes bit r of row s."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for first in range(0, 64, 2 * width):
            for row in range(first, first + width):
                swap = ((square[row] >> shift) ^ square[row + width]) & mask
                square[row] ^= swap << shift
                square[row + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(width)


@_kernel(nt.void(_CODES_IN, _WORD_TABLE, _WORDS))
def look_up(codes, table, masks):  # type: ignore[no-untyped-def]
    """`table[code]` has a bit for each test."""
    rows = codes.shape[0]
    tests = masks.shape[0]
    square = np.empty(64, np.uint64)
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for part in range(table.shape[1]):
            first = part * 64
            for row in range(inside):
                square[row] = table[np.uint32(codes[start + row]), part]
            for row in range(inside, 64):
                square[row] = np.uint64(0)
            here = min(64, tests - first)
            if here <= 4:
                for test in range(here):
                    bits = np.uint64(0)
                    for row in range(64):
                        bits |= ((square[row] >> np.uint64(test)) & _ONE) << np.uint64(row)
                    masks[first + test, word] = bits
            else:
                transpose(square)
                for test in range(here):
                    masks[first + test, word] = square[test]


@_kernel(nt.int64(nt.uint64))
def lowest_bit(bits):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; there is one."""
    left = bits & (np.uint64(0) - bits)
    place = 0
    for width in (32, 16, 8, 4, 2, 1):
        if left >> np.uint64(width):
            left >>= np.uint64(width)
            place += width
    return place


@_kernel(nt.void(nt.uint64, nt.int64, _WORDS))
def mark(tests, row, masks):  # type: ignore[no-untyped-def]
    """Sets the row's bit in the mask of each test."""
    bit = _ONE << np.uint64(row & 63)
    test = 0
    while tests:
        if tests & _ONE:
            masks[test, row >> 6] |= bit
        tests >>= _ONE
        test += 1


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORD_TABLE, _BITS_IN, _WORDS))
def any_element_sparse(offsets, elements, table, means, masks):  # type: ignore[no-untyped-def]
    """Few codes mean anything: one scan over all elements, 64 at a time, and a search for the row of a hit.

    Unsigned places need no look at whether they count from the end.
    """
    masks[:] = np.uint64(0)
    row = np.uint64(0)
    place = np.uint64(offsets[0])
    end = np.uint64(offsets[offsets.shape[0] - 1])
    while place < end:
        here = min(np.uint64(64), end - place)
        hits = np.uint64(0)
        if here == np.uint64(64):
            for step in range(64):
                hits |= np.uint64(means[np.uint64(elements[place + np.uint64(step)])]) << np.uint64(step)
        else:
            for step in range(here):
                hits |= np.uint64(means[np.uint64(elements[place + np.uint64(step)])]) << np.uint64(step)
        while hits:
            at = place + np.uint64(lowest_bit(hits))
            hits &= hits - _ONE
            while np.uint64(offsets[row + _ONE]) <= at:
                row += _ONE
            code = np.uint64(elements[at])
            for part in range(table.shape[1]):
                mark(table[code, part], np.int64(row), masks[part * 64 :])
        place += here


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORD_TABLE, _WORDS))
def any_element_dense(offsets, elements, table, masks):  # type: ignore[no-untyped-def]
    rows = offsets.shape[0] - 1
    tests = masks.shape[0]
    square = np.empty(64, np.uint64)
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for part in range(table.shape[1]):
            for row in range(inside):
                found = np.uint64(0)
                for place in range(offsets[start + row], offsets[start + row + 1]):
                    found |= table[np.uint64(elements[place]), part]
                square[row] = found
            for row in range(inside, 64):
                square[row] = np.uint64(0)
            transpose(square)
            first = part * 64
            for test in range(min(64, tests - first)):
                masks[first + test, word] = square[test]


# --- masks of masks, and totals -------------------------------------------------------------------------------------


@_kernel(nt.void(_WORDS, _LISTS_IN, nt.int64))
def conjoin(masks, operands, first):  # type: ignore[no-untyped-def]
    words = masks.shape[1]
    for conjunction in range(operands.shape[0]):
        out = masks[first + conjunction]
        literal = operands[conjunction, 0]
        operand = masks[literal >> 1]
        flip = np.uint64(0) - np.uint64(literal & 1)
        for word in range(words):
            out[word] = operand[word] ^ flip
        for place in range(1, operands.shape[1]):
            literal = operands[conjunction, place]
            operand = masks[literal >> 1]
            flip = np.uint64(0) - np.uint64(literal & 1)
            for word in range(words):
                out[word] &= operand[word] ^ flip


@_kernel(nt.void(_INTS, nt.uint64, nt.int64))
def add_where(totals, bits, amount):  # type: ignore[no-untyped-def]
    """Adds to each of up to 64 totals whose bit is set."""
    if totals.shape[0] == 64:
        for row in range(64):
            totals[row] += amount if (bits >> np.uint64(row)) & _ONE else 0
    else:
        for row in range(totals.shape[0]):
            totals[row] += amount if (bits >> np.uint64(row)) & _ONE else 0


@_kernel(nt.void(_WORDS, _INTS_IN, _INTS_IN, _INTS))
def add(masks, literals, amounts, totals):  # type: ignore[no-untyped-def]
    rows = totals.shape[0]
    words = masks.shape[1]
    at_once = _ROWS_AT_ONCE // 64
    last = ALL if rows & 63 == 0 else (_ONE << np.uint64(rows & 63)) - _ONE
    for first in range(0, words, at_once):
        beyond = min(words, first + at_once)
        for rule in range(literals.shape[0]):
            mask = masks[literals[rule] >> 1]
            flip = np.uint64(0) - np.uint64(literals[rule] & 1)
            amount = amounts[rule]
            for word in range(first, beyond):
                bits = mask[word] ^ flip
                if word == words - 1:
                    bits &= last
                if bits == 0:
                    continue
                start = word * 64
                rest = bits & (bits - _ONE)
                rest &= rest - _ONE
                if rest & (rest - _ONE):
                    add_where(totals[start : start + 64], bits, amount)
                else:
                    while bits:
                        totals[start + lowest_bit(bits)] += amount
                        bits &= bits - _ONE


@_kernel(nt.void(_MASK, nt.uint64, _INTS_IN, _INTS))
def add_values(mask, flip, values, totals):  # type: ignore[no-untyped-def]
    """Adds each row's own value where the mask, flipped, holds."""
    rows = totals.shape[0]
    for word in range(mask.shape[0]):
        bits = mask[word] ^ flip
        if bits == 0:
            continue
        start = word * 64
        if rows - start >= 64:
            for row in range(64):
                totals[start + row] += values[start + row] if (bits >> np.uint64(row)) & _ONE else 0
        else:
            for row in range(rows - start):
                totals[start + row] += values[start + row] if (bits >> np.uint64(row)) & _ONE else 0


# --- values ---------------------------------------------------------------------------------------------------------
# A few of `vector`'s operations that NumPy takes several passes for.


@_kernel(nt.void(_INTS_IN, _INTS_IN, _INTS_IN, _INTS))
def to_wall(instants, transitions, offsets, walls):  # type: ignore[no-untyped-def]
    """Of a few rows at a time, the first and the last instant say which changes of offset lie between: mostly none."""
    for start in range(0, instants.shape[0], _ROWS_OF_A_ZONE):
        here = instants[start : start + _ROWS_OF_A_ZONE]
        out = walls[start : start + _ROWS_OF_A_ZONE]
        earliest = here[0]
        latest = here[0]
        for row in range(here.shape[0]):
            earliest = min(earliest, here[row])
            latest = max(latest, here[row])
        first = np.searchsorted(transitions, earliest, side="right")
        last = np.searchsorted(transitions, latest, side="right")
        if last - first > _FEW_CHANGES:
            for row in range(here.shape[0]):
                out[row] = here[row] + offsets[np.searchsorted(transitions, here[row], side="right")]
            continue
        for row in range(here.shape[0]):
            out[row] = here[row] + offsets[first]
        for change in range(first, last):
            moment = transitions[change]
            step = offsets[change + 1] - offsets[change]
            for row in range(here.shape[0]):
                out[row] += step if here[row] >= moment else 0


@_kernel(nt.void(_INTS_IN, _INTS))
def wall_time(walls, times):  # type: ignore[no-untyped-def]
    for row in range(walls.shape[0]):
        times[row] = walls[row] % _DAY


@_kernel(nt.void(_INTS_IN, _INTS))
def weekday(days, weekdays):  # type: ignore[no-untyped-def]
    """Days lie within some three million of 1970, so that 32 bits hold them, moved on by whole weeks."""
    for row in range(days.shape[0]):
        weekdays[row] = np.uint32(days[row] + 7_000_003) % np.uint32(7)


@_kernel(nt.void(_INTS_IN, _FLOATS))
def to_float(values, doubles):  # type: ignore[no-untyped-def]
    for row in range(values.shape[0]):
        doubles[row] = values[row]


@_kernel(nt.boolean(_FLOATS_IN, nt.float64, _FLOATS))
def scale(values, factor, products):  # type: ignore[no-untyped-def]
    """Whether all products are finite: the greatest double is not less than any."""
    finite = True
    for row in range(values.shape[0]):
        product = values[row] * factor
        finite &= abs(product) <= _GREATEST
        products[row] = product
    return finite


@_kernel(nt.boolean(_FLOATS_IN, nt.float64, _INTS))
def contribution(values, weight, nanos):  # type: ignore[no-untyped-def]
    """Whether all stay within the magnitude that a contribution may have; else `nanos` means nothing."""
    within = True
    for row in range(values.shape[0]):
        weighted = weight * values[row]
        within &= abs(weighted) <= _MAGNITUDE
        nanos[row] = np.int64(np.rint(weighted * _NANO))
    return within
