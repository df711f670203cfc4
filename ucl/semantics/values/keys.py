"""The keys of a caller's objects, held against what a program declares.

In: a context, a memory, one of its records. Out: the same object with its names spelled as programs spell them (NFC),
down to its inner records; or `BadKey`, since a key that nothing declares is a mistake that would else go unnoticed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.program import Field


def nfc(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


@frozen
class Keys:
    """The names that an object may have, and those of the objects within it."""

    names: frozenset[str]
    inner: tuple[tuple[str, Keys], ...]


@frozen
class BadKey:
    """A key that is none of `known`, or stands there twice; `path` are the names of the objects around it."""

    key: str
    path: tuple[str, ...]
    known: frozenset[str]

    @property
    def repeated(self) -> bool:
        return self.key in self.known


def keys_of(fields: Iterable[Field]) -> Keys:
    """By the names that the data have for the fields."""
    return keys_by_type((field.column, field.type) for field in fields)


def keys_by_type(named: Iterable[tuple[str, t.Type]]) -> Keys:
    names, inner = [], []
    for name, type in named:
        names.append(name)
        kind = t.present(type)
        if isinstance(kind, t.Record):
            inner.append((name, keys_of(kind.schema.fields)))
    return Keys(frozenset(names), tuple(inner))


def spelled(data: Mapping[str, Any], keys: Keys, path: tuple[str, ...] = ()) -> Mapping[str, Any] | BadKey:
    """The object itself where its names need nothing: one comparison of sets, since a memory has many records."""
    if not data.keys() <= keys.names:
        made: dict[str, Any] = {}
        for key, value in data.items():
            name = nfc(str(key))
            if name in made or name not in keys.names:
                return BadKey(name, path, keys.names)
            made[name] = value
        data = made
    for name, inner in keys.inner:
        value = data.get(name)
        if isinstance(value, Mapping):
            respelled = spelled(value, inner, (*path, name))
            if isinstance(respelled, BadKey):
                return respelled
            if respelled is not value:
                data = {**data, name: respelled}
    return data
