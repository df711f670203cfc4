"""Checks a program of one text or of several files, for the tests of the checker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ucl.diagnostics import Diagnostic, Report, Severity, Source
from ucl.resources import stdlib_source
from ucl.semantics.check import check
from ucl.semantics.program import Program
from ucl.syntax.parse import parse


@dataclass(frozen=True)
class Result:
    program: Program | None
    report: Report

    @property
    def found(self) -> list[tuple[str, int]]:
        """Code and line of every error and warning, by place."""
        return [(d.code, d.span.line) for d in self.report]

    @property
    def errors(self) -> list[tuple[str, int]]:
        return [(d.code, d.span.line) for d in self.report if d.severity is Severity.ERROR]

    @property
    def only(self) -> Diagnostic:
        """The one thing that was found."""
        (found,) = self.report
        return found

    @property
    def right(self) -> Program:
        """The program, which has no mistake and no warning."""
        assert [d.message for d in self.report] == []
        assert self.program is not None
        return self.program


def check_text(text: str, path: str = "program.ucl", root: Path | None = None) -> Result:
    """Imports are `std.*`, or files below `root`."""
    report = Report()
    file = parse(Source(path, text), report)
    return Result(check(file, report, lambda module: _find(module, root)), report)


def check_files(folder: Path, **files: str) -> Result:
    """Writes each file (`a__b` is `a/b.ucl`) and checks `main`."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".ucl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return check_text(files["main"], str(folder / "main.ucl"), folder)


def _find(module: str, root: Path | None) -> Source | None:
    if module.startswith("std."):
        shipped = stdlib_source(module)
        return None if shipped is None else Source(*shipped)
    if root is None:
        return None
    path = root.joinpath(*module.split(".")).with_suffix(".ucl")
    return Source(str(path), path.read_text(encoding="utf-8")) if path.is_file() else None
