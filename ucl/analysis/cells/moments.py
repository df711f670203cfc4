"""Days and instants: for each way in which their local parts can be, a real one in the zone.

In: constants that an instant, its date, its time of day and other parts are compared with. Out: instants (days) that
have every combination of answers that a real one has; whether that is certain.

Days between two constants differ at most by weekday, month and day of the month; times between two not at all. So a
cell is a run of days of one kind and a stretch of the clock. Clocks skip and repeat: a stretch of one day may not exist
on it, and where an instant itself is compared with, that day's instants are looked at one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ucl.analysis.cells.ordered import plain_time
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.calendar import (
    FIRST_DAY,
    FIRST_INSTANT,
    LAST_DAY,
    LAST_INSTANT,
    civil_from_days,
    days_from_civil,
    weekday_of_days,
)
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.parts import children
from ucl.semantics.program import Expr
from ucl.semantics.types import DAY
from ucl.semantics.zones import Zone

# Where nothing says otherwise, options are about this Tuesday and the days after it.
PLAIN_DAY = days_from_civil(2026, 3, 3)
# Within so many days every kind of day comes: each weekday; each month; each day of a month; each 29 February on each
# weekday, whose longest wait, round a century that leaps no leap day, is 40 years.
_WEEK, _YEAR, _ALL = 7, 366, 41 * 366
_EXAMPLES = 3
_MOST_CELLS = 20_000

Parts = Mapping[str, Collection[int]]


@frozen
class DayCell:
    """Days that nothing asked tells apart: some of them, and whether these are all. `marked` has a compared instant."""

    days: tuple[int, ...]
    complete: bool
    marked: bool


def days_around(points: Iterable[int], parts: Parts, low: int = FIRST_DAY, high: int = LAST_DAY) -> set[int]:
    """Days for every cell, and those on both sides of each constant."""
    cells = _day_cells(_day_cuts(points, parts), parts, low, high, frozenset())
    edges = {day + step for day in points for step in (-1, 0, 1)}
    return {cell.days[0] for cell in cells} | {day for day in edges if low <= day <= high}


def instants_around(
    points: Collection[int], parts: Parts, zone: Zone, low: int = FIRST_INSTANT, high: int = LAST_INSTANT
) -> tuple[set[int], bool]:
    """Instants for every cell, and those on both sides of each constant; whether no cell is missed."""
    marks = sorted({point + step for point in [*points, low, high] for step in (0, 1) if low <= point + step <= high})
    marked = {zone.local(mark) // DAY for mark in marks}
    cuts = _day_cuts([*parts.get("date", ()), *marked], parts)
    cells = list(_day_cells(cuts, parts, zone.local(low) // DAY, zone.local(high) // DAY, frozenset(marked)))
    clock = _clock_cuts(parts)
    found = {mark + step for mark in marks for step in (-1, 0, 1)}
    if len(cells) * len(clock) > _MOST_CELLS:
        return {instant for instant in found if low <= instant <= high}, False
    certain = True
    for cell in cells:
        for start, end in pairwise([*clock, DAY]):
            if cell.marked:
                found |= set(_on_day(cell.days[0], start, end, zone))
            elif (instant := _in_cell(cell, start, end, zone)) is not None:
                found.add(instant)
            elif not cell.complete:
                certain = False
    edges = {
        zone.instant(cell.days[0] * DAY + time + step).instant
        for cell in cells[:8]
        for time in clock
        for step in (-1, 0)
    }
    return {instant for instant in found | edges if low <= instant <= high}, certain


# Which half of an instant a local part is of.
_DAY_PARTS = frozenset({"date_of", "weekday_of", "year_of", "month_of", "day_of"})
_CLOCK_PARTS = frozenset({"time_of", "hour_of", "minute_of"})


def half_read(expr: Expr) -> str | None:
    """`day` or `clock` where a condition on an instant reads nothing else of it."""
    halves = set(_halves(expr))
    return next(iter(halves)) if len(halves) == 1 and "whole" not in halves else None


def _halves(expr: Expr) -> Iterator[str]:
    match expr:
        case p.ContextValue(path=("today",)):
            yield "day"
        case p.OptionValue() | p.ContextValue() | p.MemoryValue():
            yield "whole"
        case p.Apply(signature=signature, arguments=(p.OptionValue() | p.ContextValue() | p.MemoryValue(),)):
            yield "day" if signature.op in _DAY_PARTS else "clock" if signature.op in _CLOCK_PARTS else "whole"
        case _:
            for part in children(expr):
                yield from _halves(part)


# --- days -----------------------------------------------------------------------------------------------------------


def _day_cuts(points: Iterable[int], parts: Parts) -> set[int]:
    """The days on which a run of like days begins."""
    cuts = {day + step for day in points for step in (0, 1)}
    for year in parts.get("year", ()):
        cuts |= {days_from_civil(year + step, 1, 1) for step in (0, 1) if -1 <= year <= 10_000}
    return cuts


def _day_cells(cuts: set[int], parts: Parts, low: int, high: int, marked: frozenset[int]) -> Iterator[DayCell]:
    starts = [low, *sorted(cut for cut in cuts if low < cut <= high)]
    by_weekday = "weekday" in parts or "night" in parts
    by_month, by_day = "month" in parts, "day" in parts
    period = _ALL if by_day else _YEAR if by_month else _WEEK if by_weekday else _EXAMPLES
    for start, end in pairwise([*starts, high + 1]):
        first = min(max(PLAIN_DAY, start), max(start, end - period))
        kinds: dict[object, list[int]] = {}
        for day in range(first, min(first + period, end)):
            _, month, of_month = civil_from_days(day)
            kind = (by_weekday and weekday_of_days(day), by_month and month, by_day and of_month)
            days = kinds.setdefault(kind, [])
            if len(days) < _EXAMPLES:
                days.append(day)
        whole = end - start <= _EXAMPLES
        for days in kinds.values():
            yield DayCell(tuple(days), whole, start in marked and end - start == 1)


# --- the clock ------------------------------------------------------------------------------------------------------


def clock_cuts(points: Iterable[int], parts: Parts) -> list[int]:
    """Where the clock's stretches begin, 0:00 first; `points` are times of day."""
    cuts = {0} | {time + step for time in points for step in (0, 1)}
    cuts |= {(hour + step) * HOUR for hour in parts.get("hour", ()) for step in (0, 1)}
    cuts |= {
        h * HOUR + (minute + step) * MINUTE for minute in parts.get("minute", ()) for step in (0, 1) for h in range(24)
    }
    if "minute" in parts:
        cuts |= {h * HOUR for h in range(24)}  # there minutes begin anew
    if "night" in parts:
        cuts.add(12 * HOUR)
    return sorted(cut for cut in cuts if 0 <= cut < DAY)


