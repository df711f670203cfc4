"""Types in the words of a message: what a column holds, and what a field is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.semantics.types import Duration, Quantity, Type, Unit, present
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
