"""What was written: one frozen node for each form of the language, each with its span.

In: the parser builds these. Out: `format` prints them, `semantics` resolves them. Spans and comments take no part in
equality, so two trees are equal when they say the same. Nothing here knows of types.
"""

from __future__ import annotations

from dataclasses import field
from datetime import date, datetime, timedelta
from fractions import Fraction

from ucl.diagnostics import Source, Span
from ucl.frozen import frozen


@frozen
class Node:
    span: Span = field(compare=False, repr=False)


@frozen
class Identifier(Node):
    """A name where it is declared or meant as a name, not evaluated."""

    text: str


# --- literals -------------------------------------------------------------------------------------------------------


@frozen
class LiteralNode(Node):
    """`mistaken`: it was reported as no literal, so that its value is a guess, and nothing more is to be said of it."""

    mistaken: bool = field(default=False, compare=False, repr=False, kw_only=True)


@frozen
class IntLiteral(LiteralNode):
    """`text` is as written (`1_000`); `value` may lie outside 64 bits, which the checker reports."""

    value: int
    text: str = field(compare=False)


@frozen
class FloatLiteral(LiteralNode):
    """`0.8`, or a percentage: `15%` has the value 0.15 and the text `15%`."""

    value: float
    text: str


@frozen
class TextLiteral(LiteralNode):
    """`value` is unescaped and NFC."""

    value: str


@frozen
class BoolLiteral(Node):
    value: bool


@frozen
class WeekdayLiteral(Node):
    """0 is Monday."""

    value: int


@frozen
class TimeLiteral(LiteralNode):
    """Microseconds since midnight; 24:00 (86,400,000,000) is written so, and allowed as a range's end only."""

    value: int


@frozen
class DateLiteral(LiteralNode):
    value: date


@frozen
class DateTimeLiteral(LiteralNode):
    """`local` is as written, without a zone; `offset` is None where the zone of the call decides."""

    local: datetime
    offset: timedelta | None


@frozen
class QuantityPart:
    amount: Fraction
    unit: str


@frozen
class QuantityLiteral(LiteralNode):
    """`1h30min` has two parts; which dimension the units are of is for the checker."""

    parts: tuple[QuantityPart, ...]
    text: str = field(compare=False)


@frozen
class SetLiteral(Node):
    elements: tuple[Expr, ...]


# --- expressions ----------------------------------------------------------------------------------------------------


@frozen
class Name(Node):
    text: str


@frozen
class Attribute(Node):
    """`value.name`: a field, a local part, or a name of an imported module; `name_span` is the name's own."""

    value: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


@frozen
class Call(Node):
    """`function` is a Name, or an Attribute for `module.f(x)`; anything else the checker refuses."""

    function: Expr
    arguments: tuple[Expr, ...]


@frozen
class Negate(Node):
    """Unary minus. The parser folds it into an IntLiteral's value, so that -9223372036854775808 can be written."""

    operand: Expr


@frozen
class Arithmetic(Node):
    """`operator` is one of `+ - * /`."""

    operator: str
    left: Expr
    right: Expr


@frozen
class Coalesce(Node):
    value: Expr
    default: Expr


@frozen
class Compare(Node):
    """`operator` is one of `== != < <= > >=`."""

    operator: str
    left: Expr
    right: Expr


@frozen
class Range(Node):
    """`low..high`, `low..=high` (inclusive), or with one end open; stands after `in`, `valid`, or as a let."""

    low: Expr | None
    high: Expr | None
    inclusive: bool


@frozen
class In(Node):
    """`value in container` or, negated, `not in`; the container is a Range or an expression."""

    value: Expr
    container: Expr
    negated: bool


@frozen
class Not(Node):
    operand: Expr


@frozen
class And(Node):
    """Flat: `a and b and c` has three operands, so that depth does not grow with length."""

    operands: tuple[Expr, ...]


@frozen
class Or(Node):
    operands: tuple[Expr, ...]


@frozen
class If(Node):
    condition: Expr
    then: Expr
    otherwise: Expr


@frozen
class SortKey:
    value: Expr
    descending: bool


@frozen
class Comprehension(Node):
    """`kind(value for variable in source where condition by keys, share)`.

    `value` is None for `count(t in l …)`, `any`, `all`; `share` is the 25% of `frequent`.
    """

    kind: Identifier
    value: Expr | None
    variable: Identifier
    source: Expr
    condition: Expr | None
    keys: tuple[SortKey, ...]
    share: Expr | None


Literal = (
    IntLiteral
    | FloatLiteral
    | TextLiteral
    | BoolLiteral
    | WeekdayLiteral
    | TimeLiteral
    | DateLiteral
    | DateTimeLiteral
    | QuantityLiteral
)
Expr = (
    Literal
    | SetLiteral
    | Name
    | Attribute
    | Call
    | Negate
    | Arithmetic
    | Coalesce
    | Compare
    | Range
    | In
    | Not
    | And
    | Or
    | If
    | Comprehension
)


# --- types ----------------------------------------------------------------------------------------------------------


@frozen
class NamedType(Node):
    """`int`, `length`, `Meeting`, or with a module's prefix `units.length`."""

    path: tuple[str, ...]


@frozen
class ClosedType(Node):
    """`"a" | "b"`: the listed values, in order."""

    values: tuple[TextLiteral, ...]


@frozen
class GenericType(Node):
    """`set<T>` or `list<S>`; `constructor` is the word written."""

    constructor: Identifier
    element: TypeExpr


@frozen
class OptionalType(Node):
    inner: TypeExpr


