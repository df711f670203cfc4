"""Membership: `x in 9..18`, `x in quiet`, `x in {"a"}`, `x not in tags`; and ranges as such.

In: `In` and `Range` nodes and their place. Out: `InRange`, `InSet`, or `Ends`. A range whose start lies after its end
wraps for times and weekdays; any other constant one that nothing lies in is an error.
"""

from __future__ import annotations

from ucl.diagnostics import Diagnostic
from ucl.frozen import frozen
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions.fitting import (
    WEEKDAY_NAMES,
    adapted,
    fit,
    instead_of,
    is_subtype,
    joined,
    literal_instead,
    present,
)
from ucl.semantics.check.expressions.names import as_value, find
from ucl.semantics.check.expressions.operators import ORDERED, comparable, exact_float, instead_of_side
from ucl.semantics.check.expressions.place import Place, wrong
from ucl.semantics.check.scope import RangeLet
from ucl.semantics.types import BOOL, DATE, DATETIME, TIME, UNKNOWN, WEEKDAY, Type
from ucl.syntax import ast

_WRAPPING = (t.Time, t.Weekday)
_IN_RANGES = (*ORDERED, t.Weekday)


@frozen
class Ends:
    """A checked range. `element` is the type of what can lie in it, Unknown where the range is wrong."""

    low: p.Expr | None
    high: p.Expr | None
    inclusive: bool
    element: Type


def infer_range(node: ast.Range, place: Place, hint: Type | None) -> p.Expr:
    return place.refuse(errors.range_misplaced(node.span))


def ends_of(node: ast.Range, place: Place, hint: Type | None = None) -> Ends:
    """The ends of a range, of one type; literals adapt to the hint."""
    low = None if node.low is None else place.present(node.low, hint)
    high = None if node.high is None else place.present(node.high, hint if low is None or hint else low.type)
    element: Type = UNKNOWN
    for end in (low, high):
        if end is None:
            continue
        if isinstance(end.type, t.Unknown):
            return _wrong_ends(node)
        together = end.type if element is UNKNOWN else joined(element, end.type)
        if together is None or not isinstance(end.type, _IN_RANGES):
            _refuse_end(end, element, _literals_instead(node, low, high, hint), place)
            return _wrong_ends(node)
        element = together
    if isinstance(element, t.Weekday) and (low is None or high is None or not node.inclusive):
        place.report.add(errors.weekday_range(node.span, _whole_weekdays(low, high)))
        return _wrong_ends(node)
    ends = Ends(low, high, node.inclusive, element)
    return _wrong_ends(node) if _is_empty(ends, node, place) else ends


def fitted(ends: Ends, wanted: Type, place: Place) -> Ends:
    """The range as one of values of `wanted`; an end that is none is reported."""
    low = None if ends.low is None else fit(ends.low, wanted, place.report)
    high = None if ends.high is None else fit(ends.high, wanted, place.report)
    if any(end is not None and isinstance(end.type, t.Unknown) for end in (low, high)):
        return Ends(None, None, ends.inclusive, UNKNOWN)
    return Ends(low, high, ends.inclusive, wanted)


def _wrong_ends(node: ast.Range) -> Ends:
    return Ends(None, None, node.inclusive, UNKNOWN)


def _literals_instead(node: ast.Range, low: p.Expr | None, high: p.Expr | None, wanted: Type | None) -> str | None:
    """`13:00..14:00` for `"13:00".."14:00"`."""
    if wanted is None or not isinstance(wanted, _IN_RANGES):
        return None
    ends = ["" if end is None else literal_instead(end, wanted) for end in (low, high)]
    return None if None in ends else f"write `{ends[0]}..{'=' if node.inclusive else ''}{ends[1]}`"


def _refuse_end(end: p.Expr, element: Type, help: str | None, place: Place) -> None:
    if isinstance(element, t.Unknown):
        kinds = "a number, a quantity, a time or a weekday"
        if help is None and isinstance(end.type, t.Text | t.Closed):
            help = "list the values: `x in {…}`"
        place.report.add(errors.wrong_kind(end.span, end.type, f"the end of a range, {kinds},", help))
    else:
        place.report.add(errors.mismatch(end.span, end.type, element, instead_of(end, element)))


def _whole_weekdays(low: p.Expr | None, high: p.Expr | None) -> str | None:
    return None if low is None or high is None else f"{_weekday(low)}..={_weekday(high)}"


def _weekday(expr: p.Expr) -> str:
    if isinstance(expr, p.Const) and isinstance(expr.value, int):
        return WEEKDAY_NAMES[expr.value]
    return errors.quote(expr.span)


def _is_empty(ends: Ends, node: ast.Range, place: Place) -> bool:
    """Whether it can be seen that nothing lies in a range, which is then reported."""
    low, high = ends.low, ends.high
    if low is None or high is None:
        return False
    differ = isinstance(low, p.Const) and isinstance(high, p.Const) and low.value != high.value
    same = not differ and low == high
    if same and not ends.inclusive:
        inclusive = f"{errors.quote(low.span)}..={errors.quote(high.span)}"
        help = None if ends.element == TIME else f"write `{inclusive}` for that one value"
        place.report.add(errors.empty_range(node.span, True, help))
        return True
    if isinstance(ends.element, _WRAPPING) or same:
        return False
    a, b = _known(low), _known(high)
    if a is None or b is None or isinstance(low, p.Const) is not isinstance(high, p.Const) or a < b:
        return False
    if a == b:  # as numbers, such as 1..1.0
        return not ends.inclusive and _refuse_same(node, place)
    turned = f"{errors.quote(high.span)}..{'=' if ends.inclusive else ''}{errors.quote(low.span)}"
    place.report.add(errors.empty_range(node.span, False, f"did you mean `{turned}`?"))
    return True


