"""`evaluate` for a column: once for each distinct tuple of what an expression reads.

In: an expression, columns, a frame. Out: its values for every row, with where it overflows and where it has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Column, Columns, Path, Presence, Scalars, Sets, Texts
from ucl.kernels.execution.vector import Vector
from ucl.semantics import types as t
from ucl.semantics.expressions import Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Expr

Record = dict[str, Any]


# --- evaluating -----------------------------------------------------------------------------------------------------


def evaluate_each(expr: Expr, frames: Iterable[Frame]) -> Vector:
    """The values of a bool, an int or a float in each frame."""
    values: list[Any] = []
    over: list[bool] = []
    with bounded():
        for frame in frames:
            value, overflowed = _evaluated(expr, frame)
            values.append(value)
            over.append(overflowed)
    missing = np.array([value is None for value in values], np.bool_)
    numbers = np.array([0 if value is None else value for value in values], dtype_of(expr.type))
    return Vector(numbers, np.array(over, np.bool_), missing)


def _evaluated(expr: Expr, frame: Frame) -> tuple[Any, bool]:
    try:
        return evaluate(expr, frame), False
    except Overflow:
        return None, True
    except TypeError:
        # An absent value where the types say that one is there: a guard around the expression keeps this tuple from
        # being looked at, and only here is it tried all the same.
        return None, False


def dtype_of(type: t.Type) -> type[np.generic]:
    match t.present(type):
        case t.Bool():
            return np.bool_
        case t.Float() | t.Quantity():
            return np.float64
        case _:
            return np.int64


def take(vector: Vector, places: NDArray[Any] | slice) -> Vector:
    """Each place's own."""
    over, missing = vector.over, vector.missing
    return Vector(
        vector.values[places],
        None if over is None or not over.any() else over[places],
        None if missing is None or not missing.any() else missing[places],
    )


# --- distinct tuples ------------------------------------------------------------------------------------------------


@frozen
class Distinct:
    """A record for each distinct tuple; row i has record `of_row[i]`."""

    records: Sequence[Record]
    of_row: NDArray[np.int64]


def distinct_records(columns: Columns, paths: Sequence[Path], groups: NDArray[np.int64] | None = None) -> Distinct:
    """The records of what stands at the paths: fields, or whole nested records. With `groups`, those differ too."""
    leaves = _leaves(columns, paths)
    of_row = np.zeros(columns.rows, np.int64) if groups is None else np.unique(groups, return_inverse=True)[1]
    for path in leaves:
        places = _places(columns.columns[path])
        of_row = np.unique(of_row * (int(places.max(initial=0)) + 1) + places, return_inverse=True)[1]
    _, first = np.unique(of_row, return_index=True)
    return Distinct(records_at(columns, leaves, first.tolist()), of_row)


def _leaves(columns: Columns, paths: Iterable[Path]) -> list[Path]:
    """The columns at and below the paths, outer ones first."""
    found = {path for path in columns.columns if any(path[: len(wanted)] == wanted for wanted in paths)}
    return sorted(found, key=len)


def _places(column: Column) -> NDArray[np.int64]:
    """A number for each row, equal where the values are."""
    match column:
        case Presence(valid):
            return valid.astype(np.int64)
        case Sets():
            return _set_places(column)
        case Texts(codes, valid):
            numbers: NDArray[np.int64] = codes.astype(np.int64)
        case Scalars(values, valid):
            numbers = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return numbers if valid is None else np.where(valid, numbers + 1, 0)


def _set_places(column: Sets) -> NDArray[np.int64]:
    known: dict[bytes | None, int] = {}
    places = np.empty(len(column.offsets) - 1, np.int64)
    for row in range(len(places)):
        members = column.elements[column.offsets[row] : column.offsets[row + 1]]
        there = column.valid is None or column.valid[row]
        places[row] = known.setdefault(np.sort(members).tobytes() if there else None, len(known))
    return places


def records_at(columns: Columns, leaves: Sequence[Path], rows: Iterable[int]) -> list[Record]:
    """The rows as records that have the fields at these paths alone."""
    return [_record(columns.columns, leaves, row) for row in rows]


def _record(columns: Mapping[Path, Column], leaves: Sequence[Path], row: int) -> Record:
    record: Record = {}
    for path in leaves:
        inside: Any = record
        for name in path[:-1]:
            if inside is None:
                break
            inside = inside.setdefault(name, {})
        if inside is not None:
            inside[path[-1]] = value_at(columns[path], row)
    return record


def value_at(column: Column, row: int) -> Any:
    """One row's value, as `semantics.program` describes values; of a nested record, an empty one to be filled."""
    if column.valid is not None and not column.valid[row]:
        return None
    match column:
        case Presence():
            return {}
        case Texts():
            return column.dictionary[column.codes[row]]
        case Scalars():
            return column.values[row].item()
        case Sets():
            members = column.elements[column.offsets[row] : column.offsets[row + 1]].tolist()
            return frozenset(members if column.dictionary is None else [column.dictionary[code] for code in members])
