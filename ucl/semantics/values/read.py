"""From JSON to values and records.

In: what `json` reads (or Python's own date, time, datetime, timedelta and sets), a type or a schema's fields, the
call's zone. Out: a value as `semantics.program` describes it, or `Unreadable`; a record, or the first wrong field as
`Invalid`.
"""

from __future__ import annotations

import datetime as dt
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.calendar import days_from_civil
from ucl.semantics.expressions import Budget, Frame, evaluate, in_range
from ucl.semantics.operations import INT_MAX, INT_MIN, Overflow, checked_instant
from ucl.semantics.outcome import Call, Invalid, Reason
from ucl.semantics.program import Expr, Field, RangeDomain, Value
from ucl.semantics.types import SECOND, Type, Unit
from ucl.semantics.values import iso
from ucl.semantics.zones import Zone

_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


class Unreadable(ValueError):  # noqa: N818 - it is a row's fate, not a mistake of ours
    """The data do not say a value of the type."""


def is_absent(raw: object) -> bool:
    """null, and the NaN that stands for it in data."""
    return raw is None or (isinstance(raw, float) and math.isnan(raw))


# --- one value ------------------------------------------------------------------------------------------------------


def parse_value(raw: object, type: Type, unit: Unit | None, zone: Zone) -> Any:
    """The value that is there, of a scalar or a set; raises `Unreadable`. Absent data are for the caller.

    `unit` is that in which numbers are given: the exact product is rounded once. ISO text is a duration with or
    without one, a number only with one.
    Whether closed text is one of its values is the domain's matter.
    """
    match type:
        case t.Optional(inner):
            return parse_value(raw, inner, unit, zone)
        case t.Bool():
            return _expect(raw, bool)
        case t.Int():
            return _int(raw)
        case t.Float():
            return _float(raw)
        case t.Text() | t.Closed():
            return _text(raw)
        case t.Weekday():
            return _weekday(raw)
        case t.Date():
            return _date(raw)
        case t.Time():
            return _time(raw)
        case t.DateTime():
            return _instant(raw, zone)
        case t.Duration():
            return _duration(raw, unit)
        case t.Quantity():
            return _quantity(raw, unit)
        case t.Set(element):
            return _set(raw, element, zone)
        case _:
            raise Unreadable


def _expect(raw: object, kind: type) -> Any:
    if isinstance(raw, kind):
        return raw
    raise Unreadable


def _given(value: int | None) -> int:
    if value is None:
        raise Unreadable
    return value


def _int(raw: object) -> int:
    """5 and 5.0 are the int 5."""
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int) or not INT_MIN <= raw <= INT_MAX:
        raise Unreadable
    return raw


def _number(raw: object) -> int | float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, float) and not math.isfinite(raw)):
        raise Unreadable
    return raw


