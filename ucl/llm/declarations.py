"""Declarations as text, with some of their clauses left out and others put in.

In: the tree of a text that was read without an error. Out: the canonical text of one declaration. Comments are left
out: what a model writes says nothing but what it declares, and a comment can accept a finding (`# allow conflict: …`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ucl.diagnostics import Report, Source
from ucl.syntax import ast
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse

Addable = ast.Rule | ast.Constraint | ast.Property
"""What may be added to a program on behalf of what somebody said."""


def rewritten(
    file: ast.File, node: Addable, without: Container[str] = (), added: Iterable[str] = (), name: str | None = None
) -> str:
    """The declaration in canonical layout: without the clauses of some words, with the clauses `added`, and perhaps
    under another name."""
    head = f"{type(node).__name__.lower()} {name or node.name.text} on {node.schema.text}"
    if not isinstance(node, ast.Property) and node.overrides:
        head += f" overrides {', '.join(other.text for other in node.overrides)}"
    kept = [_bare(file, clause) for clause in node.clauses if clause.word not in without]
    return formatted("\n".join([head + " {", *kept, *added, "}"]))


def formatted(text: str) -> str:
    """A text that parses, in canonical layout and without a line end."""
    report = Report()
    file = parse(Source("", text), report)
    assert not report.has_errors, [d.message for d in report]
    return format_source(file).rstrip("\n")


def _bare(file: ast.File, node: ast.Node) -> str:
    """The node's text, comments blanked out."""
    start, end = node.span.start, node.span.end
    text = file.source.text
    pieces = []
    for comment in file.comments:
        if start <= comment.span.start < end:
            pieces.append(text[start : comment.span.start])
            start = comment.span.end
    return " ".join([*pieces, text[start:end]])
