"""Values of many: comprehensions over a set or over what the call remembers, and builtins that look at the whole table.

In: a comprehension or a batch builtin. Out: its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.kernels.lowering.forms import FLOATS, Fixed, Form, Names, Number, SetColumn, Truth, Unlowered
from ucl.kernels.lowering.parts import comparisons
from ucl.kernels.lowering.parts.once import elements
from ucl.kernels.lowering.reads import free_variables, may_overflow, reads_option
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.plan import TRUE, Batch, Flag, SetSize
from ucl.semantics import program as p
from ucl.semantics import types as t

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering


def comprehension(lowering: Lowering, expr: p.Comprehension, names: Names) -> Form:
    source = lowering.form(expr.source, names)
    if isinstance(source, Fixed):
        return lowering.remembered.form(lowering, expr, source, names)
    if free_variables(expr) or not isinstance(source, SetColumn):
        raise Unlowered
    if expr.kind not in ("any", "all", "count"):
        raise Unlowered
    if expr.condition is None:
        size = Number(lowering.graph.value(SetSize(source.path)), False, source.there, source.over)
        if expr.kind == "count":
            return size
        return Truth(comparisons.at_least(lowering.graph, size, 1) if expr.kind == "any" else TRUE, over=source.over)
    if reads_option(expr.condition) or may_overflow(expr.condition):
        raise Unlowered
    return elements(lowering, expr.kind, source, expr.condition, expr.variable)


def batch_value(lowering: Lowering, expr: p.BatchValue, names: Names) -> Form:
    form = lowering.form(expr.argument, names)
    argument = lowering.number(form, isinstance(t.present(expr.argument.type), FLOATS))
    if isinstance(form, Fixed):
        raise Unlowered
    graph = lowering.graph
    wanted = schedule(graph, [argument.there, argument.over], [argument.value])
    batch = Batch(expr.kind, expr.argument.type, argument.value, argument.there, argument.over, wanted)
    value = lowering.whole(batch)
    match expr.kind:
        case "lowest" | "highest":
            return Truth(graph.test(Flag(value, "holds")), over=argument.over)
        case "rank_of":
            return Number(value, False, over=argument.over)
        case _:
            over = graph.test(Flag(value, "over"))
            return Number(value, isinstance(t.present(expr.type), FLOATS), over=over)
