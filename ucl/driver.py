"""The pipeline on one screen: text to ast to checked Program, and where imported modules are found.

In: a path or a text. Out: the `Program`, or None, with the `Report` of every pass; nothing is raised for a user's
mistake. A file that can't be opened is `OSError`, which the doors put in words.
"""

from __future__ import annotations

import os
from pathlib import Path

from ucl.diagnostics import CompileError, Report, Source
from ucl.frozen import collector_paused, frozen
from ucl.resources import stdlib_source
from ucl.semantics import check
from ucl.semantics.check import Module
from ucl.semantics.program import Program
from ucl.syntax.ast import File, ModuleDeclaration
from ucl.syntax.parse import LARGEST_SOURCE, parse, read_source


def check_source(source: Source, folder: Path | None = None) -> tuple[Program | None, Report]:
    """Parses and checks one text. Its imports are looked up from `folder`, the one that holds it, if any."""
    checked, report = check_module(source, folder)
    return (None if checked is None else checked[0]), report


def check_module(
    source: Source, folder: Path | None = None, looked_up: set[Path] | None = None
) -> tuple[tuple[Program, Module] | None, Report]:
    """As `check_source`, with the module of the program, for those who add to its text.

    Into `looked_up` go the files that imports may come from, found or not.
    """
    report = Report()
    with collector_paused():
        file = parse(source, report)
        root = None if folder is None else root_folder(folder, file)
        modules = Modules(root, report, set() if looked_up is None else looked_up)
        checked = check.check_module(file, report, modules.find)
    return (None if report.has_errors else checked), report


def check_path(path: Path, looked_up: set[Path] | None = None) -> tuple[Program | None, Report]:
    """Parses and checks one file."""
    checked, report = open_module(path, looked_up)
    return (None if checked is None else checked[0]), report


def open_module(path: Path, looked_up: set[Path] | None = None) -> tuple[tuple[Program, Module] | None, Report]:
    """As `check_path`, with the module of the program."""
    report = Report()
    source = open_source(path, report)
    return (None, report) if source is None else check_module(source, path.parent, looked_up)


def open_source(path: Path, report: Report) -> Source | None:
    """The text of a program file; None, and a message, where it is no text. Reads no more than a source may have."""
    with path.open("rb") as file:
        return read_source(str(path), file.read(LARGEST_SOURCE + 1), report)


def compile_program(source: Source, folder: Path | None = None) -> Program:
    """As `check_source`, for callers who want a program or nothing: raises `CompileError` with the diagnostics."""
    program, report = check_source(source, folder)
    if program is None:
        raise CompileError(report)
    return program


def root_folder(folder: Path, file: File) -> Path:
    """The folder from which a file's own module path leads to it; the file's folder where none does.

    `module scheduling.meetings` in `x/scheduling/meetings.ucl` has the root `x`. Relative paths stay relative, since
    messages show them.
    """
    declared = next((d for d in file.declarations if isinstance(d, ModuleDeclaration)), None)
    names = [] if declared is None else [name.text for name in declared.path]
    outer, here = names[:-1], folder.resolve()
    if not outer or list(here.parts[-len(outer) :]) != outer or Path(file.source.path).stem != names[-1]:
        return folder
    root = here.parents[len(outer) - 1]
    shown = Path(os.path.normpath(folder.joinpath(*[".."] * len(outer))))
    return shown if shown.resolve() == root else root


@frozen
class Modules:
    """Where imported modules are: `std.*` is what ships, all else lies below `root`, and never outside it."""

    root: Path | None
    report: Report
    looked_up: set[Path]

    def find(self, module: str) -> Source | None:
        """The text of `a.b`, or None where there is none."""
        names = module.split(".")
        if names[0] == "std":
            shipped = stdlib_source(module)
            return None if shipped is None else Source(*shipped)
        if self.root is None or not all(name.isidentifier() for name in names):
            return None
        path = self.root.joinpath(*names).with_suffix(".ucl")
        self.looked_up.add(path)
        # A link may lead anywhere; what counts is where it ends.
        inside = path.resolve().is_relative_to(self.root.resolve())
        return open_source(path, self.report) if inside and path.is_file() else None
