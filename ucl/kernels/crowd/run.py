"""Scores the options of many people, each by the rules of one program of `tables`.

In: tables, options whose rows are one person after another, who has which. Out: `Sums`, equal to what each program's
own plan says of its rows; rows whose data are invalid hold anything.
"""

from __future__ import annotations

import sys
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
    """Whether the compiled loops are there, loaded or compiled now; False without numba, and where the first of 64 rows
    would not be the lowest bit."""
    if sys.byteorder != "little":
        return False
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
    from ucl.kernels.crowd.columns import readable
    from ucl.kernels.crowd.walk import KERNELS, work_bytes

    rows = columns.rows
    sums = Sums(np.zeros(rows, np.int64), np.ones(rows, np.bool_), np.zeros(rows, np.bool_))
    if not len(people):
        return sums
    with span("columns for everybody"):
        read = readable(tables, columns, call)
    given = (*tables.passages, tables.amounts, read.constants, read.slots, read.sources, read.steps)
    zone = (read.transitions, read.offsets)
    out = (sums.total.ctypes.data, sums.feasible.ctypes.data, sums.contested.ctypes.data)

    def walk(portion: tuple[int, int]) -> None:
        work = work_bytes(len(read.slots), tables.most_masks)
        room = np.empty(read.room + work, np.uint8)
        KERNELS["walk"][0](*given, *zone, room.ctypes.data, people, *portion, rows, *out, room.ctypes.data + read.room)

    with span("from person to person"):
        portions = _portions(len(people), threads)
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
