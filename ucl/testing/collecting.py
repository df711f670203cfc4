"""Programs as pytest sees them: a file with an item for each promise.

In: the path of a program. Out: one item for each `property` and `prefer`, and one for what the analysis finds; a
program with mistakes is one item that fails with its messages. A failure shows what a person knows a promise by: its
statement, who broke it, the counterexample. Verdicts are found for a whole file at once, when the first of its items
runs, so that which items run (`-k`, `-m`, xdist) never changes what is found.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ucl.driver import check_path
from ucl.frozen import frozen
from ucl.render import printable, to_text

if TYPE_CHECKING:
    from ucl.diagnostics import Diagnostic, Report
    from ucl.semantics.program import Program
    from ucl.testing.stated import Stated
    from ucl.testing.verdicts import Verdict

CHECK = "check-program"
"""The item for what `uclc check` finds. No promise can be called so."""
FACTS = "read-facts"
"""The item for facts that can't be read."""


class ProgramFile(pytest.File):
    """A `.ucl` file. Without a promise it has nothing to test."""

    program: Program
    stated: Stated | None = None

    def collect(self) -> Iterator[pytest.Item]:
        try:
            program, report = check_path(self._shown_path())
        except OSError as error:
            raise self.CollectError(f"{self.path}: {error.strerror or error}") from None
        if program is None:
            yield WrongProgram.from_parent(self, name=CHECK, found=report)
            return
        self.program = program
        self._refuse_bad_settings()
        for promise in program.properties:
            # One that is imported holds here too, and is in another file.
            line = promise.span.line if promise.span.source is program.sources[0] else 1
            yield PromiseItem.from_parent(self, name=promise.name, line=line)
        yield from self._collect_facts()
        if program.properties or self.stated is not None:
            yield CheckItem.from_parent(self, name=CHECK)

    def _collect_facts(self) -> Iterator[pytest.Item]:
        """What the facts beside the program state, and an item for those that can't be read."""
        name = str(self.config.getini("ucl_facts"))
        path = self._shown_path().with_name(name) if name else None
        if path is None or not path.is_file():
            return
        from ucl.diagnostics import Report
        from ucl.scoring.errors import CallError
        from ucl.testing.stated import FactsFile, stated

        words = str(self.config.getini("ucl_vocabulary"))
        facts = FactsFile(path, vocabulary=path.with_name(words) if words else None)
        report = Report()
        try:
            self.stated = stated(self.program, facts, report)
        except CallError as error:
            raise self.CollectError(f"{path}: {error.message}") from None
        except OSError as error:
            raise self.CollectError(f"{error.filename or path}: {error.strerror or error}") from None
        if report.diagnostics:
            yield WrongProgram.from_parent(self, name=FACTS, found=report)
        for promise in self.stated.program.properties:
            if promise.name in self.stated.names:
                yield PromiseItem.from_parent(self, name=promise.name)

    def _refuse_bad_settings(self) -> None:
        """Before anything runs, and once: a setting that can't be read is no failure of a promise."""
        from ucl.scoring.errors import CallError

        try:
            self.since  # noqa: B018 - asked for what it raises
        except CallError as error:
            raise self.CollectError(f"ucl_now = {self.config.getini('ucl_now')}: {error.message}") from None

    def _shown_path(self) -> Path:
        """As a person would name it: messages show it."""
        try:
            return Path(os.path.relpath(self.path, self.config.invocation_params.dir))
        except ValueError:  # on another drive
            return self.path

    @cached_property
    def since(self) -> int:
        """The instant from which on promises shall hold."""
        from ucl.scoring.calls import find_zone, instant

        now = str(self.config.getini("ucl_now"))
        return instant(now, find_zone(self.program.timezone)) if now else time.time_ns() // 1000

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """By the name of the promise; retired ones have none."""
        from ucl.testing.verdicts import verdicts

        samples, seed = (int(self.config.getini(name)) for name in ("ucl_samples", "ucl_seed"))
        if self.stated is None:
            found = verdicts(self.program, self.since, samples, seed)
        else:
            start = self.stated.since(self.since if self.config.getini("ucl_now") else None, self.since)
            found = self.stated.verdicts(self.since, start, samples, seed)
        return {verdict.promise.name: verdict for verdict in found}

    def is_stated(self, name: str) -> bool:
        """Whether a fact states it, so that it is written in no program."""
        return self.stated is not None and name in self.stated.names


@frozen
class _Place:
    """Where pytest's summary says that something failed, and in which words."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@frozen
class Lines:
    """A failure as lines, in place of a traceback."""

    lines: tuple[str, ...]
    reprcrash: _Place

    def toterminal(self, writer: Any) -> None:
        for line in self.lines:
            writer.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Failed(Exception):  # noqa: N818 - what it says is a verdict
    """A promise is broken, or a program is wrong: `lines` say so, and `summary` does in one."""

    def __init__(self, summary: str, lines: tuple[str, ...]) -> None:
        super().__init__(summary)
        self.summary, self.lines = printable(summary), tuple(map(printable, lines))


class _UclItem(pytest.Item):
    def __init__(self, *, line: int = 1, **known: Any) -> None:
        super().__init__(**known)
        self._line = line
        self.add_marker("ucl")

    @property
    def file(self) -> ProgramFile:
        assert isinstance(self.parent, ProgramFile)
        return self.parent

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """No traceback: none of our own code is to blame."""
        failed = excinfo.value
        if not isinstance(failed, Failed):
            return super().repr_failure(excinfo, style)
        return Lines(failed.lines, _Place(str(self.path), self._line, failed.summary))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line - 1, self.name


class PromiseItem(_UclItem):
    """One `property` or `prefer`."""

    def runtest(self) -> None:
        from ucl.testing.words import told

        verdict = self.file.verdicts.get(self.name)
        if verdict is None:
            pytest.skip("it is retired")
        if verdict.found is None:
            return
        if not verdict.fails:
            pytest.xfail(f"it is only watched (`status shadow`): {verdict.message}")
        is_written = not self.file.is_stated(self.name)
        raise Failed(verdict.message, tuple(told(verdict, is_written)))


class CheckItem(_UclItem):
    """What `uclc check` calls an error though the program compiles; broken promises have items of their own."""

    def runtest(self) -> None:
        from ucl.analysis.findings import analyse
        from ucl.diagnostics import Severity

        found = [
            finding
            for finding in analyse(self.file.program, self.file.since)
            if finding.severity is Severity.ERROR and finding.code != "broken-property"
        ]
        if found:
            raise _wrong(found)


class WrongProgram(_UclItem):
    """A program that does not compile."""

    def __init__(self, *, found: Report, **known: Any) -> None:
        super().__init__(**known)
        self._found = found

    def runtest(self) -> None:
        raise _wrong(list(self._found))


def _wrong(found: list[Diagnostic]) -> Failed:
    from ucl.diagnostics import Severity

    first = next((each for each in found if each.severity is Severity.ERROR), found[0])
    return Failed(f"{first.message} [{first.code}]", tuple(to_text(found, False).splitlines()))
