"""The outcomes of one program as a passage of numbers.

In: `Outcomes` with the graph that they were lowered into, the tables. Out: the passage, which `walk` reads:

    head            how many cuts, words, groups of sets, conjunctions, additions; the literals of what is infeasible
                    and of what is contested
    cuts            each a slot and the constant that its values reach
    words           each a slot and the code that its texts have
    groups of sets  each a kind, a slot and how many tests; then for each how many words, and the words
    conjunctions    each `UNIT` literals
    additions       each a literal and an amount

A slot and a constant are one number, `(slot << PLACE) + constant`. Masks are numbered within the passage in this order;
literals are as in `plan`, so that 0 holds every row. A conjunction of more literals goes on with its result in the next
one, and a test for one of several words is one, too. All cuts, and all words, stand together whatever they look at: a
processor guesses well where a long loop ends, and badly where many short ones do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ucl.frozen import frozen
from ucl.kernels.columns import Path
from ucl.kernels.crowd.tables import OutsideError, Slot, Tables
from ucl.kernels.lowering.graph import All, Graph
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Among,
    AnyElement,
    AtLeast,
    Constant,
    Flag,
    FromWall,
    HasValue,
    Literal,
    Local,
    OneOf,
    Operation,
    Outcomes,
    Read,
    SameText,
    SetSize,
    SetsMeet,
    ValueNode,
)

HEAD = 7
GROUP = 3
UNIT = 4
PLACE = 24
ELEMENTS, OTHER_ELEMENTS = range(2)
"""Kinds of groups: some element is among the words; some is not among them."""

# One test may name so many words.
_MOST_WORDS = 64


@frozen
class _Test:
    """`kind` is `cut`, `texts` or `sets`; `numbers` are constants of the slot, `entries` the same with the slot.

    Where `inverted`, a text is none of them, and some element of a set is none.
    """

    kind: str
    slot: int
    numbers: tuple[int, ...]
    entries: tuple[int, ...]
    inverted: bool = False


class Writer:
    """Writes passages of programs that are lowered into one graph; knows what became of the graph's tests."""

    def __init__(self, tables: Tables, graph: Graph) -> None:
        self._tables = tables
        self._graph = graph
        self._values: dict[int, int] = {}
        self._tests: dict[int, _Test] = {}
        self._below: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def add(self, outcomes: Outcomes) -> int | None:
        """The program's number in the tables; None where passages can't say it."""
        try:
            return self._tables.add(*self._passage(outcomes))
        except OutsideError:
            return None

    def _passage(self, outcomes: Outcomes) -> tuple[list[int], int]:
        """Its numbers, and how many masks it has."""
        if outcomes.failed != FALSE or outcomes.failures:
            raise OutsideError
        added: list[tuple[Literal, int]] = []
        for contribution in outcomes.contributions:
            if contribution.amount is None:
                raise OutsideError
            if contribution.amount:
                added.append((contribution.mask, self._tables.amount(contribution.amount)))
        ends = (outcomes.infeasible, outcomes.contested)
        rows, conjunctions = self._reachable([*(mask for mask, _ in added), *ends])
        numbered = _Numbered([(row, self._test(row)) for row in rows])
        for row in conjunctions:
            node = self._graph.masks[row]
            assert isinstance(node, All)
            numbered.conjoin(row, node)
        additions = [number for mask, amount in added for number in (numbered.literal(mask), amount)]
        counts = (*numbered.counts, len(added))
        return [*counts, *map(numbered.literal, ends), *numbered.code, *additions], numbered.masks

    def _reachable(self, literals: Sequence[Literal]) -> tuple[Iterable[int], list[int]]:
        """Rows of tests, and of conjunctions, each after those that it is made of."""
        todo = [literal >> 1 for literal in literals]
        seen: set[int] = set()
        tests: set[int] = set()
        while todo:
            row = todo.pop()
            if row not in seen:
                seen.add(row)
                below = self._below.get(row) or self._look_below(row)
                tests.update(below[0])
                todo += below[1]
        return tests, sorted(seen - tests - {TRUE >> 1})

    def _look_below(self, row: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tests and the conjunctions that a conjunction is made of; of a test, itself."""
        masks = self._graph.masks
        node = masks[row]
        if isinstance(node, All):
            rows = [operand >> 1 for operand in node.operands]
            tests = tuple(below for below in rows if not isinstance(masks[below], All))
            found = tests, tuple(below for below in rows if isinstance(masks[below], All))
        else:
            found = (row,) if node is not None else (), ()
        self._below[row] = found
        return found

    def _test(self, row: int) -> _Test:
        known = self._tests.get(row)
        if known is None:
            known = self._tests[row] = self._made(self._graph.masks[row])
        return known

    def _made(self, node: object) -> _Test:
        match node:
            case AtLeast(value, constant):
                kind = "floats" if isinstance(constant, float) else "ints"
                return self._cut(Slot(kind, self._value(value)), constant)
            case Flag(value, kind):
                return self._cut(Slot(kind, self._value(value)), 1)
            case HasValue(path):
                return self._cut(Slot("there", path=path), 1)
            case Among(path, OneOf() as wanted):
                return self._among("texts", path, wanted)
            case AnyElement(path, OneOf() as wanted):
                return self._among("sets", path, wanted)
        raise OutsideError

    def _cut(self, slot: Slot, constant: int | float) -> _Test:
        place = self._tables.slot(slot)
        return _test_of("cut", place, (self._tables.number(place, constant),))

    def _among(self, kind: str, path: Path, wanted: OneOf) -> _Test:
        words = sorted(value for value in wanted.values if isinstance(value, str))
        if len(words) < len(wanted.values) or len(words) > _MOST_WORDS:
            raise OutsideError
        slot = self._tables.slot(Slot(kind, path=path))
        return _test_of(kind, slot, tuple(self._tables.word(slot, word) for word in words), wanted.inverted)

    def _value(self, number: int) -> int:
        """Its number in the graph that all share."""
        known = self._values.get(number)
        if known is None:
            known = self._values[number] = self._tables.graph.value(self._shared(number))
        return known

    def _shared(self, number: int) -> ValueNode:
        match self._graph.values[number]:
            case Read() | Constant() | SetSize() | SameText() | SetsMeet() as node:
                return node
            case Operation(op, arguments):
                return Operation(op, tuple(self._value(argument) for argument in arguments))
            case Local(instant):
                return Local(self._value(instant))
            case FromWall(wall):
                return FromWall(self._value(wall))
        raise OutsideError


def _test_of(kind: str, slot: int, numbers: tuple[int, ...], inverted: bool = False) -> _Test:
    return _Test(kind, slot, numbers, tuple((slot << PLACE) + number for number in numbers), inverted)


class _Numbered:
    """A program's tests and conjunctions as they get their numbers: `masks` is the number of the next mask.

    `place` has for each row of the graph that was met its literal here.
    """

    def __init__(self, tests: list[tuple[int, _Test]]) -> None:
        self.place = {TRUE >> 1: TRUE}
        self.masks = 1
        self._units: list[int] = []
        by_kind = {kind: [each for each in tests if each[1].kind == kind] for kind in ("cut", "texts", "sets")}
        self._cuts = self._number_cuts(by_kind["cut"])
        words = self._number_words(by_kind["texts"])
        self._words = list(words)
        self._groups, self._elements = self._number_sets(by_kind["sets"])
        for row, test in by_kind["texts"]:
            some = self._all_of([words[entry] ^ 1 for entry in test.entries]) ^ 1
            self.place[row] = some ^ test.inverted

    @property
    def counts(self) -> tuple[int, int, int, int]:
        return len(self._cuts), len(self._words), self._groups, len(self._units) // UNIT

    @property
    def code(self) -> list[int]:
        return [*self._cuts, *self._words, *self._elements, *self._units]

    def literal(self, literal: Literal) -> Literal:
        return self.place[literal >> 1] ^ (literal & 1)

    def conjoin(self, row: int, node: All) -> None:
        place = self.place
        self.place[row] = self._all_of([place[operand >> 1] ^ (operand & 1) for operand in node.operands])

    def _next(self) -> Literal:
        self.masks += 1
        return 2 * (self.masks - 1)

    def _number_cuts(self, tests: list[tuple[int, _Test]]) -> list[int]:
        cuts = sorted((test.entries[0], row) for row, test in tests)
        for _, row in cuts:
            self.place[row] = self._next()
        return [entry for entry, _ in cuts]

    def _number_words(self, tests: list[tuple[int, _Test]]) -> dict[int, Literal]:
        """The literal of each word, once for all tests that name it."""
        return {entry: self._next() for entry in sorted({entry for _, test in tests for entry in test.entries})}

    def _number_sets(self, tests: list[tuple[int, _Test]]) -> tuple[int, list[int]]:
        """How many groups there are, and their numbers."""
        code: list[int] = []
        groups, before, count_at = 0, (-1, -1), 0
        for row, test in sorted(tests, key=lambda each: (each[1].inverted, each[1].slot, each[1].numbers)):
            self.place[row] = self._next()
            kind = OTHER_ELEMENTS if test.inverted else ELEMENTS
            if (kind, test.slot) != before:
                before, count_at = (kind, test.slot), len(code) + 2
                code += (kind, test.slot, 0)
                groups += 1
            code[count_at] += 1
            code += (len(test.numbers), *test.numbers)
        return groups, code

    def _all_of(self, literals: list[Literal]) -> Literal:
        """Writes a conjunction, in as many parts as it needs."""
        if len(literals) == 1:
            return literals[0]
        self._units += literals[:UNIT]
        found, done = self._next(), UNIT
        while done < len(literals):
            self._units += (found, *literals[done : done + UNIT - 1])
            found, done = self._next(), done + UNIT - 1
        self._units += [TRUE] * (done - len(literals))
        return found
