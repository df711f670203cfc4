"""Plain tests, as nearly all are: a field of the option, or a local part of one, against constants.

In: a test. Out: a key, equal for tests that say the same whatever rule they stand in, so that what one became is found
again without its parts being lowered; None for tests that aren't plain. Constants that are equal in Python, as 1 and
1.0 are, say the same: tests compare exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from ucl.semantics import program as p
from ucl.semantics.program import Expr

Key = tuple[Hashable, ...]

_OPEN = ()
"""Stands for the end of a range that has none, which an absent constant is not."""


def _subject(expr: Expr) -> Key | None:
    """A field by its path, or a part of one."""
    if isinstance(expr, p.OptionValue):
        return expr.path
    if isinstance(expr, p.Apply) and len(expr.arguments) == 1:
        argument = expr.arguments[0]
        if isinstance(argument, p.OptionValue):
            return (expr.signature.op, argument.path)
    return None


def _range(expr: p.InRange) -> Key | None:
    low, high = expr.low, expr.high
    if not (low is None or isinstance(low, p.Const)) or not (high is None or isinstance(high, p.Const)):
        return None
    subject = _subject(expr.value)
    if subject is None:
        return None
    first, last = _OPEN if low is None else low.value, _OPEN if high is None else high.value
    return (subject, first, last, expr.inclusive, expr.wraps)


def _against(what: str, subject: Expr, constant: Expr) -> Key | None:
    if not isinstance(constant, p.Const):
        return None
    found = _subject(subject)
    return None if found is None else (what, found, constant.value)


def _comparison(expr: p.Compare) -> Key | None:
    return _against(expr.operator, expr.left, expr.right)


def _membership(expr: p.InSet) -> Key | None:
    return _against("in", expr.value, expr.container)


def _builtin(expr: p.Apply) -> Key | None:
    """`overlaps`, `contains` and their like."""
    arguments = expr.arguments
    return _against(expr.signature.op, arguments[0], arguments[1]) if len(arguments) == 2 else None


KEYS: Mapping[type[Expr], Callable[[Any], Key | None]] = {
    p.InRange: _range,
    p.Compare: _comparison,
    p.InSet: _membership,
    p.Apply: _builtin,
}
"""By class, since a program has many tests."""
