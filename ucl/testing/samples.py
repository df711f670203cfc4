"""Samples of options and calls: drawn by Hypothesis, mixed anew, and from the edges of what conditions ask.

In: a prover, how many, a seed. Out: `Batch`es, tables of options with the call that they are scored in; the same for
the same seed in every process. Hypothesis draws a few hundred rows; the others put their values together anew, which is
as varied and a hundred times faster. For each promise there are options of which it says something.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ucl.analysis.cells.inputs import CHOICES, NOW, Key, Place
from ucl.analysis.cells.survey import Side
from ucl.analysis.points import Point, call_of, plain_value
from ucl.analysis.properties import Promise, Prover
from ucl.frozen import frozen
from ucl.kernels.columns import Columns
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.outcome import Call, Invalid
from ucl.semantics.program import Expr, Field, Rule
from ucl.semantics.values import read_record, to_data
from ucl.semantics.zones import Zone
from ucl.testing.strategies import Worth, rows

_DRAWN = 200
_CALLS = 6
_CALLS_A_PROMISE = 3
# Bytes that a value is drawn from, of which Hypothesis reads 8 KiB at most; fields that these are enough for; draws for
# each value that is asked for.
_BYTES = 2048
_MOST_BYTES = 8192
_FIELDS = 100
_TRIES = 4

Row = dict[str, Any]
T = TypeVar("T")


@frozen
class Batch:
    """Options of one call. `around` has what surrounds them, by input."""

    around: Point
    call: Call
    columns: Columns


def batches(prover: Prover, count: int, seed: int, calls: int | None = None) -> list[Batch]:
    """About so many options of any kind, and as many again for each promise. With `calls` they are spread over about so
    many, where otherwise each promise has calls of its own: what is scored again and again should be few tables."""
    sampler = _Sampler(prover, seed, min(count, _DRAWN))
    arounds = [sampler.around({}) for _ in range((calls or _CALLS) if sampler.surrounded else 1)]
    tables: dict[int, tuple[Point, list[Row]]] = {n: (around, []) for n, around in enumerate(arounds)}
    for number in range(count):
        tables[number % len(arounds)][1].append(sampler.row(number))
    for promise in prover.promises:
        for likely in prover.likely(promise):
            if all(likely.values()):
                fitting = [around for around in arounds if calls and sampler.fits(promise, likely, around)]
                for around, told in sampler.promising(likely, count // len(prover.likely(promise)), fitting):
                    tables[len(tables)] = (around, told)
    side = prover.side
    return [Batch(around, call_of(side, around), columns_of(side, told)) for around, told in _joined(tables.values())]


def _joined(tables: Any) -> list[tuple[Point, list[Row]]]:
    """One table for each call."""
    found: list[tuple[Point, list[Row]]] = []
    for around, told in tables:
        known = next((rows_ for other, rows_ in found if other == around), None)
        if known is None:
            found.append((around, list(told)))
        else:
            known += told
    return [(around, told) for around, told in found if told]


def columns_of(side: Side, told: Sequence[Row]) -> Columns:
    """Rows as kernels read them, by the way that every table goes."""
    from ucl.tables.frames import to_table
    from ucl.tables.ingest import ingest

    names = {field.column: None for field in side.schema.fields}
    return ingest(to_table([{**names, **row} for row in told]), side.schema, side.zone)


class _Sampler:
    """Draws once, and puts together as often as asked."""

    def __init__(self, prover: Prover, seed: int, drawn: int) -> None:
        self._prover, self._side = prover, prover.side
        self._random = random.Random(seed)
        side, worth = prover.side, _worth(prover)
        self._rows = draw_rows(side.schema.fields, side.zone, worth[Place.OPTION], drawn, seed)
        self._columns = [field.column for field in side.schema.fields]
        self._contexts = draw_rows(side.program.context, side.zone, worth[Place.CONTEXT], _CALLS, seed)
        self._memories = [draw_memory(side, n, seed + n) for n in range(_CALLS)]
        self.surrounded = bool(_surroundings(prover))

    def row(self, number: int) -> Row:
        """The first ones as Hypothesis drew them, then mixtures."""
        if number < len(self._rows):
            return self._rows[number]
        picked = ((column, self._random.choice(self._rows).get(column)) for column in self._columns)
        return {column: value for column, value in picked if value is not None}

    def around(self, likely: Mapping[Key, Sequence[Any]]) -> Point:
        """A context, a memory and a moment; the plain ones among them."""
        side, choice = self._side, self._random.choice
        plain = self._random.random() < 0.25 or not self.surrounded
        given = read_record(choice(self._contexts), side.program.context, side.zone)
        remembered = choice(self._memories)
        values: dict[Key, Any] = {}
        for key, input in side.inputs.by_key.items():
            if key in likely and key[0] is not Place.OPTION:
                values[key] = choice(likely[key])
            elif key == NOW:
                tried = [v for (v,) in self._prover.space.tried.get(NOW, ())]
                values[key] = self._prover.since if plain or not tried else choice(tried)
            elif key[0] is Place.MEMORY:
                values[key] = remembered[key]
            elif key[0] is Place.CONTEXT:
                drawn = None if isinstance(given, Invalid) else _at(given, input.path)
                values[key] = plain_value(side, key, self._prover.since) if plain else drawn
        return Point(values)

    def fits(self, promise: Promise, likely: Mapping[Key, Sequence[Any]], around: Point) -> bool:
        """Whether a condition of the promise is as likely to hold there as anywhere."""
        today = call_of(self._side, around).today
        keys = [key for key in likely if key[0] is not Place.OPTION and key != NOW]
        known = all(around.values.get(key) in likely[key] for key in keys)
        return known and self._prover.on_its_days(promise, today)

    def promising(
        self, likely: Mapping[Key, Sequence[Any]], count: int, fitting: Sequence[Point] = ()
    ) -> list[tuple[Point, list[Row]]]:
        """Options for which a condition is likely to hold, in a few calls: those that fit, else new ones."""
        calls = [*fitting[:_CALLS_A_PROMISE]]
        calls = calls or [self.around(likely) for _ in range(_CALLS_A_PROMISE if self.surrounded else 1)]
        tables: list[tuple[Point, list[Row]]] = [(around, []) for around in calls]
        wanted = {key: [self._cell(key, value) for value in likely[key]] for key in likely if key[0] is Place.OPTION}
        free = [column for column in self._columns if not any(key[1][0] == column for key in wanted)]
        for number in range(count):
            drawn = self.row(number % len(self._rows))
            row = {column: drawn[column] for column in free if column in drawn}
            for key, cells in wanted.items():
                _put(row, key[1], self._random.choice(cells))
            tables[number % len(tables)][1].append(row)
        return tables

    def _cell(self, key: Key, value: Any) -> Any:
        """A value as data has it."""
        field = self._side.inputs.by_key[key].field
        return to_data({field.name: value}, [field], self._side.zone).get(field.column)


def _put(row: Row, path: Sequence[str], value: Any) -> None:
    for column in path[:-1]:
        row = row.setdefault(column, {})
    row[path[-1]] = value


def _at(record: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = record
    for name in path:
        value = value[name]
    return value


def _worth(prover: Prover) -> dict[Place, dict[tuple[str, ...], list[Any]]]:
    """What the conditions ask about, for the strategies."""
    found: dict[Place, dict[tuple[str, ...], list[Any]]] = {place: {} for place in Place}
    for key, values in prover.space.tried.items():
        input = prover.side.inputs.by_key[key]
        if not isinstance(t.present(input.field.type), t.Record):
            found[key[0]][input.path] = [value for (value,) in values]
    return found


def _surroundings(prover: Prover) -> frozenset[Key]:
    """The inputs other than the option's that rules or promises read."""
    inputs, declared = prover.side.inputs, prover.declarations.declared.values()
    found: set[Key] = set()
    for declaration in declared:
        found |= frozenset().union(*(inputs.read_by(expr) for expr in _parts(declaration)))
        if declaration.meta.valid != p.ALWAYS:
            found.add(NOW)
    for promise in prover.promises:
        found |= frozenset().union(*(inputs.read_by(expr) for expr in _promise_parts(promise)))
        if promise.meta.valid != p.ALWAYS:
            found.add(NOW)
    return frozenset(key for key in found if key[0] is not Place.OPTION and key != CHOICES)


