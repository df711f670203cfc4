"""The columns of a batch put together: every leaf read, defaults filled in, invalid rows named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Bounds, Column, Columns, InvalidCell, Path, Scalars, Sets, Texts
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Reason
from ucl.semantics.program import Schema
from ucl.semantics.types import Optional, present
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone
from ucl.tables import errors
from ucl.tables.formats.plain import plain
from ucl.tables.ingest.fill import outside_domain, with_default
from ucl.tables.ingest.places import NoRecord, Place, find_places
from ucl.tables.ingest.readers.leaf import read_cells
from ucl.tables.ingest.readers.reading import Mask, Read, either, indices_of, some
from ucl.tables.ingest.trusted import trusted
from ucl.tables.ingest.words import arrow_type_in_words, type_in_words

if TYPE_CHECKING:
    import pyarrow as pa


def ingest(table: pa.Table, schema: Schema, zone: Zone, *, trusting: bool = False, threads: int = 1) -> Columns:
    """The table's rows as options of `schema`; `trusting` leaves it to whoever scores them to find out whether the
    `bounds` of the columns hold. Each of the `threads` reads one column after another.

    Raises `TableError` where a needed column is missing or no cell of a column could be its field's value. Columns that
    the schema does not name are left alone.
    """
    rows = table.num_rows
    places = find_places(table, schema)
    columns: dict[Path, Column] = dict(places.records)
    faults: list[_Fault] = []
    bounds: list[Bounds] = []
    folds = gaps = 0
    for place, read in zip(places.leaves, _all_read(places.leaves, rows, zone, trusting, threads), strict=True):
        match read:
            case NoRecord():
                faults.append(_Fault(read, Reason.UNREADABLE, read.rows))
            case Read():
                assert isinstance(place, Place)
                columns[place.path] = _settle(place, read, zone, faults)
                folds, gaps = folds + read.folds, gaps + read.gaps
            case column, within:
                columns[place.path] = column
                bounds.append(within)
    return Columns(rows, columns, _invalid(faults, rows), folds, gaps, bounds)


_OneRead = NoRecord | Read | tuple[Scalars, Bounds]


def _all_read(
    leaves: list[Place | NoRecord], rows: int, zone: Zone, trusting: bool, threads: int
) -> Iterable[_OneRead]:
    def read(place: Place | NoRecord) -> _OneRead:
        if isinstance(place, NoRecord):
            return place
        return (trusted(place, zone) if trusting else None) or _read(place, rows, zone)

    if threads <= 1:
        return map(read, leaves)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(read, leaves))


def _read(place: Place, rows: int, zone: Zone) -> Read:
    type, unit = place.field.type, place.field.unit
    read = read_cells(place.column, place.cells, present(type), unit, rows, zone)
    if read is None:
        assert place.column is not None
        holds = arrow_type_in_words(place.column.type)
        raise errors.mistyped_column(place.name, holds, ".".join(place.path), type_in_words(type, unit))
    return read


@frozen
class _Fault:
    """Rows in which one place is wrong in one way."""

    place: Place | NoRecord
    reason: Reason
    rows: Mask


def _settle(place: Place, read: Read, zone: Zone, faults: list[_Fault]) -> Scalars | Texts | Sets:
    """The column as the kernels see it; what is wrong is added to `faults`."""
    column, wrong = read.column, either(read.unreadable, read.outside)
    _note(place, Reason.UNREADABLE, read.unreadable, faults)
    _note(place, Reason.DOMAIN, read.outside, faults)
    if place.field.domain is not None:
        _note(place, Reason.DOMAIN, outside_domain(column, place.field.domain, zone, read.extent), faults)
    if column.valid is None:
        return column
    absent = ~column.valid if wrong is None else ~column.valid & ~wrong
    if place.within is not None:
        absent &= place.within
    if place.field.default is None:
        if not isinstance(place.field.type, Optional):
            _note(place, Reason.ABSENT, some(absent), faults)
        return column
    try:
        return with_default(column, absent, constant(place.field.default, zone))
    except Overflow:
        _note(place, Reason.OVERFLOW, some(absent), faults)
        return column


def _note(place: Place, reason: Reason, rows: Mask | None, faults: list[_Fault]) -> None:
    if rows is not None:
        rows = some(rows if place.within is None else rows & place.within)
    if rows is not None:
        faults.append(_Fault(place, reason, rows))


def _invalid(faults: list[_Fault], rows: int) -> dict[int, InvalidCell]:
    """The first fault of each row; faults stand in schema order."""
    if not faults:
        return {}
    first: NDArray[np.int32] = np.full(rows, len(faults), np.int32)
    for number in range(len(faults) - 1, -1, -1):
        first[faults[number].rows] = number
    cells: dict[int, InvalidCell] = {}
    for number, fault in enumerate(faults):
        chosen = np.flatnonzero(first == number)
        name, reason = ".".join(fault.place.path), str(fault.reason)
        for row, value in zip(chosen.tolist(), _shown(fault, chosen)):
            cells[row] = InvalidCell(name, reason, value)
    return dict(sorted(cells.items()))


def _shown(fault: _Fault, rows: NDArray[np.int64]) -> list[Any]:
    """The data's own values."""
    place = fault.place
    if fault.reason in (Reason.ABSENT, Reason.OVERFLOW) or place.column is None:
        return [None] * len(rows)
    return plain(place.column.take(indices_of(rows)), place.cells)
