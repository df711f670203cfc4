"""Whether a value fits where a type is wanted, and what to write instead where it does not.

In: a typed expression and the wanted type. Out: the same expression, widened or adapted, or a diagnostic and Unknown.
Only an int widens (to a float); closed text is text; `{}` is any set.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ucl.diagnostics import Report
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import WIDEN
from ucl.semantics.check.expressions.facts import path_of
from ucl.semantics.types import FLOAT, TEXT, UNKNOWN, Type

WEEKDAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LITERAL_SHAPES: tuple[tuple[type, str], ...] = (
    (t.Date, r"\d{4}-\d\d-\d\d"),
    (t.Time, r"\d\d:\d\d(:\d\d)?"),
    (t.DateTime, r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?"),
    (t.Int, r"-?\d{1,18}"),
    (t.Float, r"-?\d{1,18}(\.\d+)?"),
    (t.Bool, r"true|false"),
)
_PARTS_OF_INSTANT: dict[type, str] = {t.Date: "date", t.Time: "time", t.Weekday: "weekday"}


def fit(expr: p.Expr, wanted: Type, report: Report) -> p.Expr:
    """The expression as a value of `wanted`; where it is none, that is reported and the type is Unknown."""
    actual = expr.type
    if actual is wanted or isinstance(actual, t.Unknown) or isinstance(wanted, t.Unknown):
        return expr
    fitted = adapted(expr, wanted)
    if fitted is not None:
        return fitted
    if isinstance(actual, t.Optional) and adapted(replace(expr, type=actual.inner), wanted) is not None:
        return absent(expr, report)
    report.add(errors.mismatch(expr.span, actual, wanted, instead_of(expr, wanted)))
    return p.Const(UNKNOWN, expr.span, None)


def adapted(expr: p.Expr, wanted: Type) -> p.Expr | None:
    """The expression as a value of `wanted`, or None where it does not fit."""
    actual = expr.type
    if isinstance(wanted, t.Optional):
        wanted = wanted.inner
        actual = t.present(actual)
    if isinstance(actual, t.Int) and isinstance(wanted, t.Float):
        return widened(expr)
    if isinstance(actual, t.Set) and isinstance(wanted, t.Set) and actual.element is None:
        return replace(expr, type=wanted)
    return expr if is_subtype(actual, wanted) else None


def is_subtype(actual: Type, wanted: Type) -> bool:
    """Whether every value of the one is, as it stands, a value of the other."""
    if actual is wanted:
        return True
    match actual, wanted:
        case t.Closed(values), t.Closed(possible):
            return actual == wanted or set(values) <= set(possible)
        case t.Closed(), t.Text():
            return True
        case t.Set(element), t.Set(other):
            return element is None or (other is not None and is_subtype(element, other))
        case _:
            return actual == wanted


def widened(expr: p.Expr) -> p.Expr:
    """An int, or an `int?`, as a float."""
    if isinstance(expr, p.Const) and isinstance(expr.value, int):
        return p.Const(FLOAT, expr.span, float(expr.value))
    type = t.Optional(FLOAT) if isinstance(expr.type, t.Optional) else FLOAT
    return p.Apply(type, expr.span, WIDEN, (expr,))


def unwidened(expr: p.Expr) -> p.Expr:
    return expr.arguments[0] if isinstance(expr, p.Apply) and expr.signature is WIDEN else expr


def joined(a: Type, b: Type) -> Type | None:
    """The type of what is one or the other, or None where there is none."""
    if a is b or a == b or isinstance(b, t.Unknown):
        return a
    if isinstance(a, t.Optional) or isinstance(b, t.Optional):
        inner = joined(t.present(a), t.present(b))
        return None if inner is None else t.optional(inner)
    match a, b:
        case t.Unknown(), _:
            return b
        case ((t.Int() | t.Float()), (t.Int() | t.Float())):
            return FLOAT
        case ((t.Text() | t.Closed()), (t.Text() | t.Closed())):
            return TEXT
        case t.Set(None), t.Set():
            return b
        case t.Set(), t.Set(None):
            return a
        case t.Set(x), t.Set(y) if x is not None and y is not None:
            element = joined(x, y) if isinstance(x, t.Text | t.Closed) else None
            return None if element is None else t.Set(element)
        case _:
            return None


def present(expr: p.Expr, report: Report) -> p.Expr:
    """The expression where its value has to be there; `absent-unhandled` where it may be absent."""
    return absent(expr, report) if isinstance(expr.type, t.Optional) else expr


def absent(expr: p.Expr, report: Report) -> p.Const:
    """Report that a value may be absent here."""
    if isinstance(expr, p.Apply) and expr.signature.partial and len(expr.arguments) == 2:
        divisor = unwidened(expr.arguments[1])
        report.add(errors.divisor_may_be_zero(expr.span, divisor.span, path_of(divisor) is not None))
    else:
        report.add(errors.absent_unhandled(expr.span, path_of(expr) is not None))
    return p.Const(UNKNOWN, expr.span, None)


def instead_of(expr: p.Expr, wanted: Type) -> str | None:
    """What to write for an expression whose type is not the wanted one, as the text of a help."""
    replacement = literal_instead(expr, t.present(wanted)) or value_instead(expr, t.present(wanted))
    return None if replacement is None else f"write `{replacement}`"


def literal_instead(expr: p.Expr, wanted: Type) -> str | None:
    """The literal of the wanted type that a literal was meant to be."""
    if not isinstance(expr, p.Const):
        return None
    written = errors.quote(expr.span)
    if isinstance(expr.value, str) and isinstance(expr.type, t.Text):
        return _unquoted(expr.value, wanted)
    if isinstance(wanted, t.Duration):
        metres = re.fullmatch(r"(-?[\d._]+)m", written)
        if metres is not None and isinstance(expr.type, t.Quantity):
            return f"{metres[1]}min"
        if isinstance(expr.type, t.Int | t.Float) and written.lstrip("-")[:1].isdigit():
            return f"{written}min"
    if isinstance(wanted, t.Quantity) and isinstance(expr.type, t.Int | t.Float) and written.lstrip("-")[:1].isdigit():
        return f"{written}{wanted.dimension.units[0].name}"
    if isinstance(wanted, t.Text) and isinstance(expr.type, t.Int | t.Float | t.Date | t.Time):
        return f'"{written}"'
    slashed = re.fullmatch(r"(\d{4})/(\d{1,2})/(\d{1,2})", written) if isinstance(wanted, t.Date) else None
    return None if slashed is None else f"{slashed[1]}-{slashed[2]:0>2}-{slashed[3]:0>2}"


def _unquoted(value: str, wanted: Type) -> str | None:
    """The literal that a text between quotes was meant to be."""
    if isinstance(wanted, t.Weekday):
        day = value.casefold()[:3]
        return day if day in WEEKDAY_NAMES else None
    for kind, shape in _LITERAL_SHAPES:
        if isinstance(wanted, kind) and re.fullmatch(shape, value):
            return value
    return None


def value_instead(expr: p.Expr, wanted: Type) -> str | None:
    """The part of a value that has the wanted type."""
    written = errors.quote(expr.span)
    match expr.type, wanted:
        case t.DateTime(), (t.Date() | t.Time() | t.Weekday()) if path_of(expr) is not None:
            return f"{written}.{_PARTS_OF_INSTANT[type(wanted)]}"
        case t.Date(), t.Weekday() if path_of(expr) is not None:
            return f"{written}.weekday"
        case t.Float(), t.Int():
            return f"round({written})"
        case t.Duration(), (t.Int() | t.Float()) if path_of(expr) is not None:
            return f"{written}.minutes"
        case t.Quantity(dimension), t.Float() if path_of(expr) is not None:
            return f"{written} / 1{dimension.units[0].name}"
        case _:
            return None
