"""Masks in NumPy: 64 rows to a word, the first row in the lowest bit.

In: values, codes, sets, masks. Out: masks, totals, lists of what holds. Bits beyond the last row are 0 here, and may be
anything where a mask has been flipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]
Ints = NDArray[np.int64]


def words_for(rows: int) -> int:
    return (rows + 63) // 64


def at_least(values: NDArray[Any], constants: NDArray[Any], masks: Words) -> None:
    for constant, mask in zip(constants, masks, strict=True):
        pack(values >= constant, mask)


def look_up(codes: NDArray[np.integer[Any]], tests: Iterable[Bits], masks: Words) -> None:
    """Of each test the codes that it means are given."""
    for means, mask in zip(tests, masks, strict=True):
        pack(means[codes], mask)


def any_element(offsets: Ints, elements: NDArray[np.integer[Any]], tests: Iterable[Bits], masks: Words) -> None:
    codes = elements[offsets[0] : offsets[-1]]
    ends = offsets - offsets[0]
    before = np.zeros(len(codes) + 1, np.int64)
    for means, mask in zip(tests, masks, strict=True):
        np.cumsum(means[codes], out=before[1:])
        pack(np.diff(before[ends]) > 0, mask)


def pack(bits: Bits, mask: Words) -> None:
    packed = np.packbits(bits, bitorder="little")
    in_bytes = mask.view(np.uint8)
    in_bytes[: len(packed)] = packed
    in_bytes[len(packed) :] = 0


def unpack(masks: Words, literal: int, rows: int) -> Bits:
    """A bool for each row."""
    row = masks[literal >> 1].view(np.uint8)
    bits = np.unpackbits(row, count=rows, bitorder="little").view(np.bool_)
    return ~bits if literal & 1 else bits


def conjoin(masks: Words, operands: Ints, first: int) -> None:
    out = masks[first : first + len(operands)]
    out[:] = signed(masks, operands[:, 0])
    for column in operands.T[1:]:
        out &= signed(masks, column)


def lists(masks: Words, rows: int) -> tuple[Ints, NDArray[np.int32]]:
    """By row the numbers of the masks that hold it, ascending: where each row's begin and end, and all of them."""
    bits = np.unpackbits(masks.view(np.uint8), axis=1, count=rows, bitorder="little")
    places = np.flatnonzero(np.ascontiguousarray(bits.T))
    row, number = np.divmod(places, max(len(masks), 1))
    ends = np.cumsum(np.bincount(row, minlength=rows))
    return np.concatenate(([0], ends)), number.astype(np.int32)


def amounts(ends: Ints, numbers: NDArray[np.int32], constants: Ints, places: Ints, values: Ints) -> Ints:
    """What each number of such lists adds: its constant, or the row's own of `values`, where it has a place there."""
    added: Ints = constants[numbers]
    if len(values):
        own = places[numbers]
        varying = np.flatnonzero(own >= 0)
        rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        added[varying] = values[own[varying], rows[varying]]
    return added


def signed(masks: Words, literals: Ints) -> Words:
    """The masks of literals, of shape (literals, words)."""
    negative = (literals & 1).astype(np.uint64)
    flips = np.uint64(0) - negative
    return np.asarray(masks[literals >> 1] ^ flips[:, None])


def add(masks: Words, literals: Sequence[int], amounts: Sequence[int], totals: Ints) -> None:
    for literal, amount in zip(literals, amounts, strict=True):
        mask = masks[literal >> 1] if not literal & 1 else ~masks[literal >> 1]
        if mask.any():
            bits = np.unpackbits(mask.view(np.uint8), count=len(totals), bitorder="little").view(np.bool_)
            np.add(totals, amount, out=totals, where=bits)
