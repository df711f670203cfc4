"""A point: one option with everything around it, as a witness shows it, made as small as people would make it.

In: values of some inputs. Out: a `Point` with a plain value for every other input; the call that it stands for; its
JSON; and, for a test that it passes, the plainest point nearby that passes it too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ucl.analysis.cells.inputs import CHOICES, NOW, Input, Key, Place
from ucl.analysis.cells.moments import PLAIN_DAY
from ucl.analysis.cells.survey import Side
from ucl.analysis.cells.values import default_of, plainness, values_of
from ucl.analysis.cells.words import WORDS
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.calendar import weekday_of_days
from ucl.semantics.operations import HOUR
from ucl.semantics.outcome import Call
from ucl.semantics.program import Field
from ucl.semantics.types import DATETIME, DAY
from ucl.semantics.values import check_domain, to_data, to_json
from ucl.semantics.zones import Zone

_MOST_TRIES = 600
_ROUNDS = 3
_MEMORIES = 12
_SHARED = 0.6


@frozen
class Point:
    """`values` has one for every input of the program: fields, the context, the memory, `now`."""

    values: Mapping[Key, Any]

    def with_value(self, key: Key, value: Any) -> Point:
        return Point({**self.values, key: value})


def point_at(side: Side, known: Mapping[Key, Any], since: int) -> Point:
    """The values that are known, and plain ones."""
    values = {}
    for key, input in side.inputs.by_key.items():
        if key in known:
            values[key] = known[key]
        elif key == NOW:
            values[key] = since
        elif isinstance(input.field.type, t.List):
            values[key] = ()
        elif key != CHOICES:
            values[key] = plain_value(side, key, since)
    return Point(values)


def plain_value(side: Side, key: Key, since: int) -> Any:
    """What people would write where nothing is asked: the default, nothing, or a plain value."""
    return values_of(side.inputs.by_key[key], {}, side.zone, since).values[0]


def with_memories(side: Side, point: Point) -> Iterator[Point]:
    """The point, then with lists in its memory, where the program has any."""
    yield point
    if _lists(side, point):
        yield from (with_memory(side, point, random.Random(seed)) for seed in range(_MEMORIES))


def with_memory(side: Side, point: Point, chance: random.Random) -> Point:
    """The point with lists of records that share values with the option and with one another."""
    told = {key: _records(side, point, type, chance) for key, type in _lists(side, point).items()}
    return Point({**point.values, **told})


def _lists(side: Side, point: Point) -> dict[Key, t.List]:
    types = {key: input.field.type for key, input in side.inputs.by_key.items() if key in point.values}
    return {key: type for key, type in types.items() if isinstance(type, t.List)}


def _records(side: Side, point: Point, type: t.List, chance: random.Random) -> tuple[dict[str, Any], ...]:
    fields = type.element.schema.fields
    return tuple(
        {field.name: _shared(side, point, field, chance) for field in fields} for _ in range(chance.randint(1, 6))
    )


def _shared(side: Side, point: Point, field: Field, chance: random.Random) -> Any:
    """A value of the field that stands in the option too, as often as not; else a plain one."""
    kind = t.present(field.type)
    fields = {key: input.field for key, input in side.inputs.by_key.items() if key in point.values}
    same = [point.values[key] for key, other in fields.items() if t.present(other.type) == kind]
    told = [v for v in same if v is not None and check_domain(v, field, side.zone)]
    plain = values_of(Input((Place.MEMORY, (field.column,)), (field.name,), field), {}, side.zone, 0).values
    return chance.choice(told) if told and chance.random() < _SHARED else chance.choice(plain[:4])


def option_of(side: Side, point: Point) -> dict[str, Any]:
    return _record(side, point, Place.OPTION)


def call_of(side: Side, point: Point) -> Call:
    now = point.values[NOW]
    context, memory = _record(side, point, Place.CONTEXT), _record(side, point, Place.MEMORY)
    return Call(side.zone, now, side.zone.local(now) // DAY, context, memory)


def _record(side: Side, point: Point, place: Place) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in point.values.items():
        if key[0] is place and key != NOW and key in side.inputs.by_key:
            inside = record
            path = side.inputs.by_key[key].path
            for name in path[:-1]:
                inside = inside.setdefault(name, {})
            inside[path[-1]] = value
    return record


def option_json(side: Side, point: Point) -> dict[str, Any]:
    """As `score` reads it."""
    return to_data(option_of(side, point), side.schema.fields, side.zone)


def context_json(side: Side, point: Point, now_matters: bool) -> dict[str, Any]:
    """As `score` reads it, and `now` where that matters."""
    context = to_data(_record(side, point, Place.CONTEXT), side.program.context, side.zone)
    return context | ({"now": to_json(point.values[NOW], DATETIME, side.zone)} if now_matters else {})


def memory_json(side: Side, point: Point) -> dict[str, Any]:
    """The memory by name; nothing where the program has none."""
    return {m.name: to_json(point.values[Place.MEMORY, (m.name,)], m.type, side.zone) for m in side.program.memory}


# --- smaller --------------------------------------------------------------------------------------------------------


def smallest(
    side: Side, point: Point, holds: Callable[[Point], bool], tried: Mapping[Key, Sequence[Any]], since: int
) -> Point:
    """Input by input the plainest value with which the point still passes; `tried` has values worth trying. Inputs for
    which the point has none are left alone."""
    left = _MOST_TRIES
    for _ in range(_ROUNDS):
        before = point
        for key in (key for key in _order(side) if key in point.values):
            for value in _plainer(side, key, point.values[key], tried.get(key, ()), since):
                left -= 1
                if left < 0:
                    return point
                changed = point.with_value(key, value)
                if holds(changed):
                    point = changed
                    break
        if point == before:
            break
    return point


def _order(side: Side) -> list[Key]:
    """The day of the call first, then what surrounds it, then the option's fields."""
    places = [Place.CONTEXT, Place.MEMORY, Place.OPTION]
    keys = [key for key in side.inputs.by_key if key != CHOICES]
    return sorted(keys, key=lambda key: (key != NOW, places.index(key[0])))


