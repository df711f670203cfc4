"""A place with one of everything, for tests of expressions: text in, typed tree and diagnostics out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ucl.diagnostics import Diagnostic, Report, Source, Span
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions import NO_FACTS, Checked, Known, check_condition, check_expression
from ucl.semantics.check.scope import Global, ModuleName, RangeLet, RuleName, Scope, Wrong
from ucl.semantics.types import BOOL, DATE, DATETIME, DURATION, FLOAT, INT, TEXT, TIME, WEEKDAY, Type
from ucl.syntax import ast
from ucl.syntax.parse import parse

NOWHERE = Span(Source("<test>", ""), 0, 0)
LENGTH = t.Dimension("std.units", "length", (t.Unit("m", Fraction(1)), t.Unit("km", Fraction(1000))))
MASS = t.Dimension("std.units", "mass", (t.Unit("kg", Fraction(1)), t.Unit("g", Fraction(1, 1000))))
KIND = t.Closed(("internal", "external"))
OTHER_KIND = t.Closed(("external", "personal"))


def field(name: str, type: Type, domain: p.Domain | None = None) -> p.Field:
    return p.Field(name, type, domain, name, None, None, None, NOWHERE)


def constant(type: Type, value: p.Value) -> p.Const:
    return p.Const(type, NOWHERE, value)


def domain(low: int | None, high: int | None) -> p.RangeDomain:
    low_end, high_end = (None if end is None else constant(INT, end) for end in (low, high))
    return p.RangeDomain(low_end, high_end, True, False)


def schema(name: str, *fields: p.Field) -> p.Schema:
    return p.Schema("m", name, fields, None, NOWHERE)


PERSON = schema("Person", field("name", TEXT), field("age", INT), field("mail", t.Optional(TEXT)))
TRIP = schema(
    "Trip",
    field("place", TEXT),
    field("cost", INT),
    field("fare", FLOAT),
    field("start", DATETIME),
    field("stars", t.Optional(INT)),
    field("nights", INT, domain(1, 30)),
)
OPTION = schema(
    "S",
    field("n", INT),
    field("m", INT),
    field("k", INT, domain(1, 9)),
    field("f", FLOAT),
    field("g", FLOAT),
    field("b", BOOL),
    field("c", BOOL),
    field("name", TEXT),
    field("note", t.Optional(TEXT)),
    field("rating", t.Optional(FLOAT)),
    field("count_", t.Optional(INT)),
    field("kind", KIND),
    field("also", OTHER_KIND),
    field("start", DATETIME),
    field("day", DATE),
    field("t", TIME),
    field("w", WEEKDAY),
    field("lasts", DURATION),
    field("far", t.Quantity(LENGTH)),
    field("heavy", t.Quantity(MASS)),
    field("tags", t.Set(TEXT)),
    field("kinds", t.Set(KIND)),
    field("numbers", t.Set(INT)),
    field("host", t.Record(PERSON)),
    field("guest", t.Optional(t.Record(PERSON))),
    field("place", TEXT),
    field("score", FLOAT),
)
WITHOUT_SCORE = schema("T", field("n", INT), field("rating", t.Optional(FLOAT)))
CONTEXT = {
    "now": field("now", DATETIME),
    "today": field("today", DATE),
    "mood": field("mood", INT),
    "place": field("place", TEXT),
}
MEMORY = {
    "trips": p.MemoryField("trips", t.List(t.Record(TRIP)), None, None, NOWHERE),
    "limit": p.MemoryField("limit", t.Optional(INT), None, None, NOWHERE),
}


def let(name: str, value: p.Expr) -> p.Let:
    return p.Let("m", name, value.type, value, None, NOWHERE)


def definition(name: str, result: Type, body: p.Expr, **parameters: Type) -> p.Definition:
    listed = tuple(p.Parameter(n, type) for n, type in parameters.items())
    return p.Definition("m", name, listed, result, body, None, NOWHERE)


LIMIT = let("limit", constant(INT, 3))
TWICE = definition("twice", INT, p.Variable(INT, NOWHERE, "x"), x=INT)
GLOBALS: dict[str, Global] = {
    "five": let("five", constant(INT, 5)),
    "vip": let("vip", constant(t.Set(TEXT), frozenset(("ann", "bo")))),
    "moment": let("moment", p.LocalInstant(DATETIME, NOWHERE, 0)),
    "quiet": RangeLet("quiet", TIME, constant(TIME, 22 * 3600 * 10**6), constant(TIME, 6 * 3600 * 10**6), False),
    "half_year": RangeLet("half_year", DATE, constant(DATE, 20454), constant(DATE, 20635), False),
    "broken": Wrong(),
    "twice": TWICE,
    "is_kind": definition("is_kind", BOOL, constant(BOOL, True), k=KIND),
    "half": definition("half", FLOAT, constant(FLOAT, 0.5), x=FLOAT),
    "Person": PERSON,
    "length": LENGTH,
    "notify": p.Effect("notify", False, (), None, NOWHERE),
    "no_lunch": RuleName("no_lunch", "rule"),
    "no_nights": RuleName("no_nights", "constraint"),
    "base": ModuleName("prefs.base", {"limit": LIMIT, "twice": TWICE}.get, lambda: ("limit", "twice")),
}
UNITS: dict[str, tuple[tuple[t.Dimension | None, t.Unit], ...]] = {
    **{unit.name: ((None, unit),) for unit in t.DURATION_UNITS},
    **{unit.name: ((dimension, unit),) for dimension in (LENGTH, MASS) for unit in dimension.units},
}


def scope(option: p.Schema | None = OPTION, in_expect: bool = False) -> Scope:
    return Scope("m", option, CONTEXT, MEMORY, GLOBALS.get, lambda: GLOBALS, UNITS, {}, in_expect)


def read(text: str) -> ast.Expr:
    report = Report()
    file = parse(Source("test.ucl", f"let x = {text}"), report)
    assert not report.diagnostics, [d.message for d in report]
    (declaration,) = file.declarations
    assert isinstance(declaration, ast.Let)
    return declaration.value


@dataclass(frozen=True)
class Result:
    expr: p.Expr
    diagnostics: list[Diagnostic]

    @property
    def codes(self) -> list[str]:
        return [d.code for d in self.diagnostics]

    @property
    def only(self) -> Diagnostic:
        assert len(self.diagnostics) == 1, [(d.code, d.message) for d in self.diagnostics]
        return self.diagnostics[0]


def check(text: str, wanted: Type | None = None, where: Scope | None = None, facts: Known = NO_FACTS) -> Result:
    report = Report()
    expr = check_expression(read(text), where or scope(), report, facts, wanted)
    return Result(expr, list(report))


def condition(text: str, where: Scope | None = None) -> tuple[Checked, list[Diagnostic]]:
    report = Report()
    return check_condition(read(text), where or scope(), report), list(report)
