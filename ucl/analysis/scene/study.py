"""One schema under study: its scene, the finder of points, the replayer, and what stays undecided.

In: a scene. Out: questions about regions answered: whether blockers leave anything of some boxes, and if so a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ucl.analysis.boxes.meetings import Meetings
from ucl.analysis.boxes.overlap import Met, Side
from ucl.analysis.boxes.space import Box, Space
from ucl.analysis.formulas.formula import Formula, Unknown, literals
from ucl.analysis.formulas.terms import FieldPath
from ucl.analysis.scene.answers import Answers, Verdicts
from ucl.analysis.scene.regions import Scene
from ucl.analysis.scene.subjects import Branch, Subject
from ucl.analysis.witness.example import Example
from ucl.analysis.witness.search import Finder, Verdict
from ucl.frozen import frozen

if TYPE_CHECKING:
    from ucl.analysis.witness.replay import Replayed, Replayer

# Blockers that one question may look at before it is undecided, and all questions about one schema together.
_STEPS = 200_000
_STEPS_IN_ALL = 3_000_000
_EASY = 20  # a question that took no more than this part of its steps is decided whatever order it is looked at in


@frozen
class Point:
    """An example in a region; `possible` where something that can't be decided took part in finding it."""

    example: Example
    possible: bool


@frozen
class Alike:
    """Rules that speak of the same fields, and the boxes of those that rise, and of those that fall, with what may lie
    within one another and how much that is."""

    members: list[Subject]
    ways: list[tuple[Side, list[Met], int]]


