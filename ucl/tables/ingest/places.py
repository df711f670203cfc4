"""Where a schema's fields are in a table: a column for each leaf, and which rows have each nested record.

In: a table and a schema. Out: `Places`. A nested record is a struct column, or flat columns `outer.inner`; both by the
names that the fields give (`from`). A missing column that is needed is the one `TableError` here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ucl.frozen import frozen
from ucl.kernels.columns import Path, Presence
from ucl.semantics.program import Field, Schema
from ucl.semantics.types import Optional, Record, present
from ucl.semantics.values import is_absent, nfc
from ucl.tables import errors
from ucl.tables.cells import Cells, cells_of
from ucl.tables.formats.json_cells import decode
from ucl.tables.formats.rows import column_from_values
from ucl.tables.ingest.readers.reading import Mask, bits_of, both, flat
from ucl.tables.ingest.words import arrow_type_in_words, type_in_words

if TYPE_CHECKING:
    import pyarrow as pa


@frozen
class Place:
    """A leaf's cells. `column` is None where the table has none: every cell is absent then. Only rows in `within`
    have the record that holds the leaf (None: all rows)."""

    path: Path
    field: Field
    name: str
    column: pa.ChunkedArray | None
    cells: Cells
    within: Mask | None


@frozen
class NoRecord:
    """Rows whose cell for a nested record is something else."""

    path: Path
    column: pa.ChunkedArray
    cells: Cells
    rows: Mask


@dataclass
class Places:
    """What was found, in schema order; `missing` names the columns that required fields lack."""

    leaves: list[Place | NoRecord] = field(default_factory=list)
    records: dict[Path, Presence] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


@frozen
class _Columns:
    """The columns that a record's fields are looked up in, under `prefix` for people and for flat columns."""

    prefix: str
    columns: dict[str, tuple[pa.ChunkedArray, Cells]]

    def named(self, name: str) -> tuple[pa.ChunkedArray, Cells] | None:
        return self.columns.get(name)

    def flat(self, name: str) -> _Columns | None:
        """The columns `name.…`, if there are any."""
        start = name + "."
        inner = {key[len(start) :]: value for key, value in self.columns.items() if key.startswith(start)}
        return _Columns(f"{self.prefix}{start}", inner) if inner else None


def find_places(table: pa.Table, schema: Schema) -> Places:
    """Raises `TableError` for columns that are missing or repeated."""
    names = table.column_names
    errors.refuse_duplicates(names)
    columns = {nfc(f.name): (table.column(i), cells_of(f)) for i, f in enumerate(table.schema)}
    places = Places()
    _find(_Columns("", columns), schema, (), table.num_rows, None, True, places)
    if places.missing and (names or table.num_rows):
        raise errors.missing_columns(places.missing, names)
    return places


def columns_read(names: Iterable[str], schema: Schema) -> list[str]:
    """Those of a table's columns that `find_places` looks at, in their order."""
    flat = tuple(f"{each.column}." for each in schema.fields if isinstance(present(each.type), Record))
    whole = {each.column for each in schema.fields}
    return [name for name in names if nfc(name) in whole or nfc(name).startswith(flat)]


def _find(
    source: _Columns, schema: Schema, path: Path, rows: int, within: Mask | None, needed: bool, places: Places
) -> None:
    """`needed`: every row has this record, so that its required fields need columns."""
    for each in schema.fields:
        inner_path = (*path, each.name)
        kind = present(each.type)
        if isinstance(kind, Record):
            _find_record(source, each, kind.schema, inner_path, rows, within, needed, places)
            continue
        found = source.named(each.column)
        name = source.prefix + each.column
        column, cells = found or (None, Cells.TYPED)
        if found is None and needed and each.default is None and not isinstance(each.type, Optional):
            places.missing.append(name)
        places.leaves.append(Place(inner_path, each, name, column, cells, within))


