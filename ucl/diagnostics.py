"""What the compiler says to a person: sources, spans, diagnostics and the report that gathers them.

In: findings of every pass. Out: a `Report`, whose diagnostics the doors render or refuse to go on with.
A user's mistake is never an exception inside the compiler; `CompileError` is raised at the Python door alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from ucl.frozen import frozen


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_ERROR_CODES = (
    "syntax too-deep too-large bad-literal reserved-word "
    "unknown-name ambiguous-name duplicate-name unknown-import import-cycle override-cycle bad-override "
    "type-mismatch unknown-variant unknown-field unit-mismatch absent-unhandled wrong-arguments "
    "chained-comparison not-constant recursion out-of-range "
    "never-applies nothing-feasible broken-property"
).split()
_WARNING_CODES = (
    "score-scale float-equality unused unreachable conflict always-overridden never-feasible "
    "double-counting clashing-actions ambiguous-night exclusive-end"
).split()

# `empty-range` is an error where both ends are constant; the pass that reports it says so.
SEVERITIES: Mapping[str, Severity] = (
    dict.fromkeys(_ERROR_CODES, Severity.ERROR)
    | dict.fromkeys(_WARNING_CODES, Severity.WARNING)
    | {"empty-range": Severity.ERROR, "tension": Severity.INFO, "undecided": Severity.INFO}
)


@dataclass(frozen=True, eq=False)
class Source:
    """One file's text: `path` as the user named it, `text` after decoding.

    Whatever way a text comes in, it is held as LANGUAGE §2 reads it: without a BOM, in NFC, its lines ending in `\n`.
    """

    path: str
    text: str

    def __post_init__(self) -> None:
        text = self.text.removeprefix("\ufeff").replace("\r\n", "\n")
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
        if text is not self.text:
            object.__setattr__(self, "text", text)

    @property
    def document(self) -> Source:
        """The whole file, of which a `Passage` is a part."""
        return self

    @property
    def begins(self) -> int:
        """Where in the document this text begins."""
        return 0

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a code-point offset, both from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end]


_LINE_END = re.compile("\n")


@dataclass(frozen=True, eq=False)
class Passage(Source):
    """A stretch of a file that is read by itself, and stands where the newest version of the file has it.

    Offsets count from where it begins; lines and columns are those of the file. A declaration whose text does not
    change keeps its tree though others move it, which is why this is the one thing in a tree that changes: only what
    people are shown depends on it.
    """

    def stand(self, document: Source, begins: int) -> None:
        """Says where the passage is from now on."""
        object.__setattr__(self, "_place", (document, begins))

    @property
    def place(self) -> tuple[Source, int]:
        """The file, and where in it the passage begins."""
        found: tuple[Source, int] = self.__dict__.get("_place", (self, 0))
        return found

    @property
    def document(self) -> Source:
        return self.place[0]

    @property
    def begins(self) -> int:
        return self.place[1]

    def position(self, offset: int) -> tuple[int, int]:
        document, begins = self.place
        return super().position(offset) if document is self else document.position(begins + offset)

    def line_text(self, line: int) -> str:
        document = self.document
        return super().line_text(line) if document is self else document.line_text(line)


@frozen
class Span:
    """Code points `start` up to `end` (left out) of one source."""

    source: Source
    start: int
    end: int

    @property
    def in_document(self) -> Span:
        """The same place, counted from where the file begins."""
        source = self.source
        if source.document is source:
            return self
        return Span(source.document, self.start + source.begins, self.end + source.begins)

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def end_position(self) -> tuple[int, int]:
        return self.source.position(self.end)

    def to(self, other: Span) -> Span:
        return Span(self.source, self.start, other.end)


@dataclass(frozen=True)
class Witness:
    """A concrete option (as `score` would read it) that shows a finding, with its re-checked total."""

    option: Mapping[str, Any]
    context: Mapping[str, Any]
    total: float | None


@dataclass(frozen=True)
class Note:
    """A further place that a message speaks of, such as the first of two declarations."""

    span: Span
    message: str


@dataclass(frozen=True)
class Diagnostic:
    """One thing to tell the user. `message` is one sentence in the user's terms, user text in backticks."""

    code: str
    severity: Severity
    message: str
    span: Span
    help: str | None = None
    notes: tuple[Note, ...] = ()
    rules: tuple[str, ...] = ()
    witness: Witness | None = None
    certainty: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The object of INTERFACE §2."""
        line, column = self.span.source.position(self.span.start)
        end_line, end_column = self.span.end_position
        witness = self.witness
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "file": self.span.source.path,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "help": self.help,
            "rules": list(self.rules),
            "witness": None
            if witness is None
            else {"option": dict(witness.option), "context": dict(witness.context), "total": witness.total},
            "certainty": self.certainty,
        }


def diagnostic(
    code: str,
    span: Span,
    message: str,
    help: str | None = None,
    notes: Iterable[Note] = (),
    severity: Severity | None = None,
) -> Diagnostic:
    """A diagnostic with the severity that its code has everywhere, unless the caller knows better."""
    return Diagnostic(code, severity or SEVERITIES[code], message, span, help, tuple(notes))


@dataclass
class Report:
    """Gathers diagnostics; every pass is given one and none raises for a user's mistake."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, found: Diagnostic) -> None:
        self.diagnostics.append(found)

    @property
    def has_errors(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def sorted(self) -> list[Diagnostic]:
        """By file in the order of first mention, then by place."""
        files: dict[int, int] = {}
        places = [d.span.in_document for d in self.diagnostics]
        for place in places:
            files.setdefault(id(place.source), len(files))
        in_order = sorted(
            zip(places, self.diagnostics), key=lambda found: (files[id(found[0].source)], found[0].start, found[0].end)
        )
        return [d for _, d in in_order]


class CompileError(Exception):
    """A program that can't be used; `diagnostics` says why. Raised at the Python door only."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity is Severity.ERROR), None)
        if first is None:
            super().__init__("the program could not be compiled")
        else:
            line, column = first.span.source.position(first.span.start)
            super().__init__(f"{first.span.source.path}:{line}:{column}: {first.message} [{first.code}]")
