"""The text of a CSV file to an Arrow table of text columns.

In: the bytes. Out: a column of text for each name in the header, marked as CSV cells; an empty cell is null. RFC 4180
with `,`, `;` or tab. Arrow's parser is fast and forgiving; what it forgives (quotes in the wrong place) and what it
says badly (where a row is ragged) is found here.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.cells import Cells, marked

if TYPE_CHECKING:
    import pyarrow as pa

BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 26
# Bytes that are not UTF-8, as `surrogateescape` keeps them.
_ESCAPED = re.compile("[\udc80-\udcff]")
_QUOTE, _LF, _CR = ord('"'), ord("\n"), ord("\r")


@dataclass(frozen=True)
class CsvForm:
    """What the header says: the columns' names, and what separates them."""

    columns: tuple[str, ...]
    separator: str

    @cached_property
    def schema(self) -> pa.Schema:
        """All cells are text that is still to be read."""
        import pyarrow as pa

        return pa.schema([marked(pa.field(column, pa.string()), Cells.CSV) for column in self.columns])


def read_csv(data: bytes, name: str) -> pa.Table:
    """The table, all cells text. `name` is the file's, for messages. Raises `TableError`."""
    data = data.removeprefix(BOM)
    return csv_rows(data, csv_form(data, name), name)


def csv_form(data: bytes, name: str) -> CsvForm:
    """The form of the file that begins with `data`. Raises `TableError`."""
    if b"\0" in data:
        raise errors.not_text(name)
    columns, separator = _header(data, name)
    return CsvForm(tuple(columns), separator)


def csv_rows(data: bytes, form: CsvForm, name: str, header: bool = True, first_line: int = 1) -> pa.Table:
    """The rows in a piece of the file that begins in `first_line`, with the `header` or behind it."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if b"\0" in data:
        raise errors.not_text(name)
    line = _stray_quote_line(data, form.separator)
    if line is not None:
        raise errors.stray_quote(name, first_line + line - 1)
    try:
        table = arrow_csv.read_csv(
            # A last line without its end would not count as a header.
            pa.py_buffer(data if data.endswith(b"\n") else data + b"\n"),
            read_options=arrow_csv.ReadOptions(
                block_size=max(_BLOCK, len(data) // 16), column_names=None if header else list(form.columns)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=form.separator,
                newlines_in_values=True,
                # In a table of one column an empty line is a row whose cell is empty.
                ignore_empty_lines=len(form.columns) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={column: pa.string() for column in form.columns},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowException as problem:
        raise _explained(data, form, name, first_line, str(problem)) from problem
    return table.cast(form.schema)


def _header(data: bytes, name: str) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: a comma unless the line has none."""
    try:
        start = io.StringIO(data[:_BLOCK].decode("utf-8", "surrogateescape"), newline="")
        line = next((line for line in start if line.strip()), "")
        separator = next((mark for mark in ",;\t" if mark in line), ",")
        start.seek(0)
        header = next((row for row in csv.reader(start, delimiter=separator) if row), None)
    except csv.Error as problem:
        raise errors.bad_csv(name, str(problem)) from problem
    if header is None:
        raise errors.no_header(name)
    if any(_ESCAPED.search(column) for column in header):
        raise errors.not_utf8(name, 1)
    errors.refuse_duplicates(header)
    return header, separator


def _stray_quote_line(data: bytes, separator: str) -> int | None:
    """The line of the first quote that neither opens a cell, nor closes one, nor is doubled within one.

    Quotes open and close in turn, a doubled one being a close and an opening with nothing between.
    """
    if b'"' not in data:
        return None
    import numpy as np

    text = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(text == _QUOTE)
    padded = np.concatenate(([_LF], text, [_LF]))
    ends = np.zeros(256, np.bool_)
    ends[[_LF, _CR, ord(separator)]] = True
    opening, closing = places[::2], places[1::2]
    bad_opening = ~ends[padded[opening]]
    # Opening i follows closing i - 1.
    bad_opening[1:] &= opening[1:] != closing[: len(opening) - 1] + 1
    bad_closing = ~ends[padded[closing + 2]]
    bad_closing[: len(opening) - 1] &= (opening[1:] != closing[: len(opening) - 1] + 1)[: len(bad_closing)]
    bad = [*opening[bad_opening][:1], *closing[bad_closing][:1]]
    if not bad and len(places) % 2:
        bad = [places[-1]]
    return None if not bad else 1 + data.count(b"\n", 0, int(min(bad)))


def _explained(data: bytes, form: CsvForm, name: str, first_line: int, problem: str) -> errors.TableError:
    """What Arrow refused, with its line."""
    columns = len(form.columns)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as undecodable:
        return errors.not_utf8(name, first_line + data.count(b"\n", 0, undecodable.start))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=form.separator)
    try:
        for row in reader:
            if row and len(row) != columns:
                return errors.ragged_row(name, first_line + reader.line_num - 1, columns, len(row))
    except csv.Error as unreadable:
        return errors.bad_csv(name, str(unreadable))
    return errors.bad_csv(name, problem.partition("\n")[0].lower())
