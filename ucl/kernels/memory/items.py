"""What a comprehension goes over, as a table: a memory list's records, or a constant set's values in ascending order.

In: a list or a set, and its type. Out: `Items`, whose columns are made when they are first asked for. The variable of
the comprehension is the table's option: `v.place` is the column `("place",)`, a set's value `("element",)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.diagnostics import Span
from ucl.kernels.columns import Column, Columns, Path, Presence, Scalars, Sets, Texts
from ucl.kernels.execution.distinct import dtype_of
from ucl.semantics import types as t
from ucl.semantics.program import Field, Schema

ELEMENT: Path = ("element",)


class Items:
    """`root` is the path that stands for the variable itself: of a record, the whole option."""

    def __init__(self, source: Sequence[Any] | frozenset[Any], type: t.Type, span: Span) -> None:
        self.source = source  # held, since items are known by its identity
        self.records: Sequence[Any]
        self.root: Path
        match type:
            case t.List(t.Record(schema)):
                self.schema, self.root, self.records = schema, (), list(source)
            case t.Set(element):
                field = Field(ELEMENT[0], element or t.INT, None, ELEMENT[0], None, None, None, span)
                self.schema, self.root = Schema("", "", (field,), None, span), ELEMENT
                self.records = [{ELEMENT[0]: value} for value in sorted(source)]
            case _:
                raise AssertionError(type)
        self._columns: dict[Path, Column] = {}

    def columns(self, paths: Iterable[Path]) -> Columns:
        """The columns at and below these paths."""
        found: dict[Path, Column] = {}
        for wanted in paths:
            for path, type in _leaves(wanted, _type_at(self.schema, wanted)):
                if path not in self._columns:
                    self._columns[path] = _column(type, self._values(path))
                found[path] = self._columns[path]
        return Columns(len(self.records), found)

    def _values(self, path: Path) -> list[Any]:
        """A field's value of each record; absent where the record that it stands in is."""
        values: list[Any] = list(self.records)
        for name in path:
            values = [None if value is None else value[name] for value in values]
        return values


def _type_at(schema: Schema, path: Path) -> t.Type:
    type: t.Type = t.Record(schema)
    for name in path:
        type = _field_types(type)[name]
    return type


def _field_types(type: t.Type) -> dict[str, t.Type]:
    record = t.present(type)
    assert isinstance(record, t.Record)
    return {field.name: field.type for field in record.schema.fields}


def _leaves(path: Path, type: t.Type) -> Iterator[tuple[Path, t.Type]]:
    """The paths that have columns: leaf fields, and nested records that may be absent."""
    if not isinstance(t.present(type), t.Record):
        yield path, t.present(type)
        return
    if isinstance(type, t.Optional):
        yield path, t.present(type)
    for name, inner in _field_types(type).items():
        yield from _leaves((*path, name), inner)


def _there(values: list[Any]) -> NDArray[np.bool_]:
    return np.fromiter((value is not None for value in values), np.bool_, len(values))


def _column(type: t.Type, values: list[Any]) -> Column:
    there = None if None not in values else _there(values)
    match type:
        case t.Record():
            return Presence(_there(values))
        case t.Text() | t.Closed():
            words = dict.fromkeys(values)
            words.pop(None, None)
            codes: dict[Any, int] = {word: code for code, word in enumerate(words)}
            if there is not None:
                codes[None] = 0
            return Texts(np.fromiter(map(codes.__getitem__, values), np.int32, len(values)), there, tuple(words))
        case t.Set(element):
            return _sets(values, there, isinstance(element, t.Text | t.Closed))
        case _:
            numbers = values if there is None else [0 if value is None else value for value in values]
            return Scalars(np.array(numbers, dtype_of(type)), there)


def _sets(values: list[Any], there: NDArray[np.bool_] | None, text: bool) -> Sets:
    rows = [sorted(value or ()) for value in values]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    flat = [element for row in rows for element in row]
    if not text:
        return Sets(offsets, np.array(flat, np.int64), there, None)
    codes = {word: code for code, word in enumerate(dict.fromkeys(flat))}
    return Sets(offsets, np.array([codes[word] for word in flat], np.int64), there, tuple(codes))
