"""Where an expression stands: names, facts, the report, and the way back to the checker for its parts.

In: the checker builds one `Place` for each scope and each set of facts. Out: the functions that type one form each take
a node and its place, so that none of them knows of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from ucl.diagnostics import Diagnostic, Report, Span
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions import fitting
from ucl.semantics.check.expressions.facts import Facts, FactsAfter, Known, Memo
from ucl.semantics.check.scope import Scope
from ucl.semantics.types import UNKNOWN, Type
from ucl.syntax import ast

_MOST_SUGGESTIONS = 100

Form = Callable[[Any, "Place", Type | None], p.Expr]
"""What types one form of expression; the last argument is what a literal may adapt to."""


@frozen
class Place:
    """`forms` has what types each form, `loops` counts the comprehensions around this place."""

    scope: Scope
    report: Report
    known: Known
    forms: Mapping[type, Form]
    loops: int = 0
    memo: Memo = field(default_factory=dict)

    @property
    def facts(self) -> Facts:
        return self.known.facts

    def infer(self, node: ast.Expr, hint: Type | None = None) -> p.Expr:
        """The typed expression; `hint` says what a literal may adapt to, and binds nothing else."""
        return self.forms[type(node)](node, self, hint)

    def check(self, node: ast.Expr, wanted: Type) -> p.Expr:
        """The typed expression, fitted to the wanted type or reported."""
        found = self.forms[type(node)](node, self, wanted)
        return found if found.type is wanted else fitting.fit(found, wanted, self.report)

    def knowing(self, known: Known) -> Place:
        return Place(self.scope, self.report, known, self.forms, self.loops, self.memo)

    def after(self, condition: p.Expr, holds: bool) -> Place:
        """Where a condition is known to hold, or not to."""
        return self.knowing(FactsAfter(self.known, condition, holds, self.memo))

    def within(self, scope: Scope) -> Place:
        """Inside a comprehension, whose variable `scope` has."""
        return Place(scope, self.report, self.known, self.forms, self.loops + 1, self.memo)

    def present(self, node: ast.Expr, hint: Type | None = None) -> p.Expr:
        """The typed expression where its value has to be there."""
        found = self.forms[type(node)](node, self, hint)
        return fitting.absent(found, self.report) if isinstance(found.type, t.Optional) else found

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


def is_wrong(*parts: p.Expr) -> bool:
    """Whether one of them is already wrong."""
    return t.Unknown in [type(part.type) for part in parts]


def wrong(span: Span) -> p.Const:
    """Stands for what is already wrong and has been said."""
    return p.Const(UNKNOWN, span, None)
