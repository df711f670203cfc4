"""UCL, a small typed language for what a person wants: load a program, score a table, ask why.

`load` and `compile` give a `CompiledProgram`, whose `score` gives a `Result`; a program that is not right raises
`CompileError`. Importing this package loads none of what they need: each name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucl.diagnostics import CompileError as CompileError
    from ucl.diagnostics import Diagnostic as Diagnostic
    from ucl.scoring import CompiledProgram as CompiledProgram
    from ucl.scoring import Result as Result
    from ucl.scoring.doors import Editing as Editing
    from ucl.scoring.doors import compile as compile
    from ucl.scoring.doors import load as load
    from ucl.scoring.many.crowd import Crowd as Crowd
    from ucl.scoring.many.crowd import score_many as score_many

    __version__: str

_HOMES = {
    "CompileError": "ucl.diagnostics",
    "Diagnostic": "ucl.diagnostics",
    "CompiledProgram": "ucl.scoring",
    "Crowd": "ucl.scoring.many.crowd",
    "Editing": "ucl.scoring.doors",
    "Result": "ucl.scoring",
    "compile": "ucl.scoring.doors",
    "load": "ucl.scoring.doors",
    "score_many": "ucl.scoring.many.crowd",
}
__all__ = [
    "CompileError",
    "CompiledProgram",
    "Crowd",
    "Diagnostic",
    "Editing",
    "Result",
    "__version__",
    "compile",
    "load",
    "score_many",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ucl")
    if name not in _HOMES:
        raise AttributeError(f"module 'ucl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
