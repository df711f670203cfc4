"""From a tree to the one canonical layout of its text.

In: a `File` that was read without an error. Out: its text, laid out: what it means is the same, every comment is there
once, and laying it out again changes nothing. Clauses come in one order, lines are at most 100 columns wide where they
can be broken, an empty line stands between declarations, and parentheses stay where they are needed. How literals of
numbers are written stays; texts are escaped only where they must be.
"""

from __future__ import annotations

from ucl.syntax import ast
from ucl.syntax.layout.declarations import above, declaration
from ucl.syntax.layout.documents import BLANK, LINE, Document, Note, render
from ucl.syntax.layout.trail import Trail

WIDTH = 100

# Declarations that usually take one line: they may stand in groups, without empty lines between them.
_SHORT = (ast.Import, ast.Let, ast.Def, ast.Memory, ast.Effect, ast.Dimension)


def format_source(file: ast.File) -> str:
    """The canonical text of a file."""
    trail = Trail(file)
    parts: list[Document] = []
    previous: ast.Declaration | None = None
    for node in file.declarations:
        comments = above(trail, node)
        apart = not (isinstance(node, _SHORT) and isinstance(previous, _SHORT)) or _stands_apart(trail, node, comments)
        parts += [BLANK if apart else LINE, *comments, *declaration(trail, node)]
        previous = node
    parts += [LINE, *trail.last_notes()]
    return render(parts, WIDTH)


def _stands_apart(trail: Trail, node: ast.Declaration, comments: list[Document]) -> bool:
    """Whether an empty line stands before a declaration with its comments."""
    if comments and isinstance(comments[0], Note):
        return comments[0].blank
    return trail.blank_before(trail.token(node.span.start))
