"""What never takes effect: rules that can't apply, are always overridden or never feasible, and options that are all
forbidden. Found first, since what never applies makes everything else look true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ucl.analysis import words
from ucl.analysis.boxes.space import Box
from ucl.analysis.regions import Subject
from ucl.analysis.study import Point, Study
from ucl.analysis.witness.search import Verdict
from ucl.diagnostics import Diagnostic
from ucl.semantics.evaluate.options import applies, frames
from ucl.semantics.expressions import STEPS
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Rule


def never_applies(study: Study) -> Iterator[Diagnostic]:
    for subject in study.scene.subjects.values():
        found = study.holds_somewhere(subject.holds, subject.name)
        if found is Verdict.EMPTY:
            subject.dead = True
            yield words.never_applies(subject)
        elif found is Verdict.UNDECIDED:
            study.leave_open(subject.name)


def nothing_feasible(study: Study) -> Iterator[Diagnostic]:
    forbidden = study.scene.forbidden
    if not forbidden:
        return
    everything: list[Box] = [{}]
    found = study.outside(everything, [box for _, box in forbidden], frozenset())
    if found is Verdict.UNDECIDED:
        study.leave_open(*sorted({name for name, _ in forbidden}))
    if found is not Verdict.EMPTY:
        return
    study.nothing_feasible = True
    subjects = [study.scene.subjects[name] for name in needed_to_cover(study, everything, forbidden)]
    shown = frozenset(f for subject in subjects for f in subject.fields)
    point = study.point_in(everything, shown)
    if isinstance(point, Point):
        replayed = study.replay(point, [subject.name for subject in subjects])
        if replayed is not None and not replayed.outcome.feasible:
            yield words.nothing_feasible(subjects, replayed)
            return
    study.leave_open(*(subject.name for subject in subjects))


def needed_to_cover(study: Study, boxes: Sequence[Box], blockers: Sequence[tuple[str, Box]]) -> list[str]:
    """The names of blockers without which something would be left, as few as taking one away at a time leaves."""
    space = study.scene.space
    names = list(dict.fromkeys(n for n, b in blockers if any(space.meet(box, b) is not None for box in boxes)))
    if len(names) > 24:
        return names
    for name in list(names):
        rest = [box for n, box in blockers if n in names and n != name]
        if study.outside(boxes, rest, frozenset()) is Verdict.EMPTY:
            names.remove(name)
    return names


def always_overridden(study: Study) -> Iterator[Diagnostic]:
    for subject in study.scene.subjects.values():
        silencing = study.scene.silencing(subject.name)
        if subject.dead or not silencing or not subject.boxes:
            continue
        found = study.outside(subject.boxes, [box for _, box in silencing], frozenset())
        if found is Verdict.UNDECIDED:
            study.leave_open(subject.name, *study.scene.silencers[subject.name])
        if found is not Verdict.EMPTY:
            continue
        overriders = [study.scene.subjects[n] for n in needed_to_cover(study, subject.boxes, silencing)]
        shown = subject.fields.union(*(o.fields for o in overriders))
        point = study.point_in(subject.boxes, shown)
        if isinstance(point, Point) and _is_silenced(study, subject, overriders, point):
            replayed = study.replay(point, [subject.name, *(o.name for o in overriders)])
            if replayed is not None:
                yield words.always_overridden(subject, overriders, replayed)
                continue
        if isinstance(point, Point) or point is Verdict.UNDECIDED:
            study.leave_open(subject.name)


def _is_silenced(study: Study, subject: Subject, overriders: Sequence[Subject], point: Point) -> bool:
    """Whether it applies, and one of the overriders too."""
    call, record = study.replayer.call(point.example), study.replayer.record(point.example)
    if call is None or record is None:
        return False
    (frame,) = frames([record], call, None, STEPS)
    try:
        if not applies(subject.declaration, frame):
            return False
        return any(applies(o.declaration, frame) and o.declaration.meta.valid.holds(call.today) for o in overriders)
    except Overflow:
        return False


def never_feasible(study: Study) -> Iterator[Diagnostic]:
    forbidden = study.scene.forbidden
    if study.nothing_feasible or not forbidden:
        return
    boxes = [box for _, box in forbidden]
    for subject in study.scene.of_kind(Rule):
        if subject.dead or not subject.boxes or not subject.up_boxes:
            continue
        found = study.outside(subject.boxes, boxes, frozenset())
        if found is Verdict.UNDECIDED:
            study.leave_open(subject.name, "constraints")
        if found is not Verdict.EMPTY:
            continue
        constraints = [study.scene.subjects[n] for n in needed_to_cover(study, subject.boxes, forbidden)]
        shown = subject.fields.union(*(c.fields for c in constraints))
        point = study.point_in(subject.up_boxes, shown)
        if not isinstance(point, Point):
            if point is Verdict.UNDECIDED:
                study.leave_open(subject.name)
            continue
        replayed = study.replay(point, [subject.name])
        if replayed is None or replayed.outcome.feasible or subject.name not in replayed.judgement.applying:
            study.leave_open(subject.name)
            continue
        yield words.never_feasible(subject, constraints, replayed, point.possible)
