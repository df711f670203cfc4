"""Rows of columns as records, for the parts that look at one option at a time: explanations, events.

In: `Columns` and a row. Out: the record that `evaluate` reads, or why the row is invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ucl.semantics import types as t
from ucl.semantics.outcome import Invalid, Reason
from ucl.semantics.program import Field, Schema

if TYPE_CHECKING:
    from ucl.kernels.columns import Columns, Path


def record_at(columns: Columns, schema: Schema, row: int) -> dict[str, Any] | Invalid:
    """The option in one row, with a value for every field."""
    invalid = columns.invalid.get(row)
    if invalid is not None:
        return Invalid(invalid.field, Reason(invalid.reason), invalid.value)
    return _record(columns, schema.fields, (), row)


def all_records(columns: Columns, schema: Schema) -> list[dict[str, Any] | Invalid]:
    return [record_at(columns, schema, row) for row in range(columns.rows)]


def _record(columns: Columns, fields: Sequence[Field], outer: Path, row: int) -> dict[str, Any]:
    return {field.name: _value(columns, field, (*outer, field.name), row) for field in fields}


def _value(columns: Columns, field: Field, path: Path, row: int) -> Any:
    from ucl.kernels.columns import Presence, Scalars, Sets, Texts

    match columns.columns.get(path):
        case None | Presence() as presence:
            record = t.present(field.type)
            assert isinstance(record, t.Record)
            if presence is not None and not presence.valid[row]:
                return None
            return _record(columns, record.schema.fields, path, row)
        case Scalars(values, valid):
            return values[row].item() if valid is None or valid[row] else None
        case Texts(codes, valid, dictionary):
            return dictionary[codes[row]] if valid is None or valid[row] else None
        case Sets(offsets, elements, valid, dictionary):
            if valid is not None and not valid[row]:
                return None
            members = elements[offsets[row] : offsets[row + 1]].tolist()
            return frozenset(members if dictionary is None else (dictionary[code] for code in members))
