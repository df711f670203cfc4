"""Literals to constants.

In: literal nodes and, as a hint, the type wanted where they stand. Out: `Const`, or `LocalInstant` for a datetime whose
zone only a call knows. A text becomes closed text where one is wanted; a unit that two dimensions have is settled so.
What the parser has reported as no literal is Unknown, since its value is a guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from ucl.diagnostics import Diagnostic
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions.constants import fold
from ucl.semantics.check.expressions.fitting import instead_of, is_subtype, joined
from ucl.semantics.check.expressions.place import Place, wrong
from ucl.semantics.types import BOOL, DATE, DATETIME, DURATION, FLOAT, INT, TEXT, TIME, WEEKDAY, Type
from ucl.syntax import ast
from ucl.syntax.foreign_errors import clock_time

INT_LEAST, INT_MOST = -(2**63), 2**63 - 1
_EPOCH = datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = timedelta(microseconds=1)
_TEXT_ALONE, _INT_ALONE = {ast.TextLiteral}, {ast.IntLiteral}
_TEXTS, _INTS = t.Set(TEXT), t.Set(INT)
_SET_ELEMENTS = "a text, an int, a weekday or a date"


def infer_int(node: ast.IntLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    if not INT_LEAST <= node.value <= INT_MOST:
        return place.refuse(errors.int_out_of_range(node.span))
    return p.Const(INT, node.span, node.value)


def infer_float(node: ast.FloatLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    if math.isinf(node.value):
        return place.refuse(errors.constant_out_of_range(node.span))
    return p.Const(FLOAT, node.span, node.value)


def infer_text(node: ast.TextLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    wanted = None if hint is None else t.present(hint)
    if isinstance(wanted, t.Closed):
        if node.value not in wanted.values:
            return place.refuse(errors.unknown_variant(node.span, node.value, wanted, place.near(wanted.values)))
        return p.Const(wanted, node.span, node.value)
    return p.Const(TEXT, node.span, node.value)


def infer_bool(node: ast.BoolLiteral, place: Place, hint: Type | None) -> p.Expr:
    return p.Const(BOOL, node.span, node.value)


def infer_weekday(node: ast.WeekdayLiteral, place: Place, hint: Type | None) -> p.Expr:
    return p.Const(WEEKDAY, node.span, node.value)


def infer_time(node: ast.TimeLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    return p.Const(TIME, node.span, node.value)


def infer_date(node: ast.DateLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    return p.Const(DATE, node.span, node.value.toordinal() - _EPOCH_DAY)


def infer_datetime(node: ast.DateTimeLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    local = (node.local - _EPOCH) // _MICROSECOND
    if node.offset is None:
        return p.LocalInstant(DATETIME, node.span, local)
    return p.Const(DATETIME, node.span, local - node.offset // _MICROSECOND)


# --- quantities -----------------------------------------------------------------------------------------------------


def infer_quantity(node: ast.QuantityLiteral, place: Place, hint: Type | None) -> p.Expr:
    if node.mistaken:
        return wrong(node.span)
    meanings = []
    for part in node.parts:
        found = place.scope.units.get(part.unit, ())
        if not found:
            if part.unit in place.scope.units or place.scope.units_missing:
                return wrong(node.span)
            return place.refuse(_no_unit(node, part.unit, place, hint))
        meanings.append(found)
    dimension = _shared_dimension(node, meanings, place, hint)
    if isinstance(dimension, t.Unknown):
        return wrong(node.span)
    amount = Fraction(0)
    for part, found in zip(node.parts, meanings, strict=True):
        amount += part.amount * next(unit.factor for owner, unit in found if owner == dimension)
    return _duration(node, amount, place) if dimension is None else _quantity(node, amount, dimension, place)


def _no_unit(node: ast.QuantityLiteral, unit: str, place: Place, hint: Type | None) -> Diagnostic:
    if unit in ("m", "M") and hint is not None and isinstance(t.present(hint), t.Duration):
        return errors.metres_for_minutes(node.span)
    time = clock_time(str(node.parts[0].amount), unit)
    if time is not None:
        return errors.half_of_day(node.span, time)
    return errors.unknown_unit(node.span, unit, place.near(place.scope.units))


def _shared_dimension(
    node: ast.QuantityLiteral,
    meanings: Sequence[tuple[tuple[t.Dimension | None, t.Unit], ...]],
    place: Place,
    hint: Type | None,
) -> t.Dimension | t.Unknown | None:
    """The dimension of all parts (None for durations); Unknown where there is none, or more than one, which is said."""
    shared = [owner for owner, _ in meanings[0]]
    for found in meanings[1:]:
        owners = [owner for owner, _ in found]
        still = [owner for owner in shared if owner in owners]
        if not still:
            place.report.add(errors.mixed_dimensions(node.span, _dimension_name(shared[0]), _dimension_name(owners[0])))
            return t.UNKNOWN
        shared = still
    if len(shared) > 1 and hint is not None:
        wanted = t.present(hint)
        for owner in shared:
            if (owner is None and wanted == DURATION) or (isinstance(wanted, t.Quantity) and wanted.dimension == owner):
                return owner
    if len(shared) > 1:
        names = [_dimension_name(owner) for owner in shared]
        place.report.add(errors.ambiguous_unit(node.span, node.parts[0].unit, names))
        return t.UNKNOWN
    return shared[0]


def _dimension_name(dimension: t.Dimension | None) -> str:
    return "duration" if dimension is None else dimension.name


def _duration(node: ast.QuantityLiteral, microseconds: Fraction, place: Place) -> p.Expr:
    if microseconds.denominator != 1:
        return place.refuse(errors.not_whole_microseconds(node.span))
    if not INT_LEAST <= microseconds <= INT_MOST:
        return place.refuse(errors.constant_out_of_range(node.span))
    return p.Const(DURATION, node.span, int(microseconds))


def _quantity(node: ast.QuantityLiteral, amount: Fraction, dimension: t.Dimension, place: Place) -> p.Expr:
    try:
        value = float(amount)
    except OverflowError:
        return place.refuse(errors.constant_out_of_range(node.span))
    return p.Const(t.Quantity(dimension), node.span, value)


# --- sets -----------------------------------------------------------------------------------------------------------


def infer_set(node: ast.SetLiteral, place: Place, hint: Type | None) -> p.Expr:
    wanted = None if hint is None else t.present(hint)
    element = wanted.element if isinstance(wanted, t.Set) else None
    if not node.elements:
        return p.Const(t.Set(element), node.span, frozenset())
    constants = _plain_elements(node, element)
    if constants is not None:
        return constants
    return _set_of(node, [place.infer(e, element) for e in node.elements], place, element)


def _plain_elements(node: ast.SetLiteral, element: Type | None) -> p.Const | None:
    """The short way for texts alone and ints alone, however long the list."""
    kinds = set(map(type, node.elements))
    if kinds == _TEXT_ALONE:
        written = [e for e in node.elements if isinstance(e, ast.TextLiteral) and not e.mistaken]
        texts = frozenset([e.value for e in written])
        if len(written) < len(node.elements):
            return None
        if isinstance(element, t.Closed):
            return p.Const(t.Set(element), node.span, texts) if texts.issubset(element.values) else None
        return p.Const(_TEXTS, node.span, texts)
    if kinds == _INT_ALONE and not isinstance(element, t.Closed):
        numbers = [e.value for e in node.elements if isinstance(e, ast.IntLiteral) and not e.mistaken]
        if len(numbers) == len(node.elements) and min(numbers) >= INT_LEAST and max(numbers) <= INT_MOST:
            return p.Const(_INTS, node.span, frozenset(numbers))
    return None


def _set_of(node: ast.SetLiteral, elements: Sequence[p.Expr], place: Place, wanted: Type | None) -> p.Expr:
    values: set[int | str] = set()
    type: Type = t.UNKNOWN
    for element in elements:
        if isinstance(element.type, t.Unknown):
            return wrong(node.span)
        if not isinstance(element.type, t.Text | t.Closed | t.Int | t.Weekday | t.Date):
            return place.refuse(
                errors.wrong_kind(element.span, element.type, _SET_ELEMENTS, "join comparisons by `or`")
            )
        together = joined(type, element.type)
        if together is None:
            return place.refuse(errors.mismatch(element.span, element.type, type, instead_of(element, type)))
        type = together
        constant = fold(element)
        if not isinstance(constant, p.Const) or not isinstance(constant.value, int | str):
            return place.refuse(errors.element_not_constant(element.span))
        values.add(constant.value)
    if wanted is not None and is_subtype(type, wanted):
        type = wanted
    return p.Const(t.Set(type), node.span, frozenset(values))  # type: ignore[arg-type]
