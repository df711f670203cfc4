"""Whose each row is.

In: a table and the name of its column that says so, or a value for each row. Out: `Owned`, whose owners are those who
have rows, as a `dict` would tell them apart; or a `CallError` where a row is nobody's. Rows of one person mostly stand
together, so that all but one look at the column is done for each run of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.scoring import errors
from ucl.scoring.many.result import Owned, runs_of
from ucl.tables.cells import Cells, cells_of
from ucl.tables.formats.plain import from_json_cell
from ucl.tables.frames import column_of
from ucl.tables.ingest.readers.reading import distinct

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES = "a column, or a value for each row, that can be the key of a dict"


def owned_rows(table: pa.Table, owner: str | Iterable[Hashable]) -> Owned:
    """Whose each row is, by the table's column of that name or by a value for each row. Raises `CallError`."""
    if isinstance(owner, str):
        if owner not in table.column_names:
            raise errors.no_owner_column(owner, table.column_names)
        column = table[owner]
        if cells_of(table.schema.field(owner)) is Cells.JSON:
            return _of_values([from_json_cell(cell) for cell in column.to_pylist()])
        return _of_column(column)
    if _are_objects(owner):
        owner = list(owner)
        owned = _of_values(owner)
    else:
        owned = _of_column(column_of("owner", owner))
    if owned.rows != table.num_rows:
        raise errors.wrong_argument("owner", f"a column, or a value for each of {table.num_rows} rows", owner)
    return owned


def _are_objects(owner: Any) -> bool:
    """Python's own objects, of any kind, which Arrow would take for something else."""
    if not isinstance(owner, Iterable) or isinstance(owner, bytes | Mapping):
        return False
    is_arrow = hasattr(owner, "__arrow_c_array__") or hasattr(owner, "__arrow_c_stream__")
    return not is_arrow and str(getattr(owner, "dtype", "object")) == "object"


def _of_values(values: Sequence[Any]) -> Owned:
    owners, of_row = _numbered(values)
    if None in owners:
        raise errors.row_without_owner(values.index(None))
    return Owned.by_row(owners, of_row)


def _numbered(values: Sequence[Any]) -> tuple[dict[Hashable, int], NDArray[np.int64]]:
    """The places of values, as a `dict` tells them apart, and each one's place. Raises `CallError`."""
    places: dict[Hashable, int] = {}
    try:
        numbers = [places.setdefault(value, len(places)) for value in values]
    except TypeError:
        raise errors.wrong_argument("owner", _NAMES, next(filter(_is_no_key, values))) from None
    return places, np.array(numbers, np.int64)


def _is_no_key(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False


def _of_column(column: pa.ChunkedArray) -> Owned:
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        raise errors.wrong_argument("owner", _NAMES, column[0].as_py() if len(column) else str(column.type))
    found = distinct(column)
    if found.has_null and (nobody := found.codes == len(found.words)).any():
        raise errors.row_without_owner(int(nobody.argmax()))
    codes, starts = runs_of(found.codes)
    words, who = _in_order_met(found.words, codes)
    owners: Sequence[Hashable] = words.to_pylist()
    if len(set(owners)) < len(owners):  # a dictionary may name one twice, and there are two zeros among floats
        places, numbers = _numbered(owners)
        owners, who = list(places), numbers[who]
    return Owned(owners, who, starts)


def _in_order_met(words: pa.Array, codes: NDArray[np.int32]) -> tuple[pa.Array, NDArray[np.int64]]:
    """The words that there are, by their first places, and the place of each code's among them.

    A dictionary may name people who have no rows, in any order.
    """
    import pyarrow as pa

    if len(codes) == len(words) and np.array_equal(codes, np.arange(len(words))):
        return words, codes.astype(np.int64)
    first = np.full(len(words), len(codes), np.int64)
    # Of several places with one code, the last to be written is the first one.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place_of = np.empty(len(words), np.int64)
    place_of[used] = np.arange(len(used))
    return words.take(pa.array(used)), place_of[codes]
