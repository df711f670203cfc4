"""What a source means: names resolved, types known, constants folded, frozen.

In: `check` builds a `Program`. Out: `evaluate` runs it, `kernels.lower` turns it into tables, `analysis` reasons about
it. Everything that needs no further look-up stands in the tree itself: a field is its path, an operator its signature.

Values at run time, the same everywhere: bool; int; float (quantities too, in the base unit); str (text and closed text,
NFC); weekday as int, 0 is Monday; date as days since 1970-01-01; time as microseconds since midnight; datetime as
microseconds since 1970-01-01T00:00Z; duration as microseconds; set as frozenset; record as a mapping from field name to
value; list as a sequence of records; what is absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from ucl.diagnostics import Source, Span
from ucl.frozen import frozen
from ucl.semantics.types import Dimension, Record, Type, Unit

if TYPE_CHECKING:
    from ucl.semantics.builtins import Signature

Value = bool | int | float | str | frozenset[int] | frozenset[str] | Mapping[str, "Value"] | Sequence["Value"] | None


# --- expressions ----------------------------------------------------------------------------------------------------


@frozen
class Typed:
    """Every expression has the type that it has *here*: narrowed by what is known around it."""

    type: Type
    span: Span = field(compare=False, repr=False)


@frozen
class Const(Typed):
    value: Value


@frozen
class LocalInstant(Typed):
    """A datetime literal without an offset: `local` is its wall clock in microseconds, the call's zone the rest."""

    local: int


@frozen
class LetValue(Typed):
    """A let that only a call can evaluate, since its value depends on the zone; others are folded into `Const`."""

    let: Let


@frozen
class OptionValue(Typed):
    """A field of the option by its path: `("start",)`, `("host", "age")`; a path may name a nested record."""

    path: tuple[str, ...]


@frozen
class ContextValue(Typed):
    """A context field by its path; `("now",)` and `("today",)` are always there."""

    path: tuple[str, ...]


@frozen
class MemoryValue(Typed):
    """A scalar or a list of the memory."""

    name: str


@frozen
class Variable(Typed):
    """A comprehension's variable or a def's parameter."""

    name: str


@frozen
class Member(Typed):
    """A field of a record that is not the option or the context: `t.start`."""

    record: Expr
    name: str


@frozen
class Apply(Typed):
    """An operator, a local part (`.date`) or a builtin, by the signature that fits; strict in all arguments.

    An argument that is absent where the signature takes no absent value makes the result absent; types see to it that
    this happens only under an optional `type`.
    """

    signature: Signature
    arguments: tuple[Expr, ...]


@frozen
class Compare(Typed):
    """`== != < <= > >=` between values of one kind. An int and a float compare exactly, without conversion."""

    operator: str
    left: Expr
    right: Expr


@frozen
class InRange(Typed):
    """`low <= value < high`, or `<= high` when inclusive; an open end is None.

    Where `wraps` (times and weekdays) and low > high, the range runs round: value >= low or value < high.
    """

    value: Expr
    low: Expr | None
    high: Expr | None
    inclusive: bool
    wraps: bool


@frozen
class InSet(Typed):
    """Membership in a constant set or in a set that a field holds."""

    value: Expr
    container: Expr


@frozen
class And(Typed):
    """From left to right, as far as needed."""

    operands: tuple[Expr, ...]


@frozen
class Or(Typed):
    operands: tuple[Expr, ...]


@frozen
class Not(Typed):
    operand: Expr


@frozen
class If(Typed):
    condition: Expr
    then: Expr
    otherwise: Expr


@frozen
class Coalesce(Typed):
    """`value ?? default`: the default is evaluated only where the value is absent."""

    value: Expr
    default: Expr


@frozen
class Present(Typed):
    """`absent(x)` is `Not(Present(x))`."""

    value: Expr


@frozen
class SortKey:
    value: Expr
    descending: bool


@frozen
class Comprehension(Typed):
    """`kind(value for variable in source where condition by keys, share)`, LANGUAGE §5.

    `kind` is one of count any all sum min max mean first last mode distinct frequent. `value` is None for the first
    three; `any` and `all` have their test in `condition`.
    """

    kind: str
    variable: str
    source: Expr
    value: Expr | None
    condition: Expr | None
    keys: tuple[SortKey, ...]
    share: float | None


@frozen
class BatchValue(Typed):
    """`lowest highest rank_of mean_of` of the argument over the choice set."""

    kind: str
    argument: Expr


@frozen
class DefCall(Typed):
    definition: Definition
    arguments: tuple[Expr, ...]


@frozen
class RuleFact(Typed):
    """`fires(r)`, `applies(r)`, `contribution(r)`; in `expect` only. `kind` is the word; `rule` may be a constraint."""

    kind: str
    rule: str


@frozen
class OutcomeValue(Typed):
    """`score`, `feasible`, `contested` or `decision` of the option; in `expect` only."""

    name: str


Expr = (
    Const
    | LocalInstant
    | LetValue
    | OptionValue
    | ContextValue
    | MemoryValue
    | Variable
    | Member
    | Apply
    | Compare
    | InRange
    | InSet
    | And
    | Or
    | Not
    | If
    | Coalesce
    | Present
    | Comprehension
    | BatchValue
    | DefCall
    | RuleFact
    | OutcomeValue
)


# --- declarations ---------------------------------------------------------------------------------------------------


@frozen
class RangeDomain:
    """The ends are `Const` or `LocalInstant`; meaning as for `InRange`."""

    low: Expr | None
    high: Expr | None
    inclusive: bool
    wraps: bool


