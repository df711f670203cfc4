"""A plan bound to a table, written as a tape.

In: a plan, its binding, the columns of results or of masks that are kept. Out: a `Tape`. Values that the driver knows
(`native`) become steps; the others are `foreign`: NumPy computes them, with all that they need, for one range of rows
after another. Tests of one column are written so that it is read as few and as small bytes as decide them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Path, Scalars
from ucl.kernels.engines.blocks import opcodes as op
from ucl.kernels.engines.engine import Kept, Results
from ucl.kernels.engines.native import Natives
from ucl.kernels.engines.tape import Foreign, Tape, Writer
from ucl.kernels.execution.masks import Bits
from ucl.kernels.execution.schedules import Binding
from ucl.kernels.plan import (
    FALSE,
    Constant,
    Cuts,
    Flag,
    HasValue,
    Literal,
    Local,
    Lookups,
    OfText,
    Operation,
    Plan,
    Read,
    Schedule,
    Select,
    SetSize,
    Whole,
    negated,
)
from ucl.semantics.types import DAY

# Cuts of one column: from so many on, narrowing it to four bytes a row, or to two, costs less than it saves.
_MANY_OF_FOUR, _MANY_OF_TWO = 6, 5
_FEW_CODES = 32
# So many elements that mean anything are looked for one by one sooner than each row's are looked up.
_FEW_ELEMENTS = 16
# Where a smaller share of a dictionary means anything, looking for the rows of hits costs less than for all rows.
_SPARSE = 0.04
_PARTS = {"date_weekday": op.WEEKDAY, "time_hour": op.HOUR, "time_minute": op.MINUTE}
_COMBINED = {
    "add_int": op.ADD,
    "sub_int": op.SUBTRACT,
    "add_float": op.ADD,
    "sub_float": op.SUBTRACT,
    "mul_float": op.MULTIPLY,
    "div_float": op.DIVIDE,
    "min": op.LEAST,
    "max": op.GREATEST,
}


def write(plan: Plan, binding: Binding, results: Results, block: int) -> Tape:
    """The tape of `plan.scoring`, `block` rows (a multiple of 64) at a time."""
    return _Writing(plan, binding, block).write(results)


def write_kept(plan: Plan, binding: Binding, kept: Kept, block: int) -> Tape:
    """The tape of `plan.detailed`, the same way."""
    return _Writing(replace(plan, wanted=plan.told), binding, block).write_kept(kept)


class _Writing:
    def __init__(self, plan: Plan, binding: Binding, block: int) -> None:
        self._plan = plan
        self._binding = binding
        self._schedule: Schedule = plan.scoring
        self._natives = Natives(plan, binding)
        self._writer = Writer(block, plan.scoring.rows)
        self._slots: dict[int, int] = {}
        self._narrow: dict[int, tuple[int, int]] = {}
        self._foreign: dict[int, Foreign] = {}
        self._flag_rows = {
            (flag.value, flag.kind): row
            for stage in plan.scoring.stages
            for flag, row in stage.flags
            if isinstance(flag, Flag)
        }

    def write(self, results: Results) -> Tape:
        writer = self._writer
        if self._binding.bounds:
            self._bounds(writer.cell(results.outside))
        self._compute()
        totals = writer.column(results.total, op.RESULT)
        first, beyond = writer.constants(self._plan.constant_literals, self._plan.constant_amounts)
        writer.step(op.ADD_AMOUNTS, totals, first, beyond)
        for mask, value in self._plan.varying:
            writer.step(op.ADD_VALUES, totals, self._schedule.place[mask], self._slots[value])
        outcomes = self._plan.outcomes
        self._spread(negated(outcomes.infeasible), results.feasible)
        self._spread(outcomes.contested, results.contested)
        if outcomes.failed != FALSE:
            self._spread(outcomes.failed, results.failed)
        return writer.tape(self._foreign)

    def write_kept(self, kept: Kept) -> Tape:
        self._compute()
        writer, place = self._writer, self._schedule.place
        first, beyond = writer.constants(np.array([place[literal] for literal in self._plan.outcomes.told], np.int64))
        masks = writer.column(kept.masks[0], op.KEPT)
        writer.step(op.KEEP, masks, first, beyond, kept.masks.strides[0])
        for row, (mask, value) in zip(kept.values, self._plan.varying, strict=True):
            values = writer.column(row, op.RESULT)
            writer.step(op.ADD_AMOUNTS, values)  # of nothing: zeros
            writer.step(op.ADD_VALUES, values, place[mask], self._slots[value])
        return writer.tape(self._foreign)

    def _bounds(self, outside: int) -> None:
        writer = self._writer
        for bounds in self._binding.bounds:
            code = op.BOUND_FLOATS if bounds.values.dtype == np.float64 else op.BOUND_INTS
            first, _ = writer.constants(np.array([bounds.least, bounds.greatest], bounds.values.dtype))
            writer.step(code, outside, writer.column(bounds.values), first)

    def _compute(self) -> None:
        """The steps to all values and masks of the schedule."""
        for value in sorted(self._natives.foreign):
            self._foreign[value] = self._foreign_slots(value)
            self._slots[value] = self._foreign[value].value
        for stage in self._schedule.stages:
            for value in stage.values:
                if value in self._natives.needed and value not in self._slots:
                    self._slots[value] = self._value(value)
            for cuts in stage.cuts:
                self._cuts(cuts)
            for lookups in stage.texts:
                self._text_tests(lookups)
            for lookups in stage.sets:
                self._set_tests(lookups)
            for flag, row in stage.flags:
                self._flag(flag, row)
            for conjunctions in stage.conjunctions:
                first, beyond = self._writer.constants(conjunctions.operands.ravel())
                self._writer.step(op.CONJOIN, conjunctions.first, first, beyond, conjunctions.operands.shape[1])

    def _spread(self, literal: Literal, bools: Bits) -> None:
        self._writer.step(op.SPREAD, self._writer.column(bools, op.RESULT), self._schedule.place[literal])

    # --- values -----------------------------------------------------------------------------------------------------

    def _foreign_slots(self, value: int) -> Foreign:
        asked = {kind for kind in ("holds", "over", "missing") if (value, kind) in self._flag_rows}
        slots = {kind: self._writer.foreign(1) for kind in asked}
        if self._natives.kind(value) is not np.bool_:
            slots["value"] = self._writer.foreign(8)
        return Foreign(**slots)

    def _value(self, number: int) -> int:
        """The slot of a value, and the step that fills it."""
        writer = self._writer
        node = self._plan.values[number]
        match node:
            case Read(path):
                column = self._binding.columns[path]
                assert isinstance(column, Scalars)
                return self._column(number, column.values)
            case Constant(value, floating):
                return writer.constant(int(np.array(value, np.float64 if floating else np.int64).view(np.int64)))
            case Whole(index):
                return writer.column(self._binding.wholes[index].values)
            case Local(instant):
                return self._local(number, self._slots[instant])
            case Select(condition, then, otherwise):
                place = self._schedule.place[condition]
                return self._step(op.SELECT, place, self._slots[then], self._slots[otherwise])
            case OfText(path):
                table = writer.address(np.ascontiguousarray(self._binding.prepared(number).values))
                return self._step(op.TAKE, self._codes(path), table)
            case SetSize(path):
                return self._step(op.SIZES, self._offsets(path))
            case Operation(name, arguments):
                return self._operation(number, name, arguments)
            case _:
                raise AssertionError(node)

    def _column(self, number: int, values: NDArray[Any]) -> int:
        """Ints of few bytes are tested as they are, and widened where anything is computed from them."""
        slot = self._writer.column(values)
        if values.dtype.kind != "i" or values.itemsize == 8:
            return slot
        self._narrow[number] = slot, values.itemsize
        return self._step(op.WIDEN, slot, values.itemsize) if number in self._natives.computed else slot

    def _local(self, number: int, instants: int) -> int:
        """The wall clock; and its parts in one pass, where several are needed."""
        walls = self._step(op.LOCAL, instants)
        parts = self._natives.parts(number)
        if len(parts) > 1:
            days, times, weekdays = (self._writer.scratch() for _ in range(3))
            self._writer.step(op.SPLIT, days, walls, times, weekdays)
            for name, slot in (("wall_day", days), ("wall_time", times), ("date_weekday", weekdays)):
                if name in parts:
                    self._slots[parts[name]] = slot
        return walls

    def _step(self, code: int, *operands: int) -> int:
        slot = self._writer.scratch()
        self._writer.step(code, slot, *operands)
        return slot

    def _operation(self, number: int, name: str, arguments: tuple[int, ...]) -> int:
        over, missing = (self._flag_rows.get((number, kind), -1) for kind in ("over", "missing"))
        if name == "contribution":
            return self._contribution(number, over)
        first = self._slots[arguments[0]]
        match name:
            case "wall_day" | "night_day":
                return self._step(op.DAY, first, DAY // 2 if name == "night_day" else 0)
            case "wall_time":
                return self._step(op.TIME, first)
            case "to_float":
                return self._step(op.TO_FLOAT, first)
            case "date_weekday" | "time_hour" | "time_minute":
                return self._step(op.PART, first, _PARTS[name])
            case _:
                code = op.COMBINE_FLOATS if self._natives.kind(arguments[0]) is np.float64 else op.COMBINE_INTS
                return self._step(code, first, self._slots[arguments[1]], _COMBINED[name], over, missing)

    def _contribution(self, number: int, beyond: int) -> int:
        """What it is a multiple of is computed in the same pass."""
        source = self._natives.multiples[number]
        first, _ = self._writer.constants(np.array([source.factor, source.weight], np.float64))
        over = -1 if source.product is None else self._flag_rows.get((source.product, "over"), -1)
        return self._step(op.CONTRIBUTE, self._slots[source.value], int(source.whole), first, over, beyond)

    # --- tests ------------------------------------------------------------------------------------------------------

    def _cuts(self, cuts: Cuts) -> None:
        constants = cuts.constants
        slot, width = self._narrow.get(cuts.value, (self._slots[cuts.value], 8))
        first, beyond = self._writer.constants(constants)
        if constants.dtype == np.float64:
            self._writer.step(op.CUT_FLOATS, cuts.first, slot, first, beyond)
            return
        if width < 8:
            self._writer.step(op.CUT_INTS, cuts.first, slot, first, beyond, width)
            return
        shift = _common_zeros(constants)
        span = (int(constants[-1]) >> shift) - (int(constants[0]) >> shift)
        narrow = span < (1 << 15) - 1 and len(constants) >= _MANY_OF_TWO
        narrow = narrow or (span < (1 << 31) - 1 and len(constants) >= _MANY_OF_FOUR)
        if narrow:
            self._writer.step(op.CUT_NARROW, cuts.first, slot, first, beyond, shift)
        else:
            self._writer.step(op.CUT_INTS, cuts.first, slot, first, beyond, width)

    def _text_tests(self, lookups: Lookups) -> None:
        meanings, codes = self._binding.meanings(lookups), self._codes(lookups.path)
        if meanings.codes <= _FEW_CODES:
            first, beyond = self._writer.constants(meanings.by_test().astype(np.int64))
            self._writer.step(op.ONE_OF_FEW, lookups.first, codes, first, beyond, meanings.codes)
        else:
            address = self._writer.address(meanings.words)
            self._writer.step(op.LOOK_UP, lookups.first, codes, 0, 0, address, meanings.codes, meanings.tests)

    def _set_tests(self, lookups: Lookups) -> None:
        meanings, column = self._binding.meanings(lookups), self._binding.sets(lookups.path)
        tests, size = meanings.tests, meanings.codes
        elements = np.require(column.elements, requirements=("C", "A"))
        means = meanings.some
        arrays: tuple[NDArray[Any], ...] = (elements, meanings.words, means)
        places = [self._writer.address(array) for array in arrays]
        offsets = self._offsets(lookups.path)
        if elements.itemsize == 4 and np.count_nonzero(means) <= _FEW_ELEMENTS:
            first, beyond = self._writer.constants(np.flatnonzero(means))
            operands = (first, places[1], size, tests, beyond)
            self._writer.step(op.ANY_OF_CODES, lookups.first, offsets, places[0], *operands)
            return
        code = op.ANY_OF_FEW if means.mean() < _SPARSE else op.ANY_ELEMENT
        self._writer.step(code, lookups.first, offsets, places[0], elements.itemsize, places[1], size, tests, places[2])

    def _codes(self, path: Path) -> int:
        return self._writer.column(self._binding.texts(path).codes)

    def _offsets(self, path: Path) -> int:
        return self._writer.column(self._binding.sets(path).offsets, op.OFFSETS)

    def _flag(self, flag: Flag | HasValue, row: int) -> None:
        writer = self._writer
        match flag:
            case HasValue(path):
                valid = self._binding.columns[path].valid
                if valid is None:
                    writer.step(op.FILL, row, 0, 1)
                else:
                    writer.step(op.PACK, row, writer.column(valid))
            case Flag(value, kind) if value in self._foreign:
                writer.step(op.PACK, row, getattr(self._foreign[value], kind))
            case Flag(value, kind):
                self._native_flag(value, kind, row)

    def _native_flag(self, value: int, kind: str, row: int) -> None:
        writer = self._writer
        node = self._plan.values[value]
        match node:
            case Whole(index):
                vector = self._binding.wholes[index]
                bits = vector.values if kind == "holds" else vector.over if kind == "over" else vector.missing
                if bits is None:
                    writer.step(op.FILL, row, 0, 0)
                else:
                    writer.step(op.PACK, row, writer.column(bits))
            case Read() if kind == "holds":
                writer.step(op.PACK, row, self._slots[value])
            case Operation("less" | "equal" as name, (left, right)) if kind == "holds":
                floating = int(self._natives.kind(left) is np.float64)
                which = op.LESS if name == "less" else op.EQUAL
                writer.step(op.COMPARE, row, self._slots[left], self._slots[right], which, floating)
            case _ if self._natives.writes_flag(value, kind):
                pass  # the step that computes the value writes it
            case _:
                writer.step(op.FILL, row, 0, 0)


def _common_zeros(constants: NDArray[Any]) -> int:
    """How many zero bits all constants end in."""
    together = int(np.bitwise_or.reduce(constants))
    return min((together & -together).bit_length() - 1, 62) if together else 0
