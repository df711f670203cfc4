"""Dates, times, datetimes and durations as ISO 8601 writes them.

In: text. Out: days or microseconds; None where the text says no such thing. And back.
"""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import NamedTuple

from ucl.semantics.calendar import civil_from_days
from ucl.semantics.operations import INT_MAX, INT_MIN
from ucl.semantics.types import DAY, DURATION_UNITS, SECOND

_EPOCH = dt.date(1970, 1, 1).toordinal()
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
_OFFSET = r"([Zz]|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)"
_DATE_TEXT = re.compile(_DATE, re.ASCII)
_TIME_TEXT = re.compile(_TIME, re.ASCII)
_DATETIME_TEXT = re.compile(f"{_DATE}[Tt ]{_TIME}{_OFFSET}?", re.ASCII)
_AMOUNT = r"\d{1,20}(?:[.,]\d{1,20})?"
_DURATION_TEXT = re.compile(
    rf"(?P<sign>[+-])?P(?=[\dT])(?:(?P<w>{_AMOUNT})W)?(?:(?P<d>{_AMOUNT})D)?"
    rf"(?:T(?=\d)(?:(?P<h>{_AMOUNT})H)?(?:(?P<min>{_AMOUNT})M)?(?:(?P<s>{_AMOUNT})S)?)?",
    re.ASCII,
)
_UNIT_FACTORS = {unit.name: unit.factor for unit in DURATION_UNITS}


class WallClock(NamedTuple):
    """`local` is what the text shows, in microseconds; `offset` that east of UTC, None where the text has none."""

    local: int
    offset: int | None


# --- reading --------------------------------------------------------------------------------------------------------


def read_date(text: str) -> int | None:
    match = _DATE_TEXT.fullmatch(text)
    return None if match is None else _days(*match.groups())


def read_time(text: str) -> int | None:
    match = _TIME_TEXT.fullmatch(text)
    return None if match is None else _microseconds(*match.groups())


def read_datetime(text: str) -> WallClock | None:
    match = _DATETIME_TEXT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    days, time = _days(year, month, day), _microseconds(hour, minute, second, fraction)
    if days is None or time is None:
        return None
    if offset is None:
        return WallClock(days * DAY + time, None)
    east = _offset(offset)
    return None if east is None else WallClock(days * DAY + time, east)


def read_duration(text: str) -> int | None:
    """To the microsecond, half to even. Years and months are no length of time."""
    match = _DURATION_TEXT.fullmatch(text)
    if match is None:
        return None
    parts = ((name, match[name]) for name in ("w", "d", "h", "min", "s"))
    total = sum(
        (Fraction(amount.replace(",", ".")) * _UNIT_FACTORS[name] for name, amount in parts if amount), Fraction(0)
    )
    microseconds = round(-total if match["sign"] == "-" else total)
    return microseconds if INT_MIN <= microseconds <= INT_MAX else None


def _days(year: str, month: str, day: str) -> int | None:
    try:
        return dt.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None


def _microseconds(hour: str, minute: str, second: str | None, fraction: str | None) -> int | None:
    """What lies below a microsecond is cut off."""
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    whole = (hours * 3600 + minutes * 60 + seconds) * SECOND
    return whole + int(fraction[:6].ljust(6, "0")) if fraction else whole


def _offset(text: str) -> int | None:
    if text in ("Z", "z", "+00:00"):
        return 0
    digits = text[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    east = (hours * 3600 + minutes * 60 + seconds) * SECOND
    return -east if text[0] == "-" else east


# --- writing --------------------------------------------------------------------------------------------------------


def write_date(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{year:04}-{month:02}-{day:02}"


def write_time(time: int) -> str:
    seconds, fraction = divmod(time, SECOND)
    minutes, second = divmod(seconds, 60)
    text = f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return f"{text}.{fraction:06}" if fraction else text


def write_datetime(local: int, offset: int) -> str:
    """`local` is the wall clock at that offset east of UTC, in microseconds."""
    days, time = divmod(local, DAY)
    seconds = abs(offset) // SECOND
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}" + (f":{seconds % 60:02}" if seconds % 60 else "")
    return f"{write_date(days)}T{write_time(time)}{'-' if offset < 0 else '+'}{clock}"


def write_duration(duration: int) -> str:
    """In the largest of days, hours and minutes in which it is whole, else in seconds: `P1D`, `PT90M`, `PT0.5S`."""
    sign, length = ("-", -duration) if duration < 0 else ("", duration)
    if length == 0:
        return "PT0S"
    for unit, before, after in ((DAY, "P", "D"), (3600 * SECOND, "PT", "H"), (60 * SECOND, "PT", "M")):
        if length % unit == 0:
            return f"{sign}{before}{length // unit}{after}"
    seconds, fraction = divmod(length, SECOND)
    decimals = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{sign}PT{seconds}{decimals}S"
