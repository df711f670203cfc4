"""From reductions of the grammar to declarations, their fields and clauses, in the way of `expressions`.

Clauses come in any order; those that may stand once and come again are reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from ucl.diagnostics import Report, Span
from ucl.syntax import ast, errors
from ucl.syntax.reading import literals
from ucl.syntax.reading.expressions import ExpressionBuilder
from ucl.syntax.reading.lexer import words

# The productions that make the tree deeper. An operator's operands, in a chain too, are each a level below it.
DEEPENING = frozenset(
    words(
        "if_ or_ and_ not_ compare in_ not_in coalesce_ add subtract multiply divide negate attribute method_call call "
        "set_literal quantifier gathering gathering_share optional_type generic_type"
    )
)

# Rules of the grammar that only decoders follow: their token is never made by our lexer.
DECODERS_ONLY = frozenset(("int_range", "int_range_closed", "int_range_from"))

# Of a name that is all of an expression or of a reference no `Identifier` need be made on the way.
FUSED: dict[tuple[str, ...], str] = {("identifier", "variable"): "bare_name", ("identifier", "reference"): "identifier"}


# After these a `(` begins a comprehension, so that no function could be called by their name.
_QUANTIFIERS = frozenset(words("count any all"))


class Builder(ExpressionBuilder):
    """`report` takes what is found on the way; `comments` are the places of those read so far, in order."""

    def __init__(self, report: Report, comments: list[tuple[int, int]]) -> None:
        super().__init__(report)
        self._comments = comments

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
        if name.text in _QUANTIFIERS:
            self._report.add(errors.reserved_function(name.span, name.text))
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
        *clauses: ast.Clause,
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
            clauses=clauses,
        )

    def constraint(
        self,
        span: Span,
        name: ast.Identifier,
        schema: ast.Identifier,
        overrides: tuple[ast.Identifier, ...] | None,
        *clauses: ast.Clause,
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
            clauses=clauses,
        )

    def action(
        self,
        span: Span,
        name: ast.Identifier,
        schema: ast.Identifier,
        overrides: tuple[ast.Identifier, ...] | None,
        *clauses: ast.Clause,
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
            clauses=clauses,
        )

    def alert(
        self,
        span: Span,
        name: ast.Identifier,
        variable: ast.Identifier,
        memory: ast.Identifier,
        *clauses: ast.Clause,
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
            clauses=clauses,
        )

    def property(self, span: Span, name: ast.Identifier, schema: ast.Identifier, *clauses: ast.Clause) -> ast.Property:
        given = self._clauses(clauses)
        return ast.Property(
            span, name, schema, given.one("given"), given.many("expect"), given.meta(), self._doc(span), clauses
        )

    def prefer(self, span: Span, name: ast.Identifier, schema: ast.Identifier, *clauses: ast.Clause) -> ast.Prefer:
        given = self._clauses(clauses)
        return ast.Prefer(
            span, name, schema, given.one("better"), given.one("worse"), given.meta(), self._doc(span), clauses
        )

    def overrides(self, span: Span, *names: ast.Identifier) -> tuple[ast.Identifier, ...]:
        return names

    # --- fields, parameters and types -------------------------------------------------------------------------------

    def field(
        self, span: Span, name: ast.Identifier, type_: ast.TypeExpr, *clauses: ast.Clause
    ) -> ast.FieldDeclaration:
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
            clauses,
        )

    def domain(self, span: Span, value: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "in", value)

    def column(self, span: Span, text: str) -> ast.Clause:
        return ast.Clause(span, "from", self._last_text(span, text))

    def unit(self, span: Span, name: ast.Identifier) -> ast.Clause:
        return ast.Clause(span, "unit", name)

    def default(self, span: Span, value: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "=", value)

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

    def when(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "when", condition)

    def unless(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "unless", condition)

    def score(self, span: Span, value: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "score", value)

    def except_score(self, span: Span, condition: ast.Expr, score: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "except", ast.ScoreException(span, condition, score))

    def forbid(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "forbid", condition)

    def require(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "require", condition)

    def do(self, span: Span, calls: tuple[ast.EffectCall, ...]) -> ast.Clause:
        return ast.Clause(span, "do", calls)

    def except_do(self, span: Span, condition: ast.Expr, calls: tuple[ast.EffectCall, ...]) -> ast.Clause:
        return ast.Clause(span, "except", ast.DoException(span, condition, calls))

    def effect_calls(self, span: Span, *calls: ast.EffectCall) -> tuple[ast.EffectCall, ...]:
        return calls

    def nothing(self, span: Span, word: str) -> tuple[ast.EffectCall, ...]:
        return ()

    def effect_call(self, span: Span, effect: ast.Identifier, arguments: tuple[ast.Expr, ...] | None) -> ast.EffectCall:
        return ast.EffectCall(span, effect, arguments or ())

    def say(self, span: Span, text: str) -> ast.Clause:
        return ast.Clause(span, "say", self._last_text(span, text))

    def severity(self, span: Span, name: ast.Identifier) -> ast.Clause:
        return ast.Clause(span, "severity", name)

    def given(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "given", condition)

    def expect(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "expect", condition)

    def better(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "better", condition)

    def worse(self, span: Span, condition: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "worse", condition)

    def because(self, span: Span, text: str) -> ast.Clause:
        return ast.Clause(span, "because", self._last_text(span, text))

    def source(
        self, span: Span, kind: ast.Identifier, id_: ast.TextLiteral, at: ast.DateLiteral | ast.DateTimeLiteral | None
    ) -> ast.Clause:
        return ast.Clause(span, "from", ast.SourceClause(span, kind, id_, at))

    def confidence(self, span: Span, value: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "confidence", value)

    def priority(self, span: Span, value: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "priority", value)

    def valid(self, span: Span, days: ast.Expr) -> ast.Clause:
        return ast.Clause(span, "valid", days)

    def status(self, span: Span, name: ast.Identifier) -> ast.Clause:
        return ast.Clause(span, "status", name)

    def _clauses(self, clauses: Iterable[ast.Clause]) -> _Given:
        self._settle()
        return _Given(clauses, self._report)

    # --- what all share ---------------------------------------------------------------------------------------------

    def _last_text(self, span: Span, text: str) -> ast.TextLiteral:
        """The literal that a clause ends with."""
        return self.text(Span(span.source, span.end - len(text), span.end), text)

    def _doc(self, span: Span) -> str | None:
        """The block of comments right above, without the `#`."""
        text, comments = span.source.text, self._comments
        if not comments:
            return None
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

    def __init__(self, clauses: Iterable[ast.Clause], report: Report) -> None:
        by_word: dict[str, list[ast.Clause]] = {}
        for clause in clauses:
            if clause.word in by_word:
                by_word[clause.word].append(clause)
            else:
                by_word[clause.word] = [clause]
        self._by_word = by_word
        self._report = report

    def one(self, word: str) -> Any:
        found = self._by_word.get(word)
        if found is None:
            return None
        if len(found) > 1:
            for other in found[1:]:
                self._report.add(errors.repeated_clause(other.span, word, found[0].span))
        return found[0].value

    def many(self, word: str) -> tuple[Any, ...]:
        found = self._by_word.get(word)
        return () if found is None else tuple([clause.value for clause in found])

    def meta(self) -> ast.Meta:
        if self._by_word.keys().isdisjoint(_META):
            return ast.NO_META
        return ast.Meta(
            because=self.one("because"),
            sources=self.many("from"),
            confidence=self.one("confidence"),
            priority=self.one("priority"),
            valid=self.one("valid"),
            status=self.one("status"),
        )


_META = frozenset(words("because from confidence priority valid status"))
