"""From reductions of the grammar to expressions: one function for each of its rules or aliases.

In: the span of a production and the values of its parts, from left to right: nodes, the text of a token, None for a
part that is absent. Keywords and punctuation count only where they are all that the production has. Out: an `ast`
node, or a small value on the way to one; nothing is kept of parentheses. What a grammar can't say is reported: a
literal that has no value, `24:00` in the wrong place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ucl.diagnostics import Diagnostic, Report, Span
from ucl.syntax import ast, errors
from ucl.syntax.reading import literals
from ucl.syntax.reading.lexer import words

_WEEKDAYS = {day: number for number, day in enumerate(words("mon tue wed thu fri sat sun"))}
_NULLS = frozenset(words("null NULL Null None none nil undefined"))
_CAPITAL_TRUTHS = frozenset(words("True False TRUE FALSE"))
LARGEST_SET = 100_000
# Numbers of so many characters can't be too long.
_SHORT = 20

L = TypeVar("L", bound=ast.LiteralNode)


class ExpressionBuilder:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._found = report.diagnostics
        self._midnights: dict[int, ast.TimeLiteral] = {}
        self._open_ends: list[Diagnostic] = []

    # --- expressions ------------------------------------------------------------------------------------------------

    def if_(self, span: Span, condition: ast.Expr, then: ast.Expr, otherwise: ast.Expr) -> ast.If:
        return ast.If(span, condition, then, otherwise)

    def or_(self, span: Span, *operands: ast.Expr) -> ast.Or:
        return ast.Or(span, _flat(operands, ast.Or))

    def and_(self, span: Span, *operands: ast.Expr) -> ast.And:
        return ast.And(span, _flat(operands, ast.And))

    def not_(self, span: Span, operand: ast.Expr) -> ast.Not:
        return ast.Not(span, operand)

    def operator(self, span: Span, text: str) -> str:
        return text

    def compare(self, span: Span, left: ast.Expr, operator: str, right: ast.Expr) -> ast.Expr:
        if isinstance(right, ast.Name) and right.text in _NULLS and operator in ("==", "!="):
            return self._presence(span, left, operator, right)
        return ast.Compare(span, operator, left, right)

    def _presence(self, span: Span, left: ast.Expr, operator: str, null: ast.Name) -> ast.Call:
        """`x == null`, as what it means."""
        test = "absent" if operator == "==" else "present"
        tested = span.source.text[left.span.start : left.span.end]
        self._report.add(errors.compared_with_null(null.span, null.text, f"{test}({tested})"))
        return ast.Call(span, ast.Name(span, test), (left,))

    def in_(self, span: Span, value: ast.Expr, container: ast.Expr) -> ast.In:
        return ast.In(span, value, container, False)

    def not_in(self, span: Span, value: ast.Expr, container: ast.Expr) -> ast.In:
        return ast.In(span, value, container, True)

    def coalesce_(self, span: Span, value: ast.Expr, default: ast.Expr) -> ast.Coalesce:
        return ast.Coalesce(span, value, default)

    def add(self, span: Span, left: ast.Expr, right: ast.Expr) -> ast.Arithmetic:
        return ast.Arithmetic(span, "+", left, right)

    def subtract(self, span: Span, left: ast.Expr, right: ast.Expr) -> ast.Arithmetic:
        return ast.Arithmetic(span, "-", left, right)

    def multiply(self, span: Span, left: ast.Expr, right: ast.Expr) -> ast.Arithmetic:
        return ast.Arithmetic(span, "*", left, right)

    def divide(self, span: Span, left: ast.Expr, right: ast.Expr) -> ast.Arithmetic:
        return ast.Arithmetic(span, "/", left, right)

    def negate(self, span: Span, operand: ast.Expr) -> ast.Expr:
        if isinstance(operand, ast.IntLiteral) and not operand.text.startswith("-"):
            return ast.IntLiteral(span, -operand.value, "-" + operand.text, mistaken=operand.mistaken)
        return ast.Negate(span, operand)

    def attribute(self, span: Span, value: ast.Expr, name: ast.Identifier) -> ast.Attribute:
        return ast.Attribute(span, value, name.text, name.span)

    def method_call(
        self, span: Span, value: ast.Expr, name: ast.Identifier, arguments: tuple[ast.Expr, ...] | None
    ) -> ast.Call:
        place = Span(span.source, span.start, name.span.end)
        return ast.Call(span, ast.Attribute(place, value, name.text, name.span), arguments or ())

    def qualified(self, span: Span, qualifier: str, name: ast.Identifier) -> ast.Attribute:
        word = qualifier[:-1].rstrip()
        place = Span(span.source, span.start, span.start + len(word))
        return ast.Attribute(span, ast.Name(place, word), name.text, name.span)

    def variable(self, span: Span, name: ast.Identifier) -> ast.Name | ast.BoolLiteral:
        return self.bare_name(name.span, name.text)

    def bare_name(self, span: Span, text: str) -> ast.Name | ast.BoolLiteral:
        """What `identifier` and `variable` make together."""
        if text in _CAPITAL_TRUTHS:
            self._report.add(errors.capital_truth(span, text))
            return ast.BoolLiteral(span, text.lower() == "true")
        return ast.Name(span, text)

    def parenthesized(self, span: Span, inner: ast.Expr) -> ast.Expr:
        return inner

    def set_literal(self, span: Span, *elements: ast.Expr | None) -> ast.SetLiteral:
        if len(elements) > LARGEST_SET:
            self._report.add(errors.large_set(span, LARGEST_SET))
        return ast.SetLiteral(span, tuple([e for e in elements if e is not None]))

    def call(self, span: Span, function: ast.Identifier, arguments: tuple[ast.Expr, ...] | None) -> ast.Call:
        return ast.Call(span, ast.Name(function.span, function.text), arguments or ())

    def arguments(self, span: Span, *arguments: ast.Expr) -> tuple[ast.Expr, ...]:
        return arguments

    def quantifier(
        self,
        span: Span,
        kind: ast.Identifier,
        variable: ast.Identifier,
        source: ast.Expr,
        condition: ast.Expr | None,
        keys: tuple[ast.SortKey, ...] | None,
    ) -> ast.Comprehension:
        return ast.Comprehension(span, kind, None, variable, source, condition, keys or (), None)

    def gathering(
        self,
        span: Span,
        kind: ast.Identifier,
        value: ast.Expr,
        variable: ast.Identifier,
        source: ast.Expr,
        condition: ast.Expr | None,
        keys: tuple[ast.SortKey, ...] | None,
    ) -> ast.Comprehension:
        return ast.Comprehension(span, kind, value, variable, source, condition, keys or (), None)

    def gathering_share(
        self,
        span: Span,
        kind: ast.Identifier,
        value: ast.Expr,
        variable: ast.Identifier,
        source: ast.Expr,
        condition: ast.Expr | None,
        share: ast.Expr,
    ) -> ast.Comprehension:
        return ast.Comprehension(span, kind, value, variable, source, condition, (), share)

    def where(self, span: Span, condition: ast.Expr) -> ast.Expr:
        return condition

    def by(self, span: Span, *keys: ast.SortKey) -> tuple[ast.SortKey, ...]:
        return keys

    def ascending(self, span: Span, value: ast.Expr) -> ast.SortKey:
        return ast.SortKey(value, False)

    def descending(self, span: Span, value: ast.Expr) -> ast.SortKey:
        return ast.SortKey(value, True)

    # --- ranges -----------------------------------------------------------------------------------------------------

    def range_closed(self, span: Span, low: ast.Expr, operator: str, high: ast.Expr) -> ast.Range:
        self._midnights.pop(id(high), None)
        return ast.Range(span, low, high, operator == "..=")

    def range_from(self, span: Span, low: ast.Expr, operator: str) -> ast.Range:
        if operator == "..=":
            written = span.source.text[low.span.start : low.span.end]
            self._open_ends.append(errors.open_inclusive_range(span, written))
        return ast.Range(span, low, None, False)

    def range_to(self, span: Span, operator: str, high: ast.Expr) -> ast.Range:
        self._midnights.pop(id(high), None)
        return ast.Range(span, None, high, operator == "..=")

    # --- names and literals -----------------------------------------------------------------------------------------

    def names(self, span: Span, *names: ast.Identifier) -> tuple[ast.Identifier, ...]:
        return names

    def path(self, span: Span, *names: ast.Identifier) -> tuple[ast.Identifier, ...]:
        return names

    def reference(self, span: Span, *names: ast.Identifier) -> ast.Identifier:
        return names[0] if len(names) == 1 else ast.Identifier(span, ".".join(name.text for name in names))

    def identifier(self, span: Span, text: str) -> ast.Identifier:
        return ast.Identifier(span, text)

    # Of the commonest literals, those that can't be mistaken are read here, on the short way.

    def int_(self, span: Span, text: str) -> ast.IntLiteral:
        if self._found or len(text) > _SHORT:
            return self._read(literals.integer, span, text)
        return ast.IntLiteral(span, int(text), text)

    def float_(self, span: Span, text: str) -> ast.FloatLiteral:
        if self._found or len(text) > _SHORT:
            return self._read(literals.decimal, span, text)
        return ast.FloatLiteral(span, float(text), text)

    def percent(self, span: Span, text: str) -> ast.FloatLiteral:
        return self._read(literals.percent, span, text)

    def quantity(self, span: Span, text: str) -> ast.QuantityLiteral:
        return self._read(literals.quantity, span, text)

    def text(self, span: Span, text: str) -> ast.TextLiteral:
        if self._found or not text.isprintable() or "\\" in text:
            return self._read(literals.text, span, text)
        return ast.TextLiteral(span, text[1:-1])

    def time(self, span: Span, text: str) -> ast.TimeLiteral:
        literal = self._read(literals.time, span, text)
        if literal.value == literals.MIDNIGHT:
            self._midnights[id(literal)] = literal
        return literal

    def date(self, span: Span, text: str) -> ast.DateLiteral:
        return self._read(literals.day, span, text)

    def datetime(self, span: Span, text: str) -> ast.DateTimeLiteral:
        return self._read(literals.instant, span, text)

    def _read(self, reader: Callable[[Span, str, Report], L], span: Span, text: str) -> L:
        """A literal; a mistaken one where it was reported, here or before it was mended."""
        found = self._found
        before = len(found)
        literal = reader(span, text, self._report)
        if found and (len(found) > before or text != span.source.text[span.start : span.end]):
            return replace(literal, mistaken=True)
        return literal

    def weekday(self, span: Span, text: str) -> ast.WeekdayLiteral:
        return ast.WeekdayLiteral(span, _WEEKDAYS[text])

    def true(self, span: Span, word: str) -> ast.BoolLiteral:
        return ast.BoolLiteral(span, True)

    def false(self, span: Span, word: str) -> ast.BoolLiteral:
        return ast.BoolLiteral(span, False)

    def _settle(self) -> None:
        """At the end of a declaration: a `24:00` that no range has taken as its end is out of place."""
        if self._midnights or self._open_ends:
            for literal in self._midnights.values():
                self._report.add(errors.misplaced_midnight(literal.span))
            for found in self._open_ends:
                self._report.add(found)
            self.forget()

    def forget(self) -> None:
        """What is left of a declaration that could not be read to its end."""
        self._midnights.clear()
        self._open_ends.clear()


def _flat(operands: tuple[ast.Expr, ...], kind: type[ast.And] | type[ast.Or]) -> tuple[ast.Expr, ...]:
    """The operands, with those of operands of the same kind, which parentheses set apart, in their place."""
    if kind not in map(type, operands):
        return operands
    flat: list[ast.Expr] = []
    for operand in operands:
        if isinstance(operand, (ast.And, ast.Or)) and isinstance(operand, kind):
            flat.extend(operand.operands)
        else:
            flat.append(operand)
    return tuple(flat)
