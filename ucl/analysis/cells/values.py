"""Values of an input: what it is asked, answered in every possible way.

In: an input and what conditions ask of it. Out: `Values`, those that people would write first: one at least for each
way in which the input can answer, further ones on the edges, and whether no way is missed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice, product
from typing import Any

from ucl.analysis.cells import moments, ordered, words
from ucl.analysis.cells.inputs import NOW, Input, Path
from ucl.analysis.cells.questions import Asked
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.calendar import FIRST_INSTANT, weekday_of_days
from ucl.semantics.expressions import Budget, Frame, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.program import Field, RangeDomain, Schema, SetDomain
from ucl.semantics.types import DAY
from ucl.semantics.values.read import check_domain, constant
from ucl.semantics.zones import Zone

# Up to so many values a field is enumerated as it is.
FEW = 128
_SMALL_SET = 7
_MOST_RECORDS = 4096


@frozen
class Values:
    """In the order in which people would write them. `certain`: every way to answer is among them."""

    values: tuple[Any, ...]
    certain: bool


def values_of(input: Input, asked: Mapping[Path, Asked], zone: Zone, since: int) -> Values:
    """`asked` is by the path inside the input, `()` for a field; `since` the first instant that `now` may be."""
    if input.key == NOW:
        return _instants(input.field, asked.get((), Asked()), zone, since)
    return _field_values(input.field, (), asked, zone)


def _field_values(field: Field, path: Path, asked: Mapping[Path, Asked], zone: Zone) -> Values:
    type = t.present(field.type)
    if isinstance(type, t.Record):
        found = _records(type.schema, path, asked, zone)
    else:
        found = _inside(_present_values(field, asked.get(path, Asked()), zone), field, zone)
    return Values((None, *found.values), found.certain) if isinstance(field.type, t.Optional) else found


def _records(schema: Schema, path: Path, asked: Mapping[Path, Asked], zone: Zone) -> Values:
    """Every combination of the fields, as far as that goes."""
    parts = [_field_values(inner, (*path, inner.name), asked, zone) for inner in schema.fields]
    names = [inner.name for inner in schema.fields]
    combined = product(*(part.values for part in parts))
    records = [dict(zip(names, chosen, strict=True)) for chosen in islice(combined, _MOST_RECORDS + 1)]
    return Values(tuple(records), len(records) <= _MOST_RECORDS and all(part.certain for part in parts))


def _inside(found: Values, field: Field, zone: Zone) -> Values:
    """Those of the field's domain, the default among them and what people write first in front."""
    values = {value for value in found.values if check_domain(value, field, zone)}
    default = default_of(field, zone)
    if default is not None:
        values.add(default)
    ordered = sorted(values, key=lambda value: (value != default, plainness(value, t.present(field.type), zone)))
    return Values(tuple(ordered), found.certain)


def default_of(field: Field, zone: Zone) -> Any:
    """None where there is none, or where it leaves its type."""
    try:
        return None if field.default is None else constant(field.default, zone)
    except Overflow:
        return None


def _present_values(field: Field, asked: Asked, zone: Zone) -> Values:
    type = t.present(field.type)
    few = few_values(field, zone)
    if few is not None:
        return Values(few, True)
    match type:
        case t.Date():
            points = {*asked.points, *domain_ends(field, zone)}
            return Values(tuple(moments.days_around(points, asked.parts)), not asked.steady)
        case t.DateTime():
            return _instants(field, asked, zone, FIRST_INSTANT)
        case t.Text() if isinstance(field.domain, SetDomain):
            return Values(tuple(field.domain.values), True)
        case t.Text():
            texts, certain = words.texts_around(asked)
            return Values(tuple(texts), certain)
        case t.Set(element):
            return _sets(element, asked, zone)
        case t.List() | t.Record() | t.Unknown():
            return Values((), False)
        case _:
            return Values(tuple(_numbers(field, asked, zone)), True)


def few_values(field: Field, zone: Zone) -> tuple[Any, ...] | None:
    """All values of a field that has few; None where it has more, or no end of them."""
    match t.present(field.type), field.domain:
        case t.Bool(), _:
            return (False, True)
        case t.Closed(values), _:
            return values
        case t.Weekday(), _:
            return tuple(range(7))
        case t.Set(t.Closed(elements)), _ if len(elements) <= _SMALL_SET:
            return tuple(words.subsets(elements))
        case t.Set(t.Weekday()), _:
            return tuple(words.subsets(range(7)))
        case _, SetDomain(values) if len(values) <= FEW:
            return tuple(sorted(values))
        case t.Int(), RangeDomain():
            low, high = _bounds(field, zone)
            return tuple(range(low, high + 1)) if high - low < FEW else None
        case _:
            return None


