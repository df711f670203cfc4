"""From an expression to a document: operators with the parentheses they need, and where long ones break.

A `Printer` prints from the tree and walks along the source, so that each comment comes out before what it stood before.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from enum import IntEnum
from functools import partial
from typing import assert_never

from ucl.syntax import ast
from ucl.syntax.layout.documents import SOFT, SPACE, Document, group, nest
from ucl.syntax.layout.trail import Stretch
from ucl.syntax.reading.lexer import CLAUSE_WORDS, DECLARATION_WORDS


class Level(IntEnum):
    """How tightly a form binds, as in the grammar."""

    ANY = 0
    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    COALESCE = 5
    SUM = 6
    PRODUCT = 7
    UNARY = 8
    POSTFIX = 9


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# A range ends before these; `context.x` is no such case, but the word alone is.
_NO_BOUND = frozenset((*CLAUSE_WORDS, *DECLARATION_WORDS, "desc")) - {"unit"}


class Printer:
    """Prints the parts of one stretch of tokens, from left to right."""

    def __init__(self, stretch: Stretch) -> None:
        self._stretch = stretch

    def word(self, text: str, before: Document = "") -> list[Document]:
        """A keyword or sign. The comments before it come before the break, on the line that they stood on."""
        return [*self._stretch.reach(text), before, text]

    def at(self, offset: int, text: str) -> list[Document]:
        """A name or literal, at its place in the source."""
        return [*self._stretch.reach_offset(offset), text]

    def gap(self) -> list[Document]:
        """The comments before what comes next, to stand before a break."""
        return list(self._stretch.ahead())

    def name(self, name: ast.Identifier) -> list[Document]:
        return self.dotted(name.span.start, name.text.split("."))

    def dotted(self, offset: int, path: Sequence[str]) -> list[Document]:
        parts = self.at(offset, path[0])
        for part in path[1:]:
            parts += self.word(".")
            parts += self.word(part)
        return parts

    def above(self) -> list[Document]:
        """The comments above all of it."""
        return list(self._stretch.above())

    def rest(self) -> list[Document]:
        return list(self._stretch.rest())

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, expr: ast.Expr, level: Level = Level.ANY) -> list[Document]:
        """An expression, in parentheses where it binds less tightly than `level`."""
        notes = self.gap()
        if _level(expr) >= level:
            return [*notes, *self._bare(expr)]
        return [*notes, *self.word("("), nest(self._bare(expr)), *self.word(")")]

    def _bare(self, expr: ast.Expr) -> list[Document]:
        match expr:
            case ast.If():
                return [group(self._if(expr))]
            case ast.Or(operands=operands):
                return self._chain("or", operands, Level.AND)
            case ast.And(operands=operands):
                return self._chain("and", operands, Level.NOT)
            case ast.Not(operand=operand):
                return [*self.word("not"), " ", *self.expression(operand, Level.NOT)]
            case ast.Compare(operator=operator, left=left, right=right):
                return self._infix(left, [operator], right, Level.COALESCE, Level.COALESCE)
            case ast.In(value=value, container=container, negated=negated):
                words = ["not", "in"] if negated else ["in"]
                return self._infix(value, words, container, Level.COALESCE, Level.COALESCE)
            case ast.Coalesce(value=value, default=default):
                return self._infix(value, ["??"], default, Level.COALESCE, Level.SUM)
            case ast.Arithmetic(operator=operator, left=left, right=right):
                level = _level(expr)
                return self._infix(left, [operator], right, level, Level(level + 1))
            case ast.Negate(operand=operand):
                space = [" "] if isinstance(operand, ast.Negate) or _is_negative(operand) else []
                return [*self.word("-"), *space, *self.expression(operand, Level.UNARY)]
            case ast.Range():
                return self._range(expr)
            case ast.Attribute(value=value, name=name, name_span=span):
                return [*self.expression(value, Level.POSTFIX), *self.word("."), *self.at(span.start, name)]
            case ast.Call(function=function, arguments=arguments):
                return [*self.expression(function, Level.POSTFIX), *self.arguments(arguments)]
            case ast.Comprehension():
                return self._comprehension(expr)
            case ast.SetLiteral(elements=elements):
                return self._expressions("{", elements, "}")
            case ast.Name(text=text):
                return self.at(expr.span.start, text)
            case _:
                return self.literal(expr)

    def _chain(self, word: str, operands: Sequence[ast.Expr], level: Level) -> list[Document]:
        """`a and b and c`, on one line or an operand on each."""
        parts = self.expression(operands[0], level)
        following: list[Document] = []
        for operand in operands[1:]:
            following += [*self.word(word, SPACE), " ", *self.expression(operand, level)]
        return [group([*parts, nest(following)])]

    def _infix(
        self, left: ast.Expr, words: Sequence[str], right: ast.Expr, left_level: Level, right_level: Level
    ) -> list[Document]:
        parts = self.expression(left, left_level)
        following = self.word(words[0], SPACE)
        for word in words[1:]:
            following += [" ", *self.word(word)]
        following += [" ", *self.expression(right, right_level)]
        return [group([*parts, nest(following)])]

    def _if(self, expr: ast.If) -> list[Document]:
        """A chain of `else if` stands at one depth."""
        parts: list[Document] = [*self.word("if"), " ", *self.expression(expr.condition)]
        branches: list[Document] = [*self.word("then", SPACE), " ", *self.expression(expr.then)]
        while isinstance(expr.otherwise, ast.If):
            expr = expr.otherwise
            branches += [*self.word("else", SPACE), " ", *self.word("if"), " ", *self.expression(expr.condition)]
            branches += [*self.word("then", SPACE), " ", *self.expression(expr.then)]
        branches += [*self.word("else", SPACE), " ", *self.expression(expr.otherwise)]
        return [*parts, nest(branches)]

    def _range(self, expr: ast.Range) -> list[Document]:
        parts: list[Document] = [] if expr.low is None else self.expression(expr.low, Level.COALESCE)
        parts += self.word("..=" if expr.inclusive else "..")
        if expr.high is None:
            return parts
        if _begins_with_clause_word(expr.high):
            return [*parts, *self.word("("), *self._bare(expr.high), *self.word(")")]
        return [*parts, *self.expression(expr.high, Level.COALESCE)]

    def arguments(self, arguments: Sequence[ast.Expr]) -> list[Document]:
        return self._expressions("(", arguments, ")")

    def _comprehension(self, expr: ast.Comprehension) -> list[Document]:
        head = [*self.name(expr.kind), *self.word("(")]
        inner: list[Document] = [*self.gap(), SOFT]
        if expr.value is None:
            inner += self.name(expr.variable)
        else:
            inner += [*self.expression(expr.value), *self.word("for", SPACE), " ", *self.name(expr.variable)]
        inner += [" ", *self.word("in"), " ", *self.expression(expr.source, Level.COALESCE)]
        if expr.condition is not None:
            inner += [*self.word("where", SPACE), " ", *self.expression(expr.condition)]
        for index, key in enumerate(expr.keys):
            inner += [*self.word(","), *self.gap(), SPACE] if index else [*self.word("by", SPACE), " "]
            inner += self.expression(key.value)
            inner += [" ", *self.word("desc")] if key.descending else []
        if expr.share is not None:
            inner += [*self.word(","), *self.gap(), SPACE, *self.expression(expr.share)]
        below = self._stretch.reach(")")
        return [group([*head, nest([*inner, *below]), SOFT, ")"])]

    def listed(self, opening: str, items: Iterable[Callable[[], list[Document]]], closing: str) -> list[Document]:
        """Items between brackets: on one line, or as many on each as it takes."""
        parts = self.word(opening)
        inner: list[Document] = []
        for index, item in enumerate(items):
            if index:
                inner += [*self.word(","), *self.gap(), group([SPACE, *item()])]
            else:
                inner += [*self.gap(), SOFT, *item()]
        below = self._stretch.reach(closing)
        return [group([*parts, nest([*inner, *below]), SOFT, closing])]

    def _expressions(self, opening: str, items: Sequence[ast.Expr], closing: str) -> list[Document]:
        return self.listed(opening, [partial(self.expression, item) for item in items], closing)

    # --- literals ---------------------------------------------------------------------------------------------------

    def literal(self, expr: ast.Literal) -> list[Document]:
        start = expr.span.start
        if isinstance(expr, ast.IntLiteral) and expr.text.startswith("-"):
            digits = expr.text[1:]
            return [*self.word("-"), *self.at(expr.span.end - len(digits), digits)]
        return self.at(start, literal_text(expr))


def literal_text(expr: ast.Literal) -> str:
    """The one way to write a literal. Numbers stay as they are written: `1_000` and `0.80` say how they are meant."""
    match expr:
        case ast.IntLiteral(text=text) | ast.FloatLiteral(text=text) | ast.QuantityLiteral(text=text):
            return text
        case ast.TextLiteral(value=value):
            return quote(value)
        case ast.BoolLiteral(value=value):
            return "true" if value else "false"
        case ast.WeekdayLiteral(value=value):
            return _WEEKDAYS[value]
        case ast.TimeLiteral(value=value):
            return clock(value // 1_000_000)
        case ast.DateLiteral(value=value):
            return value.isoformat()
        case ast.DateTimeLiteral(local=local, offset=offset):
            seconds = (local.hour * 60 + local.minute) * 60 + local.second
            return f"{local.date().isoformat()}T{clock(seconds)}{_offset(offset)}"
    assert_never(expr)


def clock(seconds: int) -> str:
    """`07:30`, or `07:30:15` where there are seconds."""
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if seconds % 60 else text


def _offset(offset: timedelta | None) -> str:
    if offset is None:
        return ""
    if not offset:
        return "Z"
    minutes = abs(offset) // timedelta(minutes=1)
    return f"{'-' if offset < timedelta(0) else '+'}{minutes // 60:02}:{minutes % 60:02}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_JOINERS = "\u200c\u200d"


def quote(value: str) -> str:
    """A text literal. Only what can't be seen is escaped, and what would end the literal."""
    return '"' + "".join(_ESCAPES.get(c) or (c if _is_visible(c) else _escape(c)) for c in value) + '"'


