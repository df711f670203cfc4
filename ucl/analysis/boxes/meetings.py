"""Which boxes of one list meet which of another, kept from one version of a program to the next.

In: two lists of boxes of rules, as `overlap` has them. Out: for each box of the first how many of the second meet it,
told apart by whether their rules speak of a common field; and which, where that is asked. After an edit only boxes that
came or went are met with the others: a row or a column each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ucl.analysis.boxes.overlap import BLOCK, FEW, Packer, Side, one_by_one
from ucl.analysis.boxes.space import Space
from ucl.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_CHANGES = 64  # boxes that came or went; of more, all are met again

Key = tuple[int, int]


@frozen
class Row:
    """Box `first` meets so many boxes of rules that share a field with its own, and so many of others."""

    first: int
    alike: int
    apart: int


@dataclass
class _Packed:
    """A side as arrays, a place for each box: `words` by axis, the rule's `fields` as bits, the rule by identity."""

    side: Side
    keys: list[Key]
    words: dict[int, NDArray[np.uint64]]
    fields: NDArray[np.uint64]
    rules: NDArray[np.int64]

    def at(self, places: Any) -> tuple[dict[int, NDArray[np.uint64]], NDArray[np.uint64], NDArray[np.int64]]:
        return {axis: words[places] for axis, words in self.words.items()}, self.fields[places], self.rules[places]


