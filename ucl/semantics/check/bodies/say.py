"""What an alert says: a text with typed paths between braces.

In: the text after `say`, such as `"{p.drug} conflicts"`. Out: text and typed expressions in turn. `{{` is a brace, and
so are `}}` and a `}` that closes nothing. Only names joined by dots may stand between braces: a text is no program.
"""

from __future__ import annotations

import re

from ucl.diagnostics import Report, Span
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions import Known, check_expression
from ucl.semantics.check.scope import Scope
from ucl.syntax import ast

_PIECE = re.compile(r"(?P<brace>\{\{|\}\}?)|\{(?P<path>[^{}]*)\}|(?P<open>\{[^}]*)|(?P<text>[^{}]+)")
_PATH = re.compile(r"\s*[^\W\d]\w*(\s*\.\s*[^\W\d]\w*)*\s*")
_MANY_VALUES = (t.Record, t.List, t.Set)


def check_say(node: ast.TextLiteral, scope: Scope, facts: Known, report: Report) -> tuple[str | p.Expr, ...]:
    """Texts are joined, and never empty; a path has a type that can be shown as one text."""
    parts: list[str | p.Expr] = []
    for piece in _PIECE.finditer(node.value):
        path, unclosed = piece["path"], piece["open"]
        if path is None and unclosed is None:
            text = piece["text"] or piece["brace"][0]
            if parts and isinstance(parts[-1], str):
                parts[-1] += text
            else:
                parts.append(text)
            continue
        place = _place(node, piece.start(), piece.end())
        if path is None or len(path) > _LONGEST_PATH or not _PATH.fullmatch(path):
            report.add(errors.bad_interpolation(place, piece[0]))
            continue
        checked = check_expression(_path(path, place), scope, report, facts)
        if isinstance(checked.type, _MANY_VALUES):
            report.add(errors.no_one_text(place, path.strip(), str(checked.type)))
        elif isinstance(checked.type, t.Optional):
            report.add(errors.say_absent(place, path.strip()))
        parts.append(checked)
    return tuple(parts)


# Far below the depth at which anything recursive would have to fear for its stack.
_LONGEST_PATH = 200


def _path(written: str, place: Span) -> ast.Expr:
    first, *rest = (part.strip() for part in written.split("."))
    expr: ast.Expr = ast.Name(place, first)
    for name in rest:
        expr = ast.Attribute(place, expr, name, place)
    return expr


def _place(node: ast.TextLiteral, start: int, end: int) -> Span:
    """The place of a piece of the text; that of the whole where escapes have moved what follows them."""
    source, opening = node.span.source, node.span.start + 1
    if source.text[opening : node.span.end - 1] == node.value:
        return Span(source, opening + start, opening + end)
    return node.span