TypeExpr = NamedType | ClosedType | GenericType | OptionalType


# --- clauses --------------------------------------------------------------------------------------------------------


@frozen
class SourceClause(Node):
    """`from chat "c42" at 2026-03-04`."""

    kind: Identifier
    id: TextLiteral
    at: DateLiteral | DateTimeLiteral | None


@frozen
class Clause(Node):
    """A clause as it stands in its body or field, under its word: for `format`, which keeps comments at their clause.

    What it says is in the node that holds it too, where all who ask for the meaning find it.
    """

    word: str
    value: ClauseValue


@frozen
class Meta:
    """What may stand in every body. None means that the clause is not written."""

    because: TextLiteral | None = None
    sources: tuple[SourceClause, ...] = ()
    confidence: Expr | None = None
    priority: Expr | None = None
    valid: Expr | None = None
    status: Identifier | None = None


NO_META = Meta()
"""That of a body in which none of them stands."""


@frozen
class ScoreException(Node):
    condition: Expr
    score: Expr


@frozen
class EffectCall(Node):
    effect: Identifier
    arguments: tuple[Expr, ...]


@frozen
class DoException(Node):
    """`calls` is empty for `do nothing`."""

    condition: Expr
    calls: tuple[EffectCall, ...]


ClauseValue = Expr | Identifier | SourceClause | ScoreException | DoException | tuple[EffectCall, ...]


# --- declarations ---------------------------------------------------------------------------------------------------


@frozen
class ModuleDeclaration(Node):
    path: tuple[Identifier, ...]


@frozen
class Import(Node):
    """`names` is None for `import a.b`, which makes the module usable as `b.x`."""

    path: tuple[Identifier, ...]
    names: tuple[Identifier, ...] | None


@frozen
class Timezone(Node):
    zone: TextLiteral


@frozen
class UnitDeclaration(Node):
    """`km = 1000m`; the base unit has no definition."""

    name: Identifier
    definition: QuantityLiteral | None


@frozen
class Dimension(Node):
    name: Identifier
    units: tuple[UnitDeclaration, ...]
    doc: str | None = field(default=None, compare=False)


@frozen
class FieldDeclaration(Node):
    """`domain` is a Range or a SetLiteral of literals."""

    name: Identifier
    type: TypeExpr
    domain: Expr | None
    column: TextLiteral | None
    unit: Identifier | None
    default: Expr | None
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Schema(Node):
    name: Identifier
    fields: tuple[FieldDeclaration, ...]
    doc: str | None = field(default=None, compare=False)


@frozen
class Context(Node):
    fields: tuple[FieldDeclaration, ...]
    doc: str | None = field(default=None, compare=False)


@frozen
class Memory(Node):
    name: Identifier
    type: TypeExpr
    default: Expr | None
    doc: str | None = field(default=None, compare=False)


@frozen
class Let(Node):
    name: Identifier
    type: TypeExpr | None
    value: Expr
    doc: str | None = field(default=None, compare=False)


@frozen
class Parameter(Node):
    name: Identifier
    type: TypeExpr


@frozen
class Def(Node):
    name: Identifier
    parameters: tuple[Parameter, ...]
    result: TypeExpr
    body: Expr
    doc: str | None = field(default=None, compare=False)


@frozen
class Resolve(Node):
    schema: Identifier
    method: Identifier


@frozen
class Rule(Node):
    name: Identifier
    schema: Identifier
    overrides: tuple[Identifier, ...]
    when: Expr | None
    unless: tuple[Expr, ...]
    score: Expr | None
    exceptions: tuple[ScoreException, ...]
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Constraint(Node):
    """`forbid when P` has `forbid`; `require P [when Q]` has `require` and perhaps `when`."""

    name: Identifier
    schema: Identifier
    overrides: tuple[Identifier, ...]
    forbid: Expr | None
    require: Expr | None
    when: Expr | None
    unless: tuple[Expr, ...]
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Effect(Node):
    name: Identifier
    many: bool
    parameters: tuple[Parameter, ...]
    doc: str | None = field(default=None, compare=False)


@frozen
class Action(Node):
    """`calls` is None where no `do` is written, empty for `do nothing`."""

    name: Identifier
    schema: Identifier
    overrides: tuple[Identifier, ...]
    when: Expr | None
    unless: tuple[Expr, ...]
    calls: tuple[EffectCall, ...] | None
    exceptions: tuple[DoException, ...]
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Alert(Node):
    name: Identifier
    variable: Identifier
    memory: Identifier
    when: Expr | None
    unless: tuple[Expr, ...]
    say: TextLiteral | None
    severity: Identifier | None
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Property(Node):
    name: Identifier
    schema: Identifier
    given: Expr | None
    expect: tuple[Expr, ...]
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


@frozen
class Prefer(Node):
    name: Identifier
    schema: Identifier
    better: Expr | None
    worse: Expr | None
    meta: Meta
    doc: str | None = field(default=None, compare=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)


Declaration = (
    ModuleDeclaration
    | Import
    | Timezone
    | Dimension
    | Schema
    | Context
    | Memory
    | Let
    | Def
    | Resolve
    | Rule
    | Constraint
    | Effect
    | Action
    | Alert
    | Property
    | Prefer
)


# The declarations with clauses.
Body = Rule | Constraint | Action | Alert | Property | Prefer


@frozen
class Comment:
    """From `#` to the end of the line; `text` includes the `#`."""

    span: Span = field(compare=False, repr=False)
    text: str


@frozen
class File:
    """A parsed source. Declarations that could not be read are left out; the report says which."""

    source: Source = field(compare=False, repr=False)
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
