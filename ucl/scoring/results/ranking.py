"""The best rows of a table, and of each choice set, without sorting all.

In: scores. Out: numbers of rows, best first: feasible rows, then by total, then in row order; invalid rows come last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.run import Scores
from ucl.semantics.outcome import Invalid

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place of the ranking. Of an invalid row the total is NaN, `feasible` False, the decision None; `invalid` says
    why, and is None elsewhere."""

    row: int
    total: float
    feasible: bool
    decision: str | None
    invalid: Invalid | None = None


def best_rows(scores: Scores, top: int) -> list[int]:
    """The first `top` of all rows."""
    best = list[int]()
    for chosen in (scores.feasible, scores.valid & ~scores.feasible):
        rows = np.flatnonzero(chosen)
        best += rows[highest(scores.total[rows], top - len(best))].tolist()
    best += np.flatnonzero(~scores.valid)[: top - len(best)].tolist()
    return best


def best_of_sets(scores: Scores, sets: Rows, top: int) -> tuple[Rows, Rows]:
    """The first `top` rows of each choice set, set after set, and where each set begins among them.

    `sets` numbers each row's choice set from 0. Where a set is much longer than `top`, its rows below the last place
    are left out before anything is sorted.
    """
    count = int(sets.max(initial=-1)) + 1
    tier = np.where(scores.valid, np.where(scores.feasible, 0, 1), 2).astype(np.int8)
    rows = _hopeful(scores, sets, tier, top, count)
    order = rows[np.lexsort((-scores.total[rows], tier[rows], sets[rows]))]
    sizes = np.bincount(sets[order], minlength=count)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    kept = np.minimum(sizes, top)
    return order[place < top], np.concatenate(([0], np.cumsum(kept)))


# With fewer rows in a set for each place, sorting all of them costs less than looking first.
_MANY_FOR_EACH_PLACE = 8


def _hopeful(scores: Scores, sets: Rows, tier: NDArray[np.int8], top: int, count: int) -> Rows:
    """Rows that may be among the first `top` of their set: in each of so many parts of it as there are places, one row
    is best, and the least of those best is a bound."""
    total = scores.total
    if not count or not top or len(total) < count * top * _MANY_FOR_EACH_PLACE:
        return np.arange(len(total))
    part = sets * top + np.arange(len(total)) % top
    feasible = tier == 0
    most = np.full(count * top, np.iinfo(np.int64).min)
    np.maximum.at(most, part[feasible], total[feasible])
    bound = most.reshape(count, top).min(axis=1)  # the least number where a part has no feasible row
    return np.flatnonzero((bound[sets] == np.iinfo(np.int64).min) | (feasible & (total >= bound[sets])))


def highest(values: NDArray[np.int64], top: int) -> Rows:
    """The places of the greatest values, the greatest first and equals in order."""
    places = np.arange(len(values))
    if top < len(values):
        least = np.partition(values, -top)[-top] if top else values.max() + 1
        places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")[:top]]
