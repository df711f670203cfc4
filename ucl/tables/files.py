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
from ucl.tables.compression import COMPRESSED, unpacked
from ucl.tables.entry import admitted
from ucl.tables.formats.csv_text import read_csv
from ucl.tables.formats.json_text import read_json, read_json_lines

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
_STREAM_START = b"\xff\xff\xff\xff"
TEXTS = ("csv", "json", "jsonl")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_table(path: str, *, format: str | None = None, name: str | None = None) -> pa.Table:
    """The table in the file at `path`, or on standard input for `-`.

    `format` is one of csv json jsonl parquet arrow. CSV gives text columns only, with the empty cell absent; JSON gives
    typed columns where all rows agree. `name` is for messages. Raises `TableError`.
    """
    name = name or ("standard input" if path == STDIN else path)
    refuse_unknown(format)
    data = unpacked(_contents(path), path, name)
    chosen = format or format_of(path, data)
    if data.startswith(UTF_16) and chosen in TEXTS:
        raise errors.utf_16(name)
    table = admitted(_READERS[chosen](data, name))
    errors.refuse_duplicates(table.column_names)
    return table


def refuse_unknown(format: str | None) -> None:
    """Raises `TableError` for the name of a format that is none of ours."""
    if format is not None and format not in _READERS:
        raise errors.unknown_format(format, _READERS)


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
    return data


def format_of(path: str, start: bytes) -> str:
    """By the ending of the name, else by the file's first bytes."""
    return _format_by_name(path) or _format_by_content(start)


def _format_by_name(path: str) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
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
        whole = parquet.ParquetFile(pa.BufferReader(data)).read()
        # Parquet's own texts may be no UTF-8.
        whole.validate(full=True)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        raise not_whole(data, name, "parquet") from problem
    return without_marks(whole)


def _read_arrow(data: bytes, name: str) -> pa.Table:
    import pyarrow as pa

    try:
        source = pa.BufferReader(data)
        table = pa.ipc.open_file(source) if data.startswith(b"ARROW1") else pa.ipc.open_stream(source)
        whole = table.read_all()
        whole.validate(full=True)
        errors.refuse_duplicates(whole.column_names)  # which may be no UTF-8 either
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        raise not_whole(data, name, "arrow") from problem
    return without_marks(whole)


def not_whole(start: bytes, name: str, format: str) -> errors.TableError:
    """Of a Parquet or Arrow file that begins so: something else under the name, or what is left of the file."""
    kind, starts = _STARTS[format]
    return errors.damaged(name, kind) if not start or start.startswith(starts) else errors.not_of_kind(name, kind)


_STARTS = {"parquet": ("Parquet", (b"PAR1",)), "arrow": ("Arrow", (b"ARROW1", _STREAM_START))}
_READERS: dict[str, Callable[[bytes, str], pa.Table]] = {
    "csv": read_csv,
    "json": read_json,
    "jsonl": read_json_lines,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
