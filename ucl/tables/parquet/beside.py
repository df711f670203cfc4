"""Results put beside the columns of a Parquet file, which are copied byte for byte.

In: a file, and tables of results for its rows in order. Out: a Parquet file of both. A column is stored for each row
group by itself, wherever in the file: its bytes mean the same in another place. So what a file says of its columns
(statistics, encodings, compression) stays as it was, and costs no more than a copy; results get row groups of the same
rows, each encoded as a small file of its own, whose columns are then moved over. The footer, which says where
everything is, is made of both (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.parquet.compact import (
    BINARY,
    I32,
    I64,
    LIST,
    MAGIC,
    STRUCT,
    TAIL,
    Items,
    Struct,
    decode,
    footer_size,
    framed,
)
from ucl.tables.parquet.settings import file_facts, parquet_writer, with_texts

if TYPE_CHECKING:
    import pyarrow as pa

# A row group's results are held in memory; with few rows to each, the small files cost more than what is copied.
_MOST_ROWS, _LEAST_ROWS = 1 << 21, 1 << 13
_LARGEST_FOOTER = 1 << 22
_COPIED_AT_ONCE = 1 << 22

# Numbers of fields: of the file, of a schema's element, of a fact, of a row group, of a column chunk, of its metadata.
_SCHEMA, _ROWS, _GROUPS, _FACTS, _CREATED_BY, _ORDERS, _ENCRYPTION = 2, 3, 4, 5, 6, 7, 8
_CHILDREN = 5
_KEY, _VALUE = 1, 2
_CHUNKS, _GROUP_BYTES, _GROUP_ROWS, _GROUP_START, _GROUP_STORED, _ORDINAL = 1, 2, 3, 5, 6, 7
_OTHER_FILE, _CHUNK_START, _METADATA, _INDEXES, _CRYPTO = 1, 2, 3, (4, 5, 6, 7), (8, 9)
_STORED, _DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER = 7, 9, 10, 11, (14, 15)


@dataclass(frozen=True)
class Standing:
    """A file whose columns can be copied: where it is, its name for messages, its columns as Arrow has them."""

    path: str
    name: str
    schema: pa.Schema
    _footer: Struct = field(repr=False)

    @property
    def groups(self) -> list[Struct]:
        return list(self._footer[_GROUPS][1].values)

    @property
    def rows_of_groups(self) -> list[int]:
        return [group[_GROUP_ROWS][1] for group in self.groups]

    @property
    def facts(self) -> list[Struct]:
        found = self._footer.get(_FACTS)
        return [] if found is None else list(found[1].values)

    def footer(self, groups: list[Struct], results: Struct, facts: Mapping[bytes, bytes]) -> Struct:
        """The footer of both: the file's own words, and what `results`, that of a small file, says of its columns."""
        footer = dict(self._footer)
        (root, *elements), (_, *more) = footer[_SCHEMA][1].values, results[_SCHEMA][1].values
        count = root[_CHILDREN][1] + results[_SCHEMA][1].values[0][_CHILDREN][1]
        footer[_SCHEMA] = LIST, Items(footer[_SCHEMA][1].kind, [{**root, _CHILDREN: (I32, count)}, *elements, *more])
        footer[_GROUPS] = LIST, Items(footer[_GROUPS][1].kind, groups)
        if _ORDERS in footer and _ORDERS in results:
            own, others = footer[_ORDERS][1], results[_ORDERS][1]
            footer[_ORDERS] = LIST, Items(own.kind, [*own.values, *others.values])
        else:
            footer.pop(_ORDERS, None)
        said = [{_KEY: (BINARY, key), _VALUE: (BINARY, value)} for key, value in facts.items()]
        kept = [fact for fact in self.facts if fact[_KEY][1] not in facts]
        footer[_FACTS] = LIST, Items(STRUCT, [*kept, *said])
        return footer


