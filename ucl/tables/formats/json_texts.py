"""Each cell of a column as JSON text, by whole columns.

In: a column. Out: an Arrow array of texts, `null` where a cell is absent; what they say is what `plain` gives. Numbers
are spelled by Arrow, each distinct text is quoted once, and lists and objects are joined from the texts within.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ucl.tables.cells import Cells, cells_of
from ucl.tables.formats.plain import from_json_cell, plain
from ucl.tables.ingest.readers.kinds import is_text

if TYPE_CHECKING:
    import pyarrow as pa

said = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""One value as JSON text."""


def json_texts(column: pa.ChunkedArray, cells: Cells) -> pa.Array:
    import pyarrow as pa

    kinds, type = pa.types, column.type
    if cells is Cells.JSON:
        return _by_distinct(column, lambda cell: said(from_json_cell(cell)))
    if kinds.is_dictionary(type):
        return json_texts(column.cast(type.value_type), cells)
    if is_text(type):
        return _by_distinct(column, said)
    if kinds.is_integer(type) or kinds.is_boolean(type) or kinds.is_null(type):
        return _or_null(column.cast(pa.string()).combine_chunks())
    if kinds.is_floating(type):
        return _numbers(column)
    if kinds.is_list(type) or kinds.is_large_list(type):
        lists = column.combine_chunks()
        elements = json_texts(pa.chunked_array([lists.flatten()]), Cells.TYPED)
        return _or_null(_joined("[", join_lists(lists, elements, ", "), "]"))
    if kinds.is_struct(type) and len({field.name for field in type}) == type.num_fields:
        return _objects(column)
    if kinds.is_map(type) and is_text(type.key_type):
        return map_texts(column, lambda values: json_texts(values, Cells.TYPED))
    return pa.array(map(said, plain(column, cells)), pa.string())


def object_texts(names: Iterable[str], values: Iterable[pa.Array], rows: int) -> pa.Array:
    """Objects from the JSON texts of their values."""
    import pyarrow as pa

    parts: list[Any] = []
    for name, texts in zip(names, values):
        parts += [f"{', ' if parts else '{'}{said(name)}: ", texts]
    return _joined(*parts, "}") if parts else pa.array(["{}"] * rows, pa.string())


def map_texts(column: pa.ChunkedArray, values_of: Callable[[pa.ChunkedArray], pa.Array]) -> pa.Array:
    """Objects from maps whose keys are texts; `values_of` makes texts of their values."""
    import pyarrow as pa

    maps = column.combine_chunks()
    lists = maps.cast(pa.list_(pa.struct([("key", maps.type.key_type), ("value", maps.type.item_type)])))
    keys, values = (pa.chunked_array([lists.flatten().field(place)]) for place in (0, 1))
    pairs = _joined(json_texts(keys, Cells.TYPED), ": ", values_of(values))
    return _or_null(_joined("{", join_lists(lists, pairs, ", "), "}"))


def join_lists(lists: pa.Array, elements: pa.Array, separator: str) -> pa.Array:
    """The texts of each list's elements, one after the other; null where there is no list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths.cast(pa.int32()))])
    texts = pc.binary_join(pa.ListArray.from_arrays(offsets, elements), separator)
    return pc.if_else(lists.is_valid(), texts, pa.scalar(None, pa.string()))


def _by_distinct(column: pa.ChunkedArray, text: Callable[[Any], str]) -> pa.Array:
    import pyarrow as pa

    encoded = column.combine_chunks().dictionary_encode()
    words = pa.array(map(text, encoded.dictionary.to_pylist()), pa.string())
    return _or_null(words.take(encoded.indices))


def _numbers(column: pa.ChunkedArray) -> pa.Array:
    """NaN is absent, and what is infinite a text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column).combine_chunks()
    texts = numbers.cast(pa.string())
    return _or_null(pc.if_else(pc.is_inf(numbers), _joined('"', texts, '"'), texts))


def _objects(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [field.name for field in column.type]
    values = [json_texts(pc.struct_field(column, [place]), cells_of(field)) for place, field in enumerate(column.type)]
    valid = column.is_valid().combine_chunks()
    return _or_null(pc.if_else(valid, object_texts(names, values, len(column)), pa.scalar(None, pa.string())))


def _joined(*parts: Any) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*parts, "")


def _or_null(texts: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.fill_null(texts, "null")
