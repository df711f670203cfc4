"""Days and times of day that objects name, in English and Chinese. Parts of the day are those of `std.dayparts`.

In: a phrase, and the field of a datetime, a time or a weekday that it is about. Out: conditions on its time, its
weekday, its date, or several of them; `Unread` with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from ucl.diagnostics import Report, Source
from ucl.facts.objects import clocks, words
from ucl.facts.objects.clocks import Unread
from ucl.facts.objects.ordered import one_ended, ordered, read_date
from ucl.facts.objects.phrases import Named, Reading, nothing, pairs, split, stripped
from ucl.facts.regions import Among, Between, Condition, Interval, Subject, without
from ucl.resources import stdlib_source
from ucl.semantics import types as t
from ucl.semantics.operations import MINUTE
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.syntax import ast
from ucl.syntax.parse import parse


def of_moment(phrase: str, subject: Subject, part: str) -> Reading:
    """Of a time or a weekday alone."""
    reading = moment(phrase, replace(subject, part=""))
    if isinstance(reading, Unread):
        return reading
    if [each.part for each, _ in reading.conditions] != [part]:
        return nothing(phrase, subject)
    return Named(((subject, reading.conditions[0][1]),), reading.turned)


def moment(phrase: str, subject: Subject) -> Reading:
    """Days, times of day, or both: `friday afternoons`, `周二和周四上午`."""
    at, on, date = (replace(subject, part=part) for part in ("time", "weekday", "date"))
    negated = phrase.removeprefix("not ").removeprefix("no ").removeprefix("非")
    if (days := _weekdays(phrase)) is not None:
        return Named(((on, days),))
    if (part := _daypart(phrase)) is not None:
        return Named(((on if isinstance(part, Among) else at, part),))
    if negated != phrase and ((days := _weekdays(negated)) is not None or isinstance(_daypart(negated), Among)):
        inside = days or _daypart(negated)
        others = None if inside is None else without(inside, t.Weekday())
        return nothing(phrase, subject) if others is None else Named(((on, others),))
    for text in stripped(phrase):
        times = _times(text, at)
        if times is not None:
            return times
    if iso.read_date(phrase) is not None:
        return ordered(phrase, date, read_date)
    return _day_and_time(phrase, subject, on) or nothing(phrase, subject)


def _day_and_time(phrase: str, subject: Subject, on: Subject) -> Reading | None:
    """What is left beside the days is a time."""
    for cut in range(1, len(phrase)):
        for day, time in ((phrase[:cut], phrase[cut:]), (phrase[cut:], phrase[:cut])):
            days = _weekdays(day.strip(" ,的"))
            if days is None or not time.strip():
                continue
            rest = moment(time.strip(" ,的"), subject)
            if isinstance(rest, Named) and not rest.turned and [s.part for s, _ in rest.conditions] == ["time"]:
                return Named(((on, days), *rest.conditions))
    return None


def _times(phrase: str, at: Subject) -> Reading | None:
    """A range of times, one with an end alone, or the minute that a time names."""
    for first, second in pairs(phrase):
        found = clocks.read_times(first, second)
        if isinstance(found, Unread):
            return found
        if found is not None:
            low, high = found
            if low == high:
                return Unread(f"`{phrase}` is empty")
            return Named(((at, _clock_range(low, high)),))
    reading = one_ended(phrase, at, clocks.read_time)
    if reading is not None:
        return reading
    found_time = clocks.read_time(phrase)
    if isinstance(found_time, int):
        minute = found_time % DAY
        return Named(((at, Between((Interval(minute, minute + MINUTE),))),))
    return found_time


def _clock_range(low: int, high: int) -> Between:
    if low < high:
        return Between((Interval(low, high),))
    return Between(tuple(each for each in (Interval(low, DAY), Interval(0, high)) if not each.empty))


@cache
def _dayparts() -> Mapping[str, Condition]:
    """The lets of `std.dayparts`."""
    shipped = stdlib_source("std.dayparts")
    assert shipped is not None
    found: dict[str, Condition] = {}
    for declared in parse(Source(*shipped), Report()).declarations:
        match declared:
            case ast.Let(name=name, value=ast.Range(low=ast.TimeLiteral() as low, high=ast.TimeLiteral() as high)):
                found[name.text] = _clock_range(low.value, high.value)
            case ast.Let(
                name=name, value=ast.Range(low=ast.WeekdayLiteral() as low, high=ast.WeekdayLiteral() as high)
            ):
                found[name.text] = Among(frozenset(_week(low.value, high.value)))
            case ast.Let(name=name, value=ast.SetLiteral(elements=elements)):
                days = [each.value for each in elements if isinstance(each, ast.WeekdayLiteral)]
                found[name.text] = Among(frozenset(days))
            case _:
                pass
    return found


def _daypart(phrase: str) -> Condition | None:
    for text in stripped(phrase):
        for form in (text, text.removesuffix("s")):
            name = words.DAYPARTS.get(form, form.replace(" ", "_"))
            if name in _dayparts():
                return _dayparts()[name]
    return None


def _weekdays(phrase: str) -> Among | None:
    """`fri`, `tuesdays and thursdays`, `monday to friday`, `周二和周四`."""
    phrase = phrase.removeprefix("on ").removeprefix("每").strip()
    for first, second in pairs(phrase):
        start, stop = _weekday(first), _weekday(second)
        if start is not None and stop is not None:
            return Among(frozenset(_week(start, stop)))
    found = [_weekday(each) for each in split(phrase, words.ALTERNATIVES)]
    days = [day for day in found if day is not None]
    return Among(frozenset(days)) if days and len(days) == len(found) else None


def _weekday(phrase: str) -> int | None:
    phrase = phrase.strip()
    return words.WEEKDAYS.get(phrase, words.WEEKDAYS.get(phrase.removesuffix("s")))


def _week(first: int, last: int) -> list[int]:
    return [(first + day) % 7 for day in range((last - first) % 7 + 1)]
