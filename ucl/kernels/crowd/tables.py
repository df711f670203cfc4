"""Plans of many programs as one array of numbers, in which each is a short passage.

In: plans for one schema, in one zone. Out: the number of a program, by which `walk` finds its passage. What programs
share stands once: columns and what is computed of them, constants, words. Passages of programs that nobody has any
more are taken out when they are half of all.

A passage counts its conjunctions and additions, names the literals of what is infeasible and contested, counts its
tests of each kind, and then lists all. Masks are numbered within it: 0 holds every row, then the tests, then the
conjunctions; literals are as in `plan`. A test is a slot and a constant, or a slot and so many words; a conjunction its
size and its literals; an addition a literal and an amount.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import All, Graph
from ucl.kernels.plan import (
    FALSE,
    Among,
    AnyElement,
    AtLeast,
    Constant,
    Flag,
    FromWall,
    HasValue,
    Literal,
    Local,
    Members,
    OneOf,
    Operation,
    Plan,
    Read,
    SameText,
    SetSize,
    SetsMeet,
)

KINDS = 7
CUT_INTS, CUT_FLOATS, FLAG, TEXTS, OTHER_TEXTS, ELEMENTS, OTHER_ELEMENTS = range(KINDS)

COUNTS = 4
HEAD = COUNTS + KINDS
"""Where in a passage the counts of its tests stand, and its first test."""

# So many columns are computed for all options, whoever needs them; and one test may name so many words.
_MOST_SLOTS = 128
_MOST_WORDS = 64
_LEAST_ROOM = 1 << 12


@dataclass(frozen=True)
class Slot:
    """A column that tests read: a `value` of the shared graph (or a flag of it), or the field at `path`."""

    kind: str
    value: int | None = None
    path: Path | None = None


class _OutsideError(Exception):
    """A plan has something that passages don't say."""


