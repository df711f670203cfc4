"""A table as it comes in, from a file, a query or a caller, made one that every reader and writer can work with.

In: a `pa.Table`. Out: the same table with plain texts and lists where Arrow's views stood, which most of Arrow's own
functions don't take; or a `TableError` where types are nested deeper than any schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.tables import errors
from ucl.tables.ingest.readers.kinds import is_list

if TYPE_CHECKING:
    import pyarrow as pa

# As deep as programs nest.
_DEEPEST = 100


def admitted(table: pa.Table) -> pa.Table:
    """Columns without views are not copied. Raises `TableError`."""
    for place, field in enumerate(table.schema):
        if _is_too_deep(field.type):
            raise errors.too_deep(field.name)
        type = _without_views(field.type)
        if type != field.type:
            table = table.set_column(place, field.with_type(type), table.column(place).cast(type))
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


def _without_views(type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_string_view(type):
        return pa.large_string()
    if kinds.is_binary_view(type):
        return pa.large_binary()
    if kinds.is_dictionary(type):
        value = _without_views(type.value_type)
        return type if value == type.value_type else pa.dictionary(type.index_type, value, type.ordered)
    if kinds.is_struct(type):
        return pa.struct([field.with_type(_without_views(field.type)) for field in type])
    if kinds.is_map(type):
        return pa.map_(_without_views(type.key_type), _without_views(type.item_type), type.keys_sorted)
    if is_list(type):
        value = _without_views(type.value_type)
        plain = not (kinds.is_list_view(type) or kinds.is_large_list_view(type))
        return type if plain and value == type.value_type else pa.large_list(type.value_field.with_type(value))
    return type
