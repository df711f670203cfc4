"""A program while it is edited: only what changed is read, checked and lowered again.

In: one version of a program's text after another. Out: for each the same `Program` and `Report` as the driver gives.
Declarations whose text is as it was are the very objects of the version before, so that those who keep something for
each (findings, plans) can keep it over edits. Spans say where a declaration stands in the newest version.
"""

from __future__ import annotations

from pathlib import Path

from ucl.diagnostics import Report, Source
from ucl.driver import Modules, root_folder
from ucl.frozen import collector_paused
from ucl.semantics.check import Module, check_module
from ucl.semantics.check.again import Rechecker
from ucl.semantics.program import Program
from ucl.syntax.passages import PassageReader


class Versions:
    """The versions of one file. Its imports are looked up from `folder`, the one that holds it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._reader = PassageReader()
        self._rechecker = Rechecker()
        self.looked_up: set[Path] = set()
        """The files that imports of the last version may come from, found or not."""

    def check(self, source: Source) -> tuple[tuple[Program, Module] | None, Report]:
        """As `driver.check_module` for the next version."""
        report = Report()
        self.looked_up = set()
        with collector_paused():
            file = self._reader.read(source, report)
            root = None if self._folder is None else root_folder(self._folder, file)
            find_module = Modules(root, report, self.looked_up).find
            if report.has_errors or not file.declarations:
                checked = check_module(file, report, find_module)
            else:
                checked = self._rechecker.check(file, report, find_module)
        return (None if report.has_errors else checked), report
