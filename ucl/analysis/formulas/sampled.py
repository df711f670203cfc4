"""Tests of a text or set that samples answer, and those that read nothing but its size.

In: a test whose one variable is a text or set. Out: whether samples are made to pass and to fail such a test; and for
a test of the size (`length(title) / 2 > 3`, `0.5 - 0.1 * size(attendees) < 0`) tests of that kind which say the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ucl.analysis.formulas.line import Intervals
from ucl.analysis.formulas.terms import COUNT, SPANS
from ucl.semantics import program as p
from ucl.semantics.parts import children, mapped
from ucl.semantics.program import Expr
from ucl.semantics.types import BOOL

# The largest size of which there are samples.
_MOST_COUNTED = 1000
_OF_TEXT = ("contains", "starts_with", "ends_with", "like")


def is_sampled(expr: Expr) -> bool:
    match expr:
        case p.Compare(left=left, right=p.Const(value=value)) | p.Compare(left=p.Const(value=value), right=left):
            return _is_size(left, value) if isinstance(value, int) else _is_text(left)
        case p.InRange(value=value, low=low, high=high):
            ends = [end.value for end in (low, high) if isinstance(end, p.Const)]
            return len(ends) == (low is not None) + (high is not None) and all(_is_size(value, end) for end in ends)
        case p.InSet(value=p.Const(), container=p.Variable()):
            return True
        case p.InSet(value=value, container=p.Const()):
            return _is_text(value)
        case p.Apply(signature=signature, arguments=(of, p.Const())):
            return signature.op in ("overlaps", "subset") or (signature.op in _OF_TEXT and _is_text(of))
        case p.Apply(signature=signature, arguments=(p.Const(), p.Variable())):
            return signature.op in ("overlaps", "subset")
        case _:
            return False


def _is_size(expr: Expr, value: object) -> bool:
    return _counts(expr) and isinstance(value, int) and -1 <= value <= _MOST_COUNTED


def _is_text(expr: Expr) -> bool:
    """A field, perhaps folded."""
    match expr:
        case p.Variable():
            return True
        case p.Apply(signature=signature, arguments=(p.Variable(),)):
            return signature.op in ("lower", "casefold")
        case _:
            return False


# --- sizes ----------------------------------------------------------------------------------------------------------


def of_size(expr: Expr, count: p.Variable) -> Expr:
    """The expression with a variable for the size of its field, wherever it reads that."""
    return count if _counts(expr) else mapped(expr, lambda part: of_size(part, count))


def within_sizes(expr: Expr, sizes: Intervals) -> list[Expr] | None:
    """Tests of which one passes where the size that `expr` reads is one of these; None where there are no samples of
    such sizes."""
    size = next(part for part in _parts(expr) if _counts(part))
    tests: list[Expr] = []
    for low, end in sizes:
        last = None if end == SPANS[COUNT][1] else p.Const(size.type, size.span, end - 1)
        if max(low, low if last is None else end - 1) > _MOST_COUNTED:
            return None
        tests.append(p.InRange(BOOL, size.span, size, p.Const(size.type, size.span, low), last, True, False))
    return tests


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in children(expr):
        yield from _parts(part)


def _counts(expr: Expr) -> bool:
    """Whether it is the size of a field."""
    match expr:
        case p.Apply(signature=signature, arguments=(p.Variable(),)):
            return signature.op in ("length", "size")
        case _:
            return False
