"""What each operator, local part and builtin computes: the definition, to the bit.

In: present values as `semantics.program` describes them. Out: a value, None where a partial operation has none, or
`Overflow` where the result leaves its type: 64 bits (ints and durations), the finite doubles, the years 1 to 9999
(dates, and instants in UTC). Kernels do the same steps on arrays, so each formula here is a chain of single IEEE double
or exact integer operations. Nothing here tells 0.0 from -0.0, and the doors write either as 0.
"""

from __future__ import annotations

import math
import unicodedata
from typing import TypeVar

from ucl.semantics import calendar
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.zones import Zone

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND

Ordered = TypeVar("Ordered", int, float)
Element = TypeVar("Element", int, str)


class Overflow(Exception):  # noqa: N818 - a signal, not an error
    """A result outside its type: it makes the row invalid, and is no mistake of the program's author."""


# --- limits ---------------------------------------------------------------------------------------------------------


def checked_int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise Overflow


def checked_float(value: float) -> float:
    if math.isfinite(value):
        return value
    raise Overflow


def checked_day(days: int) -> int:
    if calendar.FIRST_DAY <= days <= calendar.LAST_DAY:
        return days
    raise Overflow


def checked_instant(instant: int) -> int:
    if calendar.FIRST_INSTANT <= instant <= calendar.LAST_INSTANT:
        return instant
    raise Overflow


def nearest_int(value: float) -> int:
    """Half to even; a double beyond 64 bits, infinite or not a number is an overflow."""
    return checked_int(round(checked_float(value)))


# --- arithmetic -----------------------------------------------------------------------------------------------------


def add_int(a: int, b: int) -> int:
    return checked_int(a + b)


def sub_int(a: int, b: int) -> int:
    return checked_int(a - b)


def mul_int(a: int, b: int) -> int:
    return checked_int(a * b)


def neg_int(a: int) -> int:
    return checked_int(-a)


def abs_int(a: int) -> int:
    return checked_int(abs(a))


def add_float(a: float, b: float) -> float:
    return checked_float(a + b)


def sub_float(a: float, b: float) -> float:
    return checked_float(a - b)


def mul_float(a: float, b: float) -> float:
    return checked_float(a * b)


def div_float(a: float, b: float) -> float | None:
    return None if b == 0 else checked_float(a / b)


def neg_float(a: float) -> float:
    return -a


def abs_float(a: float) -> float:
    return abs(a)


def to_float(a: int) -> float:
    return float(a)


def least(a: Ordered, b: Ordered) -> Ordered:
    return b if b < a else a


def greatest(a: Ordered, b: Ordered) -> Ordered:
    return b if b > a else a


def clamp(x: Ordered, low: Ordered, high: Ordered) -> Ordered:
    """max(low, min(x, high)); where low > high, low."""
    return greatest(low, least(x, high))


def floor(x: float) -> int:
    return checked_int(math.floor(x))


def ceil(x: float) -> int:
    return checked_int(math.ceil(x))


def round_even(x: float) -> int:
    return nearest_int(x)


# --- durations, dates, instants -------------------------------------------------------------------------------------


def scale_duration(duration: int, factor: float) -> int:
    return nearest_int(float(duration) * factor)


def scale_duration_by(factor: float, duration: int) -> int:
    return scale_duration(duration, factor)


def div_duration(duration: int, divisor: float) -> int | None:
    return None if divisor == 0 else nearest_int(float(duration) / divisor)


def ratio_duration(a: int, b: int) -> float | None:
    return None if b == 0 else float(a) / float(b)


def duration_days(duration: int) -> float:
    return float(duration) / DAY


def duration_hours(duration: int) -> float:
    return float(duration) / HOUR


def duration_minutes(duration: int) -> float:
    return float(duration) / MINUTE


def duration_seconds(duration: int) -> float:
    return float(duration) / SECOND


def add_instant(instant: int, duration: int) -> int:
    return checked_instant(instant + duration)


def sub_instant(instant: int, duration: int) -> int:
    return checked_instant(instant - duration)


