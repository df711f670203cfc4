"""The values next to a literal: a minute, a day, or 1 away, or one more in the last place that is written.

In: a literal. Out: the literal a step below it and the one above, as far as there are such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from ucl.semantics.operations import MINUTE
from ucl.semantics.types import DAY
from ucl.syntax import ast

_LONGEST_NUMBER = 40


def below_and_above(expr: ast.Expr) -> tuple[ast.Expr | None, ast.Expr | None]:
    """None where there is no such value, or where `expr` is no literal with an order."""
    if isinstance(expr, ast.Negate):
        below, above = below_and_above(expr.operand)
        return (
            None if above is None else replace(expr, operand=above),
            None if below is None else replace(expr, operand=below),
        )
    return _moved(expr, -1), _moved(expr, 1)


def neighbours(expr: ast.Expr) -> Iterator[ast.Expr]:
    """Those of the two that there are."""
    yield from (moved for moved in below_and_above(expr) if moved is not None)


def is_counted(expr: ast.Expr | None) -> bool:
    """Whether nothing lies between a literal and the next one, so that `< 9` says the same as `<= 8`."""
    return isinstance(expr, ast.IntLiteral | ast.DateLiteral | ast.WeekdayLiteral)


def _moved(expr: ast.Expr, by: int) -> ast.Expr | None:
    try:
        match expr:
            case ast.IntLiteral(value=value):
                return replace(expr, value=value + by, text=str(value + by))
            case ast.FloatLiteral(text=text) if len(text) <= _LONGEST_NUMBER:
                return _decimal(expr, text, by)
            case ast.TimeLiteral(value=value):
                moved = value + by * MINUTE
                return replace(expr, value=moved) if 0 <= moved <= DAY else None
            case ast.DateLiteral(value=value):
                return replace(expr, value=value + timedelta(days=by))
            case ast.DateTimeLiteral(local=local):
                return replace(expr, local=local + timedelta(minutes=by))
            case ast.WeekdayLiteral(value=value):
                return replace(expr, value=(value + by) % 7)
            case ast.QuantityLiteral(parts=parts, text=text) if len(text) <= _LONGEST_NUMBER:
                return _quantity(expr, parts, by)
            case _:
                return None
    except OverflowError:  # past the first or the last day that there is
        return None


def _decimal(expr: ast.FloatLiteral, text: str, by: int) -> ast.FloatLiteral:
    """`0.80` is followed by `0.81`, `15%` by `16%`."""
    written = Decimal(text.rstrip("%"))
    moved = written + by * Decimal(1).scaleb(int(written.as_tuple().exponent))
    value = moved / 100 if text.endswith("%") else moved
    return replace(expr, value=float(value), text=f"{moved:f}{'%' if text.endswith('%') else ''}")


def _quantity(expr: ast.QuantityLiteral, parts: Sequence[ast.QuantityPart], by: int) -> ast.QuantityLiteral | None:
    """By one of its smallest unit; hours by a minute, since that is how people mean them."""
    *first, last = parts
    if last.unit == "h" and last.amount.denominator == 1:
        rest = Fraction(1 if by > 0 else 59)
        moved = [*first, _with(last, min(by, 0)), ast.QuantityPart(rest, "min")]
    else:
        moved = [*first, _with(last, by)]
    kept = tuple(part for part in moved if part.amount)
    if not kept or any(part.amount < 0 for part in kept):
        return None
    text = "".join(f"{Decimal(p.amount.numerator) / Decimal(p.amount.denominator):f}{p.unit}" for p in kept)
    return replace(expr, parts=kept, text=text)


def _with(part: ast.QuantityPart, by: int) -> ast.QuantityPart:
    return ast.QuantityPart(part.amount + by, part.unit)
