"""Drafts: what a model wrote, placed behind a program, told in words and held against everything that is there.

    base       a program that is to be added to, and additions
    promises   the property that stands for a statement
    statements whether a draft says what a fact says
    judge      what a draft does: promises, findings, differences, and what only the person can decide
    words      rules in plain words
    results    Draft, Question, FactOnly, Failure

In: a base and an addition that compiles. Out: a `Result`. Nothing here asks a model.
"""

from __future__ import annotations

from ucl.llm.drafts.base import Addition, Base, opened, started
from ucl.llm.drafts.results import (
    Asking,
    Attempt,
    Course,
    Doubt,
    Draft,
    Evidence,
    FactOnly,
    Failure,
    Held,
    Question,
    Result,
)

__all__ = [
    "Addition",
    "Asking",
    "Attempt",
    "Base",
    "Course",
    "Doubt",
    "Draft",
    "Evidence",
    "FactOnly",
    "Failure",
    "Held",
    "Question",
    "Result",
    "opened",
    "started",
]
