"""An Arrow table to the text of a CSV file, which `csv_text` reads back to the same values.

In: a table. Out: UTF-8 lines, a header first. Instants are ISO 8601 with offset, durations ISO 8601, sets separated by
`;` (as JSON where an element could be mistaken), records JSON; what is absent is an empty cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from ucl.tables.cells import Cells, cells_of
from ucl.tables.formats.blocks import OnRows, blocks_of, ignore_rows
from ucl.tables.formats.json_texts import join_lists, json_texts, said
from ucl.tables.formats.plain import from_json_cell, plain

if TYPE_CHECKING:
    import pyarrow as pa

_QUOTED = r'[",\r\n]'
# Elements that the reader would split, trim, drop or take for JSON.
_MISTAKABLE = r"(?s);|^\[|^\s|\s$|^$"


def write_csv(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows = ignore_rows) -> None:
    """`parts` of one table, in order; there is at least one."""
    for number, part in enumerate(parts):
        if number == 0:
            sink.write((",".join(map(_quoted, part.column_names)) + "\n").encode())
        _write_rows(part, sink, on_rows)


def _write_rows(part: pa.Table, sink: IO[bytes], on_rows: OnRows) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for block in blocks_of(part, on_rows):
        cells = [_escaped(texts(column, cells_of(field))) for column, field in zip(block.columns, block.schema)]
        lines = cells[0] if len(cells) == 1 else pc.binary_join_element_wise(*cells, ",")
        sink.write(("\n".join(pa.chunked_array([lines]).to_pylist()) + "\n").encode())


def texts(column: pa.ChunkedArray, cells: Cells) -> pa.Array:
    """Each cell's text, null where it is absent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type = column.type
    if cells is Cells.JSON:
        return _each(column.to_pylist(), lambda cell: _said(from_json_cell(cell)))
    if pa.types.is_dictionary(type):
        return texts(column.cast(type.value_type), cells)
    if _is_plain_text(type) or pa.types.is_integer(type) or pa.types.is_boolean(type) or pa.types.is_null(type):
        return column.cast(pa.string()).combine_chunks()
    if pa.types.is_floating(type):
        numbers = pc.if_else(pc.is_nan(column), pa.scalar(None, type), column)
        return numbers.cast(pa.string()).combine_chunks()
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return _joined(column)
    if pa.types.is_struct(type) or pa.types.is_map(type):
        valid = column.is_valid().combine_chunks()
        return pc.if_else(valid, json_texts(column, cells), pa.scalar(None, pa.string()))
    return _each(plain(column, cells), _said)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = column.combine_chunks()
    elements = texts(pa.chunked_array([lists.flatten()]), Cells.TYPED)
    if elements.null_count or pc.any(pc.match_substring_regex(elements, _MISTAKABLE)).as_py():
        return _each(plain(column, Cells.TYPED), _said)
    return join_lists(lists, elements, ";")


def _each(values: list[object], text: object) -> pa.Array:
    import pyarrow as pa

    assert callable(text)
    return pa.array([text(value) for value in values], pa.string())


def _said(value: object) -> str | None:
    """A text as it is, and anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return said(value)


def _escaped(cells: pa.Array) -> pa.Array:
    """Quoted where the cell's text would break the line; absent cells empty."""
    import pyarrow.compute as pc

    cells = pc.fill_null(cells, "")
    risky = pc.match_substring_regex(cells, _QUOTED)
    if not pc.any(risky).as_py():
        return cells
    quoted = pc.binary_join_element_wise("", pc.replace_substring(cells, '"', '""'), "", '"')
    return pc.if_else(risky, quoted, cells)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in '",\r\n') else name


def _is_plain_text(type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))
