"""Reading a text again after an edit: only what changed is parsed.

In: one version of a text after another. Out: the same tree as `parse` gives; declarations whose text is as it was are
the very nodes of the version before, wherever they stand now. A text is cut where a line begins with the word of a
declaration (and above the comments that belong to it), and each piece is parsed by itself as a `Passage`. A version in
which a piece is wrong is parsed as a whole, since a mistake in one declaration may hide the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ucl.diagnostics import Passage, Report, Source
from ucl.frozen import frozen
from ucl.syntax import ast
from ucl.syntax.parse import DECLARATION_LINE, Few, Machine, check_order, parse, unreadable_text


@frozen
class _Piece:
    """A passage and the declarations in it, most often one."""

    passage: Passage
    declarations: tuple[ast.Declaration, ...]


class PassageReader:
    """Reads one version of a text after another, and keeps the pieces of the last one that was right."""

    def __init__(self) -> None:
        self._path = ""
        self._pieces: dict[str, _Piece] = {}
        self._found = Few()
        self._machine = Machine(self._found, [])

    def read(self, source: Source, report: Report) -> ast.File:
        """The tree of a version. It has no comments of its own: it is there to be checked, not to be laid out."""
        if unreadable_text(source) is not None:
            return parse(source, report)
        if source.path != self._path:
            self._path, self._pieces = source.path, {}
        found = self._found
        found.diagnostics.clear()
        now: dict[str, _Piece] = {}
        declarations: list[ast.Declaration] = []
        placed: list[tuple[Passage, int]] = []
        for start, text in _cut(source.text):
            # Of two pieces that read the same, the second is a declaration of its own.
            piece = self._pieces.get(text) if text not in now else None
            if piece is None:
                piece = _read(self._machine, source.path, text)
                if piece is None or found.diagnostics:
                    return parse(source, report)
            now[text] = piece
            placed.append((piece.passage, start))
            declarations.extend(piece.declarations)
        for passage, start in placed:
            passage.stand(source, start)
        check_order(declarations, found)
        report.diagnostics.extend(found.diagnostics)
        self._pieces = now
        return ast.File(source, tuple(declarations), ())


def _read(machine: Machine, path: str, text: str) -> _Piece | None:
    """None where the piece is no whole number of declarations."""
    passage = Passage(path, text)
    machine.forget()
    declarations, stop = machine.run(passage, 0)
    return None if stop is not None else _Piece(passage, tuple(declarations))


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """The pieces of a text, with where each begins; between them is white space."""
    cuts = [0]
    for match in DECLARATION_LINE.finditer(text):
        begin = _above(text, match.start(), cuts[-1])
        if begin > cuts[-1]:
            cuts.append(begin)
    cuts.append(len(text))
    for begin, end in pairwise(cuts):
        # White space between declarations belongs to none, so that it may change.
        piece = text[begin:end].lstrip()
        yield end - len(piece), piece.rstrip()


def _above(text: str, begin: int, least: int) -> int:
    """Where the comments begin that stand right above a line, but not before `least`."""
    while begin > least:
        line = text.rfind("\n", least, begin - 1) + 1 or least
        if not _COMMENT.match(text, line, begin):
            return begin
        begin = line
    return begin


_COMMENT = re.compile(r"[ \t]*+#")
