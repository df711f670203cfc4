"""Boxes of one version's space, put into the terms of the next.

In: two spaces. Out: a `Translation`, where what both ask of each field tells apart as much in the one as in the other.
An edit that asks for `n < 7` cuts a cell of the axis of `n` in two, and one that no longer does joins two cells; boxes
of declarations that did not change never told these apart. So they are unions of classes of cells, known by the tests
that both versions make, and a class of the old cells becomes that of the new ones. Everything that is made of masks by
`and`, `or` and `not` keeps its meaning, and boxes come out as a fresh reading of the same formulas would make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ucl.analysis.boxes.axes import Axis
from ucl.analysis.boxes.outcomes import Mask
from ucl.analysis.boxes.space import Box, Clockwork, Space
from ucl.analysis.formulas.formula import Literal

Classes = list[tuple[Mask, Mask]]


class Translation:
    """`axes` has the new number of each old axis; of those whose cells are others, `changed` has both numbers, of the
    rest, `unchanged` has the old one by the new one."""

    def __init__(self, axes: Mapping[int, int], classes: Mapping[int, Classes]) -> None:
        """`classes` are by old axis: masks of the old cells, and of the new ones that they are now."""
        self.axes = axes
        self.changed = [(old, axes[old]) for old in classes]
        self.unchanged = {new: old for old, new in axes.items() if old not in classes}
        self._classes = classes
        self._known: dict[tuple[int, Mask], Mask] = {}
        self._is_in_place = all(old == new for old, new in axes.items())

    def renew(self, *boxes: Iterable[Box]) -> None:
        """Puts boxes into the new terms, each once: whoever holds one need not know."""
        found = list(chain.from_iterable(boxes))
        for box in dict(zip(map(id, found), found, strict=True)).values():
            if not self._is_in_place:
                masks = list(box.items())
                box.clear()
                box.update((self.axes[axis], self._mask(axis, mask)) for axis, mask in masks)
                continue
            for axis in self._classes:
                if axis in box:
                    box[axis] = self._mask(axis, box[axis])

    def _mask(self, axis: int, mask: Mask) -> Mask:
        classes = self._classes.get(axis)
        if classes is None:
            return mask
        known = self._known.get((axis, mask))
        if known is None:
            known = 0
            for old, new in classes:
                if mask & old:
                    known |= new
            self._known[axis, mask] = known
        return known


def translation(before: Space, now: Space) -> Translation | None:
    """None where the tests that both make come out together in ways of which only one space knows."""
    axes: dict[int, int] = {}
    classes: dict[int, Classes] = {}
    for place, old in before.places.items():
        new = now.places.get(place)
        if new is None:
            continue  # nothing that stays asks for it
        numbers = list(zip(_numbers(old), _numbers(new), strict=True))
        axes |= numbers
        changed = [(a, b) for a, b in numbers if before.axes[a] is not now.axes[b]]
        if not changed:
            continue
        found = _classes(before, now, before.shared_tests(now, place), changed)
        if found is None:
            return None
        classes |= found
    for axis, atom in before.free.items():
        number = now.free_axis(atom)
        if number is not None:
            axes[axis] = number
    return Translation(axes, classes)


def _numbers(found: int | Clockwork) -> tuple[int, ...]:
    return (found,) if isinstance(found, int) else (found.days, found.clocks, found.moments)


def _classes(
    before: Space, now: Space, shared: Iterable[Literal], changed: Sequence[tuple[int, int]]
) -> dict[int, Classes] | None:
    tests = [(before.literal(test), now.literal(test)) for test in shared]
    found: dict[int, Classes] = {}
    for old, new in changed:
        asked = dict.fromkeys((a[old], b[new]) for a, b in tests if old in a)
        classes = _told_apart(before.axes[old], now.axes[new], asked)
        if classes is None:
            return None
        found[old] = classes
    return found


def _told_apart(old: Axis, new: Axis, tests: Iterable[tuple[Mask, Mask]]) -> Classes | None:
    """The cells of both axes as these tests, each a mask of either, tell them apart; None where only one axis has cells
    of a class."""
    if (old.absent == 0) != (new.absent == 0):
        return None
    classes = _there([(old.absent, new.absent), (old.full & ~old.absent, new.full & ~new.absent)])
    for a, b in tests:
        if classes is None:
            return None
        classes = _there(part for o, n in classes for part in ((o & a, n & b), (o & ~a, n & ~b)))
    return classes


def _there(classes: Iterable[tuple[Mask, Mask]]) -> Classes | None:
    found = [each for each in classes if each != (0, 0)]
    return found if all(old and new for old, new in found) else None
