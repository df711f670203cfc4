"""A comprehension's parts: what looks at its items alone, what at the row alone, and how the two meet.

In: expressions inside a comprehension. Out: the same with the comprehension's variable as the option, so that they can
be lowered over its items; and a `where` taken apart into conjuncts of a few kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ucl.frozen import frozen
from ucl.kernels.columns import Path
from ucl.kernels.lowering.forms import Unlowered
from ucl.kernels.lowering.reads import free_variables, reads_option, walk
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.parts import mapped
from ucl.semantics.program import Expr

_TURNED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"!=": "==", "==": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


# --- rewriting ------------------------------------------------------------------------------------------------------


def with_constants(expr: Expr, values: Mapping[str, p.Value]) -> Expr:
    """Variables of these names become constants. Names are never shadowed."""
    if not values:
        return expr
    if isinstance(expr, p.Variable) and expr.name in values:
        return p.Const(expr.type, expr.span, values[expr.name])
    return mapped(expr, lambda inner: with_constants(inner, values))


def of_item(expr: Expr, variable: str, root: Path) -> Expr:
    """The variable becomes the option: `v.host.age` is the option's path `("host", "age")`."""
    match expr:
        case p.Variable(name=name) if name == variable:
            return p.OptionValue(expr.type, expr.span, root)
        case p.Member():
            record = of_item(expr.record, variable, root)
            if isinstance(record, p.OptionValue):
                return p.OptionValue(expr.type, expr.span, (*record.path, expr.name))
            return replace(expr, record=record)
        case _:
            return mapped(expr, lambda inner: of_item(inner, variable, root))


# --- taking apart ---------------------------------------------------------------------------------------------------


@frozen
class Pair:
    """The item's side, as of an option, and the row's side of a comparison; `place` is its conjunct's, from 0."""

    item: Expr
    row: Expr
    place: int


@frozen
class Bound(Pair):
    """The item's side lies below (`upper`) or above the row's, or equals it where `inclusive`."""

    upper: bool
    inclusive: bool


@dataclass
class Parts:
    """`where`, as a conjunction. `gates` look at the row alone, with their places."""

    filters: list[Expr] = field(default_factory=list)
    gates: list[tuple[Expr, int]] = field(default_factory=list)
    equal: list[Pair] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)


def parts_of(condition: Expr | None, variable: str, root: Path) -> Parts:
    """Raises `Unlowered` where a conjunct is of no kind that rows can be looked up by."""
    parts = Parts()
    for place, conjunct in enumerate(_conjuncts(condition)):
        if not _mentions(conjunct, variable):
            parts.gates.append((conjunct, place))
        elif not reads_row(conjunct, variable):
            parts.filters.append(of_item(conjunct, variable, root))
        else:
            _meeting(conjunct, variable, root, place, parts)
    return parts


def _conjuncts(condition: Expr | None) -> Iterator[Expr]:
    match condition:
        case None:
            return
        case p.And(operands=operands):
            for operand in operands:
                yield from _conjuncts(operand)
        case p.Not(operand=p.Or() | p.Not() | p.Compare()):
            yield from _conjuncts(denied(condition.operand))
        case _:
            yield condition


def denied(expr: Expr) -> Expr:
    """Its negation, as a conjunction where it is a disjunction. Both stop at the same operand."""
    match expr:
        case p.Or(operands=operands):
            return p.And(t.BOOL, expr.span, tuple(map(denied, operands)))
        case p.Not(operand=operand):
            return operand
        case p.Compare(operator=operator):
            return replace(expr, operator=_OPPOSITE[operator])
        case _:
            return p.Not(t.BOOL, expr.span, expr)


def _meeting(conjunct: Expr, variable: str, root: Path, place: int, parts: Parts) -> None:
    match conjunct:
        case p.Compare(operator=operator, left=left, right=right) if operator in _TURNED:
            if not _mentions(left, variable):
                left, right, operator = right, left, _TURNED[operator]
            item, row = _sides(left, right, variable, root)
            if operator == "==":
                parts.equal.append(Pair(item, row, place))
            else:
                parts.bounds.append(Bound(item, row, place, operator in ("<", "<="), operator in ("<=", ">=")))
        case p.InRange(value=value, low=low, high=high, inclusive=inclusive) if not (conjunct.wraps and low and high):
            if _mentions(value, variable):
                ends: list[tuple[Expr | None, Expr | None, bool, bool]]
                ends = [(value, low, False, True), (value, high, True, inclusive)]
            else:
                ends = [(low, value, True, True), (high, value, False, inclusive)]
            for at_item, at_row, upper, closed in ends:
                if at_item is not None and at_row is not None:
                    item, row = _sides(at_item, at_row, variable, root)
                    parts.bounds.append(Bound(item, row, place, upper, closed))
        case _:
            raise Unlowered


def _sides(item: Expr, row: Expr, variable: str, root: Path) -> tuple[Expr, Expr]:
    if reads_row(item, variable) or _mentions(row, variable):
        raise Unlowered
    return of_item(item, variable, root), row


def _mentions(expr: Expr, variable: str) -> bool:
    return any(isinstance(e, p.Variable) and e.name == variable for e in walk(expr))


def reads_row(expr: Expr, variable: str) -> bool:
    """Whether it looks at the option, or at names from around the comprehension."""
    return reads_option(expr) or free_variables(expr, frozenset({variable}))
