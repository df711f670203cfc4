"""What never takes effect: rules that can't apply, are always overridden or never feasible, and options that are all
forbidden. Found first, since what never applies makes everything else look true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ucl.analysis import words
from ucl.analysis.boxes.overlap import Side, overlapping
from ucl.analysis.boxes.space import Box
from ucl.analysis.scene.study import Point, Study
from ucl.analysis.scene.subjects import Subject
from ucl.analysis.witness.search import Verdict
from ucl.diagnostics import Diagnostic
from ucl.semantics.evaluate.options import applies, frames
from ucl.semantics.expressions import STEPS
from ucl.semantics.operations import Overflow


def never_applies(study: Study) -> Iterator[Diagnostic]:
    for subject, verdict in study.applying.remarkable(study.scene.subjects.values(), partial(_not_applying, study)):
        if verdict is Verdict.EMPTY:
            yield words.never_applies(subject)
        else:
            study.leave_open(subject.name)


def _not_applying(study: Study, subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Verdict]]:
    """Those that never apply, which are marked, and those of which it is undecided."""
    for subject in subjects:
        own = subject.boxes if subject.active == subject.holds else None
        empty = study.is_empty(subject.holds, own)
        subject.dead = empty is True
        if empty is not False:
            yield subject, Verdict.UNDECIDED if empty is None else Verdict.EMPTY


def nothing_feasible(study: Study) -> Iterator[Diagnostic]:
    scene = study.scene
    forbidden, everything = scene.forbidden, list[Box]([{}])
    if scene.unboxed:
        yield from _nothing_feasible_by_formula(study)
        return
    if not forbidden:
        return
    found = study.among_feasible.of("anything", partial(_left, study, everything, [box for _, box in forbidden]))
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


def _left(study: Study, boxes: Sequence[Box], blockers: Sequence[Box]) -> Verdict | bool:
    """True where the blockers leave something."""
    found = study.left_of(boxes, blockers)
    return found if isinstance(found, Verdict) else True


def _nothing_feasible_by_formula(study: Study) -> Iterator[Diagnostic]:
    """As above, by the solver, naming the constraints that forbid an option of no particular kind."""
    constraints = study.scene.constraints
    found = study.is_empty(study.scene.feasible())
    if found is None:
        study.leave_open(*(c.name for c in constraints))
    if not found:
        return
    study.nothing_feasible = True
    point = study.point_in([{}], frozenset(f for c in constraints for f in c.fields))
    replayed = study.replay(point, [c.name for c in constraints]) if isinstance(point, Point) else None
    if replayed is not None and not replayed.outcome.feasible:
        yield words.nothing_feasible([c for c in constraints if not c.dead], replayed)
    else:
        study.leave_open(*(c.name for c in constraints))


def needed_to_cover(study: Study, boxes: Sequence[Box], blockers: Sequence[tuple[str, Box]]) -> list[str]:
    """The names of blockers without which something would be left, as few as taking one away at a time leaves."""
    space = study.scene.space
    names = list(dict.fromkeys(n for n, b in blockers if any(space.meet(box, b) is not None for box in boxes)))
    if len(names) > 24:
        return names
    for name in list(names):
        rest = [box for n, box in blockers if n in names and n != name]
        if study.left_of(boxes, rest) is Verdict.EMPTY:
            names.remove(name)
    return names


def always_overridden(study: Study) -> Iterator[Diagnostic]:
    overridden = sorted((study.scene.subjects[name] for name in study.scene.silencers), key=lambda s: s.number)
    for subject in overridden:
        if subject.dead or not subject.boxes:
            continue
        silencing = study.scene.silencing(subject.name)
        if not silencing:
            continue
        found = study.answers.of(
            ("heard", subject, study.silencers(subject)),
            partial(_left, study, subject.boxes, [box for _, box in silencing]),
        )
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
    if study.nothing_feasible or not study.scene.forbidden:
        return
    found: list[tuple[Subject, list[Subject], Point]] = []
    for subject, forbidden in _liking_and_forbidden(study):
        constraints = [study.scene.subjects[n] for n in needed_to_cover(study, subject.boxes or [], forbidden)]
        shown = subject.fields.union(*(c.fields for c in constraints))
        point = study.point_in(subject.up_boxes, shown)
        if isinstance(point, Point):
            found.append((subject, constraints, point))
        elif point is Verdict.UNDECIDED:
            study.leave_open(subject.name)
    study.prepare([point for _, _, point in found])
    for subject, constraints, point in found:
        replayed = study.replay(point, [subject.name])
        if replayed is None or replayed.outcome.feasible or subject.name not in replayed.judgement.applying:
            study.leave_open(subject.name)
        else:
            yield words.never_feasible(subject, constraints, replayed, point.possible)


def _liking_and_forbidden(study: Study) -> Iterator[tuple[Subject, list[tuple[str, Box]]]]:
    """Rules with a positive value that the constraints cover, and the forbidden boxes that they meet."""
    likes = [rule for rule in study.living if rule.up_boxes]
    for subject, (near, verdict) in study.allowed.remarkable(likes, partial(_not_allowed, study)):
        if verdict is Verdict.UNDECIDED:
            study.leave_open(subject.name, *dict.fromkeys(name for name, _ in near))
        elif verdict is Verdict.EMPTY:
            yield subject, near


def _met_by_constraints(study: Study, rules: Sequence[Subject]) -> dict[Subject, set[int]]:
    """By their places, forbidden boxes that each rule meets; some that it does not meet may be among them."""
    own = Side([(rule, box) for rule in rules for box in rule.boxes or ()])
    constraints = Side([(study.scene.subjects[name], box) for name, box in study.scene.forbidden])
    found: dict[Subject, set[int]] = {}
    if own.members:
        for touching in overlapping(study.scene.space, own, constraints):
            found.setdefault(own.members[touching.first][0], set()).update(touching.alike, touching.apart)
    return found


def _not_allowed(
    study: Study, rules: Sequence[Subject]
) -> Iterator[tuple[Subject, tuple[list[tuple[str, Box]], Verdict]]]:
    """The rules of which what is forbidden leaves nothing, or nothing that is known, and the boxes that they meet."""
    space, forbidden = study.scene.space, study.scene.forbidden
    for subject, met in _met_by_constraints(study, rules).items():
        boxes = subject.boxes or []
        meeting = (at for at in sorted(met) if any(space.meet(own, forbidden[at][1]) is not None for own in boxes))
        near = [forbidden[at] for at in meeting]
        found = study.left_of(boxes, [box for _, box in near]) if near else None
        if isinstance(found, Verdict):
            yield subject, (near, found)
