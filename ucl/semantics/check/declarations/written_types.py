"""Types as written to types as meant.

In: a type expression, the module it stands in, and what it is the type of. Out: a `types.Type`; where it is wrong that
is reported, and the type is Unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import types as t
from ucl.semantics.check.modules import TYPE_WORDS, Alias, Imported, Module, Own
from ucl.semantics.check.scope import Wrong
from ucl.semantics.program import Schema
from ucl.semantics.types import UNKNOWN, Type
from ucl.syntax import ast

_WORDS: dict[str, Type] = {
    "bool": t.BOOL,
    "int": t.INT,
    "float": t.FLOAT,
    "text": t.TEXT,
    "weekday": t.WEEKDAY,
    "date": t.DATE,
    "time": t.TIME,
    "datetime": t.DATETIME,
    "duration": t.DURATION,
}
_ELEMENTS = (t.Text, t.Closed, t.Int, t.Weekday, t.Date, t.Unknown)


def written_type(node: ast.TypeExpr, module: Module, report: Report, lists: bool = False) -> Type:
    """What a type means; `lists` says that a list may stand here, which it may for a memory alone."""
    match node:
        case ast.NamedType(path=path):
            return _named(node, ".".join(path), module, report)
        case ast.ClosedType(values=values):
            return _closed(values, report)
        case ast.OptionalType(inner=inner):
            meant = written_type(inner, module, report, lists)
            if isinstance(meant, t.Optional | t.List):
                report.add(errors.optional_twice(node.span, str(meant)))
                return UNKNOWN
            return t.optional(meant)
        case ast.GenericType():
            return _generic(node, module, report, lists)
        case _:
            assert_never(node)


def _named(node: ast.NamedType, name: str, module: Module, report: Report) -> Type:
    word = _WORDS.get(name)
    if word is not None:
        return word
    if name in TYPE_WORDS:
        report.add(errors.type_needs_element(node.span, name))
        return UNKNOWN
    found = module.find_path(name)
    match found:
        case Schema():
            return t.Record(found)
        case t.Dimension():
            return t.Quantity(found)
        case Wrong():
            pass
        case _ if name in module.taken_twice:
            pass
        case None if module.origin(name) is None and not module.is_wrong(name):
            report.add(errors.unknown_type(node.span, name, _known_types(module)))
        case _:
            report.add(errors.not_a_type(node.span, name))
    return UNKNOWN


def _known_types(module: Module) -> Iterator[str]:
    """All that could have been meant, as it would have to be written here."""
    yield from _WORDS
    for name, entry in module.table.items():
        match entry:
            case Own(ast.Schema() | ast.Dimension()) | Imported(_, ast.Schema() | ast.Dimension()):
                yield name
            case Alias(owner):
                yield from (f"{name}.{d.name.text}" for d in owner.own(ast.Schema, ast.Dimension))


def _closed(values: tuple[ast.TextLiteral, ...], report: Report) -> Type:
    first: dict[str, ast.TextLiteral] = {}
    for value in values:
        if value.value in first:
            report.add(errors.repeated_variant(value.span, value.value, first[value.value].span))
        else:
            first[value.value] = value
    return t.Closed(tuple(first))


def _generic(node: ast.GenericType, module: Module, report: Report, lists: bool) -> Type:
    word = node.constructor.text
    if word not in ("set", "list"):
        report.add(errors.unknown_constructor(node.constructor.span, word))
        return UNKNOWN
    if word == "list" and not lists:
        report.add(errors.bad_list(node.span))
        return UNKNOWN
    element = written_type(node.element, module, report)
    if isinstance(element, t.Unknown):
        return UNKNOWN
    if word == "set":
        if isinstance(element, _ELEMENTS):
            return t.Set(element)
        report.add(errors.bad_element(node.element.span, str(element)))
        return UNKNOWN
    if isinstance(element, t.Record):
        return t.List(element)
    report.add(errors.list_of_no_schema(node.element.span, str(element)))
    return UNKNOWN
