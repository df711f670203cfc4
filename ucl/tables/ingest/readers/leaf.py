"""One leaf of a schema: from its Arrow column, whatever its type, to a `Read`.

In: cells and the field that they are for. Out: a `Read`, or a `TableError` where none of the column's cells could ever
be the field's value. Typed cells go through whole-column arithmetic; text that has to be understood, through one look
at each distinct text.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

import numpy as np

from ucl.kernels.columns import Scalars, Sets, Texts
from ucl.semantics import types as t
from ucl.semantics.zones import Zone
from ucl.tables.cells import Cells
from ucl.tables.ingest.readers.kinds import is_list, is_text
from ucl.tables.ingest.readers.numbers import read_durations, read_floats, read_ints
from ucl.tables.ingest.readers.reading import Mask, Parse, Read, bits_of, distinct, flat, indices_of, look_up, merged
from ucl.tables.ingest.readers.scalar import CSV_SPACE, cell_reader
from ucl.tables.ingest.readers.sets import list_offsets, offsets_of, sets_of_lists, sets_of_lookup
from ucl.tables.ingest.readers.temporal import read_dates, read_datetime_texts, read_instants, read_lengths, read_times
from ucl.tables.ingest.readers.text import NO_TEXTS, closed_of, read_bools, read_texts, texts_of

if TYPE_CHECKING:
    import pyarrow as pa

# Exact as doubles where they are whole, so that an int loses nothing on the way.
_USUAL_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?$"


def read_cells(
    column: pa.ChunkedArray | None, cells: Cells, kind: t.Type, unit: t.Unit | None, rows: int, zone: Zone
) -> Read | None:
    """The cells of one field of type `kind` (never optional); defaults and domains are not looked at.

    No column is a column of absent cells. None where no cell of the column's type could ever be a value of the field.
    """
    if column is None:
        return absent_cells(kind, rows)
    column = _plain(column)
    if _holds_nothing(column):
        return absent_cells(kind, rows)
    if cells in (Cells.CSV, Cells.JSON):
        return _read_words(column, kind, unit, zone, cells)
    if _may_hold(column.type, kind, unit, cells):
        return _read_typed(column, kind, unit, zone)
    return _all_wrong(column, kind, rows) if cells is Cells.ROWS else None


def _all_wrong(column: pa.ChunkedArray, kind: t.Type, rows: int) -> Read:
    """Rows that happen to agree on what the field is not: each is wrong by itself, but for sets without elements."""
    wrong = ~_silent(column)
    if not isinstance(kind, t.Set) or not is_list(column.type):
        return Read(absent_cells(kind, rows).column, wrong)
    offsets, valid = list_offsets(column)
    assert kind.element is not None
    return sets_of_lists(offsets, valid, absent_cells(kind.element, int(offsets[-1])))


def _read_words(column: pa.ChunkedArray, kind: t.Type, unit: t.Unit | None, zone: Zone, cells: Cells) -> Read:
    if cells is Cells.CSV and isinstance(kind, t.Text):
        return read_texts(column)
    if cells is Cells.CSV and isinstance(kind, t.Set) and not _any_array(column):
        return _read_joined(column, kind, zone)
    parse = cell_reader(kind, unit, zone, cells)
    match kind:
        case t.DateTime():
            return read_datetime_texts(distinct(column), parse, zone)
        case t.Int() | t.Float() | t.Quantity() | t.Duration() if cells is not Cells.TYPED:
            return _read_number_texts(column, kind, unit, zone, parse)
    lookup = look_up(column, parse)
    match kind:
        case t.Text():
            return texts_of(lookup)
        case t.Closed(values):
            return closed_of(lookup, values)
        case t.Set(t.Closed(values)):
            return sets_of_lookup(lookup, values, texts=True)
        case t.Set(element):
            return sets_of_lookup(lookup, None, texts=isinstance(element, t.Text))
        case _:
            return lookup.scalars(dtype_of(kind))


def _read_joined(column: pa.ChunkedArray, kind: t.Set, zone: Zone) -> Read:
    """Sets whose elements are joined by `;`, as CSV cells have them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    assert kind.element is not None
    parts = pc.split_pattern(column, ";")
    words = pc.utf8_trim(pc.list_flatten(parts), CSV_SPACE)
    said = pc.not_equal(words, "")
    kept = bits_of(flat(said))
    offsets, valid = list_offsets(parts)
    rows = np.repeat(np.arange(len(column)), np.diff(offsets))[kept]
    elements = words.filter(said)
    if not isinstance(elements, pa.ChunkedArray):
        elements = pa.chunked_array([elements])
    read = _read_words(elements, kind.element, None, zone, Cells.CSV)
    return sets_of_lists(offsets_of(np.bincount(rows, minlength=len(column)).astype(np.int64)), valid, read)


