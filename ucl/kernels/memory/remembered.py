"""A comprehension over what the call holds: answered once, or looked up for each row.

In: a comprehension and the constant list or set that it goes over. Out: its form, of each distinct comprehension found
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ucl.kernels.lowering.forms import Fixed, Form, Unlowered, fixed, stand_in
from ucl.kernels.lowering.reads import free_variables
from ucl.kernels.memory.answers import answer
from ucl.kernels.memory.conditions import reads_row, with_constants
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.lookups import look_up
from ucl.kernels.plan import FALSE, TRUE
from ucl.semantics import program as p
from ucl.semantics.operations import Overflow

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering

# Fewer items than this are gone over one by one sooner than columns of them are made.
FEW_ITEMS = 40


class Remembered:
    """The comprehensions of one lowering. A call's lowerings share their items, by the identity of their source."""

    def __init__(self, items: dict[int, Items] | None = None) -> None:
        self._items: dict[int, Items] = {} if items is None else items
        self._forms: dict[int, Form | None] = {}

    def elsewhere(self) -> Remembered:
        """For another lowering of the same call."""
        return Remembered(self._items)

    def form(self, lowering: Lowering, expr: p.Comprehension, source: Fixed, names: Mapping[str, Form]) -> Form:
        """Over what the call holds: the same for every row, or looked up."""
        if source.over != FALSE or source.value is None:
            raise Unlowered
        constants = {name: form.value for name, form in names.items() if isinstance(form, Fixed) and form.over == FALSE}
        bound = with_constants(expr, constants)
        assert isinstance(bound, p.Comprehension)
        if not reads_row(bound, expr.variable):
            return self._answer(lowering, bound, source)
        if free_variables(bound):
            return look_up(lowering, bound, self._items_of(source, expr), names)
        key = lowering.key(bound)
        if key not in self._forms:
            try:
                self._forms[key] = look_up(lowering, bound, self._items_of(source, expr), names)
            except Unlowered:
                self._forms[key] = None
        form = self._forms[key]
        if form is None:
            raise Unlowered
        return form

    def _answer(self, lowering: Lowering, expr: p.Comprehension, source: Fixed) -> Form:
        if len(source.value) < FEW_ITEMS:
            return lowering.of_call(expr)
        key = lowering.key(expr)
        form = self._forms.get(key)
        if form is None:
            try:
                form = fixed(answer(lowering, expr, self._items_of(source, expr)), expr.type)
            except Overflow:
                form = Fixed(stand_in(expr.type), over=TRUE)
            self._forms[key] = form
        return form

    def _items_of(self, source: Fixed, expr: p.Comprehension) -> Items:
        items = self._items.get(id(source.value))
        if items is None:
            items = self._items[id(source.value)] = Items(source.value, expr.source.type, expr.span)
        return items
