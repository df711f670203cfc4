"""Parquet and Arrow files in parts.

In: an open file and the columns that are wanted. Out: its schema and tables of bounded size. Parquet is read page by
page, whatever its row groups are, and texts that a program reads keep the codes that they have in the file. Of an Arrow
file a record batch is the least that can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ucl.tables.cells import without_marks
from ucl.tables.formats.blocks import joined

if TYPE_CHECKING:
    import pyarrow as pa

_BUFFER = 1 << 20
# Rows so wide that a part of the usual length would be larger come in shorter parts.
_BYTES_AT_ONCE = 1 << 25
_LEAST_ROWS = 1024


@dataclass(frozen=True)
class Columnar:
    """`schema` is of all columns; `parts(names, coded)` reads those named, the texts among `coded` with their codes."""

    schema: pa.Schema
    rows: int | None
    parts: Callable[[Sequence[str], Sequence[str]], Iterator[pa.Table]] = field(repr=False)


def open_parquet(file: pa.NativeFile, rows_at_once: int) -> Columnar:
    import pyarrow.parquet as parquet

    whole = parquet.ParquetFile(file)
    metadata = whole.metadata
    bytes_a_row = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups)) // max(
        metadata.num_rows, 1
    )
    size = min(rows_at_once, max(_LEAST_ROWS, _BYTES_AT_ONCE // max(bytes_a_row, 1)))

    def parts(names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        leaves = _text_leaves(whole.schema, set(coded))
        batches = _Batches(file, metadata, size, names)
        for group in range(metadata.num_row_groups):
            yield from batches.of_group(group, leaves)

    def together(names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        """Row groups that are shorter than a part are put together."""
        waiting: list[pa.Table] = []
        for part in parts(names, coded):
            waiting.append(part)
            if sum(table.num_rows for table in waiting) >= size:
                yield joined(waiting)
                waiting = []
        if waiting:
            yield joined(waiting)

    return Columnar(_unmarked(whole.schema_arrow), metadata.num_rows, together)


@dataclass(frozen=True)
class _Batches:
    """What is read of each row group, `size` rows at a time."""

    file: pa.NativeFile
    metadata: Any
    size: int
    names: Sequence[str]

    def of_group(self, group: int, leaves: Sequence[str]) -> Iterator[pa.Table]:
        """Lists of texts come with codes where they have one dictionary in the group, as nearly always: Arrow can't put
        together such lists with several."""
        import pyarrow as pa

        done = 0
        try:
            for part in self._read(group, leaves):
                yield part
                done += part.num_rows
        except pa.ArrowNotImplementedError:
            for part in self._read(group, [leaf for leaf in leaves if "." not in leaf]):
                left = part.slice(max(done, 0))
                done -= part.num_rows
                if left.num_rows:
                    yield left

    def _read(self, group: int, leaves: Sequence[str]) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        # Without `pre_buffer` and with a buffer of its own, a column is read as its pages are needed.
        reader = parquet.ParquetFile(
            self.file, metadata=self.metadata, read_dictionary=list(leaves), pre_buffer=False, buffer_size=_BUFFER
        )
        for batch in reader.iter_batches(self.size, row_groups=[group], columns=list(self.names)):
            batch.validate(full=True)
            yield without_marks(pa.Table.from_batches([batch]))


def _text_leaves(schema: Any, names: set[str]) -> list[str]:
    """The paths of the text columns in those named."""
    columns = [schema.column(number) for number in range(len(schema))]
    return [
        column.path
        for column in columns
        if column.logical_type.type == "STRING" and (column.path in names or column.path.split(".")[0] in names)
    ]


def open_arrow(file: pa.NativeFile, is_file: bool) -> Columnar:
    """`is_file` tells Arrow's file format from its stream format, which has no directory of its batches."""
    import pyarrow as pa

    whole = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)

    def parts(names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        file.seek(0)
        chosen = [whole.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=chosen)
        if is_file:
            reader = pa.ipc.open_file(file, options=options)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            batches = iter(pa.ipc.open_stream(file, options=options))
        for batch in batches:
            batch.validate(full=True)
            yield without_marks(pa.Table.from_batches([batch]).select(list(names)))

    return Columnar(_unmarked(whole.schema), None, parts)


def _unmarked(schema: pa.Schema) -> pa.Schema:
    return without_marks(schema.empty_table()).schema
