"""From reductions of the grammar to the tree: one function for each rule or alias of `grammar/ucl.lark`.

In: the span of a production and the values of its parts, from left to right: nodes, the text of a token, None for a
part that is absent. Keywords and punctuation count only where they are all that the production has. Out: an `ast`
node, or a small value on the way to one; nothing is kept of parentheses. What a grammar can't say is reported: a
literal that has no value, a clause given twice, `24:00` in the wrong place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ucl.diagnostics import Report, Source, Span
from ucl.syntax import ast, errors, literals
from ucl.syntax.lexer import words

_WEEKDAYS = {day: number for number, day in enumerate(words("mon tue wed thu fri sat sun"))}
_NULLS = frozenset(words("null NULL Null None none nil undefined"))

# The productions that make the tree deeper. An operator's operands, in a chain too, are each a level below it.
DEEPENING = frozenset(
    words(
        "if_ or_ and_ not_ compare in_ not_in coalesce_ add subtract multiply divide negate attribute method_call call "
        "set_literal quantifier gathering gathering_share optional_type generic_type"
    )
)

# Rules of the grammar that only decoders follow: their token is never made by our lexer.
DECODERS_ONLY = frozenset(("int_range", "int_range_closed", "int_range_from"))


@dataclass(slots=True)
class _Clause:
    word: str
    value: Any
    span: Span


class Builder:
    """`report` takes what is found on the way; `comments` are the places of those read so far, in order."""

    def __init__(self, source: Source, report: Report, comments: list[tuple[int, int]]) -> None:
        self._source = source
        self._report = report
        self._comments = comments
        self._midnights: dict[int, ast.TimeLiteral] = {}

    def start(self, span: Span, *declarations: ast.Declaration) -> list[ast.Declaration]:
        return list(declarations)

    # --- declarations -----------------------------------------------------------------------------------------------

    def module(self, span: Span, path: tuple[ast.Identifier, ...]) -> ast.ModuleDeclaration:
        return ast.ModuleDeclaration(span, path)

    def import_(
        self, span: Span, path: tuple[ast.Identifier, ...], names: tuple[ast.Identifier, ...] | None
    ) -> ast.Import:
        return ast.Import(span, path, names)

    def timezone(self, span: Span, zone: str) -> ast.Timezone:
        return ast.Timezone(span, self.text(Span(span.source, span.end - len(zone), span.end), zone))

    def dimension(self, span: Span, name: ast.Identifier, *units: ast.UnitDeclaration) -> ast.Dimension:
        return ast.Dimension(span, name, units, self._doc(span))

    def unit_declaration(self, span: Span, name: ast.Identifier, definition: str | None) -> ast.UnitDeclaration:
        if definition is None:
            return ast.UnitDeclaration(span, name, None)
        place = Span(span.source, span.end - len(definition), span.end)
        return ast.UnitDeclaration(span, name, literals.quantity(place, definition, self._report))

    def schema(self, span: Span, name: ast.Identifier, *fields: ast.FieldDeclaration) -> ast.Schema:
        self._settle()
        return ast.Schema(span, name, fields, self._doc(span))

    def context(self, span: Span, *fields: ast.FieldDeclaration) -> ast.Context:
        self._settle()
        return ast.Context(span, fields, self._doc(span))

    def memory(self, span: Span, name: ast.Identifier, type_: ast.TypeExpr, default: ast.Expr | None) -> ast.Memory:
        self._settle()
        return ast.Memory(span, name, type_, default, self._doc(span))

    def let(self, span: Span, name: ast.Identifier, type_: ast.TypeExpr | None, value: ast.Expr) -> ast.Let:
        self._settle()
        return ast.Let(span, name, type_, value, self._doc(span))

    def def_(
        self,
        span: Span,
        name: ast.Identifier,
        parameters: tuple[ast.Parameter, ...],
        result: ast.TypeExpr,
        body: ast.Expr,
    ) -> ast.Def:
        self._settle()
        return ast.Def(span, name, parameters, result, body, self._doc(span))

    def resolve(self, span: Span, schema: ast.Identifier, method: ast.Identifier) -> ast.Resolve:
        return ast.Resolve(span, schema, method)

    def effect(self, span: Span, name: ast.Identifier, parameters: tuple[ast.Parameter, ...]) -> ast.Effect:
        return ast.Effect(span, name, False, parameters, self._doc(span))

    def effect_many(self, span: Span, name: ast.Identifier, parameters: tuple[ast.Parameter, ...]) -> ast.Effect:
        return ast.Effect(span, name, True, parameters, self._doc(span))

    def rule(
        self,
        span: Span,
        name: ast.Identifier,
        schema: ast.Identifier,
        overrides: tuple[ast.Identifier, ...] | None,
        *clauses: _Clause,
    ) -> ast.Rule:
        given = self._clauses(clauses)
        return ast.Rule(
            span,
            name,
            schema,
            overrides or (),
            when=given.one("when"),
            unless=given.many("unless"),
            score=given.one("score"),
            exceptions=given.many("except"),
            meta=given.meta(),
            doc=self._doc(span),
        )

    def constraint(
        self,
        span: Span,
        name: ast.Identifier,
        schema: ast.Identifier,
        overrides: tuple[ast.Identifier, ...] | None,
        *clauses: _Clause,
    ) -> ast.Constraint:
        given = self._clauses(clauses)
        return ast.Constraint(
            span,
            name,
            schema,
            overrides or (),
            forbid=given.one("forbid"),
            require=given.one("require"),
            when=given.one("when"),
            unless=given.many("unless"),
            meta=given.meta(),
            doc=self._doc(span),
        )

    def action(
        self,
        span: Span,
        name: ast.Identifier,
        schema: ast.Identifier,
        overrides: tuple[ast.Identifier, ...] | None,
        *clauses: _Clause,
    ) -> ast.Action:
        given = self._clauses(clauses)
        return ast.Action(
            span,
            name,
            schema,
            overrides or (),
            when=given.one("when"),
            unless=given.many("unless"),
            calls=given.one("do"),
            exceptions=given.many("except"),
            meta=given.meta(),
            doc=self._doc(span),
        )

    def alert(
        self,
        span: Span,
        name: ast.Identifier,
        variable: ast.Identifier,
        memory: ast.Identifier,
        *clauses: _Clause,
    ) -> ast.Alert:
        given = self._clauses(clauses)
        return ast.Alert(
            span,
            name,
            variable,
            memory,
            when=given.one("when"),
            unless=given.many("unless"),
            say=given.one("say"),
            severity=given.one("severity"),
            meta=given.meta(),
            doc=self._doc(span),
        )

    def property(self, span: Span, name: ast.Identifier, schema: ast.Identifier, *clauses: _Clause) -> ast.Property:
        given = self._clauses(clauses)
        return ast.Property(span, name, schema, given.one("given"), given.many("expect"), given.meta(), self._doc(span))

    def prefer(self, span: Span, name: ast.Identifier, schema: ast.Identifier, *clauses: _Clause) -> ast.Prefer:
        given = self._clauses(clauses)
        return ast.Prefer(span, name, schema, given.one("better"), given.one("worse"), given.meta(), self._doc(span))

    def overrides(self, span: Span, *names: ast.Identifier) -> tuple[ast.Identifier, ...]:
        return names

    # --- fields, parameters and types -------------------------------------------------------------------------------

    def field(self, span: Span, name: ast.Identifier, type_: ast.TypeExpr, *clauses: _Clause) -> ast.FieldDeclaration:
        given = self._clauses(clauses)
        return ast.FieldDeclaration(
            span,
            name,
            type_,
            given.one("in"),
            given.one("from"),
            given.one("unit"),
            given.one("="),
            self._doc(span),
        )

    def domain(self, span: Span, value: ast.Expr) -> _Clause:
        return _Clause("in", value, span)

    def column(self, span: Span, text: str) -> _Clause:
        return _Clause("from", self._last_text(span, text), span)

    def unit(self, span: Span, name: ast.Identifier) -> _Clause:
        return _Clause("unit", name, span)

    def default(self, span: Span, value: ast.Expr) -> _Clause:
        return _Clause("=", value, span)

    def parameters(self, span: Span, *parameters: ast.Parameter | None) -> tuple[ast.Parameter, ...]:
        return tuple(p for p in parameters if p is not None)

    def parameter(self, span: Span, name: ast.Identifier, type_: ast.TypeExpr) -> ast.Parameter:
        return ast.Parameter(span, name, type_)

    def named_type(self, span: Span, path: tuple[ast.Identifier, ...]) -> ast.NamedType:
        return ast.NamedType(span, tuple(name.text for name in path))

    def generic_type(self, span: Span, constructor: ast.Identifier, element: ast.TypeExpr) -> ast.GenericType:
        return ast.GenericType(span, constructor, element)

    def optional_type(self, span: Span, inner: ast.TypeExpr) -> ast.OptionalType:
        return ast.OptionalType(span, inner)

    def variant(self, span: Span, text: str) -> ast.TextLiteral:
        return self.text(span, text)

    def closed_type(self, span: Span, *values: ast.TextLiteral) -> ast.ClosedType:
        return ast.ClosedType(span, values)

    # --- clauses ----------------------------------------------------------------------------------------------------

    def when(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("when", condition, span)

    def unless(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("unless", condition, span)

    def score(self, span: Span, value: ast.Expr) -> _Clause:
        return _Clause("score", value, span)

    def except_score(self, span: Span, condition: ast.Expr, score: ast.Expr) -> _Clause:
        return _Clause("except", ast.ScoreException(span, condition, score), span)

    def forbid(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("forbid", condition, span)

    def require(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("require", condition, span)

    def do(self, span: Span, calls: tuple[ast.EffectCall, ...]) -> _Clause:
        return _Clause("do", calls, span)

    def except_do(self, span: Span, condition: ast.Expr, calls: tuple[ast.EffectCall, ...]) -> _Clause:
        return _Clause("except", ast.DoException(span, condition, calls), span)

    def effect_calls(self, span: Span, *calls: ast.EffectCall) -> tuple[ast.EffectCall, ...]:
        return calls

    def nothing(self, span: Span, word: str) -> tuple[ast.EffectCall, ...]:
        return ()

    def effect_call(self, span: Span, effect: ast.Identifier, arguments: tuple[ast.Expr, ...] | None) -> ast.EffectCall:
        return ast.EffectCall(span, effect, arguments or ())

    def say(self, span: Span, text: str) -> _Clause:
        return _Clause("say", self._last_text(span, text), span)

    def severity(self, span: Span, name: ast.Identifier) -> _Clause:
        return _Clause("severity", name, span)

    def given(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("given", condition, span)

    def expect(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("expect", condition, span)

    def better(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("better", condition, span)

    def worse(self, span: Span, condition: ast.Expr) -> _Clause:
        return _Clause("worse", condition, span)

    def because(self, span: Span, text: str) -> _Clause:
        return _Clause("because", self._last_text(span, text), span)

    def source(
        self, span: Span, kind: ast.Identifier, id_: ast.TextLiteral, at: ast.DateLiteral | ast.DateTimeLiteral | None
    ) -> _Clause:
        return _Clause("from", ast.SourceClause(span, kind, id_, at), span)

    def confidence(self, span: Span, value: ast.Expr) -> _Clause:
        return _Clause("confidence", value, span)

    def priority(self, span: Span, value: ast.Expr) -> _Clause:
        return _Clause("priority", value, span)

    def valid(self, span: Span, days: ast.Expr) -> _Clause:
        return _Clause("valid", days, span)

    def status(self, span: Span, name: ast.Identifier) -> _Clause:
        return _Clause("status", name, span)

    def _clauses(self, clauses: Iterable[_Clause]) -> _Given:
        self._settle()
        return _Given(clauses, self._report)

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
        tested = self._source.text[left.span.start : left.span.end]
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
            return ast.IntLiteral(span, -operand.value, "-" + operand.text)
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
        if name.text in ("True", "False", "TRUE", "FALSE"):
            self._report.add(errors.capital_truth(span, name.text))
            return ast.BoolLiteral(span, name.text.lower() == "true")
        return ast.Name(name.span, name.text)

    def parenthesized(self, span: Span, inner: ast.Expr) -> ast.Expr:
        return inner

    def set_literal(self, span: Span, *elements: ast.Expr | None) -> ast.SetLiteral:
        return ast.SetLiteral(span, tuple(e for e in elements if e is not None))

    def call(self, span: Span, function: ast.Identifier, arguments: tuple[ast.Expr, ...] | None) -> ast.Call:
        return ast.Call(span, ast.Name(function.span, function.text), arguments or ())

    def arguments(self, span: Span, *arguments: ast.Expr) -> tuple[ast.Expr, ...]:
        return arguments

    def quantifier(
        self,
        span: Span,
        kind: str,
        variable: ast.Identifier,
        source: ast.Expr,
        condition: ast.Expr | None,
        keys: tuple[ast.SortKey, ...] | None,
    ) -> ast.Comprehension:
        name = ast.Identifier(Span(span.source, span.start, span.start + len(kind)), kind)
        return ast.Comprehension(span, name, None, variable, source, condition, keys or (), None)

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
            self._report.add(errors.open_inclusive_range(span, self._source.text[low.span.start : low.span.end]))
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

    def int_(self, span: Span, text: str) -> ast.IntLiteral:
        return literals.integer(span, text, self._report)

    def float_(self, span: Span, text: str) -> ast.FloatLiteral:
        return literals.decimal(span, text, self._report)

    def percent(self, span: Span, text: str) -> ast.FloatLiteral:
        return literals.percent(span, text, self._report)

    def quantity(self, span: Span, text: str) -> ast.QuantityLiteral:
        return literals.quantity(span, text, self._report)

    def text(self, span: Span, text: str) -> ast.TextLiteral:
        return literals.text(span, text, self._report)

    def time(self, span: Span, text: str) -> ast.TimeLiteral:
        literal = literals.time(span, text, self._report)
        if literal.value == literals.MIDNIGHT:
            self._midnights[id(literal)] = literal
        return literal

    def date(self, span: Span, text: str) -> ast.DateLiteral:
        return literals.day(span, text, self._report)

    def datetime(self, span: Span, text: str) -> ast.DateTimeLiteral:
        return literals.instant(span, text, self._report)

    def weekday(self, span: Span, text: str) -> ast.WeekdayLiteral:
        return ast.WeekdayLiteral(span, _WEEKDAYS[text])

    def true(self, span: Span, word: str) -> ast.BoolLiteral:
        return ast.BoolLiteral(span, True)

    def false(self, span: Span, word: str) -> ast.BoolLiteral:
        return ast.BoolLiteral(span, False)

    # --- what all share ---------------------------------------------------------------------------------------------

    def _last_text(self, span: Span, text: str) -> ast.TextLiteral:
        """The literal that a clause ends with."""
        return self.text(Span(span.source, span.end - len(text), span.end), text)

    def _settle(self) -> None:
        """At the end of a declaration: a `24:00` that no range has taken as its end is out of place."""
        for literal in self._midnights.values():
            self._report.add(errors.misplaced_midnight(literal.span))
        self._midnights.clear()

    def _doc(self, span: Span) -> str | None:
        """The block of comments right above, without the `#`."""
        text, comments = self._source.text, self._comments
        below, lines = span.start, []
        for index in range(bisect_left(comments, (span.start, 0)) - 1, -1, -1):
            start, end = comments[index]
            gap = text[end:below]
            alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
            if gap.count("\n") != 1 or gap.strip() or not alone:
                break
            lines.append(text[start + 1 : end].strip())
            below = start
        return "\n".join(reversed(lines)) if lines else None


class _Given:
    """The clauses of one body by their word. Those that may stand once are reported when they come again."""

    def __init__(self, clauses: Iterable[_Clause], report: Report) -> None:
        self._by_word: dict[str, list[_Clause]] = {}
        for clause in clauses:
            self._by_word.setdefault(clause.word, []).append(clause)
        self._report = report

    def one(self, word: str) -> Any:
        found = self._by_word.get(word)
        if found is None:
            return None
        first, *others = found
        for other in others:
            self._report.add(errors.repeated_clause(other.span, word, first.span))
        return first.value

    def many(self, word: str) -> tuple[Any, ...]:
        return tuple(clause.value for clause in self._by_word.get(word, ()))

    def meta(self) -> ast.Meta:
        return ast.Meta(
            because=self.one("because"),
            sources=self.many("from"),
            confidence=self.one("confidence"),
            priority=self.one("priority"),
            valid=self.one("valid"),
            status=self.one("status"),
        )


def _flat(operands: tuple[ast.Expr, ...], kind: type[ast.And] | type[ast.Or]) -> tuple[ast.Expr, ...]:
    """The operands, with those of operands of the same kind, which parentheses set apart, in their place."""
    if not any(isinstance(operand, kind) for operand in operands):
        return operands
    flat: list[ast.Expr] = []
    for operand in operands:
        if isinstance(operand, (ast.And, ast.Or)) and isinstance(operand, kind):
            flat.extend(operand.operands)
        else:
            flat.append(operand)
    return tuple(flat)
