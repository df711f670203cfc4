"""Expressions to values and masks.

In: a typed expression. Out: its form (`forms`). Constants of the call are computed here, by the same functions that
`evaluate` calls. Each mask of overflow is put together as `evaluate` goes: a part counts where it is needed. What no
vector operation computes is left to a residual column: `evaluate`, once for each distinct tuple of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeGuard

from ucl.kernels.columns import Path
from ucl.kernels.lowering.forms import (
    FLOATS,
    Fixed,
    Form,
    Names,
    Nested,
    Number,
    SetColumn,
    TextColumn,
    Truth,
    Unlowered,
    fixed,
    holds_of,
    stand_in,
    type_at,
)
from ucl.kernels.lowering.graph import Graph
from ucl.kernels.lowering.parts import calls, choices, comparisons, many
from ucl.kernels.lowering.parts.once import residual
from ucl.kernels.lowering.plain import KEYS, Key
from ucl.kernels.lowering.ranges import of_columns
from ucl.kernels.lowering.reads import free_variables, reads_option
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.membership import made_member
from ucl.kernels.memory.remembered import Remembered
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Flag,
    HasValue,
    Literal,
    Read,
    Whole,
    WholeColumn,
    negated,
)
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.expressions import Budget, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.program import Definition, Expr, Schema

_NO_NAMES: Names = {}


@dataclass
class Lowering:
    """One program's expressions for one schema and one call, into one graph."""

    schema: Schema
    call: Call
    graph: Graph = field(default_factory=Graph)
    wholes: list[WholeColumn] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    _keys: dict[Expr, int] = field(default_factory=dict)
    _known: dict[int, tuple[Expr, Form]] = field(default_factory=dict)
    remembered: Remembered = field(default_factory=Remembered)
    residuals: dict[int, int] = field(default_factory=dict)
    _columns: dict[Path, Form] = field(default_factory=dict)
    _tests: dict[Key, Truth] = field(default_factory=dict)
    made: dict[Path, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    parts_of: dict[tuple[str, Path], Form] = field(default_factory=dict)
    _fresh: Iterator[int] = field(default_factory=count)
    calls: dict[tuple[Definition, tuple[Form, ...]], Form] = field(default_factory=dict)

    @staticmethod
    def of_options(schema: Schema, call: Call) -> Lowering:
        """For options that were read by the schema, so that values lie in its domains."""
        return Lowering(schema, call, Graph(of_columns(schema, call.zone)))

    def truth(self, expr: Expr, names: Names = _NO_NAMES) -> Truth:
        """A condition: something that is there and is a bool."""
        if isinstance(expr, p.And):
            return self._conjunction(expr, names)
        key_of = KEYS.get(type(expr))
        key = None if key_of is None else key_of(expr)
        if key is None:
            return self._truth(expr, names)
        known = self._tests.get(key)
        if known is None:
            known = self._tests[key] = self._truth(expr, names)
        return known

    def _truth(self, expr: Expr, names: Names) -> Truth:
        form = self.form(expr, names)
        if isinstance(form, Truth):
            return form
        assert isinstance(form, Fixed), form
        return Truth(holds_of(form), form.there, form.over)

    def form(self, expr: Expr, names: Names = _NO_NAMES) -> Form:
        """What an expression becomes. `names` are the parameters of the definition that it stands in."""
        try:
            return _FORMS[type(expr)](self, expr, names)
        except Unlowered:
            if names:
                raise
            return residual(self, expr)

    def _constant(self, expr: p.Const, names: Names) -> Fixed:
        value = expr.value
        return fixed(value, expr.type) if type(value) is int else Fixed(value)

    def _option_value(self, expr: p.OptionValue, names: Names) -> Form:
        return self.column(expr.path)

    def _compare(self, expr: p.Compare, names: Names) -> Form:
        return comparisons.compare(self.graph, expr.operator, self.form(expr.left, names), self.form(expr.right, names))

    def _in_range(self, expr: p.InRange, names: Names) -> Form:
        value, low, high = self.form(expr.value, names), expr.low, expr.high
        if isinstance(value, Number) and value.over == FALSE and _is_written(low) and _is_written(high):
            first, last = None if low is None else low.value, None if high is None else high.value
            return Truth(comparisons.between(self.graph, value, first, last, expr.inclusive, expr.wraps))
        after = None if low is None else self.form(low, names)
        before = None if high is None else self.form(high, names)
        return comparisons.within(self.graph, value, after, before, expr.inclusive, expr.wraps)

    def _negation(self, expr: p.Not, names: Names) -> Form:
        operand = self.truth(expr.operand, names)
        return Truth(negated(operand.holds), over=operand.over)

    def _present(self, expr: p.Present, names: Names) -> Form:
        value = self.form(expr.value, names)
        return Truth(value.there, over=value.over)

    def _variable(self, expr: p.Variable, names: Names) -> Form:
        if expr.name not in names:
            raise Unlowered
        return names[expr.name]

    def _of_call(self, expr: Expr, names: Names) -> Form:
        return self.of_call(expr)

    def _of_record(self, expr: p.Member, names: Names) -> Form:
        if reads_option(expr) or free_variables(expr):
            raise Unlowered
        return self.of_call(expr)

    # --- what every row shares --------------------------------------------------------------------------------------

    def of_call(self, expr: Expr) -> Form:
        """The same for every row: evaluated now, once."""
        known = self._known.get(id(expr))
        if known is not None:
            return known[1]
        try:
            with bounded():
                form = fixed(evaluate(expr, Frame(self.call, self.budget)), expr.type)
        except Overflow:
            form = Fixed(stand_in(expr.type), over=TRUE)
        self._known[id(expr)] = expr, form
        return form

    def over(self, items: Items) -> Lowering:
        """For expressions of items, as if one were the option; what the call holds is known already."""
        return Lowering(
            items.schema, self.call, budget=self.budget, _known=self._known, remembered=self.remembered.elsewhere()
        )

    def fresh(self) -> int:
        """A number that no other node has."""
        return next(self._fresh)

    # --- columns ----------------------------------------------------------------------------------------------------

    def column(self, path: Path) -> Form:
        form = self._columns.get(path)
        if form is None:
            form = self._columns[path] = self._read(path)
        return form

    def _read(self, path: Path) -> Form:
        type, optional = type_at(self.schema, path)
        there = self.graph.test(HasValue(path)) if optional else TRUE
        match type:
            case t.Bool():
                return Truth(self.graph.test(Flag(self.graph.value(Read(path)), "holds")), there)
            case t.Text() | t.Closed():
                return TextColumn(path, there)
            case t.Set():
                return SetColumn(path, there)
            case t.Record():
                return Nested(path, there)
            case _:
                return Number(self.graph.value(Read(path)), isinstance(type, FLOATS), there)

    # --- logic ------------------------------------------------------------------------------------------------------

    def _conjunction(self, expr: p.And, names: Names) -> Truth:
        """An operand counts where all before it hold; after one that never does, none is looked at."""
        graph, over = self.graph, FALSE
        held: list[Literal] = []
        for operand in expr.operands:
            part = self.truth(operand, names)
            if part.over != FALSE:
                over = graph.any_of(over, graph.all_of(*held, part.over))
            held.append(part.holds)
            if part.holds == FALSE:
                break
        return Truth(graph.all_of(*held), TRUE, over)

    def _disjunction(self, expr: p.Or, names: Names) -> Truth:
        graph, over = self.graph, FALSE
        failed: list[Literal] = []
        for operand in expr.operands:
            part = self.truth(operand, names)
            if part.over != FALSE:
                over = graph.any_of(over, graph.all_of(*failed, part.over))
            failed.append(negated(part.holds))
            if part.holds == TRUE:
                break
        return Truth(negated(graph.all_of(*failed)), over=over)

    def number(self, form: Form, floating: bool) -> Number:
        match form:
            case Number():
                assert form.floating == floating
                return form
            case Fixed(value, over):
                number = 0 if value is None else value
                constant = self.graph.number(float(number) if floating else int(number))
                return Number(constant, floating, form.there, over)
            case _:
                raise Unlowered

    def _member(self, expr: p.InSet, names: Names) -> Truth:
        """In a set of the row's own, made of items: an item of that value is looked for instead."""
        value = self.form(expr.value, names)
        try:
            return comparisons.member(self.graph, value, self.form(expr.container, names))
        except Unlowered:
            if not isinstance(expr.container, p.Comprehension) or value.over != FALSE:
                raise
            return made_member(self, expr.value, expr.container, names)

    # --- what stands for something else -----------------------------------------------------------------------------

    def key(self, expr: Expr) -> int:
        return self._keys.setdefault(expr, len(self._keys))

    def whole(self, column: WholeColumn) -> int:
        self.wholes.append(column)
        return self.graph.value(Whole(len(self.wholes) - 1))


def _is_written(end: Expr | None) -> TypeGuard[p.Const | None]:
    """Of a range: whether it is a constant, or open."""
    return end is None or (isinstance(end, p.Const) and end.value is not None)


# By class, since a program has many nodes. `RuleFact` and `OutcomeValue` stand in `expect` only.
_FORMS: Mapping[type[Expr], Callable[[Lowering, Any, Names], Form]] = {
    p.Const: Lowering._constant,
    p.OptionValue: Lowering._option_value,
    p.Compare: Lowering._compare,
    p.InRange: Lowering._in_range,
    p.InSet: Lowering._member,
    p.And: Lowering._conjunction,
    p.Or: Lowering._disjunction,
    p.Not: Lowering._negation,
    p.Apply: calls.apply,
    p.If: choices.choose_if,
    p.Coalesce: choices.coalesce,
    p.Present: Lowering._present,
    p.Comprehension: many.comprehension,
    p.BatchValue: many.batch_value,
    p.DefCall: calls.def_call,
    p.Variable: Lowering._variable,
    p.ContextValue: Lowering._of_call,
    p.MemoryValue: Lowering._of_call,
    p.LetValue: Lowering._of_call,
    p.LocalInstant: Lowering._of_call,
    p.Member: Lowering._of_record,
}
