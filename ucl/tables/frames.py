"""What Python programs hold to Arrow: data frames of any library, dicts of arrays, lists of rows.

In: a pandas, polars or pyarrow table, anything with the Arrow C stream interface, a dict of columns, or an iterable of
dicts, pydantic models, dataclasses or named tuples. Out: a `pa.Table`. No data frame library is imported here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ucl.tables import errors
from ucl.tables.entry import admitted
from ucl.tables.formats.plain import encodable
from ucl.tables.formats.rows import column_from_values, table_from_rows

if TYPE_CHECKING:
    import pyarrow as pa


def to_table(data: Any) -> pa.Table:
    """The data as one table, without a copy where the types allow it. Raises `TableError`."""
    return admitted(_as_it_is(data))


def _as_it_is(data: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return _from_pandas(data)
    if isinstance(data, Mapping):
        return _from_columns(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _from_stream(data)
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        return _from_stream(data.collect())
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return table_from_rows([_row(row, place) for place, row in enumerate(data)], "the list")
    raise errors.not_a_table(_kind(data))


def _from_stream(data: Any) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        _refuse_column(data)
        raise errors.not_a_table(_kind(data)) from problem


def _refuse_column(data: Any) -> None:
    """Names the first column that Arrow can't take, of what has columns; else returns."""
    import pyarrow as pa

    names = getattr(data, "columns", None)
    for name in names if isinstance(names, list) else ():
        try:
            pa.table(data[[name]])
        except (pa.ArrowException, TypeError, ValueError) as problem:
            raise errors.unusable_column(str(name), str(problem).partition("\n")[0]) from problem


def _from_pandas(data: Any) -> pa.Table:
    """Column by column, since a column of Python objects may hold anything."""
    return _from_named([(str(name), data.iloc[:, place]) for place, name in enumerate(data.columns)])


def _from_columns(data: Mapping[Any, Any]) -> pa.Table:
    return _from_named([(str(name), values) for name, values in data.items()])


def _from_named(columns: list[tuple[str, Any]]) -> pa.Table:
    import pyarrow as pa

    names = [name for name, _ in columns]
    errors.refuse_duplicates(names)
    wrong = next((name for name in names if encodable(name) != name), None)
    if wrong is not None:
        raise errors.bad_key("the table", wrong)
    made = [_column(name, values) for name, values in columns]
    for (array, _), name in zip(made, names):
        if len(array) != len(made[0][0]):
            raise errors.uneven_columns(name, len(array), len(made[0][0]))
    return pa.Table.from_arrays([array for array, _ in made], schema=pa.schema([field for _, field in made]))


def column_of(name: str, values: Any) -> pa.ChunkedArray:
    """One column of any kind that a dict of columns may have. Raises `TableError`."""
    import pyarrow as pa

    array, _ = _column(name, values)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _column(name: str, values: Any) -> tuple[pa.ChunkedArray | pa.Array, pa.Field]:
    """One column's array; Python objects are looked at one by one, everything else goes over as it is."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values, pa.field(name, values.type)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise errors.unusable_column(name, f"{_kind(values)} is no array")
    if str(getattr(values, "dtype", "object")) == "object" or not hasattr(values, "dtype"):
        return column_from_values(name, list(values))
    try:
        if hasattr(values, "__arrow_c_stream__"):
            array = pa.chunked_array(values)
        else:
            array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise errors.unusable_column(name, str(problem).partition("\n")[0]) from problem
    return array, pa.field(name, array.type)


def _row(row: Any, place: int) -> Mapping[str, Any]:
    if isinstance(row, dict):
        return row
    if isinstance(row, Mapping):
        return dict(row)
    if hasattr(row, "model_dump"):
        dumped: dict[str, Any] = row.model_dump(by_alias=True)
        return dumped
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    if hasattr(row, "_asdict"):
        fields: dict[str, Any] = row._asdict()
        return fields
    raise errors.not_an_object("the list", f"element {place}", _glimpse(row))


def _glimpse(row: Any) -> str:
    """What a person recognises a row by; other objects' own words may be places in memory."""
    try:
        return f"`{row!r:.40}`" if isinstance(row, str | int | float) else _kind(row)
    except ValueError:
        # A number of thousands of digits.
        return _kind(row)


def _kind(data: Any) -> str:
    return "nothing" if data is None else f"a value of the kind `{type(data).__name__}`"
