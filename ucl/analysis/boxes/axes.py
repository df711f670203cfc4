"""Axes: what one field can be, cut into cells on which every test of the program is constant.

In: all tests of a field. Out: an axis, whose cells are numbered, each with a value that stands for it, and for each
test the mask of the cells in which it holds. A mask is a whole number, bit i for cell i.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ucl.analysis.boxes.humane import day_order, nice_key
from ucl.analysis.boxes.outcomes import Mask, Sampled, told_apart
from ucl.analysis.formulas import line
from ucl.analysis.formulas.line import Interval, Intervals
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.calendar import civil_from_days, weekday_of_days
from ucl.semantics.types import DAY, Type, Unit
from ucl.semantics.zones import Zone


@dataclass
class Axis:
    """`values[i]` stands for cell i, `order` has the cells as a person would choose them. `absent` is the mask of the
    cell in which the field is not there, 0 where there is none."""

    values: list[Any]
    order: list[int]
    absent: Mask = 0
    full: Mask = field(init=False)
    _best: dict[Mask, int] = field(default_factory=dict, init=False, repr=False)
    _ranks: dict[int, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.full = (1 << len(self.values)) - 1

    def best(self, mask: Mask) -> int:
        """The cell of a mask (not 0) that reads best."""
        known = self._best.get(mask)
        if known is None:
            known = self._best[mask] = next(cell for cell in self.order if mask >> cell & 1)
        return known

    def rank(self, mask: Mask) -> int:
        """How far down a person's list the best cell of a mask stands."""
        if not self._ranks:
            self._ranks = {cell: place for place, cell in enumerate(self.order)}
        return self._ranks[self.best(mask)]

    def by_preference(self, mask: Mask) -> Iterator[int]:
        return (cell for cell in self.order if mask >> cell & 1)


def bits(cells: Iterable[int]) -> Mask:
    mask = 0
    for cell in cells:
        mask |= 1 << cell
    return mask


def run(first: int, end: int) -> Mask:
    return ((1 << (end - first)) - 1) << first if end > first else 0


# --- ordered values -------------------------------------------------------------------------------------------------


class LineAxis(Axis):
    """Cells are intervals of keys, in order; the last is that of what is absent, where that may be."""

    def __init__(
        self,
        type: Type,
        domain: Intervals,
        tests: Iterable[Intervals],
        default: Any = None,
        optional: bool = False,
        unit: Unit | None = None,
    ) -> None:
        self.type, self.unit = type, unit
        cuts = sorted({end for test in tests for interval in test for end in interval})
        self.cells = list(_cut(domain, cuts))
        self._starts = [low for low, _ in self.cells]
        keys = [nice_key(type, low, end, unit) for low, end in self.cells]
        preferred = None if default is None else self._cell_of(line.key_of(default, type))
        if preferred is not None:
            keys[preferred] = line.key_of(default, type)
        values = [line.value_at(key, type) for key in keys]
        rank = {key: place for place, key in enumerate(_by_niceness(type, domain, keys, unit))}
        order = sorted(range(len(keys)), key=lambda i: (i != preferred, rank[keys[i]]))
        if optional:
            order.insert(0, len(values)) if preferred is None else order.append(len(values))
            super().__init__([*values, None], order, 1 << len(values))
        else:
            super().__init__(values, order)

    def _cell_of(self, key: int) -> int | None:
        place = bisect_right(self._starts, key) - 1
        return place if place >= 0 and key < self.cells[place][1] else None

    def mask(self, keys: Intervals) -> Mask:
        mask = 0
        for low, end in keys:
            mask |= run(bisect_left(self._starts, low), bisect_left(self._starts, end))
        return mask


def _cut(domain: Intervals, cuts: Sequence[int]) -> Iterator[Interval]:
    for low, end in domain:
        place = low
        for cut in cuts[bisect_right(cuts, low) : bisect_left(cuts, end)]:
            yield place, cut
            place = cut
        yield place, end


def _by_niceness(type: Type, domain: Intervals, keys: Sequence[int], unit: Unit | None) -> list[int]:
    """The keys, that of the nicest value of the whole domain first, then by how near they lie to it."""
    match type:
        case t.Closed() | t.Bool():
            return sorted(keys)
        case _:
            best = nice_key(type, domain[0][0], domain[-1][1], unit) if domain else 0
            return sorted(keys, key=lambda key: (abs(key - best), key))


# --- days -----------------------------------------------------------------------------------------------------------

_WINDOW = 40 * 366  # days in which every weekday meets every day of the year
_SHORT = 400  # a run of days no longer than this is looked at day by day


