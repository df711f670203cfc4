"""Sixty-four rows at a time, as plain loops: for processors whose bits stand in another order, and to be held against
`vector_forms` by test. This module imports numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba import types as nt

from ucl.kernels.engines.blocks.addresses import float64s, int8s, int16s, int32s, int64s, uint8s, uint64s
from ucl.kernels.engines.blocks.vector_forms import RUN

_ROWS = 64


_ARRAYS = {
    nt.int64: int64s,
    nt.uint64: uint64s,
    nt.int32: int32s,
    nt.int16: int16s,
    nt.int8: int8s,
    nt.uint8: uint8s,
    nt.float64: float64s,
}


def _at_least_loop(lane: Any) -> Any:
    rows = _ARRAYS[lane]

    @njit
    def at_least(address, constant, mask):  # type: ignore[no-untyped-def]
        values = rows(address, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            bits |= np.uint64(values[row] >= constant) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return at_least


def _any_bit_loop(lane: Any) -> Any:
    rows = _ARRAYS[lane]

    @njit
    def any_bit(address, wanted, mask):  # type: ignore[no-untyped-def]
        values = rows(address, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            bits |= np.uint64((values[row] & wanted) != 0) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return any_bit


def _equals_loop(lane: Any) -> Any:
    rows = _ARRAYS[lane]

    @njit
    def equals(address, constant):  # type: ignore[no-untyped-def]
        values = rows(address, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            bits |= np.uint64(values[row] == constant) << np.uint64(row)
        return bits

    return equals


def _compare_loop(lane: Any, operator: str) -> Any:
    rows = _ARRAYS[lane]
    equal = operator == "=="

    @njit
    def compare(left, right, mask):  # type: ignore[no-untyped-def]
        a, b = rows(left, _ROWS), rows(right, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            holds = a[row] == b[row] if equal else a[row] < b[row]
            bits |= np.uint64(holds) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return compare


@njit
def _add_amount_loop(totals, mask, amount):  # type: ignore[no-untyped-def]
    rows = int64s(totals, _ROWS)
    for row in range(_ROWS):
        if (mask >> np.uint64(row)) & np.uint64(1):
            rows[row] += amount


@njit
def _add_rows_loop(totals, mask, values):  # type: ignore[no-untyped-def]
    rows, added = int64s(totals, _ROWS), int64s(values, _ROWS)
    for row in range(_ROWS):
        if (mask >> np.uint64(row)) & np.uint64(1):
            rows[row] += added[row]


@njit
def _and_loop(mask, first, first_flip, second, second_flip):  # type: ignore[no-untyped-def]
    out, left, right = uint64s(mask, 8), uint64s(first, 8), uint64s(second, 8)
    for word in range(8):
        out[word] = (left[word] ^ first_flip) & (right[word] ^ second_flip)


@njit
def _and_three_loop(mask, first, first_flip, second, second_flip, third, third_flip):  # type: ignore[no-untyped-def]
    _and_loop(mask, first, first_flip, second, second_flip)
    _and_loop(mask, mask, np.uint64(0), third, third_flip)


@njit
def _which_words_loop(mask, flip):  # type: ignore[no-untyped-def]
    words = uint64s(mask, _ROWS)
    some = np.uint64(0)
    for word in range(_ROWS):
        some |= np.uint64(words[word] != flip) << np.uint64(word)
    return some


@njit
def _spread_loop(mask, bools):  # type: ignore[no-untyped-def]
    rows = uint8s(bools, _ROWS)
    for row in range(_ROWS):
        rows[row] = np.uint8((mask >> np.uint64(row)) & np.uint64(1))


@njit
def _transpose_loop(square):  # type: ignore[no-untyped-def]
    words = uint64s(square, _ROWS)
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for first in range(0, _ROWS, 2 * width):
            for row in range(first, first + width):
                swap = ((words[row] >> shift) ^ words[row + width]) & mask
                words[row] ^= swap << shift
                words[row + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(width)


@njit
def _fill_run_loop(bytes, value):  # type: ignore[no-untyped-def]
    rows = uint8s(bytes, RUN)
    for row in range(RUN):
        rows[row] = value


LOOPS: dict[str, Any] = {
    "at_least_64": _at_least_loop(nt.int64),
    "at_least_32": _at_least_loop(nt.int32),
    "at_least_16": _at_least_loop(nt.int16),
    "at_least_8": _at_least_loop(nt.int8),
    "at_least_float": _at_least_loop(nt.float64),
    "any_bit_64": _any_bit_loop(nt.uint64),
    "any_bit_32": _any_bit_loop(nt.int32),
    "any_bit_16": _any_bit_loop(nt.int16),
    "any_bit_8": _any_bit_loop(nt.uint8),
    "equals_32": _equals_loop(nt.int32),
    "equals_16": _equals_loop(nt.int16),
    "less_64": _compare_loop(nt.int64, "<"),
    "less_float": _compare_loop(nt.float64, "<"),
    "equal_64": _compare_loop(nt.int64, "=="),
    "equal_float": _compare_loop(nt.float64, "=="),
    "add_amount": _add_amount_loop,
    "add_rows": _add_rows_loop,
    "conjoin": _and_loop,
    "conjoin_three": _and_three_loop,
    "which_words": _which_words_loop,
    "spread": _spread_loop,
    "transpose": _transpose_loop,
    "fill_run": _fill_run_loop,
}
