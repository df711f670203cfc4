"""The few columns by which a person knows a row again: a name, a second text, a day or a time.

In: the input's table and the schema of its rows. Out: names of columns, and cells as short texts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from ucl.semantics import types as t
from ucl.semantics.program import Schema
from ucl.widths import cut

if TYPE_CHECKING:
    import pyarrow as pa

WIDEST_CELL = 28
# Of a column that the schema doesn't know, so many values say whether it holds words or numbers.
_LOOKED_AT = 20


class _Kind(Enum):
    """How well a column tells rows apart."""

    NAME = auto()
    MAYBE_NAME = auto()
    VARIANT = auto()
    DAY = auto()
    CLOCK = auto()
    OTHER = auto()


def telling_columns(table: pa.Table, schema: Schema, group_by: str | None = None) -> list[str]:
    """One to three of the table's columns: texts, then a day or a time; before them the one that splits the table.

    The second text is one that every row has. Closed texts stand in where there is no other, and any column where there
    is no text at all.
    """
    kinds = {name: kind for name, kind in _kinds(table, schema) if name != group_by}

    def of(*wanted: _Kind) -> list[str]:
        return [name for name, kind in kinds.items() if kind in wanted]

    texts = of(_Kind.NAME, _Kind.MAYBE_NAME)
    texts = texts[:1] + [name for name in texts[1:] if kinds[name] is _Kind.NAME][:1] or of(_Kind.VARIANT)[:1]
    moments = (of(_Kind.DAY) or of(_Kind.CLOCK))[:1]
    if group_by is not None:
        return [group_by, *(texts[:1] + moments or list(kinds)[:1])]
    return texts + moments or list(kinds)[:2]


def _kinds(table: pa.Table, schema: Schema) -> Iterator[tuple[str, _Kind]]:
    fields = {field.column: field for field in schema.fields}
    for column in table.schema:
        field = fields.get(column.name)
        if field is None:
            yield column.name, _kind_of_data(table, column)
            continue
        match t.present(field.type):
            case t.Text():
                is_optional = isinstance(field.type, t.Optional)
                yield column.name, _Kind.MAYBE_NAME if is_optional else _Kind.NAME
            case t.Closed() | t.Weekday():
                yield column.name, _Kind.VARIANT
            case t.Date() | t.DateTime():
                yield column.name, _Kind.DAY
            case t.Time():
                yield column.name, _Kind.CLOCK
            case _:
                yield column.name, _Kind.OTHER


def _kind_of_data(table: pa.Table, column: pa.Field) -> _Kind:
    """Of a column that the program knows nothing of: words are as good as a name."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        return _Kind.DAY
    if "." in column.name or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _Kind.OTHER
    values = table[column.name].slice(0, _LOOKED_AT).to_pylist()
    words = [value for value in values if value and not _says_nothing(value)]
    return _Kind.MAYBE_NAME if words else _Kind.OTHER


def _says_nothing(word: str) -> bool:
    """Of who or what this is: a number, yes or no."""
    return (
        word.casefold() in ("yes", "no", "true", "false")
        or word.strip().lstrip("+-").replace(".", "", 1).replace(",", "").isdigit()
    )


def cells(table: pa.Table, columns: Sequence[str], rows: Sequence[int], width: int = WIDEST_CELL) -> list[list[str]]:
    """For each row one short text for each column."""
    import pyarrow as pa

    chosen = table.select(list(columns)).take(pa.array(rows, pa.int64()))
    by_column = [[cut(_text(value), width) for value in column.to_pylist()] for column in chosen.columns]
    return [[column[place] for column in by_column] for place in range(len(rows))]


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return value.isoformat(" ", "minutes")
        case dict():
            return ", ".join(f"{key}: {_text(inner)}" for key, inner in value.items() if inner is not None)
        case list():
            return "; ".join(map(_text, value))
        case _:
            return str(value)