def _parts(declared: p.Rule | p.Constraint) -> list[Expr]:
    parts = [expr for expr in (declared.when, *declared.unless) if expr is not None]
    if isinstance(declared, Rule):
        return [*parts, declared.score, *(e for x in declared.exceptions for e in (x.condition, x.score))]
    return parts if declared.require is None else [*parts, declared.require]


def _promise_parts(promise: Promise) -> list[Expr]:
    if isinstance(promise, p.Prefer):
        return [promise.better, promise.worse]
    return [*promise.expect] if promise.given is None else [promise.given, *promise.expect]


# --- drawing --------------------------------------------------------------------------------------------------------


def draw_rows(fields: Sequence[Field], zone: Zone, worth: Worth, count: int, seed: int) -> list[Row]:
    """Rows as data; those of a wide schema put together from parts."""
    starts = range(0, max(1, len(fields)), _FIELDS)
    parts = [draw(rows(fields[at : at + _FIELDS], zone, worth), count, seed + at) for at in starts]
    return [{column: value for part in row for column, value in part.items()} for row in zip(*parts)]


def draw(strategy: Any, count: int, seed: int) -> list[Any]:
    """So many values of a strategy, the simplest first; fewer where most draws are rejected.

    The same for the same seed, wherever they are drawn: values are made of bytes of our own, since what Hypothesis
    draws by itself holds constants of whatever modules happen to be loaded.
    """
    from hypothesis import HealthCheck, given, settings

    found: list[Any] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    numbers, size = random.Random(seed), _BYTES
    collect.hypothesis.fuzz_one_input(bytes(_MOST_BYTES))
    for _ in range(_TRIES * count):
        if len(found) >= count:
            break
        if collect.hypothesis.fuzz_one_input(numbers.randbytes(size)) is None:
            size = min(2 * size, _MOST_BYTES)  # it may have been too few
    return found


def draw_memory(side: Side, number: int, seed: int) -> dict[Key, Any]:
    """A memory by input; the first is empty, and what is no list has its plain value there."""
    from hypothesis import strategies as st

    found: dict[Key, Any] = {}
    for key, input in side.inputs.by_key.items():
        if key[0] is not Place.MEMORY:
            continue
        type = t.present(input.field.type)
        if isinstance(type, t.List):
            fields = type.element.schema.fields
            told = draw(st.lists(rows(fields, side.zone, {}), max_size=4), 4, seed)[-1] if number else []
            records = (read_record(data, fields, side.zone) for data in told)
            found[key] = tuple(record for record in records if not isinstance(record, Invalid))
        else:
            found[key] = plain_value(side, key, 0)
    return found
