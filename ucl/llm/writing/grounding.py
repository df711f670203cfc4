"""Whether what was written was said: every time, number, day and name in a condition, held against the statement.

In: the declarations of a draft, checked, and the statement. Out: the literals that nothing in the statement speaks of.
A value that the program has a name for counts as said, since that name is the person's or the developer's; so do the
values of a closed text, which are the schema's words. What is left was made up ("not too late" became 20:00): only the
person can say whether it is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from ucl.diagnostics import Span
from ucl.llm.extraction.numbers import names_part_of_day, said_numbers
from ucl.scoring.words import shown
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.calendar import civil_from_days
from ucl.semantics.parts import children
from ucl.semantics.zones import Zone

_HOUR = 3600 * t.SECOND
_MINUTE = 60 * t.SECOND
_WEEKDAYS = tuple(
    re.compile(rf"\b{english}s?\b|(?:周|星期|礼拜)[{chinese}]", re.IGNORECASE)
    for english, chinese in (
        ("mon(?:day)?", "一"),
        ("tue(?:s(?:day)?)?", "二"),
        ("wed(?:nesday)?", "三"),
        ("thu(?:r(?:s(?:day)?)?)?", "四"),
        ("fri(?:day)?", "五"),
        ("sat(?:urday)?", "六"),
        ("sun(?:day)?", "日天"),
    )
)
_MANY_DAYS = re.compile(
    r"\b(?:week(?:end|day)?s?|every day|daily|work(?:ing )?days?)\b|周末|工作日|每天|每周", re.IGNORECASE
)
_THROUGH = re.compile(r"\b(?:to|through|until|till)\b|-|–|到|至", re.IGNORECASE)


def unsaid(declared: Iterable[p.Rule | p.Constraint], said: str, zone: Zone) -> list[str]:
    """The literals of the conditions that the statement does not speak of, as they are shown, each once."""
    statement = _Statement(said)
    found = dict.fromkeys(
        shown(const.value, const.type, zone)
        for each in declared
        for const in _constants(each)
        if not statement.speaks_of(const)
    )
    return list(found)


def _constants(declared: p.Rule | p.Constraint) -> Iterator[p.Const]:
    """Those that are written in the conditions themselves, not behind a name."""
    conditions = [declared.when, *declared.unless]
    if isinstance(declared, p.Rule):
        conditions += [case.condition for case in declared.exceptions]
    else:
        conditions.append(declared.require)
    work = [expr for expr in conditions if expr is not None]
    while work:
        expr = work.pop()
        if isinstance(expr, p.Const):
            if not _is_named(expr, declared.span):
                yield expr
        else:
            work.extend(children(expr))


def _is_named(const: p.Const, name: Span) -> bool:
    """Whether a let stands for it: the ends of a named range stand where it is declared, another constant has the span
    of its name. `name` is that of the declaration, which stands behind everything that it is added to."""
    span = const.span
    if span.source is not name.source or span.start < name.start:
        return True
    written = span.source.text[span.start : span.end].replace(".", "")
    return written.isidentifier() and t.present(const.type) not in (t.WEEKDAY, t.BOOL)


class _Statement:
    def __init__(self, said: str) -> None:
        self._text = said.casefold()
        self._numbers = said_numbers(said)
        self._daypart = names_part_of_day(said)

    def speaks_of(self, const: p.Const) -> bool:
        value, type_ = const.value, t.present(const.type)
        if isinstance(value, frozenset):
            element = type_.element if isinstance(type_, t.Set) else None
            return element is None or all(self._one(each, element) for each in value)
        return self._one(value, type_)

    def _one(self, value: object, type_: t.Type) -> bool:
        match type_, value:
            case t.Time(), int():
                return self._time(value)
            case t.Weekday(), int():
                return self._weekday(value)
            case t.Date(), int():
                return self._date(value)
            case t.Duration(), int():
                return any(self._number(Fraction(value) / unit.factor) for unit in t.DURATION_UNITS)
            case t.Quantity(dimension), int() | float():
                return any(self._number(Fraction(value) / unit.factor) for unit in dimension.units)
            case ((t.Int() | t.Float()), int() | float()):
                return any(self._number(Fraction(value) + shift) for shift in (0, 1, -1)) or value in (0, 1)
            case t.Text(), str():
                return all(part.strip() in self._text for part in value.casefold().split("*"))
            case _:
                return True

    def _number(self, value: Fraction) -> bool:
        """Whether it was said; of a percentage the number before the sign was."""
        plain = float(value)
        return any(abs(plain - number) < 1e-9 for number in (*self._numbers, *(n / 100 for n in self._numbers)))

    def _time(self, value: int) -> bool:
        """On either half of the clock; the ends of the day are no one's to say."""
        hour, minute = divmod(value // _MINUTE, 60)
        if value in (0, 24 * _HOUR) or self._daypart:
            return True
        hours = {hour, hour - 12, hour + 12, 12 if hour == 0 else hour}
        # `half past ten` and `quarter to ten` say the minutes by the hour before or after.
        hours |= {hour + 1, hour - 11} if minute > 30 else set()
        minutes = not minute or minute in self._numbers or 60 - minute in self._numbers
        return minutes and not hours.isdisjoint(self._numbers)

    def _weekday(self, value: int) -> bool:
        named = [number for number, words in enumerate(_WEEKDAYS) if words.search(self._text)]
        through = len(named) > 1 and _THROUGH.search(self._text) is not None
        return value in named or through or _MANY_DAYS.search(self._text) is not None

    def _date(self, value: int) -> bool:
        _, _, day = civil_from_days(value)
        return bool({float(day), float(day - 1), float(day + 1)} & self._numbers)
