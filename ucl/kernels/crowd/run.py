"""Scores the options of many people, each by the rules of one program of `tables`.

In: tables, options whose rows are one person after another, who has which. Out: `Sums`, equal to what each program's
own plan says of its rows; rows whose data are invalid hold anything.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns
from ucl.kernels.crowd.tables import Tables
from ucl.semantics.outcome import Call
from ucl.spans import span

# A few portions of people for each thread, so that threads end together.
_PORTIONS = 4

_loading = Lock()


@dataclass(frozen=True)
class Sums:
    """For every row: `total` in units of 10^-9, `feasible`, `contested`."""

    total: NDArray[np.int64]
    feasible: NDArray[np.bool_]
    contested: NDArray[np.bool_]


def load(on_compile: Callable[[], None] | None = None) -> bool:
    """Whether the compiled loops are there, loaded or compiled now; False without numba."""
    try:
        from ucl.kernels.crowd import walk
        from ucl.kernels.engines.numba_engine import load_all
    except ImportError:
        return False
    with _loading:
        if not walk.loaded:
            load_all(walk.named(), on_compile)
            walk.loaded = True
    return True


def score_people(tables: Tables, columns: Columns, call: Call, people: NDArray[np.int64], threads: int = 1) -> Sums:
    """`people` has shape (people, 3): a program's number, and where that person's rows start and stop, in row order.

    The kernels must have been loaded.
    """
    from ucl.kernels.crowd.columns import BEYOND, Readable, readable
    from ucl.kernels.crowd.walk import KERNELS

    rows = columns.rows
    sums = Sums(np.zeros(rows, np.int64), np.ones(rows, np.bool_), np.zeros(rows, np.bool_))
    if not len(people):
        return sums
    with span("columns for everybody"):
        whole = readable(tables, columns, call)
    code, starts, ints, floats = tables.arrays
    out = (sums.total.ctypes.data, sums.feasible.ctypes.data, sums.contested.ctypes.data, tables.most_masks)
    # Whoever stands so near the end that more is read than there is goes by a copy with something behind it.
    near_end = int(np.searchsorted(people[:, 2], rows - BEYOND, side="right"))
    portions = [(whole, first, last) for first, last in _portions(near_end, threads)]
    if near_end < len(people):
        portions.append((whole.end(int(people[near_end, 1])), near_end, len(people)))

    def walk(portion: tuple[Readable, int, int]) -> None:
        read, first, last = portion
        KERNELS["walk"][0](code, starts, ints, floats, read.words, read.slots, people, first, last, *out)

    with span("from person to person"):
        if threads > 1 and len(portions) > 1:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(walk, portions))
        else:
            for portion in portions:
                walk(portion)
    return sums


def _portions(people: int, threads: int) -> list[tuple[int, int]]:
    size = max(1, -(-people // (threads * _PORTIONS if threads > 1 else 1)))
    return [(first, min(first + size, people)) for first in range(0, people, size)]
