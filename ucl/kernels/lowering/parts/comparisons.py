"""Comparisons and membership as masks: cuts of numbers, look-ups of texts, hits in sets.

In: forms. Out: `Truth`s. Constants are folded to the column's own kind first, exactly: an int column is at least 2.5
where it is at least 3; a constant outside the kind decides the test. A range is then two cuts, a value two neighbouring
ones, and equal cuts are shared by all rules.
"""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from ucl.kernels.lowering.forms import Fixed, Form, Number, SetColumn, TextColumn, Truth, Unlowered
from ucl.kernels.lowering.graph import Graph
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Among,
    AnyElement,
    CountHits,
    Flag,
    HasElement,
    Literal,
    OneOf,
    Operation,
    SameText,
    SetsMeet,
    negated,
)
from ucl.semantics.doubles import least_above, least_from
from ucl.semantics.expressions import in_range
from ucl.semantics.operations import INT_MAX, INT_MIN

Real = int | float


# --- cuts -----------------------------------------------------------------------------------------------------------


def at_least(graph: Graph, number: Number, constant: Real) -> Literal:
    """Where `number >= constant`, exactly."""
    return _cut(graph, number, least_from(constant) if number.floating else math.ceil(constant))


def above(graph: Graph, number: Number, constant: Real) -> Literal:
    """Where `number > constant`, exactly."""
    return _cut(graph, number, least_above(constant) if number.floating else math.floor(constant) + 1)


def _cut(graph: Graph, number: Number, least: Real) -> Literal:
    """Values are finite, so that infinite cuts and cuts beyond 64 bits decide."""
    if number.floating:
        if math.isinf(least):
            return FALSE if least > 0 else TRUE
        return graph.cut(number.value, least + 0.0)  # -0.0 becomes 0.0
    if least > INT_MAX:
        return FALSE
    return TRUE if least <= INT_MIN else graph.cut(number.value, int(least))


def _equal_to(graph: Graph, number: Number, constant: Real) -> Literal:
    return graph.all_of(at_least(graph, number, constant), negated(above(graph, number, constant)))


# --- comparing ------------------------------------------------------------------------------------------------------


def compare(graph: Graph, operator: str, left: Form, right: Form) -> Truth:
    """`== != < <= > >=`."""
    over = graph.any_of(left.over, right.over)
    match operator:
        case "==":
            return Truth(_equal(graph, left, right), over=over)
        case "!=":
            return Truth(negated(_equal(graph, left, right)), over=over)
        case "<":
            return Truth(_less(graph, left, right), over=over)
        case "<=":
            return Truth(negated(_less(graph, right, left)), over=over)
        case ">":
            return Truth(_less(graph, right, left), over=over)
        case ">=":
            return Truth(negated(_less(graph, left, right)), over=over)
        case _:
            raise AssertionError(operator)


def _less(graph: Graph, left: Form, right: Form) -> Literal:
    match left, right:
        case Fixed(a), Fixed(b):
            return TRUE if a is not None and b is not None and a < b else FALSE
        case Number(), Fixed(b):
            return FALSE if b is None else negated(at_least(graph, left, b))
        case Fixed(a), Number():
            return FALSE if a is None else above(graph, right, a)
        case Number(), Number() if left.floating == right.floating:
            return graph.test(Flag(graph.value(Operation("less", (left.value, right.value))), "holds"))
        case Number(), Number():
            order = _order(graph, left, right)
            # `order` compares the int with the double.
            return above(graph, order, 0) if left.floating else negated(at_least(graph, order, 0))
        case _:
            raise Unlowered


def _equal(graph: Graph, left: Form, right: Form) -> Literal:
    match left, right:
        case Fixed(a), Fixed(b):
            return TRUE if a == b else FALSE
        case (Fixed(None), _) | (_, Fixed(None)):
            return FALSE
        case (Number() as number, Fixed(constant)) | (Fixed(constant), Number() as number):
            return _equal_to(graph, number, constant)
        case Number(), Number() if left.floating == right.floating:
            operands = (min(left.value, right.value), max(left.value, right.value))
            return graph.test(Flag(graph.value(Operation("equal", operands)), "holds"))
        case Number(), Number():
            return _equal_to(graph, _order(graph, left, right), 0)
        case (Truth(holds), Fixed(constant)) | (Fixed(constant), Truth(holds)):
            return holds if constant else negated(holds)
        case Truth(a), Truth(b):
            return graph.choose(a, b, negated(b))
        case (TextColumn(path), Fixed(constant)) | (Fixed(constant), TextColumn(path)):
            return graph.test(Among(path, OneOf(frozenset({constant}))))
        case TextColumn(a), TextColumn(b):
            first, second = sorted((a, b))
            return TRUE if a == b else graph.test(Flag(graph.value(SameText(first, second)), "holds"))
        case _:
            raise Unlowered


def _order(graph: Graph, left: Number, right: Number) -> Number:
    integer, double = (right, left) if left.floating else (left, right)
    return Number(graph.value(Operation("order", (integer.value, double.value))), floating=False)


# --- ranges ---------------------------------------------------------------------------------------------------------


