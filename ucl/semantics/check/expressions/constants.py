"""Which expressions are constant, and their values.

In: typed expressions. Out: the same ones, with what the compiler can already work out as `Const`. What depends on the
zone of the call stays as it is, and so does what overflows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, assert_never

from ucl.diagnostics import Span
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import Signature
from ucl.semantics.operations import Overflow
from ucl.semantics.parts import children
from ucl.semantics.types import BOOL, Type


def is_constant(expr: p.Expr) -> bool:
    """Whether no option, context or memory takes part, so that it has one value in a call."""
    return first_varying(expr) is None


def first_varying(expr: p.Expr, bound: frozenset[str] = frozenset()) -> p.Expr | None:
    """The first part that is not constant; `bound` are the variables of comprehensions around it."""
    match expr:
        case p.OptionValue() | p.ContextValue() | p.MemoryValue() | p.RuleFact() | p.OutcomeValue():
            return expr
        case p.BatchValue() | p.DefCall():
            return expr
        case p.Variable(name=name):
            return None if name in bound else expr
        case p.Comprehension(variable=variable):
            bound = bound | {variable}
        case _:
            pass
    return next((found for child in children(expr) if (found := first_varying(child, bound)) is not None), None)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def fold(expr: p.Expr) -> p.Expr:
    """The expression with every part worked out that has constant parts only and does not ask for the zone."""
    match expr:
        case p.Apply(signature=signature, arguments=arguments):
            return applied(expr.type, expr.span, signature, tuple(fold(a) for a in arguments))
        case p.Compare() | p.InRange() | p.InSet() | p.Not() | p.Present():
            return _folded_test(expr)
        case p.And(operands=operands):
            return _folded_junction(expr, operands, stop=False)
        case p.Or(operands=operands):
            return _folded_junction(expr, operands, stop=True)
        case p.If(condition=condition, then=then, otherwise=otherwise):
            test = fold(condition)
            if isinstance(test, p.Const):
                return fold(then if test.value else otherwise)
            return p.If(expr.type, expr.span, test, fold(then), fold(otherwise))
        case p.Coalesce(value=value, default=default):
            found = fold(value)
            return found if isinstance(found, p.Const) else replace(expr, value=found, default=fold(default))
        case _:
            return expr


def applied(type: Type, span: Span, signature: Signature, arguments: tuple[p.Expr, ...]) -> p.Expr:
    """The operation, worked out where its arguments are constant and it has a value."""
    if signature.zoned:
        return p.Apply(type, span, signature, arguments)
    values = []
    for argument in arguments:
        if not isinstance(argument, p.Const) or isinstance(argument.type, t.Unknown):
            return p.Apply(type, span, signature, arguments)
        values.append(argument.value)
    try:
        value = signature.run(*values)
    except Overflow:
        return p.Apply(type, span, signature, arguments)
    if value is None:
        return p.Apply(type, span, signature, arguments)
    return p.Const(t.present(type), span, value)


def _folded_test(expr: p.Compare | p.InRange | p.InSet | p.Not | p.Present) -> p.Expr:
    match expr:
        case p.Compare(operator=comparison, left=left, right=right):
            x, y = fold(left), fold(right)
            if isinstance(x, p.Const) and isinstance(y, p.Const):
                return p.Const(BOOL, expr.span, COMPARISONS[comparison](x.value, y.value))
            return replace(expr, left=x, right=y)
        case p.InRange():
            return _folded_range(expr)
        case p.InSet(value=value, container=container):
            x, y = fold(value), fold(container)
            if isinstance(x, p.Const) and isinstance(y, p.Const) and isinstance(y.value, frozenset):
                return p.Const(BOOL, expr.span, x.value in y.value)
            return replace(expr, value=x, container=y)
        case p.Not(operand=operand):
            x = fold(operand)
            return p.Const(BOOL, expr.span, not x.value) if isinstance(x, p.Const) else replace(expr, operand=x)
        case p.Present(value=value):
            x = fold(value)
            return p.Const(BOOL, expr.span, True) if isinstance(x, p.Const) else replace(expr, value=x)
        case _:
            assert_never(expr)


def _folded_range(expr: p.InRange) -> p.Expr:
    value = fold(expr.value)
    low = None if expr.low is None else fold(expr.low)
    high = None if expr.high is None else fold(expr.high)
    known = [part for part in (value, low, high) if part is None or isinstance(part, p.Const)]
    if len(known) < 3:
        return replace(expr, value=value, low=low, high=high)
    x, a, b = (None if part is None else part.value for part in known)
    return p.Const(BOOL, expr.span, in_range(x, a, b, expr.inclusive, expr.wraps))


def in_range(value: Any, low: Any, high: Any, inclusive: bool, wraps: bool) -> bool:
    """Whether a value lies in a range of values of its type; an open end is None."""
    above = low is None or value >= low
    below = high is None or (value <= high if inclusive else value < high)
    if wraps and low is not None and high is not None and low > high:
        return above or below
    return above and below


def _folded_junction(expr: p.And | p.Or, operands: Sequence[p.Expr], stop: bool) -> p.Expr:
    """Up to the first constant that decides; constants that decide nothing are left out."""
    kept: list[p.Expr] = []
    for operand in operands:
        part = fold(operand)
        if not isinstance(part, p.Const):
            kept.append(part)
        elif part.value is stop:
            if not kept:
                return p.Const(BOOL, expr.span, stop)
            kept.append(part)
            break
    if not kept:
        return p.Const(BOOL, expr.span, not stop)
    return kept[0] if len(kept) == 1 else replace(expr, operands=tuple(kept))
