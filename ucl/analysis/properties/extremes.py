"""The least and the most that the options of a condition can score, in each context: what a `prefer` compares.

In: a condition over a space. Out: an `Extreme`, a total for every cell of the context, and where it is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucl.analysis.cells.grids import Grid, merge_alike
from ucl.analysis.cells.inputs import Key, Place
from ucl.analysis.cells.outcomes import Declarations
from ucl.analysis.cells.space import Space, View
from ucl.analysis.properties.spoken import Needs, Told
from ucl.semantics.program import Expr

_INT = np.iinfo(np.int64)


class Extreme:
    """The least of `sign` times the total over the options of one side, for each context (`outer`)."""

    def __init__(
        self, declarations: Declarations, space: Space, condition: Expr, needs: Needs, cells: int, sign: int
    ) -> None:
        self._view = view = View(space, cells)
        view.restrict(condition)
        self.any = all(len(kept) for kept in view.kept.values())
        if not self.any:
            return
        axes = space.axes
        inner = {number for number, axis in enumerate(axes) if axis.key is None or axis.key[0] is Place.OPTION}
        # Contexts are shared by both sides, so that their values stay as they are.
        view.kept = {axis: kept for axis, kept in view.kept.items() if axis in inner}
        told = Told(declarations, view, needs)
        truth = view.truth(condition)
        kept = merge_alike([truth.holds, truth.over, *told.grids()])
        view.narrow({axis: places for axis, places in kept.items() if axis in inner})
        told = Told(declarations, view, needs)
        truth = view.truth(condition)
        told.require_listed()
        total = told.ruling.total(told.ledgers())
        says = view.both(truth.holds, view.no(truth.over), view.no(told.invalid()))
        self.any = bool(says.values.any())
        self.certain = view.certain()
        values = view.combine(lambda s, t: np.where(s, sign * t, _INT.max), says, total)
        self._axes = values.axes
        self._inner = [axis for axis in values.axes if axis in inner]
        self._outer = [axis for axis in values.axes if axis not in inner]
        order = [values.axes.index(axis) for axis in (*self._outer, *self._inner)]
        shape = values.values.shape
        self._shape = [shape[values.axes.index(axis)] for axis in self._inner]
        flat = np.transpose(values.values, order).reshape([shape[values.axes.index(a)] for a in self._outer] + [-1])
        self._where = flat.argmin(axis=-1)
        self.outer = Grid(tuple(self._outer), flat.min(axis=-1))

    def point(self, around: Mapping[int, int]) -> dict[Key, Any]:
        """The inputs of the extreme option in a context."""
        outer = [around[axis] for axis in self._outer]
        inner = np.unravel_index(int(self._where[tuple(outer)]), self._shape) if self._shape else ()
        places = dict(zip(self._outer, outer, strict=True)) | {
            a: int(i) for a, i in zip(self._inner, inner, strict=True)
        }
        axes = sorted({*places, *around})
        cell = [places.get(axis, around.get(axis, 0)) for axis in axes]
        return {key: value for key, (value,) in self._view.point(axes, cell).items()}
