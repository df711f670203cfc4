"""The columns that people's rules look at, for all options at once, as `walk` reads them.

In: the slots of `tables`, the options' columns. Out: an address for each slot. What rules read of times is computed
here once for everybody, by compiled loops; the rest of what is computed, by NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns, Scalars, Sets, Texts
from ucl.kernels.crowd import walk
from ucl.kernels.crowd.tables import Slot, Tables
from ucl.kernels.engines.blocks.opcodes import HOUR, MINUTE, WEEKDAY
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.lowering.graph import arguments_of
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.plan import Formulas, Local, Operation, Read
from ucl.semantics.outcome import Call
from ucl.semantics.types import DAY

_BLOCK = 1 << 16
# What is read at once beyond a person's last option.
BEYOND = 64

_DERIVED = {
    "wall_day": (walk.DAY, 0),
    "wall_time": (walk.TIME, 0),
    "night_day": (walk.DAY, DAY // 4),
    "date_weekday": (walk.PART, WEEKDAY),
    "time_hour": (walk.PART, HOUR),
    "time_minute": (walk.PART, MINUTE),
}

Array = NDArray[Any]


@dataclass(frozen=True)
class Readable:
    """`slots` has for each slot the address of its first row, its row of `words`, the address of its elements,
    and how many bytes a code has.

    `words` has for each word its code in a column's dictionary, or -1. Addresses point at `arrays`, by slot, of which
    rows are read 64 at a time, and at `held`, which have room for that.
    """

    slots: NDArray[np.int64]
    words: NDArray[np.int32]
    arrays: Mapping[int, Array]
    held: tuple[Array, ...]

    def end(self, start: int) -> Readable:
        """The same for the rows from `start` on, copied so that there is something to read behind the last."""
        slots = self.slots.copy()
        copies = {place: np.concatenate([a[start:], np.zeros(BEYOND, a.dtype)]) for place, a in self.arrays.items()}
        for place, copy in copies.items():
            slots[place, 0] = copy.ctypes.data - start * copy.itemsize
        return Readable(slots, self.words, copies, self.held)


def readable(tables: Tables, columns: Columns, call: Call) -> Readable:
    return _Reader(tables, columns, call).readable()


class _Reader:
    def __init__(self, tables: Tables, columns: Columns, call: Call) -> None:
        self._tables = tables
        self._columns = columns
        self._graph = tables.graph
        self._binding = Binding(Formulas(call, tuple(tables.graph.values), ()), columns)
        self._derived: dict[int, Array] = {}
        self._others: dict[Slot, Array] = {}

    def readable(self) -> Readable:
        tables = self._tables
        self._compute_others()
        slots = np.zeros((max(len(tables.slots), 1), 4), np.int64)
        arrays: dict[int, Array] = {}
        held: list[Array] = []
        words = [np.full(max(len(tables.words), 1), -1, np.int32)]
        for slot, place in tables.slots.items():
            column = None if slot.path is None else self._columns.columns[slot.path]
            slots[place, 1] = len(words)
            if slot.kind == "sets":
                assert isinstance(column, Sets)
                codes = column.elements.astype(_narrowest(column.dictionary or ()))
                elements = np.concatenate([codes, np.zeros(BEYOND, codes.dtype)])
                offsets = np.ascontiguousarray(column.offsets, np.int64)
                slots[place, [0, 2, 3]] = offsets.ctypes.data, elements.ctypes.data, elements.itemsize
                held += [offsets, elements]
                words.append(_codes(tables.words, column.dictionary or ()))
                continue
            if slot.kind == "texts":
                assert isinstance(column, Texts)
                arrays[place] = np.ascontiguousarray(column.codes, _narrowest(column.dictionary))
                slots[place, 3] = arrays[place].itemsize
                words.append(_codes(tables.words, column.dictionary))
            else:
                arrays[place] = self._plain(slot)
            slots[place, 0] = arrays[place].ctypes.data
        return Readable(slots, np.stack(words), arrays, tuple(held))

    def _plain(self, slot: Slot) -> Array:
        """A slot of ints, doubles or flags, by row."""
        if slot.path is not None:
            valid = self._columns.columns[slot.path].valid
            return np.ones(self._columns.rows, np.uint8) if valid is None else _bytes(valid)
        assert slot.value is not None
        if slot in self._others:
            return self._others[slot]
        array = self._derive(slot.value)
        return _bytes(array) if slot.kind == "holds" else array

    # --- values -----------------------------------------------------------------------------------------------------

    def _is_derived(self, value: int) -> bool:
        """Whether no more than a column, or times computed from it by compiled loops."""
        node = self._graph.values[value]
        match node:
            case Read():
                return True
            case Local(instant):
                return self._is_derived(instant)
            case Operation(op, (argument,)):
                return op in _DERIVED and self._is_derived(argument)
            case _:
                return False

    def _derive(self, value: int) -> Array:
        known = self._derived.get(value)
        if known is None:
            known = self._derived[value] = self._made(value)
        return known

    def _made(self, value: int) -> Array:
        node = self._graph.values[value]
        if isinstance(node, Read):
            column = self._columns.columns[node.path]
            assert isinstance(column, Scalars)
            return np.ascontiguousarray(column.values, np.int64 if column.values.dtype.kind == "i" else None)
        (argument,) = arguments_of(node)
        given = self._derive(argument)
        out = np.empty(len(given), np.int64)
        kind, which = (walk.LOCAL, 0) if isinstance(node, Local) else _DERIVED[node.op]  # type: ignore[union-attr]
        zone = self._binding.zone
        dispatcher, _ = walk.KERNELS["derive"]
        for start in range(0, len(given), _BLOCK):
            rows = min(_BLOCK, len(given) - start)
            addresses = (given.ctypes.data + start * 8, out.ctypes.data + start * 8)
            dispatcher(kind, which, addresses[0], zone.transitions, zone.offsets, addresses[1], rows)
        return out

    def _compute_others(self) -> None:
        """All that NumPy computes, block by block."""
        wanted = [slot for slot in self._tables.slots if slot.value is not None and not self._simple(slot)]
        if not wanted:
            return
        values = list(dict.fromkeys(slot.value for slot in wanted if slot.value is not None))
        steps = schedule(self._graph, (), values)
        parts: dict[Slot, list[Array]] = {slot: [] for slot in wanted}
        for start in range(0, self._columns.rows, _BLOCK):
            rows = min(_BLOCK, self._columns.rows - start)
            execution = Execution(self._binding, steps, start, start + rows)
            for slot in wanted:
                assert slot.value is not None
                parts[slot].append(_of_vector(execution.vector(slot.value), slot.kind, rows))
        for slot, pieces in parts.items():
            self._others[slot] = np.concatenate(pieces)

    def _simple(self, slot: Slot) -> bool:
        return slot.value is not None and slot.kind in ("value", "holds") and self._is_derived(slot.value)


def _of_vector(vector: Any, kind: str, rows: int) -> Array:
    if kind == "value":
        values = vector.values
        array = values if values.dtype == np.float64 else values.astype(np.int64)
        return np.broadcast_to(array, (rows,))
    bits = {"holds": vector.values, "over": vector.over, "missing": vector.missing}[kind]
    return np.broadcast_to(np.zeros(rows, np.bool_) if bits is None else bits, (rows,)).astype(np.uint8)


def _bytes(bits: Array) -> Array:
    return np.ascontiguousarray(bits, np.bool_).view(np.uint8)


def _narrowest(dictionary: tuple[str, ...]) -> type[np.int16] | type[np.int32]:
    """Of half as many bytes, twice as many codes are compared at once."""
    return np.int16 if len(dictionary) < 1 << 15 else np.int32


def _codes(words: dict[str, int], dictionary: tuple[str, ...]) -> NDArray[np.int32]:
    """Each word's code in the dictionary, -1 where it has none."""
    codes = np.full(max(len(words), 1), -1, np.int32)
    for code, text in enumerate(dictionary):
        word = words.get(text)
        if word is not None:
            codes[word] = code
    return codes
