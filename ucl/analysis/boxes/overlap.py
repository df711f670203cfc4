"""Which boxes of two lists have a point in common, for very many boxes at once.

In: two lists of boxes of rules. Out: for each box of the first list those of the second that meet it, told apart by
whether their rules speak of a common field. A few boxes are met one by one. Many are packed first: the cells of each
axis go into at most 64 buckets, so that a box is one machine word an axis, and a block of boxes is met with all others
by a handful of operations on arrays. On axes of more cells this finds too many; the caller meets what it looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ucl.analysis.boxes.space import Box, Space
from ucl.analysis.scene.subjects import Subject
from ucl.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW = 4_000  # pairs of boxes that are met one by one
WORD = 64
BLOCK = 1 << 20  # pairs looked at together


@frozen
class Side:
    members: list[tuple[Subject, Box]]


@frozen
class Met:
    """Box `first` meets the boxes `alike`, whose rules share a field with its own, and the boxes `apart`."""

    first: int
    alike: list[int]
    apart: list[int]


def overlapping(space: Space, left: Side, right: Side, nested: bool = False) -> Iterator[Met]:
    """With `nested`, only boxes of rules of which one may apply wherever the other does."""
    if len(left.members) * len(right.members) <= FEW:
        yield from one_by_one(space, left, right)
    else:
        yield from _packed(space, left, right, nested)


def one_by_one(space: Space, left: Side, right: Side) -> Iterator[Met]:
    for i, (a, first) in enumerate(left.members):
        met = Met(i, [], [])
        for j, (b, second) in enumerate(right.members):
            if a is not b and space.meet(first, second) is not None:
                (met.alike if a.fields & b.fields else met.apart).append(j)
        yield met


# --- packed ---------------------------------------------------------------------------------------------------------


def _packed(space: Space, left: Side, right: Side, nested: bool) -> Iterator[Met]:
    import numpy as np

    axes = sorted({axis for side in (left, right) for _, box in side.members for axis in box} - space.free.keys())
    packer = Packer(space)
    ours, theirs = (packer.columns(side, axes) for side in (left, right))
    own_fields, other_fields = _fields(left, right)
    own_rules, other_rules = (np.array([s.number for s, _ in side.members]) for side in (left, right))
    own_hulls, other_hulls = ours, theirs
    if nested:
        own_hulls, other_hulls = (
            _hulls(columns, rules) for columns, rules in ((ours, own_rules), (theirs, other_rules))
        )
    rows = max(1, BLOCK // max(1, len(right.members)))
    for start in range(0, len(left.members), rows):
        block = slice(start, start + rows)
        met = packer.meets(axes, _rows_of(ours, block), theirs, len(own_rules[block]), len(other_rules))
        met &= own_rules[block, None] != other_rules[None, :]
        if nested:
            met &= _nested(own_hulls, other_hulls, block)
        alike = (own_fields[block, None, :] & other_fields[None, :, :]).any(axis=2)
        for row in range(met.shape[0]):
            hits = np.flatnonzero(met[row])
            if len(hits):
                shared = alike[row, hits]
                yield Met(start + row, hits[shared].tolist(), hits[~shared].tolist())


class Packer:
    """Masks as words: exact on axes of up to 64 cells, in buckets of neighbours beyond."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._known: dict[tuple[int, int], int] = {}

    def columns(self, side: Side, axes: list[int]) -> dict[int, NDArray[np.uint64]]:
        return {axis: self.column(side, axis) for axis in axes}

    def column(self, side: Side, axis: int) -> NDArray[np.uint64]:
        import numpy as np

        full = self.space.axes[axis].full
        masks = [box.get(axis, full) for _, box in side.members]
        if len(self.space.axes[axis].values) > WORD:
            masks = [self._word(axis, mask) for mask in masks]
        return np.array(masks, np.uint64)

    def _word(self, axis: int, mask: int) -> int:
        size = len(self.space.axes[axis].values)
        known = self._known.get((axis, mask))
        if known is None:
            width = -(-size // WORD)
            bucket = (1 << width) - 1
            known = sum(1 << place for place in range(WORD) if mask >> (place * width) & bucket)
            self._known[axis, mask] = known
        return known

    def meets(
        self, axes: list[int], ours: dict[int, NDArray[Any]], theirs: dict[int, NDArray[Any]], rows: int, columns: int
    ) -> NDArray[np.bool_]:
        """For every two of so many boxes whether they meet, shape (rows, columns)."""
        import numpy as np

        def touch(axis: int) -> NDArray[np.bool_]:
            found: NDArray[np.bool_] = (ours[axis][:, None] & theirs[axis][None, :]) != 0
            return found

        met = np.ones((rows, columns), np.bool_)
        done: set[int] = set()
        for axis in axes:
            if axis in done:
                continue
            of = self.space.clockwork(axis)
            if of is None:
                met &= touch(axis)
                continue
            done |= {of.days, of.clocks, of.moments}
            regular = np.ones_like(met)
            for part in (of.days, of.clocks):
                if part in ours:
                    regular &= touch(part)
            if self.space.axes[of.moments].full:
                regular |= touch(of.moments) if of.moments in ours else True
            met &= regular
        return met


def _rows_of(columns: dict[int, NDArray[Any]], block: slice) -> dict[int, NDArray[Any]]:
    return {axis: words[block] for axis, words in columns.items()}


def _fields(left: Side, right: Side) -> tuple[NDArray[Any], NDArray[Any]]:
    """The fields of each box's rule as bits, as many words as there are fields for."""
    import numpy as np

    names = sorted({f for side in (left, right) for subject, _ in side.members for f in subject.fields})
    place = {name: number for number, name in enumerate(names)}
    words = max(1, -(-len(names) // WORD))

    def bits(side: Side) -> NDArray[np.uint64]:
        found = np.zeros((len(side.members), words), np.uint64)
        for row, (subject, _) in enumerate(side.members):
            for name in subject.fields:
                found[row, place[name] // WORD] |= np.uint64(1 << (place[name] % WORD))
        return found

    return bits(left), bits(right)


def _hulls(columns: dict[int, NDArray[Any]], rules: NDArray[Any]) -> dict[int, NDArray[Any]]:
    """For each box the union of its rule's boxes, axis by axis."""
    import numpy as np

    found = {}
    for axis, words in columns.items():
        union = np.zeros(int(rules.max()) + 1, np.uint64)
        np.bitwise_or.at(union, rules, words)
        found[axis] = union[rules]
    return found


def _nested(ours: dict[int, NDArray[Any]], theirs: dict[int, NDArray[Any]], block: slice) -> NDArray[Any]:
    import numpy as np

    inner = outer = None
    for axis in ours:
        a, b = ours[axis][block, None], theirs[axis][None, :]
        inside, outside = (a & ~b) == 0, (b & ~a) == 0
        inner = inside if inner is None else inner & inside
        outer = outside if outer is None else outer & outside
    if inner is None or outer is None:
        return np.ones((1, 1), np.bool_)
    found: NDArray[Any] = inner | outer
    return found