def _find_record(
    source: _Columns,
    each: Field,
    schema: Schema,
    path: Path,
    rows: int,
    within: Mask | None,
    needed: bool,
    places: Places,
) -> None:
    optional = isinstance(each.type, Optional)
    name = source.prefix + each.column
    found = source.named(each.column)
    if found is not None:
        # Rows of Python or JSON have keys and no columns: one that lacks a key is wrong by itself.
        needed = needed and found[1] is Cells.TYPED and not _is_null(found[0])
    if found is not None and not _is_null(found[0]):
        _refuse_both(source.flat(each.column), schema)
        inner, there, no_record = _struct(*found, each, name)
        if no_record is not None:
            places.leaves.append(NoRecord(path, found[0], found[1], no_record))
    else:
        inner = source.flat(each.column) or _Columns(f"{name}.", {})
        there = _mentioned(inner, schema, rows) if optional else None
    if optional:
        there = np.ones(rows, np.bool_) if there is None else there
        within = both(within, there)
        assert within is not None
        places.records[path] = Presence(within)
    _find(inner, schema, path, rows, within, needed and not optional, places)


def _refuse_both(flat: _Columns | None, schema: Schema) -> None:
    """Raises `TableError` where a record that has a column of its own has flat columns as well."""
    if flat is None:
        return
    for each in schema.fields:
        if flat.named(each.column) is not None:
            raise errors.duplicate_columns([flat.prefix + each.column])
        kind = present(each.type)
        if isinstance(kind, Record):
            _refuse_both(flat.flat(each.column), kind.schema)


def _struct(column: pa.ChunkedArray, cells: Cells, each: Field, name: str) -> tuple[_Columns, Mask | None, Mask | None]:
    """A struct's children, the rows that have it, and those whose cell is no record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    no_record = None
    if cells is Cells.JSON:
        column, no_record = _decoded(column)
        cells = Cells.ROWS
    if not pa.types.is_struct(column.type):
        if cells in (Cells.TYPED, Cells.CSV):
            raise errors.mistyped_column(
                name, arrow_type_in_words(column.type), each.name, type_in_words(each.type, each.unit)
            )
        return _Columns(f"{name}.", {}), np.zeros(len(column), np.bool_), _says_something(column)
    there = None if column.null_count == 0 else bits_of(flat(column.is_valid()))
    errors.refuse_duplicates(f"{name}.{child.name}" for child in column.type)
    children = {}
    for place in range(column.type.num_fields):
        child = column.type.field(place)
        own = cells_of(child)
        children[nfc(child.name)] = (pc.struct_field(column, [place]), own if own is Cells.JSON else cells)
    return _Columns(f"{name}.", children), there, no_record


def _decoded(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Mask]:
    """JSON texts as a struct column; what is no object is null there."""
    import pyarrow as pa

    values: list[Any] = [None if text is None else decode(text) for text in column.to_pylist()]
    wrong = np.array([not is_absent(value) and type(value) is not dict for value in values], np.bool_)
    array, _ = column_from_values("", [value if type(value) is dict else None for value in values])
    if not pa.types.is_struct(array.type):
        array = pa.array([None] * len(values), pa.struct([]))
    return pa.chunked_array([array]), wrong


def _mentioned(source: _Columns, schema: Schema, rows: int) -> Mask:
    """Rows in which one of the record's flat cells says something."""
    there = np.zeros(rows, np.bool_)
    for each in schema.fields:
        kind = present(each.type)
        found = source.named(each.column)
        if found is not None:
            there |= _says_something(found[0])
        elif isinstance(kind, Record) and (inner := source.flat(each.column)) is not None:
            there |= _mentioned(inner, kind.schema, rows)
    return there


def _says_something(column: pa.ChunkedArray) -> Mask:
    return ~bits_of(flat(column.is_null(nan_is_null=True)))


def _is_null(column: pa.ChunkedArray) -> bool:
    """Of the type that only nulls have, or the NaNs that data frames put into a column that has nothing."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        return len(column) > 0 and not bool(_says_something(column).any())
    return bool(pa.types.is_null(column.type))