def standing(path: str, name: str, schema: pa.Schema) -> Standing | None:
    """The Parquet file at `path`, which pyarrow could open, where its columns can be copied."""
    try:
        footer = _footer_of(path)
    except (OSError, ValueError):
        return None
    if footer is None or _ENCRYPTION in footer or not _is_shaped(footer):
        return None
    found = Standing(path, name, schema, footer)
    sizes = found.rows_of_groups
    chunks = [chunk for group in found.groups for chunk in group[_CHUNKS][1].values]
    if any({_OTHER_FILE, *_CRYPTO} & set(chunk) for chunk in chunks) or not _inside(chunks, os.path.getsize(path)):
        return None
    fits = bool(sizes) and min(sizes) > 0 and max(sizes) <= _MOST_ROWS and sum(sizes) >= len(sizes[1:]) * _LEAST_ROWS
    return found if fits and sum(sizes) == footer[_ROWS][1] else None


def _is_shaped(footer: Struct) -> bool:
    """Whether what is read of a footer is there, and of the kinds that it has in Parquet. Whoever reads by a list of
    fields passes over those of another kind; here, they would be met later."""
    if not _has(footer, {_SCHEMA: LIST, _ROWS: I64, _GROUPS: LIST}, {_FACTS: LIST, _ORDERS: LIST}):
        return False
    elements, groups = _structs(footer[_SCHEMA][1]), _structs(footer[_GROUPS][1])
    facts = _structs(footer[_FACTS][1]) if _FACTS in footer else []
    if not elements or groups is None or facts is None or not _has(elements[0], {_CHILDREN: I32}):
        return False
    return all(map(_is_group, groups)) and all(_has(fact, {_KEY: BINARY}) for fact in facts)


def _is_group(group: Struct) -> bool:
    if not _has(group, {_CHUNKS: LIST, _GROUP_BYTES: I64, _GROUP_ROWS: I64}):
        return False
    chunks = _structs(group[_CHUNKS][1])
    return chunks is not None and all(_has(chunk, {_METADATA: STRUCT}) and _is_placed(chunk) for chunk in chunks)


def _is_placed(chunk: Struct) -> bool:
    places = {_STORED: I64, _DATA_PAGE: I64}
    return _has(chunk[_METADATA][1], places, {_INDEX_PAGE: I64, _DICTIONARY_PAGE: I64})


def _has(fields: Struct, needed: Mapping[int, int], others: Mapping[int, int] | None = None) -> bool:
    """Whether the needed fields are there, and each has its kind; the others, where they are."""
    there = {number: kind for number, kind in (others or {}).items() if number in fields}
    return all(number in fields and fields[number][0] == kind for number, kind in {**needed, **there}.items())


def _structs(items: Items) -> list[Struct] | None:
    """The values of a list, where they are structs."""
    return items.values if items.kind == STRUCT or not items.values else None


def _inside(chunks: list[Struct], end: int) -> bool:
    """Whether the chunks lie in the file, and are no more than it."""
    places = [_place(chunk) for chunk in chunks]
    inside = all(start >= len(MAGIC) and 0 <= size <= end - start for start, size in places)
    return inside and sum(size for _, size in places) <= end


def _footer_of(path: str) -> Struct | None:
    with open(path, "rb") as file:
        file.seek(-TAIL, io.SEEK_END)
        size = footer_size(file.read(TAIL))
        if size is None or size > _LARGEST_FOOTER:
            return None
        file.seek(-TAIL - size, io.SEEK_END)
        return decode(file.read(size))


def write_beside(
    standing: Standing,
    results: Iterable[pa.Table],
    sink: IO[bytes],
    on_rows: Callable[[int], None],
    facts: Callable[[], Mapping[str, str]],
) -> None:
    """`results` are of all rows in order; their names may come as codes. Raises `TableError` where the file shrinks."""
    import pyarrow as pa

    out = _Counting(sink)
    out.write(MAGIC)
    groups: list[Struct] = []
    tables = _regrouped(results, standing)
    with open(standing.path, "rb") as file:
        for group, table in zip(standing.groups, tables, strict=True):
            start = out.size
            own = [_moved(chunk, out.copy(file, *_place(chunk), standing.name)) for chunk in group[_CHUNKS][1].values]
            pages, footer = _encoded(table)
            shift = out.size - len(MAGIC)
            out.write(pages)
            (added,) = footer[_GROUPS][1].values
            moved = [_moved(chunk, shift) for chunk in added[_CHUNKS][1].values]
            groups.append(_joined(group, added, [*own, *moved], start))
            on_rows(table.num_rows)
    said = {**(standing.schema.metadata or {}), **(table.schema.metadata or {})}
    schema = pa.schema([*standing.schema, *with_texts(table.schema)], said)
    out.write(framed(standing.footer(groups, footer, file_facts(schema, facts()))))


