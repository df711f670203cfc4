"""What was found out of one version of a program, for the next one to ask again.

In: questions, each as a key of everything that its answer depends on, or about one declaration alone. Out: the answers.
Those that a version did not ask are forgotten after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import filterfalse
from typing import Any, Generic, TypeVar

from ucl.analysis.scene.subjects import Subject

T = TypeVar("T")


class Answers:
    """By questions about several declarations."""

    def __init__(self) -> None:
        self._before: dict[Hashable, Any] = {}
        self._now: dict[Hashable, Any] = {}

    def of(self, question: Hashable, ask: Callable[[], T]) -> T:
        """The answer; `ask` finds it where neither this version nor the one before has asked. None is no answer."""
        found: T | None = self._now.get(question)
        if found is None:
            found = self._before.get(question)
            if found is None:
                found = ask()
            self._now[question] = found
        return found

    def next_version(self, holds: Callable[[Any], bool]) -> None:
        """`holds` says of an answer whether it is one in the next version too."""
        self._before, self._now = {question: found for question, found in self._now.items() if holds(found)}, {}


class Verdicts(Generic[T]):
    """By declarations, of one question that is asked about very many, and whose answer is mostly as one would wish.
    Only the others are kept, so that a version looks at these and asks about what is new."""

    def __init__(self) -> None:
        self._asked: set[Subject] = set()
        self._remarkable: dict[Subject, T] = {}

    def remarkable(
        self, subjects: Iterable[Subject], ask: Callable[[Sequence[Subject]], Iterable[tuple[Subject, T]]]
    ) -> list[tuple[Subject, T]]:
        """Those that are not as one would wish, in source order; `ask` tells them among some declarations."""
        asked = set(subjects)
        self._remarkable = {subject: found for subject, found in self._remarkable.items() if subject in asked}
        self._remarkable |= ask(list(filterfalse(self._asked.__contains__, subjects)))
        self._asked = asked
        return sorted(self._remarkable.items(), key=lambda found: found[0].number)
