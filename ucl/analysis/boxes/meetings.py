"""Which boxes of one list meet which of another, kept from one version of a program to the next.

In: two lists of boxes of rules, as `overlap` has them. Out: for each box of the first how many of the second meet it,
told apart by whether their rules speak of a common field; and which, where that is asked. After an edit only boxes that
came or went are met with the others: a row or a column each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any

from ucl.analysis.boxes.overlap import BLOCK, FEW, WORD, Packer, Side, one_by_one
from ucl.analysis.boxes.space import Box, Space
from ucl.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ucl.analysis.scene.subjects import Subject
    from ucl.analysis.scene.translation import Translation

_MOST_CHANGES = 64  # boxes that came or went; of more, all are met again


class Counts:
    """For each box of the first side how many it meets of rules that share a field with its own, and how many others:
    shape (boxes, 2)."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.each: list[list[int]] = counts.tolist()
        self._from: list[list[int]] = counts[::-1].cumsum(axis=0)[::-1].tolist()

    def alike_from(self, first: int) -> int:
        """Of the box at a place and all that follow."""
        return self._from[first][0]

    def apart_from(self, first: int) -> int:
        return self._from[first][1]


@dataclass
class _Packed:
    """A side as arrays, a place for each box: `words` by axis, the rule's `fields` as bits, the rule by identity."""

    members: list[tuple[Subject, Box]]
    words: dict[int, NDArray[np.uint64]]
    fields: NDArray[np.uint64]
    rules: NDArray[np.int64]

    def at(self, places: Any) -> tuple[dict[int, NDArray[np.uint64]], NDArray[np.uint64], NDArray[np.int64]]:
        return {axis: words[places] for axis, words in self.words.items()}, self.fields[places], self.rules[places]


@frozen
class _Terms:
    """The space that boxes are packed in, and its axes but for those of relations."""

    packer: Packer
    axes: list[int]

    @staticmethod
    def of(space: Space) -> _Terms:
        return _Terms(Packer(space), [axis for axis in range(len(space.axes)) if axis not in space.free])


