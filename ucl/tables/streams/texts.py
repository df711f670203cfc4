"""CSV and JSON Lines in parts: whole rows of so many bytes.

In: an open file. Out: tables of one schema. A part ends where a row does: with a line, of CSV outside of quotes. Each
part is read as a whole file would be, and messages count lines from the start of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from ucl.tables.formats.csv_text import BOM, CsvForm, csv_form, csv_rows
from ucl.tables.formats.json_text import json_rows, starts_with_an_object
from ucl.tables.streams.agreement import Agreement, conformed

if TYPE_CHECKING:
    import pyarrow as pa

# A row longer than this is a mistake, such as a quote that nothing closes.
_LONGEST_ROW = 1 << 28
_QUOTE = ord('"')


class CsvParts:
    """Every column is text; the header is read once, and again with the first part."""

    rows: int | None = None

    def __init__(self, file: IO[bytes], name: str, bytes_at_once: int) -> None:
        self._file, self._name, self._bytes_at_once = file, name, bytes_at_once
        file.seek(0)
        self._form: CsvForm = csv_form(file.read(max(bytes_at_once, 1 << 16)).removeprefix(BOM), name)

    @property
    def schema(self) -> pa.Schema:
        return self._form.schema

    def parts(self) -> Iterator[pa.Table]:
        self._file.seek(0)
        line, header = 1, True
        for piece in pieces(self._file, self._bytes_at_once, quotes=True):
            data = piece.removeprefix(BOM) if header else piece
            yield csv_rows(data, self._form, self._name, header, line)
            line, header = line + piece.count(b"\n"), False


class JsonParts:
    """The file is read twice: for the types on which all rows agree, then for the rows."""

    def __init__(self, file: IO[bytes], name: str, bytes_at_once: int) -> None:
        self._file, self._name, self._bytes_at_once = file, name, bytes_at_once
        agreed = Agreement(name)
        self.rows: int | None = sum(map(agreed.add, self._pieces()))
        self.schema = agreed.schema()

    def parts(self) -> Iterator[pa.Table]:
        for rows in self._pieces():
            yield conformed(rows, self.schema)

    def _pieces(self) -> Iterator[list[Mapping[str, Any]]]:
        self._file.seek(0)
        line = 1
        for piece in pieces(self._file, self._bytes_at_once, quotes=False):
            yield json_rows(piece.removeprefix(BOM) if line == 1 else piece, self._name, line)
            line += piece.count(b"\n")


def is_lines(file: IO[bytes]) -> bool:
    """Whether the JSON file has an object in its first line that says anything, and so one in each."""
    file.seek(0)
    while line := file.readline(_LONGEST_ROW):
        line = line.removeprefix(BOM)
        if line.strip():
            return starts_with_an_object(line)
    return False


def pieces(file: IO[bytes], size: int, quotes: bool) -> Iterator[bytes]:
    """The file's bytes in pieces of about `size` that end with a line; `quotes` may hold lines' ends."""
    rest = b""
    end = b"\n"
    while data := file.read(size):
        if not rest and b"\n" not in data and b"\r" in data:
            end = b"\r"  # lines as old computers ended them
        data = rest + data
        cut = _last_end(data, end) if quotes else data.rfind(end) + 1
        if cut == 0 and len(data) > _LONGEST_ROW:
            yield data  # whoever reads it says what is wrong
            return
        if cut:
            yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest


def _last_end(data: bytes, end: bytes) -> int:
    """Just behind the last end of a line that an even number of quotes stands before; 0 where there is none."""
    if b'"' not in data:
        return data.rfind(end) + 1
    import numpy as np

    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == end[0])
    before = np.searchsorted(np.flatnonzero(text == _QUOTE), ends)
    outside = ends[before % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0
