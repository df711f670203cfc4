"""Words of a command line as values: `--set busy=yes`, `uclc query P free 30min "mon;tue"`.

In: a word, and the type that it should have. Out: the value as JSON or Python has it, which a call reads; or a
`CommandError` that says how such a value is written. A word may always be JSON.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ucl.cli.output import CommandError
from ucl.semantics import types as t
from ucl.semantics.types import Type, Unit
from ucl.semantics.values import Unreadable, parse_value
from ucl.semantics.zones import Zone

_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_UNITS = {unit.name: unit for unit in t.DURATION_UNITS}
_LENGTH = re.compile(r"(\d[\d_]*(?:\.\d+)?)(w|d|h|min|ms|s)")
_LENGTHS = re.compile(rf"-?(?:{_LENGTH.pattern})+")


def value_of(word: str, type: Type, unit: Unit | None, what: str, parse: Callable[[str], Any] = json.loads) -> Any:
    """The value of `what`, which messages name; `unit` is that in which its numbers are given.

    `parse` reads JSON, and raises `ValueError` where the word is none.
    """
    kind = t.present(type)
    try:
        given = parse(word)
    except (ValueError, RecursionError):
        given = word
    if given is None:
        return None
    value = _value(word, given, kind, unit)
    if isinstance(kind, t.Record):
        return value
    try:
        parse_value(value, kind, unit, _UTC)
    except Unreadable:
        raise CommandError(f"{what} can't be read from `{word}`", f"write {_form(kind, unit)}") from None
    return value


def _value(word: str, given: Any, kind: Type, unit: Unit | None) -> Any:
    """`given` is the word as JSON, or the word where it is none."""
    match kind:
        case t.Text() | t.Closed():
            return given if isinstance(given, str) else word
        case t.Bool():
            return _BOOLS.get(word.strip().lower(), given)
        case t.Duration():
            return _length(word) if _LENGTHS.fullmatch(word) else given
        case t.Set(element) if not isinstance(given, list):
            cells = [cell.strip() for cell in word.split(";")]
            return [_element(cell, element) for cell in cells if cell]
        case _:
            return given


def _element(cell: str, element: Type | None) -> Any:
    return int(cell) if isinstance(element, t.Int) and re.fullmatch(r"-?\d+", cell) else cell


def _length(word: str) -> dt.timedelta:
    """A literal of the language: `1h30min`."""
    parts = _LENGTH.findall(word)
    total = sum((Fraction(amount.replace("_", "")) * _UNITS[unit].factor for amount, unit in parts), Fraction())
    try:
        return dt.timedelta(microseconds=round(-total if word.startswith("-") else total))
    except OverflowError:
        raise CommandError(f"`{word}` is longer than any length of time") from None


def _form(kind: Type, unit: Unit | None) -> str:
    """How a value of the type is written here."""
    match kind:
        case t.Bool():
            return "`true` or `false`"
        case t.Int():
            return "a whole number: `3`"
        case t.Float():
            return "a number: `0.5`"
        case t.Quantity(dimension):
            return f"the number of `{(unit or dimension.units[0]).name}`: `2.5`"
        case t.Duration():
            counted = "" if unit is None else f", or the number of `{unit.name}`"
            return f"a length of time: `90min`, `PT90M`{counted}"
        case t.Weekday():
            return "a day of the week: `mon`"
        case t.Date():
            return "a date: `2026-03-04`"
        case t.Time():
            return "a time: `13:00`"
        case t.DateTime():
            return "a date with a time: `2026-03-04T13:00`"
        case t.Set():
            return "its elements with `;` between them, or a JSON array"
        case _:
            return f"a value of the type `{kind}`"


def _utc() -> Zone:
    zone = Zone.load("UTC")
    assert zone is not None
    return zone


# Whether a word says a time does not depend on where.
_UTC = _utc()
