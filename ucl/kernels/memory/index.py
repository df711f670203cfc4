"""The tables that rows are looked up in: which group of items a row means, and how many items lie below a bound.

In: arrays of one block. Out: group numbers and places, int64. Where values lie close together a table answers by
position, elsewhere a binary search does. Nothing here knows of plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# A table by position may be so many times as long as what it holds, and so long in any case.
_SPARSE = 4
_SMALL = 1 << 16

# Fewer values than this stay in the nearest caches, whatever the order in which they are searched.
_NEAR = 4096


def search(values: NDArray[Any], wanted: NDArray[Any], side: Literal["left", "right"] = "left") -> Ints:
    """`searchsorted`. In order of what is wanted, the searches of long arrays find their paths in the cache."""
    if len(values) < _NEAR or len(wanted) < _NEAR:
        return np.searchsorted(values, wanted, side)
    order = np.argsort(wanted)
    places = np.empty(len(wanted), np.int64)
    places[order] = np.searchsorted(values, wanted[order], side)
    return places


@dataclass(frozen=True, eq=False)
class Known:
    """Distinct values, ascending: int64 or float64."""

    values: NDArray[Any]

    def find(self, wanted: NDArray[Any]) -> Ints:
        """Each one's place among the values, or -1."""
        if self._by_position is not None:
            # As unsigned numbers, what lies below the first value lies beyond the last one, too.
            offsets = (wanted - self.values[0]).view(np.uint64)
            found: Ints = self._by_position[np.minimum(offsets, np.uint64(len(self._by_position) - 1))]
            return found
        if not len(self.values):
            return np.full(wanted.shape, -1, np.int64)
        places = np.minimum(search(self.values, wanted), len(self.values) - 1)
        return np.where(self.values[places] == wanted, places, -1)

    @cached_property
    def _by_position(self) -> Ints | None:
        values = self.values
        if not len(values) or values.dtype != np.int64:
            return None
        span = int(values[-1]) - int(values[0]) + 1
        if span > _SPARSE * len(values) + _SMALL:
            return None
        table = np.full(span + 1, -1, np.int64)
        table[values - values[0]] = np.arange(len(values))
        return table


@dataclass(frozen=True, eq=False)
class Grouping:
    """Items by one or more keys. Of each further key, the pairs of the group so far and the key's place that occur."""

    keys: Sequence[Known | tuple[str, ...]]
    pairs: Sequence[Known]
    groups: int

    def find(self, places: Sequence[Ints]) -> Ints:
        """The group for each row, from its keys' places (-1: no item has it); `groups` where there is none."""
        found = places[0]
        for key, pairs, further in zip(self.keys[1:], self.pairs, places[1:], strict=True):
            joint = np.where((found < 0) | (further < 0), -1, found * len_of(key) + further)
            found = pairs.find(joint)
        return np.where(found < 0, self.groups, found)


def len_of(key: Known | tuple[str, ...]) -> int:
    return len(key) if isinstance(key, tuple) else len(key.values)


def grouped(keys: Sequence[Known | tuple[str, ...]], places: Sequence[Ints], items: int) -> tuple[Grouping, Ints]:
    """The grouping of items by keys, and each item's group. Without keys, all are of one group."""
    if not keys:
        return Grouping((), (), 1), np.zeros(items, np.int64)
    group, groups = places[0], len_of(keys[0])
    pairs = []
    for key, further in zip(keys[1:], places[1:], strict=True):
        joint, group = np.unique(group * len_of(key) + further, return_inverse=True)
        pairs.append(Known(joint))
        groups = len(joint)
    return Grouping(tuple(keys), tuple(pairs), groups), group


@dataclass(frozen=True, eq=False)
class Ladder:
    """Items by group and, within a group, by a value. `steps` are the distinct values, ascending.

    `rungs` are the items' own group and step as one number, ascending; `groups` how many groups there are.
    """

    steps: NDArray[Any]
    rungs: Ints
    groups: int

    def below(self, group: Ints, bound: NDArray[Any], equal_too: bool) -> Ints:
        """How many items come before: those of lesser groups, and those of the group below the bound (or at it)."""
        step = search(self.steps, bound, "right" if equal_too else "left")
        rung = group * (len(self.steps) + 1) + step
        if self._by_rung is None:
            return search(self.rungs, rung)
        before: Ints = self._by_rung[np.minimum(rung, len(self._by_rung) - 1)]
        return before

    @cached_property
    def _by_rung(self) -> Ints | None:
        length = self.groups * (len(self.steps) + 1)
        if length > _SPARSE * len(self.rungs) + _SMALL:
            return None
        return np.concatenate(([0], np.cumsum(np.bincount(self.rungs, minlength=length)))).astype(np.int64)


def ladder(groups: int, group: Ints, values: NDArray[Any]) -> tuple[Ladder, Ints]:
    """The ladder of items of these groups and values, and the items' order on it: equals as they were."""
    steps, step = np.unique(values, return_inverse=True)
    rungs = group * (len(steps) + 1) + step
    order = np.argsort(rungs, kind="stable")
    return Ladder(steps, rungs[order], groups), order
