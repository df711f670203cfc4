"""What a side's changed rules amount to, cell by cell, and where two sides amount to something else.

In: declarations, the names of those that changed, a view. Out: `Said`: everything that outcomes depend on whatever the
rules in common add: the sums of both signs, whether each contests, the priorities that decide who wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ucl.analysis.cells.grids import Grid, constant
from ucl.analysis.cells.outcomes import Declarations, Ledger, Ruling
from ucl.analysis.cells.space import View
from ucl.frozen import frozen
from ucl.semantics.outcome import CONTESTED_FROM, NANO
from ucl.semantics.program import Resolution, Rule

# Stands for what a rule adds where it does not fire: no whole number of 10^-9.
_SILENT = 0.5


@frozen
class Said:
    """`rules` has what each rule adds, and each constraint where it is violated; `varying` how many rules of one score
    that can't be listed fire."""

    invalid: Grid
    infeasible: Grid
    sums: tuple[Grid, ...]
    rules: Mapping[str, Grid]
    varying: Mapping[object, Grid]


class Parts:
    """What is to be put together: a grid for each rule and constraint, none larger than its own inputs."""

    def __init__(self, declarations: Declarations, names: Sequence[str], view: View, unreadable: list[Grid]) -> None:
        self._view, self._resolution = view, declarations.resolution
        self._varying: dict[object, list[Grid]] = {}
        self._ruling = ruling = Ruling(declarations, view, self._varying)
        self._rules = [name for name in names if isinstance(declarations.active[name], Rule)]
        self._ledgers = ruling.ledgers(self._rules)
        self._violated = {name: ruling.violated(name) for name in names if name not in self._rules}
        self._fires = {name: ruling.fires(name) for name in self._rules}
        self._unreadable = unreadable

    def grids(self) -> list[Grid]:
        ledgers = [grid for led in self._ledgers for grid in (led.mask, led.nano)]
        varying = [mask for masks in self._varying.values() for mask in masks]
        over = self._ruling.over.values()
        return [*ledgers, *self._violated.values(), *self._fires.values(), *varying, *over, *self._unreadable]

    def said(self, whole: bool) -> Said:
        """`whole`: there are no other rules, and no score that can't be listed."""
        view, ruling = self._view, self._ruling
        return Said(
            view.either(ruling.invalid(), *self._unreadable),
            view.either(*self._violated.values()),
            self._outcome() if whole else self._sums(),
            {**{name: self._added(name) for name in self._rules}, **self._violated},
            {key: view.combine(_count, *masks) for key, masks in self._varying.items()},
        )

    def _added(self, name: str) -> Grid:
        total = self._ruling.total([led for led in self._ledgers if led.name == name])
        return self._view.combine(lambda fires, nano: np.where(fires, nano, _SILENT), self._fires[name], total)

    def _outcome(self) -> tuple[Grid, ...]:
        counted = self._ruling.counted(self._ledgers)
        return self._ruling.total(counted), self._ruling.contested(counted)

    def _sums(self) -> tuple[Grid, ...]:
        """Under `weighted`, the sum and whether either sign contests; under `priority`, sums by sign, and the highest
        priority of each."""
        up, down = (self._pulling(sign) for sign in (1, -1))
        if self._resolution is Resolution.PRIORITY:
            return (*up, *down)
        return (self._view.combine(np.add, up[0], down[0]), up[1], down[1])

    def _pulling(self, sign: int) -> tuple[Grid, Grid, Grid]:
        """Of the rules that pull one way: their sum, whether one of them contests, and their highest priority."""
        view, ruling = self._view, self._ruling
        least = max(1, round(CONTESTED_FROM * NANO))
        pulling = [Ledger(led.name, led.priority, ruling.side_of(led, sign, 1), led.nano) for led in self._ledgers]
        highest = constant(-1.0)
        if self._resolution is Resolution.PRIORITY:
            for led in sorted(pulling, key=lambda led: led.priority):
                highest = view.combine(lambda m, h, at=led.priority: np.where(m, at, h), led.mask, highest)
        contests = view.either(*(ruling.side_of(led, sign, least) for led in self._ledgers))
        return ruling.total(pulling), contests, highest


def differs_in(view: View, old: Said, new: Said) -> Grid:
    """Where an option may be told something else: valid on one side alone, or on both and not said the same of."""
    unlike = [view.combine(np.not_equal, old.infeasible, new.infeasible)]
    unlike += [view.combine(np.not_equal, a, b) for a, b in zip(old.sums, new.sums, strict=True)]
    zero = constant(np.int64(0))
    for key in dict.fromkeys([*old.varying, *new.varying]):
        unlike.append(view.combine(np.not_equal, old.varying.get(key, zero), new.varying.get(key, zero)))
    valid = view.no(view.either(old.invalid, new.invalid))
    one_valid = view.combine(np.not_equal, old.invalid, new.invalid)
    return view.either(one_valid, *(view.both(valid, grid) for grid in unlike))


def _count(*masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """In how many it holds."""
    found = np.zeros((), np.int64)
    for mask in masks:
        found = np.asarray(found + mask)
    return found
