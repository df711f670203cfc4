"""What many programs say, as one array of numbers, in which each is a short passage.

In: passages of programs for one schema, in one zone, and what they refer to. Out: the number of a program, by which
`walk` finds its passage. What programs share stands once: columns and what is computed of them, constants, words.
Passages of programs that nobody has any more are taken out when they are half of all. `passages` writes them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import Graph

# So many columns are computed for all options, whoever needs them.
_MOST_SLOTS = 128
MOST_CONSTANTS = 1 << 24
_LEAST_ROOM = 1 << 12


@dataclass(frozen=True)
class Slot:
    """A column that tests read: a `value` of the shared graph (or a flag of it), or the field at `path`.

    `kind` is `ints` or `floats` of a value; `holds`, `over`, `missing` (flags of one) or `there`; `texts` or `sets`.
    """

    kind: str
    value: int | None = None
    path: Path | None = None


class OutsideError(Exception):
    """A program says something that passages don't."""


@dataclass
class Tables:
    """Grows as programs are added; `graph` has the values that slots are made of.

    `words` says by slot and text where among the constants the text's code stands.
    """

    graph: Graph = field(default_factory=Graph)
    slots: dict[Slot, int] = field(default_factory=dict)
    words: dict[int, dict[str, int]] = field(default_factory=dict)
    most_masks: int = 1
    _amounts: dict[int, int] = field(default_factory=dict)
    _numbers: dict[tuple[int, int | float], int] = field(default_factory=dict)
    # Of each constant the slot, and an int or the bits of a double; 0 for a word.
    _slot_of: array[int] = field(default_factory=lambda: array("q"))
    _values: array[int] = field(default_factory=lambda: array("q"))
    _code: NDArray[np.int32] = field(default_factory=lambda: np.empty(_LEAST_ROOM, np.int32))
    _used: int = 0
    _spans: NDArray[np.int64] = field(default_factory=lambda: np.zeros((64, 2), np.int64))
    _programs: int = 0
    _free: list[int] = field(default_factory=list)
    _garbage: int = 0

    # --- programs ---------------------------------------------------------------------------------------------------

    def passage(self, number: int) -> NDArray[np.int32]:
        """A program's, copied."""
        start, stop = self._spans[number]
        return self._code[start:stop].copy()

    def add(self, passage: Sequence[int] | NDArray[np.int32], masks: int) -> int:
        """The program's number, by its passage and how many masks that has."""
        self.most_masks = max(self.most_masks, masks)
        start, stop = self._used, self._used + len(passage)
        if stop > len(self._code):
            self._code = np.concatenate([self._code, np.empty(max(len(self._code), len(passage)), np.int32)])
        self._code[start:stop] = passage
        self._used = stop
        if self._free:
            number = self._free.pop()
        else:
            number = self._programs
            self._programs += 1
            if number == len(self._spans):
                self._spans = np.concatenate([self._spans, np.zeros_like(self._spans)])
        self._spans[number] = start, stop
        return number

    def remove(self, number: int) -> None:
        """Forgets a program; its number may come back for another one."""
        start, stop = self._spans[number].tolist()
        self._spans[number] = 0
        self._free.append(number)
        self._garbage += stop - start
        if self._garbage > max(self._used // 2, _LEAST_ROOM):
            self._compact()

    def _compact(self) -> None:
        """In new arrays: a walk that is under way reads the old ones."""
        code = np.empty(max(_LEAST_ROOM, 2 * (self._used - self._garbage)), np.int32)
        spans, at = self._spans.copy(), 0
        for number, (start, stop) in enumerate(self._spans[: self._programs].tolist()):
            code[at : at + stop - start] = self._code[start:stop]
            spans[number] = at, at + stop - start
            at += stop - start
        self._code, self._spans, self._used, self._garbage = code, spans, at, 0

    @property
    def passages(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All of them, and where each program's begins."""
        return self._code, np.ascontiguousarray(self._spans[: max(self._programs, 1), 0])

    # --- what programs share ----------------------------------------------------------------------------------------

    def slot(self, slot: Slot) -> int:
        """Raises where there would be too many."""
        place = self.slots.get(slot)
        if place is None:
            if len(self.slots) >= _MOST_SLOTS:
                raise OutsideError
            place = self.slots[slot] = len(self.slots)
        return place

    def amount(self, amount: int) -> int:
        return self._amounts.setdefault(amount, len(self._amounts))

    def number(self, slot: int, value: int | float) -> int:
        """The place of a constant that a slot's values are compared with."""
        place = self._numbers.get((slot, value))
        if place is None:
            bits = int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)
            place = self._numbers[slot, value] = self._constant(slot, bits)
        return place

    def word(self, slot: int, text: str) -> int:
        """The place of the code that a text has in a slot's dictionary."""
        known = self.words.setdefault(slot, {})
        place = known.get(text)
        if place is None:
            place = known[text] = self._constant(slot, 0)
        return place

    def _constant(self, slot: int, bits: int) -> int:
        if len(self._values) >= MOST_CONSTANTS:
            raise OutsideError
        self._slot_of.append(slot)
        self._values.append(bits)
        return len(self._values) - 1

    @property
    def amounts(self) -> NDArray[np.int64]:
        return np.array([*self._amounts, 0], np.int64)

    @property
    def constants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each the slot, and the int, or the bits of the double: copies."""
        return np.array(self._slot_of, np.int64), np.array(self._values, np.int64)