def _double(number: float | Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        raise Unreadable from None


def _float(raw: object) -> float:
    return _double(_number(raw))


def _quantity(raw: object, unit: Unit | None) -> float:
    number = _number(raw)
    return _double(number if unit is None else Fraction(number) * unit.factor)


def _text(raw: object) -> str:
    """NFC. Half of a surrogate pair is no text."""
    text: str = _expect(raw, str)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unreadable from None
    return unicodedata.normalize("NFC", text)


def _weekday(raw: object) -> int:
    if raw not in iso.WEEKDAYS:
        raise Unreadable
    return iso.WEEKDAYS.index(raw)


def _date(raw: object) -> int:
    if isinstance(raw, dt.date) and not isinstance(raw, dt.datetime):
        return days_from_civil(raw.year, raw.month, raw.day)
    return _given(iso.read_date(_expect(raw, str)))


def _time(raw: object) -> int:
    if isinstance(raw, dt.time) and raw.tzinfo is None:
        return ((raw.hour * 60 + raw.minute) * 60 + raw.second) * SECOND + raw.microsecond
    return _given(iso.read_time(_expect(raw, str)))


def _instant(raw: object, zone: Zone) -> int:
    if not isinstance(raw, dt.datetime):
        clock = iso.read_datetime(_expect(raw, str))
        if clock is None:
            raise Unreadable
        local, offset = clock
        instant = zone.instant(local).instant if offset is None else local - offset
    elif raw.utcoffset() is None:
        instant = zone.instant((raw.replace(tzinfo=None) - _EPOCH) // _MICROSECOND).instant
    else:
        instant = (raw - _EPOCH_UTC) // _MICROSECOND
    try:
        return checked_instant(instant)
    except Overflow:
        raise Unreadable from None


def _duration(raw: object, unit: Unit | None) -> int:
    if isinstance(raw, dt.timedelta):
        microseconds = raw // _MICROSECOND
    elif unit is None or isinstance(raw, str):
        microseconds = _given(iso.read_duration(_expect(raw, str)))
    else:
        microseconds = round(Fraction(_number(raw)) * unit.factor)
    if not INT_MIN <= microseconds <= INT_MAX:
        raise Unreadable
    return microseconds


def _set(raw: object, element: Type | None, zone: Zone) -> frozenset[Any]:
    if not isinstance(raw, list | tuple | set | frozenset):
        raise Unreadable
    if element is None:
        raise Unreadable
    return frozenset(parse_value(item, element, None, zone) for item in raw)


# --- domains --------------------------------------------------------------------------------------------------------


def check_domain(value: Any, field: Field, zone: Zone) -> bool:
    """Whether a value that is there lies in its field's domain, and a closed text in its list."""
    if not _listed(value, t.present(field.type)):
        return False
    match field.domain:
        case None:
            return True
        case RangeDomain(low, high, inclusive, wraps):
            first = None if low is None else constant(low, zone)
            last = None if high is None else constant(high, zone)
            return in_range(value, first, last, inclusive, wraps)
        case domain:
            return value in domain.values


def _listed(value: Any, type: Type) -> bool:
    match type:
        case t.Closed(values):
            return value in values
        case t.Set(t.Closed(values)):
            return all(item in values for item in value)
        case _:
            return True


def constant(expr: Expr, zone: Zone) -> Any:
    """The value of a default or of a domain's end, which depends on nothing but the zone."""
    return evaluate(expr, Frame(Call(zone, now=0, today=0), Budget()))


# --- records --------------------------------------------------------------------------------------------------------


def read_record(
    data: Mapping[str, Any], fields: Iterable[Field], zone: Zone, path: tuple[str, ...] = ()
) -> dict[str, Value] | Invalid:
    """A value for every field, by its column or its default; or the first field in schema order that is wrong.

    `path` is where the record stands in an outer one. Keys that no field names are left alone.
    """
    record: dict[str, Value] = {}
    for field in fields:
        value = read_field(data.get(field.column), field, zone, (*path, field.name))
        if isinstance(value, Invalid):
            return value
        record[field.name] = value
    return record


def record_reader(fields: Sequence[Field], zone: Zone) -> Callable[[Mapping[str, Any]], dict[str, Value] | Invalid]:
    """`read_record` for many records of one schema: what is the field's value as it stands is not looked at twice."""
    quick = [(field, field.name, field.column, _stands(field)) for field in fields]

    def read(data: Mapping[str, Any]) -> dict[str, Value] | Invalid:
        record: dict[str, Value] = {}
        for field, name, column, stands in quick:
            raw = data.get(column)
            value = raw if stands(raw) else read_field(raw, field, zone, (name,))
            if isinstance(value, Invalid):
                return value
            record[name] = value
        return record

    return read


def _stands(field: Field) -> Callable[[Any], bool]:
    """A test that holds only of what `read_field` would give back unchanged; it need not know all of it."""
    match t.present(field.type):
        case _ if field.domain is not None or field.unit is not None:
            return lambda raw: False
        case t.Bool():
            return lambda raw: raw is True or raw is False
        case t.Int():
            return lambda raw: type(raw) is int and INT_MIN <= raw <= INT_MAX
        case t.Float() | t.Quantity():
            return lambda raw: type(raw) is float and math.isfinite(raw)
        case t.Text():
            return lambda raw: type(raw) is str and raw.isascii()
        case t.Closed(values):
            listed = frozenset(values)
            return lambda raw: type(raw) is str and raw.isascii() and raw in listed
        case _:
            return lambda raw: False


def read_field(raw: Any, field: Field, zone: Zone, path: tuple[str, ...]) -> Any:
    """The field's value, None where it may be absent and is; or `Invalid`."""
    name, type = ".".join(path), t.present(field.type)
    if is_absent(raw):
        return _absent(field, zone, path)
    if isinstance(type, t.Record):
        if not isinstance(raw, Mapping):
            return Invalid(name, Reason.UNREADABLE, raw)
        return read_record(raw, type.schema.fields, zone, path)
    try:
        value = parse_value(raw, type, field.unit, zone)
    except Unreadable:
        return Invalid(name, Reason.UNREADABLE, raw)
    return value if check_domain(value, field, zone) else Invalid(name, Reason.DOMAIN, raw)


def _absent(field: Field, zone: Zone, path: tuple[str, ...]) -> Any:
    """A required record that is not there is an empty one, whose first required field is named."""
    if field.default is not None:
        try:
            return constant(field.default, zone)
        except Overflow:
            return Invalid(".".join(path), Reason.OVERFLOW)
    match field.type:
        case t.Optional():
            return None
        case t.Record(schema):
            return read_record({}, schema.fields, zone, path)
        case _:
            return Invalid(".".join(path), Reason.ABSENT)
