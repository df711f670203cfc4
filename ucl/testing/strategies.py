"""Hypothesis strategies of options, which shrink to what people would write: whole hours, weekdays, short names.

In: a schema (of a program, or a model of a built package). Out: a strategy of rows as `score` reads them, or of models.
Fields with a default and optional ones may be left out, and are left out by what shrinks.
"""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ucl.analysis.cells.moments import PLAIN_DAY
from ucl.analysis.cells.ordered import LARGEST_FLOAT
from ucl.analysis.cells.words import WORDS
from ucl.semantics import types as t
from ucl.semantics.calendar import FIRST_DAY, FIRST_INSTANT, LAST_DAY, LAST_INSTANT
from ucl.semantics.operations import HOUR, INT_MAX, INT_MIN, MINUTE, Overflow
from ucl.semantics.program import Field, RangeDomain, Schema, SetDomain
from ucl.semantics.types import DAY
from ucl.semantics.values import check_domain, to_data
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone

Path = tuple[str, ...]
Worth = Mapping[Path, Sequence[Any]]
"""Values worth trying, by the path of a field; None where it is absent."""

_MOST_ELEMENTS = 4


def options(schema: Any, timezone: str = "UTC", worth: Worth | None = None) -> SearchStrategy[Any]:
    """Valid options of a schema: rows for `score`, or models where `schema` is a model of a built package.

    `timezone` is the zone in which times of day are round, `worth` has values by field to be tried often.
    """
    zone = Zone.load(timezone)
    if zone is None:
        raise ValueError(f"`{timezone}` is not a time zone")
    if isinstance(schema, Schema):
        return rows(schema.fields, zone, worth or {})
    declared = schema.__ucl_schema__
    return rows(declared.fields, zone, worth or {}).map(lambda row: _modelled(schema, row))


def _modelled(model: Any, row: Mapping[str, Any]) -> Any:
    """Models hold Python's own values, among which there are fewer: pydantic reads no duration of 300 years."""
    try:
        return model.model_validate(row)
    except ValueError:
        return reject()


def rows(fields: Sequence[Field], zone: Zone, worth: Worth, path: Path = ()) -> SearchStrategy[dict[str, Any]]:
    """Objects as `score` reads them, by column; those of a context too."""
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    for field in fields:
        strategy = _data(field, zone, worth, (*path, field.name))
        droppable = field.default is not None or isinstance(field.type, t.Optional)
        (optional if droppable else required)[field.column] = strategy
    return st.fixed_dictionaries(required, optional=optional)


def _data(field: Field, zone: Zone, worth: Worth, path: Path) -> SearchStrategy[Any]:
    type = t.present(field.type)
    if isinstance(type, t.Record):
        return rows(type.schema.fields, zone, worth, path)
    strategy = _values(field, type, zone)
    tried = [value for value in worth.get(path, ()) if value is not None]
    if tried:
        strategy = st.one_of(st.sampled_from(tried), strategy)
    named = Field(field.name, type, field.domain, field.column, field.unit, None, None, field.span)
    return strategy.map(lambda value: to_data({field.name: value}, [named], zone)[field.column])


# --- values of a type -----------------------------------------------------------------------------------------------


def _values(field: Field, type: t.Type, zone: Zone) -> SearchStrategy[Any]:
    """Values of the field's domain."""
    match field.domain:
        case SetDomain(values):
            return st.sampled_from(sorted(values))
        case RangeDomain(low, high, wraps=False):
            first, last = (None if end is None else _known(end, zone) for end in (low, high))
            bounded = of_type(type, zone, first, last)
        case _:
            bounded = of_type(type, zone, None, None)
    return bounded if field.domain is None else bounded.filter(lambda value: check_domain(value, field, zone))


def _known(end: Any, zone: Zone) -> Any:
    try:
        return constant(end, zone)
    except Overflow:
        return None


def of_type(type: t.Type, zone: Zone, low: Any, high: Any) -> SearchStrategy[Any]:
    """Values between two ends, both in; as `semantics.program` describes them."""
    match type:
        case t.Bool():
            return st.booleans()
        case t.Int():
            return _ints(INT_MIN if low is None else low, INT_MAX if high is None else high)
        case t.Float() | t.Quantity():
            least = -LARGEST_FLOAT if low is None else float(low)
            return _floats(least, LARGEST_FLOAT if high is None else float(high))
        case t.Text():
            return _texts()
        case t.Closed(values):
            return st.sampled_from(values)
        case t.Weekday():
            return st.integers(0, 6)
        case t.Date():
            return _usual(_DAYS, FIRST_DAY if low is None else low, LAST_DAY if high is None else high)
        case t.Time():
            return _usual(_TIMES, 0 if low is None else low, DAY - 1 if high is None else high)
        case t.DateTime():
            return _instants(zone, low, high)
        case t.Duration():
            return _usual(_DURATIONS, INT_MIN if low is None else low, INT_MAX if high is None else high)
        case t.Set(element) if element is not None:
            return st.frozensets(of_type(element, zone, None, None), max_size=_MOST_ELEMENTS)
        case _:
            return st.nothing()


def _ints(low: int, high: int) -> SearchStrategy[int]:
    whole = st.integers(low, high)
    return st.one_of(st.integers(max(low, -10), min(high, 100)), whole) if low <= 100 and high >= -10 else whole


def _floats(low: float, high: float) -> SearchStrategy[float]:
    """Decimals such as prices, then any."""
    whole = st.floats(low, high, allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    least, most = math.ceil(max(low, -10.0) * 100), math.floor(min(high, 100.0) * 100)
    return st.one_of(st.integers(least, most).map(lambda n: n / 100), whole) if least <= most else whole


def _texts() -> SearchStrategy[str]:
    characters = st.characters(codec="utf-8", exclude_categories=("Cs", "Cn"))
    free = st.text(characters, max_size=8).map(lambda text: unicodedata.normalize("NFC", text))
    return st.one_of(st.sampled_from(WORDS), free)


_DAYS = range(PLAIN_DAY, PLAIN_DAY + 28)
_TIMES = [hour * HOUR for hour in sorted(range(24), key=lambda hour: (abs(hour - 10), hour))]
_TIMES += [n * 5 * MINUTE for n in range(24 * 12) if n % 12]
_DURATIONS = [n * HOUR // 2 for n in range(1, 17)]


def _usual(usual: Sequence[int], low: int, high: int) -> SearchStrategy[int]:
    """What people write, then any."""
    inside = [value for value in usual if low <= value <= high]
    whole = st.integers(low, high)
    return st.one_of(st.sampled_from(inside), whole) if inside else whole


def _instants(zone: Zone, low: int | None, high: int | None) -> SearchStrategy[int]:
    """In a plain week, in the centuries in which plans are made, and about the hours in which clocks change."""

    def local(day: int, time: int) -> int:
        return zone.instant(day * DAY + time).instant

    kinds = [
        st.builds(local, st.sampled_from(_DAYS), st.sampled_from(_TIMES)),
        st.builds(local, st.integers(0, 40_000), st.integers(0, DAY - 1)),
    ]
    changes = [change for change in zone.transitions if 0 <= change < 2**51][-400:]
    if changes:
        quarters = st.integers(-8, 8).map(lambda n: n * 15 * MINUTE)
        kinds.append(st.builds(operator.add, st.sampled_from(changes), quarters))
    if low is None and high is None:
        return st.one_of(kinds)
    first = FIRST_INSTANT if low is None else low
    last = LAST_INSTANT if high is None else high
    plain = [local(day, time) for day in _DAYS for time in _TIMES[:24]]
    return _usual(plain, first, last)
