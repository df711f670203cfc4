"""Arrow's values as JSON has them: what a person or the next program is shown of a cell.

In: a column or one cell. Out: None, booleans, numbers, texts, lists, objects. Instants are ISO 8601 with offset, dates,
times and durations ISO 8601, sets lists; numbers that are not finite are null or text.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ucl.semantics.values.iso import write_duration
from ucl.tables.cells import Cells, cells_of
from ucl.tables.formats.json_cells import Foreign, decode

if TYPE_CHECKING:
    import pyarrow as pa

# Of doubles, a little rounded up.
_LARGEST_EXPONENT = 400


def plain(column: pa.ChunkedArray, cells: Cells) -> list[Any]:
    """A list of the cells' values."""
    import pyarrow as pa

    if cells is Cells.JSON:
        return [from_json_cell(cell) for cell in column.to_pylist()]
    if _is_json_already(column.type):
        return list(column.to_pylist())
    if pa.types.is_struct(column.type):
        return _records(column)
    if pa.types.is_map(column.type):
        return [None if pairs is None else _plain(dict(pairs)) for pairs in column.to_pylist()]
    try:
        return [_plain(value) for value in column.to_pylist()]
    except (ValueError, OverflowError):
        return [shown(cell, cells) for cell in column]


def shown(cell: pa.Scalar, cells: Cells) -> Any:
    """One cell's value. Total: a value that Python has no type for is text."""
    try:
        value = cell.as_py()
    except (ValueError, OverflowError):
        # Beyond Python's years: Arrow's own count.
        return str(getattr(cell, "value", cell.type))
    return from_json_cell(value) if cells is Cells.JSON else _plain(value)


def _is_json_already(type: pa.DataType) -> bool:
    """Whether Python's values of the type are JSON's."""
    import pyarrow as pa

    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return _is_json_already(type.value_type)
    return bool(
        pa.types.is_integer(type)
        or pa.types.is_boolean(type)
        or pa.types.is_null(type)
        or pa.types.is_string(type)
        or pa.types.is_large_string(type)
    )


def _records(column: pa.ChunkedArray) -> list[Any]:
    """Objects; fields whose rows disagree have marks of their own."""
    import pyarrow.compute as pc

    names = [field.name for field in column.type]
    inner = [plain(pc.struct_field(column, [place]), cells_of(field)) for place, field in enumerate(column.type)]
    rows = zip(*inner) if inner else [()] * len(column)
    return [dict(zip(names, row)) if valid else None for valid, row in zip(column.is_valid().to_pylist(), rows)]


def from_json_cell(cell: str | None) -> Any:
    """What a `Cells.JSON` text says."""
    return None if cell is None else _plain(decode(cell))


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case str():
            return encodable(value)
        case Foreign(shown):
            return shown
        case float():
            return _number(value)
        case Decimal():
            number = from_decimal(value)
            return number if isinstance(number, int) else _number(number)
        case list():
            return [_plain(element) for element in value]
        case Mapping():
            return {encodable(str(key)): _plain(inner) for key, inner in value.items()}
        case dt.timedelta():
            return write_duration(value // dt.timedelta(microseconds=1))
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
    return str(value)


def encodable(text: str) -> str:
    """The text, with an escape for each half of a surrogate pair: JSON can spell it, and no file can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def from_decimal(value: Decimal) -> int | float:
    """The int that it is, or the nearest double; infinite where neither holds it."""
    if not value.is_finite() or value.adjusted() > _LARGEST_EXPONENT or value != value.to_integral_value():
        return float(value)
    return int(value)


def _number(value: float) -> Any:
    """JSON has one kind of number, and columns of mixed numbers are doubles: 10.0 may have been a 10."""
    if math.isfinite(value):
        return int(value) if value.is_integer() else value
    return None if math.isnan(value) else str(value)