def _refuse_same(node: ast.Range, place: Place) -> bool:
    place.report.add(errors.empty_range(node.span, True, None))
    return True


def _known(end: p.Expr) -> int | float | None:
    match end:
        case p.Const(value=(int() | float()) as value):
            return value
        case p.LocalInstant(local=local):
            return local
        case _:
            return None


# --- in -------------------------------------------------------------------------------------------------------------


def infer_in(node: ast.In, place: Place, hint: Type | None) -> p.Expr:
    test = _membership(node, place)
    if node.negated and not isinstance(test.type, t.Unknown):
        return p.Not(BOOL, node.span, test)
    return test


def _membership(node: ast.In, place: Place) -> p.Expr:
    container = node.container
    if isinstance(container, ast.Range):
        value = place.present(node.value)
        return _in_range(node, value, _ends_beside(container, value, place), place)
    if isinstance(container, (ast.Name, ast.Attribute)):
        found = find(container, place)
        if isinstance(found, RangeLet):
            ends = Ends(_here(found.low, node), _here(found.high, node), found.inclusive, found.element)
            return _in_range(node, place.present(node.value), ends, place)
        inside = present(as_value(found, container, place), place.report)
    elif isinstance(container, ast.SetLiteral):
        value = place.present(node.value)
        return _in_set(node, value, place.present(container, t.Set(value.type)), place)
    else:
        inside = place.present(container)
    element = inside.type.element if isinstance(inside.type, t.Set) else None
    return _in_set(node, place.present(node.value, element), inside, place)


def _here(end: p.Expr | None, node: ast.In) -> p.Expr | None:
    """An end of a range let, as it stands where the let is used."""
    return p.Const(end.type, node.container.span, end.value) if isinstance(end, p.Const) else end


def _ends_beside(node: ast.Range, value: p.Expr, place: Place) -> Ends:
    """The ends of a range that a value is tested by; a literal adapts to the value."""
    ends = ends_of(node, place, None if isinstance(value.type, t.Unknown) else value.type)
    low, high = ends.low, ends.high
    dates = isinstance(value.type, t.Date) and isinstance(ends.element, t.Date)
    if dates and not ends.inclusive and low is not None and high is not None:
        inclusive = f"{errors.quote(low.span)}..={errors.quote(high.span)}"
        place.report.add(errors.exclusive_end(node.span, inclusive))
    return ends


def _in_range(node: ast.In, value: p.Expr, ends: Ends, place: Place) -> p.Expr:
    element = ends.element
    if isinstance(value.type, t.Unknown) or isinstance(element, t.Unknown):
        return wrong(node.span)
    if not comparable(value.type, element) or not isinstance(value.type, _IN_RANGES):
        return place.refuse(_outside_kind(node, value, element))
    low, high = ends.low, ends.high
    if isinstance(value.type, t.Float):
        low = None if low is None else exact_float(low)
        high = None if high is None else exact_float(high)
    return p.InRange(BOOL, node.span, value, low, high, ends.inclusive, isinstance(element, _WRAPPING))


def _outside_kind(node: ast.In, value: p.Expr, element: Type) -> Diagnostic:
    help = instead_of(value, element)
    if value.type == DATETIME and element in (TIME, DATE, WEEKDAY):
        part = {TIME: "time", DATE: "date", WEEKDAY: "weekday"}[element]
        word = "not in" if node.negated else "in"
        help = f"write `{errors.quote(value.span)}.{part} {word} {errors.quote(node.container.span)}`"
    container = node.container.span
    return errors.not_comparable(node.span, value.span, value.type, container, element, help)


def _in_set(node: ast.In, value: p.Expr, container: p.Expr, place: Place) -> p.Expr:
    if isinstance(value.type, t.Unknown) or isinstance(container.type, t.Unknown):
        return wrong(node.span)
    if not isinstance(container.type, t.Set):
        return place.refuse(_no_container(node, value, container))
    element = container.type.element
    if element is None:
        container = adapted(container, t.Set(value.type)) or container
    elif not (is_subtype(value.type, element) or is_subtype(element, value.type) or _both_text(value.type, element)):
        help = _set_instead(node, value)
        help = (
            help or instead_of_side("in", value, p.Const(element, container.span, None)) or instead_of(value, element)
        )
        return place.refuse(errors.not_in_set(node.span, value.span, value.type, container.span, element, help))
    return p.InSet(BOOL, node.span, value, container)


def _set_instead(node: ast.In, value: p.Expr) -> str | None:
    """The test with `{sat, sun}` for `{"sat", "sun"}`."""
    if not isinstance(node.container, ast.SetLiteral):
        return None
    elements: list[str] = []
    for element in node.container.elements:
        text = p.Const(t.TEXT, element.span, element.value) if isinstance(element, ast.TextLiteral) else None
        meant = None if text is None else literal_instead(text, value.type)
        if meant is None:
            return None
        elements.append(meant)
    word = "not in" if node.negated else "in"
    return f"write `{errors.quote(value.span)} {word} {{{', '.join(elements)}}}`"


def _both_text(a: Type, b: Type) -> bool:
    return isinstance(a, t.Text | t.Closed) and isinstance(b, t.Text | t.Closed)


def _no_container(node: ast.In, value: p.Expr, container: p.Expr) -> Diagnostic:
    x, y = errors.quote(value.span), errors.quote(container.span)
    help = None
    if isinstance(container.type, t.Text) and isinstance(value.type, t.Text):
        help = f"write `contains({y}, {x})`"
    elif isinstance(container.type, t.List):
        help = f"write `any(e in {y} where …)`"
    elif comparable(value.type, container.type):
        help = f"write `{x} {'!=' if node.negated else '=='} {y}`"
    return errors.wrong_kind(container.span, container.type, "a range or a set", help)
