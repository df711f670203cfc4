"""The text of a CSV file to an Arrow table of text columns.

In: the bytes. Out: a column of text for each name in the header, marked as CSV cells; an empty cell is null. RFC 4180
with `,`, `;` or tab. Arrow's parser is fast and forgiving; what it forgives (quotes in the wrong place) and what it
says badly (where a row is ragged) is found here.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.cells import Cells, marked

if TYPE_CHECKING:
    import pyarrow as pa

_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 26
# Bytes that are not UTF-8, as `surrogateescape` keeps them.
_ESCAPED = re.compile("[\udc80-\udcff]")
_QUOTE, _LF, _CR = ord('"'), ord("\n"), ord("\r")


def read_csv(data: bytes, name: str) -> pa.Table:
    """The table, all cells text. `name` is the file's, for messages. Raises `TableError`."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    data = data.removeprefix(_BOM)
    if b"\0" in data:
        raise errors.not_text(name)
    header, separator = _header(data, name)
    line = _stray_quote_line(data, separator)
    if line is not None:
        raise errors.stray_quote(name, line)
    try:
        table = arrow_csv.read_csv(
            # A last line without its end would not count as a header.
            pa.py_buffer(data if data.endswith(b"\n") else data + b"\n"),
            read_options=arrow_csv.ReadOptions(block_size=max(_BLOCK, len(data) // 16)),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                # In a table of one column an empty line is a row whose cell is empty.
                ignore_empty_lines=len(header) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={column: pa.string() for column in header},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowException as problem:
        raise _explained(data, separator, len(header), name, str(problem)) from problem
    return table.cast(pa.schema([marked(field, Cells.CSV) for field in table.schema]))


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


def _explained(data: bytes, separator: str, columns: int, name: str, problem: str) -> errors.TableError:
    """What Arrow refused, with its line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as undecodable:
        return errors.not_utf8(name, 1 + data.count(b"\n", 0, undecodable.start))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if row and len(row) != columns:
                return errors.ragged_row(name, reader.line_num, columns, len(row))
    except csv.Error as unreadable:
        return errors.bad_csv(name, str(unreadable))
    return errors.bad_csv(name, problem.partition("\n")[0].lower())
