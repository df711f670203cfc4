"""Regions as conditions of the language: what stands in a `given`, or in a rule's `when`.

In: conditions on subjects, whose fields a schema has. Out: text that the checker takes, without names from elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from ucl.facts.regions import (
    Absent,
    Among,
    Between,
    Condition,
    Given,
    Interval,
    Matches,
    Number,
    Overlaps,
    Region,
    Subject,
    Values,
)
from ucl.semantics import types as t
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.values import iso

_OPPOSITE = {"==": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def region_text(region: Region, but: Sequence[Region] = (), shared: frozenset[str] = frozenset()) -> str:
    """The conjunction of a region's conditions, without those of other regions.

    `shared` are names that both the option and the context have, which must be told apart.
    """
    parts = [condition_text(subject, condition, shared) for subject, condition in region.items()]
    there = frozenset(subject.path for subject, condition in region.items() if not isinstance(condition, Absent))
    parts += [_outside(other, shared, there) for other in but]
    return " and ".join(parts)


def _outside(region: Region, shared: frozenset[str], there: frozenset[tuple[str, ...]]) -> str:
    """`there` are fields that are known to be present, which is not asked again."""
    known = {replace(s, optional=s.optional and s.path not in there): condition for s, condition in region.items()}
    if len(known) == 1:
        ((subject, condition),) = known.items()
        return negated_text(subject, condition, shared)
    return f"not ({region_text(known, shared=shared)})"


def condition_text(subject: Subject, condition: Condition, shared: frozenset[str] = frozenset()) -> str:
    """What is so; of an optional field also that it is there. Binds at least as tightly as `and`."""
    name = _name(subject, shared)
    if isinstance(condition, Absent | Given):
        return f"{'absent' if isinstance(condition, Absent) else 'present'}({name})"
    text = _positive(name, subject, condition)
    return f"present({_path(subject, shared)}) and {text}" if subject.optional else text


def negated_text(subject: Subject, condition: Condition, shared: frozenset[str] = frozenset()) -> str:
    """What is so elsewhere."""
    name = _name(subject, shared)
    if isinstance(condition, Absent | Given):
        return f"{'present' if isinstance(condition, Absent) else 'absent'}({name})"
    text = _negative(name, subject, condition)
    return f"(absent({_path(subject, shared)}) or {text})" if subject.optional else text


def _path(subject: Subject, shared: frozenset[str]) -> str:
    path = ".".join(subject.path)
    return f"{subject.place}.{path}" if subject.path[0] in shared else path


def _name(subject: Subject, shared: frozenset[str]) -> str:
    path = _path(subject, shared)
    match subject.part:
        case "size":
            return f"size({path})"
        case "words":
            return f"casefold({path})"
        case "":
            return path
        case part:
            return f"{path}.{part}"


def _positive(name: str, subject: Subject, condition: Condition) -> str:
    type = subject.compared
    match condition:
        case Between(intervals):
            return _between(name, intervals, type, negated=False)
        case Among(values, outside):
            return _among(name, values, type, negated=outside)
        case Overlaps(names, outside):
            return f"{'not ' if outside else ''}overlaps({name}, {_set(names, type)})"
        case Matches():
            return _matches(name, condition, subject)
        case Absent() | Given():
            raise AssertionError("what is there is told before")
        case _:
            assert_never(condition)


def _negative(name: str, subject: Subject, condition: Condition) -> str:
    type = subject.compared
    match condition:
        case Between(intervals):
            return _between(name, intervals, type, negated=True)
        case Among(values, outside):
            return _among(name, values, type, negated=not outside)
        case Overlaps(names, outside):
            return f"{'' if outside else 'not '}overlaps({name}, {_set(names, type)})"
        case _:
            return f"not {_positive(name, subject, condition)}"


def _matches(name: str, condition: Matches, subject: Subject) -> str:
    """Words are looked for without regard to case, by the builtin that the name holds already."""
    text = condition.text.casefold() if subject.part == "words" else condition.text
    return f"{condition.how}({name}, {_quoted(text)})"


def _among(name: str, values: Values, type: t.Type, negated: bool) -> str:
    if isinstance(type, t.Bool):
        wanted = True in values
        return name if wanted != negated else f"not {name}"
    if len(values) == 1:
        (value,) = values
        return f"{name} {'!=' if negated else '=='} {value_text(value, type)}"
    return f"{name} {'not in' if negated else 'in'} {_days(values) or _set(values, type)}"


def _days(values: Values) -> str | None:
    """Three days or more in a row as a range."""
    days = {value for value in values if isinstance(value, int)}
    starts = [day for day in days if (day - 1) % 7 not in days]
    if len(days) < 3 or len(starts) != 1 or len(days) != len(values):
        return None
    return f"{iso.WEEKDAYS[starts[0]]}..={iso.WEEKDAYS[(starts[0] + len(days) - 1) % 7]}"


def _set(values: Values, type: t.Type) -> str:
    element = type.element if isinstance(type, t.Set) and type.element is not None else type
    listed: Sequence[str | int] = element.values if isinstance(element, t.Closed) else sorted(values)
    ordered = [value for value in listed if value in values]
    return "{" + ", ".join(value_text(value, element) for value in ordered) + "}"


# --- ranges ---------------------------------------------------------------------------------------------------------


def _between(name: str, intervals: Sequence[Interval], type: t.Type, negated: bool) -> str:
    whole = _round_midnight(intervals, type)
    if whole is not None or len(intervals) == 1:
        return _interval(name, whole or intervals[0], type, negated)
    joined = " or ".join(_parted(_interval(name, each, type, negated=False)) for each in intervals)
    return f"not ({joined})" if negated else f"({joined})"


def _parted(text: str) -> str:
    return f"({text})" if " and " in text else text


def _round_midnight(intervals: Sequence[Interval], type: t.Type) -> Interval | None:
    """`22:00..06:00`, where two intervals are one that runs through midnight."""
    if not isinstance(type, t.Time) or len(intervals) != 2:
        return None
    late, early = sorted(intervals, key=lambda each: -each.low)
    if late.high != DAY or early.low != 0 or not late.low_in or early.high_in:
        return None
    return Interval(late.low, early.high)


def _interval(name: str, interval: Interval, type: t.Type, negated: bool) -> str:
    least, most = (0, DAY) if isinstance(type, t.Time) else (-math.inf, math.inf)
    low, high = interval.low, interval.high
    opens, closes = low == least and low < high, high == most and low < high
    if low == high:
        return f"{name} {'!=' if negated else '=='} {value_text(low, type)}"
    if opens and closes:
        return "false" if negated else "true"
    if opens or closes:
        end = high if opens else low
        sign = ("<=" if interval.high_in else "<") if opens else (">=" if interval.low_in else ">")
        return f"{name} {_OPPOSITE[sign] if negated else sign} {value_text(end, type)}"
    if not interval.low_in:
        text = (
            f"{name} > {value_text(low, type)} and {name} {'<=' if interval.high_in else '<'} {value_text(high, type)}"
        )
        return f"not ({text})" if negated else text
    dots = "..=" if interval.high_in else ".."
    return f"{name} {'not in' if negated else 'in'} {value_text(low, type)}{dots}{value_text(high, type)}"


# --- values ---------------------------------------------------------------------------------------------------------


def value_text(value: str | Number | bool, type: t.Type) -> str:
    """A literal of the type."""
    if isinstance(value, str):
        return _quoted(value)
    match type:
        case t.Bool():
            return "true" if value else "false"
        case t.Weekday():
            return iso.WEEKDAYS[int(value)]
        case t.Time():
            return time_text(int(value))
        case t.Date():
            return iso.write_date(int(value))
        case t.Duration():
            return duration_text(int(value))
        case t.Quantity(dimension):
            return f"{_decimal(value)}{dimension.units[0].name}"
        case t.Float():
            return _decimal(value)
        case _:
            return str(value)


def time_text(time: int) -> str:
    return (
        "24:00"
        if time == DAY
        else iso.write_time(time).removesuffix(":00")
        if time % MINUTE == 0
        else iso.write_time(time)
    )


def duration_text(duration: int) -> str:
    """In the largest unit that leaves no fraction, but no days: people say 90 minutes and 24 hours."""
    units: Mapping[str, int] = {"h": HOUR, "min": MINUTE, "s": SECOND}
    name = next((unit for unit, factor in units.items() if duration % factor == 0), "ms")
    return f"{duration // units.get(name, SECOND // 1000)}{name}"


def _decimal(value: Number) -> str:
    """Without an exponent."""
    text = repr(float(value))
    if "e" not in text:
        return text
    exact = Fraction(text)
    return f"{float(exact):.17f}".rstrip("0") if abs(exact) < 1 else f"{exact.numerator // exact.denominator}.0"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
