"""Files that are checked again and again, each from what is known of its last version.

In: a file, as often as it changes. Out: its program, its report and what the analysis finds, as a fresh check has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ucl.analysis.recheck import Recheck
from ucl.diagnostics import Diagnostic, Report
from ucl.driver import open_source
from ucl.editing import Versions
from ucl.semantics.operations import date_of
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone


@dataclass
class Again:
    """The files of one watch. One that could not be read is begun anew when it can."""

    _versions: dict[Path, Versions] = field(default_factory=dict)
    _rechecks: dict[Path, Recheck] = field(default_factory=dict)
    _moments: dict[Path, int] = field(default_factory=dict)

    def check(self, path: Path, looked_up: set[Path]) -> tuple[Program | None, Report]:
        """As `driver.check_path`."""
        report = Report()
        source = open_source(path, report)
        if source is None:
            return None, report
        versions = self._versions.setdefault(path, Versions(path.parent))
        checked, report = versions.check(source)
        looked_up |= versions.looked_up
        return (None if checked is None else checked[0]), report

    def findings(self, path: Path, program: Program, now: int, tensions: bool) -> list[Diagnostic]:
        """As of the first moment of the day, of those at which the file was checked: a later one changes nothing."""
        zone = Zone.load(program.timezone)
        assert zone is not None
        first = self._moments.get(path, now)
        if date_of(zone, first) != date_of(zone, now):
            first = now
        self._moments[path] = first
        return self._rechecks.setdefault(path, Recheck()).findings(program, first, tensions)
