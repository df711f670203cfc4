"""An Arrow table to JSON Lines, which `json_text` reads back to the same values.

In: a table. Out: UTF-8, one object a line with a key for each column; what is absent is null.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

from ucl.tables.cells import cells_of
from ucl.tables.formats.plain import plain

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 100_000


def write_json(table: pa.Table, sink: IO[bytes]) -> None:
    names = table.column_names
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for start in range(0, table.num_rows, _BLOCK):
        block = table.slice(start, _BLOCK)
        columns = [plain(column, cells_of(field)) for column, field in zip(block.columns, block.schema)]
        rows = zip(*columns) if columns else [()] * block.num_rows
        for row in rows:
            sink.write((encode(dict(zip(names, row))) + "\n").encode("utf-8", "surrogatepass"))
