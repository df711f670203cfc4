"""Fields of an option as lines of Python: what each says of all masks.

In: the leaves of an index. Out: lines that read the raw values, and terms, ints with a bit for each mask. A number is
found among cuts, and a text among those that tests name: that takes as long for one never seen before as for one met a
moment ago. What else there is, closed texts and days of the week, is looked up in what is remembered of it.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Sequence, Set
from math import inf, nextafter
from typing import Any

from ucl.kernels.columns import Path
from ucl.kernels.plan import HasValue
from ucl.kernels.single.cells import Ranges
from ucl.kernels.single.leaves import SETS, Leaf, Remembered
from ucl.kernels.single.straight.readings import as_clock, readings
from ucl.kernels.single.straight.source import Source
from ucl.kernels.single.straight.values import GIVE_UP, Names, Values
from ucl.semantics import types as t

_FEW_CUTS = 16
"""Among so many, comparisons written out find a number sooner than `bisect`."""


class Fields:
    """`needed` are the fields whose numbers are wanted by what is decided later. `known` grows by the values that are
    computed on the way, and `terms` by what the fields say."""

    def __init__(self, source: Source, values: Values, needed: Set[Path]) -> None:
        self._source = source
        self._values = values
        self._needed = needed
        self.known: Names = {}
        self.terms: list[str] = []
        self.may_lack = False

    def write(self, number: int, leaf: Leaf) -> None:
        line, give = self._source.line, self._source.give
        raw, column = f"v{number}", give(leaf.field.column)
        absent = leaf.absent_value()
        line(2, f"{raw} = option[{column}]" if absent is None else f"{raw} = get({column})")
        if absent is None:
            self.terms += self._there(number, leaf, 2, self.known)
            return
        says, value = absent
        self.may_lack = True
        line(2, f"if {raw} is None:")
        line(3, f"lacks, h{number} = True, {give(says)}")
        if leaf.path in self._needed:
            line(3, f"{number_name(number)} = {give(value)}")
        line(2, "else:")
        terms = self._there(number, leaf, 3, dict(self.known))
        self._source.conjoin(3, f"h{number}", terms)
        self.terms.append(f"h{number}")

    def _there(self, number: int, leaf: Leaf, depth: int, known: Names) -> list[str]:
        """Lines and terms for a raw value that is there."""
        if leaf.is_set:
            return [self._of_set(number, leaf, depth)]
        if self._is_clock(leaf):
            return [self._of_clock(number, leaf, depth)]
        if self._is_number(leaf):
            self._read(number, leaf, depth)
            return self._cells(number, leaf, depth, known)
        if leaf.path in self._needed:
            self._read(number, leaf, depth)
        return [self._looked_up(number, leaf, depth)]

    def _looked_up(self, number: int, leaf: Leaf, depth: int) -> str:
        line, give = self._source.line, self._source.give
        raw, says = f"v{number}", f"k{number}"
        named = leaf.named_texts()
        if named is None:
            line(depth, f"try: {says} = {give(leaf.known)}[type({raw})][{raw}]")
            line(depth, f"except KeyError: {says} = {give(leaf.find)}({raw})")
        else:
            texts, others = map(give, named)
            line(depth, f"{says} = {texts}.get({raw})")
            line(depth, f"if {says} is None:")
            plain = f"type({raw}) is str and {raw}.isascii()"
            line(depth + 1, f"{says} = {others} if {plain} else {give(leaf.find)}({raw})")
        return says

    # --- sets -------------------------------------------------------------------------------------------------------

    def _of_set(self, number: int, leaf: Leaf, depth: int) -> str:
        line, give = self._source.line, self._source.give
        raw, met = f"v{number}", f"met{number}"
        if leaf.said is None:
            return f"{give(leaf.find)}({raw})"
        line(depth, f"if type({raw}) not in {give(SETS)}: {GIVE_UP}")
        line(depth, f"{met} = 0")
        named = leaf.named_elements()
        if named is None:
            line(depth, "try:")
            line(depth + 1, f"for element in {raw}: {met} |= {give(leaf.said)}[element]")
            line(depth, f"except KeyError: {met} = {give(leaf.met)}({raw})")
        else:
            elements = give(named)
            line(depth, f"if ''.join({raw}).isascii():")
            line(depth + 1, f"for element in {raw}:")
            line(depth + 2, f"if element in {elements}: {met} |= {elements}[element]")
            line(depth, f"else: {met} = {give(leaf.met)}({raw})")
        return f"({met} ^ {give(leaf.unless_met)} | {give(leaf.neutral)})"

    # --- times of day -----------------------------------------------------------------------------------------------

    def _is_clock(self, leaf: Leaf) -> bool:
        """Whether times of day are only compared: they need not become numbers."""
        plain = all(self._values.is_read(cuts.value) for cuts in leaf.cuts) and not leaf.bits
        return isinstance(leaf.field.type, t.Time) and plain and leaf.path not in self._needed and leaf.ends is not None

    def _of_clock(self, number: int, leaf: Leaf, depth: int) -> str:
        line, give = self._source.line, self._source.give
        raw, name = f"v{number}", number_name(number)

        def clock(raw: Any) -> dt.time:
            return as_clock(leaf.read(raw))

        line(depth, f"if type({raw}) is {give(dt.time)}: {name} = {raw}")
        line(depth, f"else: {name} = {give(Remembered(clock))}[{raw}]")
        cuts, cells = self._own(leaf)
        if cuts[-1] == t.DAY:
            cuts, cells = cuts[:-1], cells[:-1]
        return self._cell(name, [as_clock(int(cut)) for cut in cuts], cells)

    # --- numbers ----------------------------------------------------------------------------------------------------

    def _is_number(self, leaf: Leaf) -> bool:
        """Whether all that the field decides can be found from its number."""
        if leaf.ends is None or readings(leaf.field) is None:
            return False
        tests = [bit.test for bit in leaf.bits if not isinstance(bit.test, HasValue)]
        return all(self._values.can_write(cuts.value) for cuts in leaf.cuts) and all(map(self._values.can_test, tests))

    def _read(self, number: int, leaf: Leaf, depth: int) -> None:
        """Lines that find the number of a raw value."""
        line, give = self._source.line, self._source.give
        raw, name = f"v{number}", number_name(number)
        found = readings(leaf.field)
        kinds, named = ({}, {}) if found is None else found
        given = {key: give(thing) for key, thing in named.items()}
        choice = "if"
        for kind, expression in kinds.items():
            line(depth, f"{choice} type({raw}) is {give(kind)}: {name} = {expression.format(v=raw, **given)}")
            choice = "elif"
        texts = give(Remembered(leaf.read))
        line(depth, f"{choice} type({raw}) is str: {name} = {texts}[{raw}]")
        line(depth, f"else: {name} = {give(leaf.read)}({raw})")

    def _cells(self, number: int, leaf: Leaf, depth: int, known: Names) -> list[str]:
        """Terms that find the number, and what follows from it, among cuts; outside of the field's ends nothing is
        valid."""
        terms = [self._cell(number_name(number), *self._own(leaf))]
        for cuts in leaf.cuts:
            if not self._values.is_read(cuts.value):
                terms.append(self._cell(self._values.write(cuts.value, depth, known), *cuts.ranges.all()))
        for bit in leaf.bits:
            there = isinstance(bit.test, HasValue)
            condition = "True" if there else self._values.test(bit.test, depth, known)
            terms.append(f"{self._source.give((bit.ranges.at(0), bit.ranges.at(1)))}[{condition}]")
        return terms

    def _own(self, leaf: Leaf) -> tuple[list[int | float], list[int]]:
        """The cuts and the cells of the number itself."""
        assert leaf.ends is not None
        low, high = leaf.ends
        own = next((c.ranges for c in leaf.cuts if self._values.is_read(c.value)), Ranges([], [], leaf.every))
        return own.held_to(low, nextafter(high, inf) if isinstance(high, float) else high + 1)

    def _cell(self, name: str, cuts: Sequence[Any], cells: list[int]) -> str:
        give = self._source.give
        if len(cuts) > _FEW_CUTS:
            return f"{give(cells)}[{give(bisect_right)}({give(cuts)}, {name})]"
        return _choice(name, [give(cut) for cut in cuts], [give(cell) for cell in cells])


def _choice(name: str, cuts: list[str], cells: list[str]) -> str:
    """The cell of a number, as nested choices. NaN, which is less than nothing, is in the last."""
    if not cuts:
        return cells[0]
    middle = len(cuts) // 2
    below = _choice(name, cuts[:middle], cells[: middle + 1])
    above = _choice(name, cuts[middle + 1 :], cells[middle + 1 :])
    return f"({below} if {name} < {cuts[middle]} else {above})"


def number_name(number: int) -> str:
    """Of the number of a field, by the field's place."""
    return f"x{number}"