@frozen
class DayTests:
    """Everything that is asked of a day: runs of days, and sets of weekdays, of months, of days of the month."""

    days: tuple[Intervals, ...] = ()
    weekdays: tuple[Intervals, ...] = ()
    months: tuple[Intervals, ...] = ()
    monthdays: tuple[Intervals, ...] = ()

    @property
    def alike(self) -> tuple[frozenset[Intervals], ...]:
        """The same in whatever order they are asked."""
        return frozenset(self.days), frozenset(self.weekdays), frozenset(self.months), frozenset(self.monthdays)


@frozen
class DayCell:
    segment: Interval
    day: int
    only: tuple[int, ...]  # all days of the cell, where they are few


class DayAxis(Axis):
    """Cells are runs of days, split by what is asked of weekday, month and day of the month.

    `irregular` are days that `skip` names and that fill a cell by themselves: they get no cell here.
    """

    def __init__(
        self,
        domain: Intervals,
        tests: DayTests,
        near: int,
        skip: frozenset[int] = frozenset(),
        default: int | None = None,
        optional: bool = False,
    ) -> None:
        self.tests = tests
        cuts = sorted({end for test in tests.days for interval in test for end in interval})
        self.irregular: list[int] = []
        self.cells: list[DayCell] = []
        for segment in _cut(domain, cuts):
            self._split(segment, near, skip)
        self._starts = [cell.segment[0] for cell in self.cells]
        values: list[Any] = [cell.day for cell in self.cells]
        if default is not None and default not in skip:
            for i, cell in enumerate(self.cells):
                if _same_class(default, cell, tests):
                    values[i] = default
        order = sorted(range(len(values)), key=lambda i: (values[i] != default, day_order(values[i], near)))
        if optional:
            order.insert(0, len(values)) if default is None else order.append(len(values))
            super().__init__([*values, None], order, 1 << len(values))
        else:
            super().__init__(values, order)

    def _split(self, segment: Interval, near: int, skip: frozenset[int]) -> None:
        low, end = segment
        detailed = bool(self.tests.months or self.tests.monthdays)
        reach = _WINDOW if detailed else 14
        if end - low <= max(_SHORT, reach):
            days = range(low, end)
        else:
            start = max(low, min(near - 3, end - reach))
            days = range(start, start + reach)
        classes: dict[tuple[Any, ...], list[int]] = {}
        for day in days:
            classes.setdefault(_class_of(day, self.tests, detailed), []).append(day)
        for members in classes.values():
            regular = [day for day in members if day not in skip]
            if not regular:
                self.irregular.extend(members)
                continue
            best = min(regular, key=lambda day: day_order(day, near))
            self.cells.append(DayCell(segment, best, tuple(members) if len(members) <= 8 else ()))

    def mask(self, part: str, keys: Intervals) -> Mask:
        """The cells whose day (or weekday, month, day of the month) lies in `keys`."""
        if part in ("", "day"):
            mask = 0
            for low, end in keys:
                mask |= run(bisect_left(self._starts, low), bisect_left(self._starts, end))
            return mask
        return bits(i for i, cell in enumerate(self.cells) if day_is(cell.day, part, keys))

    def weekdays_of(self, cells: Iterable[int]) -> list[int] | None:
        """The weekdays that days of these cells, all of one run, may have; None where no test asks for them."""
        if not self.tests.weekdays:
            return None
        wanted = {_class_of(self.cells[cell].day, DayTests(weekdays=self.tests.weekdays), False) for cell in cells}
        # Day 4 was a Monday.
        return [w for w in range(7) if _class_of(4 + w, DayTests(weekdays=self.tests.weekdays), False) in wanted]


def day_is(day: int, part: str, keys: Intervals) -> bool:
    match part:
        case "weekday":
            value = weekday_of_days(day)
        case "month":
            value = civil_from_days(day)[1]
        case "monthday":
            value = civil_from_days(day)[2]
        case _:
            value = day
    return any(low <= value < end for low, end in keys)


def _class_of(day: int, tests: DayTests, detailed: bool) -> tuple[Any, ...]:
    weekday = weekday_of_days(day)
    signature = [any(low <= weekday < end for low, end in keys) for keys in tests.weekdays]
    if detailed:
        _, month, monthday = civil_from_days(day)
        signature += [any(low <= month < end for low, end in keys) for keys in tests.months]
        signature += [any(low <= monthday < end for low, end in keys) for keys in tests.monthdays]
    return tuple(signature)


def _same_class(day: int, cell: DayCell, tests: DayTests) -> bool:
    low, end = cell.segment
    return low <= day < end and _class_of(day, tests, True) == _class_of(cell.day, tests, True)


# --- instants of irregular days -------------------------------------------------------------------------------------


@frozen
class Moment:
    """A stretch `[low, end)` of instants of one irregular day, which no test tells apart; or what is absent."""

    instant: int | None
    day: int = 0
    clock: int = 0
    low: int = 0
    end: int = 0


