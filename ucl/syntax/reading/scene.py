"""Where reading stopped, and what stands around that place.

In: a `Stop`, from the machine. Out: a `Scene`, which `mistakes` looks at to tell what went wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from ucl.diagnostics import Source, Span
from ucl.frozen import frozen
from ucl.syntax.errors import quoted
from ucl.syntax.reading.lexer import END, Token, tokens

_KEPT = 60
OPENING = {"(": ")", "{": "}"}


@frozen
class Stop:
    """Where and in what state reading came to a halt.

    `start` is where the declaration begins, `token` what could not be read, `expected` the terminals that could;
    `complete` says that the declaration could have ended there; `limit` is set where it was nested deeper than that.
    """

    start: int
    token: Token
    expected: frozenset[str]
    complete: bool
    limit: int | None = None


@frozen
class Scene:
    """A stop and the tokens around it. `before` are the last ones of the declaration, `open` its open brackets."""

    source: Source
    stop: Stop
    word: str
    before: tuple[Token, ...]
    open: tuple[Token, ...]
    after: tuple[Token, ...]

    @property
    def span(self) -> Span:
        """Where the token stands; the end of the file is where its last token ends."""
        if self.terminal == END and self.before:
            return Span(self.source, self.before[-1][2], self.before[-1][2])
        return self.place(self.stop.token)

    @property
    def terminal(self) -> str:
        return self.stop.token[0]

    @property
    def text(self) -> str:
        return self.written(self.stop.token)

    @property
    def found(self) -> str:
        """The token as a message speaks of it."""
        return "the end of the file" if self.terminal == END else quoted(self.text)

    @property
    def previous(self) -> Token | None:
        return self.before[-1] if self.before else None

    @property
    def following(self) -> Token:
        return self.after[0] if self.after else (END, self.stop.token[2], self.stop.token[2])

    def place(self, token: Token) -> Span:
        return Span(self.source, token[1], token[2])

    def written(self, token: Token) -> str:
        return self.source.text[token[1] : token[2]]

    def text_of(self, span: Span) -> str:
        return self.source.text[span.start : span.end]

    def operand_before(self, end: int | None = None) -> str:
        """The path, call or literal that ends right before the stop, or before the token of that number."""
        end = len(self.before) if end is None else end
        start, depth = end - 1, 0
        while start > 0:
            kind, before = self.before[start][0], self.before[start - 1][0]
            depth += (kind in (")", "}")) - (kind in OPENING)
            if depth == 0 and not (kind == "." or before == "." or (kind == "(" and before == "NAME")):
                break
            start -= 1
        return self.source.text[self.before[start][1] : self.before[end - 1][2]]

    def closing(self) -> Token | None:
        """What closes the innermost open bracket, counting one that reading stopped at."""
        depth = 1
        for token in self.after:
            depth += (token[0] in OPENING) - (token[0] in OPENING.values())
            if depth == 0:
                return token
        return None

    def starts_line(self, token: Token | None = None) -> bool:
        text, start = self.source.text, (token or self.stop.token)[1]
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def wants_value(self) -> bool:
        return "INT" in self.stop.expected and "(" in self.stop.expected


def look(source: Source, stop: Stop) -> Scene:
    before: deque[Token] = deque(maxlen=_KEPT)
    open_: list[Token] = []
    first = ""
    stream = _stretch(source.text, stop)
    for token in stream:
        first = first or source.text[token[1] : token[2]]
        before.append(token)
        if token[0] in OPENING:
            open_.append(token)
        elif token[0] in OPENING.values() and open_:
            open_.pop()
    after = islice(tokens(source.text, stop.token[2], []), _KEPT)
    return Scene(source, stop, first, tuple(before), tuple(open_), tuple(after))


def _stretch(text: str, stop: Stop) -> Iterator[Token]:
    """The tokens of the declaration before the stop."""
    for token in tokens(text, stop.start, []):
        if token[1] >= stop.token[1] or token[0] == END:
            return
        yield token