class Meetings:
    """Of one space, of which the boxes are."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._packer = Packer(space)
        self._axes = [axis for axis in range(len(space.axes)) if axis not in space.free]
        self._fields: dict[Any, int] = {}
        self._sides: tuple[_Packed, _Packed] | None = None
        self._counts: NDArray[np.int64] | None = None
        self._rows: dict[Key, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        self._few: list[tuple[list[int], list[int]]] | None = None

    def meet(self, left: Side, right: Side) -> Iterator[Row]:
        """A row for each box of the left side, in order."""
        self._few = None
        if len(left.members) * len(right.members) <= FEW:
            self._few = [(met.alike, met.apart) for met in one_by_one(self._space, left, right)]
            return (Row(place, len(alike), len(apart)) for place, (alike, apart) in enumerate(self._few))
        self._renew(left, right)
        assert self._counts is not None
        return (Row(place, alike, apart) for place, (alike, apart) in enumerate(self._counts.tolist()))

    def of(self, place: int) -> tuple[list[int], list[int]]:
        """The right boxes that the left one at a place meets: of rules that share a field, and of others."""
        import numpy as np

        if self._few is not None:
            return self._few[place]
        assert self._sides is not None
        ours, theirs = self._sides
        key = ours.keys[place]
        if key not in self._rows:
            met, alike = self._met(ours.at(slice(place, place + 1)), theirs.at(slice(None)))
            self._rows[key] = met[0], alike[0]
        met, alike = self._rows[key]
        hits = np.flatnonzero(met)
        return hits[alike[hits]].tolist(), hits[~alike[hits]].tolist()

    # --- versions ---------------------------------------------------------------------------------------------------

    def _renew(self, left: Side, right: Side) -> None:
        import numpy as np

        before = self._sides
        if before is not None:
            ours, known_left = self._packed(left, before[0])
            theirs, known_right = self._packed(right, before[1])
            if len(self._fields) > before[0].fields.shape[1] * 64:
                before = None  # more fields than there are bits for
        if before is None:
            self._named(left, right)
            (ours, known_left), (theirs, known_right) = self._packed(left, None), self._packed(right, None)
        self._sides = ours, theirs
        new_left, new_right = np.flatnonzero(known_left < 0), np.flatnonzero(known_right < 0)
        if before is None or self._counts is None or len(new_left) + len(new_right) > _MOST_CHANGES:
            self._counts, self._rows = self._all(ours, theirs), {}
            return
        gone = np.setdiff1d(np.arange(len(before[1].keys)), known_right)
        if len(gone) > _MOST_CHANGES:
            self._counts, self._rows = self._all(ours, theirs), {}
            return
        counts = self._counts - _count(*self._met(before[0].at(slice(None)), before[1].at(gone)))
        counts = counts[known_left]
        came = self._met(ours.at(slice(None)), theirs.at(new_right))
        counts += _count(*came)
        counts[new_left] = _count(*self._met(ours.at(new_left), theirs.at(slice(None))))
        self._counts = counts
        self._rows = self._moved(ours, known_right, new_right, came)

    def _moved(
        self, ours: _Packed, known: NDArray[np.int64], new: NDArray[np.int64], came: Sequence[NDArray[np.bool_]]
    ) -> dict[Key, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """The rows that were asked for, in the new order of the right side."""
        found = {}
        for place, key in enumerate(ours.keys):
            row = self._rows.get(key)
            if row is not None:
                met, alike = row[0][known], row[1][known]
                met[new], alike[new] = came[0][place], came[1][place]
                found[key] = met, alike
        return found

    def _all(self, ours: _Packed, theirs: _Packed) -> NDArray[np.int64]:
        import numpy as np

        size = max(1, BLOCK // max(1, len(theirs.keys)))
        whole = theirs.at(slice(None))
        starts = range(0, len(ours.keys), size)
        return np.concatenate([_count(*self._met(ours.at(slice(at, at + size)), whole)) for at in starts])

    # --- arrays -----------------------------------------------------------------------------------------------------

    def _named(self, *sides: Side) -> dict[Any, int]:
        """A bit for each field that a rule speaks of."""
        for side in sides:
            for names in {subject.fields for subject, _ in side.members}:
                for name in sorted(names):
                    self._fields.setdefault(name, len(self._fields))
        return self._fields

    def _packed(self, side: Side, before: _Packed | None) -> tuple[_Packed, NDArray[np.int64]]:
        """The side, and for each box where it was in the version before (-1 where it was not)."""
        import numpy as np

        keys = [(id(subject), id(box)) for subject, box in side.members]
        places = {} if before is None else {key: place for place, key in enumerate(before.keys)}
        known = np.array([places.get(key, -1) for key in keys], np.int64)
        new = np.flatnonzero(known < 0)
        fresh = Side([side.members[place] for place in new])
        words = self._packer.columns(fresh, self._axes)
        fields = self._bits(fresh, 1 if before is None else before.fields.shape[1])
        rules = np.array([key[0] for key in keys], np.int64)
        if before is not None:
            for axis, column in words.items():
                words[axis] = before.words[axis][known]
                words[axis][new] = column
            own, fields = fields, before.fields[known]
            fields[new] = own[:, : fields.shape[1]]
        return _Packed(side, keys, words, fields, rules), known

    def _bits(self, side: Side, least: int) -> NDArray[np.uint64]:
        import numpy as np

        place = self._named(side)
        found = np.zeros((len(side.members), max(least, -(-len(place) // 64))), np.uint64)
        for row, (subject, _) in enumerate(side.members):
            for name in subject.fields:
                found[row, place[name] // 64] |= np.uint64(1 << (place[name] % 64))
        return found

    def _met(self, ours: Any, theirs: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For every two boxes whether they meet, and whether their rules share a field."""
        (our_words, our_fields, our_rules), (their_words, their_fields, their_rules) = ours, theirs
        met = self._packer.meets(self._axes, our_words, their_words, len(our_rules), len(their_rules))
        met &= our_rules[:, None] != their_rules[None, :]
        alike = (our_fields[:, None, 0] & their_fields[None, :, 0]) != 0
        for word in range(1, our_fields.shape[1]):
            alike |= (our_fields[:, None, word] & their_fields[None, :, word]) != 0
        return met, alike


def _count(met: NDArray[np.bool_], alike: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are met that share a field, and that share none: a row for each, shape (rows, 2)."""
    import numpy as np

    shared, all_ = np.count_nonzero(met & alike, axis=1), np.count_nonzero(met, axis=1)
    return np.stack([shared, all_ - shared], axis=1).astype(np.int64)
