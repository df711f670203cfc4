"""Comprehensions over the memory's lists and over sets: `count(t in trips where t.cost > 3)`.

In: `Comprehension` nodes and their place. Out: `Comprehension`, typed by its kind. What `where` says is known in the
value and in the keys; nothing that is known of the variable leaves the parentheses.
"""

from __future__ import annotations

from collections.abc import Callable

from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import SPECIAL_FORMS
from ucl.semantics.check.expressions.calls import MOST_LOOPS
from ucl.semantics.check.expressions.constants import fold
from ucl.semantics.check.expressions.operators import ORDERED
from ucl.semantics.check.expressions.place import Place, wrong
from ucl.semantics.types import BOOL, FLOAT, INT, Type
from ucl.syntax import ast

_NUMERIC = (t.Int, t.Float, t.Quantity, t.Duration)
_ELEMENTS = (t.Text, t.Closed, t.Int, t.Weekday, t.Date)
_ANY = (*_ELEMENTS, t.Bool, t.Record, *ORDERED)

# Of each kind with a value: the types that the value may have, in words, and the type of the whole.
_Rule = tuple[tuple[type, ...], str, Callable[[Type], Type]]
_NUMBER, _ORDER = "a number, a quantity or a duration", "a number, a quantity, a date or a time"
_ELEMENT = "a text, an int, a weekday or a date"
_KINDS: dict[str, _Rule] = {
    "sum": (_NUMERIC, _NUMBER, lambda type: type),
    "mean": (_NUMERIC, _NUMBER, lambda type: t.optional(FLOAT if isinstance(type, t.Int) else type)),
    "min": (ORDERED, _ORDER, t.optional),
    "max": (ORDERED, _ORDER, t.optional),
    "first": (_ANY, "a single value", t.optional),
    "last": (_ANY, "a single value", t.optional),
    "mode": (_ELEMENTS, _ELEMENT, t.optional),
    "distinct": (_ELEMENTS, _ELEMENT, t.Set),
    "frequent": (_ELEMENTS, _ELEMENT, t.Set),
}
_TESTS: dict[str, Type] = {"count": INT, "any": BOOL, "all": BOOL}


def infer_comprehension(node: ast.Comprehension, place: Place, hint: Type | None) -> p.Expr:
    kind = node.kind.text
    if not _is_well_formed(node):
        form = SPECIAL_FORMS.get(kind)
        usage = form.usage if form is not None else f"{kind}(e for t in list)"
        return place.refuse(errors.wrong_form(node.span, kind, usage))
    if place.loops >= MOST_LOOPS:
        return place.refuse(errors.nested_too_deep(node.span, MOST_LOOPS))
    source = place.present(node.source)
    element = _element_of(source, place)
    inside = _inside(node, element, place)
    if inside is None:
        return wrong(node.span)
    condition = None if node.condition is None else inside.check(node.condition, BOOL)
    if condition is not None:
        inside = inside.after(condition, True)
    value = None if node.value is None else inside.present(node.value)
    keys = tuple(p.SortKey(_key(key, inside), key.descending) for key in node.keys)
    parts = (source, condition, value, *(key.value for key in keys))
    if any(part is not None and isinstance(part.type, t.Unknown) for part in parts) or isinstance(element, t.Unknown):
        return wrong(node.span)
    type = _TESTS.get(kind) if value is None else _type_with_value(kind, value, place)
    share = None if node.share is None else _share(node.share, place)
    if type is None or (node.share is not None and share is None):
        return wrong(node.span)
    return p.Comprehension(type, node.span, kind, node.variable.text, source, value, condition, keys, share)


def _is_well_formed(node: ast.Comprehension) -> bool:
    """Whether the kind takes the parts that are written: a value or none, a share or none."""
    kind = node.kind.text
    if kind in _TESTS:
        return node.value is None and node.share is None
    return kind in _KINDS and node.value is not None and (node.share is not None) == (kind == "frequent")


def _element_of(source: p.Expr, place: Place) -> Type:
    """The type of the variable; Unknown, with a message, where there is nothing to go over."""
    match source.type:
        case t.List(element):
            return element
        case t.Set(element) if element is not None:
            return element
        case t.Unknown() | t.Set():
            return t.UNKNOWN
        case _:
            place.report.add(errors.wrong_kind(source.span, source.type, "a list of the memory or a set"))
            return t.UNKNOWN


def _inside(node: ast.Comprehension, element: Type, place: Place) -> Place | None:
    variable = node.variable.text
    if variable in place.scope.locals:
        place.report.add(errors.shadowed_variable(node.variable.span, variable))
        return None
    return place.within(place.scope.with_local(variable, element))


def _key(key: ast.SortKey, place: Place) -> p.Expr:
    value = place.present(key.value)
    if isinstance(value.type, (t.Unknown, *ORDERED)):
        return value
    return place.refuse(errors.wrong_kind(value.span, value.type, _ORDER))


def _type_with_value(kind: str, value: p.Expr, place: Place) -> Type | None:
    allowed, words, result = _KINDS[kind]
    if isinstance(value.type, allowed):
        return result(value.type)
    place.report.add(errors.wrong_kind(value.span, value.type, words))
    return None


def _share(node: ast.Expr, place: Place) -> float | None:
    """The constant share of `frequent`, 0 to 1."""
    share = fold(place.check(node, FLOAT))
    if isinstance(share.type, t.Unknown):
        return None
    if not isinstance(share, p.Const) or not isinstance(share.value, float):
        place.report.add(errors.not_constant(share.span))
        return None
    if not 0 <= share.value <= 1:
        place.report.add(errors.share_out_of_range(share.span))
        return None
    return share.value
