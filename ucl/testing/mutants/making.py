"""Mutants of a program: its text with one small mistake in it.

In: the tree of a program, its module, how many mutants are wanted. Out: `Mutant`s in the order of the source; where
there are more than wanted, a sample of them, the same for the same seed. Each is the program's own text in which one
declaration is laid out anew by the formatter, so that it reads as if a person had made the mistake.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ucl.diagnostics import Span
from ucl.frozen import frozen
from ucl.semantics.check import Module
from ucl.syntax import ast
from ucl.syntax.format import WIDTH
from ucl.syntax.layout.declarations import declaration
from ucl.syntax.layout.documents import render
from ucl.syntax.layout.trail import Trail
from ucl.testing.mutants.declarations import declaration_edits
from ucl.testing.mutants.edits import Edit, Kind, names_in

MUTANTS = 500


@frozen
class Mutant:
    """`name` is the declaration with the mistake, `said` the mistake, `span` where it stands in the program; `text` is
    the whole program with it."""

    name: str
    kind: Kind
    said: str
    span: Span
    text: str


def mutants_of(module: Module, most: int = MUTANTS, seed: int = 0) -> tuple[list[Mutant], int]:
    """So many of them, and how many there are. They may not compile: who uses them sees."""
    found: list[tuple[int, ast.Declaration, Edit[ast.Declaration]]] = []
    chance = random.Random(seed)
    count = 0
    for node, edit in _edits(module):
        if count < most:
            found.append((count, node, edit))
        elif (place := chance.randrange(count + 1)) < most:
            found[place] = (count, node, edit)
        count += 1
    trail = Trail(module.file)
    made = [_mutant(trail, node, edit) for _, node, edit in sorted(found, key=lambda each: each[0])]
    return made, count


def _edits(module: Module) -> Iterator[tuple[ast.Declaration, Edit[ast.Declaration]]]:
    """Of what rules and constraints say, and of what they use."""

    def meaning(expr: ast.Expr) -> ast.Expr | None:
        return _imported(module, expr)

    used = _used(module.file)
    for node in module.file.declarations:
        if not isinstance(node, ast.Let | ast.Def) or node.name.text in used:
            for edit in declaration_edits(node, meaning):
                yield node, edit


def _imported(module: Module, expr: ast.Expr) -> ast.Expr | None:
    """The range or set of another module that a name stands for: where it is used, another could have been meant."""
    match expr:
        case ast.Name(text=text):
            path = text
        case ast.Attribute(value=ast.Name(text=text), name=name):
            path = f"{text}.{name}"
        case _:
            return None
    found = module.origin(path)
    if found is None or found[0] is module or not isinstance(found[1], ast.Let):
        return None
    value = found[1].value
    return value if isinstance(value, ast.Range | ast.SetLiteral) else None


def _used(file: ast.File) -> frozenset[str]:
    """The names that rules and constraints speak of, through lets and definitions too."""
    shared = {node.name.text: node for node in file.declarations if isinstance(node, ast.Let | ast.Def)}
    scoring = [node for node in file.declarations if isinstance(node, ast.Rule | ast.Constraint)]
    waiting = [expr for node in scoring for expr in _expressions(node)]
    used: set[str] = set()
    while waiting:
        for name in names_in(waiting.pop()):
            if name in shared and name not in used:
                used.add(name)
                node = shared[name]
                waiting.append(node.value if isinstance(node, ast.Let) else node.body)
    return frozenset(used)


def _expressions(node: ast.Rule | ast.Constraint) -> Iterator[ast.Expr]:
    for clause in node.clauses:
        match clause.value:
            case ast.ScoreException(condition=condition, score=score):
                yield from (condition, score)
            case value if isinstance(value, ast.Expr):
                yield value
            case _:
                continue


def _mutant(trail: Trail, node: ast.Declaration, edit: Edit[ast.Declaration]) -> Mutant:
    made = render(declaration(trail, edit.make()), WIDTH).strip()
    text = f"{trail.text[: node.span.start]}{made}{trail.text[node.span.end :]}"
    return Mutant(_name(node), edit.kind, edit.said, edit.span, text)


def _name(node: ast.Declaration) -> str:
    match node:
        case ast.Rule(name=name) | ast.Constraint(name=name) | ast.Let(name=name) | ast.Def(name=name):
            return name.text
        case ast.Resolve(schema=schema):
            return schema.text
        case _:
            raise AssertionError("nothing of it can be otherwise")
