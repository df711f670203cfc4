"""Expressions over all items of a comprehension at once: lowered as if an item were the option, run in NumPy.

In: items, expressions of them. Out: for each expression a mask, or the values at some of the items. What no vector
operation computes is evaluated, once for each distinct item that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Columns
from ucl.kernels.execution.distinct import distinct_records
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.execution.whole import add_wholes
from ucl.kernels.lowering.forms import Fixed, Form, Number, TextColumn, Truth, Unlowered, holds_of
from ucl.kernels.lowering.reads import paths_read
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.memory.items import Items
from ucl.kernels.plan import Formulas
from ucl.semantics import types as t
from ucl.semantics.expressions import Budget, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.program import Expr

if TYPE_CHECKING:
    from ucl.kernels.lowering.expressions import Lowering

Bits = NDArray[np.bool_]
Ints = NDArray[np.int64]

# Looking at an item in an array takes about this share of the time of a step of `evaluate`.
_ITEMS_A_STEP = 64


@frozen
class Words:
    """Texts by code."""

    codes: NDArray[np.int32]
    dictionary: tuple[str, ...]


class Survey:
    """`exprs` over all items; each is named by its place."""

    def __init__(self, lowering: Lowering, items: Items, exprs: Sequence[Expr]) -> None:
        lowering.budget.spend(len(exprs) * (1 + len(items.records) // _ITEMS_A_STEP))
        inner = lowering.over(items)
        self.items = items
        self._exprs = exprs
        self._call: Call = lowering.call
        self._forms = [_form(inner, expr) for expr in exprs]
        self._columns: Columns = items.columns(path for expr in exprs for path in paths_read(expr))
        graph = inner.graph
        forms = [form for form in self._forms if form is not None]
        masks = [mask for form in forms for mask in (form.there, form.over)]
        masks += [form.holds for form in forms if isinstance(form, Truth)]
        wanted = schedule(graph, masks, [form.value for form in forms if isinstance(form, Number)])
        binding = Binding(Formulas(self._call, tuple(graph.values), tuple(inner.wholes)), self._columns)
        add_wholes(binding, self._columns, None)
        self._execution = Execution(binding, wanted, 0, len(items.records))

    def mask(self, expr: int) -> tuple[Bits, Bits]:
        """Of a condition: where it holds, and where it overflows."""
        form = self._forms[expr]
        assert form is not None
        over = self._execution.bits(form.over)
        return self._execution.bits(holds_of(form)) & ~over, over

    def values(self, expr: int, at: Ints) -> list[Any]:
        """The values of these items. Raises `Overflow` where one of them does."""
        form = self._forms[expr]
        if not isinstance(form, Number | Truth | TextColumn | Fixed):
            return self._evaluated(self._exprs[expr], at)
        if self._execution.bits(form.over)[at].any():
            raise Overflow
        match form:
            case Fixed(value):
                return [value] * len(at)
            case TextColumn(path):
                texts = self._execution.binding.texts(path)
                dictionary = np.array(texts.dictionary or ("",), object)
                found: list[Any] = dictionary[texts.codes[at]].tolist()
            case _:
                found = self._array(form)[at].tolist()
        there = self._execution.bits(form.there)[at]
        return found if there.all() else [v if is_there else None for v, is_there in zip(found, there, strict=True)]

    def column(self, expr: int, at: Ints) -> NDArray[Any] | Words:
        """The values of these items in an array: int64 (of a bool, too) or float64; or texts.

        Raises `Unlowered` where there is no such array, or where some item, of these or not, has no value.
        """
        form = self._forms[expr]
        if form is None or self._execution.bits(form.over).any() or not self._execution.bits(form.there)[at].all():
            raise Unlowered
        match form:
            case Number() | Truth():
                values = self._array(form)[at]
                return values if values.dtype == np.float64 else values.astype(np.int64)
            case TextColumn(path):
                texts = self._execution.binding.texts(path)
                return Words(texts.codes[at], texts.dictionary)
            case _:
                raise Unlowered

    def _array(self, form: Number | Truth) -> NDArray[Any]:
        if isinstance(form, Truth):
            return self._execution.bits(form.holds)
        return np.broadcast_to(self._execution.vector(form.value).values, (len(self.items.records),))

    def _evaluated(self, expr: Expr, at: Ints) -> list[Any]:
        if paths_read(expr) == ((),):  # the items themselves
            return [evaluate(expr, Frame(self._call, Budget(), self.items.records[place])) for place in at.tolist()]
        distinct = distinct_records(rows_of(self._columns, at), paths_read(expr))
        budget = Budget(options=len(distinct.records))
        with bounded():
            values = [evaluate(expr, Frame(self._call, budget, record)) for record in distinct.records]
        return [values[number] for number in distinct.of_row.tolist()]


def _form(inner: Lowering, expr: Expr) -> Form | None:
    """None of what no vector operation computes."""
    if isinstance(expr.type, t.Bool):
        return inner.truth(expr)
    try:
        return inner.form(expr)
    except Unlowered:
        return None
