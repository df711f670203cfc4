"""What is decided once for each distinct value: tests of a set's elements, of texts, and what is left to `evaluate`.

In: expressions that no vector operation computes. Out: forms: look-ups by code where one text or one set is read, else
a residual column, evaluated once for each distinct tuple of what it reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.kernels.columns import Path
from ucl.kernels.execution.members import of_each
from ucl.kernels.lowering.forms import FLOATS, Fixed, Form, Number, SetColumn, TextColumn, Truth, Unlowered, stand_in
from ucl.kernels.lowering.parts.choices import choice
from ucl.kernels.lowering.reads import may_overflow, paths_read, reads_batch, reads_option
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Among,
    AnyElement,
    CountHits,
    Flag,
    Members,
    OfText,
    Residual,
    Where,
    negated,
)
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.program import Expr

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering


def elements(lowering: Lowering, kind: str, source: SetColumn, condition: Expr, variable: str) -> Form:
    """The condition looks at the element alone: it is decided once for each distinct one."""
    if kind == "count":
        hits = CountHits(source.path, _where(lowering, condition, variable))
        return Number(lowering.graph.value(hits), False, source.there, source.over)
    if kind == "all":
        condition = p.Not(t.BOOL, condition.span, condition)
    found = lowering.graph.test(AnyElement(source.path, _where(lowering, condition, variable)))
    return Truth(found if kind == "any" else negated(found), source.there, source.over)


def _where(lowering: Lowering, expression: Expr, variable: str | None, overflow: bool = False) -> Members:
    return Where(expression, variable, lowering.key(expression), overflow)


def residual(lowering: Lowering, expr: Expr) -> Form:
    """Of a bool, an int or a float; what makes a text or a set is left to what surrounds it."""
    if not reads_option(expr):
        return lowering.of_call(expr)
    if isinstance(t.present(expr.type), t.Text | t.Closed | t.Set | t.Record | t.List):
        raise Unlowered
    paths = paths_read(expr)
    if len(paths) == 1 and not reads_batch(expr) and isinstance(lowering.column(paths[0]), TextColumn):
        return _of_text(lowering, expr, paths[0])
    key = lowering.key(expr)
    if key not in lowering.residuals:
        lowering.residuals[key] = lowering.whole(Residual(expr, paths))
    return _of_column(lowering, lowering.residuals[key], expr)


def _of_text(lowering: Lowering, expr: Expr, path: Path) -> Form:
    """Decided once for each distinct text, and once for where there is none."""
    present: Form
    if isinstance(expr.type, t.Bool):
        present = _among(lowering, expr, path)
    else:
        present = _of_column(lowering, lowering.graph.value(OfText(path, expr, lowering.key(expr))), expr)
    known = lowering.column(path).there
    if known == TRUE:
        return present
    absent = _without(lowering, expr, path)
    there = lowering.graph.choose(known, present.there, absent.there)
    over = lowering.graph.choose(known, present.over, absent.over)
    return choice(lowering, known, present, absent, there, over, expr.type)


def _among(lowering: Lowering, expr: Expr, path: Path) -> Truth:
    graph = lowering.graph
    holds = graph.test(Among(path, _where(lowering, expr, None)))
    if not may_overflow(expr):
        return Truth(holds)
    return Truth(holds, over=graph.test(Among(path, _where(lowering, expr, None, overflow=True))))


def _of_column(lowering: Lowering, value: int, expr: Expr) -> Form:
    graph = lowering.graph
    over = graph.test(Flag(value, "over")) if may_overflow(expr) else FALSE
    there = negated(graph.test(Flag(value, "missing"))) if isinstance(expr.type, t.Optional) else TRUE
    if isinstance(t.present(expr.type), t.Bool):
        return Truth(graph.test(Flag(value, "holds")), there, over)
    return Number(value, isinstance(t.present(expr.type), FLOATS), there, over)


def _without(lowering: Lowering, expr: Expr, path: Path) -> Fixed:
    """The expression where the text that it reads is absent."""
    vector = of_each(lowering.call, path, (None,), expr)
    if vector.over is not None and vector.over[0]:
        return Fixed(stand_in(expr.type), over=TRUE)
    if vector.missing is not None and vector.missing[0]:
        return Fixed(None)
    return Fixed(vector.values[0].item())
