"""One value or another: `if`, `??`, and columns of texts that were made.

In: the forms to choose from. Out: a form; `Unlowered` where texts or sets would have to be chosen row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ucl.kernels.lowering.forms import (
    FLOATS,
    Fixed,
    Form,
    Names,
    Number,
    SetColumn,
    TextColumn,
    Truth,
    Unlowered,
    holds_of,
)
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.plan import FALSE, TRUE, Literal, MadeTexts, Select, negated
from ucl.semantics import program as p
from ucl.semantics import types as t

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering


def choose_if(lowering: Lowering, expr: p.If, names: Names) -> Form:
    condition = lowering.truth(expr.condition, names)
    if condition.holds in (TRUE, FALSE) and condition.over == FALSE:
        return lowering.form(expr.then if condition.holds == TRUE else expr.otherwise, names)
    then, otherwise = lowering.form(expr.then, names), lowering.form(expr.otherwise, names)
    graph, holds = lowering.graph, condition.holds
    over = graph.any_of(condition.over, graph.all_of(holds, then.over), graph.all_of(negated(holds), otherwise.over))
    there = graph.choose(holds, then.there, otherwise.there)
    return choice(lowering, holds, then, otherwise, there, over, expr.type)


def coalesce(lowering: Lowering, expr: p.Coalesce, names: Names) -> Form:
    value = lowering.form(expr.value, names)
    if value.there == TRUE:
        return value
    if value == Fixed(None):
        return lowering.form(expr.default, names)
    default = lowering.form(expr.default, names)
    if isinstance(value, SetColumn) and default == Fixed(frozenset()):
        return SetColumn(value.path, TRUE, value.over)  # absent sets are empty ranges already
    if isinstance(value, TextColumn) and isinstance(default, Fixed) and default.there == TRUE:
        return _made_or(lowering, value, default)
    graph = lowering.graph
    over = graph.any_of(value.over, graph.all_of(negated(value.there), default.over))
    there = graph.any_of(value.there, default.there)
    return choice(lowering, value.there, value, default, there, over, expr.type)


def made_texts(
    lowering: Lowering, codes: int, dictionary: tuple[str, ...], there: Literal, over: Literal
) -> TextColumn:
    """A column of the texts that a value's codes stand for."""
    path = (f"made {len(lowering.made)}",)  # no field has such a name
    lowering.made[path] = codes, dictionary
    lowering.whole(MadeTexts(path, dictionary, codes, there, schedule(lowering.graph, [there], [codes])))
    return TextColumn(path, there, over)


def _made_or(lowering: Lowering, value: TextColumn, default: Fixed) -> TextColumn:
    """Made texts, or a constant one."""
    if value.path not in lowering.made:
        raise Unlowered
    codes, dictionary = lowering.made[value.path]
    if default.value not in dictionary:
        dictionary = (*dictionary, default.value)
    constant = lowering.graph.number(dictionary.index(default.value))
    over = lowering.graph.any_of(value.over, lowering.graph.all_of(negated(value.there), default.over))
    return made_texts(lowering, select(lowering, value.there, codes, constant), dictionary, TRUE, over)


def choice(
    lowering: Lowering, condition: Literal, then: Form, otherwise: Form, there: Literal, over: Literal, type: t.Type
) -> Form:
    """`then` where the condition holds, else `otherwise`."""
    type = t.present(type)
    if isinstance(type, t.Bool):
        a, b = holds_of(then), holds_of(otherwise)
        return Truth(lowering.graph.choose(condition, a, b), there, over)
    if isinstance(type, t.Text | t.Closed | t.Set | t.Record | t.List):
        raise Unlowered
    floating = isinstance(type, FLOATS)
    a, b = lowering.number(then, floating).value, lowering.number(otherwise, floating).value
    chosen = a if condition == TRUE or a == b else b if condition == FALSE else select(lowering, condition, a, b)
    return Number(chosen, floating, there, over)


def select(lowering: Lowering, condition: Literal, then: int, otherwise: int) -> int:
    if condition & 1:
        condition, then, otherwise = negated(condition), otherwise, then
    return lowering.graph.value(Select(condition, then, otherwise))
