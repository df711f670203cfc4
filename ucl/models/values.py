"""Values of programs as Python has them, and what Python callers give as JSON has it.

In and out: an int 3 is a weekday in a program and `"thu"` in Python; a datetime is microseconds there and an aware
`datetime` here. `plain` goes the other way, as far as what reads a context from a file needs to read it from a caller.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, assert_never
from zoneinfo import ZoneInfo

from ucl.semantics import types as t
from ucl.semantics.program import Value
from ucl.semantics.values import iso
from ucl.semantics.zones import Zone

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MIDNIGHT = dt.datetime(1970, 1, 1)
_DEEPEST = 100


def to_python(value: Value, type: t.Type, zone: Zone | None) -> Any:
    """The Python value: `date`, `time`, aware `datetime` in `zone` (UTC for None), `timedelta`, frozenset, dict.

    Weekdays are their names, quantities floats in the base unit, what is absent None.
    """
    if value is None:
        return None
    match type:
        case t.Bool() | t.Int() | t.Float() | t.Quantity() | t.Text() | t.Closed():
            return value
        case t.Weekday():
            return iso.WEEKDAYS[_int(value)]
        case t.Date():
            return dt.date(1970, 1, 1) + dt.timedelta(days=_int(value))
        case t.Time():
            return (_MIDNIGHT + dt.timedelta(microseconds=_int(value))).time()
        case t.DateTime():
            return instant_to_python(_int(value), zone)
        case t.Duration():
            return dt.timedelta(microseconds=_int(value))
        case t.Set(element):
            assert isinstance(value, frozenset)
            return frozenset(v if element is None else to_python(v, element, zone) for v in value)
        case t.Record(schema):
            assert isinstance(value, Mapping)
            return {f.name: to_python(value[f.name], f.type, zone) for f in schema.fields}
        case t.List(element):
            assert isinstance(value, Iterable)
            return [to_python(record, element, zone) for record in value]
        case t.Optional(inner):
            return to_python(value, inner, zone)
        case t.Unknown():
            raise AssertionError("a checked program has no unknown types")
        case _:
            assert_never(type)


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def instant_to_python(instant: int, zone: Zone | None) -> dt.datetime:
    """An aware datetime in the zone; at the very ends of the calendar, where local time would leave it, in UTC."""
    utc = EPOCH + dt.timedelta(microseconds=instant)
    try:
        return utc if zone is None else utc.astimezone(ZoneInfo(zone.name))
    except OverflowError:
        return utc


def plain(value: Any, depth: int = 0) -> Any:
    """A caller's Python value in the terms of `semantics.values`: JSON, and Python's own dates, times and sets.

    Models (anything with `model_dump`) become objects, arrays and NumPy scalars lists and numbers. What lies `_DEEPEST`
    levels down is left as it is: no type goes so deep.
    """
    if depth > _DEEPEST:
        return value
    match value:
        case dt.datetime() if value != value:  # NaT
            return None
        case None | bool() | int() | float() | str() | dt.date() | dt.time() | dt.timedelta():
            return value
        case Mapping():
            return {str(key): plain(item, depth + 1) for key, item in value.items()}
        case frozenset() | set():
            return frozenset(plain(item, depth + 1) for item in value)
        case list() | tuple():
            return [plain(item, depth + 1) for item in value]
        case type():
            return value
        case _ if hasattr(value, "model_dump"):
            return plain(value.model_dump(), depth + 1)
        case _ if hasattr(value, "tolist"):
            return plain(value.tolist(), depth + 1)
        case _:
            return value
