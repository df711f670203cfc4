"""The Python door: a file, a text or its versions to a program that is ready to run, or `CompileError`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ucl.diagnostics import CompileError, Source
from ucl.driver import check_path, compile_program
from ucl.editing import Versions
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


class Editing:
    """A program while it is edited: of each version only what changed is read, checked and planned again.

    For editors, and for those who keep rules that come and go: one rule changed among thousands costs that rule.
    """

    def __init__(self, path: str | PathLike[str] | None = None, name: str = "program") -> None:
        """The file that is edited, beside which its imports are looked up; or a text that may import `std` modules
        only, and the name of its module."""
        self._path = f"{name}.ucl" if path is None else str(path)
        self._versions = Versions(None if path is None else Path(path).parent)
        self._last: CompiledProgram | None = None

    def update(self, text: str) -> CompiledProgram:
        """The program of the next version. Raises `CompileError` as `load` does; the version after it may be right."""
        if not isinstance(text, str):
            raise TypeError(f"`update` takes the text of a program, not `{text!r:.60}`")
        checked, report = self._versions.check(Source(self._path, text))
        if checked is None:
            raise CompileError(report)
        self._last = CompiledProgram(checked[0], self._last)
        return self._last
