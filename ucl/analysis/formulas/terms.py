"""What conditions speak of: terms, the values of fields and the parts of instants that vary on their own.

In: typed expressions. Out: the same expressions in which definitions and lets are written out, constants folded, and
each field is a `Variable` named after its term:

    start.weekday == fri and kind == "external"   →   «start/weekday» == 4 and «kind» == "external"

A datetime is not one term but several: its local day, weekday, month, day of the month, time of day, minute and night,
and the instant itself. How they hang together is known to the axes alone. `today` is the day of `now`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import PARTS
from ucl.semantics.check.expressions import expanded_size
from ucl.semantics.expressions import Budget, Exhausted, Frame, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.parts import children, mapped
from ucl.semantics.program import Expr, Field, Program, Schema
from ucl.semantics.types import DATE, DATETIME, INT, TIME, WEEKDAY, Type
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone

# A definition that would grow beyond this when written out is not looked into.
_LARGEST = 20_000

NOW = Field("now", DATETIME, None, "now", None, None, None, None)  # type: ignore[arg-type]

WHOLE, DAY, WEEKDAY_PART, MONTH, MONTHDAY, CLOCK, MINUTE_PART, NIGHT, COUNT = (
    "",
    "day",
    "weekday",
    "month",
    "monthday",
    "clock",
    "minute",
    "night",
    "count",
)
PART_TYPES: Mapping[str, Type] = {
    DAY: DATE,
    WEEKDAY_PART: WEEKDAY,
    MONTH: INT,
    MONTHDAY: INT,
    CLOCK: TIME,
    MINUTE_PART: INT,
    NIGHT: WEEKDAY,
    COUNT: INT,
}
SPANS: Mapping[str, tuple[int, int]] = {
    WEEKDAY_PART: (0, 7),
    MONTH: (1, 13),
    MONTHDAY: (1, 32),
    MINUTE_PART: (0, 60),
    NIGHT: (0, 7),
    COUNT: (0, 1 << 32),  # letters of a text, members of a set
}


# A field by `option` or `context` and the names that lead to it.
FieldPath = tuple[str, tuple[str, ...]]


@frozen
class Place:
    """A field: `root` is `option` or `context`. `optional` are the records around it that may be absent."""

    root: str
    path: tuple[str, ...]
    declared: Field = field(compare=False, repr=False)
    optional: tuple[tuple[str, ...], ...] = field(default=(), compare=False)

    @property
    def type(self) -> Type:
        return t.present(self.declared.type)

    @property
    def may_be_absent(self) -> bool:
        return isinstance(self.declared.type, t.Optional)

    @property
    def key(self) -> str:
        return f"{self.root}.{'.'.join(self.path)}"


@frozen
class Term:
    place: Place
    part: str

    @property
    def type(self) -> Type:
        return PART_TYPES[self.part] if self.part else self.place.type

    @property
    def name(self) -> str:
        return f"{self.place.key}/{self.part}"


class Terms:
    """The terms of one schema and its program's context; grows while conditions are read."""

    def __init__(self, program: Program, schema: Schema, zone: Zone) -> None:
        self.zone = zone
        self.schema = schema
        self.context = (*program.context, NOW)
        self.memory = program.memory
        self.by_name: dict[str, Term] = {}
        self._places: dict[tuple[str, tuple[str, ...]], Place] = {}
        self._call = Call(zone, 0, 0)

    def place(self, root: str, path: tuple[str, ...]) -> Place:
        known = self._places.get((root, path))
        if known is None:
            known = self._places[root, path] = self._find(root, path)
        return known

    def _find(self, root: str, path: tuple[str, ...]) -> Place:
        fields = self.schema.fields if root == "option" else self.context
        optional: list[tuple[str, ...]] = []
        for depth, name in enumerate(path, 1):
            found = next(f for f in fields if f.name == name)
            inner = t.present(found.type)
            if depth < len(path):
                assert isinstance(inner, t.Record)
                fields = inner.schema.fields
                if isinstance(found.type, t.Optional):
                    optional.append(path[:depth])
        return Place(root, path, found, tuple(optional))

    def variable(self, place: Place, part: str, like: Expr) -> p.Variable:
        term = Term(place, part)
        self.by_name.setdefault(term.name, term)
        return p.Variable(term.type, like.span, term.name)

    # --- writing out ------------------------------------------------------------------------------------------------

    def written_out(self, expr: Expr, bound: Mapping[str, Expr] | None = None) -> Expr:
        """The expression over terms. What can't be written out (comprehensions, the batch, memory) stays as it is."""
        bound = bound or {}
        match expr:
            case p.Const() | p.MemoryValue() | p.BatchValue() | p.RuleFact() | p.OutcomeValue():
                return expr
            case p.LocalInstant() | p.LetValue():
                return self._constant(expr)
            case p.OptionValue(path=path):
                return self._field("option", path, expr)
            case p.ContextValue(path=path):
                if path == ("today",):
                    return self.variable(self.place("context", ("now",)), DAY, expr)
                return self._field("context", path, expr)
            case p.Variable(name=name):
                return bound.get(name, expr)
            case p.DefCall():
                return self._definition(expr, bound)
            case p.Comprehension():
                return self._comprehension(expr, bound)
            case p.Apply(signature=signature, arguments=arguments):
                return self._applied(expr, signature.op, tuple(self.written_out(a, bound) for a in arguments))
            case _:
                return self._rebuilt(expr, bound)

    def _field(self, root: str, path: tuple[str, ...], expr: Expr) -> Expr:
        place = self.place(root, path)
        return expr if isinstance(place.type, t.Record) else self.variable(place, WHOLE, expr)

    def _constant(self, expr: Expr) -> Expr:
        try:
            return p.Const(expr.type, expr.span, constant(expr, self.zone))
        except (Overflow, Exhausted):
            return expr

    def _definition(self, expr: p.DefCall, bound: Mapping[str, Expr]) -> Expr:
        arguments = tuple(self.written_out(a, bound) for a in expr.arguments)
        if expanded_size(expr) > _LARGEST:
            return replace(expr, arguments=arguments)
        names = (parameter.name for parameter in expr.definition.parameters)
        return self.written_out(expr.definition.body, dict(zip(names, arguments, strict=True)))

    def _comprehension(self, expr: p.Comprehension, bound: Mapping[str, Expr]) -> Expr:
        """Stays a whole that nothing is known of, but sees what a definition's parameters stand for."""
        if not bound:
            return expr
        inner = {name: value for name, value in bound.items() if name != expr.variable}
        return _substituted(expr, inner)

    def _rebuilt(self, expr: Expr, bound: Mapping[str, Expr]) -> Expr:
        def again(part: Expr) -> Expr:
            return self.written_out(part, bound)

        return mapped(expr, again)

    def _applied(self, expr: p.Apply, op: str, arguments: tuple[Expr, ...]) -> Expr:
        if all(isinstance(a, p.Const) for a in arguments):
            return self._folded(replace(expr, arguments=arguments))
        first = arguments[0]
        if isinstance(first, p.Variable) and first.name in self.by_name:
            part = self._part(op, self.by_name[first.name], expr)
            if part is not None:
                return part
        if op in _THROUGH_DAY:
            day = self._applied(expr, "date_of", (first,))
            if isinstance(day, p.Variable):
                signature = PARTS[DATE, _THROUGH_DAY[op]]
                return self._applied(p.Apply(expr.type, expr.span, signature, (day,)), signature.op, (day,))
        if op in _THROUGH_CLOCK:
            clock = self._applied(expr, "time_of", (first,))
            if isinstance(clock, p.Variable):
                signature = PARTS[TIME, _THROUGH_CLOCK[op]]
                return self._applied(p.Apply(expr.type, expr.span, signature, (clock,)), signature.op, (clock,))
        return replace(expr, arguments=arguments)

    def _part(self, op: str, term: Term, expr: p.Apply) -> p.Variable | None:
        """The term that a local part of another term is."""
        if term.part == WHOLE and op in _OF_INSTANT and isinstance(term.place.type, t.DateTime):
            return self.variable(term.place, _OF_INSTANT[op], expr)
        whole_day = term.part == WHOLE and isinstance(term.place.type, t.Date)
        if op in _OF_DAY and (term.part == DAY or whole_day):
            return self.variable(term.place, _OF_DAY[op], expr)
        whole_time = term.part == WHOLE and isinstance(term.place.type, t.Time)
        if op == "time_minute" and (term.part == CLOCK or whole_time):
            return self.variable(term.place, MINUTE_PART, expr)
        return None

    def _folded(self, expr: p.Apply) -> Expr:
        if any(isinstance(argument, p.Const) and argument.value is None for argument in expr.arguments):
            return expr
        try:
            return p.Const(expr.type, expr.span, evaluate(expr, Frame(self._call, Budget())))
        except Overflow:
            return expr


