"""What a message shows of data: types in words, and a cell as JSON would show it."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ucl.semantics.types import Duration, Quantity, Type, Unit, present
from ucl.semantics.values.iso import write_duration
from ucl.tables.cells import Cells
from ucl.tables.ingest.readers.kinds import is_binary, is_list, is_text

if TYPE_CHECKING:
    import pyarrow as pa


def type_in_words(type: Type, unit: Unit | None) -> str:
    """As the schema writes it, with its unit where numbers are measured in one."""
    words = f"`{type}`"
    return f"{words} in `{unit.name}`" if unit and isinstance(present(type), Duration | Quantity) else words


def arrow_type_in_words(type: pa.DataType) -> str:
    """In the words of people who never met Arrow."""
    import pyarrow as pa

    kinds = (
        (pa.types.is_boolean, "true and false"),
        (pa.types.is_integer, "whole numbers"),
        (pa.types.is_floating, "numbers"),
        (pa.types.is_decimal, "decimal numbers"),
        (is_text, "text"),
        (pa.types.is_date, "dates"),
        (pa.types.is_time, "times of day"),
        (pa.types.is_duration, "lengths of time"),
        (pa.types.is_struct, "records"),
        (is_binary, "bytes"),
    )
    for holds, words in kinds:
        if holds(type):
            return words
    if is_list(type):
        return f"lists of {arrow_type_in_words(type.value_type)}"
    if pa.types.is_timestamp(type):
        return "points in time" if type.tz is not None else "dates with a time"
    if pa.types.is_dictionary(type):
        return arrow_type_in_words(type.value_type)
    return f"values of the kind `{type}`"


def shown(cell: pa.Scalar, cells: Cells) -> Any:
    """Booleans, numbers, texts, lists and objects of them. Total: a value that Python has no type for is text."""
    try:
        value = cell.as_py()
    except (ValueError, OverflowError, ImportError):
        return str(cell.cast("int64") if hasattr(cell.type, "unit") else cell)
    if cells is Cells.JSON and isinstance(value, str):
        return _plain(json.loads(value))
    return _plain(value)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float() if not math.isfinite(value):
            return str(value)
        case float():
            # JSON has one kind of number, and columns of mixed numbers are doubles.
            return int(value) if value.is_integer() else value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case list():
            return [_plain(element) for element in value]
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case dt.timedelta():
            return write_duration(value // dt.timedelta(microseconds=1))
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
    return str(value)