def _is_visible(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs")


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


# --- how tightly things bind ----------------------------------------------------------------------------------------


def _level(expr: ast.Expr) -> Level:
    match expr:
        case ast.If():
            return Level.ANY
        case ast.Or():
            return Level.OR
        case ast.And():
            return Level.AND
        case ast.Not():
            return Level.NOT
        case ast.Compare() | ast.In():
            return Level.COMPARISON
        case ast.Coalesce():
            return Level.COALESCE
        case ast.Arithmetic(operator=operator):
            return Level.SUM if operator in "+-" else Level.PRODUCT
        case ast.Negate():
            return Level.UNARY
        case ast.IntLiteral() if _is_negative(expr):
            return Level.UNARY
        case _:
            return Level.POSTFIX


def _is_negative(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.IntLiteral) and expr.text.startswith("-")


def _begins_with_clause_word(expr: ast.Expr) -> bool:
    """Whether the first token of an expression would end the range that it is the end of."""
    while True:
        match expr:
            case ast.Coalesce(value=first) | ast.Arithmetic(left=first) | ast.Call(function=first):
                expr = first
            case ast.Attribute(value=ast.Name(text="context" | "memory")):
                return False
            case ast.Attribute(value=first):
                expr = first
            case ast.Name(text=text):
                return text in _NO_BOUND
            case ast.Comprehension(kind=kind):
                return kind.text in _NO_BOUND
            case _:
                return False
