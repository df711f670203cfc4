"""A point of a box, as values of fields.

In: a box. Out: an `Example` in it, or that there is none, or that this is not known. The cells that read best are
taken. Where a box asks for a relation between fields or for something unknown, a few values of each field that takes
part are tried first, since those are the humane ones; the solver is asked when none of them will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction
from itertools import islice, product
from typing import Any

from ucl.analysis.boxes.axes import Axis, DayAxis, LineAxis, SampleAxis
from ucl.analysis.boxes.humane import several_keys
from ucl.analysis.boxes.samples import texts
from ucl.analysis.boxes.space import Box, Clockwork, Space
from ucl.analysis.formulas import line
from ucl.analysis.formulas.formula import Formula, Relation, Unknown
from ucl.analysis.formulas.terms import CLOCK, DAY, Place, Term, fields_read
from ucl.analysis.scene.regions import Scene
from ucl.analysis.witness.example import Example, Examples
from ucl.frozen import frozen
from ucl.semantics import operations as ops
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions import children
from ucl.semantics.expressions import Budget, ChoiceSet, Exhausted, Frame, evaluate
from ucl.semantics.outcome import Call
from ucl.semantics.program import Expr, Variable
from ucl.semantics.types import DAY as DAY_LENGTH
from ucl.semantics.values import make_call, read_record

_TRIES = 1000
# Questions to the solver in one analysis; what is asked beyond is undecided.
_QUESTIONS = 3000
_CELLS = 6
_VALUES = 64  # of one field
FieldPath = tuple[str, tuple[str, ...]]


class Verdict(Enum):
    EMPTY = "empty"
    UNDECIDED = "undecided"


@frozen
class Asked:
    """What a box asks of one free axis."""

    atom: Relation | Unknown
    wanted: bool


class Finder:
    """Finds points in the boxes of one scene, and remembers what was found."""

    def __init__(self, scene: Scene, shows_now: bool) -> None:
        self.scene = scene
        self.space: Space = scene.space
        self.examples = Examples(scene.reader.terms, scene.reader.solver, scene.now, shows_now)
        self._known: dict[tuple[Any, ...], Mapping[Place, Any] | Verdict] = {}
        self._questions = 0

    def example(self, box: Box, shown: frozenset[FieldPath]) -> Example | Verdict:
        values = self.point(box)
        return values if isinstance(values, Verdict) else self.examples.filled(values, shown)

    def point(self, box: Box) -> Mapping[Place, Any] | Verdict:
        if not self.space.inhabited(box):
            return Verdict.EMPTY
        values = {place: self._best(box, axes) for place, axes in self.space.places.items()}
        asked = self.asked(box)
        if not asked:
            return values
        found = self._related(box, asked, values)
        return found if isinstance(found, Verdict) else {**values, **found}

    def solved(self, formula: Formula, shown: frozenset[FieldPath]) -> Example | Verdict:
        """An example in a formula that the solver finds."""
        if self._questions >= _QUESTIONS:
            return Verdict.UNDECIDED
        from ucl.analysis.smt import solve_formula

        self._questions += 1
        found = solve_formula(self.scene, formula)
        if found is None or found == "none":
            return Verdict.UNDECIDED if found is None else Verdict.EMPTY
        assert not isinstance(found, str)
        values = {place: self._best(found.cells, axes) for place, axes in self.space.places.items()}
        return self.examples.filled({**values, **found.values}, shown)

    def asked(self, box: Box) -> list[Asked]:
        """What the box asks beyond its axes, in a fixed order."""
        return [
            Asked(self.space.free[axis], mask == 0b10)
            for axis, mask in sorted(box.items())
            if axis in self.space.free and mask != 0b11
        ]

    def is_possible_only(self, box: Box) -> bool:
        """Whether something outside of what can be decided takes part."""
        return any(isinstance(asked.atom, Unknown) for asked in self.asked(box))

    # --- single cells -----------------------------------------------------------------------------------------------

    def _best(self, box: Box, axes: int | Clockwork) -> Any:
        if isinstance(axes, int):
            axis = self.space.axes[axes]
            return axis.values[axis.best(self.space.mask(box, axes))]
        days, clocks = self.space.mask(box, axes.days), self.space.mask(box, axes.clocks)
        moments = self.space.axes[axes.moments]
        there = self.space.mask(box, axes.moments)
        if there & moments.absent:
            return None
        if not (days and clocks):
            return moments.values[moments.best(there)]
        return self._instant(
            axes, self.space.axes[axes.days].best(days), self.space.axes[axes.clocks].best(clocks), clocks
        )

    def _instant(self, axes: Clockwork, day: int, clock: int, clocks: int) -> int:
        """The instant of a day's and a clock's cell; for `now` the moment of the check itself, if it will do."""
        days_axis, clocks_axis = self.space.axes[axes.days], self.space.axes[axes.clocks]
        chosen = days_axis.values[day]
        if self._is_now(axes) and chosen == self.scene.today:
            own = self.scene.zone.local(self.scene.now) % DAY_LENGTH
            assert isinstance(clocks_axis, LineAxis)
            if clocks_axis.mask(((own, own + 1),)) | clocks == clocks and _cell_at(clocks_axis, own) & clocks:
                return self.scene.now
        local = chosen * DAY_LENGTH + clocks_axis.values[clock]
        return self.scene.zone.instant(local).instant

    def _is_now(self, axes: Clockwork) -> bool:
        return any(
            place.root == "context" and place.path == ("now",)
            for place, found in self.space.places.items()
            if found == axes
        )

    # --- relations --------------------------------------------------------------------------------------------------

    def _related(self, box: Box, asked: list[Asked], values: Mapping[Place, Any]) -> Mapping[Place, Any] | Verdict:
        """What shares no field is looked for apart: a value for the one is none for the other."""
        chosen: dict[Place, Any] = {}
        undecided = False
        for together, places in self._connected(asked):
            key = (tuple(together), tuple(self._mask_key(box, place) for place in places))
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = self._search(box, together, places, values)
            if known is Verdict.EMPTY:
                return Verdict.EMPTY
            if isinstance(known, Verdict):
                undecided = True
            else:
                chosen |= known
        return Verdict.UNDECIDED if undecided else chosen

    def _connected(self, asked: list[Asked]) -> list[tuple[list[Asked], list[Place]]]:
        """What is asked in groups that have no field in common, each with its fields."""
        groups: list[tuple[list[Asked], list[Place]]] = []
        for each in asked:
            own = self._places_of([each])
            joined = [group for group in groups if any(place in group[1] for place in own)]
            groups = [group for group in groups if group not in joined]
            members = [member for group in joined for member in group[0]]
            places = [place for group in joined for place in group[1]]
            groups.append(([*members, each], list(dict.fromkeys([*places, *own]))))
        return groups

    def _mask_key(self, box: Box, place: Place) -> Any:
        found = self.space.places.get(place)
        if found is None:
            return None
        if isinstance(found, int):
            return self.space.mask(box, found)
        return tuple(self.space.mask(box, axis) for axis in (found.days, found.clocks, found.moments))

    def _places_of(self, asked: list[Asked]) -> list[Place]:
        terms = self.scene.reader.terms
        found: dict[Place, None] = {}
        for each in asked:
            if isinstance(each.atom, Relation):
                found |= dict.fromkeys(terms.by_name[name].place for name, _ in each.atom.sum.coefficients)
            else:
                found |= dict.fromkeys(
                    terms.by_name[name].place for name in sorted(_names(each.atom.expr)) if name in terms.by_name
                )
                read = sorted(f for f in fields_read(each.atom.expr) if f[0] != "memory" and f[1] != ("today",))
                found |= dict.fromkeys(terms.place(root, path) for root, path in read)
        return [place for place in found if not isinstance(place.type, t.Record)]

    def _search(
        self, box: Box, asked: list[Asked], places: list[Place], values: Mapping[Place, Any]
    ) -> Mapping[Place, Any] | Verdict:
        tries = [list(islice(self._tries(box, place), _VALUES)) for place in places]
        self._add_texts(box, asked, places, tries)
        # Relations are cheap to check, and come first.
        ordered = sorted(asked, key=lambda each: isinstance(each.atom, Unknown))
        for choice in islice(_diagonal(tries), _TRIES):
            chosen = dict(zip(places, choice, strict=True))
            if all(self._is_so(each, chosen, values) for each in ordered):
                return chosen
        return self._solved(box, asked, places, values)

    def _add_texts(self, box: Box, asked: list[Asked], places: list[Place], tries: list[list[Any]]) -> None:
        """For fields of text and sets of it, also what the unknown itself mentions, and what the others hold."""
        exprs = [each.atom.expr for each in asked if isinstance(each.atom, Unknown)]
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

    def _solved(
        self, box: Box, asked: list[Asked], places: list[Place], values: Mapping[Place, Any]
    ) -> Mapping[Place, Any] | Verdict:
        """What the solver says of the relations, whatever the unknown is."""
        relations = [(each.atom, each.wanted) for each in asked if isinstance(each.atom, Relation)]
        if not relations or self._questions >= _QUESTIONS:
            return Verdict.UNDECIDED
        from ucl.analysis.smt import solve_box

        self._questions += 1
        found = solve_box(self.scene, box, relations)
        if found is None or found == "none":
            return Verdict.UNDECIDED if found is None else Verdict.EMPTY
        assert not isinstance(found, str)
        chosen = {**{place: values.get(place) for place in places if place in values}, **found.values}
        return chosen if all(self._is_so(each, chosen, values) for each in asked) else Verdict.UNDECIDED

    def _is_so(self, asked: Asked, chosen: Mapping[Place, Any], values: Mapping[Place, Any]) -> bool:
        merged = {**values, **chosen}
        if isinstance(asked.atom, Relation):
            return self._relation_holds(asked.atom, merged) is asked.wanted
        return self._unknown_holds(asked.atom.expr, merged) is asked.wanted

    def _relation_holds(self, relation: Relation, values: Mapping[Place, Any]) -> bool | None:
        total = relation.sum.constant
        for name, coefficient in relation.sum.coefficients:
            value = self.term_value(name, values)
            if value is None:
                return None
            total += coefficient * Fraction(value)
        match relation.operator:
            case "<":
                return total < 0
            case "<=":
                return total <= 0
            case _:
                return total == 0

    def term_value(self, name: str, values: Mapping[Place, Any]) -> Any:
        """What a term is, given the values of places."""
        term = self.scene.reader.terms.by_name[name]
        value, zone = values.get(term.place), self.scene.zone
        if value is None or not isinstance(term.place.type, t.DateTime | t.Date | t.Time) or term.part == "":
            return value
        return _PARTS[term.part](zone, value, isinstance(term.place.type, t.DateTime))

    def _unknown_holds(self, expr: Expr, values: Mapping[Place, Any]) -> bool | None:
        frame = self._frame(values) if _reads_more(expr) else Frame(Call(self.scene.zone, 0, 0), Budget())
        if frame is None:
            return None
        variables = {
            name: self.term_value(name, values) for name in _names(expr) if name in self.scene.reader.terms.by_name
        }
        try:
            return bool(
                evaluate(expr, Frame(frame.call, Budget(100_000), frame.option, frame.choices, None, variables))
            )
        except (ops.Overflow, Exhausted, TypeError):
            return None

    def _frame(self, values: Mapping[Place, Any]) -> Frame | None:
        """The option and call of an example with these values, as `score` would read them."""
        scene = self.scene
        example = self.examples.filled(values, frozenset())
        record = read_record(example.option, scene.schema.fields, scene.zone)
        context = {name: value for name, value in example.context.items() if name != "now"}
        call = make_call(scene.program, example.now, scene.zone, context, self.examples.memory)
        if not isinstance(record, dict) or not isinstance(call, Call):
            return None
        return Frame(call, Budget(), record, ChoiceSet([record]))

    # --- values to try ----------------------------------------------------------------------------------------------

    def _tries(self, box: Box, place: Place) -> Iterator[Any]:
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
            if self._is_now(axes) and day == self.scene.today:
                yield self.scene.now
            # The first day at many times, the others at a few.
            for clock in dict.fromkeys([*chosen, *more] if number == 0 else chosen[:3]):
                yield self.scene.zone.instant(day * DAY_LENGTH + clock).instant
        for moment in islice(moments.by_preference(there & ~moments.absent), 8):
            yield moments.values[moment]


def _days_near(axis: DayAxis, cell: int) -> list[int]:
    day, (low, end) = axis.cells[cell].day, axis.cells[cell].segment
    steps = (7, -7, 1, -1, 364, -364)
    return [day + s for s in steps if low <= day + s < end and axis.mask("weekday", ((0, 7),)) >> cell & 1]


def _cell_at(axis: LineAxis, key: int) -> int:
    for place, (low, end) in enumerate(axis.cells):
        if low <= key < end:
            return 1 << place
    return 0


def _more(axis: Axis, cell: int) -> list[Any]:
    if isinstance(axis, LineAxis) and cell < len(axis.cells):
        low, end = axis.cells[cell]
        return [line.value_at(key, axis.type) for key in several_keys(axis.type, low, end, axis.unit)]
    if isinstance(axis, DayAxis) and cell < len(axis.cells):
        low, end = axis.cells[cell].segment
        return [] if axis.tests.weekdays or axis.tests.months else several_keys(t.DATE, low, end)
    return []


def _diagonal(tries: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
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


def _reads_more(expr: Expr) -> bool:
    """Whether an expression asks for more than terms: the batch, the memory, records."""
    own = isinstance(
        expr,
        p.Comprehension | p.BatchValue | p.OptionValue | p.ContextValue | p.MemoryValue | p.DefCall | p.Member,
    )
    return own or any(_reads_more(child) for child in children(expr))


def _names(expr: Expr) -> set[str]:
    found: set[str] = set()
    work = [expr]
    while work:
        part = work.pop()
        if isinstance(part, Variable):
            found.add(part.name)
        work.extend(children(part))
    return found


def _day(zone: Any, value: int, instant: bool) -> int:
    return ops.date_of(zone, value) if instant else value


def _clock(zone: Any, value: int, instant: bool) -> int:
    return ops.time_of(zone, value) if instant else value


_PARTS: dict[str, Any] = {
    DAY: _day,
    CLOCK: _clock,
    "weekday": lambda zone, value, instant: ops.date_weekday(_day(zone, value, instant)),
    "month": lambda zone, value, instant: ops.date_month(_day(zone, value, instant)),
    "monthday": lambda zone, value, instant: ops.date_day(_day(zone, value, instant)),
    "minute": lambda zone, value, instant: ops.time_minute(_clock(zone, value, instant)),
    "night": lambda zone, value, instant: ops.night_of(zone, value),
}
