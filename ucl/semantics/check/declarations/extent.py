"""How far declarations reach once what they name is written out: how deep, and how large.

In: a typed expression or a schema. Out: counts, with each declaration's own share remembered. What is written in one
place is never deeper than the parser's cap; a chain of defs, of lets or of schemas could be, and whoever evaluates it
or lays out its columns needs stack and room for all of it.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.parts import children

_depths: WeakKeyDictionary[p.Definition | p.Let, int] = WeakKeyDictionary()
_sizes: WeakKeyDictionary[p.Let, int] = WeakKeyDictionary()
_extents: WeakKeyDictionary[p.Schema, Extent] = WeakKeyDictionary()


def expanded_depth(expr: p.Expr) -> int:
    """Levels of the tree, where a call is as deep as what it calls on top of its arguments."""
    deepest = max((expanded_depth(child) for child in children(expr)), default=0)
    match expr:
        case p.DefCall(definition=definition):
            return 1 + deepest + _depth_of(definition, definition.body)
        case p.LetValue(let=let):
            return 1 + _depth_of(let, let.value)
        case _:
            return 1 + deepest


def _depth_of(declared: p.Definition | p.Let, meaning: p.Expr) -> int:
    known = _depths.get(declared)
    if known is None:
        known = _depths[declared] = expanded_depth(meaning)
    return known


def size_with_lets(expr: p.Expr) -> int:
    """Nodes of a constant expression, where a let that only a call can evaluate counts as all that it is."""
    if isinstance(expr, p.LetValue):
        known = _sizes.get(expr.let)
        if known is None:
            known = _sizes[expr.let] = size_with_lets(expr.let.value)
        return known
    return 1 + sum(size_with_lets(child) for child in children(expr))


@frozen
class Extent:
    """Of a schema: levels of records within records, and fields that hold no record."""

    depth: int
    leaves: int


def extent_of(schema: p.Schema) -> Extent:
    known = _extents.get(schema)
    if known is None:
        records = [present for f in schema.fields if isinstance(present := t.present(f.type), t.Record)]
        inner = [extent_of(record.schema) for record in records]
        depth = 1 + max((extent.depth for extent in inner), default=0)
        leaves = len(schema.fields) - len(inner) + sum(extent.leaves for extent in inner)
        known = _extents[schema] = Extent(depth, leaves)
    return known
