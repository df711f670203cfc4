"""From a document to lines: text with places where it may break.

The documents are those of Philip Wadler, *A prettier printer* (2003): a group stands on one line where it fits, and
otherwise all of its breaks are line ends. Notes, which are comments, run to the end of their line, so that a group that
holds one can't stand on one line, and what follows a note begins a new one.

In: a document and a width. Out: text. The time is linear in the size of the document, for a bounded width.
"""

from __future__ import annotations

from collections.abc import Iterable

from ucl.frozen import frozen


@frozen
class Break:
    """A line end, or `flat` where its group stands on one line. A `hard` one is always a line end."""

    flat: str = " "
    hard: bool = False
    blank: bool = False
    """Whether an empty line goes before it."""


@frozen
class Note:
    """A comment. `own`: it has a line of its own, with an empty line before it where `blank` says so."""

    text: str
    own: bool
    blank: bool


@frozen
class Group:
    parts: tuple[Document, ...]
    hard: bool


@frozen
class Nest:
    """Lines that begin within it are indented further."""

    by: int
    parts: tuple[Document, ...]
    hard: bool


Document = str | Break | Note | Group | Nest

SPACE = Break()
SOFT = Break("")
LINE = Break(hard=True)
BLANK = Break(hard=True, blank=True)


def group(parts: Iterable[Document]) -> Group:
    kept = tuple(parts)
    return Group(kept, _is_hard(kept))


def nest(parts: Iterable[Document], by: int = 2) -> Nest:
    kept = tuple(parts)
    return Nest(by, kept, _is_hard(kept))


def _is_hard(parts: tuple[Document, ...]) -> bool:
    return any(isinstance(part, Note) or (isinstance(part, (Break, Group, Nest)) and part.hard) for part in parts)


_Command = tuple[int, bool, Document]
"""An indentation, whether breaks are line ends, and what to print."""


def render(document: Iterable[Document], width: int) -> str:
    """The lines, each ended, none with blanks at its end."""
    page = _Page()
    stack: list[_Command] = [(0, True, part) for part in reversed(tuple(document))]
    while stack:
        indent, broken, part = stack.pop()
        match part:
            case str():
                page.write(part, indent)
            case Note():
                page.note(part, indent)
            case Break():
                if broken or part.hard:
                    page.end_line(indent, part.blank)
                else:
                    page.write(part.flat, indent)
            case Nest():
                stack.extend((indent + part.by, broken, inner) for inner in reversed(part.parts))
            case Group():
                breaks = part.hard or not _fits(width - page.column, part, stack)
                stack.extend((indent, breaks, inner) for inner in reversed(part.parts))
    return page.text()


def _fits(room: int, part: Group, rest: list[_Command]) -> bool:
    """Whether a group on one line, with what follows it up to where a line may end, fits in `room` columns."""
    waiting: list[tuple[bool, Document]] = [(False, part)]
    following = len(rest)
    while room >= 0:
        if not waiting:
            if following == 0:
                return True
            following -= 1
            _, broken, document = rest[following]
            waiting.append((broken, document))
            continue
        broken, document = waiting.pop()
        match document:
            case str():
                room -= len(document)
            case Note():
                return True
            case Break():
                if broken or document.hard:
                    return True
                room -= len(document.flat)
            case Nest() | Group():
                waiting.extend((broken, inner) for inner in reversed(document.parts))
    return False


class _Page:
    """The text so far. A line is indented when something is written on it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._indent = 0
        self._noted = False

    @property
    def column(self) -> int:
        return len(self._line) or self._indent

    def write(self, text: str, indent: int) -> None:
        """`indent` is that of a line which has to begin here, because a note has ended the one before."""
        if self._noted:
            self.end_line(indent, blank=False)
        if not self._line:
            text = text.lstrip(" ")
            self._line = " " * self._indent if text else ""
        self._line += text

    def note(self, note: Note, indent: int) -> None:
        if self._line and (note.own or self._noted):
            self.end_line(indent, blank=False)
        if note.own and note.blank:
            self._leave_blank()
        if self._line:
            self._line = self._line.rstrip() + " " + note.text
        else:
            self._line = " " * self._indent + note.text
        self._noted = True

    def end_line(self, indent: int, blank: bool) -> None:
        """Ends the line, unless nothing stands on it."""
        if self._line:
            self._lines.append(self._line.rstrip())
        self._line, self._indent, self._noted = "", indent, False
        if blank:
            self._leave_blank()

    def _leave_blank(self) -> None:
        """An empty line, but not a second one, none at the beginning, and none after what opens a body."""
        if self._lines and self._lines[-1] and not self._lines[-1].endswith("{"):
            self._lines.append("")

    def text(self) -> str:
        self.end_line(0, blank=False)
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        return "".join(line + "\n" for line in self._lines)
