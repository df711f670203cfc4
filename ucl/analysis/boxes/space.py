"""All that an option and its context can be, as far as a program's tests tell it apart.

In: the atoms of all conditions on one schema. Out: a `Space`, whose axes stand for fields, and in which formulas
become unions of boxes. A box names a mask for each axis that it narrows; it holds the points that lie in all of them.

A datetime has three axes: days, times of day, and moments of those irregular days that its first two can't describe.
Its points are the pairs of the first two *and* the moments: a box is empty there when both ways are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ucl.analysis.boxes.axes import Axis, DayAxis, LineAxis, MomentAxis, SampleAxis, same_cells
from ucl.analysis.boxes.fields import Fields, OfInstants, bounded, held
from ucl.analysis.formulas import line
from ucl.analysis.formulas.formula import (
    Atom,
    Every,
    Formula,
    Holds,
    Is,
    Literal,
    Relation,
    Some,
    Unknown,
    Within,
)
from ucl.analysis.formulas.line import Intervals
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import CLOCK, Place, Term
from ucl.frozen import frozen
from ucl.semantics.types import DAY as DAY_LENGTH

Box = dict[int, int]
MOST_BOXES = 256
# Merging looks at every pair: of more boxes than these it costs more than it saves.
_MERGED = 64


class TooMany(Exception):  # noqa: N818 - a signal, not an error
    """A condition has more boxes than may be."""


@frozen
class Clockwork:
    """The three axes of a datetime, by number."""

    days: int
    clocks: int
    moments: int


@frozen
class _Asked:
    """What is asked of a field: its atoms by identity, the axes that come of them, the numbers of those that only
    samples answer."""

    atoms: Mapping[int, Within | Holds | Is]
    axes: Axis | OfInstants
    numbers: Mapping[Holds, int]


class Space:
    """`axes` are by number. `free` are the axes of relations and of what is unknown, by their atom: cell 0 is no."""

    def __init__(self, reader: Reader, atoms: Iterable[Atom], today: int, before: Space | None = None) -> None:
        """Axes of which nothing else is asked than in the space `before`, of the same reader and day, are its own."""
        self.axes: list[Axis] = []
        self.places: dict[Place, int | Clockwork] = {}
        self.free: dict[int, Relation | Unknown] = {}
        self._zone = reader.terms.zone
        self._clockwork: dict[int, Clockwork] = {}
        self._free_of: dict[Relation | Unknown, int] = {}
        self._boxes_of: dict[Literal, Box] = {}
        self._asked: dict[Place, _Asked] = {}
        by_place: dict[Place, list[Within | Holds | Is]] = {}
        for atom in atoms:
            match atom:
                case Within() | Holds() | Is():
                    by_place.setdefault(atom.place, []).append(atom)
                case Relation() | Unknown():
                    self._free_of[atom] = self._add(Axis([False, True], [0, 1]))
                    self.free[self._free_of[atom]] = atom
        fields = Fields(reader, today)
        for place, tests in by_place.items():
            asked = {id(test): test for test in tests}
            known = None if before is None else before._asked.get(place)
            if known is None or known.atoms.keys() != asked.keys():
                numbers = {test: number for number, test in enumerate(held(tests))}
                known = _Asked(asked, fields.axes(place, tests), numbers)
            self._asked[place] = known
            self._add_place(place, known.axes)

    def _add(self, axis: Axis) -> int:
        self.axes.append(axis)
        return len(self.axes) - 1

    def _add_place(self, place: Place, axes: Axis | OfInstants) -> None:
        if isinstance(axes, Axis):
            self.places[place] = self._add(axes)
        else:
            days, clocks, moments = axes
            found = self.places[place] = Clockwork(self._add(days), self._add(clocks), self._add(moments))
            self._clockwork |= dict.fromkeys((found.days, found.clocks, found.moments), found)

    def renewed(self, new: Space) -> bool:
        """Whether a box means the same in the new space, so that this one can go on in its place."""
        if list(self.places.items()) != list(new.places.items()) or list(self.free.items()) != list(new.free.items()):
            return False
        if not all(map(same_cells, self.axes, new.axes)):
            return False
        self._asked = new._asked
        return True

    def shared_tests(self, other: Space, place: Place) -> list[Literal]:
        """What both ask of a field."""
        theirs = other._asked[place].atoms
        return [Literal(test, True) for key, test in self._asked[place].atoms.items() if key in theirs]

    def free_axis(self, atom: Relation | Unknown) -> int | None:
        return self._free_of.get(atom)

    # --- formulas to boxes ------------------------------------------------------------------------------------------

    def literal(self, found: Literal) -> Box:
        known = self._boxes_of.get(found)
        if known is None:
            known = self._boxes_of[found] = self._literal(found)
        return known

    def _literal(self, found: Literal) -> Box:
        atom, positive = found.atom, found.positive
        match atom:
            case Relation() | Unknown():
                return {self._free_of[atom]: 0b10 if positive else 0b01}
            case Is(place):
                return self._is(place, positive)
            case Holds(term, _):
                number = self.places[term.place]
                assert isinstance(number, int)
                axis = self.axes[number]
                assert isinstance(axis, SampleAxis)
                return {number: self._signed(axis, axis.mask(self._asked[term.place].numbers[atom]), positive)}
            case Within(term, keys):
                return self._within(term, keys, positive)

    def _signed(self, axis: Axis, mask: int, positive: bool) -> int:
        return mask if positive else axis.full & ~axis.absent & ~mask

    def _is(self, place: Place, positive: bool) -> Box:
        found = self.places[place]
        if isinstance(found, int):
            axis = self.axes[found]
            return {found: self._signed(axis, axis.full & ~axis.absent, True) if positive else axis.absent}
        moments = self.axes[found.moments]
        if positive:
            return {found.moments: moments.full & ~moments.absent}
        return {found.days: 0, found.moments: moments.absent}

    def _within(self, term: Term, keys: Intervals, positive: bool) -> Box:
        found = self.places[term.place]
        if isinstance(found, int):
            axis = self.axes[found]
            mask = axis.mask(term.part, keys) if isinstance(axis, DayAxis) else _line(axis).mask(keys)
            return {found: self._signed(axis, mask, positive)}
        days, moments = self.axes[found.days], self.axes[found.moments]
        assert isinstance(days, DayAxis)
        assert isinstance(moments, MomentAxis)
        there = self._signed(moments, moments.mask(term.part, keys), positive)
        if term.part == CLOCK:
            clocks = _line(self.axes[found.clocks])
            return {found.clocks: self._signed(clocks, clocks.mask(keys), positive), found.moments: there}
        if term.part == "":
            zone = self._zone
            keys = line.joined(
                (zone.local(low) // DAY_LENGTH, zone.local(end) // DAY_LENGTH) for low, end in bounded(keys)
            )
            mask = days.mask("day", keys)
        else:
            mask = days.mask(term.part, keys)
        return {found.days: self._signed(days, mask, positive), found.moments: there}

    def boxes(self, formula: Formula, most: int = MOST_BOXES) -> list[Box]:
        """A union of boxes that is the formula; raises `TooMany`."""
        match formula:
            case Literal():
                box = self.literal(formula)
                return [box] if self.inhabited(box) else []
            case Every(parts):
                return self._product(parts, most)
            case Some(parts):
                found: list[Box] = []
                for part in parts:
                    found.extend(self.boxes(part, most))
                    if len(found) > 4 * most:
                        found = self.merged(found)
                    if len(found) > 4 * most:
                        raise TooMany
                found = self.merged(found)
                if len(found) > most:
                    raise TooMany
                return found

    def _product(self, parts: Sequence[Formula], most: int) -> list[Box]:
        """Single literals first: they are free, and leave less for the others."""
        found: list[Box] = [{}]
        for part in sorted(parts, key=lambda part: not isinstance(part, Literal)):
            right = [self.literal(part)] if isinstance(part, Literal) else self.boxes(part, most)
            met = (self.meet(a, b) for a in found for b in right)
            found = [box for box in met if box is not None]
            if len(found) > 1:
                found = self.merged(found)
            if len(found) > most:
                raise TooMany
            if not found:
                break
        return found

    # --- boxes ------------------------------------------------------------------------------------------------------

    def meet(self, a: Box, b: Box) -> Box | None:
        """The common part; None where there is none."""
        if len(a) < len(b):
            a, b = b, a
        found = dict(a)
        clockwork = self._clockwork
        for axis, mask in b.items():
            own = found.get(axis)
            if own is not None:
                mask &= own
            if mask == 0 and axis not in clockwork:
                return None
            found[axis] = mask
        if clockwork and not all(self._some_instant(found, clockwork[axis]) for axis in b if axis in clockwork):
            return None
        return found

    def clockwork(self, axis: int) -> Clockwork | None:
        """The datetime that an axis is a part of."""
        return self._clockwork.get(axis)

    def inhabited(self, box: Box) -> bool:
        clockwork = self._clockwork
        return all(
            self._some_instant(box, clockwork[axis]) if axis in clockwork else mask != 0 for axis, mask in box.items()
        )

    def _some_instant(self, box: Box, of: Clockwork) -> bool:
        moments = self.mask(box, of.moments)
        return moments != 0 or (self.mask(box, of.days) != 0 and self.mask(box, of.clocks) != 0)

    def mask(self, box: Mapping[int, int], axis: int) -> int:
        found = box.get(axis)
        return self.axes[axis].full if found is None else found

    def sides(self, box: Box, other: Box) -> int | None:
        """How many parts `subtract` would leave: 0 where `other` covers the box, None where it does not meet it."""
        found = 0
        done: set[Clockwork] = set()
        for axis, mask in other.items():
            of = self._clockwork.get(axis)
            if of is None:
                own = self.mask(box, axis)
                if not own & mask:
                    return None
                found += own & ~mask != 0
            elif of not in done:
                done.add(of)
                parts = self._sides_in_time(box, other, of)
                if parts is None:
                    return None
                found += parts
        return found

    def _sides_in_time(self, box: Box, other: Box, of: Clockwork) -> int | None:
        days, clocks, moments = (self.mask(box, axis) for axis in (of.days, of.clocks, of.moments))
        other_days, other_clocks, other_moments = (self.mask(other, axis) for axis in (of.days, of.clocks, of.moments))
        if not (days & other_days and clocks & other_clocks) and not moments & other_moments:
            return None
        wrong_day = (days & ~other_days and clocks) or moments & ~other_moments
        wrong_time = days & other_days and clocks & ~other_clocks
        return (wrong_day != 0) + (wrong_time != 0)

    def narrowed(self, box: Box, axes: Iterable[int]) -> Box:
        """The box with one cell left of each of these axes, the one that reads best."""
        found = dict(box)
        for axis in axes:
            of = self._clockwork.get(axis)
            if of is None:
                found[axis] = 1 << self.axes[axis].best(self.mask(box, axis))
                continue
            days, clocks = self.mask(box, of.days), self.mask(box, of.clocks)
            moments = self.mask(box, of.moments)
            absent = moments & self.axes[of.moments].absent
            if days and clocks and not absent:
                found[of.days] = 1 << self.axes[of.days].best(days)
                found[of.clocks] = 1 << self.axes[of.clocks].best(clocks)
                found[of.moments] = 0
            else:
                found[of.days] = 0
                found[of.moments] = absent or 1 << self.axes[of.moments].best(moments)
        return found

    def subtract(self, box: Box, other: Box) -> list[Box]:
        """`box` without `other`, as boxes that don't overlap."""
        if self.meet(box, other) is None:
            return [box]
        pieces: list[Box] = []
        current = box
        for away, rest in self._outside(other):
            piece = self.meet(current, away)
            if piece is not None:
                pieces.append(piece)
            narrowed = self.meet(current, rest)
            if narrowed is None:
                break
            current = narrowed
        return pieces

    def _outside(self, box: Box) -> Iterator[tuple[Box, Box]]:
        """For each thing that a box asks: what lies outside of it, and what inside."""
        done: set[Clockwork] = set()
        for axis, mask in box.items():
            of = self._clockwork.get(axis)
            if of is None:
                yield {axis: self.axes[axis].full & ~mask}, {axis: mask}
            elif of not in done:
                done.add(of)
                days, clocks = self.mask(box, of.days), self.mask(box, of.clocks)
                moments = self.mask(box, of.moments)
                other = self.axes[of.moments].full & ~moments
                # Other days, with all that is other of the moments; then the same days at other times.
                wrong_day: Box = {of.days: self.axes[of.days].full & ~days, of.moments: other}
                yield wrong_day, {of.days: days, of.moments: moments}
                wrong_time: Box = {of.days: days, of.clocks: self.axes[of.clocks].full & ~clocks, of.moments: 0}
                yield wrong_time, {of.days: days, of.clocks: clocks, of.moments: moments}

    def merged(self, boxes: list[Box]) -> list[Box]:
        """Fewer boxes with the same points: without those inside another, and joined where only one axis differs."""
        if len(boxes) > _MERGED:
            return boxes
        found: list[Box] = []
        for box in boxes:
            found = self._add_merged(found, box)
        return found

    def _add_merged(self, boxes: list[Box], box: Box) -> list[Box]:
        while True:
            for place, other in enumerate(boxes):
                joined = self._joined(other, box)
                if joined is not None:
                    boxes = boxes[:place] + boxes[place + 1 :]
                    box = joined
                    break
            else:
                return [*boxes, box]

    def _joined(self, a: Box, b: Box) -> Box | None:
        """The union where it is a box that is easily seen to be one."""
        differing = [axis for axis in a.keys() | b.keys() if self.mask(a, axis) != self.mask(b, axis)]
        if not differing:
            return a
        if all(self.mask(b, axis) & ~self.mask(a, axis) == 0 for axis in differing):
            return a
        if all(self.mask(a, axis) & ~self.mask(b, axis) == 0 for axis in differing):
            return b
        works = {self._clockwork.get(axis) for axis in differing}
        of = works.pop() if len(works) == 1 else None
        if len(differing) > 1 and (of is None or len(differing) > 2 or of.moments not in differing):
            return None
        found = dict(a)
        for axis in differing:
            found[axis] = self.mask(a, axis) | self.mask(b, axis)
        return found


def _line(axis: Axis) -> LineAxis:
    assert isinstance(axis, LineAxis)
    return axis
