"""Rows of Python values to an Arrow table, column by column, losing nothing that a row said.

In: mappings, as JSON gives them or as a caller has them. Out: a table whose columns are typed where all rows agree;
a column whose rows disagree keeps the JSON text of each cell (`cells.Cells.JSON`), so that one odd row spoils itself
alone. Integers are never squeezed through doubles.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from enum import Enum
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ucl.tables.cells import Cells, cells_of, marked
from ucl.tables.errors import bad_key, too_many_columns
from ucl.tables.formats.json_cells import encode
from ucl.tables.formats.plain import encodable

if TYPE_CHECKING:
    import pyarrow as pa

# Rows without common keys would fill memory with absent cells.
_MOST_CELLS_FOR_EACH_KEY = 64
_FREE_CELLS = 1 << 22
# Objects nested deeper than any schema's records stay JSON text.
_DEEPEST = 32
EXACT_IN_DOUBLES = 1 << 53


def table_from_rows(rows: Sequence[Mapping[str, Any]], origin: str) -> pa.Table:
    """One column for each key, in the order of first mention. No rows, or rows without keys, give no columns.

    `origin` names the rows in the error for too many different keys.
    """
    import pyarrow as pa

    names = _keys(rows)
    if names is not None and any(type(name) is not str for name in names):
        rows = [{str(name): value for name, value in row.items()} for row in rows]
        names = _keys(rows)
    if names is None:
        raise too_many_columns(origin, len(set(chain.from_iterable(rows))))
    if not names:
        # Only a batch can have rows without columns.
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(rows, pa.struct([])))])
    wrong = next((name for name in names if encodable(name) != name), None)
    if wrong is not None:
        raise bad_key(origin, wrong)
    return table_from_columns({name: [row.get(name) for row in rows] for name in names})


def table_from_columns(columns: Mapping[str, list[Any]]) -> pa.Table:
    """What rows say, key by key; None where a row lacks one."""
    import pyarrow as pa

    made = [column_from_values(name, values) for name, values in columns.items()]
    fields = [marked(field, Cells.ROWS) if cells_of(field) is Cells.TYPED else field for _, field in made]
    return pa.Table.from_arrays([array for array, _ in made], schema=pa.schema(fields))


def column_from_values(name: str, values: list[Any], depth: int = 0) -> tuple[pa.Array, pa.Field]:
    """The values as one Arrow array with its field; None is null."""
    import pyarrow as pa

    array = _typed(values, depth)
    if array is None:
        plain = [_plain(value) for value in values]
        # A second look without anything new would double the work at every level of nesting.
        if any(before is not after for before, after in zip(values, plain)):
            values, array = plain, _typed(plain, depth)
    if array is None:
        texts = [None if value is None else encoded(value) for value in values]
        return pa.array(texts, pa.string()), marked(pa.field(name, pa.string()), Cells.JSON)
    return array, pa.field(name, array.type)


def encoded(value: Any) -> str:
    """The JSON text of a cell whose column has no type of its own."""
    return encode(value, _plain)


def _typed(values: list[Any], depth: int) -> pa.Array | None:
    """An array of the one type that all values have, or None where they have no such type."""
    import pyarrow as pa

    kinds = set(map(type, values)) - {type(None)}
    try:
        if not kinds:
            return pa.nulls(len(values))
        if kinds == {dict}:
            return _struct(values, depth)
        if kinds <= {list, tuple, set, frozenset}:
            return _lists(values, depth)
        if kinds == {int, float}:
            return _numbers(values)
        if kinds == {int}:
            return _integers(values)
        if len(kinds) == 1:
            return _scalars(kinds.pop(), values)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None
    return None


def _scalars(kind: type, values: list[Any]) -> pa.Array | None:
    import pyarrow as pa

    simple = {
        bool: pa.bool_(),
        float: pa.float64(),
        str: pa.string(),
        dt.date: pa.date32(),
        dt.timedelta: pa.duration("us"),
    }
    if kind in simple:
        return pa.array(values, simple[kind])
    if kind is Decimal:
        return pa.array(values)
    if kind is dt.time:
        return None if any(v is not None and v.tzinfo for v in values) else pa.array(values, pa.time64("us"))
    if kind is dt.datetime:
        zoned = {value.tzinfo is not None for value in values if value is not None}
        return None if len(zoned) > 1 else pa.array(values, pa.timestamp("us", "UTC" if zoned.pop() else None))
    return None


def _integers(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        return pa.array(values, pa.uint64())


def _numbers(values: list[Any]) -> pa.Array | None:
    import pyarrow as pa

    exact = all(-EXACT_IN_DOUBLES <= v <= EXACT_IN_DOUBLES for v in values if type(v) is int)
    return pa.array([None if v is None else float(v) for v in values], pa.float64()) if exact else None


def _struct(values: list[Any], depth: int) -> pa.Array | None:
    import numpy as np
    import pyarrow as pa

    rows = [value or {} for value in values]
    names = _keys(rows)
    if names is None or depth >= _DEEPEST or any(type(name) is not str for name in names):
        return None
    absent = np.fromiter((value is None for value in values), np.bool_, len(values))
    if not names:
        return pa.array(values, pa.struct([]))
    made = [column_from_values(name, [row.get(name) for row in rows], depth + 1) for name in names]
    fields = [field for _, field in made]
    return pa.StructArray.from_arrays([array for array, _ in made], fields=fields, mask=pa.array(absent))


def _lists(values: list[Any], depth: int) -> pa.Array | None:
    import numpy as np
    import pyarrow as pa

    if depth >= _DEEPEST:
        return None
    flat = [element for value in values if value for element in ordered(value)]
    elements, field = column_from_values("item", flat, depth + 1)
    if _holds_marks(field):
        return None
    lengths = np.fromiter((len(value) if value else 0 for value in values), np.int64, len(values))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    absent = np.fromiter((value is None for value in values), np.bool_, len(values))
    return pa.LargeListArray.from_arrays(pa.array(offsets), elements, mask=pa.array(absent))


def ordered(value: Any) -> Any:
    """A set or list of elements, in the same order on every run."""
    return sorted(value, key=repr) if isinstance(value, AbstractSet) else value


def _holds_marks(field: pa.Field) -> bool:
    import pyarrow as pa

    if cells_of(field) is not Cells.TYPED:
        return True
    return pa.types.is_struct(field.type) and any(_holds_marks(child) for child in field.type)


def _keys(rows: Iterable[Mapping[str, Any]]) -> list[str] | None:
    """The keys of all rows in the order of first mention, or None where the rows hardly share any."""
    seen: dict[str, None] = {}
    count = said = 0
    for row in rows:
        count += 1
        said += len(row)
        seen.update(dict.fromkeys(row))
    cells = count * len(seen)
    return None if cells > _FREE_CELLS and cells > said * _MOST_CELLS_FOR_EACH_KEY else list(seen)


def _plain(value: Any) -> Any:
    """A value of a richer library or of a subclass as the plain Python value that it stands for."""
    match value:
        case None | bool():
            return value
        case Enum():
            return _plain(value.value)
        case str():
            return str(value)
        case UUID() | PurePath():
            return str(value)
        case type():
            # A class has the attributes of what it makes, and is none of it.
            return value
        case dt.datetime() if hasattr(value, "to_pydatetime"):
            return None if value != value else value.to_pydatetime(warn=False)
        case dict() if type(value) is dict and all(type(key) is str for key in value):
            return value
        case Mapping() if all(isinstance(key, str | int | float) for key in value):
            return {str(key): inner for key, inner in value.items()}
        case AbstractSet():
            return frozenset(value)
        case _ if type(value).__name__ in ("NAType", "NaTType"):
            return None
        case _ if type(value).__module__ == "numpy":
            return _plain_numpy(value)
        case _ if hasattr(value, "model_dump"):
            return value.model_dump(by_alias=True)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        case int() if type(value) is not int:
            return int(value)
        case float() if type(value) is not float:
            return float(value)
    return value


def _plain_numpy(value: Any) -> Any:
    kind = value.dtype.kind
    if value.ndim:
        return value.tolist()
    if kind in "mM":
        # Microseconds are the finest that Python's own types have; days stay days.
        return value.item() if value.dtype.name.endswith("[D]") else value.astype(f"{value.dtype.kind}8[us]").item()
    return value.item()
