"""Sets from lists that may repeat elements: what repeats in a row is dropped where a program counts elements.

In: flat elements with the offsets of rows. Out: the same without what repeats in a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Offsets, Sets

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Of rows up to so long, each element is compared with those before it sooner than all are sorted.
_SHORT = 24


def without_repeats(column: Sets) -> Sets:
    """The same sets, each element once."""
    longest = int(np.diff(column.offsets).max(initial=0))
    if longest < 2:
        return replace(column, repeats=False)
    repeated = (_repeated if longest <= _SHORT else _repeated_in_long)(column.offsets, column.elements)
    if not repeated.any():
        return replace(column, repeats=False)
    offsets, elements = only(column.offsets, column.elements, ~repeated)
    return Sets(offsets, elements, column.valid, column.dictionary)


def only(offsets: Offsets, values: NDArray[Any], keep: Mask) -> tuple[Offsets, NDArray[Any]]:
    """The elements that are kept, in their rows."""
    dropped = np.flatnonzero(~keep)
    rows = np.searchsorted(offsets, dropped, side="right")
    return offsets - np.cumsum(np.bincount(rows, minlength=len(offsets))), values[keep]


# Elements at a time: what is compared stays near the processor.
_STRETCH = 1 << 16


def _repeated(offsets: Offsets, values: NDArray[Any]) -> Mask:
    """Elements that stand in their row before: each distance is one comparison of the column with itself."""
    repeated = np.zeros(len(values), np.bool_)
    equal = np.empty(_STRETCH, np.bool_)
    longest = int(np.diff(offsets).max())
    for start in range(0, len(values), _STRETCH):
        stop = min(start + _STRETCH, len(values))
        for distance in range(1, longest):
            first = max(start, distance)
            same = np.equal(values[first:stop], values[first - distance : stop - distance], out=equal[: stop - first])
            later = np.flatnonzero(same) + first
            if len(later):
                row = np.searchsorted(offsets, later, side="right") - 1
                repeated[later[later - distance >= offsets[row]]] = True
    return repeated


def _repeated_in_long(offsets: Offsets, values: NDArray[Any]) -> Mask:
    """The same by sorting. Row and element are one number, which sorts fast."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    codes = np.unique(values, return_inverse=True)[1]
    pairs = rows * (int(codes.max()) + 1) + codes
    order = np.argsort(pairs, kind="stable")
    repeated = np.zeros(len(values), np.bool_)
    repeated[order[1:]] = pairs[order[1:]] == pairs[order[:-1]]
    return repeated
