"""Kinds of Arrow types that come in several widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def is_text(type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def is_binary(type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_binary(type)
        or pa.types.is_large_binary(type)
        or pa.types.is_fixed_size_binary(type)
        or pa.types.is_binary_view(type)
    )


def is_list(type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_list(type)
        or pa.types.is_large_list(type)
        or pa.types.is_fixed_size_list(type)
        or pa.types.is_list_view(type)
        or pa.types.is_large_list_view(type)
    )
