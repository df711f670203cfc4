"""How deep an expression is once its defs and lets are written out.

In: a typed expression. Out: a count of levels, each def's and let's own share remembered. One expression is never
deeper than the parser's cap, but a chain of defs could be, and whoever evaluates it needs stack for all of it.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ucl.semantics import program as p
from ucl.semantics.check.expressions.measure import children

_depths: WeakKeyDictionary[p.Definition | p.Let, int] = WeakKeyDictionary()


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
