"""Compressed files to the bytes within.

In: bytes and the name that they came under. Out: the bytes themselves, or those that they unpack to, of which there may
be no more than an honest table has; or a `TableError`.
"""

from __future__ import annotations

from pathlib import PurePath

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


def _unpacked(data: bytes, name: str, compression: str) -> bytes:
    import pyarrow as pa

    most = min(_MOST_BYTES, max(_ALWAYS_ALLOWED, len(data) * _MOST_TIMES))
    pieces, size = [], 0
    try:
        with pa.CompressedInputStream(pa.py_buffer(data), compression) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                if size > most:
                    raise errors.unpacks_to_too_much(name, most)
                pieces.append(piece)
    except (OSError, pa.ArrowException) as problem:
        if data and not data.startswith(_STARTS[compression]):
            raise errors.not_of_kind(name, compression) from problem
        raise errors.damaged(name, compression) from problem
    return b"".join(pieces)
