"""Expressions to values and masks.

In: a typed expression. Out: its form (`forms`). Constants of the call are computed here, by the same functions that
`evaluate` calls. Each mask of overflow is put together as `evaluate` goes: a part counts where it is needed. What no
vector operation computes is left to a residual column: `evaluate`, once for each distinct tuple of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ucl.kernels.columns import Path
from ucl.kernels.execution.vector import OPERATIONS
from ucl.kernels.lowering import comparisons
from ucl.kernels.lowering.forms import (
    FLOATS,
    Fixed,
    Form,
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
from ucl.kernels.lowering.once import elements, residual
from ucl.kernels.lowering.reads import free_variables, may_overflow, reads_option
from ucl.kernels.lowering.schedule import schedule
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.membership import made_member
from ucl.kernels.memory.remembered import Remembered
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Batch,
    Flag,
    FromWall,
    HasValue,
    Literal,
    Local,
    MadeTexts,
    Operation,
    Read,
    Select,
    SetSize,
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


Names = Mapping[str, Form]
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
    _remembered: Remembered = field(default_factory=Remembered)
    residuals: dict[int, int] = field(default_factory=dict)
    _columns: dict[Path, Form] = field(default_factory=dict)
    _made: dict[Path, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    _parts_of: dict[tuple[str, Path], Form] = field(default_factory=dict)
    _fresh: Iterator[int] = field(default_factory=count)
    _calls: dict[tuple[Definition, tuple[Form, ...]], Form] = field(default_factory=dict)

    def truth(self, expr: Expr, names: Names = _NO_NAMES) -> Truth:
        """A condition: something that is there and is a bool."""
        match self.form(expr, names):
            case Truth() as truth:
                return truth
            case Fixed(value, over):
                return Truth(TRUE if value else FALSE, FALSE if value is None else TRUE, over)
            case other:
                raise AssertionError(other)

    def form(self, expr: Expr, names: Names = _NO_NAMES) -> Form:
        """What an expression becomes. `names` are the parameters of the definition that it stands in."""
        try:
            return _FORMS[type(expr)](self, expr, names)
        except Unlowered:
            if names:
                raise
            return residual(self, expr)

    def _constant(self, expr: p.Const, names: Names) -> Fixed:
        return fixed(expr.value, expr.type)

    def _option_value(self, expr: p.OptionValue, names: Names) -> Form:
        return self.column(expr.path)

    def _compare(self, expr: p.Compare, names: Names) -> Form:
        return comparisons.compare(
            self.graph, expr.operator, self.form(expr.left, names), self.form(expr.right, names)
        )

    def _in_range(self, expr: p.InRange, names: Names) -> Form:
        low = None if expr.low is None else self.form(expr.low, names)
        high = None if expr.high is None else self.form(expr.high, names)
        return comparisons.within(self.graph, self.form(expr.value, names), low, high, expr.inclusive, expr.wraps)

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
            items.schema, self.call, budget=self.budget, _known=self._known, _remembered=self._remembered.elsewhere()
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
        return Truth(graph.all_of(*held), over=over)

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

    def _if(self, expr: p.If, names: Names) -> Form:
        condition = self.truth(expr.condition, names)
        if condition.holds in (TRUE, FALSE) and condition.over == FALSE:
            return self.form(expr.then if condition.holds == TRUE else expr.otherwise, names)
        then, otherwise = self.form(expr.then, names), self.form(expr.otherwise, names)
        graph, holds = self.graph, condition.holds
        over = graph.any_of(
            condition.over, graph.all_of(holds, then.over), graph.all_of(negated(holds), otherwise.over)
        )
        there = graph.choose(holds, then.there, otherwise.there)
        return self.choice(holds, then, otherwise, there, over, expr.type)

    def _coalesce(self, expr: p.Coalesce, names: Names) -> Form:
        value = self.form(expr.value, names)
        if value.there == TRUE:
            return value
        if value == Fixed(None):
            return self.form(expr.default, names)
        default = self.form(expr.default, names)
        if isinstance(value, SetColumn) and default == Fixed(frozenset()):
            return SetColumn(value.path, TRUE, value.over)  # absent sets are empty ranges already
        if isinstance(value, TextColumn) and isinstance(default, Fixed) and default.there == TRUE:
            return self._made_or(value, default)
        graph = self.graph
        over = graph.any_of(value.over, graph.all_of(negated(value.there), default.over))
        there = graph.any_of(value.there, default.there)
        return self.choice(value.there, value, default, there, over, expr.type)

    def texts(self, codes: int, dictionary: tuple[str, ...], there: Literal, over: Literal) -> TextColumn:
        """A column of the texts that a value's codes stand for."""
        path = (f"made {len(self._made)}",)  # no field has such a name
        self._made[path] = codes, dictionary
        self.whole(MadeTexts(path, dictionary, codes, there, schedule(self.graph, [there], [codes])))
        return TextColumn(path, there, over)

    def _made_or(self, value: TextColumn, default: Fixed) -> TextColumn:
        """Made texts, or a constant one."""
        if value.path not in self._made:
            raise Unlowered
        codes, dictionary = self._made[value.path]
        if default.value not in dictionary:
            dictionary = (*dictionary, default.value)
        constant = self.graph.number(dictionary.index(default.value))
        over = self.graph.any_of(value.over, self.graph.all_of(negated(value.there), default.over))
        return self.texts(self.select(value.there, codes, constant), dictionary, TRUE, over)

    def choice(
        self, condition: Literal, then: Form, otherwise: Form, there: Literal, over: Literal, type: t.Type
    ) -> Form:
        """`then` where the condition holds, else `otherwise`."""
        type = t.present(type)
        if isinstance(type, t.Bool):
            a, b = holds_of(then), holds_of(otherwise)
            return Truth(self.graph.choose(condition, a, b), there, over)
        if isinstance(type, t.Text | t.Closed | t.Set | t.Record | t.List):
            raise Unlowered
        floating = isinstance(type, FLOATS)
        a, b = self.number(then, floating).value, self.number(otherwise, floating).value
        chosen = a if condition == TRUE or a == b else b if condition == FALSE else self.select(condition, a, b)
        return Number(chosen, floating, there, over)

    def select(self, condition: Literal, then: int, otherwise: int) -> int:
        if condition & 1:
            condition, then, otherwise = negated(condition), otherwise, then
        return self.graph.value(Select(condition, then, otherwise))

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

    # --- operations -------------------------------------------------------------------------------------------------

    def _apply(self, expr: p.Apply, names: Names) -> Form:
        """A local part of a field is found once; anything else from the forms of its arguments."""
        first = expr.arguments[0]
        if not (isinstance(first, p.OptionValue) and expr.signature.op in _PARTS):
            return self._operation(expr, names)
        key = (expr.signature.op, first.path)
        form = self._parts_of.get(key)
        if form is None:
            form = self._parts_of[key] = self._operation(expr, names)
        return form

    def _operation(self, expr: p.Apply, names: Names) -> Form:
        forms = [self.form(argument, names) for argument in expr.arguments]
        if all(isinstance(form, Fixed) for form in forms):
            return self._computed(expr, forms)
        over = self.graph.any_of(*(form.over for form in forms))
        there = self.graph.all_of(*(form.there for form in forms))
        op = expr.signature.op
        match op:
            case "overlaps":
                return Truth(comparisons.overlap(self.graph, forms[0], forms[1]), there, over)
            case "subset":
                return Truth(comparisons.contained(self.graph, forms[0], forms[1]), there, over)
            case "size" if isinstance(forms[0], SetColumn):
                return Number(self.graph.value(SetSize(forms[0].path)), False, there, over)
        operation = OPERATIONS.get(op)
        if operation is None and op not in _PARTS and op != "at":
            raise Unlowered
        floating = isinstance(t.present(expr.type), FLOATS)
        numbers = [self._operand(form, argument) for form, argument in zip(forms, expr.arguments, strict=True)]
        if op in _PARTS:
            return self._flagged(self._part(op, numbers[0]), floating, there, over, overflows=op == "date_of")
        if op == "at":
            wall = self.graph.value(Operation("wall_of", (numbers[0], numbers[1])))
            return self._flagged(self.graph.value(FromWall(wall)), floating, there, over, overflows=True)
        assert operation is not None
        value = self.graph.value(Operation(op, tuple(numbers)))
        return self._flagged(value, floating, there, over, operation.overflows, operation.partial)

    def _part(self, op: str, instant: int) -> int:
        """A local part of an instant."""
        value = self.graph.value(Local(instant))
        for step in _PARTS[op]:
            value = self.graph.value(Operation(step, (value,)))
        return value

    def _operand(self, form: Form, expr: Expr) -> int:
        return self.number(form, isinstance(t.present(expr.type), FLOATS)).value

    def _computed(self, expr: p.Apply, forms: list[Form]) -> Fixed:
        """Of constants, a constant; of an absent one, nothing."""
        values = [form.value for form in forms if isinstance(form, Fixed)]
        over = self.graph.any_of(*(form.over for form in forms))
        if over != FALSE or None in values:
            return Fixed(None if None in values else stand_in(expr.type), over)
        run = expr.signature.run
        try:
            return fixed(run(self.call.zone, *values) if expr.signature.zoned else run(*values), expr.type)
        except Overflow:
            return Fixed(stand_in(expr.type), over=TRUE)

    def _flagged(
        self, value: int, floating: bool, there: Literal, over: Literal, overflows: bool, partial: bool = False
    ) -> Number:
        """A value with what its own flags add: it overflows only where its arguments are there."""
        if overflows:
            over = self.graph.any_of(over, self.graph.all_of(there, self.graph.test(Flag(value, "over"))))
        if partial:
            there = self.graph.all_of(there, negated(self.graph.test(Flag(value, "missing"))))
        return Number(value, floating, there, over)

    def _def_call(self, expr: p.DefCall, names: Names) -> Form:
        """The body in place of the call. An argument is lowered once, and counts where the body needs it."""
        definition = expr.definition
        arguments = {
            parameter.name: self.form(argument, names)
            for parameter, argument in zip(definition.parameters, expr.arguments, strict=True)
        }
        key = (definition, tuple(arguments.values()))
        form = self._calls.get(key)
        if form is None:
            form = self._calls[key] = self.form(definition.body, arguments)
        return form

    # --- many values ------------------------------------------------------------------------------------------------

    def _comprehension(self, expr: p.Comprehension, names: Names) -> Form:
        source = self.form(expr.source, names)
        if isinstance(source, Fixed):
            return self._remembered.form(self, expr, source, names)
        if free_variables(expr) or not isinstance(source, SetColumn):
            raise Unlowered
        if expr.kind not in ("any", "all", "count"):
            raise Unlowered
        if expr.condition is None:
            size = Number(self.graph.value(SetSize(source.path)), False, source.there, source.over)
            if expr.kind == "count":
                return size
            return Truth(comparisons.at_least(self.graph, size, 1) if expr.kind == "any" else TRUE, over=source.over)
        if reads_option(expr.condition) or may_overflow(expr.condition):
            raise Unlowered
        return elements(self, expr.kind, source, expr.condition, expr.variable)

    def key(self, expr: Expr) -> int:
        return self._keys.setdefault(expr, len(self._keys))

    def _batch_value(self, expr: p.BatchValue, names: Names) -> Form:
        form = self.form(expr.argument, names)
        argument = self.number(form, isinstance(t.present(expr.argument.type), FLOATS))
        if isinstance(form, Fixed):
            raise Unlowered
        graph = self.graph
        wanted = schedule(graph, [argument.there, argument.over], [argument.value])
        batch = Batch(expr.kind, expr.argument.type, argument.value, argument.there, argument.over, wanted)
        value = self.whole(batch)
        match expr.kind:
            case "lowest" | "highest":
                return Truth(graph.test(Flag(value, "holds")), over=argument.over)
            case "rank_of":
                return Number(value, False, over=argument.over)
            case _:
                over = graph.test(Flag(value, "over"))
                return Number(value, isinstance(t.present(expr.type), FLOATS), over=over)

    def whole(self, column: WholeColumn) -> int:
        self.wholes.append(column)
        return self.graph.value(Whole(len(self.wholes) - 1))


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
    p.Apply: Lowering._apply,
    p.If: Lowering._if,
    p.Coalesce: Lowering._coalesce,
    p.Present: Lowering._present,
    p.Comprehension: Lowering._comprehension,
    p.BatchValue: Lowering._batch_value,
    p.DefCall: Lowering._def_call,
    p.Variable: Lowering._variable,
    p.ContextValue: Lowering._of_call,
    p.MemoryValue: Lowering._of_call,
    p.LetValue: Lowering._of_call,
    p.LocalInstant: Lowering._of_call,
    p.Member: Lowering._of_record,
}
