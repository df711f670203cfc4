"""An index as one function: a line or two for each field, for each mask that fields don't decide, for each varying
contribution.

In: an `Index`. Out: a function that answers as `Index.score` does, several times as fast, and by it where an option is
not of the plain kind. What can't be written out, records within the option for one, is asked of the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

from ucl.kernels.columns import Path
from ucl.kernels.plan import AtLeast, Flag, Test
from ucl.kernels.single.index import Index, Rest
from ucl.kernels.single.leaves import Leaf
from ucl.kernels.single.straight.fields import Fields, number_name
from ucl.kernels.single.straight.readings import readings
from ucl.kernels.single.straight.source import Source
from ucl.kernels.single.straight.values import GIVE_UP, Names, Values

Score = Callable[[Mapping[str, Any]], tuple[int, bool, bool]]

_FEW_RESTS = 64
"""So many masks have a line each; of more, a loop goes over those that need no values."""


def straight(index: Index) -> Score:
    """The function, written in about as long as the index was built; it raises `Unindexed` where the index does."""
    leaves = list(enumerate([*(leaf for _, _, leaf in index.scalars), *(leaf for _, leaf in index.sets)]))
    source = Source("def score(option):")
    names = {leaf.path: number_name(number) for number, leaf in leaves if readings(leaf.field) is not None}
    return _Writing(index, source, Values(source, index, names)).function(leaves)


class _Writing:
    def __init__(self, index: Index, source: Source, values: Values) -> None:
        self._index = index
        self._source = source
        self._values = values
        self._varying = [v.value if values.can_write(v.value) else None for v in index.bits.varying]

    def function(self, leaves: list[tuple[int, Leaf]]) -> Score:
        line, give, bits = self._source.line, self._source.give, self._index.bits
        line(1, f"general, get = {give(self._index.score)}, option.get")
        line(1, "lacks, late = False, None")
        line(1, "try:")
        fields = Fields(self._source, self._values, set(self._needed()))
        for number, leaf in leaves:
            fields.write(number, leaf)
        for nested in self._index.nested:
            record = f"get({give(nested.field.column)})"
            fields.terms.append(f"{give(self._index.of_record)}({give(nested)}, {record}, option)")
        if fields.may_lack:
            line(2, f"if lacks: {give(self._index.refuse_odd_names)}(option)")
        self._source.conjoin(2, "held", [give(bits.start), *fields.terms])
        self._rests(fields.known)
        if bits.failing:
            line(2, f"if held & {give(bits.failing)}: {GIVE_UP}")
        without = give(bits.failing_without)
        line(2, f"if held & {without} != {without}: {GIVE_UP}")
        self._sum(f"held & {give(bits.constant)}")
        for number, varying in enumerate(bits.varying):
            self._vary(number, give(varying.bit), dict(fields.known))
        line(1, f"except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError): {GIVE_UP}")
        feasible = f"held & {give(bits.infeasible)} {'!=' if bits.feasible_with else '=='} 0"
        line(1, f"return total, {feasible}, up and down")
        found: Score = self._source.function()
        return found

    def _needed(self) -> Iterator[Path]:
        for rest in self._index.rest:
            for test, _ in rest.late:
                if isinstance(test, AtLeast | Flag) and self._values.can_test(test):
                    yield from self._values.reads(test.value)
        for value in self._varying:
            if value is not None:
                yield from self._values.reads(value)

    # --- what is decided after the fields ---------------------------------------------------------------------------

    def _rests(self, known: Names) -> None:
        if len(self._index.rest) <= _FEW_RESTS:
            for rest in self._index.rest:
                self._rest(rest, dict(known))
            return
        early: list[tuple[int, int, int]] = []
        for rest in self._index.rest:
            if rest.late:
                self._loop(early)
                early = []
                self._rest(rest, dict(known))
            else:
                early.append(rest[:3])
        self._loop(early)

    def _loop(self, rests: list[tuple[int, int, int]]) -> None:
        if rests:
            self._source.line(2, f"for bit, holding, failing in {self._source.give(rests)}:")
            self._source.line(3, "if held & bit and (held & failing or held & holding != holding): held ^= bit")

    def _rest(self, rest: Rest, known: Names) -> None:
        line, give = self._source.line, self._source.give
        bit, holding, failing = map(give, rest[:3])
        goes = [f"held & {failing}"] if rest.failing else []
        goes += [f"held & {holding} != {holding}"] if rest.holding else []
        if not rest.late:
            line(2, f"if held & {bit} and ({' or '.join(goes)}): held ^= {bit}")
            return
        line(2, f"if held & {bit}:")
        if goes:
            line(3, f"if {' or '.join(goes)}: held ^= {bit}")
            line(3, "else:")
        depth = 4 if goes else 3
        late = [f"({self._late(test, depth, known)}) is {not holds}" for test, holds in rest.late]
        line(depth, f"if {' or '.join(late)}: held ^= {bit}")

    def _late(self, test: Test, depth: int, known: Names) -> str:
        if self._values.can_test(test):
            return self._values.test(test, depth, known)
        self._source.line(depth, f"late = late or {self._source.give(self._index.late)}(option)")
        return f"late.holds({self._source.give(test)}, held)"

    def _sum(self, fired: str) -> None:
        line, give, index = self._source.line, self._source.give, self._index
        if index.remembers_sums:
            line(2, f"try: total, up, down = {give(index.sums)}[{fired}]")
            line(2, f"except KeyError: total, up, down = {give(index.sum)}({fired})")
        else:
            line(2, f"total, up, down = {give(index.sum)}({fired})")

    def _vary(self, number: int, bit: str, known: Names) -> None:
        line, give = self._source.line, self._source.give
        value, least = self._varying[number], give(self._index.least)
        line(2, f"if held & {bit}:")
        if value is None:
            line(3, f"amount = {give(self._index.amount)}({number}, option, held)")
        else:
            line(3, f"amount = {self._values.write(value, 3, known)}")
        line(3, "total += amount")
        ranges = self._index.plan.graph.ranges
        least_amount, greatest = ranges[self._index.bits.varying[number].value] or (-inf, inf)
        if greatest >= self._index.least:
            line(3, f"up |= amount >= {least}")
        if least_amount <= -self._index.least:
            line(3, f"down |= amount <= -{least}")
