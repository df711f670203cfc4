"""The types on which all rows of a JSON file agree, found without holding the rows.

In: rows, part by part. Out: the schema that `formats.rows` would give all of them together; and a part's rows as a
table of that schema. A column whose rows disagree keeps the JSON text of each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ucl.tables import errors
from ucl.tables.cells import Cells, cells_of, marked
from ucl.tables.formats.rows import EXACT_IN_DOUBLES, encoded, ordered, table_from_rows

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_COLUMNS = 10_000
# Marks of this module on whole numbers: some are no doubles, so that they don't agree with doubles; some are negative,
# so that they don't agree with numbers that need all 64 bits.
_WIDE, _NEGATIVE = b"ucl:wide", b"ucl:negative"


class Agreement:
    """Grows by parts; `name` is the file's, for messages."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: dict[str, pa.Field] = {}

    def add(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """How many rows these are. Raises `TableError` where a key is none, or where rows hardly share any."""
        table = table_from_rows(rows, self._name)
        for column, field in zip(table.columns, table.schema):
            found = _with_marks(field, column.combine_chunks())
            known = self._fields.get(field.name)
            self._fields[field.name] = found if known is None else _agreed(known, found)
        if len(self._fields) > _MOST_COLUMNS:
            raise errors.too_many_columns(self._name, len(self._fields))
        return len(rows)

    def schema(self) -> pa.Schema:
        import pyarrow as pa

        fields = [_without_marks(field) for field in self._fields.values()]
        return pa.schema([marked(f, Cells.ROWS) if cells_of(f) is Cells.TYPED else f for f in fields])


def conformed(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """The rows as a table of the schema that they, among others, agreed on."""
    import pyarrow as pa

    if not len(schema):
        return table_from_rows(rows, "")
    arrays = [_array([row.get(field.name) for row in rows], field) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


# --- agreeing -------------------------------------------------------------------------------------------------------


def _with_marks(field: pa.Field, array: pa.Array) -> pa.Field:
    """The field with marks on whole numbers, wherever it holds some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type = field.type
    if pa.types.is_integer(type):
        ends = pc.min_max(array)
        low, high = ends["min"].as_py() or 0, ends["max"].as_py() or 0
        said = {_WIDE: max(-low, high) > EXACT_IN_DOUBLES, _NEGATIVE: low < 0}
        return field.with_metadata({mark: b"1" for mark, holds in said.items() if holds} or None)
    if pa.types.is_struct(type):
        children = [_with_marks(child, array.field(place)) for place, child in enumerate(type)]
        return field.with_type(pa.struct(children))
    if pa.types.is_large_list(type):
        return field.with_type(pa.large_list(_with_marks(type.value_field, array.flatten())))
    return field


def _without_marks(field: pa.Field) -> pa.Field:
    import pyarrow as pa

    type = field.type
    if pa.types.is_struct(type):
        field = field.with_type(pa.struct([_without_marks(child) for child in type]))
    elif pa.types.is_large_list(type):
        field = field.with_type(pa.large_list(_without_marks(type.value_field)))
    metadata = {key: value for key, value in (field.metadata or {}).items() if key not in (_WIDE, _NEGATIVE)}
    return field.with_metadata(metadata or None)


def _agreed(a: pa.Field, b: pa.Field) -> pa.Field:
    """The field for the rows of both."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_null(a.type) or kinds.is_null(b.type):
        return b if kinds.is_null(a.type) else a
    if Cells.JSON in (cells_of(a), cells_of(b)):
        return _as_json(a.name)
    if kinds.is_struct(a.type) and kinds.is_struct(b.type):
        children = {child.name: child for child in a.type}
        for child in b.type:
            known = children.get(child.name)
            children[child.name] = child if known is None else _agreed(known, child)
        return a.with_type(pa.struct(list(children.values())))
    if kinds.is_large_list(a.type) and kinds.is_large_list(b.type):
        element = _agreed(a.type.value_field, b.type.value_field)
        return _as_json(a.name) if _holds_json(element) else a.with_type(pa.large_list(element))
    if kinds.is_integer(a.type) and kinds.is_integer(b.type):
        return _whole_numbers(a, b)
    wide = any(_WIDE in (field.metadata or {}) for field in (a, b))
    if _is_number(a.type) and _is_number(b.type) and not wide:
        return pa.field(a.name, pa.float64())
    return a if a.type == b.type else _as_json(a.name)


def _whole_numbers(a: pa.Field, b: pa.Field) -> pa.Field:
    """A column without a sign is there only where some number needs its last bit."""
    import pyarrow as pa

    metadata = {**(a.metadata or {}), **(b.metadata or {})}
    if a.type == b.type:
        return a.with_metadata(metadata or None)
    if _NEGATIVE in metadata:
        return _as_json(a.name)
    return a.with_type(pa.uint64()).with_metadata(metadata or None)


def _as_json(name: str) -> pa.Field:
    import pyarrow as pa

    return marked(pa.field(name, pa.string()), Cells.JSON)


def _holds_json(field: pa.Field) -> bool:
    import pyarrow as pa

    if cells_of(field) is Cells.JSON:
        return True
    return pa.types.is_struct(field.type) and any(map(_holds_json, field.type))


def _is_number(type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(type) or pa.types.is_floating(type))


# --- making columns of an agreed type -------------------------------------------------------------------------------


def _array(values: list[Any], field: pa.Field) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    type = field.type
    if cells_of(field) is Cells.JSON:
        return pa.array([None if value is None else encoded(value) for value in values], pa.string())
    if pa.types.is_struct(type):
        rows = [value or {} for value in values]
        children = [_array([row.get(child.name) for row in rows], child) for child in type]
        absent = np.fromiter((value is None for value in values), np.bool_, len(values))
        if not children:
            return pa.array(values, type)
        return pa.StructArray.from_arrays(children, fields=list(type), mask=pa.array(absent))
    if pa.types.is_large_list(type):
        lengths = np.fromiter((len(value) if value else 0 for value in values), np.int64, len(values))
        elements = _array([element for value in values if value for element in ordered(value)], type.value_field)
        absent = np.fromiter((value is None for value in values), np.bool_, len(values))
        offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))))
        return pa.LargeListArray.from_arrays(offsets, elements, type=type, mask=pa.array(absent))
    if pa.types.is_floating(type):
        return pa.array([None if value is None else float(value) for value in values], type)
    return pa.array(values, type)
