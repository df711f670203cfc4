"""How raw values of the commonest types become a field's numbers, as Python.

In: a field. Out: for each type of raw values, exactly that type, an expression of `v`. It says what `values.read` says;
where it raises, or where its number lies outside of the field's ends, the value is for the general way. Raw values of
other types, such as texts, are for the general reader.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.program import Field
from ucl.semantics.types import SECOND

_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.timedelta(microseconds=1)
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_CLOCK = "(({v}.hour * 60 + {v}.minute) * 60 + {v}.second) * " + f"{SECOND}" + " + {v}.microsecond"
_READINGS: dict[type, dict[type, str]] = {
    t.Bool: {bool: "{v}"},
    t.Int: {int: "{v}"},
    t.Float: {float: "{v}", int: "float({v})"},
    t.Quantity: {float: "{v}", int: "float({v})"},
    t.Date: {dt.date: "{v}.toordinal() - " + f"{_EPOCH_DAY}"},
    t.Time: {dt.time: f"{_CLOCK} if {{v}}.tzinfo is None else None"},
    t.DateTime: {dt.datetime: "({v} - {epoch}) // {microsecond}"},
    t.Duration: {dt.timedelta: "{v} // {microsecond}"},
    t.Weekday: {},
}
_UNIT_READINGS: dict[type, dict[type, str]] = {
    # One product of doubles is rounded once; that of whole numbers not at all.
    t.Quantity: {float: "{v} * float({unit})", int: "float({v} * {unit})"},
    t.Duration: {int: "{v} * {unit}", dt.timedelta: "{v} // {microsecond}"},
}
_MOST_EXACT = 2**53


def readings(field: Field) -> tuple[Mapping[type, str], Mapping[str, Any]] | None:
    """The expressions, and what else they name. None where the field has no numbers, or its unit asks for fractions."""
    kind = type(t.present(field.type))
    if field.unit is None:
        found = _READINGS.get(kind)
        return None if found is None else (found, {"epoch": _EPOCH, "microsecond": _MICROSECOND})
    factor = field.unit.factor
    if factor.denominator != 1 or factor > _MOST_EXACT:
        return None
    return _UNIT_READINGS[kind], {"unit": factor.numerator, "microsecond": _MICROSECOND}


def as_clock(time: int) -> dt.time:
    """A time of day in microseconds as Python has it."""
    return (dt.datetime.min + dt.timedelta(microseconds=time)).time()
