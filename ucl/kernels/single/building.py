"""From a plan to its index: which masks fields decide, and what each of their values says of them.

In: a plan, the schema of the options. Out: an `Index`; or None where rules look at other rows, or at many records of
the memory, which columns do better.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ucl.frozen import collector_paused
from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import All, arguments_of
from ucl.kernels.plan import (
    Among,
    AnyElement,
    AtLeast,
    Constant,
    CountHits,
    Flag,
    HasElement,
    HasValue,
    Literal,
    OfText,
    Operation,
    Plan,
    Read,
    Select,
    SetSize,
    Test,
)
from ucl.kernels.single.cells import Concern, ElementCells, Ranges, TextCells
from ucl.kernels.single.evaluating import EVALUATED, decide
from ucl.kernels.single.index import Bits, Index, Nested, Rest, Varying, contested_from
from ucl.kernels.single.leaves import Bit, Cuts, Leaf
from ucl.semantics import types as t
from ucl.semantics.program import Field, Schema

_SEVERAL: Path = ("", "")
"""Stands where the path of a field would, for what several fields decide, or none."""

# What decides tests together: the cuts of a value, the texts or the sets of a column, a test alone.
_Group = tuple[str, int | Path]


def index_of(plan: Plan, schema: Schema) -> Index | None:
    """The plan's index, built in about as long as lowering took."""
    building = _Building(plan)
    with collector_paused():
        return building.index(schema) if building.possible else None


