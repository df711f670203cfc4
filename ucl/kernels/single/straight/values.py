"""Values of a plan as lines of Python.

In: the number of a value, the names of the fields that it reads. Out: lines that compute it, and the name that has it
then. Where a value overflows, the lines leave it to the general way, which knows whether that matters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import arguments_of
from ucl.kernels.lowering.ranges import stays_within
from ucl.kernels.plan import AtLeast, Constant, Flag, Local, Operation, Read, Select, Test
from ucl.kernels.single.index import Index
from ucl.kernels.single.scalars import FORMULAS, FUNCTIONS
from ucl.kernels.single.straight.source import Source
from ucl.semantics.outcome import MAGNITUDE, NANO

GIVE_UP = "return general(option)"

_NAME = re.compile(r"\b[a-z_]+\b")

Names = dict[int, str]
"""Of values that have been computed where a line stands."""


class Values:
    """`names` are those of the numbers of fields, by path."""

    def __init__(self, source: Source, index: Index, names: Mapping[Path, str]) -> None:
        self._source = source
        self._plan = index.plan
        self._bit_of = index.bits.of_row
        self._names = names
        self._writable: dict[int, bool] = {}

    def is_read(self, value: int) -> bool:
        return isinstance(self._plan.values[value], Read)

    def can_write(self, value: int) -> bool:
        """Whether formulas lead from numbers of fields to the value."""
        if value not in self._writable:
            self._writable[value] = self._find_writable(value)
        return self._writable[value]

    def _find_writable(self, value: int) -> bool:
        match self._plan.values[value]:
            case Read(path):
                return path in self._names
            case Constant():
                return True
            case Local(instant):
                return self.can_write(instant)
            case Select(_, then, otherwise):
                return self.can_write(then) and self.can_write(otherwise)
            case Operation(op, arguments):
                return (op in FORMULAS or op == "contribution") and all(map(self.can_write, arguments))
            case _:
                return False

    def can_test(self, test: Test) -> bool:
        return isinstance(test, AtLeast | Flag) and self.can_write(test.value)

    def reads(self, value: int) -> Iterator[Path]:
        """The paths of the fields that a value is made of."""
        node = self._plan.values[value]
        if isinstance(node, Read):
            yield node.path
        for argument in arguments_of(node):
            yield from self.reads(argument)

    def test(self, test: Test, depth: int, known: Names) -> str:
        """The condition that a test holds. A formula is never missing, and has not overflowed where it has a name."""
        match test:
            case AtLeast(value, constant):
                return f"{self.write(value, depth, known)} >= {self._source.give(constant)}"
            case Flag(value, kind):
                name = self.write(value, depth, known)
                return name if kind == "holds" else "False"
            case _:
                raise AssertionError(test)

    def write(self, value: int, depth: int, known: Names) -> str:
        """The name of the value, after lines that compute what is not yet `known`."""
        if value not in known:
            known[value] = self._write(value, depth, known)
        return known[value]

    def _write(self, value: int, depth: int, known: Names) -> str:
        node = self._plan.values[value]
        line = self._source.line
        name = f"n{value}"
        match node:
            case Read(path):
                return self._names[path]
            case Constant(constant):
                return self._source.give(constant)
            case Local(instant):
                line(depth, f"{name} = {self._local(self.write(instant, depth, known))}")
            case Operation("contribution", (varying, weight)):
                weighted = self.write(varying, depth, known)
                if self._plan.values[weight] != Constant(1.0, True):
                    line(depth, f"{name} = {self.write(weight, depth, known)} * {weighted}")
                    weighted = name
                if not self._stays_within(value):
                    line(depth, f"if not -{MAGNITUDE} <= {weighted} <= {MAGNITUDE}: {GIVE_UP}")
                line(depth, f"{name} = round({weighted} * {float(NANO)})")
            case Operation(op, arguments):
                formula = FORMULAS[op]
                meant = dict(zip("abc", [self.write(a, depth, known) for a in arguments], strict=False))
                line(depth, f"{name} = {_NAME.sub(lambda word: self._meant(word[0], meant), formula.text)}")
                if formula.within is not None and not self._stays_within(value):
                    low, high = map(self._source.give, formula.within)
                    line(depth, f"if not {low} <= {name} <= {high}: {GIVE_UP}")
            case Select(condition, then, otherwise):
                bit = self._source.give(self._bit_of[condition >> 1])
                first, second = (otherwise, then) if condition & 1 else (then, otherwise)
                first_name, second_name = self.write(first, depth, known), self.write(second, depth, known)
                line(depth, f"{name} = {first_name} if held & {bit} else {second_name}")
            case _:
                raise AssertionError(node)
        return name

    def _stays_within(self, value: int) -> bool:
        return stays_within(self._plan.values[value], self._plan.graph.ranges[value])

    def _meant(self, word: str, operands: Mapping[str, str]) -> str:
        """A word of a formula: an operand, a function of ours, or one of Python's."""
        if word in operands:
            return operands[word]
        return self._source.give(FUNCTIONS[word]) if word in FUNCTIONS else word

    def _local(self, instant: str) -> str:
        zone, give = self._plan.call.zone, self._source.give
        if not zone.transitions:
            return f"{instant} + {give(zone.offsets[0])}"
        return f"{instant} + {give(zone.offsets)}[{give(bisect_right)}({give(zone.transitions)}, {instant})]"
