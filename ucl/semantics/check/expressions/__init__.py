"""Expressions as written to expressions as meant: every name resolved, every type known.

In: `ast` nodes, a `Scope` and the facts that hold there. Out: `program` expressions of the wanted type, or diagnostics
in the report and an expression of the type Unknown, which is absorbed wherever it goes: one mistake, one message.

Typing goes from the leaves up, with the wanted type going down as a hint to literals alone (a closed text's value,
`{}`, a unit's dimension), in the manner of Pierce and Turner (“Local Type Inference”, 2000). `facts` follows what
conditions say. Each module types some forms and knows nothing of the others; the table below is where they meet.

    kind == "external" and present(guest) and guest.age / n > 3 ?? …
      └ conditions       └ literals       └ names   └ operators
"""

from __future__ import annotations

from ucl.diagnostics import Report
from ucl.frozen import frozen
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions import (
    calls,
    comprehensions,
    conditions,
    literals,
    names,
    operators,
    ranges,
)
from ucl.semantics.check.expressions.constants import first_varying, fold, is_constant
from ucl.semantics.check.expressions.facts import IMPOSSIBLE, NO_FACTS, FactsAfter, Known, Memo
from ucl.semantics.check.expressions.measure import expanded_size
from ucl.semantics.check.expressions.place import Form, Place, wrong
from ucl.semantics.check.scope import Scope
from ucl.semantics.types import BOOL, Type
from ucl.syntax import ast

__all__ = [
    "IMPOSSIBLE",
    "NO_FACTS",
    "Checked",
    "Known",
    "check_condition",
    "check_constant",
    "check_expression",
    "check_range",
    "expanded_size",
    "fold",
    "is_constant",
    "wrong",
]

_FORMS: dict[type, Form] = {
    ast.IntLiteral: literals.infer_int,
    ast.FloatLiteral: literals.infer_float,
    ast.TextLiteral: literals.infer_text,
    ast.BoolLiteral: literals.infer_bool,
    ast.WeekdayLiteral: literals.infer_weekday,
    ast.TimeLiteral: literals.infer_time,
    ast.DateLiteral: literals.infer_date,
    ast.DateTimeLiteral: literals.infer_datetime,
    ast.QuantityLiteral: literals.infer_quantity,
    ast.SetLiteral: literals.infer_set,
    ast.Name: names.infer_name,
    ast.Attribute: names.infer_attribute,
    ast.Call: calls.infer_call,
    ast.Negate: operators.infer_negate,
    ast.Arithmetic: operators.infer_arithmetic,
    ast.Coalesce: operators.infer_coalesce,
    ast.Compare: operators.infer_compare,
    ast.Range: ranges.infer_range,
    ast.In: ranges.infer_in,
    ast.Not: conditions.infer_not,
    ast.And: conditions.infer_and,
    ast.Or: conditions.infer_or,
    ast.If: conditions.infer_if,
    ast.Comprehension: comprehensions.infer_comprehension,
}


@frozen
class Checked:
    """A condition, and what it lets others know. `before` is what was known without it, `memo` of its parts."""

    expr: p.Expr
    before: Known
    memo: Memo

    @property
    def when_true(self) -> Known:
        """All that is known where the condition holds."""
        return FactsAfter(self.before, self.expr, True, self.memo)

    @property
    def when_false(self) -> Known:
        """All that is known where it does not."""
        return FactsAfter(self.before, self.expr, False, self.memo)


def check_expression(
    expr: ast.Expr, scope: Scope, report: Report, facts: Known = NO_FACTS, wanted: Type | None = None
) -> p.Expr:
    """The typed expression; of the type `wanted`, where that is given. What is wrong has the type Unknown.

    Closed text adapts, an int widens to a float, `{}` takes the wanted set's type; a `T` is taken for a `T?` as it is.
    """
    place = Place(scope, report, facts, _FORMS)
    return place.infer(expr) if wanted is None else place.check(expr, wanted)


def check_condition(expr: ast.Expr, scope: Scope, report: Report, facts: Known = NO_FACTS) -> Checked:
    """A condition with what it lets others know. One that is wrong and tests for presence lets them know everything,
    so that its consequences are not reported."""
    place = Place(scope, report, facts, _FORMS)
    condition = place.check(expr, BOOL)
    if isinstance(condition.type, t.Unknown) and conditions.tests_presence(expr):
        facts = IMPOSSIBLE
    return Checked(condition, facts, place.memo)


def check_constant(
    expr: ast.Expr, scope: Scope, report: Report, wanted: Type | None = None, in_let: bool = False
) -> p.Expr:
    """An expression that must be constant, as in a let or a default, worked out as far as the zone is not asked."""
    found = check_expression(expr, scope, report, NO_FACTS, wanted)
    varying = first_varying(found)
    if varying is not None:
        report.add(errors.not_constant(varying.span, in_let))
        return wrong(expr.span)
    return fold(found)


def check_range(
    range: ast.Range, scope: Scope, report: Report, facts: Known = NO_FACTS, wanted: Type | None = None
) -> tuple[p.Expr | None, p.Expr | None, bool, Type]:
    """The low and the high end (None: open), whether the high one is in, and the type of what lies between.

    For lets, domains and `valid`; literals adapt to `wanted`, and ends of another type are reported. The type is
    Unknown where the range is wrong.
    """
    place = Place(scope, report, facts, _FORMS)
    ends = ranges.ends_of(range, place, wanted)
    if wanted is not None and not isinstance(ends.element, t.Unknown):
        ends = ranges.fitted(ends, wanted, place)
    return ends.low, ends.high, ends.inclusive, ends.element
