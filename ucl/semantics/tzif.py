"""The tz database's files, read: TZif (RFC 8536) with the POSIX rule at its end, expanded to the year 9999.

In: a zone's name, already checked to be one. Out: its `History` of offsets, or None where there is no such file.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ucl.semantics.calendar import (
    FIRST_INSTANT,
    LAST_INSTANT,
    days_from_civil,
    days_in_month,
    is_leap,
    weekday_of_days,
)
from ucl.semantics.types import DAY, SECOND

_HEADER = struct.Struct(">4sc15x6l")
_ERA_YEARS, _ERA = 400, 146_097 * DAY
_LARGEST_FILE = 1 << 20


class History(NamedTuple):
    """In microseconds: when the offset changes, ascending; the offset before each change and, one more, after all."""

    transitions: tuple[int, ...]
    offsets: tuple[int, ...]


def read_history(name: str) -> History | None:
    recorded = _recorded(name)
    return None if recorded is None else _joined(*recorded)


def has_history(name: str) -> bool:
    """Whether there is one, which is not expanded."""
    return _recorded(name) is not None


def _recorded(name: str) -> _Recorded | None:
    for data in _candidates(name):
        try:
            return _parse(data)
        except (ValueError, struct.error, IndexError):
            continue  # not a zone's file: the next place may have a sound one
    return None


def _candidates(name: str) -> Iterator[bytes]:
    """As `zoneinfo` looks: the system's folders, then the `tzdata` package."""
    import zoneinfo  # which asks `sysconfig` where the folders are

    parts = name.split("/")
    for folder in zoneinfo.TZPATH:
        try:
            with Path(folder, *parts).open("rb") as file:
                yield file.read(_LARGEST_FILE)
        except (OSError, ValueError):
            continue
    from importlib import resources  # slow to import, and seldom needed

    try:
        yield resources.files("tzdata").joinpath("zoneinfo", *parts).read_bytes()
    except (ModuleNotFoundError, OSError):
        return


def _parse(data: bytes) -> _Recorded:
    """The second, 64-bit block; ValueError, IndexError or struct.error where there is none."""
    magic, version, *counts = _HEADER.unpack_from(data)
    if magic != b"TZif" or version < b"2":
        raise ValueError("not a TZif file of version 2 or later")
    second = _HEADER.size + _block_size(counts, time_size=4)
    _, _, *counts = _HEADER.unpack_from(data, second)
    _, _, _, time_count, type_count, _ = counts
    start = second + _HEADER.size
    times = struct.unpack_from(f">{time_count}q", data, start)
    indices = struct.unpack_from(f">{time_count}B", data, start + 8 * time_count)
    types = [struct.unpack_from(">lBB", data, start + 9 * time_count + 6 * i) for i in range(type_count)]
    footer = data[start + _block_size(counts, time_size=8) :].strip(b"\n").decode("ascii")

    offsets = [offset * SECOND for offset, _, _ in types]
    standard = (offset for offset, (_, daylight, _) in zip(offsets, types, strict=True) if not daylight)
    first = next(standard, offsets[indices[0]] if indices else offsets[0])
    changes = [(time * SECOND, offsets[index]) for time, index in zip(times, indices, strict=True)]
    return first, changes, parse_rule(footer) if footer else None


def _block_size(counts: list[int], time_size: int) -> int:
    ut_count, standard_count, leap_count, time_count, type_count, character_count = counts
    return (
        time_count * (time_size + 1)
        + type_count * 6
        + character_count
        + leap_count * (time_size + 4)
        + standard_count
        + ut_count
    )


def _joined(first: int, changes: list[tuple[int, int]], rule: Rule | None) -> History:
    """The listed changes, then the rule's; a change to the same offset is none."""
    if rule is not None and rule.daylight is None:
        if changes:
            changes[-1] = (changes[-1][0], rule.standard)
        else:
            first = rule.standard
    transitions: list[int] = []
    offsets = [first]
    for instant, offset in changes:
        if offset != offsets[-1]:
            transitions.append(instant)
            offsets.append(offset)
    if rule is not None and rule.daylight is not None:
        instants, following = rule.changes(changes[-1][0] if changes else FIRST_INSTANT - DAY)
        skip = following[:1] == offsets[-1:]
        transitions += instants[skip:]
        offsets += following[skip:]
    return History(tuple(transitions), tuple(offsets))


