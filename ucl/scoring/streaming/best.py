"""The best rows of a table that comes in parts, held without the others.

In: results of parts, in order, and how many rows are wanted. Out: one result of the best rows, best first, with the
numbers that they have in the whole. At most a few times as many rows as are wanted are held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.scoring.results.ranking import best_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.scoring.results.result import Result

# So many times the rows that are wanted may be held before the worst of them are dropped.
_SLACK = 4

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Held:
    """Rows of one part: `keys` order them (one row each: tier, negated total, number), `table` is their input."""

    keys: Ints
    table: pa.Table

    def only(self, chosen: NDArray[np.bool_]) -> _Held:
        return _Held(self.keys[chosen], self.table.filter(chosen))


class Best:
    """`add` each part; then `rows` are the best. `restored` gives a part's rows their own types back."""

    def __init__(self, top: int, restored: Callable[[pa.Table], pa.Table]) -> None:
        self._top = top
        self._restored = restored
        self._held: list[_Held] = []
        self._bound: tuple[int, int] | None = None
        self._empty: pa.Table | None = None

    def add(self, part: Result) -> None:
        rows = np.array(best_rows(part.scores, self._top), np.int64)
        keys = _keys(part, rows)
        if self._bound is not None:
            # Of equal rows the earlier ones stay.
            tier, total = self._bound
            better = (keys[:, 0] < tier) | ((keys[:, 0] == tier) & (keys[:, 1] < total))
            rows, keys = rows[better], keys[better]
        if self._empty is None:
            self._empty = self._restored(part.table.slice(0, 0))
        if len(rows):
            self._held.append(_Held(keys, self._restored(part.table.take(rows))))
        if sum(len(held.keys) for held in self._held) > max(_SLACK * self._top, 1):
            self._drop()

    def rows(self) -> tuple[pa.Table, Ints]:
        """The rows' input and their numbers, best first."""
        import pyarrow as pa

        assert self._empty is not None
        table = pa.concat_tables([self._empty, *(held.table for held in self._held)])
        order = self._order()[: self._top]
        numbers = self._all_keys()[order, 2]
        return table.take(order), numbers

    def _drop(self) -> None:
        """Keeps the best rows only, in the parts where they are."""
        keys = self._all_keys()
        order = self._order()[: self._top]
        kept = np.zeros(len(keys), np.bool_)
        kept[order] = True
        ends = np.cumsum([len(held.keys) for held in self._held])
        shares = np.split(kept, ends[:-1])
        self._held = [held.only(share) for held, share in zip(self._held, shares, strict=True) if share.any()]
        self._bound = (int(keys[order[-1], 0]), int(keys[order[-1], 1])) if len(order) else (-1, 0)

    def _all_keys(self) -> Ints:
        return np.concatenate([np.empty((0, 3), np.int64), *(held.keys for held in self._held)])

    def _order(self) -> Ints:
        keys = self._all_keys()
        return np.lexsort((keys[:, 2], keys[:, 1], keys[:, 0]))


def _keys(part: Result, rows: Ints) -> Ints:
    """What the ranking goes by."""
    scores = part.scores
    tier = np.where(scores.valid[rows], np.where(scores.feasible[rows], 0, 1), 2)
    return np.stack((tier, -scores.total[rows], part.numbers_of(rows)), axis=1).astype(np.int64).reshape(-1, 3)
