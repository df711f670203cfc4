"""Results beside the rows that they are about: appended to the input's table, and written to a file or standard output.

In: the input's table and the results as columns. Out: one table; or its bytes as Parquet, Arrow, CSV or JSON Lines. A
file appears whole or not at all: what stood there before stays until all bytes of the new one are on the disk.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, cast

from ucl.tables import errors
from ucl.tables.cells import Cells, marked, without_marks
from ucl.tables.formats.blocks import OnRows, blocks_of, ignore_rows
from ucl.tables.formats.csv_lines import write_csv
from ucl.tables.formats.dictionaries import GrowingDictionaries
from ucl.tables.formats.json_lines import write_json, write_json_lines

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from ucl.tables.parquet.beside import Standing

STDOUT = "-"
_PIECE = 1 << 16


@dataclass(frozen=True)
class ResultColumns:
    """What is said of each row, as Arrow arrays of one length; null where the row is invalid.

    `total` is double, `feasible` and `contested` are bool, `decision` is text, `fired`, `violated` and `shadow` are
    lists of text, `contributions` maps rules to doubles. `invalid` is null, or a struct of `field`, `reason` and
    `value`, the last as JSON text. `metadata` says what holds for the whole call: now, timezone, folds, gaps, invalid
    rows.
    """

    total: pa.Array
    feasible: pa.Array
    contested: pa.Array
    decision: pa.Array
    fired: pa.Array
    violated: pa.Array
    shadow: pa.Array
    invalid: pa.Array
    contributions: pa.Array
    metadata: Mapping[str, str] = field(default_factory=dict)

    def named(self) -> dict[str, pa.Array]:
        """The columns under the names that they have in tables."""
        return {
            "ucl_total": self.total,
            "ucl_feasible": self.feasible,
            "ucl_contested": self.contested,
            "ucl_decision": self.decision,
            "ucl_fired": self.fired,
            "ucl_violated": self.violated,
            "ucl_shadow": self.shadow,
            "ucl_invalid": self.invalid,
            "ucl_contributions": self.contributions,
        }


RESULT_NAMES = tuple(f"ucl_{each.name}" for each in fields(ResultColumns) if each.name != "metadata")
"""The names of the columns that results add to a table."""


def refuse_taken_names(names: Iterable[str]) -> None:
    """Raises `TableError` where a table has a column of a result's name."""
    taken = sorted(set(names) & set(RESULT_NAMES), key=RESULT_NAMES.index)
    if taken:
        raise errors.name_taken(taken)


def append_results(table: pa.Table, results: ResultColumns) -> pa.Table:
    """The table with the results' columns after its own, and the call's facts as `ucl_…` metadata of its schema.

    Raises `TableError` where the table has a column of one of these names.
    """
    import pyarrow as pa

    named = results.named()
    refuse_taken_names(table.column_names)
    named["ucl_invalid"] = _with_json_value(results.invalid)
    for name, column in named.items():
        table = table.append_column(pa.field(name, column.type), column)
    facts = {f"ucl_{key}": value for key, value in results.metadata.items()}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **facts})


def table_of_results(
    numbers: NDArray[np.int64], named: Mapping[str, pa.Array], metadata: Mapping[str, str]
) -> pa.Table:
    """A table of `ucl_row`, the rows' numbers in the input, and of the columns named."""
    import pyarrow as pa

    columns = {"ucl_row": pa.array(numbers), **named}
    if "ucl_invalid" in columns:
        columns["ucl_invalid"] = _with_json_value(columns["ucl_invalid"])
    schema = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
    facts = {f"ucl_{key}": value for key, value in metadata.items()}
    return pa.Table.from_arrays(list(columns.values()), schema=schema.with_metadata(facts))


def _with_json_value(invalid: pa.Array) -> pa.Array:
    """Marked, so that the text formats write the value itself, and not a text of its JSON."""
    import pyarrow as pa

    fields = [marked(field, Cells.JSON) if field.name == "value" else field for field in invalid.type]
    return invalid.cast(pa.struct(fields))


def write_table(table: pa.Table, path: str | None, format: str, on_rows: OnRows = ignore_rows) -> None:
    """Writes to the file at `path`, or to standard output for None or `-`, as parquet arrow csv json or jsonl.

    `on_rows` is told how many more rows have been written, each time that some have.

    Raises `TableError` where the disk or the format refuses; a reader of standard output that went away is a
    `BrokenPipeError`, as everywhere.
    """
    write_parts([table], path, format, on_rows)


