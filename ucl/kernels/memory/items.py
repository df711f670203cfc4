"""What a comprehension goes over, as a table: a memory list's records, or a constant set's values in ascending order.

In: a list or a set, and its type. Out: `Items`, whose columns are made when they are first asked for. The variable of
the comprehension is the table's option: `v.place` is the column `("place",)`, a set's value `("element",)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        for path in paths:
            type: t.Type = t.Record(self.schema)
            values: list[Any] = list(self.records)
            for name in path:
                values, type = _inside(values, type, name)
            self._add(path, values, type, found)
        return Columns(len(self.records), found)

    def _add(self, path: Path, values: list[Any], type: t.Type, found: dict[Path, Column]) -> None:
        inner = t.present(type)
        if isinstance(inner, t.Record):
            if path and isinstance(type, t.Optional):
                found[path] = self._columns.setdefault(path, Presence(_there(values)))
            for field in inner.schema.fields:
                self._add((*path, field.name), *_inside(values, type, field.name), found)
            return
        if path not in self._columns:
            self._columns[path] = _column(inner, values)
        found[path] = self._columns[path]


def _inside(values: list[Any], type: t.Type, name: str) -> tuple[list[Any], t.Type]:
    """A field's values of each record, and its type; absent where the record is."""
    record = t.present(type)
    assert isinstance(record, t.Record)
    field = record.schema.field(name)
    assert field is not None
    return [None if value is None else value[name] for value in values], field.type


def _there(values: list[Any]) -> NDArray[np.bool_]:
    return np.fromiter((value is not None for value in values), np.bool_, len(values))


def _column(type: t.Type, values: list[Any]) -> Column:
    there = None if None not in values else _there(values)
    match type:
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
