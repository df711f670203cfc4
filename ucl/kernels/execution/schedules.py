"""A schedule over some rows in NumPy: values, tests on them, conjunctions of masks, stage after stage.

In: formulas, a table's columns and what tests mean for the table's dictionaries (`Binding`). Out: an `Execution`, from
which masks and values of the rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns, Path, Scalars, Sets, Texts
from ucl.kernels.execution import members
from ucl.kernels.execution.distinct import take
from ucl.kernels.execution.masks import any_element, at_least, conjoin, look_up, pack, signed, unpack, words_for
from ucl.kernels.execution.members import Meanings
from ucl.kernels.execution.vector import OPERATIONS, Vector, zone_table
from ucl.kernels.lists import without_repeats
from ucl.kernels.plan import (
    Below,
    Constant,
    CountHits,
    Entry,
    Flag,
    Formulas,
    FromWall,
    Group,
    HasElement,
    HasValue,
    LastMeanings,
    Literal,
    Local,
    Lookups,
    MadeTexts,
    OfText,
    Operation,
    Read,
    SameText,
    Schedule,
    Select,
    SetSize,
    SetsMeet,
    ValueNode,
    Whole,
)

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]


def _counted(values: Sequence[ValueNode]) -> Iterator[Path]:
    """The sets whose elements are counted, so that none may be there twice."""
    for value in values:
        match value:
            case SetSize(path) | CountHits(path):
                yield path
            case SetsMeet(_, left, right):
                yield from (left, right)
            case _:
                pass


# Meanings of so many bytes are kept for the next call.
_MOST_KEPT = 1 << 24


class Binding:
    """Formulas bound to a table: what their tests mean for the table's dictionaries, found once.

    `wholes` grows as whole columns are computed, in their order.
    """

    def __init__(self, formulas: Formulas, columns: Columns, wholes: Sequence[Vector] = ()) -> None:
        self.formulas = formulas
        self.columns = dict(columns.columns)
        for path in _counted(formulas.values):
            column = self.columns.get(path)
            if isinstance(column, Sets) and column.repeats:
                self.columns[path] = without_repeats(column)
        self.wholes: list[Vector] = []
        self.zone = zone_table(formulas.call.zone)
        self._meanings: dict[int, Meanings] = {}
        self._sets: dict[Path, Sets] = {}
        self._prepared: dict[int, Any] = {}
        self.bounds = columns.bounds
        for vector in wholes:
            self.add_whole(vector)

    def add_whole(self, vector: Vector) -> None:
        """The next whole column; one of made texts stands among the table's columns, too."""
        whole = self.formulas.wholes[len(self.wholes)]
        self.wholes.append(vector)
        if isinstance(whole, MadeTexts):
            valid = None if vector.missing is None else ~vector.missing
            self.columns[whole.path] = Texts(vector.values, valid, whole.dictionary)

    def texts(self, path: Path) -> Texts:
        column = self.columns[path]
        assert isinstance(column, Texts)
        return column

    def sets(self, path: Path) -> Sets:
        """With codes for elements."""
        column = self._sets.get(path)
        if column is None:
            given = self.columns[path]
            assert isinstance(given, Sets)
            column = self._sets[path] = members.coded(given)
        return column

    def meanings(self, lookups: Lookups) -> Meanings:
        """Which codes the tests of a group mean."""
        known = self._meanings.get(id(lookups))
        if known is None:
            known = self._meanings[id(lookups)] = self._found_meanings(lookups)
        return known

    def _found_meanings(self, lookups: Lookups) -> Meanings:
        column, kept = self.columns[lookups.path], self.formulas.meanings
        dictionary = (self.texts if isinstance(column, Texts) else self.sets)(lookups.path).dictionary or ()
        last = kept.get(id(lookups))
        if last is not None and last.lookups is lookups and last.dictionary == dictionary:
            return last.meanings
        found = members.meanings(self.formulas.call, lookups.path, dictionary, lookups.members)
        if found.words.nbytes <= _MOST_KEPT:
            kept[id(lookups)] = LastMeanings(lookups, dictionary, found)
        return found

    def prepared(self, number: int) -> Any:
        """What a value needs of the table's dictionaries."""
        known = self._prepared.get(number)
        if known is None:
            known = self._prepared[number] = self._prepare(self.formulas.values[number])
        return known

    def _prepare(self, node: ValueNode) -> Any:
        match node:
            case OfText(path, expression):
                vector = members.of_each(self.formulas.call, path, self.texts(path).dictionary, expression)
                return vector if len(vector.values) else Vector(np.zeros(1, vector.values.dtype))
            case SameText(left, right):
                return members.translation(self.texts(right).dictionary, self.texts(left).dictionary)
            case CountHits(path, test):
                return members.meanings(self.formulas.call, path, self.sets(path).dictionary or (), [test]).of(0)
            case HasElement(container, tuple() as element):
                return members.translation(self.texts(element).dictionary, self.sets(container).dictionary or ())
            case Group(keys, grouping):
                return [
                    members.translation(self.texts(key).dictionary, known)
                    if isinstance(key, tuple) and isinstance(known, tuple)
                    else known
                    for key, known in zip(keys, grouping.keys, strict=True)
                ]
            case SetsMeet(_, left, right):
                return members.translation(self.sets(right).dictionary or (), self.sets(left).dictionary or ())
            case _:
                raise AssertionError(node)