@dataclass
class Tables:
    """Grows as programs are added; `graph` has the values that slots are made of."""

    graph: Graph = field(default_factory=Graph)
    slots: dict[Slot, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    most_masks: int = 1
    _ints: dict[int, int] = field(default_factory=dict)
    _floats: dict[float, int] = field(default_factory=dict)
    _code: NDArray[np.int32] = field(default_factory=lambda: np.empty(_LEAST_ROOM, np.int32))
    _used: int = 0
    _spans: list[tuple[int, int]] = field(default_factory=list)
    _free: list[int] = field(default_factory=list)
    _garbage: int = 0

    def add(self, plan: Plan) -> int | None:
        """The program's number; None where the plan has something that passages don't say."""
        try:
            passage, masks = _Writer(self, plan).passage()
        except _OutsideError:
            return None
        self.most_masks = max(self.most_masks, masks)
        span = (self._used, self._used + len(passage))
        if span[1] > len(self._code):
            self._code = np.concatenate([self._code, np.empty(max(len(self._code), len(passage)), np.int32)])
        self._code[span[0] : span[1]] = passage
        self._used = span[1]
        if self._free:
            number = self._free.pop()
            self._spans[number] = span
            return number
        self._spans.append(span)
        return len(self._spans) - 1

    def remove(self, number: int) -> None:
        """Forgets a program; its number may come back for another one."""
        start, stop = self._spans[number]
        self._spans[number] = (0, 0)
        self._free.append(number)
        self._garbage += stop - start
        if self._garbage > max(self._used // 2, _LEAST_ROOM):
            self._compact()

    def _compact(self) -> None:
        """In a new array: a walk that is under way reads the old one."""
        code = np.empty(max(_LEAST_ROOM, 2 * (self._used - self._garbage)), np.int32)
        at = 0
        for number, (start, stop) in enumerate(self._spans):
            code[at : at + stop - start] = self._code[start:stop]
            self._spans[number] = (at, at + stop - start)
            at += stop - start
        self._code, self._used, self._garbage = code, at, 0

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The passages, where each program's begins, and the constants."""
        starts = np.array([start for start, _ in self._spans], np.int64)
        ints, floats = np.array([*self._ints, 0], np.int64), np.array([*self._floats, 0], np.float64)
        return self._code, starts, ints, floats

    def int_place(self, value: int) -> int:
        return self._ints.setdefault(value, len(self._ints))

    def float_place(self, value: float) -> int:
        return self._floats.setdefault(value, len(self._floats))

    def slot(self, slot: Slot) -> int:
        """Raises where there would be too many."""
        place = self.slots.get(slot)
        if place is None:
            if len(self.slots) >= _MOST_SLOTS:
                raise _OutsideError
            place = self.slots[slot] = len(self.slots)
        return place


class _Writer:
    """Writes one plan's passage."""

    def __init__(self, tables: Tables, plan: Plan) -> None:
        self._tables = tables
        self._plan = plan
        self._values: dict[int, int] = {}
        self._place: dict[int, int] = {0: 0}

    def passage(self) -> tuple[list[int], int]:
        """Its numbers, and how many masks it has."""
        outcomes, graph = self._plan.outcomes, self._plan.graph
        if outcomes.failed != FALSE or outcomes.failures or self._plan.wholes:
            raise _OutsideError
        added = [(c.mask, c.amount) for c in outcomes.contributions if c.amount != 0]
        tests, conjunctions = self._reachable([mask for mask, _ in added] + [outcomes.infeasible, outcomes.contested])
        written = sorted(((*self._test(graph.masks[row]), row) for row in tests), key=lambda test: test[0])
        for row in [*(row for _, _, row in written), *conjunctions]:
            self._place[row] = len(self._place)
        kinds = [0] * KINDS
        code: list[int] = []
        for kind, numbers, _ in written:
            kinds[kind] += 1
            code += numbers
        for row in conjunctions:
            node = graph.masks[row]
            assert isinstance(node, All)
            code.append(len(node.operands))
            code += map(self._literal, node.operands)
        for mask, amount in added:
            if amount is None:
                raise _OutsideError
            code += (self._literal(mask), self._tables.int_place(amount))
        ends = (self._literal(outcomes.infeasible), self._literal(outcomes.contested))
        return [len(conjunctions), len(added), *ends, *kinds, *code], len(self._place)

    def _literal(self, literal: Literal) -> int:
        return 2 * self._place[literal >> 1] + (literal & 1)

    def _reachable(self, literals: list[Literal]) -> tuple[list[int], list[int]]:
        """Rows of tests and of conjunctions, each after those that it is made of."""
        masks = self._plan.graph.masks
        todo, seen = [literal >> 1 for literal in literals], {0}
        tests, conjunctions = [], []
        while todo:
            row = todo.pop()
            if row in seen:
                continue
            seen.add(row)
            node = masks[row]
            if isinstance(node, All):
                conjunctions.append(row)
                todo += [operand >> 1 for operand in node.operands]
            else:
                tests.append(row)
        return sorted(tests), sorted(conjunctions)

    def _test(self, node: object) -> tuple[int, list[int]]:
        """Its kind and its numbers."""
        tables = self._tables
        match node:
            case AtLeast(value, float() as constant):
                return CUT_FLOATS, [tables.slot(Slot("value", self._value(value))), tables.float_place(constant)]
            case AtLeast(value, constant):
                return CUT_INTS, [tables.slot(Slot("value", self._value(value))), tables.int_place(int(constant))]
            case Flag(value, kind):
                return FLAG, [tables.slot(Slot(kind, self._value(value))), 0]
            case HasValue(path):
                return FLAG, [tables.slot(Slot("there", path=path)), 0]
            case Among(path, wanted):
                return self._words(TEXTS, Slot("texts", path=path), wanted)
            case AnyElement(path, wanted):
                return self._words(ELEMENTS, Slot("sets", path=path), wanted)
        raise AssertionError(node)

    def _words(self, kind: int, slot: Slot, wanted: Members) -> tuple[int, list[int]]:
        if not isinstance(wanted, OneOf) or len(wanted.values) > _MOST_WORDS:
            raise _OutsideError
        words = self._tables.words
        numbers = []
        for value in sorted(wanted.values, key=str):
            if not isinstance(value, str):
                raise _OutsideError
            numbers.append(words.setdefault(value, len(words)))
        return kind + wanted.inverted, [self._tables.slot(slot), len(numbers), *numbers]

    def _value(self, number: int) -> int:
        """Its number in the shared graph."""
        known = self._values.get(number)
        if known is None:
            known = self._values[number] = self._tables.graph.value(self._shared(number))
        return known

    def _shared(self, number: int) -> Read | Constant | Operation | Local | FromWall | SetSize | SameText | SetsMeet:
        match self._plan.values[number]:
            case Read() | Constant() | SetSize() | SameText() | SetsMeet() as node:
                return node
            case Operation(op, arguments):
                return Operation(op, tuple(self._value(argument) for argument in arguments))
            case Local(instant):
                return Local(self._value(instant))
            case FromWall(wall):
                return FromWall(self._value(wall))
        raise _OutsideError
