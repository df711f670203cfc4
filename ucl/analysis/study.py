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

# Subtractions that one question may cost before it is undecided.
_STEPS = 40_000


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
        steps = 0
        for box in boxes:
            pieces = [box]
            for blocker in blockers:
                if self.scene.space.meet(box, blocker) is None:
                    continue
                left: list[Box] = []
                for piece in pieces:
                    left += self.scene.space.subtract(piece, blocker)
                steps += len(pieces)
                pieces = left
                if steps > _STEPS:
                    return Verdict.UNDECIDED
            found = self.point_in(self._best_first(pieces), shown)
            if isinstance(found, Point):
                return found
            if found is Verdict.UNDECIDED:
                verdict = found
        return verdict

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
