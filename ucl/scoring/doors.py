"""The Python door: a file or a text to a program that is ready to run, or `CompileError`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ucl.diagnostics import CompileError, Source
from ucl.driver import check_path, compile_program
from ucl.scoring.compiled import CompiledProgram


def load(path: str | PathLike[str]) -> CompiledProgram:
    """The program in a file; its imports are looked up beside it.

    Raises `CompileError`, whose `diagnostics` say everything that is wrong; `OSError` where the file can't be opened.
    """
    if not isinstance(path, str | PathLike):
        raise TypeError(f"`ucl.load` takes the path of a program, not `{path!r:.60}`")
    program, report = check_path(Path(path))
    if program is None:
        raise CompileError(report)
    return CompiledProgram(program)


def compile(text: str, name: str = "program") -> CompiledProgram:
    """The program in a text, which may import `std` modules only. `name` is its module's and stands in messages.

    Raises `CompileError` as `load` does.
    """
    if not isinstance(text, str):
        raise TypeError(f"`ucl.compile` takes the text of a program, not `{text!r:.60}`")
    return CompiledProgram(compile_program(Source(f"{name}.ucl", text)))
