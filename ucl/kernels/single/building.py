"""From a plan to its index: which masks fields decide, and what each of their values says of them.

In: a plan, the schema of the options. Out: an `Index`; or None where rules look at other rows, or at many records of
the memory, which columns do better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ucl.frozen import collector_paused
from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import All, arguments_of
from ucl.kernels.plan import (
    Among,
    AnyElement,
    AtLeast,
    Constant,
    CountHits,
    Failure,
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
_Key = tuple[str, int | Path]


@dataclass(eq=False)
class _Group:
    """Tests of one field that are decided together, and what they concern."""

    path: Path
    kind: str
    key: int | Path
    tests: list[int] = field(default_factory=list)
    concerns: list[Concern] = field(default_factory=list)


class _Split(NamedTuple):
    """The literals of a mask that fields decide each by itself, by group, and the others."""

    parts: Mapping[_Group, list[Literal]]
    others: list[Literal]


def index_of(plan: Plan, schema: Schema) -> Index | None:
    """The plan's index, built in about as long as lowering took."""
    with collector_paused():
        return _built(plan, schema)


def _built(plan: Plan, schema: Schema) -> Index | None:
    """What building took is given back on return, before the collector would look at it."""
    building = _Building(plan)
    return building.index(schema) if building.possible else None


class _Building:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._masks = plan.graph.masks
        self._never = self._find_never()
        self._origins: dict[int, Path | None] = {}
        outcomes = plan.outcomes
        self._contributions = [c for c in outcomes.contributions if c.amount != 0]
        self._roots = list(
            dict.fromkeys(
                [
                    *(c.mask for c in self._contributions),
                    outcomes.infeasible,
                    *(failure.mask for failure in self._failures()),
                ]
            )
        )
        self.possible = True
        self._rows, self._asked = self._reached()
        self._groups = self._find_groups()
        self._looked_at = self._look_at()
        # The bits of rules stand first, so that what fired is a small number where rules are few.
        first = dict.fromkeys(literal >> 1 for literal in self._roots)
        self._bit_of = {row: 1 << place for place, row in enumerate(dict.fromkeys([*first, 0, *self._looked_at]))}
        negative = dict.fromkeys(c.mask for c in self._contributions if c.mask & 1)
        self._bit_of_negative = {literal: 1 << (len(self._bit_of) + n) for n, literal in enumerate(negative)}
        self._valid = 1 << (len(self._bit_of) + len(negative))
        self._every = 2 * self._valid - 1

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

    def _find_groups(self) -> dict[int, _Group]:
        """The group of each test that a field alone decides."""
        found: dict[int, _Group] = {}
        by_key: dict[_Key, _Group] = {}
        for row in self._rows:
            decided = None if row in self._never else self._group(row)
            if decided is not None:
                path, key = decided
                found[row] = group = by_key.get(key) or by_key.setdefault(key, _Group(path, *key))
                group.tests.append(row)
        for group in by_key.values():
            if group.kind == "cuts":
                group.tests.sort(key=lambda row: self._cut(row).constant)
        return found

    def _group(self, row: int) -> tuple[Path, _Key] | None:
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
    def _with_path(path: Path | None, key: _Key) -> tuple[Path, _Key] | None:
        return None if path is None or path == _SEVERAL else (path, key)

    def _find_never(self) -> set[int]:
        """Tests that never hold: that a contribution is beyond its magnitude is found out where it is added."""
        found = set()
        for row, test in enumerate(self._masks):
            if isinstance(test, Flag) and test.kind == "over":
                node = self._plan.graph.values[test.value]  # the graph may have grown since
                if isinstance(node, Operation) and node.op == "contribution":
                    found.add(row)
        return found

    # --- who is looked at -------------------------------------------------------------------------------------------

    def _look_at(self) -> dict[int, _Split]:
        """The masks that get a bit, in their order, and how they are decided: those that are asked about, and of others
        those that fields alone don't decide."""
        found: dict[int, _Split] = {}
        todo = [row for row in self._asked if row]
        while todo:
            row = todo.pop()
            if row not in found:
                found[row] = split = self._split(row)
                todo += [literal >> 1 for literal in split.others if self._has_bit(literal >> 1)]
        return {row: found[row] for row in sorted(found)}

    def _has_bit(self, operand: int) -> bool:
        return operand in self._groups or isinstance(self._masks[operand], All)

    def _split(self, row: int) -> _Split:
        """What has to hold for a mask, without what always does: by the group that decides it, and others. That one
        element of a set meets two tests can't be told from its bits."""
        parts: dict[_Group, list[Literal]] = {}
        others = []
        groups, never = self._groups, self._never
        for literal in self._operands(row):
            group = groups.get(literal >> 1)
            if group is not None:
                parts.setdefault(group, []).append(literal)
            elif literal >> 1 not in never:
                others.append(literal)
        for group in [g for g, literals in parts.items() if len(literals) > 1 and g.kind == "sets"]:
            others += parts.pop(group)
        return _Split(parts, others)

    def _operands(self, row: int) -> tuple[Literal, ...]:
        node = self._masks[row]
        return node.operands if isinstance(node, All) else (2 * row,)

    def _never_holds(self, row: int) -> bool:
        return not self._never.isdisjoint(literal >> 1 for literal in self._operands(row) if not literal & 1)

    def _failures(self) -> list[Failure]:
        return [f for f in self._plan.outcomes.failures if f.mask & 1 or not self._never_holds(f.mask >> 1)]

    # --- putting it together ----------------------------------------------------------------------------------------

    def index(self, schema: Schema) -> Index:
        groups = list(dict.fromkeys(self._groups.values()))
        place = {row: number for group in groups for number, row in enumerate(group.tests)}
        start, rest = self._valid | self._bit_of[0], list[Rest]()
        for row, split in self._looked_at.items():
            if self._never and self._never_holds(row):
                continue
            bit = self._bit_of[row]
            start |= bit
            for group, literals in split.parts.items():
                signs = [(place[literal >> 1], not literal & 1) for literal in literals]
                group.concerns.append(Concern(bit, signs))
            if split.others:
                rest.append(self._rest(bit, split.others))
        for literal, bit in self._bit_of_negative.items():
            start |= bit
            rest.append(Rest(bit, 0, self._bit_of[literal >> 1], ()))
        leaves: dict[Path, _Decided] = defaultdict(_Decided)
        for group in groups:
            if group.concerns:
                self._decide(leaves[group.path], group)
        fields = tuple(self._field(f, (f.name,), leaves) for f in schema.fields)
        return Index(self._plan, self._bits(start), fields, tuple(rest))

    def _cut(self, row: int) -> AtLeast:
        test = self._masks[row]
        assert isinstance(test, AtLeast)
        return test

    def _rest(self, bit: int, others: list[Literal]) -> Rest:
        """How the part of a mask is decided that fields don't decide."""
        holding = failing = 0
        late: list[tuple[Test, bool]] = []
        for literal in others:
            operand, holds = literal >> 1, not literal & 1
            test = self._masks[operand]
            if not self._has_bit(operand):
                assert test is not None
                assert not isinstance(test, All)
                late.append((test, holds))
            elif holds:
                holding |= self._bit_of[operand]
            else:
                failing |= self._bit_of[operand]
        return Rest(bit, holding, failing, tuple(late))

    def _decide(self, leaf: _Decided, group: _Group) -> None:
        key, rows, concerns = group.key, group.tests, group.concerns
        if group.kind == "cuts":
            assert isinstance(key, int)
            leaf.cuts.append(Cuts(key, Ranges([self._cut(row).constant for row in rows], concerns, self._every)))
        elif group.kind == "bit":
            test = self._masks[rows[0]]
            assert isinstance(test, Flag | HasValue)
            leaf.bits.append(Bit(test, Ranges([1], concerns, self._every)))
        else:
            assert isinstance(key, tuple)
            tests = [test.members for row in rows if isinstance(test := self._masks[row], Among | AnyElement)]
            if group.kind == "texts":
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
        failing, failing_without = 0, self._valid
        for failure in self._failures():
            if failure.mask & 1:
                failing_without |= self._bit_of[failure.mask >> 1]
            else:
                failing |= self._bit_of[failure.mask >> 1]
        by_length = {bit.bit_length(): (*amount, bit) for bit, amount in amounts.items()}
        return Bits(
            start,
            self._bit_of,
            sum(amounts),
            tuple(by_length.get(n, (0, False, False, 0)) for n in range(max(by_length, default=-1) + 1)),
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
