"""Some rows of a table's columns.

In: columns and row numbers. Out: columns of those rows, in that order, with the same dictionaries. Why rows are invalid
is left behind: who asks for rows knows it.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Column, Columns, Presence, Scalars, Sets, Texts

Rows = NDArray[np.int64]


def rows_of(columns: Columns, rows: Rows) -> Columns:
    return Columns(len(rows), {path: _column(column, rows) for path, column in columns.columns.items()})


def _column(column: Column, rows: Rows) -> Column:
    valid = None if column.valid is None else column.valid[rows]
    match column:
        case Scalars(values):
            return Scalars(values[rows], valid)
        case Texts(codes, _, dictionary):
            return Texts(codes[rows], valid, dictionary)
        case Presence(there):
            return Presence(there[rows])
        case Sets():
            return _sets(column, rows, valid)
        case _:
            assert_never(column)


def _sets(column: Sets, rows: Rows, valid: NDArray[np.bool_] | None) -> Sets:
    starts = column.offsets[rows]
    lengths = column.offsets[rows + 1] - starts
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return Sets(offsets, column.elements[places], valid, column.dictionary, column.repeats)