def within(graph: Graph, value: Form, low: Form | None, high: Form | None, inclusive: bool, wraps: bool) -> Truth:
    """As `program.InRange` says; an open end is None."""
    if isinstance(value, Number) and value.over == FALSE and _is_known(low) and _is_known(high):
        first, last = None if low is None else low.value, None if high is None else high.value
        return Truth(between(graph, value, first, last, inclusive, wraps))
    over = graph.any_of(value.over, FALSE if low is None else low.over, FALSE if high is None else high.over)
    if isinstance(value, Fixed) and not isinstance(low or value, Number) and not isinstance(high or value, Number):
        return Truth(_fixed_within(value, low, high, inclusive, wraps), over=over)
    after_low = TRUE if low is None else negated(_less(graph, value, low))
    before_high = TRUE
    if high is not None:
        before_high = negated(_less(graph, high, value)) if inclusive else _less(graph, value, high)
    turned = FALSE if low is None or high is None or not wraps else _less(graph, high, low)
    inside = graph.all_of(after_low, before_high)
    if turned != FALSE:
        inside = graph.choose(turned, graph.any_of(after_low, before_high), inside)
    return Truth(inside, over=over)


def _is_known(end: Form | None) -> TypeGuard[Fixed | None]:
    return end is None or (isinstance(end, Fixed) and end.value is not None and end.over == FALSE)


def between(graph: Graph, number: Number, first: Any, last: Any, inclusive: bool, wraps: bool) -> Literal:
    """A range whose ends are numbers, or None where they are open, as nearly all are: two cuts."""
    after_low = TRUE if first is None else at_least(graph, number, first)
    before_high = TRUE
    if last is not None:
        before_high = negated(above(graph, number, last) if inclusive else at_least(graph, number, last))
    if wraps and first is not None and last is not None and last < first:
        return graph.any_of(after_low, before_high)
    return graph.all_of(after_low, before_high)


def _fixed_within(value: Form, low: Form | None, high: Form | None, inclusive: bool, wraps: bool) -> Literal:
    values: list[Any] = [part.value if isinstance(part, Fixed) else None for part in (value, low, high)]
    if any(part is not None and part.value is None for part in (value, low, high) if isinstance(part, Fixed)):
        return FALSE  # absent here, so guarded and never looked at
    return TRUE if in_range(values[0], values[1], values[2], inclusive, wraps) else FALSE


# --- sets -----------------------------------------------------------------------------------------------------------


def member(graph: Graph, value: Form, container: Form) -> Truth:
    """`value in container`."""
    over = graph.any_of(value.over, container.over)
    match value, container:
        case TextColumn(path), Fixed(values):
            holds = graph.test(Among(path, OneOf(values))) if values else FALSE
        case (Fixed(None), _) | (_, Fixed(None)):
            holds = FALSE
        case Fixed(a), Fixed(values):
            holds = TRUE if a in values else FALSE
        case Number(), Fixed(values):
            holds = _in_values(graph, value, values)
        case Fixed(a), SetColumn(path):
            holds = graph.test(AnyElement(path, OneOf(frozenset({a}))))
        case TextColumn(element), SetColumn(path):
            holds = graph.test(Flag(graph.value(HasElement(path, element)), "holds"))
        case Number(element), SetColumn(path):
            holds = graph.test(Flag(graph.value(HasElement(path, element)), "holds"))
        case _:
            raise Unlowered
    return Truth(holds, over=over)


def _in_values(graph: Graph, number: Number, values: frozenset[Any]) -> Literal:
    """Runs of neighbouring ints are ranges."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and runs[-1][1] + 1 == value:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    if len(runs) > _MOST_RUNS:
        raise Unlowered
    return graph.any_of(*(graph.all_of(at_least(graph, number, a), negated(above(graph, number, b))) for a, b in runs))


# Beyond so many cuts a table of the values is cheaper.
_MOST_RUNS = 64


def overlap(graph: Graph, left: Form, right: Form) -> Literal:
    match left, right:
        case (SetColumn(path), Fixed(values)) | (Fixed(values), SetColumn(path)):
            return graph.test(AnyElement(path, OneOf(values))) if values else FALSE
        case (Fixed(None), _) | (_, Fixed(None)):
            return FALSE
        case SetColumn(a), SetColumn(b):
            first, second = sorted((a, b))
            return graph.test(Flag(graph.value(SetsMeet("overlaps", first, second)), "holds"))
        case _:
            raise Unlowered


def contained(graph: Graph, left: Form, right: Form) -> Literal:
    """`subset(left, right)`."""
    match left, right:
        case (Fixed(None), _) | (_, Fixed(None)):
            return FALSE
        case SetColumn(path), Fixed(values):
            return negated(graph.test(AnyElement(path, OneOf(values, inverted=True))))
        case Fixed(values), SetColumn(path):
            hits = Number(graph.value(CountHits(path, OneOf(values))), floating=False)
            return at_least(graph, hits, len(values))
        case SetColumn(a), SetColumn(b):
            return graph.test(Flag(graph.value(SetsMeet("subset", a, b)), "holds"))
        case _:
            raise Unlowered