_OF_INSTANT = {"date_of": DAY, "time_of": CLOCK, "night_of": NIGHT}
_OF_DAY = {"date_weekday": WEEKDAY_PART, "date_month": MONTH, "date_day": MONTHDAY}
_THROUGH_DAY = {"weekday_of": "weekday", "year_of": "year", "month_of": "month", "day_of": "day"}
_THROUGH_CLOCK = {"hour_of": "hour", "minute_of": "minute"}


def valued(expr: Expr, call: Call, name: str = "") -> Callable[[Any], Any]:
    """The value of an expression by that of its one variable. None where it has none: where it overflows, or where an
    operation in it is not defined, such as a division by 0. What surrounds an atom has seen to it that it is not asked
    there."""
    partial = [part for part in _inside_out(expr) if _may_have_no_value(part)]

    def value(told: Any) -> Any:
        frame = Frame(call, Budget(), variables={name: told})
        try:
            if any(evaluate(part, frame) is None for part in partial):
                return None
            return evaluate(expr, frame)
        except Overflow:
            return None

    return value


def _inside_out(expr: Expr) -> Iterator[Expr]:
    """Its parts, each before what it is part of."""
    for part in children(expr):
        yield from _inside_out(part)
    yield expr


def _may_have_no_value(expr: Expr) -> bool:
    match expr:
        case p.Const(value=value):
            return value is None
        case p.Apply(signature=signature):
            return signature.partial
        case _:
            return False


def _substituted(expr: Expr, bound: Mapping[str, Expr]) -> Expr:
    if isinstance(expr, p.Variable):
        return bound.get(expr.name, expr)
    return mapped(expr, lambda part: _substituted(part, bound))


def fields_read(expr: Expr) -> frozenset[FieldPath]:
    """The fields that an expression speaks of, by root and path, through definitions."""
    found: set[FieldPath] = set()
    seen: set[int] = set()
    work: list[Expr] = [expr]
    while work:
        part = work.pop()
        match part:
            case p.OptionValue(path=path):
                found.add(("option", path))
            case p.ContextValue(path=path):
                found.add(("context", path))
            case p.MemoryValue(name=name):
                found.add(("memory", (name,)))
            case p.DefCall(definition=definition) if id(definition) not in seen:
                seen.add(id(definition))
                work.append(definition.body)
        work.extend(children(part))
    return frozenset(found)
