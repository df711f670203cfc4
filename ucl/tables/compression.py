"""Compressed files to the bytes within.

In: bytes and the name that they came under. Out: the bytes themselves, or those that they unpack to, of which there may
be no more than an honest table has; or a `TableError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, Any

from ucl.tables import errors

COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# Compressions begin with bytes that no table begins with.
_STARTS = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bz2": b"BZh"}
_NOT_READ = {"xz": b"\xfd7zXZ\x00", "lz4": b"\x04\x22\x4d\x18", "zip": b"PK\x03\x04"}
# Tables shrink to a tenth, rarely to a hundredth; what grows more than this was made to fill a memory.
_MOST_TIMES = 200
_ALWAYS_ALLOWED = 256 << 20
_MOST_BYTES = 4 << 30
_PIECE = 1 << 24


def unpacked(data: bytes, path: str, name: str) -> bytes:
    """By the ending of `path`, else by the first bytes; `name` is for messages."""
    for kind, start in _NOT_READ.items():
        if data.startswith(start):
            raise errors.unread_compression(name, kind)
    by_name = COMPRESSED.get(PurePath(path).suffix.lower())
    by_content = next((kind for kind, start in _STARTS.items() if data.startswith(start)), None)
    compression = by_content or by_name
    return data if compression is None else _unpacked(data, name, compression)


def unpack_into(sink: IO[bytes], path: str, compression: str) -> None:
    """The same from a file to another, piece by piece. Raises `TableError`."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            for piece in _pieces(file, file.read(8), path, compression, size):
                sink.write(piece)
    except OSError as problem:
        raise errors.unreadable_file(path, problem) from problem


def _unpacked(data: bytes, name: str, compression: str) -> bytes:
    import pyarrow as pa

    return b"".join(_pieces(pa.py_buffer(data), data[:8], name, compression, len(data)))


def _pieces(source: Any, start: bytes, name: str, compression: str, size: int) -> Iterator[bytes]:
    """What a file of `size` bytes, which begins with `start`, unpacks to, as long as it is no more than it may be."""
    import pyarrow as pa

    most, unpacked = min(_MOST_BYTES, max(_ALWAYS_ALLOWED, size * _MOST_TIMES)), 0
    if not isinstance(source, pa.Buffer):
        source.seek(0)
    try:
        with pa.CompressedInputStream(source, compression) as stream:
            while piece := stream.read(_PIECE):
                unpacked += len(piece)
                if unpacked > most:
                    raise errors.unpacks_to_too_much(name, most)
                yield piece
    except (OSError, pa.ArrowException) as problem:
        if start and not start.startswith(_STARTS[compression]):
            raise errors.not_of_kind(name, compression) from problem
        raise errors.damaged(name, compression) from problem