class _Building:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._masks = plan.graph.masks
        self._origins: dict[int, Path | None] = {}
        outcomes = plan.outcomes
        self._contributions = [c for c in outcomes.contributions if c.amount != 0]
        self._roots = list(
            dict.fromkeys(
                [
                    *(c.mask for c in self._contributions),
                    outcomes.infeasible,
                    *(failure.mask for failure in outcomes.failures),
                ]
            )
        )
        self.possible = True
        self._rows, self._asked = self._reached()
        # The bits of rules stand first, so that what fired is a small number where rules are few.
        first = dict.fromkeys(literal >> 1 for literal in self._roots)
        self._bit_of = {row: 1 << place for place, row in enumerate(dict.fromkeys([*first, 0, *self._rows]))}
        negative = dict.fromkeys(c.mask for c in self._contributions if c.mask & 1)
        self._bit_of_negative = {literal: 1 << (len(self._bit_of) + n) for n, literal in enumerate(negative)}
        self._every = (1 << (len(self._bit_of) + len(negative))) - 1

    def _reached(self) -> tuple[list[int], set[int]]:
        """Rows that the roots are made of, and those of tests that are asked about by themselves."""
        rows: set[int] = set()
        values: set[int] = set()
        asked = {literal >> 1 for literal in self._roots}
        todo = [(True, row) for row in asked]
        todo += [(False, c.varying) for c in self._contributions if c.varying is not None]
        while todo:
            is_row, number = todo.pop()
            if number in (rows if is_row else values):
                continue
            (rows if is_row else values).add(number)
            if is_row:
                match self._masks[number]:
                    case All(operands):
                        todo += [(True, operand >> 1) for operand in operands]
                    case AtLeast(value) | Flag(value):
                        todo.append((False, value))
                continue
            node = self._plan.values[number]
            self.possible &= isinstance(node, EVALUATED)
            todo += [(False, argument) for argument in arguments_of(node)]
            if isinstance(node, Select):
                todo.append((True, node.condition >> 1))
                asked.add(node.condition >> 1)
        rows.discard(0)
        return sorted(rows), asked

    # --- who decides what -------------------------------------------------------------------------------------------

    def _origin(self, value: int) -> Path | None:
        """The field that alone decides a value; None for constants."""
        if value not in self._origins:
            self._origins[value] = self._find_origin(value)
        return self._origins[value]

    def _find_origin(self, value: int) -> Path | None:
        match self._plan.values[value]:
            case Read(path) | OfText(path) | SetSize(path) | CountHits(path):
                return path
            case Operation("contribution"):
                return _SEVERAL  # worth computing only where a rule fires
            case Select() | HasElement():
                return _SEVERAL
            case node:
                found = {self._origin(argument) for argument in arguments_of(node)} - {None}
                if not arguments_of(node):
                    return None if isinstance(node, Constant) else _SEVERAL
                return found.pop() if len(found) == 1 else _SEVERAL if found else None

    def _group(self, row: int) -> tuple[Path, _Group] | None:
        """The field that alone decides a test, and what is decided with it; None where no field does."""
        test = self._masks[row]
        match test:
            case AtLeast(value):
                return self._with_path(self._origin(value), ("cuts", value))
            case Flag(value):
                return self._with_path(self._origin(value), ("bit", row))
            case Among(path):
                return path, ("texts", path)
            case AnyElement(path):
                return path, ("sets", path)
            case HasValue(path):
                return path, ("bit", row)
            case _:
                return None

    @staticmethod
    def _with_path(path: Path | None, group: _Group) -> tuple[Path, _Group] | None:
        return None if path is None or path == _SEVERAL else (path, group)

    def _never(self, row: int) -> bool:
        """That a contribution is beyond its magnitude is found out where it is added."""
        test = self._masks[row]
        if not isinstance(test, Flag):
            return False
        node = self._plan.values[test.value]
        return test.kind == "over" and isinstance(node, Operation) and node.op == "contribution"

    # --- putting it together ----------------------------------------------------------------------------------------

    def index(self, schema: Schema) -> Index:
        tests: dict[_Group, list[int]] = defaultdict(list)
        group_of: dict[int, _Group] = {}
        leaves: dict[Path, _Decided] = defaultdict(_Decided)
        path_of: dict[_Group, Path] = {}
        for row in self._rows:
            found = self._group(row)
            if found is not None and not self._never(row):
                path_of[found[1]], group_of[row] = found
                tests[found[1]].append(row)
        for group, rows in tests.items():
            if group[0] == "cuts":
                rows.sort(key=lambda row: self._cut(row).constant)
        place = {row: number for rows in tests.values() for number, row in enumerate(rows)}
        concerns: dict[_Group, list[Concern]] = defaultdict(list)
        start, rest = self._bit_of[0], list[Rest]()
        for row in self._rows:
            bit = self._bit_of[row]
            parts = self._parts(row, group_of, place)
            if parts is None:
                rest += self._rest(row, group_of)
                continue
            start |= bit
            for group, signs in parts.items():
                concerns[group].append(Concern(bit, tuple(signs)))
        rest += [Rest(bit, 0, self._bit_of[literal >> 1], ()) for literal, bit in self._bit_of_negative.items()]
        for group, rows in tests.items():
            self._decide(leaves[path_of[group]], group, rows, concerns[group])
        fields = tuple(self._field(f, (f.name,), leaves) for f in schema.fields)
        return Index(self._plan, self._bits(start), fields, tuple(rest))

    def _cut(self, row: int) -> AtLeast:
        test = self._masks[row]
        assert isinstance(test, AtLeast)
        return test

    def _literals(self, row: int) -> tuple[Literal, ...]:
        """What has to hold for a mask, without what always does."""
        node = self._masks[row]
        literals = node.operands if isinstance(node, All) else (2 * row,)
        return tuple(literal for literal in literals if not (literal & 1 and self._never(literal >> 1)))

    def _parts(
        self, row: int, group_of: dict[int, _Group], place: dict[int, int]
    ) -> dict[_Group, list[tuple[int, bool]]] | None:
        """The literals of a mask by group, where fields decide all of them each by itself."""
        parts: dict[_Group, list[tuple[int, bool]]] = defaultdict(list)
        for literal in self._literals(row):
            group = group_of.get(literal >> 1)
            if group is None:
                return None
            parts[group].append((place[literal >> 1], not literal & 1))
        several = any(group[0] == "sets" and len(signs) > 1 for group, signs in parts.items())
        return None if several else parts

    def _rest(self, row: int, group_of: dict[int, _Group]) -> list[Rest]:
        """How a mask that fields don't decide is decided; a test by itself, where somebody asks."""
        node = self._masks[row]
        if not isinstance(node, All) and row not in self._asked:
            return []
        holding = failing = 0
        late: list[tuple[Test, bool]] = []
        for literal in self._literals(row):
            operand, holds = literal >> 1, not literal & 1
            test = self._masks[operand]
            if self._never(operand):
                return []
            if operand in group_of or isinstance(test, All):
                if holds:
                    holding |= self._bit_of[operand]
                else:
                    failing |= self._bit_of[operand]
            else:
                assert test is not None
                late.append((test, holds))
        return [Rest(self._bit_of[row], holding, failing, tuple(late))]

    def _decide(self, leaf: _Decided, group: _Group, rows: list[int], concerns: list[Concern]) -> None:
        kind, key = group
        if kind == "cuts":
            assert isinstance(key, int)
            leaf.cuts.append(Cuts(key, Ranges([self._cut(row).constant for row in rows], concerns, self._every)))
        elif kind == "bit":
            test = self._masks[rows[0]]
            assert isinstance(test, Flag | HasValue)
            leaf.bits.append(Bit(test, Ranges([1], concerns, self._every)))
        else:
            assert isinstance(key, tuple)
            tests = [test.members for row in rows if isinstance(test := self._masks[row], Among | AnyElement)]
            if kind == "texts":
                leaf.texts = TextCells(tests, concerns, self._every, decide(self._plan, key))
            else:
                leaf.elements = ElementCells(tests, concerns, self._every, decide(self._plan, key))

    def _field(self, field: Field, path: Path, leaves: dict[Path, _Decided]) -> Leaf | Nested:
        decided = leaves[path]
        kind = t.present(field.type)
        if not isinstance(kind, t.Record):
            return Leaf(
                path, field, self._plan, self._every, decided.cuts, decided.bits, decided.texts, decided.elements
            )
        inner = tuple(self._field(f, (*path, f.name), leaves) for f in kind.schema.fields)
        there = absent = self._every
        for bit in decided.bits:
            there &= bit.ranges.at(1)
            absent &= bit.ranges.at(0)
        for f in inner:
            absent &= f.absent
        return Nested(field, path, there, absent, inner)

    def _bits(self, start: int) -> Bits:
        outcomes, least = self._plan.outcomes, contested_from(self._plan)
        amounts: dict[int, tuple[int, bool, bool]] = {}
        varying = []
        for contribution in self._contributions:
            bit, amount = self._bit(contribution.mask), contribution.amount
            if amount is None:
                assert contribution.varying is not None
                varying.append(Varying(bit, contribution.varying, self._field_of_amount(contribution.varying)))
            else:
                total, up, down = amounts.get(bit, (0, False, False))
                amounts[bit] = total + amount, up or amount >= least, down or amount <= -least
        failing = failing_without = 0
        for failure in outcomes.failures:
            if failure.mask & 1:
                failing_without |= self._bit_of[failure.mask >> 1]
            else:
                failing |= self._bit_of[failure.mask >> 1]
        by_number = {bit.bit_length() - 1: amount for bit, amount in amounts.items()}
        return Bits(
            start,
            self._bit_of,
            sum(amounts),
            tuple(by_number.get(n, (0, False, False)) for n in range(max(by_number, default=-1) + 1)),
            tuple(varying),
            failing,
            failing_without,
            self._bit_of[outcomes.infeasible >> 1],
            bool(outcomes.infeasible & 1),
        )

    def _field_of_amount(self, value: int) -> Path | None:
        """The field, not within another record, that alone decides a contribution."""
        node = self._plan.values[value]
        if not isinstance(node, Operation):
            return None
        path = self._origin(node.arguments[0])
        return None if path is None or path == _SEVERAL or len(path) > 1 else path

    def _bit(self, literal: Literal) -> int:
        return self._bit_of_negative[literal] if literal & 1 else self._bit_of[literal >> 1]


@dataclass
class _Decided:
    """What one field decides."""

    cuts: list[Cuts] = field(default_factory=list)
    bits: list[Bit] = field(default_factory=list)
    texts: TextCells | None = None
    elements: ElementCells | None = None
