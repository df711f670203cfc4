"""Reading a text again after an edit: only what changed is parsed.

In: one version of a text after another. Out: the same tree as `parse` gives; declarations whose text is as it was are
the very nodes of the version before, wherever they stand now. A text is cut where a line begins with the word of a
declaration (and above the comments that belong to it), and each piece is parsed by itself as a `Passage`. A version in
which a piece is wrong is parsed as a whole, since a mistake in one declaration may hide the next.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
        self._cuts: Cuts | None = None
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
        cuts = cut(source.text, self._cuts)
        for start, text in cuts.pieces:
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
        self._pieces, self._cuts = now, cuts
        return ast.File(source, tuple(declarations), ())


def _read(machine: Machine, path: str, text: str) -> _Piece | None:
    """None where the piece is no whole number of declarations."""
    passage = Passage(path, text)
    machine.forget()
    declarations, stop = machine.run(passage, 0)
    return None if stop is not None else _Piece(passage, tuple(declarations))


@frozen
class Cuts:
    """Where a text is cut, and its pieces: each with where it begins, without the white space around it."""

    text: str
    places: list[int]
    pieces: list[tuple[int, str]]


def cut(text: str, before: Cuts | None = None) -> Cuts:
    """The pieces of a text. What it shares with the one `before` is not looked at again.

    Whether a piece begins at a place depends on the piece's first lines, up to its declaration, and on the line above:
    one piece more than changed is looked at on either side.
    """
    if before is None:
        before = Cuts("", [0], [])
    same = _shared(before.text, text)
    changed = len(before.text) - _shared(before.text[same:][::-1], text[same:][::-1])
    first = max(bisect_right(before.places, same) - 2, 0)
    last = bisect_left(before.places, changed + 1) + 1
    moved = len(text) - len(before.text)
    after = [place + moved for place in before.places[last:]]
    stop = after[0] if after else len(text)
    between = list(_places(text, before.places[first], stop))
    pieces = [_piece(text, begin, end) for begin, end in pairwise([*between, stop])]
    return Cuts(
        text,
        before.places[:first] + between + after,
        before.pieces[:first] + pieces + [(begin + moved, piece) for begin, piece in before.pieces[last:]],
    )


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _places(text: str, begin: int, stop: int) -> Iterator[int]:
    """Where to cut from `begin` on, which is the first, to before `stop`."""
    last = begin
    yield last
    for match in DECLARATION_LINE.finditer(text, begin, stop):
        place = _above(text, match.start(), last)
        if place > last:
            last = place
            yield last


def _piece(text: str, begin: int, end: int) -> tuple[int, str]:
    """White space between declarations belongs to none, so that it may change."""
    piece = text[begin:end].lstrip()
    return end - len(piece), piece.rstrip()


def _above(text: str, begin: int, least: int) -> int:
    """Where the comments begin that stand right above a line, but not before `least`."""
    while begin > least:
        line = text.rfind("\n", least, begin - 1) + 1 or least
        if not _COMMENT.match(text, line, begin):
            return begin
        begin = line
    return begin


_COMMENT = re.compile(r"[^\S\n]*+#")