def write_parts(
    parts: Iterable[pa.Table],
    path: str | None,
    format: str,
    on_rows: OnRows = ignore_rows,
    facts: Callable[[], Mapping[str, str]] = dict,
    beside: Standing | None = None,
) -> None:
    """The same of a table that comes in parts of one schema, of which there is at least one; one is held at a time.

    `facts` are known once all parts are, and stand in the metadata of Parquet. Parts are put `beside` the columns of a
    Parquet file of as many rows, where one is given. To Parquet, the names that results tell may come as codes.
    """
    writer = _WRITERS.get(format) if beside is None else _beside(beside)
    if writer is None:
        raise errors.unknown_format(format, _WRITERS)
    if path == STDOUT:
        path = None

    def write(sink: IO[bytes]) -> None:
        writer(parts, sink, on_rows, facts)

    try:
        if path is None:
            sys.stdout.flush()
            write(cast(IO[bytes], _Piecewise(sys.stdout.buffer)))
            sys.stdout.buffer.flush()
        elif _is_special(path):
            with open(path, "wb") as file:
                write(cast(IO[bytes], _Piecewise(file)))
        else:
            _write_file(os.path.realpath(path), write)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise errors.unwritable("standard output" if path is None else path, problem) from problem


_Facts = Callable[[], Mapping[str, str]]
_Writer = Callable[["Iterable[pa.Table]", IO[bytes], OnRows, _Facts], None]
_Write = Callable[[IO[bytes]], None]


class _Piecewise(io.BufferedIOBase):
    """Standard output, a pipe or a device: not to be closed, and without a place to go back to.

    Piece by piece: of one large write, the system may not say that its reader went away in the middle.
    """

    def __init__(self, sink: IO[bytes]) -> None:
        super().__init__()
        self._sink = sink
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _PIECE):
            self._sink.write(view[start : start + _PIECE])
        self._written += len(view)
        return len(view)

    def flush(self) -> None:
        self._sink.flush()

    def tell(self) -> int:
        return self._written

    def close(self) -> None:
        """Leaves what is below open."""


def _is_special(path: str) -> bool:
    """Devices and pipes are written to; only plain files can be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_file(path: str, write: _Write) -> None:
    """A temporary file beside the target takes its place when it is whole, with the permissions that the target had."""
    if os.path.isdir(path):
        raise IsADirectoryError(21, "it is a folder")
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write_parquet(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows, facts: _Facts) -> None:
    import pyarrow as pa

    from ucl.tables.parquet.settings import file_facts, parquet_writer, with_texts

    first, rest = _first(parts)
    try:
        with parquet_writer(sink, first.schema) as writer:
            for part in chain([first], rest):
                for block in blocks_of(part, on_rows):
                    writer.write_table(block)
            writer.add_key_value_metadata(file_facts(with_texts(first.schema, RESULT_NAMES), facts()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        raise errors.unwritable_type("Parquet", str(problem).partition("\n")[0]) from problem


def _write_arrow(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows, facts: _Facts) -> None:
    import pyarrow as pa

    first, rest = _first(parts)
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    dictionaries = GrowingDictionaries()
    try:
        with pa.ipc.new_file(sink, first.schema, options=options) as writer:
            for part in chain([first], rest):
                for block in blocks_of(part, on_rows):
                    writer.write_table(dictionaries.placed(block))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        raise errors.unwritable_type("Arrow", str(problem).partition("\n")[0]) from problem


def _first(parts: Iterable[pa.Table]) -> tuple[pa.Table, Iterator[pa.Table]]:
    """The first part, which says the schema of all, and the rest."""
    clean = map(without_marks, parts)
    return next(clean), clean


def _beside(standing: Standing) -> _Writer:
    from ucl.tables.parquet.beside import write_beside

    def writer(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows, facts: _Facts) -> None:
        write_beside(standing, map(without_marks, parts), sink, on_rows, facts)

    return writer


def _text(write: Callable[[Iterable[pa.Table], IO[bytes], OnRows], object]) -> _Writer:
    """Text has no place for facts."""

    def writer(parts: Iterable[pa.Table], sink: IO[bytes], on_rows: OnRows, facts: _Facts) -> None:
        write(parts, sink, on_rows)

    return writer


_WRITERS: dict[str, _Writer] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "csv": _text(write_csv),
    "json": _text(write_json),
    "jsonl": _text(write_json_lines),
}