def _plainer(side: Side, key: Key, value: Any, tried: Iterable[Any], since: int) -> Iterator[Any]:
    """Values that people would sooner write, the plainest first."""
    field = side.inputs.by_key[key].field
    if isinstance(field.type, t.List):
        yield from ((*value[:i], *value[i + 1 :]) for i in range(len(value)))
        return
    if key == NOW:
        yield from (v for v in sorted({since, *tried}) if v < value)
        return
    default = default_of(field, side.zone)
    plain = values_of(side.inputs.by_key[key], {}, side.zone, since).values[:8]
    near = (v for v in _near(value, t.present(field.type), side.zone) if check_domain(v, field, side.zone))
    found = [v for v in chain(plain, tried, near) if v != value]

    def rank(v: Any) -> tuple[Any, ...]:
        return (v != default, plainness(v, field.type, side.zone))

    here = rank(value)
    yield from (v for v in sorted(found, key=rank) if rank(v) < here)


def _near(value: Any, type: t.Type, zone: Zone) -> Iterator[Any]:
    """Values like this one, with less to them."""
    match value, type:
        case None, _:
            return
        case int(), t.Int():
            yield from (value // size * size for size in (10**9, 10**6, 1000, 100, 10))
            yield from (0, 1, -1, value // 2)
        case float(), t.Float() | t.Quantity():
            yield from (0.0, 1.0, *(round(value, digits) for digits in range(4)))
        case int(), t.Duration():
            yield from (value // HOUR * HOUR, value // (HOUR // 60) * (HOUR // 60), HOUR, HOUR // 2)
        case int(), t.Time():
            yield from (value // HOUR * HOUR, value // (HOUR // 2) * (HOUR // 2), value // (HOUR // 60) * (HOUR // 60))
        case int(), t.DateTime():
            yield from _near_moments(value, zone)
        case int(), t.Date():
            yield PLAIN_DAY + (weekday_of_days(value) - weekday_of_days(PLAIN_DAY)) % 7
        case str(), t.Text():
            yield from ("", WORDS[0], value[: len(value) // 2])
        case frozenset(), _:
            yield from (value - {item} for item in sorted(value))
        case _:
            return


def _near_moments(instant: int, zone: Zone) -> Iterator[int]:
    """The same time in a plain week, the same day at a plain time."""
    day, time = divmod(zone.local(instant), DAY)
    plain = PLAIN_DAY + (weekday_of_days(day) - weekday_of_days(PLAIN_DAY)) % 7
    for d in (PLAIN_DAY, plain, day):
        for clock in (
            time // HOUR * HOUR,
            time // (HOUR // 2) * (HOUR // 2),
            time // (HOUR // 60) * (HOUR // 60),
            time,
        ):
            yield zone.instant(d * DAY + clock).instant
