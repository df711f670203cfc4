"""Files of tables, standard input and SQL queries to Arrow.

In: a path, `-`, or a query. Out: a `pa.Table` that says what the file says and no more (`cells`). The format is told
by the name's ending, else by the first bytes. Every failure is a `TableError`.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.cells import without_marks
from ucl.tables.entry import admitted
from ucl.tables.formats.csv_text import read_csv
from ucl.tables.formats.json_text import read_json

if TYPE_CHECKING:
    import pyarrow as pa

STDIN = "-"
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
}
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_STREAM_START = b"\xff\xff\xff\xff"


def read_table(path: str, *, format: str | None = None) -> pa.Table:
    """The table in the file at `path`, or on standard input for `-`.

    `format` is one of csv json jsonl parquet arrow. CSV gives text columns only, with the empty cell absent; JSON gives
    typed columns where all rows agree. Raises `TableError`.
    """
    name = "standard input" if path == STDIN else path
    if format is not None and format not in _READERS:
        raise errors.unknown_format(format, _READERS)
    data = _contents(path)
    chosen = format or _format_by_name(path) or _format_by_content(data)
    table = admitted(_READERS[chosen](data, name))
    errors.refuse_duplicates(table.column_names)
    return table


def read_sql(query: str) -> pa.Table:
    """The rows of one DuckDB query, run in memory: the user's own words, which may name files. Raises `TableError`."""
    try:
        import duckdb
    except ImportError:
        raise errors.not_installed("duckdb", "sql") from None
    try:
        statements = duckdb.extract_statements(query)
        kinds = [statement.type.name.lower() for statement in statements]
        if kinds != ["select"]:
            raise errors.not_a_select(f"it has {' and '.join(kinds)}" if kinds else "it is empty")
        with duckdb.connect(":memory:") as connection:
            return admitted(connection.sql(query).to_arrow_table())
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as problem:
        raise errors.bad_query(str(problem).partition("\n")[0]) from problem
    except RuntimeError as problem:
        if "interrupted" in str(problem).lower():  # DuckDB's word for an interrupt of ours
            raise KeyboardInterrupt from None
        raise


def _contents(path: str) -> bytes:
    """All bytes at once: pipes can be read only once, and a map of a file that shrinks would crash."""
    name = "standard input" if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:  # closed by whoever started us
                raise OSError(errno.EBADF, "it is closed")
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise errors.unreadable_file(name, problem) from problem
    except ValueError as problem:
        # A name that no file can have.
        raise errors.unreadable_file(path, OSError(0, "no file has such a name")) from problem
    compression = _COMPRESSED.get(PurePath(path).suffix.lower())
    return data if compression is None else _decompressed(data, path, compression)


def _decompressed(data: bytes, path: str, compression: str) -> bytes:
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.py_buffer(data), compression) as stream:
            return bytes(stream.read())
    except (OSError, pa.ArrowException) as problem:
        raise errors.damaged(path, compression) from problem


def _format_by_name(path: str) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def _format_by_content(data: bytes) -> str:
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith((b"ARROW1", _STREAM_START)):
        return "arrow"
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return "json" if start.startswith((b"{", b"[")) else "csv"


def _read_parquet(data: bytes, name: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        return without_marks(parquet.ParquetFile(pa.BufferReader(data)).read())
    except (OSError, pa.ArrowException) as problem:
        raise errors.damaged(name, "Parquet") from problem


def _read_arrow(data: bytes, name: str) -> pa.Table:
    import pyarrow as pa

    try:
        source = pa.BufferReader(data)
        table = pa.ipc.open_file(source) if data.startswith(b"ARROW1") else pa.ipc.open_stream(source)
        whole = table.read_all()
        whole.validate(full=True)
    except (OSError, pa.ArrowException) as problem:
        raise errors.damaged(name, "Arrow") from problem
    return without_marks(whole)


_READERS: dict[str, Callable[[bytes, str], pa.Table]] = {
    "csv": read_csv,
    "json": read_json,
    "jsonl": read_json,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
