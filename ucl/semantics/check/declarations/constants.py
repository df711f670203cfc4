"""What must be constant: defaults, lets, weights, and the ranges of lets and of `valid`.

In: an expression or a range as written and its scope. Out: it typed, worked out as far as the zone of a
call is not asked; None where it is wrong or varies, which is reported.
"""

from __future__ import annotations

from ucl.diagnostics import Report, Severity
from ucl.frozen import frozen
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check import expressions
from ucl.semantics.check.expressions.constants import first_varying
from ucl.semantics.check.scope import Scope
from ucl.semantics.types import Type
from ucl.syntax import ast


@frozen
class ConstantRange:
    """An open end is None; `element` is the type of what can lie in the range."""

    low: p.Expr | None
    high: p.Expr | None
    inclusive: bool
    element: Type


def check_constant(
    node: ast.Expr, scope: Scope, report: Report, wanted: Type | None, in_let: bool = False
) -> p.Expr | None:
    """A value, of the wanted type where there is one."""
    checked = expressions.check_constant(node, scope, report, wanted, in_let)
    return None if isinstance(checked.type, t.Unknown) else checked


def check_constant_range(
    node: ast.Range, scope: Scope, report: Report, wanted: Type | None = None
) -> ConstantRange | None:
    """A range; `wanted` is what is to lie in it, where that is given."""
    low, high, inclusive, element = expressions.check_range(node, scope, report, wanted=wanted)
    if isinstance(element, t.Unknown):
        return None
    ends = []
    for end in (low, high):
        varying = None if end is None else first_varying(end)
        if varying is not None:
            report.add(errors.not_constant(varying.span))
            return None
        ends.append(None if end is None else expressions.fold(end))
    return ConstantRange(ends[0], ends[1], inclusive, element)


def has_errors_since(report: Report, before: int) -> bool:
    """Whether an error is among what was reported since the report had `before` diagnostics."""
    found = report.diagnostics
    return len(found) > before and any(d.severity is Severity.ERROR for d in found[before:])
