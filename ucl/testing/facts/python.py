"""Regions as Python: a condition that an option meets, and edits that bring an option into a region.

In: regions on the fields of a schema. Out: expressions over the names that a test file defines (`option`, `context`,
`clock`, `weekday`, `day`, `at`, `on`, `dated`, `sized`), with the attributes of the models of a built package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from ucl.facts.language import time_text
from ucl.facts.regions import (
    Absent,
    Among,
    Between,
    Condition,
    Given,
    Interval,
    Matches,
    Number,
    Overlaps,
    Region,
    Subject,
    Values,
    all_values,
    points,
)
from ucl.models.naming import quoted
from ucl.models.records import attribute_names
from ucl.semantics import types as t
from ucl.semantics.calendar import civil_from_days
from ucl.semantics.program import Const, Field, RangeDomain, Schema, SetDomain
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.values import check_domain, iso
from ucl.semantics.zones import UTC

Edit = tuple[str, str]
"""An attribute of the option or of the context, and the expression that it becomes."""


class Attributes:
    """The Python names of fields, by the place and path of a subject."""

    def __init__(self, schema: Schema, context: Schema | None) -> None:
        self._schemas: Mapping[str, Schema | None] = {"option": schema, "context": context}

    def field(self, subject: Subject) -> tuple[str, Field]:
        """The path of attributes after the record's own name, and the field at its end."""
        schema = self._schemas[subject.place]
        names: list[str] = []
        field: Field | None = None
        for name in subject.path:
            assert schema is not None
            field = schema.field(name)
            assert field is not None
            names.append(attribute_names(schema)[name])
            inner = t.present(field.type)
            schema = inner.schema if isinstance(inner, t.Record) else None
        assert field is not None
        return ".".join(names), field

    def value(self, subject: Subject) -> str:
        return f"{subject.place}.{self.field(subject)[0]}"

    def may_be_none(self, subject: Subject) -> bool:
        """A default that depends on the zone is None in a model too."""
        field = self.field(subject)[1]
        return subject.optional or (field.default is not None and isinstance(t.present(field.type), t.DateTime))

    def literal(self, value: str | Number, subject: Subject) -> str:
        field = self.field(subject)[1]
        if isinstance(subject.compared, t.Quantity) and field.unit is not None and not isinstance(value, str):
            return repr(float(Fraction(value) / field.unit.factor))
        return literal(value, subject.compared)


def literal(value: str | Number, type: t.Type) -> str:
    """A value as Python writes it."""
    if isinstance(value, str):
        return quoted(value)
    match type:
        case t.Bool():
            return "True" if value else "False"
        case t.Weekday():
            return quoted(iso.WEEKDAYS[int(value)])
        case t.Time():
            return _time(int(value) % DAY)
        case t.Date():
            return _date(int(value))
        case t.Duration():
            return _timedelta(int(value))
        case t.Float() | t.Quantity():
            return repr(float(value))
        case _:
            return str(value)


