"""The types of LANGUAGE §3, as frozen values that compare by what they mean.

Schemas compare by identity: a schema imported twice is one object. `Unknown` is the type of what is already wrong;
it fits anywhere, so that one mistake gives one message.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ucl.frozen import frozen

if TYPE_CHECKING:
    from ucl.semantics.program import Schema


@frozen
class Bool:
    def __str__(self) -> str:
        return "bool"


@frozen
class Int:
    def __str__(self) -> str:
        return "int"


@frozen
class Float:
    def __str__(self) -> str:
        return "float"


@frozen
class Text:
    def __str__(self) -> str:
        return "text"


@frozen
class Closed:
    """Closed text: one of the listed values, in the order of their declaration."""

    values: tuple[str, ...]

    def __str__(self) -> str:
        return " | ".join(f'"{value}"' for value in self.values)


@frozen
class Weekday:
    def __str__(self) -> str:
        return "weekday"


@frozen
class Date:
    def __str__(self) -> str:
        return "date"


@frozen
class Time:
    def __str__(self) -> str:
        return "time"


@frozen
class DateTime:
    def __str__(self) -> str:
        return "datetime"


@frozen
class Duration:
    def __str__(self) -> str:
        return "duration"


@frozen
class Unit:
    """A unit of a dimension, or of `duration`: one of it is `factor` base units (microseconds for durations)."""

    name: str
    factor: Fraction


@frozen
class Dimension:
    """A kind of quantity. The first unit is the base, with factor 1."""

    module: str
    name: str
    units: tuple[Unit, ...]

    def unit(self, name: str) -> Unit | None:
        return next((unit for unit in self.units if unit.name == name), None)


@frozen
class Quantity:
    dimension: Dimension

    def __str__(self) -> str:
        return self.dimension.name


@frozen
class Set:
    """`element` is None for the empty set literal, which fits any set."""

    element: Type | None

    def __str__(self) -> str:
        return "set" if self.element is None else f"set<{self.element}>"


@frozen
class Record:
    schema: Schema

    def __str__(self) -> str:
        return self.schema.name


@frozen
class List:
    """Records of one schema; only memory has these."""

    element: Record

    def __str__(self) -> str:
        return f"list<{self.element}>"


@frozen
class Optional:
    """`T?`; `inner` is never itself optional."""

    inner: Type

    def __str__(self) -> str:
        return f"({self.inner})?" if isinstance(self.inner, Closed) else f"{self.inner}?"


@frozen
class Unknown:
    """What is already wrong, and has been said."""

    def __str__(self) -> str:
        return "unknown"


Type = (
    Bool
    | Int
    | Float
    | Text
    | Closed
    | Weekday
    | Date
    | Time
    | DateTime
    | Duration
    | Quantity
    | Set
    | Record
    | List
    | Optional
    | Unknown
)

BOOL, INT, FLOAT, TEXT = Bool(), Int(), Float(), Text()
WEEKDAY, DATE, TIME, DATETIME, DURATION = Weekday(), Date(), Time(), DateTime(), Duration()
UNKNOWN = Unknown()

SECOND = 1_000_000
DAY = 86_400 * SECOND
DURATION_UNITS = tuple(
    Unit(name, Fraction(microseconds))
    for name, microseconds in (
        ("w", 7 * DAY),
        ("d", DAY),
        ("h", 3600 * SECOND),
        ("min", 60 * SECOND),
        ("s", SECOND),
        ("ms", 1000),
    )
)


def optional(inner: Type) -> Type:
    """`inner?`, where asking twice is asking once."""
    return inner if isinstance(inner, Optional | Unknown) else Optional(inner)


def present(type: Type) -> Type:
    """The type of what is known to be there."""
    return type.inner if isinstance(type, Optional) else type
