"""A comprehension that looks at the row: items grouped by what rows are compared with, and a look-up for each row.

In: a comprehension over items that the whole call shares, of the kind `f(e for v in visits where v.place == place and
v.start < start and v.cost > 3 and remote)`. Out: a form; or `Unlowered` where the condition is of another kind, or the
items' data overflow, whose order then matters. Keys are joined and numbered as hash joins do; bounds are places in a
sorted list, and sums differences of running sums.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Path
from ucl.kernels.execution.distinct import dtype_of
from ucl.kernels.execution.vector import Vector
from ucl.kernels.lowering.forms import FLOATS, Fixed, Form, Number, TextColumn, Truth, Unlowered, fixed
from ucl.kernels.lowering.parts.choices import made_texts, select
from ucl.kernels.lowering.parts.comparisons import at_least
from ucl.kernels.memory.answers import in_order
from ucl.kernels.memory.conditions import Bound, Pair, Parts, denied, of_item, parts_of
from ucl.kernels.memory.index import Known, grouped, ladder
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.survey import Survey, Words
from ucl.kernels.plan import FALSE, TRUE, Below, Entry, Flag, Group, Literal, Operation, negated
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.expressions import fold
from ucl.semantics.operations import INT_MAX, Overflow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ucl.kernels.lowering.expressions import Lowering

Ints = NDArray[np.int64]


def look_up(lowering: Lowering, expr: p.Comprehension, items: Items, names: Mapping[str, Form]) -> Form:
    if isinstance(t.present(expr.type), t.Set | t.Record):
        raise Unlowered
    if expr.kind == "all":
        return _all(lowering, expr, items, names)
    if not items.records:
        return _of_none(expr)
    return _Lookup(lowering, expr, items, names).form()


def _all(lowering: Lowering, expr: p.Comprehension, items: Items, names: Mapping[str, Form]) -> Form:
    """No item fails; or else, as many items hold as there are."""
    assert expr.condition is not None
    if not items.records:
        return Fixed(True)
    span = expr.span
    try:
        failing = p.Comprehension(
            t.BOOL, span, "any", expr.variable, expr.source, None, denied(expr.condition), (), None
        )
        found = look_up(lowering, failing, items, names)
        assert isinstance(found, Truth)
        return Truth(negated(found.holds), over=found.over)
    except Unlowered:
        counted = p.Comprehension(t.INT, span, "count", expr.variable, expr.source, None, expr.condition, (), None)
        holding = look_up(lowering, counted, items, names)
        assert isinstance(holding, Number)
        return Truth(at_least(lowering.graph, holding, len(items.records)), over=holding.over)


def _of_none(expr: p.Comprehension) -> Fixed:
    match expr.kind:
        case "count":
            return Fixed(0)
        case "any":
            return Fixed(False)
        case "first" | "last":
            return Fixed(None)
        case _:
            return fixed(fold(expr, []), expr.type)


@frozen
class _Row:
    """The row's side: where the gates hold, and where it overflows for the first item."""

    gate: Literal
    over: Literal


