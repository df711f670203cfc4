"""A comprehension that is the same for every row: its value, from masks and values of its items.

In: a comprehension, its items. Out: what `evaluate` says, or `Overflow` where that overflows. Conditions and values are
computed for all items at once; the folds of the values are the definition's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.memory.conditions import of_item
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.survey import Survey
from ucl.semantics import program as p
from ucl.semantics.expressions import fold
from ucl.semantics.operations import Overflow

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering

Bits = NDArray[np.bool_]
Ints = NDArray[np.int64]


def answer(lowering: Lowering, expr: p.Comprehension, items: Items) -> Any:
    parts = [part for part in (expr.condition, expr.value, *(key.value for key in expr.keys)) if part is not None]
    survey = Survey(lowering, items, [of_item(part, expr.variable, items.root) for part in parts])
    if expr.condition is None:
        holds, over = np.ones(len(items.records), np.bool_), np.zeros(len(items.records), np.bool_)
    else:
        holds, over = survey.mask(0)
    value = 0 if expr.condition is None else 1
    match expr.kind:
        case "any":
            return _first(holds, over) is not None
        case "all":
            return _first(~holds & ~over, over) is None
        case "first" if not expr.keys:
            place = _first(holds, over)
            return None if place is None else survey.values(value, np.array([place]))[0]
    if over.any():
        raise Overflow
    chosen = np.flatnonzero(holds)
    match expr.kind:
        case "count":
            return len(chosen)
        case "first" | "last":
            ordered = chosen[in_order(survey, expr, value + 1, chosen)]
            end = ordered[:1] if expr.kind == "first" else ordered[-1:]
            return next(iter(survey.values(value, end)), None)
        case _:
            return fold(expr, survey.values(value, chosen))


def in_order(survey: Survey, expr: p.Comprehension, first_key: int, chosen: Ints) -> Ints:
    """The places of the chosen items by the keys; equals stay in the order of the list."""
    places = list(range(len(chosen)))
    for number, key in reversed(list(enumerate(expr.keys, first_key))):
        values = survey.values(number, chosen)
        places.sort(key=values.__getitem__, reverse=key.descending)
    return np.array(places, np.int64)


def _first(holds: Bits, over: Bits) -> int | None:
    """The first item that decides. Raises `Overflow` where one before it can't be told."""
    decided = int(holds.argmax()) if holds.any() else len(holds)
    if over[:decided].any():
        raise Overflow
    return decided if decided < len(holds) else None
