"""How the text in a column is to be read: as it stands, as a CSV cell, or as JSON.

Files say less than types: a CSV cell is text whatever it means, and a JSON column may hold a number in one row and a
text in the next. Such columns are Arrow text columns whose field carries a mark, so that nothing is guessed before the
schema's field says how a cell is read.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_MARK = b"ucl:cells"


class Cells(StrEnum):
    """`TYPED` cells are what their Arrow type says; the text of `CSV` and `JSON` cells is still to be read.

    `ROWS` cells are typed only because all rows agree: where the type is wrong for a field, each row is, by itself.
    """

    TYPED = "typed"
    ROWS = "rows"
    CSV = "csv"
    JSON = "json"


def marked(field: pa.Field, cells: Cells) -> pa.Field:
    """The field with the mark that `cells_of` reads."""
    return field.with_metadata({_MARK: cells.encode()})


def cells_of(field: pa.Field) -> Cells:
    """Marks that others put there, on columns that can't have them, say nothing."""
    mark = (field.metadata or {}).get(_MARK, b"").decode("ascii", "replace")
    if mark not in set(Cells) or (mark != Cells.ROWS and str(field.type) != "string"):
        return Cells.TYPED
    return Cells(mark)


def without_marks(table: pa.Table) -> pa.Table:
    """The table as others should see it, and as ours is when others made it."""
    import pyarrow as pa

    if not any(map(_has_mark, table.schema)):
        return table
    return table.cast(pa.schema([_unmarked(field) for field in table.schema], table.schema.metadata))


def _has_mark(field: pa.Field) -> bool:
    import pyarrow as pa

    if field.metadata and _MARK in field.metadata:
        return True
    return pa.types.is_struct(field.type) and any(map(_has_mark, field.type))


def _unmarked(field: pa.Field) -> pa.Field:
    """Without the marks of the field and of the records within."""
    import pyarrow as pa

    if not _has_mark(field):
        return field
    rest = {key: value for key, value in (field.metadata or {}).items() if key != _MARK}
    type = pa.struct([_unmarked(child) for child in field.type]) if pa.types.is_struct(field.type) else field.type
    return field.with_type(type).with_metadata(rest)
