"""A table as it comes in, from a file, a query or a caller, made one that every reader and writer can work with.

In: a `pa.Table`. Out: the same table with plain texts and lists where Arrow's views stood, and cells where runs of
equal ones did, which most of Arrow's own functions don't take; dictionaries without null; or a `TableError` where types
are nested deeper than any schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.ingest.readers.kinds import is_list
from ucl.tables.ingest.readers.reading import without_null_words

if TYPE_CHECKING:
    import pyarrow as pa

# As deep as programs nest.
_DEEPEST = 100


def admitted(table: pa.Table) -> pa.Table:
    """Columns that are plain already are not copied. Raises `TableError`."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if _is_too_deep(field.type):
            raise errors.too_deep(field.name)
        column, type = table.column(place), _plain_type(field.type)
        if type == field.type and not pa.types.is_dictionary(type):
            continue
        chunks = [without_null_words(_plain(chunk)) for chunk in column.chunks]
        if any(chunk is not before for chunk, before in zip(chunks, column.chunks)) or type != field.type:
            table = table.set_column(place, field.with_type(type), pa.chunked_array(chunks, type))
    return table


def _is_too_deep(type: pa.DataType) -> bool:
    level = [type]
    for _ in range(_DEEPEST):
        level = [child for outer in level for child in _children(outer)]
        if not level:
            return False
    return True


def _children(type: pa.DataType) -> list[pa.DataType]:
    import pyarrow as pa

    if pa.types.is_dictionary(type):
        return [type.value_type]
    return [type.field(place).type for place in range(type.num_fields)]


def _plain_type(type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_string_view(type):
        return pa.large_string()
    if kinds.is_binary_view(type):
        return pa.large_binary()
    if kinds.is_run_end_encoded(type):
        return _plain_type(type.value_type)
    if kinds.is_dictionary(type):
        value = _plain_type(type.value_type)
        return type if value == type.value_type else pa.dictionary(type.index_type, value, type.ordered)
    if kinds.is_struct(type):
        return pa.struct([field.with_type(_plain_type(field.type)) for field in type])
    if kinds.is_map(type):
        return pa.map_(_plain_type(type.key_type), _plain_type(type.item_type), type.keys_sorted)
    if is_list(type):
        value = _plain_type(type.value_type)
        is_view = kinds.is_list_view(type) or kinds.is_large_list_view(type)
        return pa.large_list(type.value_field.with_type(value)) if is_view or value != type.value_type else type
    return type


def _plain(array: pa.Array) -> pa.Array:
    """The array in its plain type. Arrow's own cast of list views gives wrong offsets, or none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type = _plain_type(array.type)
    if type == array.type:
        return array
    if pa.types.is_run_end_encoded(array.type):
        return _plain(pc.run_end_decode(array))
    if pa.types.is_struct(array.type):
        parts = [_plain(array.field(place)) for place in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(type), mask=array.is_null())
    if is_list(array.type):
        ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64()))
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        return pa.LargeListArray.from_arrays(offsets, _plain(array.flatten()), type=type, mask=array.is_null())
    if pa.types.is_map(array.type):
        return pa.array(array.to_pylist(), type)
    return array.cast(type)
