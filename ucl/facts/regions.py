"""What facts speak of, as conditions on fields: which of them meet, which lie in others, and where they end.

In: conditions that objects name. Out: answers about pairs of regions, and a condition's neighbours, so that a test can
look just inside and just outside. A region is a conjunction with at most one condition for a subject. Answers err on
the side of `meets`: what can't be told apart may meet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, assert_never

from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.operations import MINUTE
from ucl.semantics.types import DAY

Number = int | float
Part = Literal["", "time", "weekday", "date", "size", "words"]
"""Of a datetime; of a set, its size; of a text, what it holds without regard to case."""
Values = frozenset[str] | frozenset[int]


@frozen
class Subject:
    """What a condition is about: a field of the option or the context, one of a datetime's parts, or a set's size."""

    place: Literal["option", "context"]
    path: tuple[str, ...]
    part: Part
    type: t.Type
    """Of the field itself, present."""
    optional: bool = False

    def __hash__(self) -> int:
        """Regions are looked up by subject for every pair of facts: a type has much to hash, and says no more."""
        return hash((self.place, self.path, self.part))

    @property
    def compared(self) -> t.Type:
        """The type of what is compared."""
        match self.part:
            case "time":
                return t.Time()
            case "weekday":
                return t.Weekday()
            case "date":
                return t.Date()
            case "size":
                return t.Int()
            case "" | "words":
                return self.type

    @property
    def name(self) -> str:
        """As a program writes it, but for the optional: `start.time`, `size(attendees)`."""
        path = ".".join(self.path)
        match self.part:
            case "size":
                return f"size({path})"
            case "" | "words":
                return path
            case part:
                return f"{path}.{part}"


@frozen
class Interval:
    """From `low` to `high`, infinite where open, each end in it or not."""

    low: Number
    high: Number
    low_in: bool = True
    high_in: bool = False

    @property
    def start(self) -> tuple[Number, bool]:
        return (self.low, not self.low_in)

    @property
    def stop(self) -> tuple[Number, bool]:
        return (self.high, self.high_in)

    @property
    def empty(self) -> bool:
        return not self.start < self.stop

    def has(self, value: Number) -> bool:
        return self.start <= (value, False) < self.stop


@frozen
class Between:
    """An ordered value in one of some intervals that do not touch. Times and durations are microseconds, dates days."""

    intervals: tuple[Interval, ...]


@frozen
class Among:
    """One of some values, or none of them. Weekdays are numbers from 0."""

    values: Values
    outside: bool = False


@frozen
class Overlaps:
    """A set that holds one of some names."""

    names: frozenset[str]
    outside: bool = False


@frozen
class Matches:
    """A text that holds another one without regard to case, or begins or ends with it."""

    how: Literal["contains", "starts_with", "ends_with"]
    text: str


@frozen
class Absent:
    """A value that is not there."""


@frozen
class Given:
    """A value that is there, whatever it is."""


Condition = Between | Among | Overlaps | Matches | Absent | Given
Region = Mapping[Subject, Condition]


# --- pairs ----------------------------------------------------------------------------------------------------------


def regions_meet(one: Region, other: Region) -> bool:
    """Whether an option may be in both."""
    return all(_meet(condition, other[subject]) for subject, condition in one.items() if subject in other)


def region_within(one: Region, other: Region) -> bool:
    """Whether every option of the one is in the other."""
    return all(subject in one and _within(one[subject], condition) for subject, condition in other.items())


def same_region(one: Region, other: Region) -> bool:
    return region_within(one, other) and region_within(other, one)


def _meet(one: Condition, other: Condition) -> bool:
    match one, other:
        case Between(these), Between(those):
            return any(max(a.start, b.start) < min(a.stop, b.stop) for a in these for b in those)
        case Among(), Among():
            return _among_meets(one, other)
        case Absent(), Absent():
            return True
        case (Absent(), _) | (_, Absent()):
            return False
        case (Given(), _) | (_, Given()):
            return True
        case Overlaps(), Overlaps():
            return not (one.outside and other.names <= one.names) and not (other.outside and one.names <= other.names)
        case _:
            return True


def _among_meets(one: Among, other: Among) -> bool:
    if one.outside and other.outside:
        return True
    if one.outside or other.outside:
        inner, outer = (other, one) if one.outside else (one, other)
        return bool(inner.values - outer.values)
    return bool(one.values & other.values)


def _within(one: Condition, other: Condition) -> bool:
    match one, other:
        case Between(these), Between(those):
            return all(any(b.start <= a.start and a.stop <= b.stop for b in those) for a in these)
        case Among(), Among():
            if other.outside:
                return other.values <= one.values if one.outside else not one.values & other.values
            return not one.outside and one.values <= other.values
        case Overlaps(), Overlaps():
            if one.outside != other.outside:
                return False
            return other.names <= one.names if one.outside else one.names <= other.names
        case Matches(), Matches():
            same = one.how == other.how or other.how == "contains"
            return same and other.text.casefold() in one.text.casefold() and (one == other or other.how == "contains")
        case Absent(), Absent():
            return True
        case _, Given():
            return not isinstance(one, Absent)
        case _:
            return False


# --- ends -----------------------------------------------------------------------------------------------------------


def step_of(type: t.Type, end: Number) -> Number:
    """How far just outside is: a minute, a day, 1, or a hundredth of a number with a fraction."""
    match type:
        case t.Time() | t.Duration():
            return MINUTE
        case t.Float() | t.Quantity():
            return abs(end) / 100 or 0.01
        case _:
            return 1


def around(condition: Between, type: t.Type) -> list[Interval]:
    """The strips just outside: one at each end that is an end, and that no other interval covers."""
    found = []
    for interval in condition.intervals:
        low, high = interval.low, interval.high
        if not _is_edge(low, type):
            found.append(Interval(low - step_of(type, low), low, True, not interval.low_in))
        if not _is_edge(high, type):
            found.append(Interval(high, high + step_of(type, high), not interval.high_in, interval.high_in))
    return [strip for strip in found if not any(_overlap(strip, other) for other in condition.intervals)]


def _overlap(one: Interval, other: Interval) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)


def _is_edge(end: Number, type: t.Type) -> bool:
    """Whether the type's values end there, or there is no end."""
    return math.isinf(end) or (isinstance(type, t.Time) and end in (0, DAY))