class Meetings:
    """Of boxes of one space."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._terms = _Terms.of(space)
        self._sides: tuple[_Packed, _Packed] | None = None
        self._sides_terms = self._terms
        self._translation: Translation | None = None
        self._fields: dict[Any, int] = {}
        self._counts: NDArray[np.int64] | None = None
        self._rows: dict[int, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        self._few: list[tuple[list[int], list[int]]] | None = None

    def meet(self, left: Side, right: Side) -> Counts:
        """In the order of the left side."""
        import numpy as np

        self._few = None
        if len(left.members) * len(right.members) <= FEW:
            self._few = [(met.alike, met.apart) for met in one_by_one(self._space, left, right)]
            counts = [(len(alike), len(apart)) for alike, apart in self._few]
            return Counts(np.array(counts, np.int64).reshape(-1, 2))
        self._renew(left, right)
        assert self._counts is not None
        return Counts(self._counts)

    def of(self, place: int) -> tuple[list[int], list[int]]:
        """The right boxes that the left one at a place meets: of rules that share a field, and of others."""
        import numpy as np

        if self._few is not None:
            return self._few[place]
        assert self._sides is not None
        ours, theirs = self._sides
        key = id(ours.members[place])
        if key not in self._rows:
            met, alike = self._met(ours.at(slice(place, place + 1)), theirs.at(slice(None)))
            self._rows[key] = met[0], alike[0]
        met, alike = self._rows[key]
        hits = np.flatnonzero(met)
        return hits[alike[hits]].tolist(), hits[~alike[hits]].tolist()

    def translate(self, space: Space, translation: Translation) -> None:
        """Goes on in another space, into which the boxes have been translated. As many meet, if each cell is told."""
        before, now = self._space.axes, space.axes
        most = max((max(len(before[a].values), len(now[b].values)) for a, b in translation.changed), default=0)
        if self._translation is not None or most > WORD:
            self._sides = None
        self._space, self._terms, self._translation = space, _Terms.of(space), translation

    @property
    def is_anew(self) -> bool:
        """Whether all boxes are met again."""
        return self._sides is None

    # --- versions ---------------------------------------------------------------------------------------------------

    def _renew(self, left: Side, right: Side) -> None:
        import numpy as np

        before = self._sides
        if before is not None:
            ours, known_left = self._packed(left, before[0])
            theirs, known_right = self._packed(right, before[1])
            if len(self._fields) > before[0].fields.shape[1] * WORD:
                before = None  # more fields than there are bits for
        if before is None:
            self._named(left, right)
            (ours, known_left), (theirs, known_right) = self._packed(left, None), self._packed(right, None)
        terms, self._sides_terms, self._translation = self._sides_terms, self._terms, None
        self._sides = ours, theirs
        new_left, new_right = np.flatnonzero(known_left < 0), np.flatnonzero(known_right < 0)
        if before is None or self._counts is None or len(new_left) + len(new_right) > _MOST_CHANGES:
            self._counts, self._rows = self._all(ours, theirs), {}
            return
        stays = np.zeros(len(before[1].members), np.bool_)
        stays[known_right[known_right >= 0]] = True
        gone = np.flatnonzero(~stays)
        if len(gone) > _MOST_CHANGES:
            self._counts, self._rows = self._all(ours, theirs), {}
            return
        counts = self._counts
        if len(gone):
            counts = counts - _count(*self._met(before[0].at(slice(None)), before[1].at(gone), terms))
        counts = counts[known_left]
        came = self._met(ours.at(slice(None)), theirs.at(new_right))
        if len(new_right):
            counts += _count(*came)
        if len(new_left):
            counts[new_left] = _count(*self._met(ours.at(new_left), theirs.at(slice(None))))
        self._counts = counts
        self._rows = self._moved(ours, known_right, new_right, came)

    def _moved(
        self, ours: _Packed, known: NDArray[np.int64], new: NDArray[np.int64], came: Sequence[NDArray[np.bool_]]
    ) -> dict[int, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """The rows that were asked for, in the new order of the right side."""
        found = {}
        for place, member in enumerate(ours.members):
            row = self._rows.get(id(member))
            if row is not None:
                met, alike = row[0][known], row[1][known]
                met[new], alike[new] = came[0][place], came[1][place]
                found[id(member)] = met, alike
        return found

    def _all(self, ours: _Packed, theirs: _Packed) -> NDArray[np.int64]:
        import numpy as np

        size = max(1, BLOCK // max(1, len(theirs.members)))
        whole = theirs.at(slice(None))
        starts = range(0, len(ours.members), size)
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

        members = side.members
        if before is None:
            words = self._terms.packer.columns(side, self._terms.axes)
            return _Packed(members, words, self._bits(side, 1), _rules(members)), np.full(len(members), -1, np.int64)
        known = _places(members, before.members)
        new = np.flatnonzero(known < 0)
        fresh = Side([members[place] for place in new])
        words = self._terms.packer.columns(fresh, self._terms.axes)
        for axis, column in words.items():
            kept = self._kept(axis, before)
            words[axis] = self._terms.packer.column(side, axis) if kept is None else kept[known]
            words[axis][new] = column
        own, fields = self._bits(fresh, before.fields.shape[1]), before.fields[known]
        fields[new] = own[:, : fields.shape[1]]
        rules = before.rules[known]
        rules[new] = _rules(fresh.members)
        return _Packed(members, words, fields, rules), known

    def _kept(self, axis: int, before: _Packed) -> NDArray[np.uint64] | None:
        """The words of an axis as they were, if its cells are what they were."""
        if self._translation is None:
            return before.words[axis]
        old = self._translation.unchanged.get(axis)
        return None if old is None else before.words[old]

    def _bits(self, side: Side, least: int) -> NDArray[np.uint64]:
        import numpy as np

        place = self._named(side)
        found = np.zeros((len(side.members), max(least, -(-len(place) // WORD))), np.uint64)
        for row, (subject, _) in enumerate(side.members):
            for name in subject.fields:
                found[row, place[name] // WORD] |= np.uint64(1 << (place[name] % WORD))
        return found

    def _met(self, ours: Any, theirs: Any, terms: _Terms | None = None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For every two boxes whether they meet, and whether their rules share a field."""
        (our_words, our_fields, our_rules), (their_words, their_fields, their_rules) = ours, theirs
        terms = terms or self._terms
        met = terms.packer.meets(terms.axes, our_words, their_words, len(our_rules), len(their_rules))
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


def _places(members: Sequence[Any], before: Sequence[Any]) -> NDArray[np.int64]:
    """Where each member was, -1 where it was not; what stands at the beginning and at the end has seldom changed."""
    import numpy as np

    start = _alike(members, before)
    most = min(len(members), len(before)) - start
    end = min(most, _alike(members[::-1], before[::-1]))
    places = {id(member): place for place, member in enumerate(before[start : len(before) - end], start)}
    middle = [places.get(id(member), -1) for member in members[start : len(members) - end]]
    parts = (np.arange(start), np.array(middle, np.int64), np.arange(len(before) - end, len(before)))
    return np.concatenate(parts).astype(np.int64)


def _alike(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many of the first are the very same."""
    same = list(map(is_, a, b))
    return same.index(False) if False in same else len(same)


def _rules(members: Sequence[tuple[Subject, Box]]) -> NDArray[np.int64]:
    import numpy as np

    return np.array([id(subject) for subject, _ in members], np.int64)