def _clock_cuts(parts: Parts) -> list[int]:
    return clock_cuts(parts.get("time", ()), parts)


def _in_cell(cell: DayCell, start: int, end: int, zone: Zone) -> int | None:
    """An instant in the stretch of the clock on one of the cell's days, a plain one where the clock shows it."""
    for day in cell.days:
        for time in (plain_time(start, end - 1), start):
            instant = zone.instant(day * DAY + time).instant
            if zone.local(instant) == day * DAY + time:
                return instant
        for instant in _on_day(day, start, end, zone):
            return instant
    return None


def _on_day(day: int, start: int, end: int, zone: Zone) -> Iterator[int]:
    """Where the stretch begins or goes on, on that day: at its start (twice where the clock goes back) and after each
    change of the clock. Every run of instants in the stretch has its first among these or at a compared instant."""
    wall = day * DAY
    places = _offsets_near(zone, wall)
    begins = [wall + start - offset for offset in places]
    begins += _changes_near(zone, wall)
    for instant in begins:
        if FIRST_INSTANT <= instant <= LAST_INSTANT and wall + start <= zone.local(instant) < wall + end:
            yield instant


def _changes_near(zone: Zone, wall: int) -> Sequence[int]:
    low = bisect_left(zone.transitions, wall - 2 * DAY)
    high = bisect_left(zone.transitions, wall + 3 * DAY)
    return zone.transitions[low:high]


def _offsets_near(zone: Zone, wall: int) -> set[int]:
    low = bisect_left(zone.transitions, wall - 2 * DAY)
    high = bisect_left(zone.transitions, wall + 3 * DAY)
    return set(zone.offsets[low : high + 1])
