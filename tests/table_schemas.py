"""Schemas built by hand for the tests of tables, and rows of `Columns` turned back into records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ucl.diagnostics import Source, Span
from ucl.kernels.columns import Columns, Presence, Scalars, Sets, Texts
from ucl.kernels.lists import without_repeats
from ucl.semantics import types as t
from ucl.semantics.program import Const, Domain, Expr, Field, RangeDomain, Schema, Value

SPAN = Span(Source("schema.ucl", ""), 0, 0)
METRES = t.Unit("m", Fraction(1))
KILOMETRES = t.Unit("km", Fraction(1000))
MILES = t.Unit("mi", Fraction("1609.344"))
CENTIMETRES = t.Unit("cm", Fraction(1, 100))
LENGTH = t.Quantity(t.Dimension("std.units", "length", (METRES, KILOMETRES, MILES, CENTIMETRES)))
MINUTES = t.DURATION_UNITS[3]
URGENCY = t.Closed(("low", "high", "é"))


def field(
    name: str,
    type: t.Type,
    *,
    domain: Domain | None = None,
    column: str | None = None,
    unit: t.Unit | None = None,
    default: Expr | None = None,
) -> Field:
    return Field(name, type, domain, column or name, unit, default, None, SPAN)


def schema(*fields: Field, name: str = "S") -> Schema:
    return Schema("tests", name, fields, None, SPAN)


def const(value: Value, type: t.Type) -> Const:
    return Const(type, SPAN, value)


def between(low: Value, high: Value, type: t.Type, *, inclusive: bool = False, wraps: bool = False) -> RangeDomain:
    return RangeDomain(
        None if low is None else const(low, type), None if high is None else const(high, type), inclusive, wraps
    )


def record_at(columns: Columns, of: Schema, row: int, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """The row's values as `read_record` would give them."""
    record: dict[str, Any] = {}
    for each in of.fields:
        here = (*path, each.name)
        kind = t.present(each.type)
        if isinstance(kind, t.Record):
            presence = columns.columns.get(here)
            there = presence is None or (isinstance(presence, Presence) and bool(presence.valid[row]))
            record[each.name] = record_at(columns, kind.schema, row, here) if there else None
        else:
            record[each.name] = value_at(columns, here, row)
    return record


def value_at(columns: Columns, path: tuple[str, ...], row: int) -> Any:
    column = columns.columns[path]
    assert not isinstance(column, Presence)
    if isinstance(column, Sets) and column.repeats:
        column = without_repeats(column)
    if column.valid is not None and not column.valid[row]:
        return None
    match column:
        case Scalars(values):
            return values[row].item()
        case Texts(codes, _, dictionary):
            return dictionary[codes[row]]
        case Sets(offsets, elements, _, dictionary):
            members = elements[offsets[row] : offsets[row + 1]].tolist()
            found = frozenset(members if dictionary is None else [dictionary[code] for code in members])
            assert len(found) == len(members), "elements are distinct within a row"
            return found
    raise AssertionError(column)


def values(columns: Columns, name: str) -> list[Any]:
    return [value_at(columns, (name,), row) for row in range(columns.rows)]
