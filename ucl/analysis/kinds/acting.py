"""Two actions that act on one event and ask for the same effect with different arguments."""

from __future__ import annotations

from collections.abc import Iterator

from ucl.analysis import words
from ucl.analysis.boxes.space import Box
from ucl.analysis.scene.calls import difference, pairs_of_calls
from ucl.analysis.scene.study import Point, Study
from ucl.analysis.scene.subjects import Subject
from ucl.analysis.witness.search import Verdict
from ucl.diagnostics import Diagnostic
from ucl.semantics.evaluate import Effected


def clashing_actions(study: Study) -> Iterator[Diagnostic]:
    actions = [s for s in study.scene.actions if not s.dead and s.boxes]
    for place, a in enumerate(actions):
        for b in actions[place + 1 :]:
            yield from _clash(study, b, a)


def _clash(study: Study, about: Subject, other: Subject) -> Iterator[Diagnostic]:
    boxes = list(_boxes(study, other, about))
    if not boxes:
        return
    blockers = study.blockers(about, other, feasible=False)
    point = study.outside(boxes, blockers, about.fields | other.fields)
    if isinstance(point, Point):
        effects = study.replayer.acted(point.example)
        pair = _differing(about.name, other.name, effects or ())
        if pair is not None:
            yield words.clashing_actions(about, other, *pair, point)
            return
    if point is not Verdict.EMPTY:
        study.leave_open(about.name, other.name)


def _boxes(study: Study, a: Subject, b: Subject) -> Iterator[Box]:
    """Where both act and the calls differ, were neither silenced; `a` stands first in the source, as for the scene."""
    for i, j, x, y in pairs_of_calls(a, b):
        for left in study.scene.boxes(a.branch(i)) or ():
            for right in study.scene.boxes(b.branch(j)) or ():
                both = study.scene.space.meet(left, right)
                if both is None:
                    continue
                for other in study.scene.boxes(difference(x, y, study.scene.reader)) or ():
                    box = study.scene.space.meet(both, other)
                    if box is not None:
                        yield box


def _differing(a: str, b: str, effects: tuple[Effected, ...]) -> tuple[Effected, Effected] | None:
    for first in effects:
        for second in effects:
            alike = first.effect == second.effect and first.arguments == second.arguments
            if first.action == a and second.action == b and first.effect == second.effect and not alike:
                return first, second
    return None