def points(interval: Interval, type: t.Type) -> list[Number]:
    """The first value inside, one in the middle and the last one, in steps as `step_of` has them."""
    low, high = interval.low, interval.high
    first = low if interval.low_in else low + step_of(type, low)
    last = high if interval.high_in else high - step_of(type, high)
    if math.isinf(low) and math.isinf(high):
        return []
    if math.isinf(high):
        return [first, first + 10 * step_of(type, first)]
    if math.isinf(low):
        return [last, last - 10 * step_of(type, last)]
    middle = _middle(first, last, type)
    return list(dict.fromkeys([first, middle, last])) if first <= last else []


def _middle(first: Number, last: Number, type: t.Type) -> Number:
    if isinstance(type, t.Float | t.Quantity):
        return (first + last) / 2
    step = int(step_of(type, 0))
    return int(first) + (int(last) - int(first)) // (2 * step) * step


def all_values(type: t.Type) -> Sequence[str | int | bool] | None:
    """Of a type that has few; None for the others."""
    match type:
        case t.Bool():
            return (False, True)
        case t.Weekday():
            return tuple(range(7))
        case t.Closed(values):
            return values
        case _:
            return None


def without(condition: Condition, type: t.Type) -> Condition | None:
    """The other values, for conditions that a single one says; None where none is left or it takes more."""
    match condition:
        case Among(values, outside):
            everything = all_values(type)
            if everything is None:
                return Among(values, not outside)
            left = frozenset(everything) - values if not outside else values
            return Among(left) if left else None  # type: ignore[arg-type]
        case Overlaps(names, outside):
            return Overlaps(names, not outside)
        case Between(intervals):
            return Between(_gaps(intervals, type)) if _gaps(intervals, type) else None
        case Absent():
            return Given()
        case Given():
            return Absent()
        case Matches():
            return None
        case _:
            assert_never(condition)


def _gaps(intervals: Sequence[Interval], type: t.Type) -> tuple[Interval, ...]:
    """What the intervals leave out."""
    least, most = (0, DAY) if isinstance(type, t.Time) else (-math.inf, math.inf)
    at: tuple[Number, bool] = (least, False)
    found = []
    for interval in sorted(intervals, key=lambda each: each.start):
        if at < interval.start:
            found.append(Interval(at[0], interval.low, not at[1], not interval.low_in))
        at = max(at, interval.stop)
    if at < (most, False):
        found.append(Interval(at[0], most, not at[1], False))
    return tuple(found)
