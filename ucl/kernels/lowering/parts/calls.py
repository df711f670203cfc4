"""Operators, local parts, builtins and calls of definitions.

In: the call and the forms of its arguments. Out: its form; of constants it is computed here, by what `evaluate` calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ucl.kernels.execution.vector import OPERATIONS
from ucl.kernels.lowering.forms import FLOATS, Fixed, Form, Names, Number, SetColumn, Truth, Unlowered, fixed, stand_in
from ucl.kernels.lowering.parts import comparisons
from ucl.kernels.plan import FALSE, TRUE, Flag, FromWall, Literal, Local, Operation, SetSize, negated
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Expr

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering

# Local parts by way of the wall clock: which operations lead from it to the part.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "date_of": ("wall_day", "check_day"),
    "time_of": ("wall_time",),
    "weekday_of": ("wall_day", "date_weekday"),
    "year_of": ("wall_day", "date_year"),
    "month_of": ("wall_day", "date_month"),
    "day_of": ("wall_day", "date_day"),
    "hour_of": ("wall_time", "time_hour"),
    "minute_of": ("wall_time", "time_minute"),
    "night_of": ("night_day", "date_weekday"),
}


def apply(lowering: Lowering, expr: p.Apply, names: Names) -> Form:
    """A local part of a field is found once; anything else from the forms of its arguments."""
    first = expr.arguments[0]
    if not (isinstance(first, p.OptionValue) and expr.signature.op in _PARTS):
        return _operation(lowering, expr, names)
    key = (expr.signature.op, first.path)
    form = lowering.parts_of.get(key)
    if form is None:
        form = lowering.parts_of[key] = _operation(lowering, expr, names)
    return form


def _operation(lowering: Lowering, expr: p.Apply, names: Names) -> Form:
    forms = [lowering.form(argument, names) for argument in expr.arguments]
    fixed_ones = [form for form in forms if isinstance(form, Fixed)]
    if len(fixed_ones) == len(forms):
        return _computed(lowering, expr, fixed_ones)
    over, there = FALSE, TRUE
    for form in forms:
        if form.over != FALSE:
            over = lowering.graph.any_of(over, form.over)
        if form.there != TRUE:
            there = lowering.graph.all_of(there, form.there)
    op = expr.signature.op
    if op == "overlaps":
        return Truth(comparisons.overlap(lowering.graph, forms[0], forms[1]), there, over)
    if op == "subset":
        return Truth(comparisons.contained(lowering.graph, forms[0], forms[1]), there, over)
    if op == "size" and isinstance(forms[0], SetColumn):
        return Number(lowering.graph.value(SetSize(forms[0].path)), False, there, over)
    operation = OPERATIONS.get(op)
    if operation is None and op not in _PARTS and op != "at":
        raise Unlowered
    floating = isinstance(t.present(expr.type), FLOATS)
    numbers = [_operand(lowering, form, argument) for form, argument in zip(forms, expr.arguments, strict=True)]
    if op in _PARTS:
        return _flagged(lowering, _part(lowering, op, numbers[0]), floating, there, over, overflows=op == "date_of")
    if op == "at":
        wall = lowering.graph.value(Operation("wall_of", (numbers[0], numbers[1])))
        return _flagged(lowering, lowering.graph.value(FromWall(wall)), floating, there, over, overflows=True)
    assert operation is not None
    value = lowering.graph.value(Operation(op, tuple(numbers)))
    return _flagged(lowering, value, floating, there, over, operation.overflows, operation.partial)


def _part(lowering: Lowering, op: str, instant: int) -> int:
    """A local part of an instant."""
    value = lowering.graph.value(Local(instant))
    for step in _PARTS[op]:
        value = lowering.graph.value(Operation(step, (value,)))
    return value


def _operand(lowering: Lowering, form: Form, expr: Expr) -> int:
    return lowering.number(form, isinstance(t.present(expr.type), FLOATS)).value


def _computed(lowering: Lowering, expr: p.Apply, forms: list[Fixed]) -> Fixed:
    """Of constants, a constant; of an absent one, nothing."""
    values = [form.value for form in forms]
    over = lowering.graph.any_of(*[form.over for form in forms])
    if over != FALSE or None in values:
        return Fixed(None if None in values else stand_in(expr.type), over)
    run = expr.signature.run
    try:
        return fixed(run(lowering.call.zone, *values) if expr.signature.zoned else run(*values), expr.type)
    except Overflow:
        return Fixed(stand_in(expr.type), over=TRUE)


def _flagged(
    lowering: Lowering,
    value: int,
    floating: bool,
    there: Literal,
    over: Literal,
    overflows: bool,
    partial: bool = False,
) -> Number:
    """A value with what its own flags add: it overflows only where its arguments are there."""
    if overflows:
        over = lowering.graph.any_of(over, lowering.graph.all_of(there, lowering.graph.test(Flag(value, "over"))))
    if partial:
        there = lowering.graph.all_of(there, negated(lowering.graph.test(Flag(value, "missing"))))
    return Number(value, floating, there, over)


def def_call(lowering: Lowering, expr: p.DefCall, names: Names) -> Form:
    """The body in place of the call. An argument is lowered once, and counts where the body needs it."""
    definition = expr.definition
    arguments = {
        parameter.name: lowering.form(argument, names)
        for parameter, argument in zip(definition.parameters, expr.arguments, strict=True)
    }
    key = (definition, tuple(arguments.values()))
    form = lowering.calls.get(key)
    if form is None:
        form = lowering.calls[key] = lowering.form(definition.body, arguments)
    return form
