"""A point of a box, as values of fields.

In: a box. Out: an `Example` in it, or that there is none, or that this is not known. The cells that read best are
taken. Where a box asks for a relation between fields or for something unknown, a few values of each field that takes
part are tried first, since those are the humane ones; the solver is asked when none of them will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Any

from ucl.analysis.boxes.axes import LineAxis
from ucl.analysis.boxes.space import Box, Clockwork, Space
from ucl.analysis.formulas.formula import Formula, Relation, Unknown
from ucl.analysis.formulas.terms import CLOCK, DAY, FieldPath, Place, fields_read
from ucl.analysis.scene.regions import Scene
from ucl.analysis.witness.example import Example, Examples
from ucl.analysis.witness.tries import Tries, diagonal, is_now
from ucl.frozen import frozen
from ucl.semantics import operations as ops
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.expressions import Budget, ChoiceSet, Exhausted, Frame, evaluate
from ucl.semantics.outcome import Call
from ucl.semantics.parts import children
from ucl.semantics.program import Expr, Variable
from ucl.semantics.types import DAY as DAY_LENGTH
from ucl.semantics.values import make_call, read_record

_TRIES = 250
# Questions to the solver in one analysis; what is asked beyond is undecided.
_QUESTIONS = 3000


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
        self.tries = Tries(scene, self.examples)
        self._questions = 0

    def next_version(self, scene: Scene) -> None:
        """Goes on in a scene whose space is the same. The solver's questions are counted over all versions."""
        self.scene = self.tries.scene = scene

    @property
    def exhausted(self) -> bool:
        return self._questions >= _QUESTIONS

    @property
    def has_asked(self) -> bool:
        """Whether the solver took part in anything."""
        return self._questions > 0

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
        if is_now(self.space, axes) and chosen == self.scene.today:
            own = self.scene.zone.local(self.scene.now) % DAY_LENGTH
            assert isinstance(clocks_axis, LineAxis)
            if clocks_axis.mask(((own, own + 1),)) | clocks == clocks and _cell_at(clocks_axis, own) & clocks:
                return self.scene.now
        local = chosen * DAY_LENGTH + clocks_axis.values[clock]
        return self.scene.zone.instant(local).instant

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
        exprs = [each.atom.expr for each in asked if isinstance(each.atom, Unknown)]
        tries = self.tries.of(box, places, exprs)
        # Relations are cheap to check, and come first.
        ordered = sorted(asked, key=lambda each: isinstance(each.atom, Unknown))
        for choice in islice(diagonal(tries), _TRIES):
            chosen = dict(zip(places, choice, strict=True))
            if all(self._is_so(each, chosen, values) for each in ordered):
                return chosen
        return self._solved(box, asked, places, values)

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
        try:
            return _PARTS[term.part](zone, value, isinstance(term.place.type, t.DateTime))
        except ops.Overflow:
            return None  # on the zone's clock it is a day that the calendar does not have

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


def _cell_at(axis: LineAxis, key: int) -> int:
    for place, (low, end) in enumerate(axis.cells):
        if low <= key < end:
            return 1 << place
    return 0


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
