"""How large an expression is once its defs are written out, and how deep its loops go.

In: typed expressions. Out: counts, with each def's own share remembered. A def used twice counts twice, its parameters
as often as they are used, so that forty lines of doubling defs are seen for the 2^40 nodes that they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.parts import children

# Past this, sizes are all the same: too large.
_CEILING = 10**12


@frozen
class _Size:
    """`own` nodes, and how often each free variable occurs."""

    own: int
    uses: Mapping[str, int]


_sizes: WeakKeyDictionary[p.Definition, _Size] = WeakKeyDictionary()
_loops: WeakKeyDictionary[p.Definition, int] = WeakKeyDictionary()


def expanded_size(expr: p.Expr) -> int:
    """How many nodes the expression has with every def call written out; at most 10^12."""
    size = _size(expr)
    return min(_CEILING, size.own + sum(size.uses.values()))


def _size(expr: p.Expr) -> _Size:
    if isinstance(expr, p.Variable):
        return _Size(0, {expr.name: 1})
    if isinstance(expr, p.DefCall):
        body = _size_of_definition(expr.definition)
        names = [parameter.name for parameter in expr.definition.parameters]
        times = [max(1, body.uses.get(name, 0)) for name in names]
        return _sum(body.own, [(n, _size(a)) for n, a in zip(times, expr.arguments, strict=True)])
    return _sum(1, [(1, _size(child)) for child in children(expr)])


def _size_of_definition(definition: p.Definition) -> _Size:
    known = _sizes.get(definition)
    if known is None:
        known = _sizes[definition] = _size(definition.body)
    return known


def _sum(own: int, parts: list[tuple[int, _Size]]) -> _Size:
    uses: dict[str, int] = {}
    for times, part in parts:
        own = min(_CEILING, own + times * part.own)
        for name, count in part.uses.items():
            uses[name] = min(_CEILING, uses.get(name, 0) + times * count)
    return _Size(own, uses)


def loops_in(expr: p.Expr) -> int:
    """How many comprehensions stand within one another at most, those of defs included."""
    deepest = max((loops_in(child) for child in children(expr)), default=0)
    if isinstance(expr, p.Comprehension):
        return deepest + 1
    if isinstance(expr, p.DefCall):
        return max(deepest, loops_of_definition(expr.definition))
    return deepest


def loops_of_definition(definition: p.Definition) -> int:
    known = _loops.get(definition)
    if known is None:
        known = _loops[definition] = loops_in(definition.body)
    return known
