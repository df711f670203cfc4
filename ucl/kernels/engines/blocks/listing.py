"""Masks to lists: by row the numbers of the masks that hold it, and what each adds. This module imports numba.

In: masks of shape (masks, words), 64 rows to a word, bits beyond the last row 0. Out: where each row's numbers end,
and the numbers, ascending in each row. Words are gone through mask by mask, so that what no row holds costs a look.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba import types as nt

from ucl.kernels.engines.blocks.vectors import lowest_bit

_INTS = nt.Array(nt.int64, 1, "C", readonly=True)
_NUMBERS = nt.Array(nt.int32, 1, "C", readonly=True)
LISTS = nt.void(nt.Array(nt.uint64, 2, "C", readonly=True), nt.int64, nt.int64[::1], nt.int32[::1])
AMOUNTS = nt.void(_INTS, _NUMBERS, _INTS, _INTS, nt.Array(nt.int64, 2, "C", readonly=True), nt.int64[::1])


def list_masks(masks, rows, ends, numbers):  # type: ignore[no-untyped-def]
    """`ends` has a place for each row, behind one for 0; `numbers` one for each bit that is set."""
    places = np.empty(64, np.int64)
    ends[0] = 0
    for word in range(masks.shape[1]):
        first = word * 64
        count_bits(masks, word, places)
        end = ends[first]
        for row in range(min(64, rows - first)):
            start = end
            end += places[row]
            places[row] = start
            ends[first + row + 1] = end
        place_bits(masks, word, places, numbers)


def amounts_of(ends, numbers, constants, places, values, amounts):  # type: ignore[no-untyped-def]
    """The constant of each number, or the row's own of `values`, where the number has a place there."""
    for row in range(ends.shape[0] - 1):
        for at in range(ends[row], ends[row + 1]):
            number = numbers[at]
            place = places[number]
            amounts[at] = constants[number] if place < 0 else values[place, row]


@njit
def count_bits(masks, word, counts):  # type: ignore[no-untyped-def]
    """How many masks hold each row of a word."""
    counts[:] = 0
    for number in range(masks.shape[0]):
        bits = masks[number, word]
        while bits:
            counts[lowest_bit(bits)] += 1
            bits &= bits - np.uint64(1)


@njit
def place_bits(masks, word, places, numbers):  # type: ignore[no-untyped-def]
    """Each row's numbers from its place on."""
    for number in range(masks.shape[0]):
        bits = masks[number, word]
        while bits:
            row = lowest_bit(bits)
            numbers[places[row]] = number
            places[row] += 1
            bits &= bits - np.uint64(1)