# --- the rule at the end: a POSIX TZ string -------------------------------------------------------------------------


class Rule(NamedTuple):
    """Offsets in microseconds east; `start` and `end` give, for a year, the local microseconds at which summer time
    begins (by the standard clock) and ends (by the summer one)."""

    standard: int
    daylight: int | None
    start: Callable[[int], int]
    end: Callable[[int], int]

    def changes(self, since: int) -> tuple[list[int], list[int]]:
        """Every change after `since` up to the year 9999, and the offset after each: one cycle of the calendar, 400
        years, again and again. The two offsets take turns."""
        assert self.daylight is not None
        year = 1970 + since * _ERA_YEARS // _ERA - 1
        cycle = sorted(
            change
            for y in range(year, year + _ERA_YEARS)
            for change in ((self.start(y) - self.standard, self.daylight), (self.end(y) - self.daylight, self.standard))
        )
        eras = (LAST_INSTANT - since) // _ERA + 2
        instants = [instant + era * _ERA for era in range(eras) for instant, _ in cycle]
        offsets = [offset for _, offset in cycle] * eras
        inside = slice(bisect_right(instants, since), bisect_right(instants, LAST_INSTANT))
        return instants[inside], offsets[inside]


_ZONE_NAME = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)"
_CLOCK = r"[+-]?\d{1,3}(?::\d\d){0,2}"
_DAY = r"(?:M\d{1,2}\.[1-5]\.[0-6]|J?\d{1,3})"
_RULE = re.compile(
    rf"{_ZONE_NAME}(?P<standard>{_CLOCK})"
    rf"(?:{_ZONE_NAME}(?P<daylight>{_CLOCK})?"
    rf",(?P<start>{_DAY})(?:/(?P<start_time>{_CLOCK}))?,(?P<end>{_DAY})(?:/(?P<end_time>{_CLOCK}))?)?",
    re.ASCII,
)


_Recorded = tuple[int, list[tuple[int, int]], Rule | None]
"""A file's first offset, its changes (when, and to which offset), and the rule for what follows."""


def parse_rule(text: str) -> Rule:
    """`EST5EDT,M3.2.0,M11.1.0`; ValueError where it isn't such a rule."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError("not a POSIX time zone rule")
    standard = -_clock(match["standard"])  # POSIX counts west of Greenwich
    if match["start"] is None:
        return Rule(standard, None, partial(_fixed, 0), partial(_fixed, 0))
    daylight = standard + 3600 * SECOND if match["daylight"] is None else -_clock(match["daylight"])
    start = _yearly(match["start"], _clock(match["start_time"] or "2"))
    end = _yearly(match["end"], _clock(match["end_time"] or "2"))
    return Rule(standard, daylight, start, end)


def _clock(text: str) -> int:
    """`-1:30` in microseconds."""
    hours, minutes, seconds, *_ = (*(int(part) for part in text.lstrip("+-").split(":")), 0, 0)
    total = (hours * 3600 + minutes * 60 + seconds) * SECOND
    return -total if text.startswith("-") else total


def _yearly(day: str, clock: int) -> Callable[[int], int]:
    if day.startswith("M"):
        month, week, weekday = (int(part) for part in day[1:].split("."))
        return partial(_weekday_in_month, month, week, (weekday + 6) % 7, clock)
    if day.startswith("J"):
        return partial(_day_without_leap, int(day[1:]), clock)
    return partial(_day_of_year, int(day), clock)


def _fixed(local: int, year: int) -> int:
    return local


def _weekday_in_month(month: int, week: int, weekday: int, clock: int, year: int) -> int:
    """The week-th such weekday (0 is Monday) of the month; the fifth is the last, even of four."""
    first = days_from_civil(year, month, 1)
    day = (weekday - weekday_of_days(first)) % 7 + 7 * (week - 1)
    return (first + (day if day < days_in_month(year, month) else day - 7)) * DAY + clock


def _day_without_leap(day: int, clock: int, year: int) -> int:
    """1 to 365; the leap day has no number."""
    return (days_from_civil(year, 1, 1) + day - 1 + (day >= 60 and is_leap(year))) * DAY + clock


def _day_of_year(day: int, clock: int, year: int) -> int:
    """0 to 365, the leap day counted."""
    return (days_from_civil(year, 1, 1) + day) * DAY + clock
