"""Where an expression stands: names, facts, the report, and the way back to the checker for its parts.

In: the checker builds one `Place` for each scope and each set of facts. Out: the functions that type one form each take
a node and its place, so that none of them knows of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from ucl.diagnostics import Diagnostic, Report, Span
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.check.expressions import fitting
from ucl.semantics.check.expressions.facts import Facts, Memo, outlook
from ucl.semantics.check.scope import Scope
from ucl.semantics.types import UNKNOWN, Type
from ucl.syntax import ast

_MOST_SUGGESTIONS = 100

Infer = Callable[[ast.Expr, "Place", Type | None], p.Expr]


@frozen
class Place:
    """`loops` counts the comprehensions around this place."""

    scope: Scope
    report: Report
    facts: Facts
    infer_with: Infer
    loops: int = 0
    memo: Memo = field(default_factory=dict)

    def infer(self, node: ast.Expr, hint: Type | None = None) -> p.Expr:
        """The typed expression; `hint` says what a literal may adapt to, and binds nothing else."""
        return self.infer_with(node, self, hint)

    def check(self, node: ast.Expr, wanted: Type) -> p.Expr:
        """The typed expression, fitted to the wanted type or reported."""
        return fitting.fit(self.infer_with(node, self, wanted), wanted, self.report)

    def knowing(self, facts: Facts) -> Place:
        return self if facts is self.facts else replace(self, facts=facts)

    def after(self, condition: p.Expr, holds: bool) -> Place:
        """Where a condition is known to hold, or not to."""
        found = outlook(condition, self.memo)
        return self.knowing(self.facts | (found.when_true if holds else found.when_false))

    def within(self, scope: Scope) -> Place:
        """Inside a comprehension, whose variable `scope` has."""
        return replace(self, scope=scope, loops=self.loops + 1)

    def present(self, node: ast.Expr, hint: Type | None = None) -> p.Expr:
        """The typed expression where its value has to be there."""
        return fitting.present(self.infer_with(node, self, hint), self.report)

    def absent(self, expr: p.Expr) -> p.Const:
        """Report that a value may be absent where it has to be there."""
        return fitting.absent(expr, self.report)

    def near(self, names: Iterable[str]) -> Iterable[str]:
        """The names to suggest from: none once much has been reported, so that a file of mistakes costs little."""
        return names if len(self.report.diagnostics) < _MOST_SUGGESTIONS else ()

    def refuse(self, found: Diagnostic) -> p.Const:
        """Report a mistake; what it was in has the type Unknown."""
        self.report.add(found)
        return wrong(found.span)


def wrong(span: Span) -> p.Const:
    """Stands for what is already wrong and has been said."""
    return p.Const(UNKNOWN, span, None)
