"""The text of a function that is being written, and what its names stand for.

In: lines of Python, objects. Out: the function. The text is made of names given here and of words of `straight`: no
word of a program or of an option stands in it, nor any number of theirs. So programs of one shape share one text, which
is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any


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

    def function(self) -> Callable[..., Any]:
        # A copy of the code, since Python fits it to what the names of one function stand for.
        return FunctionType(_code("\n".join(self._lines)).replace(), self._given)


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    (code,) = (c for c in compile(text, "<straight>", "exec").co_consts if isinstance(c, CodeType))
    return code
