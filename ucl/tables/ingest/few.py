"""A few rows of plain Python values to columns without Arrow, which takes longer to import than they take to score.

In: a list of dicts, the schema of its rows, the call's zone. Out: the `Columns` that `ingest` makes of the same rows
as a table, value for value; or None, where it is for `ingest` to say: rows that are wrong, nested records, richer
types, columns whose rows disagree.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ucl.frozen import frozen
from ucl.kernels.columns import Column, Columns, Path, Scalars, Sets, Texts
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Field, Schema
from ucl.semantics.values.iso import WallClock
from ucl.semantics.values.read import constant
from ucl.semantics.zones import UTC, Zone
from ucl.tables.cells import Cells
from ucl.tables.ingest.fill import outside_domain, with_default
from ucl.tables.ingest.readers.leaf import absent_cells, dtype_of
from ucl.tables.ingest.readers.numbers import exact_microseconds, exact_product
from ucl.tables.ingest.readers.reading import Cell, Lookup, Mask, Parse, Read, both, settled, some
from ucl.tables.ingest.readers.scalar import cell_reader
from ucl.tables.ingest.readers.sets import offsets_of, sets_of_lists
from ucl.tables.ingest.readers.temporal import local_instants
from ucl.tables.ingest.readers.text import closed_of, texts_of

if TYPE_CHECKING:
    import pyarrow as pa

# Of more rows Arrow's loops save more than its import takes; or than it takes them to start, where it is there already.
_MOST, _MOST_BESIDE_ARROW = 4096, 256
_MOST_CELLS = 1 << 20
# Up to here an int among floats is the same number as a double.
_EXACT = 1 << 53

_SETS = frozenset({list, tuple, set, frozenset})
_SCALARS = frozenset({bool, int, float, str, dt.date, dt.time, dt.datetime, dt.timedelta})
_NUMBERS: tuple[set[type], ...] = ({int}, {float}, {int, float})
# The types of what a field's column holds, numbers apart, where all of it could be values of the field.
_HELD: Mapping[type[t.Type], tuple[set[type], ...]] = {
    t.Bool: ({bool},),
    t.Text: ({str},),
    t.Closed: ({str},),
    t.Weekday: ({str},),
    t.Date: ({str}, {dt.date}),
    t.Time: ({str}, {dt.time}),
    t.DateTime: ({str}, {dt.datetime}),
    t.Duration: ({str}, {dt.timedelta}),
}


@frozen
class Values:
    """The cells of one key, in row order, None where a row lacks it; `kinds` are the types of the others."""

    cells: list[Any]
    kinds: set[type]

    @staticmethod
    def of(cells: list[Any]) -> Values | None:
        """None where a cell could change later, or could not be written to a file. Lists and sets are copied."""
        kinds = set(map(type, cells)) - {type(None)}
        if kinds and kinds <= _SETS:
            cells = [None if cell is None else _copied(cell) for cell in cells]
            elements = list(chain.from_iterable(cell for cell in cells if cell is not None))
            return Values(cells, kinds) if _are_plain(elements, set(map(type, elements))) else None
        return Values(cells, kinds) if _are_plain(cells, kinds) else None


def _are_plain(cells: list[Any], kinds: set[type]) -> bool:
    if not kinds <= _SCALARS:
        return False
    try:
        "".join(cell for cell in cells if type(cell) is str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _copied(cell: Any) -> Any:
    return tuple(cell) if isinstance(cell, list) else frozenset(cell) if isinstance(cell, set) else cell


@dataclass(frozen=True)
class FewRows:
    """Rows as a caller holds them, safe from what becomes of the caller's objects."""

    rows: int
    columns: Mapping[str, Values]

    @staticmethod
    def of(data: Any) -> FewRows | None:
        """None for anything but a list of some dicts of plain values."""
        most = _MOST_BESIDE_ARROW if "pyarrow.compute" in sys.modules else _MOST
        if type(data) is not list or not 0 < len(data) <= most or any(type(row) is not dict for row in data):
            return None
        names = dict.fromkeys(chain.from_iterable(data))
        if len(names) * len(data) > _MOST_CELLS or not all(map(_is_usual, names)):
            return None
        columns = {}
        for name in names:
            values = Values.of([row.get(name) for row in data])
            if values is None:
                return None
            columns[name] = values
        return FewRows(len(data), columns) if columns else None

    @cached_property
    def table(self) -> pa.Table:
        from ucl.tables.entry import admitted
        from ucl.tables.formats.rows import table_from_columns

        return admitted(table_from_columns({name: values.cells for name, values in self.columns.items()}))


def table_of(source: pa.Table | FewRows) -> pa.Table:
    """As Arrow has it."""
    return source.table if isinstance(source, FewRows) else source


def _is_usual(name: Any) -> bool:
    return type(name) is str and name.isascii()


# --- columns --------------------------------------------------------------------------------------------------------


