"""What was found out of one version of a program, for the next one to ask again.

In: questions, each as a key of everything that its answer depends on. Out: the answers. Those that a version did not
ask are forgotten after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Answers:
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

    def knows(self, question: Hashable) -> bool:
        return question in self._now or question in self._before

    def next_version(self) -> None:
        self._before, self._now = self._now, {}
