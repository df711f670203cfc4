"""Branches that can't hold: an `unless`, an `except when` or a side of an `if` that nothing reaches, because it
contradicts the rest or because what comes before it covers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ucl.analysis import words
from ucl.analysis.scene.study import Study
from ucl.analysis.scene.subjects import Branch, Subject
from ucl.diagnostics import Diagnostic


def unreachable(study: Study) -> Iterator[Diagnostic]:
    for subject, branches in study.reached.remarkable(study.scene.subjects.values(), partial(_not_reached, study)):
        for branch, empty in branches:
            if empty:
                yield words.unreachable(subject, branch)
            elif empty is None:
                study.leave_open(subject.name)


def _not_reached(
    study: Study, subjects: Sequence[Subject]
) -> Iterator[tuple[Subject, list[tuple[Branch, bool | None]]]]:
    """Of those that apply, the branches that nothing reaches (or None, where that is undecided)."""
    for subject in subjects:
        if subject.branches and not subject.dead:
            found = [(branch, study.is_empty(branch.reached)) for branch in subject.branches]
            if any(empty is not False for _, empty in found):
                yield subject, found
