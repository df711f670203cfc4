"""Branches that can't hold: an `unless`, an `except when` or a side of an `if` that nothing reaches, because it
contradicts the rest or because what comes before it covers it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ucl.analysis import words
from ucl.analysis.scene.regions import Branch, Subject
from ucl.analysis.scene.study import Study
from ucl.diagnostics import Diagnostic


def unreachable(study: Study) -> Iterator[Diagnostic]:
    for subject in study.scene.subjects.values():
        if subject.dead:
            continue
        for branch, empty in study.answers.of(("reached", subject), partial(_reached, study, subject)):
            if empty:
                yield words.unreachable(subject, branch)
            elif empty is None:
                study.leave_open(subject.name)


def _reached(study: Study, subject: Subject) -> list[tuple[Branch, bool | None]]:
    """Of each branch whether nothing reaches it."""
    return [(branch, study.is_empty(branch.reached)) for branch in subject.branches]
