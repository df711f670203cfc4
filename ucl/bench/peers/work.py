"""What peers compute: a table of meetings, and the rules of a program in plain terms.

In: a program about meetings. Out: its conditions as few forms over few columns, and scores as whole numbers of 10^-9
or multiples of a column. Times of day and durations are in minutes here, which is what people would store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.meetings import KINDS, MINUTE, PEOPLE, ZONE, Meetings
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.outcome import NANO
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone


@frozen
class Between:
    """`low <= column < high`; an open end is None."""

    column: str
    low: float | None
    high: float | None


@frozen
class OneOf:
    column: str
    values: tuple[str, ...] | tuple[int, ...]


@frozen
class Overlap:
    """Somebody of `people` is invited."""

    people: tuple[str, ...]


@frozen
class Holds:
    column: str


@frozen
class Not:
    part: Condition


@frozen
class All:
    parts: tuple[Condition, ...]


@frozen
class Some:
    parts: tuple[Condition, ...]


Condition = Between | OneOf | Overlap | Holds | Not | All | Some


@frozen
class Line:
    """Where `when` holds, `score` is added, times the value of `times` where that is a column."""

    when: Condition
    score: float
    times: str | None

    @property
    def nano(self) -> int:
        """Of a constant score."""
        return round(self.score * NANO)


@dataclass(frozen=True)
class Work:
    """The lines of a program, and the condition of what is feasible, over a table."""

    table: Meetings
    lines: tuple[Line, ...]
    feasible: Condition

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Prepared columns: local times and weekdays, codes of texts."""
        zone = Zone.load(ZONE)
        assert zone is not None
        local = local_minutes(self.table.start, zone)
        return {
            "clock": (local % 1440).astype(np.int32),
            "day": ((local // 1440 + 3) % 7).astype(np.int32),  # 1970-01-01 was a Thursday
            "duration": self.table.minutes.astype(np.int32),
            "kind": self.table.kind,
            "organizer": self.table.organizer,
            "count": self.table.count.astype(np.int32),
            "priority": self.table.priority.astype(np.int32),
            "remote": self.table.remote,
            "cost": self.table.cost,
        }


WORDS: Mapping[str, tuple[str, ...]] = {"kind": KINDS, "organizer": PEOPLE}
"""The dictionaries of the columns that hold codes."""


def codes(found: OneOf) -> list[int]:
    """The values as numbers: codes of texts, days as they are."""
    return sorted(v if isinstance(v, int) else WORDS[found.column].index(v) for v in found.values)


def people_codes(found: Overlap) -> list[int]:
    return sorted(PEOPLE.index(name) for name in found.people)


def local_minutes(start: NDArray[np.int64], zone: Zone) -> NDArray[np.int64]:
    """Minutes since 1970-01-01T00:00 on the wall clock of a zone."""
    hours = np.unique(start // (60 * MINUTE))
    offsets = np.array([zone.local(int(hour) * 60 * MINUTE) - int(hour) * 60 * MINUTE for hour in hours])
    local: NDArray[np.int64] = start + offsets[np.searchsorted(hours, start // (60 * MINUTE))]
    return local // MINUTE


def work_of(program: Program, table: Meetings) -> Work:
    """Raises `AssertionError` for a program that says more than these forms can."""
    required = [_condition(c.require) for c in program.constraints if c.require is not None]
    return Work(table, lines_of(program), All(tuple(required)))


def lines_of(program: Program) -> tuple[Line, ...]:
    return tuple(map(_line, program.rules))


def _line(rule: p.Rule) -> Line:
    assert rule.when is not None
    assert not rule.exceptions
    when = _condition(rule.when)
    if rule.unless:
        when = All((when, *(Not(_condition(unless)) for unless in rule.unless)))
    match rule.score:
        case p.Const(value=float() as score):
            return Line(when, score, None)
        case p.Apply(arguments=(p.Const(value=float() as factor), varying)):
            column = varying.arguments[0] if isinstance(varying, p.Apply) else varying
            assert isinstance(column, p.OptionValue)
            return Line(when, factor, column.path[0])
    raise AssertionError(rule.score)


def _condition(expr: p.Expr) -> Condition:
    match expr:
        case p.And(operands=operands):
            return All(tuple(map(_condition, operands)))
        case p.Or(operands=operands):
            return Some(tuple(map(_condition, operands)))
        case p.Not(operand=operand):
            return Not(_condition(operand))
        case p.OptionValue(path=(column,)):
            return Holds(column)
        case p.InRange(value=value, low=low, high=high, inclusive=inclusive):
            column = _column(value)
            end = _constant(column, high)
            return Between(column, _constant(column, low), end + 1 if inclusive and end is not None else end)
        case p.InSet(value=value, container=p.Const(value=frozenset() as values)):
            return OneOf(_column(value), tuple(sorted(values)))
        case p.Apply(arguments=(_, p.Const(value=frozenset() as people))) if expr.signature.op == "overlaps":
            return Overlap(tuple(sorted(people)))
        case p.Compare(operator=operator, left=left, right=p.Const(value=value)):
            return _comparison(_column(left), operator, value, expr.right)
    raise AssertionError(expr)


def _comparison(column: str, operator: str, value: p.Value, constant: p.Expr) -> Condition:
    if operator == "==":
        assert isinstance(value, str | int)
        return OneOf(column, (value,))  # type: ignore[arg-type]
    number = _constant(column, constant)
    assert number is not None
    if operator == ">=":
        return Between(column, number, None)
    assert (operator, column != "cost") == ("<=", True)
    return Between(column, None, number + 1)


def _column(expr: p.Expr) -> str:
    match expr:
        case p.OptionValue(path=(name,)):
            return name
        case p.Apply(signature=signature):
            return {"time_of": "clock", "weekday_of": "day"}[signature.op]
    raise AssertionError(expr)


def _constant(column: str, expr: p.Expr | None) -> float | None:
    if expr is None:
        return None
    assert isinstance(expr, p.Const)
    assert isinstance(expr.value, int | float)
    return expr.value // MINUTE if column in ("clock", "duration") else expr.value
