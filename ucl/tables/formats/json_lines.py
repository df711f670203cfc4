"""An Arrow table to JSON Lines, which `json_text` reads back to the same values.

In: a table. Out: UTF-8, one object a line with a key for each column; what is absent is null.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

from ucl.tables.cells import cells_of
from ucl.tables.formats.blocks import OnRows, blocks_of, ignore_rows
from ucl.tables.formats.plain import plain

if TYPE_CHECKING:
    import pyarrow as pa


def write_json(table: pa.Table, sink: IO[bytes], on_rows: OnRows = ignore_rows) -> None:
    names = table.column_names
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for block in blocks_of(table, on_rows):
        columns = [plain(column, cells_of(field)) for column, field in zip(block.columns, block.schema)]
        rows = zip(*columns) if columns else [()] * block.num_rows
        for row in rows:
            sink.write((encode(dict(zip(names, row))) + "\n").encode())
