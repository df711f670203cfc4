"""Values in an order that objects name: numbers, amounts, lengths of time and dates.

In: a phrase, the field that it is about, what reads one value of its type. Out: a condition for a value, a range, or
what is on one side of an end; `Unread` with the reason.
"""

from __future__ import annotations

from fractions import Fraction

from ucl.facts.model import FIRST_DAY, LAST_DAY
from ucl.facts.objects import clocks, words
from ucl.facts.objects.clocks import Reader, Unread
from ucl.facts.objects.phrases import Named, Reading, begins, nothing, pairs, stripped
from ucl.facts.regions import Between, Interval, Number, Subject
from ucl.semantics import types as t
from ucl.semantics.types import DAY
from ucl.semantics.values import iso

_INFINITE = float("inf")


def ordered(phrase: str, subject: Subject, read: Reader) -> Reading:
    """A value, a range of values, or one with an end alone."""
    for text in stripped(phrase):
        for first, second in pairs(text):
            low, high = _shared_unit(first, second, read), read(second)
            if isinstance(low, int | Fraction) and isinstance(high, int | Fraction):
                interval = Interval(exact(low), exact(high), True, True)
                return Unread(f"`{phrase}` is empty") if interval.empty else Named(((subject, Between((interval,))),))
        if (reading := one_ended(text, subject, read)) is not None:
            return reading
        value = read(text)
        if isinstance(value, int | Fraction):
            return Named(((subject, Between((Interval(exact(value), exact(value), True, True),))),))
    return nothing(phrase, subject)


def _shared_unit(first: str, second: str, read: Reader) -> int | Fraction | Unread | None:
    """Of `30-60 minutes` the first has the unit of the second."""
    value = read(first)
    unit = second.lstrip("0123456789. ")
    return read(f"{first} {unit}") if value is None and unit and unit != second else value


def one_ended(phrase: str, subject: Subject, read: Reader) -> Reading | None:
    """`not after 17:00`, `over an hour`, `晚上十点以后`; None where nothing of that kind is said."""
    told = [(sign, turned, phrase[len(w) :]) for w, sign, turned in words.BEFORE if begins(phrase, w)]
    told += [(sign, False, phrase[: -len(w)]) for w, sign in words.AFTER if phrase.endswith(w)]
    for sign, turned, rest in told:
        value = read(rest.strip())
        if isinstance(value, Unread):
            return value
        if value is not None:
            interval = _open(exact(value), sign, subject.compared)
            if interval.empty:
                return Unread(f"`{phrase}` is empty")
            return Named(((subject, Between((interval,))),), turned)
    return None


def _open(end: Number, sign: str, type: t.Type) -> Interval:
    least, most = (0, DAY) if isinstance(type, t.Time) else (-_INFINITE, _INFINITE)
    return Interval(end, most, sign == ">=") if sign[0] == ">" else Interval(least, end, True, sign == "<=")


def exact(value: int | Fraction) -> Number:
    return int(value) if value == int(value) else float(value)


def read_int(phrase: str) -> int | None:
    number = clocks.read_number(phrase)
    return None if number is None or number.denominator != 1 else int(number)


def read_date(phrase: str) -> int | None:
    day = iso.read_date(phrase)
    return day if day is not None and FIRST_DAY <= day < LAST_DAY else None


def read_quantity(phrase: str, type: t.Quantity) -> Fraction | None:
    """A number with a unit of the dimension, in the base unit."""
    for unit in type.dimension.units:
        name = unit.name.casefold()
        number = clocks.read_number(phrase.removesuffix(name)) if phrase.endswith(name) else None
        if number is not None:
            return number * Fraction(unit.factor)
    return None