def add_days(date: int, duration: int) -> int:
    """The duration is rounded down to whole days first: a date and -12h is the day before."""
    return checked_day(date + duration // DAY)


def sub_days(date: int, duration: int) -> int:
    """The duration, not its negative, is rounded down: a date minus 12h is that date."""
    return checked_day(date - duration // DAY)


def days_between(a: int, b: int) -> int:
    return (a - b) * DAY


def next_weekday(date: int, weekday: int) -> int:
    """Strictly after the date."""
    return checked_day(date + 1 + (weekday - date_weekday(date) - 1) % 7)


def add_months(date: int, months: int) -> int:
    return checked_day(calendar.months_later(date, months))


def at(zone: Zone, date: int, time: int) -> int:
    return checked_instant(zone.instant(date * DAY + time).instant)


# --- local parts ----------------------------------------------------------------------------------------------------


def date_of(zone: Zone, instant: int) -> int:
    return checked_day(zone.local(instant) // DAY)


def time_of(zone: Zone, instant: int) -> int:
    return zone.local(instant) % DAY


def weekday_of(zone: Zone, instant: int) -> int:
    return calendar.weekday_of_days(zone.local(instant) // DAY)


def year_of(zone: Zone, instant: int) -> int:
    return calendar.civil_from_days(zone.local(instant) // DAY)[0]


def month_of(zone: Zone, instant: int) -> int:
    return calendar.civil_from_days(zone.local(instant) // DAY)[1]


def day_of(zone: Zone, instant: int) -> int:
    return calendar.civil_from_days(zone.local(instant) // DAY)[2]


def hour_of(zone: Zone, instant: int) -> int:
    return time_hour(time_of(zone, instant))


def minute_of(zone: Zone, instant: int) -> int:
    return time_minute(time_of(zone, instant))


def night_of(zone: Zone, instant: int) -> int:
    """The weekday twelve hours of wall clock ago."""
    return calendar.weekday_of_days((zone.local(instant) - 12 * HOUR) // DAY)


def date_weekday(date: int) -> int:
    return calendar.weekday_of_days(date)


def date_year(date: int) -> int:
    return calendar.civil_from_days(date)[0]


def date_month(date: int) -> int:
    return calendar.civil_from_days(date)[1]


def date_day(date: int) -> int:
    return calendar.civil_from_days(date)[2]


def time_hour(time: int) -> int:
    return time // HOUR


def time_minute(time: int) -> int:
    return time // MINUTE % 60


# --- ramps ----------------------------------------------------------------------------------------------------------
# Differences overflow as `-` does. Quotients saturate: one too great for a double is infinite, so beyond an end.


def ramp_float(x: float, start: float, end: float) -> float:
    if start == end:
        return 1.0 if x >= start else 0.0
    return _unit_interval(sub_float(x, start) / sub_float(end, start))


def ramp_int(x: int, start: int, end: int) -> float:
    if start == end:
        return 1.0 if x >= start else 0.0
    return _unit_interval(float(sub_int(x, start)) / float(sub_int(end, start)))


def near_float(x: float, target: float, tolerance: float) -> float:
    if tolerance <= 0:
        return 1.0 if x == target else 0.0
    return _unit_interval(1.0 - abs(sub_float(x, target)) / tolerance)


def near_int(x: int, target: int, tolerance: int) -> float:
    if tolerance <= 0:
        return 1.0 if x == target else 0.0
    return _unit_interval(1.0 - float(abs_int(sub_int(x, target))) / float(tolerance))


def near_time(x: int, target: int, tolerance: int) -> float:
    """The distance between two times of day is the shorter way round."""
    if tolerance <= 0:
        return 1.0 if x == target else 0.0
    apart = abs(x - target)
    return _unit_interval(1.0 - float(min(apart, DAY - apart)) / float(tolerance))


def _unit_interval(x: float) -> float:
    if x <= 0.0:
        return 0.0
    return 1.0 if x >= 1.0 else x


# --- text -----------------------------------------------------------------------------------------------------------


def contains(text: str, part: str) -> bool:
    return part in text


def starts_with(text: str, start: str) -> bool:
    return text.startswith(start)


def ends_with(text: str, end: str) -> bool:
    return text.endswith(end)


def like(text: str, pattern: str) -> bool:
    r"""Whether the whole text matches: `*` is any run, `\*` a star, `\\` a backslash; any other backslash is itself.

    The pieces between the stars are looked for from left to right, each as early as it stands: no text makes it slow.
    """
    first, *others = like_pieces(pattern)
    if not others:
        return text == first
    *middle, last = others
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in middle:
        place = text.find(piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True


def like_pieces(pattern: str) -> list[str]:
    r"""The literal texts between a pattern's stars, unescaped: `a*\*b` has the pieces `a` and `*b`."""
    pieces = [""]
    characters = iter(pattern)
    for character in characters:
        if character == "*":
            pieces.append("")
        elif character == "\\":
            following = next(characters, "")
            pieces[-1] += following if following in ("*", "\\") else character + following
        else:
            pieces[-1] += character
    return pieces


def lower(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())


def casefold(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def length(text: str) -> int:
    """In code points."""
    return len(text)


# --- sets -----------------------------------------------------------------------------------------------------------


def overlaps(a: frozenset[Element], b: frozenset[Element]) -> bool:
    return not a.isdisjoint(b)


def subset(a: frozenset[Element], b: frozenset[Element]) -> bool:
    return a <= b


def size(a: frozenset[Element]) -> int:
    return len(a)
