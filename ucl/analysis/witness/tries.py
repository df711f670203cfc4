"""A few values of each field that takes part in a relation or in something unknown: the humane ones first.

In: a box and fields. Out: for each field values that lie in the box, to be tried together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

from ucl.analysis.boxes.axes import Axis, DayAxis, LineAxis, SampleAxis
from ucl.analysis.boxes.humane import several_keys
from ucl.analysis.boxes.samples import texts
from ucl.analysis.boxes.space import Box, Clockwork, Space
from ucl.analysis.formulas import line
from ucl.analysis.formulas.terms import Place, Term
from ucl.analysis.scene.regions import Scene
from ucl.analysis.witness.example import Examples
from ucl.semantics import types as t
from ucl.semantics.program import Expr
from ucl.semantics.types import DAY as DAY_LENGTH

_CELLS = 6
_VALUES = 64  # of one field


class Tries:
    def __init__(self, scene: Scene, examples: Examples) -> None:
        self.scene, self.space, self.examples = scene, scene.space, examples

    def of(self, box: Box, places: Sequence[Place], exprs: Sequence[Expr]) -> list[list[Any]]:
        """For each place its values; `exprs` are what is unknown of them, and may name some."""
        found = [list(islice(self._of(box, place), _VALUES)) for place in places]
        self._add_texts(box, exprs, places, found)
        return found

    def _add_texts(self, box: Box, exprs: Sequence[Expr], places: Sequence[Place], tries: list[list[Any]]) -> None:
        """For fields of text and sets of it, also what the unknown itself mentions, and what the others hold."""
        mentioned = texts(exprs, "alex") if exprs else []
        others = [text for each in tries for text in each if isinstance(text, str)]
        words = list(dict.fromkeys([*others, *mentioned]))[:_VALUES]
        for place, values in zip(places, tries, strict=True):
            match place.type:
                case t.Text():
                    more: list[Any] = list(words)
                case t.Set(element) if isinstance(element, t.Text):
                    more = [frozenset([word]) for word in words]
                case _:
                    continue
            found = self.space.places.get(place)
            axis = None if found is None or isinstance(found, Clockwork) else self.space.axes[found]
            if isinstance(axis, SampleAxis) and isinstance(found, int):
                more = [value for value in more if axis.holds(self.space.mask(box, found), value)]
            values.extend(value for value in more if value not in values)

    def _of(self, box: Box, place: Place) -> Iterator[Any]:
        found = self.space.places.get(place)
        if found is None:
            default = self.examples.default(place.declared)
            if default is not None:
                yield default
            yield self.examples.usual(place)
            yield from self._whole_domain(place)
            return
        if isinstance(found, Clockwork):
            yield from self._instants(box, found)
            return
        axis = self.space.axes[found]
        for cell in islice(axis.by_preference(self.space.mask(box, found)), _CELLS):
            yield axis.values[cell]
        for cell in islice(axis.by_preference(self.space.mask(box, found)), _CELLS):
            yield from _more(axis, cell)

    def _whole_domain(self, place: Place) -> Iterator[Any]:
        if isinstance(place.type, t.Set) and place.type.element is not None:
            inner = line.span_of(place.type.element)
            if isinstance(place.type.element, t.Weekday | t.Closed) and inner is not None:
                members = [line.value_at(key, place.type.element) for key in range(*inner)]
                yield frozenset(members)
                yield from (frozenset([member]) for member in members)
        if line.span_of(place.type) is None:
            return
        for low, end in self.scene.reader.solver.domain(Term(place, "")):
            for key in several_keys(place.type, low, end, place.declared.unit):
                yield line.value_at(key, place.type)

    def _instants(self, box: Box, axes: Clockwork) -> Iterator[Any]:
        days, clocks, moments = (self.space.axes[a] for a in (axes.days, axes.clocks, axes.moments))
        there = self.space.mask(box, axes.moments)
        if there & moments.absent:
            yield None
        mask = self.space.mask(box, axes.clocks)
        chosen_days = [days.values[c] for c in islice(days.by_preference(self.space.mask(box, axes.days)), 4)]
        assert isinstance(days, DayAxis)
        chosen_days += [
            day for c in islice(days.by_preference(self.space.mask(box, axes.days)), 2) for day in _days_near(days, c)
        ]
        assert isinstance(clocks, LineAxis)
        chosen = [clocks.values[c] for c in islice(clocks.by_preference(mask), 5)]
        more = [key for c in islice(clocks.by_preference(mask), 2) for key in several_keys(t.TIME, *clocks.cells[c])]
        for number, day in enumerate(dict.fromkeys(chosen_days)):
            if is_now(self.space, axes) and day == self.scene.today:
                yield self.scene.now
            # The first day at many times, the others at a few.
            for clock in dict.fromkeys([*chosen, *more] if number == 0 else chosen[:3]):
                yield self.scene.zone.instant(day * DAY_LENGTH + clock).instant
        for moment in islice(moments.by_preference(there & ~moments.absent), 8):
            yield moments.values[moment]


def is_now(space: Space, axes: Clockwork) -> bool:
    """Whether these axes are those of the call's moment."""
    return any(
        place.root == "context" and place.path == ("now",) for place, found in space.places.items() if found == axes
    )


def _days_near(axis: DayAxis, cell: int) -> list[int]:
    day, (low, end) = axis.cells[cell].day, axis.cells[cell].segment
    steps = (7, -7, 1, -1, 364, -364)
    return [day + s for s in steps if low <= day + s < end and axis.mask("weekday", ((0, 7),)) >> cell & 1]


def _more(axis: Axis, cell: int) -> list[Any]:
    if isinstance(axis, LineAxis) and cell < len(axis.cells):
        low, end = axis.cells[cell]
        return [line.value_at(key, axis.type) for key in several_keys(axis.type, low, end, axis.unit)]
    if isinstance(axis, DayAxis) and cell < len(axis.cells):
        low, end = axis.cells[cell].segment
        return [] if axis.tests.weekdays or axis.tests.months else several_keys(t.DATE, low, end)
    return []


def diagonal(tries: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Every combination, those of first choices first."""
    if not all(tries):
        return
    if len(tries) <= 1:
        yield from product(*tries)
        return
    longest = max(len(each) for each in tries)
    seen = 0
    for reach in range(1, longest + 1):
        for choice in product(*(range(min(reach, len(each))) for each in tries)):
            if max(choice) == reach - 1:
                yield tuple(each[i] for each, i in zip(tries, choice, strict=True))
            seen += 1
            if seen > 200_000:
                return
