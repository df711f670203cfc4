"""What an expression becomes: values and masks of the graph.

In each form `there` is the mask of rows that have a value, `over` that of rows in which evaluating it overflows. What a
row holds that is not in the one, or is in the other, means nothing and is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ucl.frozen import frozen
from ucl.kernels.columns import Path
from ucl.kernels.plan import FALSE, TRUE, Literal
from ucl.semantics import types as t
from ucl.semantics.program import Schema

FLOATS = (t.Float, t.Quantity)
"""The types whose values are doubles."""


@frozen
class Fixed:
    """The same for every row: a constant, or something of the call. None is absent; `over` that it overflows."""

    value: Any
    over: Literal = FALSE

    @property
    def there(self) -> Literal:
        return FALSE if self.value is None else TRUE


@frozen
class Truth:
    holds: Literal
    there: Literal = TRUE
    over: Literal = FALSE


@frozen
class Number:
    """An int64 value of the graph, or a float64 one where `floating`."""

    value: int
    floating: bool
    there: Literal = TRUE
    over: Literal = FALSE


@frozen
class TextColumn:
    path: Path
    there: Literal
    over: Literal = FALSE


@frozen
class SetColumn:
    path: Path
    there: Literal
    over: Literal = FALSE


@frozen
class Nested:
    """A record within the option."""

    path: Path
    there: Literal
    over: Literal = FALSE


Form = Fixed | Truth | Number | TextColumn | SetColumn | Nested

Names = Mapping[str, Form]
"""The parameters of the definition that an expression stands in."""


class Unlowered(Exception):  # noqa: N818 - a signal, not an error
    """No vector operation computes this: what surrounds it is evaluated for each distinct tuple of what it reads."""


def type_at(schema: Schema, path: Path) -> tuple[t.Type, bool]:
    """The type of a field of the option, and whether it may be absent."""
    optional = False
    type: t.Type = t.Record(schema)
    for name in path:
        assert isinstance(type, t.Record)
        field = type.schema.field(name)
        assert field is not None
        optional = optional or isinstance(field.type, t.Optional)
        type = t.present(field.type)
    return type, optional


def fixed(value: Any, type: t.Type) -> Fixed:
    if isinstance(value, int) and isinstance(t.present(type), FLOATS):
        return Fixed(float(value))
    return Fixed(value)


def stand_in(type: t.Type) -> Any:
    """Some value of a type, for where there is none that anybody looks at."""
    match t.present(type):
        case t.Bool():
            return False
        case t.Float() | t.Quantity():
            return 0.0
        case t.Text() | t.Closed():
            return ""
        case t.Set() | t.List():
            return frozenset()
        case _:
            return 0


def holds_of(form: Form) -> Literal:
    match form:
        case Truth(holds):
            return holds
        case Fixed(value):
            return TRUE if value else FALSE
        case _:
            raise AssertionError(form)
