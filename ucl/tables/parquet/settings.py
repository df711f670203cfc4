"""A Parquet writer for results: settings that were measured to be fast and small.

In: a sink, the schema of tables whose names may come as codes of a dictionary. Out: pyarrow's writer, and what the
file says its columns are: where results come as codes, texts.

Rows' numbers rise by one, which is nothing as differences, and eight bytes a row in a dictionary that overflows. The
least and greatest text of a few words, or of those within lists, help nobody to pass over rows, and finding them costs
as much as writing them. Snappy is as fast as no compression, since less is written.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERS = "ucl_row"


def parquet_writer(sink: IO[bytes], schema: pa.Schema) -> Any:
    """A `ParquetWriter`; whoever closes it adds `file_facts` before."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    leaves = [(path, plain) for field in schema for path, plain in _leaves(field.name, field.type)]
    # A table may have a column of its own of that name, and something else in it.
    rising = {field.name for field in schema if field.name == NUMBERS and pa.types.is_int64(field.type)}
    return parquet.ParquetWriter(
        sink,
        schema,
        compression="snappy",
        use_dictionary=[path for path, _ in leaves if path not in rising],
        write_statistics=[path for path, plain in leaves if plain],
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        store_schema=False,
    )


def _leaves(path: str, type: pa.DataType, alone: bool = True) -> Iterator[tuple[str, bool]]:
    """The columns that a column is in the file, and whether the least and greatest value of each tell anything."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_struct(type):
        for child in type:
            yield from _leaves(f"{path}.{child.name}", child.type, alone)
    elif kinds.is_map(type):
        yield from _leaves(f"{path}.key_value.key", type.key_type, False)
        yield from _leaves(f"{path}.key_value.value", type.item_type, False)
    elif kinds.is_list(type) or kinds.is_large_list(type) or kinds.is_fixed_size_list(type):
        yield from _leaves(f"{path}.list.element", type.value_type, False)
    else:
        yield path, alone and not kinds.is_dictionary(type)


def file_facts(schema: pa.Schema, facts: Mapping[str, str]) -> dict[bytes, bytes]:
    """What a file says of itself: the metadata of its schema, facts, and the schema itself, from which pyarrow reads
    types that Parquet has no words for."""
    said = {**(schema.metadata or {}), **{key.encode(): value.encode() for key, value in facts.items()}}
    return {**said, b"ARROW:schema": b64encode(schema.with_metadata(said or None).serialize().to_pybytes())}


def with_texts(schema: pa.Schema, names: Iterable[str] | None = None) -> pa.Schema:
    """The schema, with texts where the columns of these names, or all, have codes."""
    import pyarrow as pa

    chosen = set(schema.names if names is None else names)
    fields = [field.with_type(_with_texts(field.type)) if field.name in chosen else field for field in schema]
    return pa.schema(fields, schema.metadata)


def _with_texts(type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(type):
        return type.value_type
    if pa.types.is_large_list(type):
        return pa.large_list(_with_texts(type.value_type))
    if pa.types.is_map(type):
        return pa.map_(_with_texts(type.key_type), type.item_type)
    return type
