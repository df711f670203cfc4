"""From what was written to the JSON form.

In: declarations as parsed. Out: JSON that `ucl_of` turns into the same text; or None, where a declaration is of another
kind than the form has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ucl.syntax import ast
from ucl.syntax.layout.expressions import literal_text

_Json = dict[str, Any]


def form_of(declarations: Iterable[ast.Declaration]) -> _Json | None:
    try:
        return {"declarations": [_declaration(declaration) for declaration in declarations]}
    except _NotInFormError:
        return None


class _NotInFormError(Exception):
    """Stops the writing; never leaves this module."""


def _declaration(node: ast.Declaration) -> _Json:
    match node:
        case ast.Rule():
            exceptions = [{"when": _expression(e.condition), "score": _expression(e.score)} for e in node.exceptions]
            acting = {"when": _maybe(node.when), "unless": _each(node.unless), "score": _maybe(node.score)}
            return {"rule": node.name.text, **_head(node), **acting, "except": exceptions, **_meta(node.meta)}
        case ast.Constraint():
            forbidden = {"forbid": _maybe(node.forbid), "require": _maybe(node.require)}
            limiting = {**forbidden, "when": _maybe(node.when), "unless": _each(node.unless)}
            return {"constraint": node.name.text, **_head(node), **limiting, **_meta(node.meta)}
        case ast.Property():
            promise = {"given": _maybe(node.given), "expect": _each(node.expect)}
            return {"property": node.name.text, "on": node.schema.text, **promise, **_meta(node.meta)}
        case _:
            raise _NotInFormError


def _head(node: ast.Rule | ast.Constraint) -> _Json:
    return {"on": node.schema.text, "overrides": [name.text for name in node.overrides]}


def _meta(meta: ast.Meta) -> _Json:
    return {
        "because": None if meta.because is None else meta.because.value,
        "from": [
            {"kind": s.kind.text, "id": s.id.value, "at": None if s.at is None else literal_text(s.at)}
            for s in meta.sources
        ],
        "confidence": _number(meta.confidence),
        "priority": _number(meta.priority),
        "valid": None if meta.valid is None else _within(meta.valid),
        "status": None if meta.status is None else meta.status.text,
    }


def _number(node: ast.Expr | None) -> int | float | _Json | None:
    """A number as it is, since most are."""
    match node:
        case ast.IntLiteral(value=value) | ast.FloatLiteral(value=value):
            return value
        case _:
            return _maybe(node)


def _within(node: ast.Expr) -> _Json:
    """A range, or what stands for one."""
    if not isinstance(node, ast.Range):
        return _expression(node)
    return {"from": _maybe(node.low), "to": _maybe(node.high), "inclusive": node.inclusive}


# --- expressions ----------------------------------------------------------------------------------------------------


def _maybe(node: ast.Expr | None) -> _Json | None:
    return None if node is None else _expression(node)


def _each(nodes: Iterable[ast.Expr]) -> list[_Json]:
    return [_expression(node) for node in nodes]


def _expression(node: ast.Expr) -> _Json:
    for kinds, write in _LEAVES:
        if isinstance(node, kinds):
            return write(node)
    match node:
        case ast.Name() | ast.Attribute() if (path := _path(node)) is not None:
            return {"name": path}
        case ast.Attribute(value=value, name=name):
            return {"part": name, "of": _expression(value)}
        case ast.And(operands=operands):
            return {"and": _each(operands)}
        case ast.Or(operands=operands):
            return {"or": _each(operands)}
        case ast.Not(operand=operand):
            return {"not": _expression(operand)}
        case ast.Negate(operand=operand):
            return {"negate": _expression(operand)}
        case ast.Compare(operator=sign, left=left, right=right):
            return {"compare": sign, "left": _expression(left), "right": _expression(right)}
        case ast.Arithmetic(operator=sign, left=left, right=right):
            return {"arithmetic": sign, "left": _expression(left), "right": _expression(right)}
        case ast.In(value=value, container=container, negated=negated):
            return {"test": _expression(value), "in": _within(container), "negated": negated}
        case ast.Coalesce(value=value, default=default):
            return {"value": _expression(value), "default": _expression(default)}
        case ast.If(condition=condition, then=then, otherwise=otherwise):
            return {"if": _expression(condition), "then": _expression(then), "else": _expression(otherwise)}
        case ast.Call(function=function, arguments=arguments) if (path := _path(function)) is not None:
            return {"call": path, "arguments": _each(arguments)}
        case ast.SetLiteral(elements=elements):
            return {"set": _each(elements)}
        case ast.Comprehension(kind=kind, variable=variable):
            keys = [{"key": _expression(key.value), "descending": key.descending} for key in node.keys]
            source = {"variable": variable.text, "source": _expression(node.source), "where": _maybe(node.condition)}
            return {"gather": kind.text, "each": _maybe(node.value), **source, "by": keys, "share": _maybe(node.share)}
        case _:
            raise _NotInFormError


def _path(node: ast.Expr) -> str | None:
    """`start.time`; None where it is no path of names."""
    match node:
        case ast.Name(text=text):
            return text
        case ast.Attribute(value=value, name=name):
            owner = _path(value)
            return None if owner is None else f"{owner}.{name}"
        case _:
            return None


def _literal(node: Any) -> _Json:
    return {"literal": literal_text(node)}


def _float(node: ast.FloatLiteral) -> _Json:
    """As a number where that is written the same way."""
    return {"number": node.value} if repr(node.value) == node.text else {"literal": node.text}


_LEAVES: tuple[tuple[tuple[type, ...], Callable[[Any], _Json]], ...] = (
    ((ast.IntLiteral,), lambda node: {"number": node.value}),
    ((ast.FloatLiteral,), _float),
    ((ast.TextLiteral,), lambda node: {"text": node.value}),
    ((ast.BoolLiteral,), lambda node: {"bool": node.value}),
    ((ast.TimeLiteral, ast.DateLiteral, ast.DateTimeLiteral), _literal),
    ((ast.QuantityLiteral, ast.WeekdayLiteral), _literal),
)
