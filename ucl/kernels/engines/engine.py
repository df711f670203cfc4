"""What an engine is.

In: a plan bound to a table, and the columns of results. Out: a function that fills the results of a range of rows, or
one that keeps the masks of a range. Ranges may be asked for in any order and on any thread; what they get does not
depend on that, nor on the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.execution.schedules import Binding
from ucl.kernels.plan import Plan

Ints = NDArray[np.int64]


@frozen
class Results:
    """For every row of the table: `total` in units of 10^-9, and masks of `outcomes`.

    Rows that are invalid hold anything; `failed` says which of the others are invalid after all. `total` starts as 0.
    `outside`, of shape (1,), is 1 once one of the columns' bounds was found not to hold: then nothing else counts.
    """

    total: NDArray[np.int64]
    feasible: NDArray[np.bool_]
    contested: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    outside: Ints


@frozen
class Kept:
    """Of a range of rows: `masks` of `outcomes.told`, of shape (masks, words), 64 rows to a word, where bits beyond the
    last row may be anything; `values`, of shape (values, rows), what each of `plan.varying` adds where its mask holds.
    """

    masks: NDArray[np.uint64]
    values: NDArray[np.int64]


Fill = Callable[[int, int], None]
"""Fills the results of the rows from the first number to before the second."""

Keep = Callable[[int, int], Kept]
"""Of the rows from the first number to before the second."""


class Engine(Protocol):
    """`rows_at_once` is how many rows it is best given in one range."""

    name: str
    rows_at_once: int

    def start(self, plan: Plan, binding: Binding, results: Results, block_rows: int | None) -> Fill:
        """`block_rows` is how many rows go through all steps together, the engine's own number unless given."""

    def keep(self, plan: Plan, binding: Binding) -> Keep:
        """Ranges begin with a whole word of a mask."""

    def lists(self, masks: NDArray[np.uint64], rows: int) -> tuple[Ints, NDArray[np.int32]]:
        """By row the numbers of the masks that hold it, ascending: where each row's begin and end, and all of them.
        Bits beyond the last row are 0."""

    def amounts(self, ends: Ints, numbers: NDArray[np.int32], constants: Ints, places: Ints, values: Ints) -> Ints:
        """What each of the lists' numbers adds: its constant, or where it has a place among `values`, of shape (values,
        rows), the row's own value there. `places` are -1 where it has none."""
