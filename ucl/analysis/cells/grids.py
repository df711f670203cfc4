"""Arrays over the product of some axes, which broadcast by the axes' names.

In: arrays with the axes that they speak of. Out: the same, combined. What does not depend on an axis does not grow by
it; a combination of more cells than the cap is `TooLarge`, never tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen

Indices = NDArray[np.int64]


class TooLarge(Exception):  # noqa: N818 - a signal, not an error
    """More cells than may be looked at."""


class Spent(Exception):  # noqa: N818 - a signal, not an error
    """More cells have been looked at, part by part, than may be."""


class Work:
    """How many cells may still be looked at; `Spent` past them."""

    def __init__(self, cells: int) -> None:
        self._left = cells

    def do(self, cells: int) -> None:
        self._left -= cells
        if self._left < 0:
            raise Spent


@frozen
class Grid:
    """`values` has one dimension for each of `axes`, which are numbers, ascending."""

    axes: tuple[int, ...]
    values: NDArray[Any]

    def over(self, axes: Sequence[int]) -> NDArray[Any]:
        """The values with a dimension for each of the axes, of length 1 where they do not depend on it."""
        lengths = dict(zip(self.axes, self.values.shape, strict=True))
        return self.values.reshape([lengths.get(axis, 1) for axis in axes])


def constant(value: Any) -> Grid:
    return Grid((), np.asarray(value))


NEVER, ALWAYS = constant(False), constant(True)


def combined(operation: Callable[..., Any], grids: Sequence[Grid], cap: int) -> Grid:
    """The operation of the arrays, which it takes in the order of the grids."""
    axes = tuple(sorted({axis for grid in grids for axis in grid.axes}))
    lengths: dict[int, int] = {}
    for grid in grids:
        lengths.update(zip(grid.axes, grid.values.shape, strict=True))
    if prod(lengths[axis] for axis in axes) > cap:
        raise TooLarge
    return Grid(axes, np.asarray(operation(*(grid.over(axes) for grid in grids))))


def merge_alike(grids: Sequence[Grid]) -> dict[int, Indices]:
    """For each axis, one index of every group that no grid tells apart, the first of each."""
    kept: dict[int, Indices] = {}
    for axis in sorted({axis for grid in grids for axis in grid.axes}):
        looks: dict[tuple[bytes, ...], int] = {}
        sides = [np.moveaxis(grid.values, grid.axes.index(axis), 0) for grid in grids if axis in grid.axes]
        for index in range(len(sides[0])):
            looks.setdefault(tuple(side[index].tobytes() for side in sides), index)
        kept[axis] = np.array(sorted(looks.values()), np.int64)
    return kept


def taken(grid: Grid, kept: Mapping[int, Indices]) -> Grid:
    """The grid at some ascending indices of its axes."""
    values = grid.values
    for place, axis in enumerate(grid.axes):
        if axis in kept and len(kept[axis]) < values.shape[place]:
            values = np.take(values, kept[axis], axis=place)
    return Grid(grid.axes, values)


def sizes_of(grids: Sequence[Grid]) -> dict[int, int]:
    """How many values each axis has."""
    return {axis: size for grid in grids for axis, size in zip(grid.axes, grid.values.shape, strict=True)}


def to_split(grids: Sequence[Grid]) -> int:
    """The axis whose values are best looked at one by one: the one that most of the grids depend on."""
    sizes = sizes_of(grids)
    return max(sizes, key=lambda axis: (sizes[axis] > 1, sum(axis in grid.axes for grid in grids), sizes[axis]))
