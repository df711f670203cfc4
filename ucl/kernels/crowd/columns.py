"""The columns that people's rules look at, as `fill` makes them, block by block, and what they are compared with.

In: the slots and constants of `tables`, the options' columns. Out: `Readable`. Constants of ints become whole steps:
where all that a column is compared with are quarters of an hour, or priorities, a value is a byte, of which 64 are
compared at once. What compiled loops don't compute, NumPy does, for all options beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns, Scalars, Sets, Texts
from ucl.kernels.crowd import fill
from ucl.kernels.crowd.fill import BLOCK
from ucl.kernels.crowd.tables import Slot, Tables
from ucl.kernels.crowd.walk import DOUBLE
from ucl.kernels.crowd.words import ROWS
from ucl.kernels.engines.blocks.opcodes import HOUR, MINUTE, WEEKDAY
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.lowering.graph import arguments_of
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.plan import Formulas, Local, Operation, Read
from ucl.semantics.outcome import Call
from ucl.semantics.types import DAY

_AT_ONCE = 1 << 16
# Constants so far apart are compared as they are (`fill.narrow` says why).
_FAR_APART = 1 << 50
# Rows of a block for which there is room, with those that are read beyond the last.
_ROOM = BLOCK + ROWS

_DERIVED = {
    "wall_day": (fill.DAY, 0),
    "wall_time": (fill.TIME, 0),
    "night_day": (fill.DAY, DAY // 4),
    "date_weekday": (fill.PART, WEEKDAY),
    "time_hour": (fill.PART, HOUR),
    "time_minute": (fill.PART, MINUTE),
}

Array = NDArray[Any]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Readable:
    """What `walk` reads: constants, and the tables of slots, sources and steps; sources point at `held`.

    `transitions` and `offsets` are the zone's. A block needs a `room` of so many bytes.
    """

    constants: Ints
    slots: Ints
    sources: Ints
    steps: Ints
    transitions: Ints
    offsets: Ints
    room: int
    held: tuple[Array, ...]


def readable(tables: Tables, columns: Columns, call: Call) -> Readable:
    return _Reader(tables, columns, call).readable()


class _Reader:
    def __init__(self, tables: Tables, columns: Columns, call: Call) -> None:
        self._tables = tables
        self._columns = columns
        self._graph = tables.graph
        self._binding = Binding(Formulas(call, tuple(tables.graph.values), ()), columns)
        self._slot_of, self._constants = tables.constants
        self._sources: list[tuple[int, int, int]] = []
        self._steps: list[tuple[int, ...]] = []
        self._room = 0
        self._held: list[Array] = []
        self._derived: dict[int, int] = {}
        self._others: dict[Slot, Array] = {}

    def readable(self) -> Readable:
        self._compute_others()
        slots = [self._slot(slot, place) for slot, place in self._tables.slots.items()]
        zone = self._binding.zone
        return Readable(
            self._constants,
            _table(slots, 4),
            _table(self._sources, 3),
            _table(self._steps, fill.STEP),
            zone.transitions,
            zone.offsets,
            self._room,
            tuple(self._held),
        )

    # --- slots ------------------------------------------------------------------------------------------------------

    def _slot(self, slot: Slot, place: int) -> tuple[int, int, int, int]:
        """A source and its bytes a row; for sets the sources of elements and of their owners."""
        column = None if slot.path is None else self._columns.columns[slot.path]
        match slot.kind:
            case "texts":
                assert isinstance(column, Texts)
                self._write_codes(place, column.dictionary)
                width = _narrowest(len(column.dictionary))
                return self._made(fill.CODES, self._array(column.codes, np.int32), width), width, 0, 0
            case "sets":
                assert isinstance(column, Sets)
                self._write_codes(place, column.dictionary or ())
                return self._sets(column)
            case "ints":
                return self._ints(slot, place)
            case "floats":
                return self._made(fill.COPY, self._value(slot, np.float64), 8), DOUBLE, 0, 0
            case _:
                return self._made(fill.COPY, self._flags(slot), 1), 1, 0, 0

    def _ints(self, slot: Slot, place: int) -> tuple[int, int, int, int]:
        mine = self._slot_of == place
        constants = self._constants[mine]
        low, high = int(constants.min()), int(constants.max())
        given = self._value(slot, np.int64)
        if high - low < _FAR_APART:
            step = int(np.gcd.reduce(constants - low)) or 1
            width = _narrowest((high - low) // step + 1)
            if width:
                self._constants[mine] = (constants - low) // step
                return self._made(fill.NARROW, given, width, low, high, step), width, 0, 0
        return self._made(fill.COPY, given, 8), 8, 0, 0

    def _sets(self, column: Sets) -> tuple[int, int, int, int]:
        width = _narrowest(len(column.dictionary or ()))
        offsets = np.ascontiguousarray(column.offsets)
        elements = np.ascontiguousarray(column.elements, np.int32)
        self._held.append(elements)
        ends = self._made(fill.ENDS, self._array(offsets, offsets.dtype), 8, offsets.itemsize)
        # Wherever a block begins, it reaches into two of these at most.
        corners = np.append(offsets[:-1:BLOCK], offsets[-1])
        room = 2 * int(np.diff(corners).max(initial=0)) + ROWS
        codes, owners = self._inside(width, room), self._inside(1, room)
        self._steps.append((fill.ELEMENTS, ends, codes, elements.ctypes.data, owners, 0))
        return ends, width, codes, owners

    def _write_codes(self, place: int, dictionary: tuple[str, ...]) -> None:
        """The code of each of a slot's words in the dictionary; where it has none, a code that no row has."""
        wanted = self._tables.words.get(place, {})
        self._constants[self._slot_of == place] = -1
        for code, text in enumerate(dictionary):
            constant = wanted.get(text)
            if constant is not None:
                self._constants[constant] = code

    def _flags(self, slot: Slot) -> int:
        if slot.path is None:
            return self._value(slot, np.bool_)
        valid = self._columns.columns[slot.path].valid
        return self._array(np.ones(self._columns.rows, np.bool_) if valid is None else valid, np.bool_)

    # --- sources ----------------------------------------------------------------------------------------------------

    def _array(self, array: Array, dtype: Any) -> int:
        """A source of whole columns, by row."""
        array = np.ascontiguousarray(array, dtype)
        self._held.append(array)
        self._sources.append((array.ctypes.data, array.itemsize, 0))
        return len(self._sources) - 1

    def _inside(self, width: int, rows: int = _ROOM) -> int:
        """A source in the room of a block."""
        self._sources.append((0, width, self._room))
        self._room += -(-rows * width // 64) * 64
        return len(self._sources) - 1

    def _made(self, kind: int, given: int, width: int, *around: int) -> int:
        """A source that a step makes from another."""
        out = self._inside(width)
        self._steps.append((kind, given, out, *around, *[0] * (fill.STEP - 3 - len(around))))
        return out

    def _value(self, slot: Slot, dtype: Any) -> int:
        assert slot.value is not None
        if slot in self._others:
            return self._array(self._others[slot], dtype)
        return self._derive(slot.value)

    def _derive(self, value: int) -> int:
        known = self._derived.get(value)
        if known is None:
            known = self._derived[value] = self._step_to(value)
        return known

    def _step_to(self, value: int) -> int:
        node = self._graph.values[value]
        if isinstance(node, Read):
            column = self._columns.columns[node.path]
            assert isinstance(column, Scalars)
            values = column.values
            source = self._array(values, values.dtype)
            if values.dtype.kind == "i" and values.itemsize < 8:
                return self._made(fill.WIDEN, source, 8, values.itemsize)
            return source
        (argument,) = arguments_of(node)
        kind, which = (fill.LOCAL, 0) if isinstance(node, Local) else _DERIVED[node.op]  # type: ignore[union-attr]
        return self._made(kind, self._derive(argument), 8, which)

    # --- what NumPy computes ----------------------------------------------------------------------------------------

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

    def _compute_others(self) -> None:
        """All that NumPy computes, some rows at a time."""
        wanted = [slot for slot in self._tables.slots if slot.value is not None and not self._simple(slot)]
        if not wanted:
            return
        values = list(dict.fromkeys(slot.value for slot in wanted if slot.value is not None))
        steps = schedule(self._graph, (), values)
        parts: dict[Slot, list[Array]] = {slot: [] for slot in wanted}
        for start in range(0, self._columns.rows, _AT_ONCE):
            rows = min(_AT_ONCE, self._columns.rows - start)
            execution = Execution(self._binding, steps, start, start + rows)
            for slot in wanted:
                assert slot.value is not None
                parts[slot].append(_of_vector(execution.vector(slot.value), slot.kind, rows))
        for slot, pieces in parts.items():
            self._others[slot] = np.concatenate(pieces)

    def _simple(self, slot: Slot) -> bool:
        return slot.value is not None and slot.kind in ("ints", "floats", "holds") and self._is_derived(slot.value)


def _of_vector(vector: Any, kind: str, rows: int) -> Array:
    if kind in ("ints", "floats"):
        return np.broadcast_to(vector.values, (rows,))
    bits = {"holds": vector.values, "over": vector.over, "missing": vector.missing}[kind]
    return np.broadcast_to(np.zeros(rows, np.bool_) if bits is None else bits, (rows,))


def _table(rows: Sequence[tuple[int, ...]], size: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, size)


def _narrowest(codes: int) -> int:
    """Bytes for numbers from -1 to below `codes`; 0 where four are too few."""
    return next((width for width in (1, 2, 4) if codes <= 1 << (8 * width - 1)), 0)