@frozen
class SetDomain:
    values: frozenset[int] | frozenset[str]


Domain = RangeDomain | SetDomain


@frozen
class Field:
    """A field of a schema or of the context.

    `column` is the data's name for it; `unit` that in which the data's numbers are given (None: base unit, or ISO text
    for a duration); `default` is constant (`Const`, `LocalInstant` or `LetValue`).
    """

    name: str
    type: Type
    domain: Domain | None
    column: str
    unit: Unit | None
    default: Expr | None
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Schema:
    module: str
    name: str
    fields: tuple[Field, ...]
    doc: str | None
    span: Span = field(repr=False)

    @cached_property
    def _by_name(self) -> Mapping[str, Field]:
        return {f.name: f for f in reversed(self.fields)}

    def field(self, name: str) -> Field | None:
        return self._by_name.get(name)


@dataclass(frozen=True, eq=False)
class Let:
    module: str
    name: str
    type: Type
    value: Expr
    doc: str | None
    span: Span = field(repr=False)


@frozen
class Parameter:
    name: str
    type: Type


@dataclass(frozen=True, eq=False)
class Definition:
    """A total function. `body` may read context and memory, never the option."""

    module: str
    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Expr = field(repr=False)
    doc: str | None
    span: Span = field(repr=False)


@frozen
class MemoryField:
    """`default` is a constant; a list that is not given is empty."""

    name: str
    type: Type
    default: Expr | None
    doc: str | None
    span: Span = field(compare=False, repr=False)


class Status(StrEnum):
    ACTIVE = "active"
    SHADOW = "shadow"
    RETIRED = "retired"


class Resolution(StrEnum):
    WEIGHTED = "weighted"
    PRIORITY = "priority"


@frozen
class Provenance:
    """`from chat "c42" at 2026-03-04`; `at` is ISO text as written."""

    kind: str
    id: str
    at: str | None


@frozen
class Validity:
    """Days since 1970-01-01, `first <= today < end`; an open end is None."""

    first: int | None
    end: int | None

    def holds(self, today: int) -> bool:
        return (self.first is None or self.first <= today) and (self.end is None or today < self.end)


ALWAYS = Validity(None, None)


@frozen
class Meta:
    because: str | None = None
    sources: tuple[Provenance, ...] = ()
    confidence: float = 1.0
    priority: float = 1.0
    valid: Validity = ALWAYS
    status: Status = Status.ACTIVE


@frozen
class ScoreException:
    condition: Expr
    score: Expr


@frozen
class Rule:
    """`overrides` names the rules that this one silences where it applies."""

    name: str
    schema: Schema
    overrides: tuple[str, ...]
    when: Expr | None
    unless: tuple[Expr, ...]
    score: Expr
    exceptions: tuple[ScoreException, ...]
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class Constraint:
    """Violated where it applies and `require` does not hold; `forbid when P` has `when` P and no `require`."""

    name: str
    schema: Schema
    overrides: tuple[str, ...]
    when: Expr | None
    unless: tuple[Expr, ...]
    require: Expr | None
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class Effect:
    name: str
    many: bool
    parameters: tuple[Parameter, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class EffectCall:
    effect: Effect
    arguments: tuple[Expr, ...]


@frozen
class DoException:
    condition: Expr
    calls: tuple[EffectCall, ...]


@frozen
class Action:
    name: str
    schema: Schema
    overrides: tuple[str, ...]
    when: Expr | None
    unless: tuple[Expr, ...]
    calls: tuple[EffectCall, ...]
    exceptions: tuple[DoException, ...]
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class Alert:
    """`say` alternates text and the typed paths between its braces."""

    name: str
    variable: str
    memory: str
    record: Record
    when: Expr | None
    unless: tuple[Expr, ...]
    say: tuple[str | Expr, ...]
    severity: str
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class Property:
    name: str
    schema: Schema
    given: Expr | None
    expect: tuple[Expr, ...]
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@frozen
class Prefer:
    name: str
    schema: Schema
    better: Expr
    worse: Expr
    meta: Meta
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Program:
    """A checked module with what it imports. Rules stand in source order, imported ones first.

    `schemas`, `lets`, `definitions` and `dimensions` are those that the module declares or imports by name.
    `context` holds the fields of this module and of every module that a used definition or rule came from; `now` and
    `today` are not listed. `order` has the names of rules, constraints and actions as they stand in the source, those
    imported first. `sources` are all files that took part, this one first.
    """

    module: str
    timezone: str
    schemas: Mapping[str, Schema]
    dimensions: Mapping[str, Dimension]
    context: tuple[Field, ...]
    memory: tuple[MemoryField, ...]
    lets: Mapping[str, Let]
    definitions: Mapping[str, Definition]
    resolutions: Mapping[str, Resolution]
    rules: tuple[Rule, ...]
    constraints: tuple[Constraint, ...]
    effects: Mapping[str, Effect]
    actions: tuple[Action, ...]
    alerts: tuple[Alert, ...]
    properties: tuple[Property | Prefer, ...]
    order: tuple[str, ...]
    sources: tuple[Source, ...] = field(repr=False)

    def rules_on(self, schema: Schema) -> tuple[Rule, ...]:
        return tuple([rule for rule in self.rules if rule.schema is schema])

    def constraints_on(self, schema: Schema) -> tuple[Constraint, ...]:
        return tuple([c for c in self.constraints if c.schema is schema])
