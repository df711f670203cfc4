"""A tape: everything that the compiled driver needs to score the rows of one table, as arrays of numbers.

In: steps, columns, constants, tables, one after another, from `writing`. Out: a `Tape`, which holds on to all arrays
whose addresses it names. Numbers are what compiled code takes fast: a call with as many arrays would spend longer on
looking at their types than on a thousand rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.engines.blocks import opcodes as op

Array = NDArray[Any]
Ints = NDArray[np.int64]

_LINE = 64
"""Bytes of a line of the cache, at which what stands in a room begins."""


@dataclass(frozen=True)
class Foreign:
    """Slots that get what the driver can't compute, anew for each range of rows: a value, and where it is a bool that
    holds, overflows or is missing. A slot is -1 where nobody asks."""

    value: int = -1
    holds: int = -1
    over: int = -1
    missing: int = -1


@dataclass(frozen=True)
class Tape:
    """`steps`, `slots` and `constants` are what `driver.run` takes; `block` is its rows at once.

    `filled` are the slots that hold a constant, with its bits; `foreign` are by value.
    """

    block: int
    steps: Ints
    slots: Ints
    constants: Ints
    room_bytes: int
    filled: Mapping[int, int]
    foreign: Mapping[int, Foreign]
    kept: list[Array] = field(repr=False)

    def room(self) -> Array:
        """Room for one thread."""
        room = np.empty(self.room_bytes // 8, np.int64)
        for slot, bits in self.filled.items():
            first = int(self.slots[slot, 3]) // 8
            room[first + _offset(room) : first + _offset(room) + self.block] = bits
        return room


def room_address(room: Array) -> int:
    return address_of(room) + 8 * _offset(room)


def _offset(room: Array) -> int:
    """Words to the first line that begins in the room."""
    return (-address_of(room) % _LINE) // 8


def address_of(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class Writer:
    """Grows a tape for `masks` masks."""

    def __init__(self, block: int, masks: int) -> None:
        self._block = block
        self._steps: list[tuple[int, ...]] = []
        self._slots: list[tuple[int, int, int, int]] = []
        self._slot_of: dict[tuple[int, int], int] = {}
        self._constants: list[Array] = []
        self._constant_count = 0
        self._kept: list[Array] = []
        self._filled: dict[int, int] = {}
        stride = (block // 64 + op.PADDING) * 8
        # Of a mask 64 words are looked at at once, of the last one too.
        self._room = op.NARROW + 4 * block + masks * stride + 512

    def step(self, *operands: int) -> None:
        self._steps.append((*operands, *[0] * (op.OPERANDS - len(operands))))

    def column(self, array: Array, kind: int = op.COLUMN) -> int:
        """The slot of a column of the table, or of results."""
        plain = np.require(array, requirements=("C", "A"))
        if kind in (op.RESULT, op.KEPT):
            assert plain is array
        place = self.address(plain), plain.itemsize
        known = self._slot_of.get(place)
        if known is None:
            known = self._slot_of[place] = self._slot(*place, kind)
        return known

    def cell(self, array: Ints) -> int:
        """The slot of one number that all rows share."""
        return self._slot(self.address(array), 0, op.RESULT)

    def scratch(self) -> int:
        """A slot for a block of values that the driver makes."""
        return self._slot(0, 0, op.SCRATCH)

    def constant(self, bits: int) -> int:
        """A slot that holds the same in every row."""
        slot = self.scratch()
        self._filled[slot] = bits
        return slot

    def foreign(self, width: int) -> int:
        """A slot whose column is there once the range of rows is known."""
        return self._slot(0, width, op.COLUMN)

    def _slot(self, address: int, width: int, kind: int) -> int:
        self._room += -self._room % _LINE
        self._slots.append((address, width, kind, self._room))
        self._room += 8 * (self._block + 8)
        return len(self._slots) - 1

    def address(self, array: Array) -> int:
        """Where a contiguous array stands, which is held on to."""
        self._kept.append(array)
        return address_of(array)

    def constants(self, *arrays: Array) -> tuple[int, int]:
        """Where they stand among the constants, one after another: the first, and beyond the last."""
        first = self._constant_count
        for array in arrays:
            self._constants.append(np.ascontiguousarray(array).view(np.int64))
            self._constant_count += len(array)
        return first, self._constant_count

    def tape(self, foreign: Mapping[int, Foreign]) -> Tape:
        return Tape(
            self._block,
            np.array(self._steps, np.int64).reshape(-1, op.OPERANDS),
            np.array(self._slots, np.int64).reshape(-1, 4),
            np.concatenate([np.zeros(0, np.int64), *self._constants]),
            self._room + 2 * _LINE,
            self._filled,
            foreign,
            self._kept,
        )
