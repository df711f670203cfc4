"""A file of any size, scored in parts: read, scored and written at the same time, in constant memory.

In: a program, a call, a path. Out: a `FileRun`, which goes over the file once: for results part by part, for a file
of them, or for the best rows. A thread reads and decodes the next part while this one is scored, and whoever writes
does so while the next is scored. What needs the whole table (rules that compare rows with each other, an array of
JSON) is read at once, and is one part; `held` says why.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ucl.kernels.execution.whole import compares_rows
from ucl.kernels.lower import lower
from ucl.scoring import errors
from ucl.scoring.results.choice_sets import choice_sets, group_column
from ucl.scoring.results.counts import Counts
from ucl.scoring.results.making import score_planned
from ucl.scoring.results.result import ColumnsWanted, Result
from ucl.scoring.streaming.best import Best
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.spans import span
from ucl.tables.files import read_table
from ucl.tables.formats.blocks import ignore_rows, joined
from ucl.tables.ingest.places import columns_read, find_places
from ucl.tables.output import RESULT_NAMES, refuse_taken_names, write_parts
from ucl.tables.parquet.settings import NUMBERS
from ucl.tables.streams import TableStream, open_stream, spooled
from ucl.tables.streams.ahead import ahead
from ucl.tables.streams.opening import BYTES_AT_ONCE, ROWS_AT_ONCE
from ucl.tables.streams.room import least_bytes, refuse_what_does_not_fit

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.kernels.plan import Plan
    from ucl.tables.parquet.beside import Standing


@dataclass(frozen=True)
class Part:
    """How large parts are: rows of Parquet and Arrow, bytes of text."""

    rows: int = ROWS_AT_ONCE
    bytes: int = BYTES_AT_ONCE


@dataclass
class FileRun:
    """One way over a file; only one of `parts`, `write`, `lines` and `best` may be asked for, and once.

    `counts` are of what has been scored so far. `rows` is how many rows there are, where that is known at the start.
    `held` says why the whole table had to be held in memory, where it had to.
    """

    program: Program
    schema: Schema
    call: Call
    plan: Plan
    rows: int | None
    held: str | None
    _tables: Callable[[bool], Iterator[pa.Table]] = field(repr=False)
    _file_schema: pa.Schema = field(repr=False)
    _standing: Callable[[], Standing | None] | None = field(repr=False, default=None)
    group_by: str | None = None
    threads: int | None = None
    on_compile: Callable[[], None] | None = None
    counts: Counts = field(default_factory=Counts)

    def parts(self, own_columns: bool = False) -> Iterator[Result]:
        """The results in order, each row with its number in the file. `own_columns`: with all columns of the input."""
        first = 0
        for table in _waited_for(self._tables(own_columns), _FOR_PARTS):
            group_by = self.group_by if self.held else None
            numbers = np.arange(first, first + table.num_rows)
            if first == 0 and self.group_by is not None and not self.held:
                choice_sets(table, self.group_by, self.schema)  # says what is wrong with the column
            part = score_planned(
                self.program, self.schema, self.call, self.plan, table, group_by, self.threads, self.on_compile, numbers
            )
            self.counts += part.counts
            first += table.num_rows
            yield part

    def write(
        self, path: str | None, format: str, columns: ColumnsWanted, on_rows: Callable[[int], None] = ignore_rows
    ) -> None:
        """Writes all rows, part by part, each while the next is scored. Raises `TableError`.

        From Parquet to Parquet the input's own columns are copied as they are, where they can be.
        """
        parquet, beside = format == "parquet", None
        if columns == "all":
            refuse_taken_names(self._file_schema.names)
            beside = self._standing() if parquet and self._standing else None
        if beside is None:
            tables = self._made(columns, columns == "all", parquet, on_rows)
        else:
            tables = (table.drop_columns(["ucl_row"]) for table in self._made("results", False, True, on_rows))
        with span("writing"):
            write_parts(_waited_for(ahead(tables), _FOR_SCORES), path, format, facts=self.facts, beside=beside)

    def _made(
        self, columns: ColumnsWanted, own_columns: bool, coded: bool, on_rows: Callable[[int], None]
    ) -> Iterator[pa.Table]:
        """Tables of one schema."""
        for part in self.parts(own_columns):
            with span("telling what fired"):
                table = self._restored(part.to_arrow(columns=columns, coded=coded))
            facts = table.schema.metadata or {}
            yield table.replace_schema_metadata({key: facts[key] for key in facts if key not in _COUNTED})
            on_rows(len(part))

    def facts(self) -> dict[str, str]:
        """What the metadata of a whole table says of it beyond the call; right once the last part was scored."""
        counts = self.counts
        return {"ucl_folds": f"{counts.folds}", "ucl_gaps": f"{counts.gaps}", "ucl_invalid_rows": f"{counts.invalid}"}

    def lines(self, reasons: bool, on_rows: Callable[[int], None]) -> Iterator[str]:
        """Each row's object as JSON text, made while those before them are written."""
        for texts in _waited_for(ahead(self._texts(reasons)), _FOR_SCORES):
            yield from texts
            on_rows(len(texts))

    def _texts(self, reasons: bool) -> Iterator[list[str]]:
        for part in self.parts():
            with span("telling what fired"):
                rows = part.rows(reasons=True) if reasons else ()
                texts = [json.dumps(row, ensure_ascii=False) for row in rows] if reasons else list(part.json_lines())
            yield texts

    def best(self, top: int, on_rows: Callable[[int], None]) -> Result:
        """The first `top` rows of the ranking as a result of their own, best first, with their numbers in the file."""
        best = Best(top, self._restored)
        last = None
        for part in self.parts(own_columns=True):
            with span("ranking"):
                best.add(part)
            on_rows(len(part))
            last = part
        if self.held:
            assert last is not None
            rows = np.array([place.row for place in last.ranking(top)], np.int64)
            return last.part(rows, self._restored(last.table.take(rows)))
        table, numbers = best.rows()
        scored = (self.program, self.schema, self.call, self.plan, table, self.group_by, 1, self.on_compile)
        return score_planned(*scored, numbers)

    def _restored(self, table: pa.Table) -> pa.Table:
        """The input's columns with the types that they have in the file."""
        for place, own in enumerate(table.schema):
            at = self._file_schema.get_field_index(own.name)
            if at >= 0 and self._file_schema.field(at).type != own.type and own.name not in _OURS:
                known = self._file_schema.field(at)
                table = table.set_column(place, known, table.column(place).cast(known.type))
        return table


