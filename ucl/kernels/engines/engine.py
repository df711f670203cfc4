"""What an engine is.

In: a plan bound to a table, and the columns of results. Out: a function that fills the results of a range of rows.
Ranges may be filled in any order and on any thread; what they get does not depend on that, nor on the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.execution.schedules import Binding
from ucl.kernels.plan import Plan


@dataclass(frozen=True)
class Results:
    """For every row of the table: `total` in units of 10^-9, and masks of `outcomes`.

    Rows that are invalid hold anything; `failed` says which of the others are invalid after all. `total` starts as 0.
    """

    total: NDArray[np.int64]
    feasible: NDArray[np.bool_]
    contested: NDArray[np.bool_]
    failed: NDArray[np.bool_]


Fill = Callable[[int, int], None]
"""Fills the results of the rows from the first number to before the second."""


class Engine(Protocol):
    """`rows_at_once` is how many rows it is best given in one range."""

    name: str
    rows_at_once: int

    def start(self, plan: Plan, binding: Binding, results: Results, block_rows: int | None) -> Fill:
        """`block_rows` is how many rows go through all steps together, the engine's own number unless given."""
