"""Membership in a set that a comprehension makes for each row: instead, items of that value are looked for.

In: `x in distinct(e for v in l where c)` or `x in frequent(e for v in l where c, share)`, where evaluating x can't
overflow. Out: whether it holds: the first is `any(v in l where c and e == x)`, the second compares how many items have
`c and e == x` with how many have `c`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ucl.kernels.execution.vector import Vector
from ucl.kernels.lowering.forms import Fixed, Form, Number, Truth, Unlowered
from ucl.kernels.lowering.parts.comparisons import at_least
from ucl.kernels.plan import FALSE, Entry, Flag, Literal, Operation, negated
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.program import Expr

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering


def made_member(lowering: Lowering, value: Expr, made: p.Comprehension, names: Mapping[str, Form]) -> Truth:
    """Raises `Unlowered` where rows can't be looked up."""
    source = lowering.form(made.source, names)
    if made.kind not in ("distinct", "frequent") or not isinstance(source, Fixed):
        raise Unlowered
    assert made.value is not None
    equal = p.Compare(t.BOOL, made.span, "==", made.value, value)
    met = equal if made.condition is None else p.And(t.BOOL, made.span, (made.condition, equal))
    if made.kind == "distinct":
        return lowering.truth(_asked("any", made, met), names)
    hits = lowering.form(_asked("count", made, met), names)
    chosen = lowering.form(_asked("count", made, made.condition), names)
    if not (isinstance(hits, Number) and isinstance(chosen, Number | Fixed)) or hits.over != FALSE:
        raise Unlowered
    assert made.share is not None
    return Truth(_reaches(lowering, hits, chosen, Fraction(str(made.share)), len(source.value)))


def _asked(kind: str, made: p.Comprehension, condition: Expr | None) -> p.Comprehension:
    type = t.BOOL if kind == "any" else t.INT
    return p.Comprehension(type, made.span, kind, made.variable, made.source, None, condition, (), None)


def _reaches(lowering: Lowering, hits: Number, chosen: Number | Fixed, share: Fraction, items: int) -> Literal:
    """Where the hits, at least one, make up at least that share, exactly."""
    graph = lowering.graph
    if isinstance(chosen, Fixed):
        return at_least(graph, hits, _least(share, chosen.value))
    table = np.array([_least(share, count) for count in range(items + 1)], np.int64)
    least = graph.value(Entry(chosen.value, Vector(table), lowering.fresh()))
    return negated(graph.test(Flag(graph.value(Operation("less", (hits.value, least))), "holds")))


def _least(share: Fraction, count: int) -> int:
    return max(1, -(-share.numerator * count // share.denominator))