T = TypeVar("T")


def _waited_for(parts: Iterator[T], what: str) -> Iterator[T]:
    """The same; how long each was waited for is a span."""
    while True:
        with span(what):
            part = next(parts, None)
        if part is None:
            return
        yield part


_FOR_PARTS, _FOR_SCORES = "waiting for the next part", "waiting for scores"


_OURS = {NUMBERS, *RESULT_NAMES}

# Metadata of one part says nothing of the whole.
_COUNTED = (b"ucl_folds", b"ucl_gaps", b"ucl_invalid_rows")


@contextmanager
def open_run(
    program: Program,
    schema: Schema,
    call: Call,
    path: str,
    *,
    format: str | None = None,
    group_by: str | None = None,
    threads: int | None = None,
    on_compile: Callable[[], None] | None = None,
    part: Part = Part(),
    name: str | None = None,
) -> Iterator[FileRun]:
    """The run of a program over a file; `name` is the file's, for messages.

    Raises `CallError` or `TableError` here where that can be told at once.
    """
    with errors.bounded(), span("lowering"):
        plan = lower(program, schema, call)
    run = partial(FileRun, program, schema, call, plan, group_by=group_by, threads=threads, on_compile=on_compile)
    name = name or ("standard input" if path == "-" else path)
    with spooled(path) as plain:
        with open_stream(plain, format=format, name=name, rows_at_once=part.rows, bytes_at_once=part.bytes) as stream:
            if stream is not None:
                tables, held = _streamed(stream, schema, group_by), None
                if compares_rows(plan):
                    tables, held = _at_once(tables, plain, stream), _COMPARES
                yield run(stream.rows, held, tables, stream.schema, stream.standing)
                return
        refuse_what_does_not_fit(name, os.stat(plain).st_size, _ONE_VALUE)
        table = read_table(plain, format=format, name=name)
        yield run(table.num_rows, _ONE_VALUE, lambda _: iter([table]), table.schema)


_COMPARES = "the program compares each row with the others"
_ONE_VALUE = "the file is one value of JSON"


def _streamed(stream: TableStream, schema: Schema, group_by: str | None) -> Callable[[bool], Iterator[pa.Table]]:
    """Reads the columns that the schema and the grouping name, or all. What is missing is said before."""
    names = stream.schema.names
    find_places(stream.schema.empty_table(), schema)
    coded = columns_read(names, schema)
    wanted = {*coded, group_column(names, group_by, schema)}

    def tables(own_columns: bool) -> Iterator[pa.Table]:
        return stream.parts([name for name in names if own_columns or name in wanted], coded)

    return tables


def _at_once(
    tables: Callable[[bool], Iterator[pa.Table]], path: str, stream: TableStream
) -> Callable[[bool], Iterator[pa.Table]]:
    """All parts as one, where memory may hold them: with less to each row than the file read as a whole would have."""

    def whole(own_columns: bool) -> Iterator[pa.Table]:
        parts = tables(own_columns)
        first = next(parts)
        refuse_what_does_not_fit(stream.name, least_bytes(path, first.schema, stream.rows), _COMPARES)
        yield joined([first, *parts])

    return whole