def _encoded(table: pa.Table) -> tuple[memoryview, Struct]:
    """A small Parquet file of one row group: what it has between its first mark and its footer, and the footer."""
    sink = io.BytesIO()
    with parquet_writer(sink, table.schema.remove_metadata()) as writer:
        writer.write_table(table.replace_schema_metadata(None), row_group_size=table.num_rows)
    data = sink.getbuffer()
    end = len(data) - TAIL - (footer_size(bytes(data[-TAIL:])) or 0)
    return data[len(MAGIC) : end], decode(bytes(data[end:-TAIL]))


def _regrouped(tables: Iterable[pa.Table], standing: Standing) -> Iterator[pa.Table]:
    """The same rows in tables as long as the file's row groups. Raises `TableError` where its footer promised others
    than there were."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    wanted = iter(standing.rows_of_groups)
    size = next(wanted, None)
    for table in tables:
        waiting.append(table)
        rows = sum(each.num_rows for each in waiting)
        while size is not None and rows >= size:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, size)
            rows -= size
            waiting = [joined.slice(size)]
            size = next(wanted, None)
    if size is not None or any(table.num_rows for table in waiting):
        raise errors.damaged(standing.name, "Parquet")


class _Counting:
    """A sink that knows how much was written."""

    def __init__(self, sink: IO[bytes]) -> None:
        self._sink = sink
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        self._sink.write(data)
        self.size += len(data)

    def copy(self, file: IO[bytes], start: int, size: int, name: str) -> int:
        """Copies bytes of a file; gives by how much their place moved."""
        shift = self.size - start
        file.seek(start)
        while size:
            piece = file.read(min(size, _COPIED_AT_ONCE))
            if not piece:
                raise errors.damaged(name, "Parquet")
            self.write(piece)
            size -= len(piece)
        return shift


def _place(chunk: Struct) -> tuple[int, int]:
    """Where a column chunk begins, and its length."""
    metadata = chunk[_METADATA][1]
    first = metadata[_DATA_PAGE][1]
    dictionary = metadata.get(_DICTIONARY_PAGE, (I64, 0))[1]
    return min(first, dictionary) if dictionary > 0 else first, metadata[_STORED][1]


def _moved(chunk: Struct, shift: int) -> Struct:
    """The same chunk in another place. Indexes of pages and filters, which stand elsewhere, are left behind."""
    metadata = {number: value for number, value in chunk[_METADATA][1].items() if number not in _BLOOM_FILTER}
    for number in (_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE):
        if number in metadata:
            metadata[number] = I64, metadata[number][1] + shift
    moved = {number: value for number, value in chunk.items() if number not in _INDEXES}
    return {**moved, _CHUNK_START: (I64, 0), _METADATA: (chunk[_METADATA][0], metadata)}


def _joined(group: Struct, added: Struct, chunks: list[Struct], start: int) -> Struct:
    """A row group of all these column chunks, the first of which begins at `start`."""
    stored = sum(chunk[_METADATA][1][_STORED][1] for chunk in chunks)
    return {
        **{number: value for number, value in group.items() if number != _ORDINAL},
        _CHUNKS: (LIST, Items(group[_CHUNKS][1].kind, chunks)),
        _GROUP_BYTES: (I64, group[_GROUP_BYTES][1] + added[_GROUP_BYTES][1]),
        _GROUP_START: (I64, start),
        _GROUP_STORED: (I64, stored),
    }
