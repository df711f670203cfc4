"""What kernels read: one typed NumPy column for each leaf field of a schema, and the rows that can't be scored.

In: `tables` builds these from Arrow (or from records). Out: kernels and batch builtins read them. Values are those of
`semantics.program`: dates as days, times and datetimes and durations as microseconds, quantities in the base unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen

Path = tuple[str, ...]
Offsets = NDArray[np.int64] | NDArray[np.int32]


@frozen
class Scalars:
    """A column of bool, int64 (int, weekday, date, time, datetime, duration) or float64 (float, quantity).

    `values` has shape (rows,); where `valid` is false the value is absent and `values` holds 0. `valid` is None where
    every row has a value. Ints may have fewer bytes, int8, int16 or int32, where the data have: they are compared as
    many times as fast.
    """

    values: NDArray[Any]
    valid: NDArray[np.bool_] | None


@frozen
class Texts:
    """A dictionary-encoded column: `codes` (int32, shape (rows,)) index `dictionary`, of distinct NFC values.

    For closed text the dictionary is the type's list of values, in its order. Absent rows have code 0.
    """

    codes: NDArray[np.int32]
    valid: NDArray[np.bool_] | None
    dictionary: tuple[str, ...]


@frozen
class Sets:
    """Row i holds `elements[offsets[i]:offsets[i + 1]]`, distinct within a row unless it `repeats` some.

    `elements` are int64 values, or codes into `dictionary` for sets of text. Codes and offsets are int32 where whoever
    makes them can: half the memory is read in half the time. Absent rows are empty ranges. Few programs count elements,
    so that repeated ones are only dropped (`lists.without_repeats`) for those that do.
    """

    offsets: Offsets
    elements: NDArray[np.integer[Any]]
    valid: NDArray[np.bool_] | None
    dictionary: tuple[str, ...] | None
    repeats: bool = False


@frozen
class Presence:
    """Of an optional nested record: whether it is there. Its leaves are absent where it is not."""

    valid: NDArray[np.bool_]


@frozen
class Bounds:
    """What was taken for granted when a column was read: that all of its `values`, int64 or float64, lie from `least`
    to `greatest`, and none is NaN. Scoring looks at them anyway, and finds out at no cost."""

    values: NDArray[Any]
    least: float
    greatest: float

    def hold(self) -> bool:
        if len(self.values) == 0:
            return True
        return bool(self.values.min() >= self.least and self.values.max() <= self.greatest)


Column = Scalars | Texts | Sets | Presence


@frozen
class InvalidCell:
    """Why a row can't be scored: the first such field in schema order, by its path (`host.age`).

    `reason` is one of absent, domain, unreadable here; overflow and magnitude are found when scoring. `value` is the
    data's own value, as JSON would show it.
    """

    field: str
    reason: str
    value: Any


@frozen
class Columns:
    """One batch of options of one schema.

    `columns` has an entry for every leaf path and every optional nested record. Rows in `invalid` hold arbitrary but
    readable values in their columns. `folds` and `gaps` count local times that were ambiguous or skipped. Where one of
    the `bounds` does not hold, the table must be read again without taking anything for granted.
    """

    rows: int
    columns: Mapping[Path, Column]
    invalid: Mapping[int, InvalidCell] = field(default_factory=dict)
    folds: int = 0
    gaps: int = 0
    bounds: Sequence[Bounds] = ()