def _time(time: int) -> str:
    seconds = time // SECOND
    parts = [seconds // 3600, seconds // 60 % 60, seconds % 60]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return f"time({', '.join(map(str, parts))})"


def _date(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"date({year}, {month}, {day})"


def _timedelta(duration: int) -> str:
    seconds = Fraction(duration, SECOND)
    if seconds % 60 == 0:
        return f"timedelta(minutes={int(seconds / 60)})"
    return f"timedelta(seconds={int(seconds) if seconds.denominator == 1 else float(seconds)})"


def few_values(field: Field) -> Sequence[str | Number]:
    """All values of a closed text or a boolean, the elements of a domain that lists them, the ends of one of ints."""
    type = t.present(field.type)
    match field.domain:
        case SetDomain(values):
            listed: Sequence[str | Number] = sorted(values)
            return listed
        case RangeDomain(low=Const(value=int() as low), high=Const(value=int() as high)) if isinstance(type, t.Int):
            return (low, high if field.domain.inclusive else high - 1)
        case _:
            return all_values(type) or () if isinstance(type, t.Closed | t.Bool) else ()


# --- conditions -----------------------------------------------------------------------------------------------------


def conditions(region: Region, attributes: Attributes) -> Iterator[str]:
    """Expressions all of which are true for what lies in the region."""
    for subject, condition in region.items():
        value = attributes.value(subject)
        match condition:
            case Absent():
                yield f"{value} is None"
                continue
            case Given():
                yield f"{value} is not None"
                continue
            case _:
                pass
        if attributes.may_be_none(subject):
            yield f"{value} is not None"
        yield _condition(_measured(value, subject), subject, condition, attributes)


def _measured(value: str, subject: Subject) -> str:
    match subject.part:
        case "time":
            return f"clock({value})"
        case "weekday":
            return f"weekday({value})"
        case "date":
            return f"day({value})"
        case "size":
            return f"len({value})"
        case "words":
            return f"{value}.casefold()"
        case "":
            return value


def _condition(value: str, subject: Subject, condition: Condition, attributes: Attributes) -> str:
    match condition:
        case Between(intervals):
            parts = [_interval(value, each, subject, attributes) for each in intervals]
            return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"
        case Among(values, outside):
            return _among(value, values, subject, outside)
        case Overlaps(names, outside):
            members = "{" + ", ".join(quoted(name) for name in sorted(names)) + "}"
            return f"{'' if outside else 'not '}{value}.isdisjoint({members})"
        case Matches(how, text):
            found = quoted(text.casefold() if subject.part == "words" else text)
            calls = {"starts_with": "startswith", "ends_with": "endswith"}
            return f"{found} in {value}" if how == "contains" else f"{value}.{calls[how]}({found})"
        case Absent() | Given():
            raise AssertionError("what is there is told before")
        case _:
            assert_never(condition)


def _among(value: str, values: Values, subject: Subject, not_: bool) -> str:
    type = subject.compared
    if isinstance(type, t.Bool):
        return value if (True in values) != not_ else f"not {value}"
    ordered: Sequence[str | int] = sorted(values)
    listed = [literal(each, type) for each in ordered]
    if len(listed) == 1:
        return f"{value} {'!=' if not_ else '=='} {listed[0]}"
    return f"{value} {'not in' if not_ else 'in'} {{{', '.join(listed)}}}"


def _interval(value: str, interval: Interval, subject: Subject, attributes: Attributes) -> str:
    type = subject.compared
    if interval.low == interval.high:
        return f"{value} == {attributes.literal(interval.low, subject)}"
    opens = math.isinf(interval.low) or (isinstance(type, t.Time) and interval.low == 0)
    closes = math.isinf(interval.high) or (isinstance(type, t.Time) and interval.high == DAY)
    low = "" if opens else attributes.literal(interval.low, subject)
    high = "" if closes else attributes.literal(interval.high, subject)
    below, above = "<=" if interval.low_in else "<", "<=" if interval.high_in else "<"
    if opens and closes:
        return "True"
    if opens:
        return f"{value} {above} {high}"
    if closes:
        return f"{value} {'>=' if interval.low_in else '>'} {low}"
    return f"{low} {below} {value} {above} {high}"


# --- edits ----------------------------------------------------------------------------------------------------------


def variants(region: Region, attributes: Attributes) -> list[dict[str, list[Edit]]]:
    """Edits of the option and of the context that lead into the region: each end, and something between.

    Not every combination: each value of each condition comes once at least.
    """
    choices = {subject: _choices(subject, condition, attributes) for subject, condition in region.items()}
    count = max((len(each) for each in choices.values()), default=0)
    found = []
    for number in range(count):
        edits: dict[str, dict[str, str]] = {"option": {}, "context": {}}
        # A day is chosen before the time of that day.
        for subject in sorted(choices, key=lambda subject: _ORDER[subject.part]):
            if choices[subject]:
                path, _ = attributes.field(subject)
                known = edits[subject.place].get(path, attributes.value(subject))
                choice = choices[subject][number % len(choices[subject])]
                edits[subject.place][path] = choice.replace(_HOLE, _base(known, subject, attributes))
        found.append({place: list(told.items()) for place, told in edits.items()})
    return found


# No literal holds it: it is written with an escape there.
_HOLE = "\0"
_ORDER = {"date": 0, "weekday": 1, "time": 2, "size": 3, "words": 4, "": 5}


def _base(known: str, subject: Subject, attributes: Attributes) -> str:
    """What is edited, where there may be nothing."""
    if not attributes.may_be_none(subject) or known != attributes.value(subject):
        return known
    match subject.type:
        case t.DateTime():
            return f"({known} or SOME_DAY)"
        case t.Set():
            return f"({known} or frozenset())"
        case t.Text():
            return f'({known} or "")'
        case _:
            return known


def _choices(subject: Subject, condition: Condition, attributes: Attributes) -> list[str]:
    """Expressions for the field's value; a hole stands for what it is."""
    match condition:
        case Absent():
            return ["None"]
        case Given():
            return [attributes.literal(_some(subject.type), subject)]
        case Between(intervals):
            values = [value for each in intervals for value in points(each, subject.compared)]
            if not subject.part:
                field = attributes.field(subject)[1]
                values = [value for value in values if field.domain is None or check_domain(value, field, UTC)]
            return [_set_to(attributes.literal(value, subject), subject, value) for value in values]
        case Among(values, outside):
            return [
                _set_to(literal(value, subject.compared), subject, value)
                for value in _members(subject, values, outside)
            ]
        case Overlaps(names, outside):
            if outside:
                return [f"{_HOLE} - {{{', '.join(quoted(name) for name in sorted(names))}}}"]
            return [f"{_HOLE} | {{{quoted(name)}}}" for name in sorted(names)]
        case Matches(how, text):
            return [f"{quoted(text + ' ')} + {_HOLE}" if how == "starts_with" else f"{_HOLE} + {quoted(' ' + text)}"]
        case _:
            assert_never(condition)


def _members(subject: Subject, values: Values, outside: bool) -> Sequence[str | int]:
    if not outside:
        return sorted(values)
    everything = all_values(subject.compared)
    if everything is not None:
        return [value for value in everything if value not in values]
    return [value for value in (_some(subject.compared),) if value not in values]


def _some(type: t.Type) -> str | int:
    match type:
        case t.Closed(values):
            return values[0]
        case t.Text():
            return "elsewhere"
        case _:
            return 1


def _set_to(text: str, subject: Subject, value: str | Number) -> str:
    match subject.part:
        case "time":
            return f"at({quoted(time_text(int(value) % DAY))}, {_HOLE})"
        case "weekday":
            return f"on({text}, {_HOLE})"
        case "date":
            return f"dated({quoted(iso.write_date(int(value)))}, {_HOLE})"
        case "size":
            return f"sized({_HOLE}, {max(int(value), 0)})"
        case _:
            return text