class MomentAxis(Axis):
    """Cells are stretches of the days on which a clock is put on or back, or in which a test of an instant ends."""

    def __init__(
        self, zone: Zone, days: Iterable[int], clocks: LineAxis, ends: Sequence[int], domain: Intervals, optional: bool
    ) -> None:
        found = (moment for day in sorted(days) for moment in _moments(zone, day, clocks, ends))
        self.moments = [moment for moment in found if line.keys_in(domain, moment.low, moment.end)]
        order = list(range(len(self.moments)))
        absent = 0
        if optional:
            absent = 1 << len(self.moments)
            self.moments.append(Moment(None))
            order.insert(0, len(order))
        super().__init__([moment.instant for moment in self.moments], order, absent)

    def mask(self, part: str, keys: Intervals) -> Mask:
        return bits(i for i, m in enumerate(self.moments) if m.instant is not None and _moment_is(m, part, keys))


def _moment_is(moment: Moment, part: str, keys: Intervals) -> bool:
    if part == "clock":
        return any(low <= moment.clock < end for low, end in keys)
    if part == "":
        assert moment.instant is not None
        return any(low <= moment.instant < end for low, end in keys)
    return day_is(moment.day, part, keys)


def _moments(zone: Zone, day: int, clocks: LineAxis, ends: Sequence[int]) -> Iterator[Moment]:
    start, end = zone.instant(day * DAY).instant, zone.instant((day + 1) * DAY).instant
    inner = [*ends[bisect_right(ends, start) : bisect_left(ends, end)]]
    inner += zone.transitions[bisect_right(zone.transitions, start) : bisect_left(zone.transitions, end)]
    edges = sorted({start, end, *inner})
    for low, high in pairwise(edges):
        offset = zone.offset(low)
        first, last = low + offset - day * DAY, high + offset - day * DAY
        for cell_low, cell_end in clocks.cells:
            a, b = max(first, cell_low), min(last, cell_end)
            if a < b:
                clock = nice_key(t.TIME, a, b)
                start_of_day = day * DAY - offset
                yield Moment(start_of_day + clock, day, clock, start_of_day + a, start_of_day + b)


# --- values that only samples tell apart ----------------------------------------------------------------------------


class SampleAxis(Axis):
    """Cells are the ways in which the tests of a text or set turn out together, each shown by its first sample."""

    def __init__(self, sampled: Sampled, tests: Sequence[Mask], outcome: Callable[[Any], Mask], optional: bool) -> None:
        """`tests` are the samples in which each holds, in the order in which `mask` numbers them; `outcome` has the
        tests that hold of any value."""
        cells = told_apart(len(sampled.samples), tests)
        self._outcome = outcome
        self._masks = cells.masks
        values = [sampled.samples[place] for place in cells.first]
        order = list(range(len(values)))
        if optional:
            super().__init__([*values, None], [len(values), *order], 1 << len(values))
        else:
            super().__init__(values, order)

    def mask(self, test: int) -> Mask:
        return self._masks[test]

    def best(self, mask: Mask) -> int:
        """As any axis: what is absent first, then by number."""
        return self.absent.bit_length() - 1 if mask & self.absent else (mask & -mask).bit_length() - 1

    def holds(self, mask: Mask, value: Any) -> bool:
        """Whether a value, no sample perhaps, belongs to one of the cells."""
        outcome = self._outcome(value)
        cells = self.full & ~self.absent & mask
        for test, own in enumerate(self._masks):
            cells &= own if outcome >> test & 1 else ~own
        return cells != 0


def same_cells(a: Axis, b: Axis) -> bool:
    """Whether a mask of the one means the same on the other, and is shown by the same value."""
    if a is b or type(a) is not type(b) or (a.values, a.order, a.absent) != (b.values, b.order, b.absent):
        return a is b
    match a, b:
        case (LineAxis(), LineAxis()):
            return a.cells == b.cells
        case (DayAxis(), DayAxis()):
            return a.cells == b.cells and a.irregular == b.irregular and a.tests.alike == b.tests.alike
        case (MomentAxis(), MomentAxis()):
            return a.moments == b.moments
        case (SampleAxis(), SampleAxis()):
            return False  # other tests, and each is known by its number
        case _:
            return True


def skipped_days(zone: Zone, ends: Iterable[int]) -> frozenset[int]:
    """The local days on which the clock changes, or in which one of these instants lies."""
    return _changes(zone) | {zone.local(instant) // DAY for instant in ends}


@lru_cache(maxsize=16)
def _changes(zone: Zone) -> frozenset[int]:
    places = zip(zone.transitions, zone.offsets, zone.offsets[1:], strict=False)
    return frozenset((instant + offset) // DAY for instant, *offsets in places for offset in offsets)
