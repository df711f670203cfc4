"""Masks in NumPy: the engine that is always there, and that small tables are answered with.

In and out: as `schedules.Engine` says. Bits beyond the last row are 0 here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.execution.vector import OPERATIONS, Vector, ZoneTable

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]


class Portable:
    """`schedules.Engine` in NumPy. Blocks are large, since each call costs a few microseconds."""

    name = "portable"
    block_rows = 1 << 16

    def prepare(self, table: Bits) -> Bits:
        return table

    def at_least(self, values: NDArray[Any], constants: NDArray[Any], masks: Words) -> None:
        for constant, mask in zip(constants, masks, strict=True):
            self.pack(values >= constant, mask)

    def look_up(self, codes: NDArray[np.int32], prepared: Bits, masks: Words) -> None:
        for row, mask in zip(prepared, masks, strict=True):
            self.pack(row[codes], mask)

    def any_element(
        self, offsets: NDArray[np.int64], elements: NDArray[np.int64], prepared: Bits, masks: Words
    ) -> None:
        codes = elements[offsets[0] : offsets[-1]]
        ends = offsets - offsets[0]
        before = np.zeros(len(codes) + 1, np.int64)
        for row, mask in zip(prepared, masks, strict=True):
            np.cumsum(row[codes], out=before[1:])
            self.pack(np.diff(before[ends]) > 0, mask)

    def pack(self, bits: Bits, mask: Words) -> None:
        packed = np.packbits(bits, bitorder="little")
        in_bytes = mask.view(np.uint8)
        in_bytes[: len(packed)] = packed
        in_bytes[len(packed) :] = 0

    def conjoin(self, masks: Words, operands: NDArray[np.int64], first: int) -> None:
        out = masks[first : first + len(operands)]
        out[:] = _signed(masks, operands[:, 0])
        for column in operands.T[1:]:
            out &= _signed(masks, column)

    def add(
        self, masks: Words, literals: NDArray[np.int64], amounts: NDArray[np.int64], totals: NDArray[np.int64]
    ) -> None:
        for literal, amount in zip(literals.tolist(), amounts.tolist(), strict=True):
            mask = masks[literal >> 1] if not literal & 1 else ~masks[literal >> 1]
            if mask.any():
                bits = np.unpackbits(mask.view(np.uint8), count=len(totals), bitorder="little").view(np.bool_)
                np.add(totals, amount, out=totals, where=bits)

    def add_values(self, mask: Words, negative: bool, values: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
        signed = ~mask if negative else mask
        bits = np.unpackbits(signed.view(np.uint8), count=len(totals), bitorder="little").view(np.bool_)
        np.add(totals, values, out=totals, where=bits)

    def local(self, zone: ZoneTable, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        return zone.local(instants)

    def operate(self, op: str, arguments: tuple[NDArray[Any], ...]) -> Vector:
        return OPERATIONS[op].run(*arguments)


def _signed(masks: Words, literals: NDArray[np.int64]) -> Words:
    """The masks of literals, of shape (literals, words)."""
    negative = (literals & 1).astype(np.uint64)
    flips = np.uint64(0) - negative
    return np.asarray(masks[literals >> 1] ^ flips[:, None])