def ingest_few(data: FewRows, schema: Schema, zone: Zone) -> Columns | None:
    """The rows as options of `schema`, where every row is one."""
    columns: dict[Path, Column] = {}
    folds = gaps = 0
    for field in schema.fields:
        if isinstance(t.present(field.type), t.Record):
            return None
        read = _read(data, field, zone)
        column = None if read is None else _settled(read, field, zone)
        if read is None or column is None:
            return None
        columns[(field.name,)] = column
        folds, gaps = folds + read.folds, gaps + read.gaps
    return Columns(data.rows, columns, {}, folds, gaps)


def _read(data: FewRows, field: Field, zone: Zone) -> Read | None:
    kind, values = t.present(field.type), data.columns.get(field.column)
    if values is None or not values.kinds:
        missing = values is None and field.default is None and not isinstance(field.type, t.Optional)
        return None if missing else absent_cells(kind, data.rows)
    if not isinstance(kind, t.Set):
        return _scalars(values, kind, field.unit, zone)
    if not values.kinds <= _SETS or kind.element is None:
        return None
    flat = [element for cell in values.cells if cell for element in cell]
    elements = _scalars(Values(flat, set(map(type, flat))), kind.element, None, zone)
    if elements is None:
        return None
    lengths = np.fromiter((len(cell) if cell else 0 for cell in values.cells), np.int64, data.rows)
    return sets_of_lists(offsets_of(lengths), _there(values.cells), elements)


def _settled(read: Read, field: Field, zone: Zone) -> Scalars | Texts | Sets | None:
    """With defaults filled in; None where some row is wrong."""
    column = read.column
    if read.unreadable is not None or read.outside is not None:
        return None
    if field.domain is not None and outside_domain(column, field.domain, zone) is not None:
        return None
    if column.valid is None or (isinstance(field.type, t.Optional) and field.default is None):
        return column
    if field.default is None:
        return None if not column.valid.all() else column
    try:
        return with_default(column, ~column.valid, constant(field.default, zone))
    except Overflow:
        return None


# --- cells ----------------------------------------------------------------------------------------------------------


def _scalars(values: Values, kind: t.Type, unit: t.Unit | None, zone: Zone) -> Read | None:
    """The cells of a scalar type, or of a set's elements."""
    cells, kinds = values.cells, values.kinds
    if not kinds:
        return absent_cells(kind, len(cells))
    if kinds in _NUMBERS:
        return _numbers(cells, kinds, kind, unit)
    if kinds not in _HELD.get(type(kind), ()):
        return None
    parse = cell_reader(kind, unit, zone, Cells.ROWS)
    match kind:
        case t.DateTime():
            return _instants([parse(cell) for cell in cells], zone)
        case t.Text():
            return texts_of(_looked_up(cells, parse))
        case t.Closed(listed):
            return closed_of(_looked_up(cells, parse), listed)
        case _:
            return _looked_up(cells, parse).scalars(dtype_of(kind))


def _looked_up(cells: list[Any], parse: Parse) -> Lookup:
    """Each distinct cell is read once."""
    places: dict[Any, int] = {None: -1}
    codes = np.fromiter((places.setdefault(cell, len(places) - 1) for cell in cells), np.int32, len(cells))
    del places[None]
    null = codes < 0
    codes[null] = len(places)
    return Lookup([*map(parse, places), None], codes, bool(null.any()))


def _there(cells: list[Any]) -> Mask | None:
    """Rows that have a cell, where some have none."""
    if None not in cells:
        return None
    return np.fromiter((cell is not None for cell in cells), np.bool_, len(cells))


def _numbers(cells: list[Any], kinds: set[type], kind: t.Type, unit: t.Unit | None) -> Read | None:
    valid = _there(cells)
    given = cells if valid is None else [0 if cell is None else cell for cell in cells]
    if len(kinds) > 1 and any(abs(cell) > _EXACT for cell in given if type(cell) is int):
        return None
    try:
        values = np.array(given, np.int64 if kinds == {int} else np.float64)
    except OverflowError:
        return None
    if kinds != {int}:
        missing = np.isnan(values)
        if missing.any():
            valid = both(valid, ~missing)
            values[missing] = 0
    match kind:
        case t.Int() if kinds == {int}:
            return Read(Scalars(values, valid))
        case t.Float() | t.Quantity():
            product = exact_product(values, Fraction(1) if unit is None else unit.factor)
            return settled(product, valid, some(~np.isfinite(product)))
        case t.Duration() if unit is not None:
            microseconds, beyond = exact_microseconds(values, unit.factor)
            return settled(microseconds, valid, beyond)
        case _:
            return None


def _instants(cells: list[Cell], zone: Zone) -> Read | None:
    """Wall clocks in the zone, or instants; None where there are both, or others."""
    clocks = [cell if isinstance(cell, WallClock) else None for cell in cells]
    naive = {clock.offset is None for clock in clocks if clock is not None}
    if clocks.count(None) > cells.count(None) or len(naive) > 1:
        return None
    walls = np.array([0 if clock is None else clock.local - (clock.offset or 0) for clock in clocks], np.int64)
    return local_instants(walls, _there(clocks), None, zone if naive == {True} else UTC)
