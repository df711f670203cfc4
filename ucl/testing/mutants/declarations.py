"""What could have been written instead, in one place of a declaration: its conditions, its score, its clauses.

In: a declaration of the tree. Out: an `Edit` for each small mistake in it, in the order of the source. Only clauses and
heads are changed, which is what `format` prints; whoever wants the meaning parses what it printed. Of a retired rule
nothing matters, of a shadow rule only that it is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TypeVar

from ucl.diagnostics import Span
from ucl.syntax import ast
from ucl.testing.mutants.edits import Edit, Kind, Meaning, edits, written
from ucl.testing.mutants.steps import neighbours

N = TypeVar("N")
Declared = ast.Rule | ast.Constraint
Make = Callable[[], ast.ClauseValue]

_CONDITIONS = frozenset(("when", "unless", "forbid", "require", "valid"))
_MOST_PRIORITY = 10
_LONGEST_NUMBER = 20


def declaration_edits(node: ast.Declaration, meaning: Meaning) -> Iterator[Edit[ast.Declaration]]:
    """None for declarations that score nothing and allow nothing."""
    match node:
        case ast.Rule() | ast.Constraint():
            yield from _body(node, meaning)
        case ast.Let(value=value):
            for edit in _constant(value, meaning):
                yield _outer(edit, lambda made: replace(node, value=made))
        case ast.Def(body=body):
            for edit in edits(body, meaning):
                yield _outer(edit, lambda made: replace(node, body=made))
        case ast.Resolve(method=method):
            other = "weighted" if method.text == "priority" else "priority"
            made = replace(node, method=replace(method, text=other))
            yield Edit(Kind.RESOLUTION, f"`by {other}` for `by {method.text}`", method.span, lambda: made)
        case _:
            return


def _outer(edit: Edit[ast.Expr], around: Callable[[ast.Expr], ast.Declaration]) -> Edit[ast.Declaration]:
    return Edit(edit.kind, edit.said, edit.span, lambda: around(edit.make()))


def _constant(value: ast.Expr, meaning: Meaning) -> Iterator[Edit[ast.Expr]]:
    """A value that rules share is moved by a step; a score that they share is not a threshold, and is left alone."""
    yield from edits(value, meaning)
    if isinstance(value, ast.FloatLiteral | ast.Negate):
        return
    for moved in neighbours(value):
        yield Edit(Kind.VALUE, f"{written(value)} moved to {written(moved)}", value.span, partial(_same, moved))


def _same(made: N) -> N:
    return made


# --- rules and constraints ------------------------------------------------------------------------------------------


def _body(node: Declared, meaning: Meaning) -> Iterator[Edit[ast.Declaration]]:
    status = "active" if node.meta.status is None else node.meta.status.text
    if status == "active":
        yield from _overrides(node)
        yield from _clauses(node, meaning)
        if isinstance(node, ast.Rule):
            yield from _weights(node)
        off = ast.Identifier(_closing(node), "shadow")
        yield _edit(Kind.STATUS, "switched off", node.name.span, node, _said(node, "status", off))
    elif status == "shadow":
        yield _edit(Kind.STATUS, "switched on", node.name.span, node, _said(node, "status", None))


def _edit(kind: Kind, said: str, span: Span, node: Declared, clauses: Sequence[ast.Clause]) -> Edit[ast.Declaration]:
    return Edit(kind, said, span, lambda: replace(node, clauses=tuple(clauses)))


def _overrides(node: Declared) -> Iterator[Edit[ast.Declaration]]:
    for name in node.overrides:
        made = replace(node, overrides=tuple(other for other in node.overrides if other is not name))
        yield Edit(Kind.OVERRIDE, f"`overrides {name.text}` left out", name.span, partial(_same, made))


def _clauses(node: Declared, meaning: Meaning) -> Iterator[Edit[ast.Declaration]]:
    """Each clause with something in it otherwise, or left out where that leaves a whole."""
    for clause in node.clauses:
        if clause.word in ("unless", "except"):
            kind = Kind.UNLESS if clause.word == "unless" else Kind.EXCEPT
            rest = [other for other in node.clauses if other is not clause]
            yield _edit(kind, f"`{_clause_text(clause)}` left out", clause.span, node, rest)
        for edit in _values(clause, meaning):
            yield Edit(edit.kind, edit.said, edit.span, _with_value(node, clause, edit.make))


def _clause_text(clause: ast.Clause) -> str:
    match clause.value:
        case ast.ScoreException(condition=condition, score=score):
            return f"except when {written(condition)} score {written(score)}"
        case value if isinstance(value, ast.Expr):
            return f"{clause.word} {written(value)}"
        case _:
            return clause.word


def _values(clause: ast.Clause, meaning: Meaning) -> Iterator[Edit[ast.ClauseValue]]:
    match clause.value:
        case ast.ScoreException(condition=condition, score=score) as value:
            for edit in edits(condition, meaning):
                yield Edit(edit.kind, edit.said, edit.span, _exception(value, edit.make))
            turned = replace(value, score=_turned(score))
            yield Edit(Kind.SIGN, _sign(score), score.span, lambda: turned)
        case value if isinstance(value, ast.Expr) and clause.word in _CONDITIONS:
            for edit in edits(value, meaning):
                yield Edit(edit.kind, edit.said, edit.span, edit.make)
        case value if isinstance(value, ast.Expr) and clause.word == "score":
            yield Edit(Kind.SIGN, _sign(value), value.span, lambda: _turned(value))
        case _:
            return


def _exception(value: ast.ScoreException, condition: Callable[[], ast.Expr]) -> Make:
    return lambda: replace(value, condition=condition())


def _with_value(
    node: Declared, clause: ast.Clause, value: Callable[[], ast.ClauseValue]
) -> Callable[[], ast.Declaration]:
    def make() -> ast.Declaration:
        changed = replace(clause, value=value())
        return replace(node, clauses=tuple(changed if other is clause else other for other in node.clauses))

    return make


def _sign(score: ast.Expr) -> str:
    return f"score {written(score)} with its sign flipped"


def _turned(score: ast.Expr) -> ast.Expr:
    match score:
        case ast.Negate(operand=operand):
            return operand
        case ast.IntLiteral(value=value):
            return replace(score, value=-value, text=str(-value))
        case ast.Arithmetic(operator="*" | "/", left=left):
            return replace(score, left=_turned(left))
        case _:
            return ast.Negate(score.span, score)


def _weights(node: ast.Rule) -> Iterator[Edit[ast.Declaration]]:
    """Half and twice as much, by `priority`; and the priority that is written left out."""
    clause = next((clause for clause in node.clauses if clause.word == "priority"), None)
    known = _number(None if clause is None else clause.value)
    span = node.name.span if clause is None else clause.span
    if clause is not None and known != 1:
        yield _edit(Kind.WEIGHT, "`priority` left out", span, node, _said(node, "priority", None))
    if known is None:
        return
    for factor, word in ((Decimal("0.5"), "halved"), (Decimal(2), "doubled")):
        weight = min(known * factor, Decimal(_MOST_PRIORITY))
        text = f"{weight.normalize():f}"
        literal = ast.FloatLiteral(_closing(node), float(weight), text)
        yield _edit(Kind.WEIGHT, f"weight {word}", span, node, _said(node, "priority", literal))


def _number(value: ast.ClauseValue | None) -> Decimal | None:
    """A priority as it is written, 1 where it is not; None where it is computed."""
    match value:
        case None:
            return Decimal(1)
        case ast.IntLiteral(text=text) | ast.FloatLiteral(text=text) if len(text) < _LONGEST_NUMBER and text[-1] != "%":
            return Decimal(text)
        case _:
            return None


def _said(node: Declared, word: str, value: ast.ClauseValue | None) -> list[ast.Clause]:
    """The clauses with another value of one, which may be new or be left out."""
    others = [clause for clause in node.clauses if clause.word != word]
    return others if value is None else [*others, ast.Clause(_closing(node), word, value)]


def _closing(node: Declared) -> Span:
    """What is new stands at the closing brace, where no comment is."""
    return Span(node.span.source, node.span.end - 1, node.span.end)
