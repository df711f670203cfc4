"""The way back from the tree to the source: which tokens a part was written with, and the comments among them.

The tree says what to print; comments are where they are in the source. A `Stretch` walks through the tokens of one
clause or declaration while it is printed, and hands out each comment before the token that it stood before. Tokens
that are not printed, such as parentheses that are not needed, are passed over.
"""

from __future__ import annotations

from bisect import bisect_left

from ucl.frozen import frozen
from ucl.syntax import ast
from ucl.syntax.layout.documents import Note
from ucl.syntax.reading.lexer import END, tokens

_PASSED_OVER = frozenset("(),")


@frozen
class _Placed:
    """A comment, the number of the token that it stands before, and how it stands there."""

    before: int
    note: Note


class Trail:
    """The tokens and comments of a file."""

    def __init__(self, file: ast.File) -> None:
        text = file.source.text
        self.text = text
        spans = [(start, end) for name, start, end in tokens(text, 0, []) if name != END]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        self.comments = [self._place(comment) for comment in file.comments]
        self._befores = [placed.before for placed in self.comments]

    def _place(self, comment: ast.Comment) -> _Placed:
        start = comment.span.start
        line = self.text.rfind("\n", 0, start) + 1
        own = not self.text[line:start].strip()
        before = self.text.rfind("\n", 0, max(line - 1, 0)) + 1
        blank = own and line > 0 and not self.text[before : line - 1].strip()
        return _Placed(bisect_left(self.starts, start), Note(comment.text.rstrip(), own, blank))

    def token(self, offset: int) -> int:
        """The number of the first token at `offset` or after it."""
        return bisect_left(self.starts, offset)

    def written(self, number: int) -> str:
        return self.text[self.starts[number] : self.ends[number]]

    def next(self, text: str, number: int) -> int:
        """The number of the first token `text`, from `number` on."""
        while self.written(number) != text:
            number += 1
        return number

    def last_open(self, number: int) -> int:
        """The number of the last `{` before `number`, with nothing but comments after it."""
        while self.written(number - 1) != "{":
            number -= 1
        return number - 1

    def past_commas(self, number: int) -> int:
        while number < len(self.starts) and self.written(number) == ",":
            number += 1
        return number

    def last_notes(self) -> list[Note]:
        """The comments below the last declaration."""
        begin = bisect_left(self._befores, len(self.starts))
        notes = [placed.note for placed in self.comments[begin:]]
        return notes[1:] if self.starts and notes and not notes[0].own else notes

    def blank_before(self, number: int) -> bool:
        """Whether an empty line stands before a token, or between it and the comment before it."""
        start = self.starts[number]
        position = start
        while position > 0 and self.text[position - 1] in " \t\r\n":
            position -= 1
        return self.text.count("\n", position, start) > 1

    def stretch(self, first: int, end: int) -> Stretch:
        """The tokens `first` up to `end` (left out), with the comments above and after them on their lines."""
        begin = bisect_left(self._befores, first)
        while begin < len(self.comments) and self.comments[begin].before == first and not self.comments[begin].note.own:
            begin += 1
        stop = bisect_left(self._befores, end)
        while stop < len(self.comments) and self.comments[stop].before == end and not self.comments[stop].note.own:
            stop += 1
        return Stretch(self, first, end, begin, stop)


class Stretch:
    """A walk through some tokens, from the first to the last."""

    def __init__(self, trail: Trail, first: int, end: int, begin: int, stop: int) -> None:
        self._trail = trail
        self._first = first
        self._next = first
        self._end = end
        self._comment = begin
        self._stop = stop

    def above(self) -> list[Note]:
        """The comments above the first token."""
        return self._notes(self._first)

    def reach(self, text: str) -> list[Note]:
        """The comments before the next token, if that is `text`; and the walk goes on after it."""
        number = self._next
        while number < self._end and (written := self._trail.written(number)) != text:
            if written not in _PASSED_OVER:
                return []
            number += 1
        return self._reach(number) if number < self._end else []

    def ahead(self) -> list[Note]:
        """The comments before the next token that will be printed."""
        number = self._next
        while number < self._end and self._trail.written(number) in _PASSED_OVER:
            number += 1
        return self._notes(number) if number < self._end else []

    def reach_offset(self, offset: int) -> list[Note]:
        """The comments before the token at `offset`; and the walk goes on after it."""
        return self._reach(self._trail.token(offset))

    def rest(self) -> list[Note]:
        """The comments that are left, those behind the last token on its line among them."""
        notes = [placed.note for placed in self._trail.comments[self._comment : self._stop]]
        self._comment = self._stop
        return notes

    def _reach(self, number: int) -> list[Note]:
        self._next = max(self._next, number + 1)
        return self._notes(number)

    def _notes(self, number: int) -> list[Note]:
        found = []
        while self._comment < self._stop and self._trail.comments[self._comment].before <= number:
            found.append(self._trail.comments[self._comment].note)
            self._comment += 1
        return found