@dataclass
class Study:
    scene: Scene
    finder: Finder = field(init=False)
    undecided: set[tuple[str, ...]] = field(default_factory=set)
    nothing_feasible: bool = False
    answers: Answers = field(default_factory=Answers)
    among_feasible: Answers = field(default_factory=Answers)
    applying: Verdicts[Verdict] = field(default_factory=Verdicts)
    reached: Verdicts[list[tuple[Branch, bool | None]]] = field(default_factory=Verdicts)
    allowed: Verdicts[tuple[list[tuple[str, Box]], Verdict]] = field(default_factory=Verdicts)
    alike: dict[frozenset[FieldPath], Alike] = field(default_factory=dict)
    meetings: Meetings = field(init=False)
    _left: int = _STEPS_IN_ALL
    _most_at_once: int = 0

    def __post_init__(self) -> None:
        self.finder = Finder(self.scene, shows_now(self.scene.space))
        self.meetings = Meetings(self.scene.space)

    def next_version(self, scene: Scene) -> Study:
        """The study of a scene that came of this one's. What was answered holds in it as long as regions are what they
        were; budgets are those that are left."""
        if not scene.step.is_kept:
            study = Study(scene)
        elif scene.space is self.scene.space:
            study = self
            study.finder.next_version(scene)
            study._go_on(scene, lambda _: True)
        else:
            study = self._translated(scene)
        if "replayer" in self.__dict__:
            study.replayer = self.replayer
            study.replayer.next_version(scene)
        return study

    def _translated(self, scene: Scene) -> Study:
        """In another space, whether a region is empty stays as it was; points are looked for anew, since other cells
        may read better. What took long, or the solver, might not be decided a second time."""
        assert scene.step.translation is not None
        plain = not self.scene.space.free and not scene.space.free and not self.finder.has_asked
        easy = self._most_at_once < _STEPS // _EASY and self._left > _STEPS_IN_ALL // 2
        study = self if plain and easy else Study(scene)
        study.meetings = self.meetings
        study.meetings.translate(scene.space, scene.step.translation)
        if study is self:
            study.finder = Finder(scene, shows_now(scene.space))
            study._go_on(scene, lambda found: not isinstance(found, Point))
            study.alike = {} if study.meetings.is_anew else study.alike
        return study

    def _go_on(self, scene: Scene, holds: Callable[[Any], bool]) -> None:
        translated = scene.space is not self.scene.space
        if not scene.step.may_forbid if translated else scene.forbidden == self.scene.forbidden:
            self.among_feasible.next_version(holds)
        else:
            self.among_feasible, self.allowed = Answers(), Verdicts()
        self.answers.next_version(holds)
        self.scene, self.undecided, self.nothing_feasible = scene, set(), False
        self.__dict__.pop("living", None)

    @cached_property
    def replayer(self) -> Replayer:
        """It brings the kernel with it, and is there from the first claim on."""
        from ucl.analysis.witness.replay import Replayer

        return Replayer(self.scene, self.finder.examples.memory)

    @cached_property
    def living(self) -> list[Subject]:
        """Rules that have boxes, once those are known that never apply."""
        return [s for s in self.scene.rules if not s.dead and s.boxes]

    @property
    def exhausted(self) -> bool:
        """Whether the budget of this schema is spent: every further question is undecided."""
        return self._left <= 0

    @property
    def spent(self) -> bool:
        """Whether a budget was spent, of steps or of the solver's questions, over all versions."""
        return self.exhausted or self.finder.exhausted

    def leave_open(self, *names: str) -> None:
        """Notes that something about these declarations stays undecided."""
        self.undecided.add(tuple(sorted(names)))

    def prepare(self, points: Sequence[Point]) -> None:
        """Lets the kernel score all of them at once, before they are replayed one by one."""
        if points:
            self.replayer.prepare(point.example for point in points)

    def replay(self, point: Point, about: Sequence[str]) -> Replayed | None:
        return self.replayer.replay(point.example, about)

    # --- questions --------------------------------------------------------------------------------------------------

    def inhabited(self, boxes: Iterable[Box]) -> Box | Verdict:
        """The first box that has a point, EMPTY where none has."""
        verdict = Verdict.EMPTY
        for box in boxes:
            found = self.finder.point(box) if self.finder.asked(box) else None
            if found is Verdict.UNDECIDED:
                verdict = found
            elif found is not Verdict.EMPTY and self.scene.space.inhabited(box):
                return box
        return verdict

    def point_in(self, boxes: Iterable[Box], shown: frozenset[FieldPath]) -> Point | Verdict:
        """A point in one of the boxes, EMPTY where they have none."""
        return self._shown(self.inhabited(boxes), shown)

    def is_empty(self, formula: Formula, boxes: list[Box] | None = None) -> bool | None:
        """Whether nothing satisfies a formula; None where that is undecided. `boxes` are its own, if they are known."""
        boxes = self.scene.boxes(formula) if boxes is None else boxes
        found = self.solved(formula, frozenset()) if boxes is None else self.inhabited(boxes)
        return None if found is Verdict.UNDECIDED else found is Verdict.EMPTY

    def solved(self, formula: Formula, shown: frozenset[FieldPath]) -> Point | Verdict:
        """A point of a formula, whatever its boxes, from the solver."""
        found = self.finder.solved(formula, shown)
        if isinstance(found, Verdict):
            return found
        return Point(found, any(isinstance(literal.atom, Unknown) for literal in literals(formula)))

    def outside(self, boxes: Iterable[Box], blockers: Sequence[Box], shown: frozenset[FieldPath]) -> Point | Verdict:
        """A point of the boxes that lies in none of the blockers; EMPTY where these cover everything."""
        return self._shown(self.left_of(boxes, blockers), shown)

    def _shown(self, found: Box | Verdict, shown: frozenset[FieldPath]) -> Point | Verdict:
        if isinstance(found, Verdict):
            return found
        example = self.finder.example(found, shown)
        if isinstance(example, Verdict):
            return example
        return Point(example, self.finder.is_possible_only(found))

    def left_of(self, boxes: Iterable[Box], blockers: Sequence[Box]) -> Box | Verdict:
        """A box with a point in what the blockers leave of the boxes; EMPTY where they leave nothing."""
        before = self._left
        found = self._left_of(boxes, blockers)
        self._most_at_once = max(self._most_at_once, before - self._left)
        return found

    def _left_of(self, boxes: Iterable[Box], blockers: Sequence[Box]) -> Box | Verdict:
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
                met = self._still_near(piece, near)
                if met is None:
                    continue
                found = self._free_part(piece, met)
                if not isinstance(found, Verdict):
                    return found
                if not met:
                    verdict = found if found is Verdict.UNDECIDED else verdict
                    continue
                pieces = self._best_first(self.scene.space.subtract(piece, met[0]))
                work += [(part, met[1:]) for part in reversed(pieces)]
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

    def _free_part(self, piece: Box, near: Sequence[Box]) -> Box | Verdict:
        """The part of the piece that reads best, if it lies in none of the blockers."""
        if near:
            axes = {axis for blocker in near for axis in blocker}
            piece = self.scene.space.narrowed(piece, axes)
            if any(self.scene.space.meet(piece, blocker) is not None for blocker in near):
                return Verdict.EMPTY
        return self.inhabited([piece])

    def _best_first(self, pieces: list[Box]) -> list[Box]:
        """Those first that ask for nothing that can't be decided, and read best."""
        if len(pieces) < 2:
            return pieces
        axes = self.scene.space.axes

        def cost(piece: Box) -> tuple[int, int]:
            free = sum(1 for axis, mask in piece.items() if axis in self.scene.space.free and mask != 0b11)
            ranks = sum(axes[axis].rank(mask) for axis, mask in piece.items() if mask)
            return free, ranks

        return sorted(pieces, key=cost)

    def silencers(self, *subjects: Subject) -> tuple[Subject | None, ...]:
        """Who silences each of them, for questions whose answers depend on it; None stands between two."""
        named = self.scene.silencers
        return tuple(
            other for s in subjects for other in (*(self.scene.subjects[name] for name in named.get(s.name, ())), None)
        )

    def blockers(self, *subjects: Subject, feasible: bool) -> list[Box]:
        """Where one of the declarations is silenced, or (where asked) the option is forbidden."""
        found = [box for subject in subjects for _, box in self.scene.silencing(subject.name)]
        return found + [box for _, box in self.scene.forbidden] if feasible else found


def shows_now(space: Space) -> bool:
    return any(place.root == "context" and place.path == ("now",) for place in space.places)