class Execution:
    """One schedule over the rows from `start` to `stop`."""

    def __init__(self, binding: Binding, schedule: Schedule, start: int, stop: int) -> None:
        self.binding = binding
        self.schedule = schedule
        self.start, self.stop = start, stop
        self.rows = stop - start
        self.masks: Words = np.empty((schedule.rows, words_for(self.rows)), np.uint64)
        self._vectors: dict[int, Vector] = {}
        self.masks[0] = ~np.uint64(0)
        # Rows whose data are invalid, or whose values nobody looks at, may hold anything.
        with np.errstate(all="ignore"):
            self._run()

    def bits(self, literal: Literal) -> Bits:
        """A mask of the plan's graph, a bool for each row."""
        return unpack(self.masks, self.schedule.place[literal], self.rows)

    def words(self, literals: Sequence[Literal]) -> Words:
        """Masks of the plan's graph as they are, one after another."""
        place = self.schedule.place
        return signed(self.masks, np.array([place[literal] for literal in literals], np.int64))

    def vector(self, value: int) -> Vector:
        """A value of the plan's graph, of shape (rows,)."""
        return self._vectors[value]

    def _run(self) -> None:
        masks = self.masks
        for stage in self.schedule.stages:
            for value in stage.values:
                self._vectors[value] = self._compute(value)
            for cuts in stage.cuts:
                out = masks[cuts.first : cuts.first + len(cuts.constants)]
                at_least(self._values(cuts.value), cuts.constants, out)
            for lookups in stage.texts:
                out = masks[lookups.first : lookups.first + len(lookups.members)]
                look_up(self._codes(lookups.path), self.binding.meanings(lookups).each(), out)
            for lookups in stage.sets:
                out = masks[lookups.first : lookups.first + len(lookups.members)]
                offsets, elements = self._elements(lookups.path)
                any_element(offsets, elements, self.binding.meanings(lookups).each(), out)
            for flag, row in stage.flags:
                self._flag(flag, masks[row])
            for conjunctions in stage.conjunctions:
                conjoin(masks, conjunctions.operands, conjunctions.first)

    def _flag(self, flag: Flag | HasValue, mask: Words) -> None:
        match flag:
            case HasValue(path):
                valid = self.binding.columns[path].valid
                bits = None if valid is None else valid[self.start : self.stop]
                if bits is None:
                    mask[:] = ~np.uint64(0)
                    return
            case Flag(value, kind):
                vector = self._vectors[value]
                bits = vector.values if kind == "holds" else vector.over if kind == "over" else vector.missing
        if bits is None:
            mask[:] = 0
        else:
            pack(np.broadcast_to(bits, (self.rows,)), mask)

    # --- values -----------------------------------------------------------------------------------------------------

    def _values(self, value: int) -> NDArray[Any]:
        values = self._vectors[value].values
        return values if values.ndim else np.broadcast_to(values, (self.rows,))

    def _codes(self, path: Path) -> NDArray[np.int32]:
        return self.binding.texts(path).codes[self.start : self.stop]

    def _elements(self, path: Path) -> tuple[NDArray[np.int64], NDArray[np.integer[Any]]]:
        """Offsets of these rows into all elements, and all elements."""
        column = self.binding.sets(path)
        return column.offsets[self.start : self.stop + 1].astype(np.int64, copy=False), column.elements

    def _compute(self, number: int) -> Vector:
        match self.binding.formulas.values[number]:
            case Read(path):
                column = self.binding.columns[path]
                assert isinstance(column, Scalars)
                values = column.values[self.start : self.stop]
                # Of ints of few bytes sums would wrap.
                return Vector(values.astype(np.int64, copy=False) if values.dtype.kind == "i" else values)
            case Constant(value, floating):
                return Vector(np.asarray(value, np.float64 if floating else np.int64))
            case Operation(op, arguments):
                return OPERATIONS[op].run(*(self._vectors[argument].values for argument in arguments))
            case Local(instant):
                return Vector(self.binding.zone.local(self._values(instant)))
            case FromWall(wall):
                return self.binding.zone.from_wall(self._values(wall))
            case Select(condition, then, otherwise):
                chosen = np.where(self.bits(condition), self._vectors[then].values, self._vectors[otherwise].values)
                return Vector(chosen)
            case Whole(index):
                return take(self.binding.wholes[index], slice(self.start, self.stop))
            case OfText(path):
                return take(self.binding.prepared(number), self._codes(path))
            case SameText(left, right):
                return Vector(self.binding.prepared(number)[self._codes(right)] == self._codes(left))
            case SetSize(path):
                return Vector(np.diff(self._elements(path)[0]))
            case CountHits(path):
                return Vector(self._count(path, lambda elements: self.binding.prepared(number)[elements]))
            case HasElement(path, element):
                return Vector(self._count(path, self._is_own(path, element, number)) > 0)
            case SetsMeet(op, left, right):
                return Vector(self._sets_meet(op, left, right, self.binding.prepared(number)))
            case Group(keys, grouping):
                return Vector(grouping.find(self._places(keys, self.binding.prepared(number))))
            case Below(group, bound, equal, ladder):
                return Vector(ladder.below(self._values(group), self._values(bound), equal))
            case Entry(place, table):
                return take(table, self._values(place))
            case node:
                assert_never(node)

    def _places(self, keys: tuple[int | Path, ...], known: Sequence[Any]) -> list[NDArray[np.int64]]:
        """Of each key the rows' places among the items' values."""
        return [
            known_values[self._codes(key)] if isinstance(key, tuple) else known_values.find(self._values(key))
            for key, known_values in zip(keys, known, strict=True)
        ]

    # --- sets -------------------------------------------------------------------------------------------------------

    def _count(self, path: Path, hit: Callable[[NDArray[np.integer[Any]]], Bits]) -> NDArray[np.int64]:
        """How many elements of each row are hits."""
        offsets, elements = self._elements(path)
        hits = hit(elements[offsets[0] : offsets[-1]])
        before = np.concatenate(([0], np.cumsum(hits, dtype=np.int64)))
        counts: NDArray[np.int64] = np.diff(before[offsets - offsets[0]])
        return counts

    def _is_own(self, path: Path, element: int | Path, number: int) -> Callable[[NDArray[np.integer[Any]]], Bits]:
        """Whether elements are their row's own value of another column."""
        lengths = np.diff(self._elements(path)[0])
        if isinstance(element, tuple):
            own = self.binding.prepared(number)[self._codes(element)]
            return lambda elements: elements == np.repeat(own, lengths)
        values = self._values(element)
        dictionary = np.array(self.binding.sets(path).dictionary or (0,), np.int64)
        return lambda elements: dictionary[elements] == np.repeat(values, lengths)

    def _sets_meet(self, op: str, left: Path, right: Path, to_left: NDArray[np.int64]) -> Bits:
        """`overlaps` or `subset`, by the pairs of row and element."""
        codes = len(self.binding.sets(left).dictionary or ()) + 1
        rights = self._pairs(right, lambda elements: to_left[elements], codes)
        lefts = self._pairs(left, lambda elements: elements, codes)
        shared = np.isin(lefts, rights)
        if op == "overlaps":
            return np.asarray(self._count(left, lambda _: shared) > 0)
        return np.asarray(self._count(left, lambda _: ~shared) == 0)

    def _pairs(
        self, path: Path, code: Callable[[NDArray[np.integer[Any]]], NDArray[np.integer[Any]]], codes: int
    ) -> NDArray[np.int64]:
        """A number for each row with one of its elements, whose code is -1 where no other has it."""
        offsets, elements = self._elements(path)
        rows = np.repeat(np.arange(self.rows), np.diff(offsets))
        return rows * codes + code(elements[offsets[0] : offsets[-1]]) + 1
