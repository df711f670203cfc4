"""Thrift's compact protocol, in which Parquet's footers are written, without knowing what the fields mean.

In: bytes. Out: a `Struct`, whose fields are values by number; and back to the same bytes, however old or new the fields
are. The protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
_DEEPEST = 32
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Items:
    """A list: the kind of its values, and these."""

    kind: int
    values: list[Any]


Struct: TypeAlias = dict[int, tuple[int, Any]]
"""By number, each field's kind and value: an int, a bool, bytes, `Items` or another struct. Of doubles the bytes."""


def decode(data: bytes) -> Struct:
    """Raises `ValueError` where the bytes are no struct."""
    try:
        return _Decoder(data).struct(_DEEPEST)
    except IndexError:
        raise ValueError("the bytes end too early") from None


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, deepest: int) -> Struct:
        if not deepest:
            raise ValueError("structs are nested too deep")
        fields: Struct = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._int()
            fields[number] = kind, self._value(kind, deepest)
        return fields

    def _value(self, kind: int, deepest: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self._int()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct(deepest - 1)
        if kind in (LIST, SET):
            return self._items(deepest)
        if kind == BYTE:
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        raise ValueError(f"fields of kind {kind} are unknown")

    def _items(self, deepest: int) -> Items:
        head = self._byte()
        kind = head & 15
        size = self._varint() if head >> 4 == 15 else head >> 4
        if size > len(self._data) - self._at:
            raise ValueError("a list is longer than the bytes")
        if kind in (TRUE, FALSE):
            return Items(kind, [self._byte() for _ in range(size)])
        return Items(kind, [self._value(kind, deepest) for _ in range(size)])

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise ValueError("the bytes end too early")
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = 0
        for place in range(_LONGEST_VARINT):
            byte = self._byte()
            value |= (byte & 127) << 7 * place
            if byte < 128:
                return value
        raise ValueError("a number is too long")

    def _int(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def encode(fields: Struct) -> bytes:
    """Fields in the order of their numbers."""
    out = bytearray()
    _put_struct(out, fields)
    return bytes(out)


def _put_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for number in sorted(fields):
        kind, value = fields[number]
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _put_int(out, number)
        before = number
        if kind not in (TRUE, FALSE):
            _put(out, kind, value)
    out.append(0)


def _put(out: bytearray, kind: int, value: Any) -> None:
    if kind in (I16, I32, I64):
        _put_int(out, value)
    elif kind == BINARY:
        _put_varint(out, len(value))
        out += value
    elif kind == STRUCT:
        _put_struct(out, value)
    elif kind in (LIST, SET):
        size = len(value.values)
        out.append(min(size, 15) << 4 | value.kind)
        if size >= 15:
            _put_varint(out, size)
        for each in value.values:
            _put(out, value.kind, each)
    elif kind == DOUBLE:
        out += value
    else:
        out.append(value)


def _put_int(out: bytearray, value: int) -> None:
    _put_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def _put_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


_TAIL = struct.Struct("<I4s")
MAGIC = b"PAR1"


def framed(footer: Struct) -> bytes:
    """A footer as it ends a file."""
    data = encode(footer)
    return data + _TAIL.pack(len(data), MAGIC)


def footer_size(tail: bytes) -> int | None:
    """How long the footer is before these last eight bytes of a file; None where they are another format's."""
    size, magic = _TAIL.unpack(tail)
    return int(size) if magic == MAGIC else None


TAIL = _TAIL.size
