"""What comes of a statement: a draft with its evidence, a question, a fact and no rule, or a failure.

Nothing here is in force. A draft is text, with what speaks for it, that a caller places: in a file, or in whatever
keeps rules. Such a keeper takes `Draft.addition` (the declarations by name), `Draft.facts` (what they stand for) and
`Draft.course` (how they came about); it answers a `Question` with the question's `draft`, which is what to place where
the person says yes; and it keeps the facts of a `FactOnly`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ucl.analysis.diff import Difference
from ucl.diagnostics import Diagnostic, Witness
from ucl.facts import Fact
from ucl.frozen import frozen
from ucl.llm.client import Path, Usage
from ucl.llm.drafts.base import Addition, Base
from ucl.semantics.program import Status


@frozen
class Attempt:
    """What a model wrote, and what it was told of it ("" where nothing was wrong)."""

    text: str
    path: Path
    told: str


@frozen
class Held:
    """A promise that the program with the draft keeps; `own` are those that came with it."""

    name: str
    status: str
    samples: int
    message: str
    own: bool


@dataclass(frozen=True)
class Evidence:
    """What is known of the program with the draft in force: promises kept, findings in which it takes part, and options
    that are now told something else; `undecided` counts what could not be compared."""

    held: tuple[Held, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    differences: tuple[Difference, ...] = ()
    undecided: int = 0


@dataclass(frozen=True)
class Course:
    """How a result came about: what was written in each round, what it cost, and what a reader should know of how the
    statement was read (`notes`, a sentence each)."""

    attempts: tuple[Attempt, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Draft:
    """Declarations that say what was said. `words` tell them in plain words, one text for each."""

    said: str
    schema: str
    base: Base
    addition: Addition
    words: tuple[str, ...]
    evidence: Evidence
    course: Course
    facts: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """What to place until the person has confirmed it: `status shadow`."""
        return self.addition.text(Status.SHADOW)

    @property
    def confirmed(self) -> str:
        """The same in force."""
        return self.addition.text(Status.ACTIVE)

    def program_text(self, status: Status = Status.SHADOW) -> str:
        """The whole program with the draft at its end."""
        return self.base.with_text(self.addition.text(status)).text

    def to_json(self) -> dict[str, Any]:
        return {
            "result": "draft",
            "said": self.said,
            "schema": self.schema,
            "ucl": self.text,
            "names": list(self.addition.names),
            "words": list(self.words),
            "promises": [
                {"property": held.name, "status": held.status, "samples": held.samples, "own": held.own}
                for held in self.evidence.held
            ],
            "findings": [found.as_json() for found in self.evidence.findings],
            "differences": [_difference(found) for found in self.evidence.differences],
            "undecided": self.evidence.undecided,
            **_course(self.course),
        }


class Asking(StrEnum):
    """Why a person is asked."""

    VAGUE = "vague"
    ONCE = "once"
    UNSAID = "unsaid"
    SIGN = "sign"
    UNLIKE = "unlike"
    BREAKS = "breaks"
    CONTRADICTS = "contradicts"
    OUTWEIGHED = "outweighed"
    REPEATS = "repeats"
    OVERRIDES = "overrides"


@dataclass(frozen=True)
class Doubt:
    """One thing to ask: `text` is the question, `earlier` an earlier statement's words, `rules` what it is about."""

    asking: Asking
    text: str
    earlier: str | None = None
    rules: tuple[str, ...] = ()
    witness: Witness | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """What only the person can answer. `draft` is what to place where the answer is yes; None where there is none."""

    said: str
    doubts: tuple[Doubt, ...]
    course: Course
    draft: Draft | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "result": "question",
            "said": self.said,
            "questions": [
                {
                    "kind": str(doubt.asking),
                    "question": doubt.text,
                    "earlier": doubt.earlier,
                    "rules": list(doubt.rules),
                    "witness": None if doubt.witness is None else _witness(doubt.witness),
                }
                for doubt in self.doubts
            ],
            "draft": None if self.draft is None else self.draft.to_json(),
            **_course(self.course),
        }


@dataclass(frozen=True)
class FactOnly:
    """Something to remember from which no rule follows, and why."""

    said: str
    facts: tuple[Fact, ...]
    why: str
    course: Course

    def to_json(self) -> dict[str, Any]:
        facts = [fact.to_json() for fact in self.facts]
        return {"result": "fact", "said": self.said, "facts": facts, "why": self.why, **_course(self.course)}


@dataclass(frozen=True)
class Failure:
    """No draft: one sentence why, and what to do. `code` is a model's (`rate-limited`, …) or one of `not-mended` and
    `nothing-said`."""

    said: str
    code: str
    message: str
    help: str | None
    course: Course

    def to_json(self) -> dict[str, Any]:
        told = {"code": self.code, "message": self.message, "help": self.help}
        return {"result": "failure", "said": self.said, **told, **_course(self.course)}


Result = Draft | Question | FactOnly | Failure


# --- as JSON --------------------------------------------------------------------------------------------------------


def usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "input": usage.input,
        "cached": usage.cached,
        "output": usage.output,
        "money": None if usage.money is None else str(usage.money),
    }


def _course(course: Course) -> dict[str, Any]:
    attempts = [{"ucl": each.text, "path": str(each.path), "told": each.told} for each in course.attempts]
    return {"attempts": attempts, "usage": usage_json(course.usage), "notes": list(course.notes)}


def _difference(found: Difference) -> dict[str, Any]:
    from ucl.scoring.results.lines import row_json

    old, new = (None if outcome is None else row_json(0, outcome) for outcome in (found.old, found.new))
    return {
        "schema": found.schema,
        "rules": list(found.rules),
        "option": dict(found.option),
        "context": dict(found.context),
        "old": old,
        "new": new,
    }


def _witness(witness: Witness) -> Mapping[str, Any]:
    return {"option": dict(witness.option), "context": dict(witness.context), "total": witness.total}
