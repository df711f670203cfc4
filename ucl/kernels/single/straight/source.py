"""The text of a function that is being written, and what its names stand for.

In: lines of Python, objects. Out: the function. The text is made of names given here and of words of `straight`: no
word of a program or of an option stands in it, nor any number of theirs. So programs of one shape share one text, which
is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

_TERMS = 16
"""So many stand in one expression: for more, Python's compiler needs a deep stack."""


class Source:
    def __init__(self, heading: str) -> None:
        self._lines = [heading]
        self._given: dict[str, Any] = {}

    def give(self, thing: Any) -> str:
        """The name under which the function finds an object."""
        name = f"g{len(self._given)}"
        self._given[name] = thing
        return name

    def line(self, depth: int, text: str) -> None:
        self._lines.append(f"{' ' * depth}{text}")

    def conjoin(self, depth: int, name: str, terms: Sequence[str]) -> None:
        """The name is given the bits that all terms have."""
        for first in range(0, len(terms), _TERMS):
            self.line(depth, f"{name} {'&=' if first else '='} {' & '.join(terms[first : first + _TERMS])}")

    def function(self) -> Callable[..., Any]:
        # A copy of the code, since Python fits it to what the names of one function stand for.
        return FunctionType(_code("\n".join(self._lines)).replace(), self._given)


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    (code,) = (c for c in compile(text, "<straight>", "exec").co_consts if isinstance(c, CodeType))
    return code
