"""A plan as an index: for each field, what a value says of all rules at once.

In: what `building` made of a plan; options. Out: what is said of each. Every mask has a bit. A conjunction of tests
that each look at one field holds where no field rules it out: one `and` for each field decides all of them. The other
masks are decided one by one, in the order in which they were made, and what they need of values that are no field's
alone is computed only where the rest of a conjunction holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ucl.kernels.columns import Path
from ucl.kernels.plan import Literal, Plan, Test
from ucl.kernels.single.evaluating import Evaluation
from ucl.kernels.single.leaves import MOST_KNOWN, Known, Leaf, Unindexed, remember
from ucl.semantics import types as t
from ucl.semantics.outcome import NANO
from ucl.semantics.program import Field

_FEW_RULES = 64
"""Of so many, what fires together is remembered with its sum: mostly the same few do."""


@dataclass(frozen=True)
class Nested:
    """A record within the option: its fields, and what its being there says, and its not being there."""

    field: Field
    path: Path
    there: int
    absent: int
    fields: tuple[Leaf | Nested, ...]


class Rest(NamedTuple):
    """A mask that fields decide in part: bit `bit`, where it is left, stays where all of `holding` do, none of
    `failing`, and the tests of `late` turn out as they should."""

    bit: int
    holding: int
    failing: int
    late: tuple[tuple[Test, bool], ...]


@dataclass(frozen=True)
class Varying:
    """Where bit `bit` holds, `value` is added. It is remembered by the raw value of `path`, if that field alone decides
    it."""

    bit: int
    value: int
    path: Path | None


@dataclass(frozen=True)
class Bits:
    """What the bits of an int mean. At the start the masks hold that fields decide.

    `amounts` are by the length of a bit: what a rule adds, whether that raises or lowers enough to contest, and the
    bit; `constant` has these bits. A row is invalid with any bit of `failing`, or without one of `failing_without`: the
    last of these stands for nothing but that the fields' values are valid. It is feasible with bit `infeasible` where
    `feasible_with`, else without.
    """

    start: int
    of_row: Mapping[int, int]
    constant: int
    amounts: tuple[tuple[int, bool, bool, int], ...]
    varying: tuple[Varying, ...]
    failing: int
    failing_without: int
    infeasible: int
    feasible_with: bool


class Index:
    """Scores options of one schema in the plan's call. May be used from several threads: what it remembers is right
    whoever wrote it.

    Fields are `scalars` (by column, with what is known of their values), `sets` and `nested` records; `varying` are
    bits and values, with the column by which amounts are known.
    """

    def __init__(self, plan: Plan, bits: Bits, fields: tuple[Leaf | Nested, ...], rest: tuple[Rest, ...]) -> None:
        self.plan = plan
        self.bits = bits
        self._fields = fields
        self.rest = rest
        leaves = [f for f in fields if isinstance(f, Leaf)]
        self.scalars = [(f.field.column, f.known, f) for f in leaves if not f.is_set]
        self.sets = [(f.field.column, f) for f in leaves if f.is_set]
        self.nested = [f for f in fields if isinstance(f, Nested)]
        self._columns = frozenset(f.field.column for f in fields)
        self._leaves = {leaf.path: leaf for leaf in _leaves(fields)}
        self._stand_ins = {path: leaf.stand_in for path, leaf in self._leaves.items()}
        self.least = contested_from(plan)
        self.remembers_sums = len(bits.amounts) <= _FEW_RULES
        self.sums: dict[int, tuple[int, bool, bool]] = {}
        self.varying = [varying.bit for varying in bits.varying]
        self._amounts: list[tuple[str, Known] | None] = [self._remembered(varying) for varying in bits.varying]

    def _remembered(self, varying: Varying) -> tuple[str, Known] | None:
        """The column by which what varies is remembered."""
        if varying.path is None:
            return None
        leaf = self._leaves[varying.path]
        return leaf.field.column, leaf.memo()

    def score(self, option: Mapping[str, Any]) -> tuple[int, bool, bool]:
        """The total in units of 10^-9, whether it is feasible, whether it is contested. Raises `Unindexed` for an
        option that is invalid, or that looks as if it might be."""
        bits, get = self.bits, option.get
        held = bits.start
        for column, known, leaf in self.scalars:
            raw = get(column)
            try:
                held &= known[type(raw)][raw]
            except KeyError:
                held &= leaf.find(raw) if raw is not None else self._absent(option, leaf)
        for column, leaf in self.sets:
            raw = get(column)
            held &= leaf.find(raw) if raw is not None else self._absent(option, leaf)
        for nested in self.nested:
            held &= self.of_record(nested, get(nested.field.column), option)
        evaluation = None
        for bit, holding, failing, late in self.rest:
            if not held & bit:
                continue
            stays = held & holding == holding and not held & failing
            if stays and late:
                evaluation = evaluation or self.late(option)
                stays = all(evaluation.holds(test, held) == wanted for test, wanted in late)
            if not stays:
                held ^= bit
        if held & bits.failing or held & bits.failing_without != bits.failing_without:
            raise Unindexed
        fired = held & bits.constant
        try:
            total, up, down = self.sums[fired]
        except KeyError:
            total, up, down = self.sum(fired)
        for number, bit in enumerate(self.varying):
            if held & bit:
                amount = self.amount(number, option, held)
                total += amount
                up |= amount >= self.least
                down |= amount <= -self.least
        return total, (held & bits.infeasible != 0) is bits.feasible_with, up and down

    def sum(self, fired: int) -> tuple[int, bool, bool]:
        """What these rules add together, and whether any of them raises or lowers enough to contest."""
        total, up, down = 0, False, False
        left, amounts = fired, self.bits.amounts
        while left:
            amount, raises, lowers, bit = amounts[left.bit_length()]
            total += amount
            up |= raises
            down |= lowers
            left ^= bit
        if self.remembers_sums:
            if len(self.sums) >= MOST_KNOWN:
                self.sums.clear()
            self.sums[fired] = total, up, down
        return total, up, down

    def amount(self, number: int, option: Mapping[str, Any], held: int) -> int:
        """What the varying contribution of that number adds."""
        find = partial(self.late(option).amount, self.bits.varying[number].value, held)
        remembered = self._amounts[number]
        if remembered is None:
            return find()
        column, known = remembered
        amount: int = remember(known, option.get(column), find)
        return amount

    # --- what is not there, and records -----------------------------------------------------------------------------

    def _absent(self, option: Mapping[str, Any], leaf: Leaf) -> int:
        self.refuse_odd_names(option)
        return leaf.find(None)

    def refuse_odd_names(self, option: Mapping[str, Any]) -> None:
        """What seems to be missing may stand there under a name that is spelled in another way, or as the columns of a
        table may be named: `host.age`."""
        if self._columns.issuperset(option):
            return
        for key in option:
            if key not in self._columns and (type(key) is not str or not key.isascii() or "." in key):
                raise Unindexed

    def of_record(self, nested: Nested, raw: Any, outer: Mapping[str, Any]) -> int:
        """What a field says that is a record of its own. Raises `Unindexed`."""
        if type(raw) is not dict:
            if raw is not None or not isinstance(nested.field.type, t.Optional):
                raise Unindexed
            self.refuse_odd_names(outer)
            return nested.absent
        if any(type(key) is not str or not key.isascii() for key in raw):
            raise Unindexed
        held = nested.there
        for inner in nested.fields:
            value = raw.get(inner.field.column)
            held &= inner.find(value) if isinstance(inner, Leaf) else self.of_record(inner, value, outer)
        return held

    # --- what is asked for ------------------------------------------------------------------------------------------

    def value(self, option: Mapping[str, Any], path: Path) -> Any:
        """The option's own value at a path, of a field or of a record; None where there is none."""
        if len(path) == 1 and path in self._leaves:
            leaf = self._leaves[path]
            return leaf.read(option.get(leaf.field.column))
        here: Any = option
        fields = self._fields
        for name in path:
            found = next(f for f in fields if f.path[-1] == name)
            raw = here.get(found.field.column)
            if isinstance(found, Leaf):
                return found.read(raw)
            if raw is None:
                return None
            here, fields = raw, found.fields
        return here

    def evaluation(self, option: Mapping[str, Any], holds: Callable[[Literal], bool]) -> Evaluation:
        return Evaluation(self.plan, lambda path: self.value(option, path), self._stand_ins, holds)

    def late(self, option: Mapping[str, Any]) -> Late:
        return Late(self, option)

    def holds(self, literal: Literal, held: int) -> bool:
        return (held & self.bits.of_row[literal >> 1] != 0) != bool(literal & 1)


class Late:
    """The evaluation of what is decided late; `held` are the masks that are decided by then."""

    def __init__(self, index: Index, option: Mapping[str, Any]) -> None:
        self._held = 0
        self._evaluation = index.evaluation(option, lambda literal: index.holds(literal, self._held))

    def holds(self, test: Test, held: int) -> bool:
        self._held = held
        return self._evaluation.test(test)

    def amount(self, value: int, held: int) -> int:
        self._held = held
        scalar = self._evaluation.value(value)
        if scalar.over:
            raise Unindexed
        amount: int = scalar.value
        return amount


def contested_from(plan: Plan) -> int:
    """The least magnitude that contests, in units of 10^-9."""
    return max(1, round(plan.call.contested_from * NANO))


def _leaves(fields: Iterable[Leaf | Nested]) -> Iterator[Leaf]:
    for f in fields:
        if isinstance(f, Leaf):
            yield f
        else:
            yield from _leaves(f.fields)
