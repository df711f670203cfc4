"""From values to JSON and to text.

In: a value, its type, the call's zone. Out: JSON as INTERFACE §2 has it, the same as data that `score` reads, or the
text that an alert says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, assert_never

from ucl.semantics import types as t
from ucl.semantics.calendar import FIRST_INSTANT, LAST_INSTANT
from ucl.semantics.program import Field
from ucl.semantics.types import Type, Unit
from ucl.semantics.values import iso
from ucl.semantics.zones import Zone


def to_json(value: Any, type: Type, zone: Zone) -> Any:
    """Datetimes with the zone's offset, dates, times and durations in ISO 8601, sets as sorted arrays, quantities in
    the base unit, records by field name."""
    if value is None:
        return None
    match type:
        case t.Optional(inner):
            return to_json(value, inner, zone)
        case t.Bool() | t.Int() | t.Text() | t.Closed() | t.Unknown():
            return value
        case t.Float() | t.Quantity():
            return value + 0.0  # no minus before a zero
        case t.Weekday():
            return iso.WEEKDAYS[value]
        case t.Date():
            return iso.write_date(value)
        case t.Time():
            return iso.write_time(value)
        case t.DateTime():
            return _datetime(value, zone)
        case t.Duration():
            return iso.write_duration(value)
        case t.Set(element):
            return [item if element is None else to_json(item, element, zone) for item in sorted(value)]
        case t.Record(schema):
            return {field.name: to_json(value[field.name], field.type, zone) for field in schema.fields}
        case t.List(element):
            return [to_json(item, element, zone) for item in value]
        case _:
            assert_never(type)


def _datetime(instant: int, zone: Zone) -> str:
    """In UTC where the zone's own date would leave the years 1 to 9999."""
    offset = zone.offset(instant)
    if not FIRST_INSTANT <= instant + offset <= LAST_INSTANT:
        offset = 0
    return iso.write_datetime(instant + offset, offset)


def to_text(value: Any, type: Type, zone: Zone) -> str:
    """As an alert says it; nothing for what is absent."""
    shown = to_json(value, type, zone)
    match shown:
        case None:
            return ""
        case bool():
            return "true" if shown else "false"
        case float():
            return repr(shown).removesuffix(".0")  # as scores are shown
        case list():
            return ", ".join(str(item) for item in shown)
        case _:
            return str(shown)


def to_data(record: Mapping[str, Any], fields: Iterable[Field], zone: Zone) -> dict[str, Any]:
    """A record as data that `read_record` reads back: by column, numbers in the field's unit, without the absent."""
    return {column: value for column, value in _data(record, fields, zone, to_data) if value is not None}


def to_echo(record: Mapping[str, Any], fields: Iterable[Field], zone: Zone) -> dict[str, Any]:
    """The same with null for what is absent, so that every record of a schema shows the same keys."""
    return dict(_data(record, fields, zone, to_echo))


_WriteRecord = Callable[[Mapping[str, Any], Iterable[Field], Zone], dict[str, Any]]


def _data(
    record: Mapping[str, Any], fields: Iterable[Field], zone: Zone, inner: _WriteRecord
) -> Iterator[tuple[str, Any]]:
    """Each field's column and value; `inner` writes the records within."""
    for field in fields:
        value, type = record[field.name], t.present(field.type)
        if value is None:
            yield field.column, None
        elif isinstance(type, t.Record):
            yield field.column, inner(value, type.schema.fields, zone)
        elif field.unit is not None:
            in_unit = _duration_in_unit if isinstance(type, t.Duration) else _in_unit
            yield field.column, in_unit(value, field.unit)
        else:
            yield field.column, to_json(value, type, zone)


def _in_unit(value: float, unit: Unit) -> float:
    """The number of units nearest to the value; an int where it is whole."""
    amount = Fraction(value) / unit.factor
    return int(amount) if amount.denominator == 1 else float(amount)


def _duration_in_unit(duration: int, unit: Unit) -> float | str:
    """As ISO 8601 has it where no double gives the same microseconds back."""
    amount = _in_unit(duration, unit)
    return amount if round(Fraction(amount) * unit.factor) == duration else iso.write_duration(duration)