def _numbers(field: Field, asked: Asked, zone: Zone) -> set[Any]:
    type = t.present(field.type)
    low, high = _bounds(field, zone)
    points: set[Any] = {*asked.points, *domain_ends(field, zone)}
    for function, constant_ in asked.steady:
        points |= ordered.passing(function, constant_, low, high)
    if isinstance(type, t.Time):
        points |= set(moments.clock_cuts(asked.points, asked.parts))
    if isinstance(type, t.Float | t.Quantity):
        return set(ordered.floats_around(points, low, high))
    return set(ordered.ints_around(points, low, high, type))


def domain_ends(field: Field, zone: Zone) -> list[Any]:
    """The domain's ends."""
    match field.domain:
        case RangeDomain(low, high):
            return [constant(end, zone) for end in (low, high) if end is not None]
        case SetDomain(values):
            return list(values)
        case None:
            return []


def _bounds(field: Field, zone: Zone) -> tuple[Any, Any]:
    """The least and greatest value, both in; of the whole type where the domain wraps."""
    low, high = ordered.type_range(t.present(field.type))
    if isinstance(field.domain, RangeDomain):
        first = low if field.domain.low is None else constant(field.domain.low, zone)
        last = high if field.domain.high is None else constant(field.domain.high, zone)
        if not field.domain.wraps or first <= last:
            floating = isinstance(low, float)
            low = max(low, float(first) if floating else math.ceil(first))
            high = min(high, float(last) if floating else math.floor(last))
    return low, high


def _instants(field: Field, asked: Asked, zone: Zone, since: int) -> Values:
    points = {*asked.points, *domain_ends(field, zone)}
    found, certain = moments.instants_around(points, asked.parts, zone, low=since)
    if since != FIRST_INSTANT:
        values = sorted(found)  # the earlier `now` is, the better it is known
    else:
        values = sorted(found, key=lambda instant: plainness(instant, t.DATETIME, zone))
    return Values(tuple(values), certain and not asked.steady)


def _sets(element: t.Type | None, asked: Asked, zone: Zone) -> Values:
    """What its elements are asked gives elements worth holding."""
    inner = asked.elements or Asked()
    more: list[Any]
    match element:
        case t.Closed(values):
            more, certain = list(values), True
        case t.Text():
            others, certain = words.texts_around(inner)
            more = [*words.NAMES, *sorted(others - {"", *words.NAMES})]
        case t.Date():
            more, certain = (
                [moments.PLAIN_DAY + n for n in range(8)] + sorted(moments.days_around(inner.points, inner.parts)),
                True,
            )
        case _:
            more, certain = [*range(1, 9), *sorted(ordered.ints_around(inner.points, -(2**63), 2**63 - 1, t.INT))], True
    found, whole = words.sets_around(asked, list(dict.fromkeys(more)), lambda e: _holds(asked, e, zone))
    return Values(tuple(found), certain and whole and not inner.steady)


def _holds(asked: Asked, element: Any, zone: Zone) -> tuple[bool, ...]:
    frame = Frame(Call(zone, 0, 0), Budget())
    answers = []
    for variable, condition in asked.predicates:
        try:
            answers.append(bool(evaluate(condition, frame.bind(variable, element))))
        except (Overflow, TypeError, KeyError):
            answers.append(False)
    return tuple(answers)


# --- what people write ----------------------------------------------------------------------------------------------


def plainness(value: Any, type: t.Type, zone: Zone) -> Any:
    """A key to sort values of one type by: those that people would write come first."""
    match type:
        case t.Optional(inner):
            return (0,) if value is None else (1, plainness(value, inner, zone))
        case t.Int():
            return (len(str(abs(value)).rstrip("0")), abs(value), value < 0)
        case t.Float() | t.Quantity():
            return (len(repr(abs(value)).removesuffix(".0")), abs(value), value < 0)
        case t.Duration():
            return (value <= 0, ordered.grain_of(abs(value)), abs(value), value < 0)
        case t.Time():
            return (ordered.grain_of(value), abs(value - ordered.NOON), value)
        case t.Date():
            return _day_plainness(value)
        case t.DateTime():
            day, time = divmod(zone.local(value), DAY)
            return (ordered.grain_of(time), _day_plainness(day), abs(time - ordered.NOON), value)
        case t.Text():
            return (value not in words.WORDS, len(value), value)
        case t.Closed(values):
            return values.index(value) if value in values else len(values)
        case t.Set(element):
            parts = [plainness(item, element, zone) if element else () for item in value]
            return (len(value), sorted(parts))
        case t.Record(schema):
            return [plainness(value[f.name], f.type, zone) for f in schema.fields]
        case _:
            return value


def _day_plainness(day: int) -> tuple[int, int, int]:
    """Days in the weeks after the plain one, weekdays first."""
    near = 0 <= day - moments.PLAIN_DAY < 28
    return (0 if near else abs(day - moments.PLAIN_DAY), int(weekday_of_days(day) > 4), day)