class _Lookup:
    """One comprehension on its way to a form."""

    def __init__(self, lowering: Lowering, expr: p.Comprehension, items: Items, names: Mapping[str, Form]) -> None:
        self._lowering, self._graph, self._names = lowering, lowering.graph, names
        self._expr = expr
        self._parts: Parts = parts_of(expr.condition, expr.variable, items.root)
        self._row = self._row_sides()
        self._survey, self._chosen = self._surveyed(items)
        self._size = len(self._chosen)

    # --- both sides -------------------------------------------------------------------------------------------------

    def _row_sides(self) -> _Row:
        """An overflow counts for sure where the first item meets it; what stands further behind may not be reached."""
        gate, over = TRUE, FALSE
        for expr, place in self._parts.gates:
            truth = self._lowering.truth(expr, self._names)
            gate = self._graph.all_of(gate, truth.holds)
            over = self._graph.any_of(over, self._first_only(truth.over, place))
        for pair in (*self._parts.equal, *self._parts.bounds):
            over = self._graph.any_of(over, self._first_only(self._side(pair).over, pair.place))
        return _Row(gate, over)

    def _first_only(self, over: Literal, place: int) -> Literal:
        if over != FALSE and place > 0:
            raise Unlowered
        return over

    def _side(self, pair: Pair) -> Form:
        return self._lowering.form(pair.row, self._names)

    def _surveyed(self, items: Items) -> tuple[Survey, Ints]:
        """All expressions of items: filters, sides of pairs, the value, the keys. And the items that pass."""
        parts, expr = self._parts, self._expr
        sides = [pair.item for pair in (*parts.equal, *parts.bounds)]
        own = [] if expr.value is None else [expr.value]
        own += [key.value for key in expr.keys]
        self._first_side = len(parts.filters)
        self._value = self._first_side + len(sides)
        exprs = [*parts.filters, *sides, *(of_item(part, expr.variable, items.root) for part in own)]
        survey = Survey(self._lowering, items, exprs)
        passing = np.ones(len(items.records), np.bool_)
        for number in range(len(parts.filters)):
            holds, over = survey.mask(number)
            if over.any():
                raise Unlowered
            passing &= holds
        return survey, np.flatnonzero(passing)

    # --- forms ------------------------------------------------------------------------------------------------------

    def form(self) -> Form:
        group, groups, of_item = self._grouped()
        if self._parts.bounds:
            return self._bounded(group, groups, of_item)
        order = np.arange(self._size)
        if self._expr.keys:
            order = self._guarded_order()
        order = order[np.argsort(of_item[order], kind="stable")]
        sizes = np.bincount(of_item, minlength=groups + 1)
        if self._expr.kind in ("count", "any"):
            return self._counted(self._entry(group, Vector(sizes)))
        ends = np.concatenate(([0], np.cumsum(sizes))).tolist()
        table, words = self._folded(order, ends)
        value = self._entry(group, table)
        over = FALSE if table.over is None else self._graph.test(Flag(value, "over"))
        there = TRUE if table.missing is None else negated(self._graph.test(Flag(value, "missing")))
        number = self._finished(Number(value, table.values.dtype == np.float64, there, over))
        if isinstance(t.present(self._expr.type), t.Bool):
            return Truth(at_least(self._graph, number, 1), number.there, number.over)
        return number if words is None else made_texts(self._lowering, number.value, words, number.there, number.over)

    def _counted(self, count: int) -> Form:
        number = self._finished(Number(count, floating=False))
        if self._expr.kind == "count":
            return number
        return Truth(at_least(self._graph, number, 1), over=number.over)

    def _finished(self, number: Number) -> Number:
        """With the gates: where they don't hold, nothing is chosen."""
        gate, graph = self._row.gate, self._graph
        there, value = number.there, number.value
        if gate != TRUE:
            if isinstance(self._expr.type, t.Optional):
                there = graph.all_of(gate, there)
            else:
                nothing = graph.number(0.0 if number.floating else 0)
                value = select(self._lowering, gate, value, nothing)
        over = graph.any_of(self._row.over, graph.all_of(gate, number.over))
        return Number(value, number.floating, there, over)

    def _entry(self, place: int, table: Vector) -> int:
        return self._graph.value(Entry(place, table, self._lowering.fresh()))

    def _guarded_order(self) -> Ints:
        try:
            return in_order(self._survey, self._expr, self._value + 1, self._chosen)
        except Overflow:  # of an item that some rows may not choose
            raise Unlowered from None

    def _folded(self, order: Ints, ends: list[int]) -> tuple[Vector, tuple[str, ...] | None]:
        """For each group, and for none, what the kind makes of its values; of texts their codes, and the texts."""
        try:
            values = self._survey.values(self._value, self._chosen[order])
        except Overflow:
            raise Unlowered from None
        results: list[Any] = []
        over = []
        for start, end in pairwise(ends):
            try:
                results.append(_one(self._expr, values[start:end]))
                over.append(False)
            except Overflow:
                results.append(None)
                over.append(True)
        missing = [result is None for result in results]
        words = None
        if isinstance(t.present(self._expr.type), t.Text | t.Closed):
            words = tuple(dict.fromkeys(result for result in results if result is not None))
            code_of = {word: code for code, word in enumerate(words)}
            results = [None if result is None else code_of[result] for result in results]
        numbers = np.array([0 if result is None else result for result in results], dtype_of(self._expr.type))
        optional = isinstance(self._expr.type, t.Optional)
        table = Vector(
            numbers if numbers.dtype != np.bool_ else numbers.astype(np.int64),
            np.array(over) if any(over) else None,
            np.array(missing) if optional else None,
        )
        return table, words

    # --- equality ---------------------------------------------------------------------------------------------------

    def _grouped(self) -> tuple[int, int, Ints]:
        """The value that is each row's group, how many groups there are, and each chosen item's group."""
        keys, known, places = [], [], []
        for number, pair in enumerate(self._parts.equal, self._first_side):
            key, values, place = self._key(self._survey.column(number, self._chosen), self._side(pair))
            keys.append(key)
            known.append(values)
            places.append(place)
        grouping, of_item = grouped(known, places, self._size)
        if not keys:
            return self._graph.number(0), 1, of_item
        group = self._graph.value(Group(tuple(keys), grouping, self._lowering.fresh()))
        return group, grouping.groups, of_item

    def _key(self, column: NDArray[Any] | Words, side: Form) -> tuple[int | Path, Known | tuple[str, ...], Ints]:
        """The row's key, the items' distinct values, and each item's place among them."""
        if isinstance(column, Words):
            codes, place = np.unique(column.codes, return_inverse=True)
            words = tuple(column.dictionary[code] for code in codes.tolist())
            match side:
                case TextColumn(path):
                    return path, words, place
                case Fixed(value):
                    code = words.index(value) if value in words else -1
                    return self._graph.number(code), Known(np.arange(len(words))), place
                case _:
                    raise Unlowered
        values, place = np.unique(column, return_inverse=True)
        return self._number(side, values.dtype == np.float64), Known(values), place

    def _number(self, side: Form, floating: bool) -> int:
        match side:
            case Truth(holds):
                return select(self._lowering, holds, self._graph.number(1), self._graph.number(0))
            case Number(_, as_double) if as_double == floating:
                return side.value
            case Fixed(bool() | int() as value) if not floating:
                return self._graph.number(int(value))
            case Fixed(float() as value) if floating:
                return self._graph.number(value)
            case Fixed(None):
                return self._graph.number(0.0 if floating else 0)
            case _:
                raise Unlowered

    # --- bounds -----------------------------------------------------------------------------------------------------

    def _bounded(self, group: int, groups: int, of_item: Ints) -> Form:
        """Between two places of a ladder."""
        expr, graph, bounds = self._expr, self._graph, self._parts.bounds
        if any(bound.item != bounds[0].item for bound in bounds):
            raise Unlowered
        number = self._first_side + len(self._parts.equal)
        column = self._survey.column(number, self._chosen)
        if isinstance(column, Words):
            raise Unlowered
        rungs, order = ladder(groups, of_item, column)
        ends = np.concatenate(([0], np.cumsum(np.bincount(of_item, minlength=groups + 1))))
        low, high = self._entry(group, Vector(ends[:-1])), self._entry(group, Vector(ends[1:]))
        key = self._lowering.fresh()
        for bound in bounds:
            side = self._number(self._side(bound), column.dtype == np.float64)
            place = graph.value(Below(group, side, _counts_equal(bound), rungs, key))
            if bound.upper:
                high = graph.value(Operation("min", (high, place)))
            else:
                low = graph.value(Operation("max", (low, place)))
        high = graph.value(Operation("max", (low, high)))
        count = graph.value(Operation("sub_int", (high, low)))
        match expr.kind:
            case "count" | "any":
                return self._counted(count)
            case "sum" | "mean":
                return self._summed(low, high, count, order)
            case "min" | "max" if self._is_bounded_itself(bounds[0]):
                place = low if expr.kind == "min" else graph.value(Operation("sub_int", (high, graph.number(1))))
                sorted_values = np.append(column[order], column.dtype.type(0))
                there = at_least(graph, Number(count, floating=False), 1)
                value = self._entry(place, Vector(sorted_values))
                return self._finished(Number(value, column.dtype == np.float64, there))
            case _:
                raise Unlowered

    def _is_bounded_itself(self, bound: Bound) -> bool:
        """Whether the value is what is bounded."""
        assert self._expr.value is not None
        value = of_item(self._expr.value, self._expr.variable, self._survey.items.root)
        return value == bound.item and not isinstance(t.present(self._expr.type), t.Bool)

    def _summed(self, low: int, high: int, count: int, order: Ints) -> Form:
        """By differences of running sums, where they are exact."""
        expr, graph = self._expr, self._graph
        assert expr.value is not None
        if isinstance(expr.value.type, FLOATS):
            raise Unlowered
        values = self._survey.column(self._value, self._chosen)
        assert not isinstance(values, Words)
        if sum(map(abs, values.tolist())) > INT_MAX:
            raise Unlowered
        running = np.concatenate(([0], np.cumsum(values[order])))
        table = Vector(running.astype(np.int64))
        total = graph.value(Operation("sub_int", (self._entry(high, table), self._entry(low, table))))
        if expr.kind == "sum":
            return self._finished(Number(total, floating=False))
        divisor = graph.value(Operation("to_float", (count,)))
        duration = isinstance(expr.value.type, t.Duration)
        dividend = total if duration else graph.value(Operation("to_float", (total,)))
        mean = graph.value(Operation("div_duration" if duration else "div_float", (dividend, divisor)))
        there = at_least(graph, Number(count, floating=False), 1)
        return self._finished(Number(mean, not duration, there))


def _counts_equal(bound: Bound) -> bool:
    """Whether items that equal the bound come before its place: an upper end keeps them in, or a lower one out."""
    return bound.inclusive if bound.upper else not bound.inclusive


def _one(expr: p.Comprehension, values: list[Any]) -> Any:
    match expr.kind:
        case "first":
            return values[0] if values else None
        case "last":
            return values[-1] if values else None
        case _:
            return fold(expr, values)
