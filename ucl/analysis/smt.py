"""What boxes can't say, decided by z3.

In: a formula, or a box with the relations between fields that it asks for. Out: a `Model`, that there is none, or None
where the budget did not reach.

Fields that stand in relations are numbers (doubles as reals); every other axis is the number of its cell. Terms are
declared in a fixed order, with a fixed seed and a budget in the solver's own steps, so that the answer is the same on
every machine. A model is rounded to what fields can hold; what rounding breaks does not replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import z3

from ucl.analysis.boxes.axes import Axis, DayAxis, LineAxis, MomentAxis
from ucl.analysis.boxes.humane import USUAL_DAY
from ucl.analysis.boxes.space import Box, Clockwork
from ucl.analysis.formulas import line
from ucl.analysis.formulas.formula import Every, Formula, Relation, Some, literals
from ucl.analysis.formulas.formula import Literal as Signed
from ucl.analysis.formulas.rounding import slack
from ucl.analysis.formulas.terms import CLOCK, DAY, Place, Term
from ucl.analysis.scene.regions import Scene
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.operations import MINUTE
from ucl.semantics.types import DAY as DAY_LENGTH

# The solver's steps for one question. Most need a few thousand.
STEPS = 3_000_000
_SEED = 11
# The simplex of old: the newer one looks for whole numbers in a thin slab (`a + b in 0.299..0.301`) for ever, and
# counts no steps while it does.
_ARITHMETIC = 2
# What people can read is looked for first: doubles among quarters, times among quarters of an hour, days of one spring.
_PARTS_OF_UNIT = 4
_QUARTER = 15 * MINUTE
_USUAL_DAYS = 90

Expression = Any  # z3 has no types of its own


@frozen
class Model:
    """`values` are of the places that stand in relations, `cells` narrow the other axes to one cell each."""

    values: Mapping[Place, Any]
    cells: Box


Answer = Model | Literal["none"] | None


def bounded_solver(context: Any, steps: int) -> Any:
    """A solver that gives the same answer on every machine, and none (`unknown`) past so many steps of its own."""
    solver = z3.Solver(ctx=context)
    solver.set("random_seed", _SEED)
    solver.set("rlimit", steps)
    solver.set("arith.solver", _ARITHMETIC)
    return solver


def solve_box(scene: Scene, box: Box, asked: Sequence[tuple[Relation, bool]]) -> Answer:
    """Values of the fields in the relations, inside the box. Nothing else of the box is looked at."""

    def claims(encoding: _Encoding) -> list[Expression]:
        return [*encoding.valued(box), *(encoding.relation(relation, wanted) for relation, wanted in asked)]

    return _solve(scene, [relation for relation, _ in asked], claims)


def solve_formula(scene: Scene, formula: Formula) -> Answer:
    """A point of a formula that has too many boxes."""
    relations = dict.fromkeys(found.atom for found in literals(formula) if isinstance(found.atom, Relation))
    return _solve(scene, list(relations), lambda encoding: [encoding.formula(formula)])


def _solve(scene: Scene, relations: Sequence[Relation], claims: Any) -> Answer:
    """Round values first, then any; the usual offset of a zone first, then any that it has."""
    zone = scene.zone
    loose = bool(zone.transitions) and _has_instants(scene, relations)
    verdict: Answer = None
    for free_offset in (False, True) if loose else (False,):
        for rounded in (True, False):
            encoding = _Encoding(scene, relations, free_offset, rounded)
            encoding.solver.add(*claims(encoding))
            found = encoding.solver.check()
            if found == z3.sat:
                return encoding.model()
            if found == z3.unknown:
                return None
            if not encoding.is_rounded:
                break
        verdict = "none"
    return verdict if _none_by_doubles(scene, relations, claims, loose) else None


def _none_by_doubles(scene: Scene, relations: Sequence[Relation], claims: Any, loose: bool) -> bool:
    """Whether there is none either if every sum may be off by what rounding may make of it."""
    if all(relation.rounded is None for relation in relations):
        return True
    encoding = _Encoding(scene, relations, loose, False, as_doubles=True)
    encoding.solver.add(*claims(encoding))
    return bool(encoding.solver.check() == z3.unsat)


def _has_instants(scene: Scene, relations: Iterable[Relation]) -> bool:
    names = {name for relation in relations for name, _ in relation.sum.coefficients}
    return any(isinstance(scene.reader.terms.by_name[name].place.type, t.DateTime) for name in names)


class _Encoding:
    """One question: its solver, and a number for each term and axis that takes part."""

    def __init__(
        self, scene: Scene, relations: Iterable[Relation], free_offset: bool, rounded: bool, as_doubles: bool = False
    ) -> None:
        self.scene, self.as_doubles = scene, as_doubles
        self.space = scene.space
        self.context = z3.Context()
        self.solver = bounded_solver(self.context, STEPS)
        self.free_offset, self.rounded = free_offset, rounded
        self.is_rounded = False
        names = sorted({name for relation in relations for name, _ in relation.sum.coefficients})
        self.places = list(dict.fromkeys(scene.reader.terms.by_name[name].place for name in names))
        self._terms: dict[str, Expression] = {}
        self._cells: dict[int, Expression] = {}
        self._by_axis: dict[int, Place] = {}
        self._there: dict[Place, Expression] = {}
        for place in self.places:
            self._declare(place)

    # --- fields in relations ----------------------------------------------------------------------------------------

    def _declare(self, place: Place) -> None:
        found = self.space.places.get(place)
        if isinstance(place.type, t.DateTime):
            for part in ("", DAY, CLOCK):
                self._new(Term(place, part).name, z3.Int)
            self._round(self._term(place, CLOCK), _QUARTER)
            self._near_usual(self._term(place, DAY))
            self._may_be_absent(place)
            if isinstance(found, Clockwork):
                self._by_axis |= dict.fromkeys((found.days, found.clocks, found.moments), place)
            else:
                self.solver.add(self._regular(place))
            return
        real = isinstance(place.type, t.Float | t.Quantity)
        number = self._new(Term(place, "").name, z3.Real if real else z3.Int)
        self._may_be_absent(place)
        if isinstance(found, int):
            self._by_axis[found] = place
        self.solver.add(self._inside(number, self.scene.reader.solver.domain(Term(place, "")), place.type))
        match place.type:
            case t.Float() | t.Quantity():
                self.is_rounded |= self.rounded
                if self.rounded:
                    self.solver.add(number * _PARTS_OF_UNIT == z3.ToReal(self._new(f"{place.key}?", z3.Int)))
            case t.Date():
                self._near_usual(number)
            case t.Time() | t.Duration():
                self._round(number, _QUARTER)

    def _round(self, number: Expression, grain: int) -> None:
        if self.rounded:
            self.is_rounded = True
            self.solver.add(number % grain == 0)

    def _near_usual(self, day: Expression) -> None:
        if self.rounded:
            self.is_rounded = True
            self.solver.add(day >= USUAL_DAY - 1, day < USUAL_DAY + _USUAL_DAYS)

    def _may_be_absent(self, place: Place) -> None:
        if place.may_be_absent:
            self._there[place] = z3.Bool(f"{place.key} is there", self.context)

    def _new(self, name: str, sort: Any) -> Expression:
        self._terms[name] = sort(name, self.context)
        return self._terms[name]

    def _term(self, place: Place, part: str) -> Expression:
        return self._terms[Term(place, part).name]

    def _inside(self, number: Expression, keys: line.Intervals, type: t.Type) -> Expression:
        parts = []
        for low, end in keys:
            first, last = line.value_at(low, type), line.value_at(end - 1, type)
            parts.append(z3.And(number >= self._constant(first), number <= self._constant(last)))
        return self._any(parts)

    def _constant(self, value: float | Fraction) -> Expression:
        exact = Fraction(value)
        if exact.denominator == 1:
            return z3.IntVal(exact.numerator, self.context)
        return z3.Q(exact.numerator, exact.denominator, self.context)

    def _any(self, parts: list[Expression]) -> Expression:
        return z3.Or(*parts) if parts else z3.BoolVal(False, self.context)

    def _all(self, parts: list[Expression]) -> Expression:
        return z3.And(*parts) if parts else z3.BoolVal(True, self.context)

    def _regular(self, place: Place) -> Expression:
        """An instant from its day and time of day, on a day like most."""
        instant, day, clock = (self._term(place, part) for part in ("", DAY, CLOCK))
        offsets = self.scene.zone.offsets
        offset = self.scene.zone.offset(self.scene.now)
        low, high = (min(offsets), max(offsets)) if self.free_offset else (offset, offset)
        local = day * DAY_LENGTH + clock
        first, last = line.span_of(t.DATE) or (0, 0)
        whole = z3.And(day >= first, day < last, clock >= 0, clock < DAY_LENGTH)
        return z3.And(whole, instant >= local - high, instant <= local - low)

    # --- boxes ------------------------------------------------------------------------------------------------------

    def valued(self, box: Box) -> list[Expression]:
        """What a box says of the fields in relations."""
        found = []
        for place in self.places:
            axes = self.space.places.get(place)
            if isinstance(axes, int):
                found.append(self._member(axes, self.space.mask(box, axes)))
            elif axes is not None:
                found.append(self._datetime(box, axes))
        return found

    def _whole(self, box: Box) -> Expression:
        """What a box says of everything."""
        parts, done = [], set()
        for axis, mask in box.items():
            of = self.space.clockwork(axis)
            if of is None:
                parts.append(self._member(axis, mask))
            elif of not in done:
                done.add(of)
                parts.append(self._datetime(box, of))
        return self._all(parts)

    def _datetime(self, box: Box, of: Clockwork) -> Expression:
        days, clocks, moments = (self.space.mask(box, axis) for axis in (of.days, of.clocks, of.moments))
        regular = [self._member(of.days, days), self._member(of.clocks, clocks)]
        place = self._by_axis.get(of.days)
        if place is not None:
            regular.append(self._regular(place))
        elif self.space.axes[of.moments].full:
            # A moment excludes the days: it has a number from 1, and 0 is none of them.
            regular.append(self._cell(of.moments) == 0)
        return self._any([self._all(regular), self._member(of.moments, moments)])

    def _member(self, axis: int, mask: int) -> Expression:
        """That the axis's value lies in a mask."""
        found = self.space.axes[axis]
        place = self._by_axis.get(axis)
        if place is None:
            shift = 1 if isinstance(found, MomentAxis) else 0
            number = self._cell(axis)
            return self._any([z3.And(number >= low + shift, number < end + shift) for low, end in _runs(mask)])
        inside = self._valued_member(axis, mask, place)
        there = self._there.get(place)
        if there is None:
            return inside
        return z3.Or(z3.And(there, inside), z3.Not(there)) if mask & found.absent else z3.And(there, inside)

    def _valued_member(self, axis: int, mask: int, place: Place) -> Expression:
        """As `_member`, of a field in relations that is there."""
        found = self.space.axes[axis]
        match found:
            case LineAxis():
                part = "" if self.space.clockwork(axis) is None else CLOCK
                return self._inside(self._term(place, part), _keys(found, mask), found.type)
            case DayAxis():
                part = "" if isinstance(place.type, t.Date) else DAY
                return self._days(self._term(place, part), found, mask)
            case MomentAxis():
                return self._any([self._moment(place, found, cell) for cell in _set_bits(mask & ~found.absent)])
            case _:
                return z3.BoolVal(True, self.context)

    def _cell(self, axis: int) -> Expression:
        if axis not in self._cells:
            number = self._cells[axis] = z3.Int(f"axis {axis}", self.context)
            size = len(self.space.axes[axis].values) + isinstance(self.space.axes[axis], MomentAxis)
            self.solver.add(number >= 0, number < size)
        return self._cells[axis]

    def _days(self, day: Expression, axis: DayAxis, mask: int) -> Expression:
        """Runs of days; of days told apart by weekday, those weekdays. Months are left to the replay."""
        parts: dict[line.Interval, list[int]] = {}
        for cell in _set_bits(mask & ~axis.absent):
            parts.setdefault(axis.cells[cell].segment, []).append(cell)
        found = []
        for (low, end), cells in parts.items():
            inside = z3.And(day >= low, day < end)
            weekdays = axis.weekdays_of(cells)
            if weekdays is not None:
                number = (day + 3) % 7
                inside = z3.And(inside, self._any([number == weekday for weekday in weekdays]))
            found.append(inside)
        return self._any(found)

    def _moment(self, place: Place, axis: MomentAxis, cell: int) -> Expression:
        moment = axis.moments[cell]
        instant, day, clock = (self._term(place, part) for part in ("", DAY, CLOCK))
        assert moment.instant is not None
        at_rep = moment.clock - moment.instant
        return z3.And(instant >= moment.low, instant < moment.end, day == moment.day, clock == instant + at_rep)

    # --- relations and formulas -------------------------------------------------------------------------------------

    def relation(self, relation: Relation, wanted: bool) -> Expression:
        total = self._constant(relation.sum.constant)
        for name, coefficient in relation.sum.coefficients:
            total = total + self._constant(coefficient) * self._terms[name]
        if self.as_doubles and relation.rounded is not None:
            return self._as_doubles(relation, wanted, total)
        match relation.operator:
            case "<":
                holds = total < 0
            case "<=":
                holds = total <= 0
            case _:
                holds = total == 0
        return holds if wanted else z3.Not(holds)

    def _as_doubles(self, relation: Relation, wanted: bool, total: Expression) -> Expression:
        """What a comparison of doubles says at least of the reals that they stand for."""
        found = slack(relation.expr, self.scene.reader.terms)
        if found is None:
            return self._all([])
        off: Expression = z3.Q(0, 1, self.context)
        for name, share in found.off.items():
            number = self._terms[name] if name else self._constant(1)
            off = off + self._constant(share) * z3.If(number >= 0, number, -number)
        match relation.operator, wanted:
            case "<", True:
                return total < (0 if found.once else off)
            case "<=", True:
                return total <= off
            case "==", True:
                return z3.And(total <= off, total >= -off)
            case "<", False:
                return total >= -off
            case "<=", False:
                return total > (0 if found.once else -off)
            case _:
                return self._all([])

    def formula(self, formula: Formula) -> Expression:
        match formula:
            case Signed(atom, positive) if isinstance(atom, Relation):
                return self.relation(atom, positive)
            case Signed():
                return self._whole(self.space.literal(formula))
            case Every(parts):
                return self._all([self.formula(part) for part in parts])
            case Some(parts):
                return self._any([self.formula(part) for part in parts])

    # --- models -----------------------------------------------------------------------------------------------------

    def model(self) -> Model:
        model = self.solver.model()
        values = {place: self._value(model, place) for place in self.places}
        cells: Box = {}
        for axis, number in self._cells.items():
            cell = _fraction(model.eval(number, model_completion=True)).numerator
            if isinstance(self.space.axes[axis], MomentAxis):
                cells[axis] = 1 << (cell - 1) if cell else 0
            else:
                cells[axis] = 1 << cell
        return Model(values, cells)

    def _value(self, model: Any, place: Place) -> Any:
        there = self._there.get(place)
        if there is not None and z3.is_false(model.eval(there, model_completion=True)):
            return None
        if isinstance(place.type, t.DateTime):
            found = self.space.places.get(place)
            moments = self.space.axes[found.moments] if isinstance(found, Clockwork) else None
            instant = self._number(model, place, "")
            if isinstance(moments, MomentAxis) and any(m.low <= instant < m.end for m in moments.moments):
                return instant
            local = self._number(model, place, DAY) * DAY_LENGTH + self._number(model, place, CLOCK)
            return self.scene.zone.instant(local).instant
        number = _fraction(model.eval(self._term(place, ""), model_completion=True))
        return float(number) if isinstance(place.type, t.Float | t.Quantity) else number.numerator

    def _number(self, model: Any, place: Place, part: str) -> int:
        return _fraction(model.eval(self._term(place, part), model_completion=True)).numerator


def _fraction(value: Any) -> Fraction:
    if z3.is_int_value(value):
        return Fraction(value.as_long())
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


def _runs(mask: int) -> list[line.Interval]:
    return list(line.joined((cell, cell + 1) for cell in _set_bits(mask)))


def _set_bits(mask: int) -> list[int]:
    return [cell for cell in range(mask.bit_length()) if mask >> cell & 1]


def _keys(axis: Axis, mask: int) -> line.Intervals:
    assert isinstance(axis, LineAxis)
    return line.joined(axis.cells[cell] for cell in _set_bits(mask & ~axis.absent))
