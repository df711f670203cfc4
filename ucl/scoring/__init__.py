"""A program as callers use it: score a table, rank it, ask why; act on events, answer, alert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ucl.scoring.compiled import ActionRow, AlertRow, CompiledProgram
from ucl.scoring.errors import CallError
from ucl.semantics.values import ReadMemory

if TYPE_CHECKING:
    from ucl.scoring.results.result import Result

__all__ = ["ActionRow", "AlertRow", "CallError", "CompiledProgram", "ReadMemory", "Result"]


def __getattr__(name: str) -> Any:
    """`Result` brings NumPy with it, and is fetched when it is first named."""
    if name != "Result":
        raise AttributeError(f"module 'ucl.scoring' has no attribute {name!r}")
    from ucl.scoring.results.result import Result

    return Result
