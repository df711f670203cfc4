"""A path to a stream: which files can be read in parts, and how.

In: a path, a format. Out: a `TableStream`, or None for what only makes sense as a whole (an array of JSON). What is no
plain file (standard input, a compressed one) is put on the disk first, where it can be read again and from any place.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from ucl.spans import span
from ucl.tables import errors
from ucl.tables.compression import COMPRESSED, unpack_into
from ucl.tables.entry import admitted
from ucl.tables.files import STDIN, TEXTS, UTF_16, format_of, not_whole, refuse_unknown
from ucl.tables.streams.ahead import ahead
from ucl.tables.streams.columnar import open_arrow, open_parquet
from ucl.tables.streams.texts import CsvParts, JsonParts, is_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.tables.parquet.beside import Standing

LARGE = 1 << 25
"""Bytes from which on a file is better read in parts than at once."""

ROWS_AT_ONCE = 1 << 17
BYTES_AT_ONCE = 1 << 23
_COPIED_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class TableStream:
    """`schema` is of the file's columns, `rows` how many rows it has where that is known before the last is read.

    `parts(names, coded)` gives the columns `names`, in order; texts among `coded` may come with the file's own codes.
    Parts have one schema, and there is at least one, which may have no rows. Raises `TableError` where one is damaged.
    """

    name: str
    schema: pa.Schema
    rows: int | None
    _parts: Callable[[Sequence[str], Sequence[str]], Iterator[pa.Table]] = field(repr=False)
    standing: Callable[[], Standing | None] | None = field(repr=False, default=None)
    """The file, where it is Parquet whose columns can be copied as they are."""

    def parts(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """A thread of its own reads the next part meanwhile."""
        return ahead(self._read(names, coded))

    def _read(self, names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        part, parts = None, self._parts(names, coded)
        while True:
            with span("reading"):
                found = next(parts, None)
                if found is None:
                    break
                part = admitted(found)
            yield part
        if part is None:
            yield admitted(self.schema.empty_table().select(list(names)))


def is_large(path: str) -> bool:
    """Whether a plain file, or what a compressed one unpacks to, is as large as `LARGE`, as far as can be told."""
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError):
        return False
    return size * (_USUAL_TIMES if PurePath(path).suffix.lower() in COMPRESSED else 1) >= LARGE


# As much as texts usually shrink.
_USUAL_TIMES = 5


@contextmanager
def spooled(path: str) -> Iterator[str]:
    """The path itself where it is a plain file; else that of a file with its unpacked bytes, gone after the context.

    Its name ends as the unpacked one's would. Raises `TableError`.
    """
    compression = None if path == STDIN else COMPRESSED.get(PurePath(path).suffix.lower())
    if path != STDIN and compression is None:
        yield path
        return
    ending = "" if path == STDIN else PurePath(PurePath(path).stem).suffix
    handle, temporary = tempfile.mkstemp(ending, "ucl-")
    try:
        with os.fdopen(handle, "wb") as sink:
            if compression is None:
                _copy_input(sink)
            else:
                unpack_into(sink, path, compression)
        yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _copy_input(sink: IO[bytes]) -> None:
    try:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        while piece := sys.stdin.buffer.read(_COPIED_AT_ONCE):
            sink.write(piece)
    except OSError as problem:
        raise errors.unreadable_file("standard input", problem) from problem


@contextmanager
def open_stream(
    path: str,
    *,
    format: str | None = None,
    name: str | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    bytes_at_once: int = BYTES_AT_ONCE,
) -> Iterator[TableStream | None]:
    """The table in the plain file at `path`; None where it can't be read in parts. `name` is for messages."""
    refuse_unknown(format)
    name = path if name is None else name
    with _opened_file(path, name) as file:
        start = file.read(4096)
        chosen = format or format_of(path, start)
        if chosen in TEXTS:
            if start.startswith(UTF_16):
                raise errors.utf_16(name)
            yield _of_text(file, chosen, name, bytes_at_once)
        else:
            yield _of_columns(path, start, chosen, name, rows_at_once)


def _opened_file(path: str, name: str) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except OSError as problem:
        raise errors.unreadable_file(name, problem) from problem
    except ValueError as problem:
        # A name that no file can have.
        raise errors.unreadable_file(name, OSError(0, "no file has such a name")) from problem


def _of_text(file: IO[bytes], format: str, name: str, bytes_at_once: int) -> TableStream | None:
    if format != "csv" and not is_lines(file):
        return None
    text = (CsvParts if format == "csv" else JsonParts)(file, name, bytes_at_once)
    return _stream(name, text.schema, text.rows, lambda names, _: (part.select(list(names)) for part in text.parts()))


def _of_columns(path: str, start: bytes, format: str, name: str, rows_at_once: int) -> TableStream:
    import pyarrow as pa

    file = pa.OSFile(path)  # which Arrow reads without Python's lock
    with _damage(start, name, format):
        if format == "parquet":
            columnar = open_parquet(file, rows_at_once)
        else:
            columnar = open_arrow(file, start.startswith(b"ARROW1"))

    def parts(names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        with _damage(start, name, format):
            for part in columnar.parts(names, coded):
                for first in range(0, max(part.num_rows, 1), rows_at_once):
                    # Of a table without columns Arrow would give as many rows as it is asked for.
                    yield part.slice(first, min(rows_at_once, part.num_rows - first))

    def standing() -> Standing | None:
        from ucl.tables.parquet.beside import standing

        return standing(path, name, columnar.schema)

    with _damage(start, name, format):  # of names, which are decoded when they are asked for
        return _stream(name, columnar.schema, columnar.rows, parts, standing if format == "parquet" else None)


def _stream(
    name: str,
    schema: pa.Schema,
    rows: int | None,
    parts: Callable[[Sequence[str], Sequence[str]], Iterator[pa.Table]],
    standing: Callable[[], Standing | None] | None = None,
) -> TableStream:
    errors.refuse_duplicates(schema.names)
    return TableStream(name, admitted(schema.empty_table()).schema, rows, parts, standing)


@contextmanager
def _damage(start: bytes, name: str, format: str) -> Iterator[None]:
    """What Arrow says of a file that is not whole, as our error."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        raise not_whole(start, name, format) from problem
