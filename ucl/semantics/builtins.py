"""The one table of operators, local parts and functions: name, types, meaning, documentation.

In: nothing. Out: `OPERATORS`, `PARTS`, `FUNCTIONS` and `SPECIAL_FORMS`, read by the checker (types), the evaluator
(`run`), the kernels (`op`), the language reference and hover (`summary`, `example`). To add a builtin, add a row here
and its function in `operations`; a kernel that doesn't know its `op` falls back on `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ucl.frozen import frozen
from ucl.semantics import operations as ops
from ucl.semantics import types as t
from ucl.semantics.types import BOOL, DATE, DATETIME, DURATION, FLOAT, INT, TEXT, TIME, WEEKDAY, Type


@frozen
class Var:
    """Stands for one type of the listed kinds, the same wherever its name is used in a signature."""

    name: str
    kinds: tuple[type, ...]


@frozen
class SetOf:
    element: Var


Pattern = Type | Var | SetOf


@frozen
class Signature:
    """One overload. `op` names the operation for kernels; overloads that compute the same share it.

    `run(*values)` takes present values; where `zoned`, the call's `Zone` comes first. It returns None where a `partial`
    operation has no value, and raises `operations.Overflow` where the result leaves its type.
    """

    op: str
    parameters: tuple[Pattern, ...]
    result: Pattern
    run: Callable[..., Any]
    partial: bool = False
    zoned: bool = False

    def result_for(self, arguments: Sequence[Type]) -> Type | None:
        """The result's type for exactly these argument types (None where they don't fit; no widening here)."""
        bound: dict[str, Type] = {}
        if len(arguments) != len(self.parameters):
            return None
        for pattern, argument in zip(self.parameters, arguments, strict=True):
            if pattern is not argument and not _fits(pattern, argument, bound):
                return None
        result = _substitute(self.result, bound)
        return t.optional(result) if self.partial else result


def _fits(pattern: Pattern, argument: Type, bound: dict[str, Type]) -> bool:
    match pattern:
        case Var(name, kinds):
            return isinstance(argument, kinds) and bound.setdefault(name, argument) == argument
        case SetOf(element):
            if not isinstance(argument, t.Set):
                return False
            return argument.element is None or _fits(element, argument.element, bound)
        case _:
            return type(pattern) is type(argument) and pattern == argument


def _substitute(pattern: Pattern, bound: Mapping[str, Type]) -> Type:
    match pattern:
        case Var(name):
            return bound[name]
        case SetOf(element):
            return t.Set(bound.get(element.name))
        case _:
            return pattern


@frozen
class Builtin:
    name: str
    signatures: tuple[Signature, ...]
    summary: str
    example: str


@frozen
class SpecialForm:
    """A word that is called like a function and that the checker knows by itself."""

    name: str
    usage: str
    summary: str
    example: str


_Q = Var("Q", (t.Quantity,))
_NUMBER = Var("N", (t.Int, t.Float, t.Quantity, t.Duration))
_ORDERED = Var("O", (t.Int, t.Float, t.Quantity, t.Duration, t.Date, t.Time, t.DateTime))
_E = Var("E", (t.Text, t.Int, t.Weekday, t.Date))

OPERATORS: Mapping[str, tuple[Signature, ...]] = {
    "+": (
        Signature("add_int", (INT, INT), INT, ops.add_int),
        Signature("add_float", (FLOAT, FLOAT), FLOAT, ops.add_float),
        Signature("add_float", (_Q, _Q), _Q, ops.add_float),
        Signature("add_int", (DURATION, DURATION), DURATION, ops.add_int),
        Signature("add_instant", (DATETIME, DURATION), DATETIME, ops.add_instant),
        Signature("add_days", (DATE, DURATION), DATE, ops.add_days),
    ),
    "-": (
        Signature("sub_int", (INT, INT), INT, ops.sub_int),
        Signature("sub_float", (FLOAT, FLOAT), FLOAT, ops.sub_float),
        Signature("sub_float", (_Q, _Q), _Q, ops.sub_float),
        Signature("sub_int", (DURATION, DURATION), DURATION, ops.sub_int),
        Signature("sub_int", (DATETIME, DATETIME), DURATION, ops.sub_int),
        Signature("sub_instant", (DATETIME, DURATION), DATETIME, ops.sub_instant),
        Signature("sub_days", (DATE, DURATION), DATE, ops.sub_days),
        Signature("days_between", (DATE, DATE), DURATION, ops.days_between),
    ),
    "*": (
        Signature("mul_int", (INT, INT), INT, ops.mul_int),
        Signature("mul_float", (FLOAT, FLOAT), FLOAT, ops.mul_float),
        Signature("mul_float", (_Q, FLOAT), _Q, ops.mul_float),
        Signature("mul_float", (FLOAT, _Q), _Q, ops.mul_float),
        Signature("mul_int", (DURATION, INT), DURATION, ops.mul_int),
        Signature("mul_int", (INT, DURATION), DURATION, ops.mul_int),
        Signature("scale_duration", (DURATION, FLOAT), DURATION, ops.scale_duration),
        Signature("scale_duration_by", (FLOAT, DURATION), DURATION, ops.scale_duration_by),
    ),
    "/": (
        Signature("div_float", (FLOAT, FLOAT), FLOAT, ops.div_float, partial=True),
        Signature("div_float", (_Q, FLOAT), _Q, ops.div_float, partial=True),
        Signature("div_float", (_Q, _Q), FLOAT, ops.div_float, partial=True),
        Signature("div_duration", (DURATION, FLOAT), DURATION, ops.div_duration, partial=True),
        Signature("ratio_duration", (DURATION, DURATION), FLOAT, ops.ratio_duration, partial=True),
    ),
    "negate": (
        Signature("neg_int", (INT,), INT, ops.neg_int),
        Signature("neg_float", (FLOAT,), FLOAT, ops.neg_float),
        Signature("neg_float", (_Q,), _Q, ops.neg_float),
        Signature("neg_int", (DURATION,), DURATION, ops.neg_int),
    ),
}

# The only conversion that happens by itself: an int where a float is wanted.
WIDEN = Signature("to_float", (INT,), FLOAT, ops.to_float)

PARTS: Mapping[tuple[Type, str], Signature] = {
    (DATETIME, "date"): Signature("date_of", (DATETIME,), DATE, ops.date_of, zoned=True),
    (DATETIME, "time"): Signature("time_of", (DATETIME,), TIME, ops.time_of, zoned=True),
    (DATETIME, "weekday"): Signature("weekday_of", (DATETIME,), WEEKDAY, ops.weekday_of, zoned=True),
    (DATETIME, "year"): Signature("year_of", (DATETIME,), INT, ops.year_of, zoned=True),
    (DATETIME, "month"): Signature("month_of", (DATETIME,), INT, ops.month_of, zoned=True),
    (DATETIME, "day"): Signature("day_of", (DATETIME,), INT, ops.day_of, zoned=True),
    (DATETIME, "hour"): Signature("hour_of", (DATETIME,), INT, ops.hour_of, zoned=True),
    (DATETIME, "minute"): Signature("minute_of", (DATETIME,), INT, ops.minute_of, zoned=True),
    (DATE, "weekday"): Signature("date_weekday", (DATE,), WEEKDAY, ops.date_weekday),
    (DATE, "year"): Signature("date_year", (DATE,), INT, ops.date_year),
    (DATE, "month"): Signature("date_month", (DATE,), INT, ops.date_month),
    (DATE, "day"): Signature("date_day", (DATE,), INT, ops.date_day),
    (TIME, "hour"): Signature("time_hour", (TIME,), INT, ops.time_hour),
    (TIME, "minute"): Signature("time_minute", (TIME,), INT, ops.time_minute),
    (DURATION, "days"): Signature("duration_days", (DURATION,), FLOAT, ops.duration_days),
    (DURATION, "hours"): Signature("duration_hours", (DURATION,), FLOAT, ops.duration_hours),
    (DURATION, "minutes"): Signature("duration_minutes", (DURATION,), FLOAT, ops.duration_minutes),
    (DURATION, "seconds"): Signature("duration_seconds", (DURATION,), FLOAT, ops.duration_seconds),
}


def _text_test(name: str, run: Callable[..., bool], summary: str, example: str) -> Builtin:
    return Builtin(name, (Signature(name, (TEXT, TEXT), BOOL, run),), summary, example)


_ROWS = (
    _text_test("contains", ops.contains, "whether the second text stands in the first", 'contains(title, "standup")'),
    _text_test(
        "starts_with", ops.starts_with, "whether the first text begins with the second", 'starts_with(title, "Re:")'
    ),
    _text_test("ends_with", ops.ends_with, "whether the first text ends with the second", 'ends_with(sender, ".org")'),
    _text_test(
        "like",
        ops.like,
        r"whether the whole text matches a pattern, in which `*` is any run and `\*` is itself",
        'like(sender, "*@corp.example")',
    ),
    Builtin(
        "lower", (Signature("lower", (TEXT,), TEXT, ops.lower),), "the text in lower case", 'lower(title) == "sync"'
    ),
    Builtin(
        "casefold",
        (Signature("casefold", (TEXT,), TEXT, ops.casefold),),
        "the text folded for comparison without case, in any language",
        'casefold(title) == casefold("STRASSE")',
    ),
    Builtin(
        "length",
        (Signature("length", (TEXT,), INT, ops.length),),
        "how many code points a text has",
        "length(title) > 40",
    ),
    Builtin(
        "overlaps",
        (Signature("overlaps", (SetOf(_E), SetOf(_E)), BOOL, ops.overlaps),),
        "whether two sets have an element in common",
        "overlaps(attendees, vip)",
    ),
    Builtin(
        "subset",
        (Signature("subset", (SetOf(_E), SetOf(_E)), BOOL, ops.subset),),
        "whether every element of the first set is in the second",
        "subset(attendees, team)",
    ),
    Builtin(
        "size", (Signature("size", (SetOf(_E),), INT, ops.size),), "how many elements a set has", "size(attendees) > 8"
    ),
    Builtin(
        "abs",
        (
            Signature("abs_int", (INT,), INT, ops.abs_int),
            Signature("abs_float", (FLOAT,), FLOAT, ops.abs_float),
            Signature("abs_float", (_Q,), _Q, ops.abs_float),
            Signature("abs_int", (DURATION,), DURATION, ops.abs_int),
        ),
        "the distance from zero",
        "abs(delay) < 5min",
    ),
    Builtin(
        "min", (Signature("min", (_ORDERED, _ORDERED), _ORDERED, ops.least),), "the lesser of two", "min(price, 100USD)"
    ),
    Builtin(
        "max", (Signature("max", (_ORDERED, _ORDERED), _ORDERED, ops.greatest),), "the greater of two", "max(far, 1km)"
    ),
    Builtin(
        "clamp",
        (Signature("clamp", (_ORDERED, _ORDERED, _ORDERED), _ORDERED, ops.clamp),),
        "the first, held between the second and the third: max(lo, min(x, hi))",
        "clamp(stars, 1, 5)",
    ),
    Builtin(
        "floor", (Signature("floor", (FLOAT,), INT, ops.floor),), "the greatest int that is not above", "floor(rating)"
    ),
    Builtin("ceil", (Signature("ceil", (FLOAT,), INT, ops.ceil),), "the least int that is not below", "ceil(rating)"),
    Builtin(
        "round",
        (Signature("round", (FLOAT,), INT, ops.round_even),),
        "the nearest int, the even one of two",
        "round(rating)",
    ),
    Builtin(
        "ramp",
        (
            Signature("ramp_float", (FLOAT, FLOAT, FLOAT), FLOAT, ops.ramp_float),
            Signature("ramp_float", (_Q, _Q, _Q), FLOAT, ops.ramp_float),
            Signature("ramp_int", (DURATION, DURATION, DURATION), FLOAT, ops.ramp_int),
            Signature("ramp_int", (TIME, TIME, TIME), FLOAT, ops.ramp_int),
        ),
        "0 at the second, 1 at the third, linear between, flat outside; equal ends give 0 below and 1 from there on",
        "ramp(price, 20USD, 80USD)",
    ),
    Builtin(
        "near",
        (
            Signature("near_float", (FLOAT, FLOAT, FLOAT), FLOAT, ops.near_float),
            Signature("near_float", (_Q, _Q, _Q), FLOAT, ops.near_float),
            Signature("near_int", (DURATION, DURATION, DURATION), FLOAT, ops.near_int),
            Signature("near_int", (DATETIME, DATETIME, DURATION), FLOAT, ops.near_int),
            Signature("near_time", (TIME, TIME, DURATION), FLOAT, ops.near_time),
        ),
        "max(0, 1 - |x - target| / tolerance), times of day the short way round midnight",
        "near(start.time, 10:00, 90min)",
    ),
    Builtin(
        "at",
        (Signature("at", (DATE, TIME), DATETIME, ops.at, zoned=True),),
        "the instant of a day and a time in the call's zone",
        "at(start.date + 1d, 09:00)",
    ),
    Builtin(
        "next_weekday",
        (Signature("next_weekday", (DATE, WEEKDAY), DATE, ops.next_weekday),),
        "the first such weekday strictly after the date",
        "next_weekday(today, fri)",
    ),
    Builtin(
        "add_months",
        (Signature("add_months", (DATE, INT), DATE, ops.add_months),),
        "the same day some months on; a day past the month's end becomes its last day",
        "add_months(today, 1)",
    ),
    Builtin(
        "night_of",
        (Signature("night_of", (DATETIME,), WEEKDAY, ops.night_of, zoned=True),),
        "the weekday on which the night began: before 12:00 that of the day before",
        "night_of(start) == fri and start.time in 22:00..06:00",
    ),
)

FUNCTIONS: Mapping[str, Builtin] = {row.name: row for row in _ROWS}

SPECIAL_FORMS: Mapping[str, SpecialForm] = {
    form.name: form
    for form in (
        SpecialForm("present", "present(x)", "whether an optional value is there", "present(rating) and rating > 3"),
        SpecialForm("absent", "absent(x)", "whether an optional value is missing", "absent(place)"),
        SpecialForm("lowest", "lowest(x)", "whether this option has the least x of the choice set", "lowest(price)"),
        SpecialForm(
            "highest", "highest(x)", "whether this option has the greatest x of the choice set", "highest(stars)"
        ),
        SpecialForm(
            "rank_of",
            "rank_of(x)",
            "the option's place by x, from 1, the least first, ties sharing",
            "rank_of(price) <= 3",
        ),
        SpecialForm("mean_of", "mean_of(x)", "the mean of x over the choice set", "price < mean_of(price)"),
        SpecialForm(
            "count", "count(t in list where c)", "how many there are", "count(v in visits where v.place == place) > 3"
        ),
        SpecialForm(
            "any", "any(t in list where c)", "whether one is such", 'any(a in attendees where ends_with(a, ".org"))'
        ),
        SpecialForm(
            "all", "all(t in list where c)", "whether every one is such", 'all(a in attendees where contains(a, "@"))'
        ),
        SpecialForm("sum", "sum(e for t in list)", "the sum, 0 of none", "sum(t.cost for t in trips)"),
        SpecialForm(
            "mean",
            "mean(e for t in list)",
            "the sum divided by the count, absent of none",
            "mean(t.cost for t in trips) ?? 0.0",
        ),
        SpecialForm(
            "first",
            "first(e for t in list by k)",
            "the first in the order of the keys",
            "first(t.place for t in trips by t.start)",
        ),
        SpecialForm(
            "last",
            "last(e for t in list by k)",
            "the last in the order of the keys",
            "last(t.place for t in trips by t.start)",
        ),
        SpecialForm(
            "mode",
            "mode(e for t in list)",
            "the commonest value; of equals the one met first",
            "mode(t.place for t in trips)",
        ),
        SpecialForm(
            "distinct", "distinct(e for t in list)", "the set of the values", "distinct(t.place for t in trips)"
        ),
        SpecialForm(
            "frequent",
            "frequent(e for t in list, 25%)",
            "the values with at least that share",
            "place in frequent(t.place for t in trips, 25%)",
        ),
        SpecialForm("fires", "fires(r)", "whether the rule fires; in `expect` only", "expect fires(no_lunch)"),
        SpecialForm("applies", "applies(r)", "whether the rule applies; in `expect` only", "expect applies(no_lunch)"),
        SpecialForm(
            "contribution",
            "contribution(r)",
            "what the rule adds; in `expect` only",
            "expect contribution(no_lunch) < 0",
        ),
    )
}
