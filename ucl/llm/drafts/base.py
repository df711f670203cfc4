"""A program that is to be added to, and what it is with an addition.

In: a program's source. Out: a `Base`, opened and checked; with an `Addition`, the text of both. The base's own text is
never touched: an addition stands behind it, laid out as `fmt` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ucl.diagnostics import Report, Source
from ucl.driver import check_module
from ucl.frozen import frozen
from ucl.resources import stdlib_modules, stdlib_source
from ucl.semantics.check import Module
from ucl.semantics.program import Program, Status
from ucl.syntax import ast
from ucl.syntax.parse import parse

_DAYPARTS = "std.dayparts"
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@frozen
class Start:
    """How a program that does not exist yet begins: with an import of its schema, and of the parts of the day that it
    turns out to need."""

    module: str
    schema: str

    def text(self, used: Iterable[str]) -> str:
        names = sorted(used)
        days = f"import {_DAYPARTS} ({', '.join(names)})\n" if names else ""
        return f"import {self.module} ({self.schema})\n{days}"


@dataclass(frozen=True, eq=False)
class Base:
    """`start` is there for a program that does not exist yet."""

    source: Source
    folder: Path | None
    program: Program
    module: Module
    start: Start | None = None

    def with_text(self, addition: str) -> Source:
        """The text of both."""
        before = self.source.text
        if self.start is not None:
            named = set(re.findall(r"\w+", _TEXT.sub("", addition)))
            before = self.start.text(name for name in _dayparts() if name in named)
        before = before.rstrip("\n")
        return Source(self.source.path, f"{before}\n\n{addition}\n" if before else f"{addition}\n")

    def grown(self, addition: str) -> Base:
        """The base with an addition that is right, to be added to in turn."""
        before = self.source.text.rstrip("\n")
        found, report = opened(Source(self.source.path, f"{before}\n\n{addition}\n"), self.folder)
        assert found is not None, [d.message for d in report]
        return replace(found, start=self.start)


def opened(source: Source, folder: Path | None) -> tuple[Base | None, Report]:
    """Parses and checks a program; None where it has mistakes, which the report says."""
    checked, report = check_module(source, folder)
    return (None if checked is None else Base(source, folder, *checked)), report


def started(schema: str, path: str = "program.ucl") -> Base | None:
    """A program that does not exist yet, on a schema of the standard library (`Meeting`, `std.scheduling.Meeting`);
    None where there is no such schema."""
    wanted_module, _, name = schema.rpartition(".")
    for module in stdlib_modules():
        if wanted_module in ("", module) and name in _declared(module, ast.Schema):
            start = Start(module, name)
            base, report = opened(Source(path, start.text(_dayparts())), None)
            assert base is not None, [d.message for d in report]
            return replace(base, start=start)
    return None


def standard_schemas() -> list[str]:
    return [name for module in stdlib_modules() for name in _declared(module, ast.Schema)]


def _dayparts() -> list[str]:
    return _declared(_DAYPARTS, ast.Let)


def _declared(module: str, kind: type[ast.Schema | ast.Let]) -> list[str]:
    shipped = stdlib_source(module)
    assert shipped is not None
    file = parse(Source(*shipped), Report())
    return [d.name.text for d in file.declarations if isinstance(d, kind)]


# --- additions ------------------------------------------------------------------------------------------------------


@frozen
class Addition:
    """Declarations in canonical layout, of which none has a status, and their names."""

    declarations: tuple[str, ...]
    names: tuple[str, ...]

    def text(self, status: Status) -> str:
        """What is in force from now on, or what is watched until a person confirms it."""
        clause = "" if status is Status.ACTIVE else f"  status {status}\n"
        # `status` is the last of all clauses.
        return "\n\n".join(f"{text.removesuffix('}')}{clause}}}" for text in self.declarations)
