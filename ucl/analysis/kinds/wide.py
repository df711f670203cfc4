"""Findings about conditions with too many boxes: the solver is asked, formula by formula.

In: a study, in which some declarations have no boxes. Out: the same kinds of findings about them, replayed as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ucl.analysis import words
from ucl.analysis.formulas.formula import Formula, every, negated, some
from ucl.analysis.kinds.pairs import Pair, overridden_by, pulls_both_ways, pulls_one_way
from ucl.analysis.scene.study import Point, Study
from ucl.analysis.scene.subjects import Subject
from ucl.analysis.witness.search import Verdict
from ucl.diagnostics import Diagnostic
from ucl.semantics.program import Rule

if TYPE_CHECKING:
    from ucl.analysis.witness.replay import Replayed

# Questions about pairs; what is beyond stays undecided.
_MOST = 400


def wide_findings(study: Study) -> Iterator[Diagnostic]:
    wide = [s for s in study.scene.subjects.values() if s.boxes is None and not s.dead]
    if not wide:
        return
    for subject in wide:
        yield from _overridden(study, subject)
        if isinstance(subject.declaration, Rule):
            yield from _never_feasible(study, subject)
    yield from _pairs(study, [s for s in wide if isinstance(s.declaration, Rule)])


def _overridden(study: Study, subject: Subject) -> Iterator[Diagnostic]:
    overriders = [study.scene.subjects[name] for name in study.scene.silencers.get(subject.name, ())]
    if not overriders or not _is_empty(study, every((subject.active, study.scene.heard(subject))), subject):
        return
    replayed = _shown(study, subject.active, [subject, *overriders])
    if replayed is not None:
        yield words.always_overridden(subject, overriders, replayed)


def _never_feasible(study: Study, subject: Subject) -> Iterator[Diagnostic]:
    constraints = study.scene.constraints
    if study.nothing_feasible or not constraints:
        return
    if not _is_empty(study, every((subject.active, study.scene.feasible())), subject):
        return
    replayed = _shown(study, subject.up, [subject])
    if replayed is not None and not replayed.outcome.feasible:
        forbidding = [c for c in constraints if c.name in replayed.outcome.violated]
        yield words.never_feasible(subject, forbidding, replayed, False)


def _pairs(study: Study, wide: Sequence[Subject]) -> Iterator[Diagnostic]:
    over = overridden_by(study.scene)
    rules = [s for s in study.scene.rules if not s.dead]
    asked = 0
    for a in wide:
        for b in rules:
            if a is b or (b.boxes is None and b.number > a.number) or not (a.fields & b.fields):
                continue
            asked += 1
            about, other = (a, b) if a.number > b.number else (b, a)
            if asked > _MOST:
                study.leave_open(about.name, other.name)
                continue
            related = b.name in over.get(a.name, ()) or a.name in over.get(b.name, ())
            if not related and not study.nothing_feasible:
                yield from _conflict(study, about, other)
            if a.fields == b.fields:
                yield from _double(study, about, other)


def _conflict(study: Study, about: Subject, other: Subject) -> Iterator[Diagnostic]:
    opposed = some((every((about.up, other.down)), every((about.down, other.up))))
    both = every((opposed, study.scene.heard(about), study.scene.heard(other), study.scene.feasible()))
    point = study.solved(both, about.fields | other.fields)
    if not isinstance(point, Point):
        if point is Verdict.UNDECIDED:
            study.leave_open(about.name, other.name)
        return
    replayed = study.replay(point, (about.name, other.name))
    if replayed is not None and pulls_both_ways(Pair(about, other), replayed):
        yield words.conflict(study, about, other, replayed, point.possible)
    else:
        study.leave_open(about.name, other.name)


def _double(study: Study, about: Subject, other: Subject) -> Iterator[Diagnostic]:
    alike = some((every((about.up, other.up)), every((about.down, other.down))))
    point = study.solved(every((alike, study.scene.heard(about), study.scene.heard(other))), about.fields)
    if not isinstance(point, Point):
        return
    for narrow, broad in ((about, other), (other, about)):
        if _is_empty(study, every((narrow.active, negated(broad.active))), narrow, broad):
            replayed = study.replay(point, (about.name, other.name))
            if replayed is not None and pulls_one_way(Pair(narrow, broad), replayed):
                yield words.double_counting(narrow, broad, replayed, point.possible)
            return


def _is_empty(study: Study, formula: Formula, *about: Subject) -> bool:
    found = study.solved(formula, frozenset())
    if found is Verdict.UNDECIDED:
        study.leave_open(*(subject.name for subject in about))
    return found is Verdict.EMPTY


def _shown(study: Study, formula: Formula, subjects: Sequence[Subject]) -> Replayed | None:
    """The replay of a point in a formula; where there is none that is noted."""
    names = [subject.name for subject in subjects]
    point = study.solved(formula, frozenset().union(*(s.fields for s in subjects)))
    replayed = study.replay(point, names) if isinstance(point, Point) else None
    if replayed is None:
        study.leave_open(*names)
    return replayed
