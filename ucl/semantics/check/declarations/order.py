"""In which order declarations can be checked: each after what it mentions.

In: a module with its table of names. Out: groups of declarations, what is needed first; a group of several, or of one
that needs itself, is a cycle. Schemas, memory, lets, defs, effects and the module's context are ordered: dimensions
come before all of these and bodies after. What lies in other modules has been checked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ucl.frozen import frozen
from ucl.semantics.check.graph import components
from ucl.semantics.check.modules import Module
from ucl.syntax import ast

# The context has no name of its own; a name can't be empty.
CONTEXT = ""

_NO_PARTS = frozenset(("span", "name_span", "name", "doc", "text", "mistaken"))

Needed = ast.Memory | ast.Let | ast.Def | ast.Schema | ast.Effect


@frozen
class Group:
    """Names of declarations (and `CONTEXT`) that need each other; most often one, which does not need itself."""

    names: tuple[str, ...]
    is_cycle: bool


def in_order(module: Module) -> list[Group]:
    """What a group needs stands before it."""
    declared: dict[str, Needed] = {
        d.name.text: d for d in module.own(ast.Schema, ast.Memory, ast.Let, ast.Def, ast.Effect)
    }
    contexts = [d for d in module.file.declarations if isinstance(d, ast.Context)]
    context_fields = {f.name.text for c in contexts for f in c.fields} | {"now", "today"}
    # A default that reads the context is not constant, which is said where it stands.
    needs: dict[str, list[str]] = {CONTEXT: [n for n in _known(contexts, declared, set()) if n != CONTEXT]}
    for name, declaration in declared.items():
        needs[name] = _known(declaration, declared, context_fields)
    groups = components(needs, needs.__getitem__)
    return [Group(names, len(names) > 1 or names[0] in needs[names[0]]) for names in groups]


def _known(node: Any, declared: dict[str, Needed], context_fields: set[str]) -> list[str]:
    """In the order of their mention, so that messages are the same on every run."""
    found: dict[str, None] = {}
    for name in mentioned(node):
        if name in declared:
            found[name] = None
        if name in context_fields or name == "context":
            found[CONTEXT] = None
    return list(found)


def mentioned(node: Any) -> dict[str, None]:
    """Names of types, values and functions in a tree that stand for something outside of it; `memory.x` is `x`."""
    found: dict[str, None] = {}
    work: list[tuple[Any, frozenset[str]]] = [(node, frozenset())]
    while work:
        current, bound = work.pop()
        match current:
            case ast.Name(text=text):
                if text not in bound:
                    found[text] = None
            case ast.NamedType(path=path):
                found[path[0]] = None
            case ast.Attribute(value=ast.Name(text="memory"), name=name):
                found[name] = None
            case ast.Call(function=ast.Name(text=text)):
                # A function is never a parameter, whatever the parameters are called.
                found[text] = None
                work.append((current.arguments, bound))
            case ast.Comprehension():
                inner = bound | {current.variable.text}
                work.append(((current.source, current.share), bound))
                work.append(((current.value, current.condition, current.keys), inner))
            case ast.Def():
                work.append(((current.parameters, current.result), bound))
                work.append((current.body, bound | {p.name.text for p in current.parameters}))
            case tuple() | list():
                work.extend((part, bound) for part in reversed(current))
            case _ if is_dataclass(current):
                work.extend((part, bound) for part in _parts(current))
    return found


def _parts(node: Any) -> Iterator[Any]:
    return (getattr(node, f.name) for f in fields(node) if f.name not in _NO_PARTS)
