"""One schema under study: its scene, the finder of points, the replayer, and what stays undecided.

In: a scene. Out: questions about regions answered: whether blockers leave anything of some boxes, and if so a point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ucl.analysis.boxes.formula import Formula
from ucl.analysis.boxes.space import Box
from ucl.analysis.regions import Scene, Subject
from ucl.analysis.witness.example import Example
from ucl.analysis.witness.replay import Replayed, Replayer
from ucl.analysis.witness.search import FieldPath, Finder, Verdict

# Blockers that one question may look at before it is undecided, and all questions about one schema together.
_STEPS = 200_000
_STEPS_IN_ALL = 3_000_000


@dataclass(frozen=True, slots=True)
class Point:
    """An example in a region; `possible` where something that can't be decided took part in finding it."""

    example: Example
    possible: bool


@dataclass
class Study:
    scene: Scene
    finder: Finder = field(init=False)
    replayer: Replayer = field(init=False)
    undecided: set[tuple[str, ...]] = field(default_factory=set)
    nothing_feasible: bool = False
    _left: int = _STEPS_IN_ALL

    def __post_init__(self) -> None:
        shows_now = any(place.root == "context" and place.path == ("now",) for place in self.scene.space.places)
        self.finder = Finder(self.scene, shows_now)
        self.replayer = Replayer(self.scene)

    def leave_open(self, *names: str) -> None:
        """Notes that something about these declarations stays undecided."""
        self.undecided.add(tuple(sorted(names)))

    def replay(self, point: Point, about: Sequence[str]) -> Replayed | None:
        return self.replayer.replay(point.example, about)

    # --- questions --------------------------------------------------------------------------------------------------

    def point_in(self, boxes: Iterable[Box], shown: frozenset[FieldPath]) -> Point | Verdict:
        """A point in one of the boxes, EMPTY where they have none."""
        verdict = Verdict.EMPTY
        for box in boxes:
            found = self.finder.example(box, shown)
            if isinstance(found, Example):
                return Point(found, self.finder.is_possible_only(box))
            if found is Verdict.UNDECIDED:
                verdict = found
        return verdict

    def holds_somewhere(self, formula: Formula, about: str) -> Point | Verdict:
        boxes = self.scene.boxes(formula, about)
        return Verdict.UNDECIDED if boxes is None else self.point_in(boxes, frozenset())

    def outside(self, boxes: Iterable[Box], blockers: Sequence[Box], shown: frozenset[FieldPath]) -> Point | Verdict:
        """A point of the boxes that lies in none of the blockers; EMPTY where these cover everything."""
        verdict = Verdict.EMPTY
        steps = min(_STEPS, self._left)
        for box in boxes:
            work: list[tuple[Box, Sequence[Box]]] = [(box, blockers)]
            while work:
                piece, near = work.pop()
                steps -= 1 + len(near)
                self._left -= 1 + len(near)
                if steps < 0:
                    return Verdict.UNDECIDED
                near = self._still_near(piece, near)
                if near is None:
                    continue
                found = self._free_point(piece, near, shown)
                if isinstance(found, Point):
                    return found
                if not near:
                    verdict = found if found is Verdict.UNDECIDED else verdict
                    continue
                pieces = self._best_first(self.scene.space.subtract(piece, near[0]))
                work += [(part, near[1:]) for part in reversed(pieces)]
        return verdict

    def _still_near(self, piece: Box, blockers: Sequence[Box]) -> list[Box] | None:
        """The blockers that the piece meets, first the one that leaves the fewest parts of it; None where one of them
        covers it. As in the search for a model of clauses: what leaves one part costs nothing."""
        space = self.scene.space
        near: list[Box] = []
        fewest, first = 1 << 30, 0
        for blocker in blockers:
            sides = space.sides(piece, blocker)
            if sides is None:
                continue
            if sides == 0:
                return None
            if sides < fewest:
                fewest, first = sides, len(near)
            near.append(blocker)
        if near:
            near[0], near[first] = near[first], near[0]
        return near

    def _free_point(self, piece: Box, near: Sequence[Box], shown: frozenset[FieldPath]) -> Point | Verdict:
        """The point of the piece that reads best, if it lies in none of the blockers."""
        if near:
            axes = {axis for blocker in near for axis in blocker}
            single = self.scene.space.narrowed(piece, axes)
            if any(self.scene.space.meet(single, blocker) is not None for blocker in near):
                return Verdict.EMPTY
            piece = single
        return self.point_in([piece], shown)

    def _best_first(self, pieces: list[Box]) -> list[Box]:
        """Those first that ask for nothing that can't be decided, and read best."""
        if len(pieces) < 2:
            return pieces
        axes = self.scene.space.axes

        def cost(piece: Box) -> tuple[int, int]:
            free = sum(1 for axis, mask in piece.items() if axis in self.scene.space.free and mask != 0b11)
            ranks = sum(axes[axis].order.index(axes[axis].best(mask)) for axis, mask in piece.items() if mask)
            return free, ranks

        return sorted(pieces, key=cost)

    def blockers(self, *subjects: Subject, feasible: bool) -> list[Box]:
        """Where one of the declarations is silenced, or (where asked) the option is forbidden."""
        found = [box for subject in subjects for _, box in self.scene.silencing(subject.name)]
        return found + [box for _, box in self.scene.forbidden] if feasible else found
