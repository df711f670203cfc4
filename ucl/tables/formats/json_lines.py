"""An Arrow table to JSON Lines, which `json_text` reads back to the same values.

In: a table. Out: UTF-8, one object a line with a key for each column; what is absent is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from ucl.tables.cells import cells_of
from ucl.tables.formats.blocks import OnRows, blocks_of, ignore_rows
from ucl.tables.formats.json_texts import json_texts, object_texts

if TYPE_CHECKING:
    import pyarrow as pa


def write_json(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows = ignore_rows) -> None:
    """A table without rows is an empty array, since no byte at all is no JSON."""
    if write_json_lines(parts, sink, on_rows) == 0:
        sink.write(b"[]\n")


def write_json_lines(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows = ignore_rows) -> int:
    """How many rows there were in the `parts` of one table."""
    rows = 0
    for part in parts:
        rows += part.num_rows
        for block in blocks_of(part, on_rows):
            cells = [json_texts(column, cells_of(field)) for column, field in zip(block.columns, block.schema)]
            lines = object_texts(block.column_names, cells, block.num_rows)
            sink.write(("\n".join(lines.to_pylist()) + "\n").encode())
    return rows
