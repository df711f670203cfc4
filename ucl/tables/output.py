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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.cells import Cells, marked, without_marks
from ucl.tables.formats.blocks import OnRows, blocks_of, ignore_rows
from ucl.tables.formats.csv_lines import write_csv
from ucl.tables.formats.json_lines import write_json, write_json_lines

if TYPE_CHECKING:
    import pyarrow as pa

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


def append_results(table: pa.Table, results: ResultColumns) -> pa.Table:
    """The table with the results' columns after its own, and the call's facts as `ucl_…` metadata of its schema.

    Raises `TableError` where the table has a column of one of these names.
    """
    import pyarrow as pa

    named = results.named()
    taken = [name for name in named if name in table.column_names]
    if taken:
        raise errors.name_taken(taken)
    named["ucl_invalid"] = _with_json_value(results.invalid)
    for name, column in named.items():
        table = table.append_column(pa.field(name, column.type), column)
    facts = {f"ucl_{key}": value for key, value in results.metadata.items()}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **facts})


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
    writer = _WRITERS.get(format)
    if writer is None:
        raise errors.unknown_format(format, _WRITERS)
    if path == STDOUT:
        path = None

    def write(sink: IO[bytes]) -> None:
        writer(table, sink, on_rows)

    try:
        if path is None:
            _write_stdout(write)
        elif _is_special(path):
            with open(path, "wb") as file:
                file.write(_bytes(write))
        else:
            _write_file(os.path.realpath(path), write)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise errors.unwritable("standard output" if path is None else path, problem) from problem


_Writer = Callable[["pa.Table", IO[bytes], OnRows], None]
_Write = Callable[[IO[bytes]], None]


def _write_stdout(write: _Write) -> None:
    """Piece by piece: of one large write, the system may not say that its reader went away in the middle."""
    data = memoryview(_bytes(write))
    sys.stdout.flush()
    for start in range(0, len(data), _PIECE):
        sys.stdout.buffer.write(data[start : start + _PIECE])
        sys.stdout.buffer.flush()


def _bytes(write: _Write) -> bytes:
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


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


def _write_parquet(table: pa.Table, sink: IO[bytes], on_rows: OnRows) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    clean = without_marks(table)
    try:
        with parquet.ParquetWriter(sink, clean.schema) as writer:
            for block in blocks_of(clean, on_rows):
                writer.write_table(block)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        raise errors.unwritable_type("Parquet", str(problem).partition("\n")[0]) from problem


def _write_arrow(table: pa.Table, sink: IO[bytes], on_rows: OnRows) -> None:
    import pyarrow as pa

    clean = without_marks(table)
    with pa.ipc.new_file(sink, clean.schema) as writer:
        for block in blocks_of(clean, on_rows):
            writer.write_table(block)


_WRITERS: dict[str, _Writer] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "csv": write_csv,
    "json": write_json,
    "jsonl": write_json_lines,
}