def _any_array(column: pa.ChunkedArray) -> bool:
    """Whether some cell begins as a JSON array does."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.starts_with(pc.utf8_ltrim(column, CSV_SPACE), "[")).as_py())


def _read_number_texts(column: pa.ChunkedArray, kind: t.Type, unit: t.Unit | None, zone: Zone, parse: Parse) -> Read:
    """Numbers in the usual spelling by whole columns; the other cells, by their distinct texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = distinct(column)
    words, codes = found.words, found.codes
    if isinstance(kind, t.Duration) and unit is None:
        return found.looked_up(map(parse, words.to_pylist())).scalars(np.int64)
    usual = pc.match_substring_regex(words, _USUAL_NUMBER)
    numbers = pc.if_else(usual, words, pa.scalar(None, words.type)).cast(pa.float64())
    numbers = pa.concat_arrays([numbers, pa.nulls(1, pa.float64())])
    read = _read_typed(pa.chunked_array([numbers.take(indices_of(codes))]), kind, unit, zone)
    if pc.all(usual).as_py() is not False and not words.null_count:
        return read
    others = pc.if_else(usual, pa.scalar(None, words.type), words).to_pylist()
    return merged(read, found.looked_up(map(parse, others)).scalars(dtype_of(kind)))


def _read_typed(column: pa.ChunkedArray, kind: t.Type, unit: t.Unit | None, zone: Zone) -> Read:
    import pyarrow as pa

    if isinstance(kind, t.Set):
        return _read_lists(column, kind, zone)
    if isinstance(kind, t.Text):
        return read_texts(column)
    if is_text(_value_type(column.type)) or pa.types.is_decimal(column.type):
        return _read_words(column, kind, unit, zone, Cells.TYPED)
    array = flat(column)
    match kind:
        case t.Bool():
            return read_bools(array)
        case t.Int():
            return read_ints(array)
        case t.Float() | t.Quantity():
            return read_floats(array, unit.factor if unit else Fraction(1))
        case t.Date():
            return read_dates(array)
        case t.Time():
            return read_times(array)
        case t.DateTime():
            return read_instants(array, zone)
        case t.Duration():
            lengths = pa.types.is_duration(array.type)
            return read_lengths(array) if lengths or unit is None else read_durations(array, unit.factor)
    raise AssertionError(f"no column of {column.type} may hold {kind}")


def _read_lists(column: pa.ChunkedArray, kind: t.Set, zone: Zone) -> Read:
    import pyarrow.compute as pc

    assert kind.element is not None
    elements = _plain(pc.list_flatten(column))
    offsets, valid = list_offsets(column)
    if _holds_nothing(elements):
        return sets_of_lists(offsets, valid, absent_cells(kind.element, len(elements)))
    return sets_of_lists(offsets, valid, _read_typed(elements, kind.element, None, zone))


def _may_hold(type: pa.DataType, kind: t.Type, unit: t.Unit | None, cells: Cells) -> bool:
    """Whether some cell of the Arrow type could be a value of the kind."""
    import pyarrow as pa

    type = _value_type(type)
    text = is_text(type)
    number = pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)
    match kind:
        case t.Bool():
            return bool(pa.types.is_boolean(type))
        case t.Int() | t.Float() | t.Quantity():
            return bool(number)
        case t.Text() | t.Closed() | t.Weekday():
            return text
        case t.Date():
            # Data frames have no dates of their own and keep them as midnights; rows have.
            midnights = cells is Cells.TYPED and pa.types.is_timestamp(type) and type.tz is None
            return bool(text or pa.types.is_date(type) or midnights)
        case t.Time():
            return bool(text or pa.types.is_time(type))
        case t.DateTime():
            return bool(text or pa.types.is_timestamp(type))
        case t.Duration():
            return bool(pa.types.is_duration(type) or text or (number and unit is not None))
        case t.Set(element):
            if not is_list(type) or element is None:
                return False
            return bool(pa.types.is_null(type.value_type)) or _may_hold(type.value_type, element, None, cells)
        case t.Record() | t.List() | t.Optional() | t.Unknown():
            return False
        case _:
            assert_never(kind)


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray:
    """Without extension types, run lengths, and dictionaries of anything but text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.value_type)
    if pa.types.is_dictionary(column.type) and not is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    return column


def _holds_nothing(column: pa.ChunkedArray) -> bool:
    """Nulls only, or the NaNs that data frames put into a column that has nothing."""
    import pyarrow as pa

    if column.null_count == len(column):
        return True
    if not pa.types.is_floating(column.type):
        return False
    first = column[0].as_py() if len(column) else None
    return (first is None or first != first) and bool(_silent(column).all())


def _silent(column: pa.ChunkedArray) -> Mask:
    """Rows whose cell is null or NaN."""
    return bits_of(flat(column.is_null(nan_is_null=True)))


def _value_type(type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return type.value_type if pa.types.is_dictionary(type) else type


def absent_cells(kind: t.Type, rows: int) -> Read:
    nothing = np.zeros(rows, np.bool_)
    match kind:
        case t.Text():
            return Read(Texts(np.zeros(rows, np.int32), nothing, NO_TEXTS))
        case t.Closed(values):
            return Read(Texts(np.zeros(rows, np.int32), nothing, values))
        case t.Set(element):
            dictionary = element.values if isinstance(element, t.Closed) else () if element == t.TEXT else None
            return Read(Sets(np.zeros(rows + 1, np.int64), np.zeros(0, np.int64), nothing, dictionary))
        case _:
            return Read(Scalars(np.zeros(rows, dtype_of(kind)), nothing))


def dtype_of(kind: t.Type) -> type[np.bool_] | type[np.float64] | type[np.int64]:
    match kind:
        case t.Bool():
            return np.bool_
        case t.Float() | t.Quantity():
            return np.float64
        case _:
            return np.int64
