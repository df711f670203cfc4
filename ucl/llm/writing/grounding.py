"""Whether what was written was said: every time, number, day and name in a condition, held against the statement, and
the days on which a rule begins and ends.

In: the declarations of a draft, checked, and the statement. Out: the literals that nothing in the statement speaks of.
A value that the program has a name for counts as said, since that name is the person's or the developer's; so do the
values of a closed text, which are the schema's words. What is left was made up ("not too late" became 20:00): only the
person can say whether it is meant.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from ucl.diagnostics import Span
from ucl.llm.extraction.dates import said_days
from ucl.llm.extraction.numbers import names_part_of_day, said_numbers
from ucl.scoring.words import shown
from ucl.semantics import program as p
from ucl.semantics import types as t
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
_MONTHS = tuple(
    re.compile(rf"\b{english}\b|(?<!\d){number} *月|(?<![十一二三四五六七八九]){chinese}月")
    for number, (english, chinese) in enumerate(
        (
            ("jan(?:uary)?", "一"),
            ("feb(?:ruary)?", "二"),
            ("mar(?:ch)?", "三"),
            ("apr(?:il)?", "四"),
            ("may", "五"),
            ("june?", "六"),
            ("july?", "七"),
            ("aug(?:ust)?", "八"),
            ("sep(?:t(?:ember)?)?", "九"),
            ("oct(?:ober)?", "十"),
            ("nov(?:ember)?", "十一"),
            ("dec(?:ember)?", "十二"),
        ),
        1,
    )
)
_VALID = re.compile(r"^ *valid (.*)$", re.MULTILINE)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_EPOCH = dt.date(1970, 1, 1)
_THROUGH = re.compile(r"\b(?:to|through|until|till)\b|-|–|到|至", re.IGNORECASE)


def unsaid(declared: Iterable[p.Rule | p.Constraint], said: str, zone: Zone, on: dt.date) -> list[str]:
    """The literals that the statement, made on that day, does not speak of, as they are shown, each once."""
    statement = _Statement(said, on)
    found: dict[str, None] = {}
    for each in declared:
        consts = [const for const in _constants(each) if not statement.speaks_of(const)]
        found |= dict.fromkeys(shown(const.value, const.type, zone) for const in consts)
        found |= dict.fromkeys(str(day) for day in _days_of_validity(each) if not statement.names_day(day))
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


def _days_of_validity(declared: p.Rule | p.Constraint) -> Iterator[dt.date]:
    """Those that are written as dates: a checked program no longer knows whether a name stood for its days."""
    body = declared.span.source.text[declared.span.start :].partition("\n}")[0]
    for clause in _VALID.finditer(body):
        for day in _DAY.finditer(clause[1]):
            yield dt.date.fromisoformat(day[0])


def _is_named(const: p.Const, name: Span) -> bool:
    """Whether a let stands for it: the ends of a named range stand where it is declared, another constant has the span
    of its name. `name` is that of the declaration, which stands behind everything that it is added to."""
    span = const.span
    if span.source is not name.source or span.start < name.start:
        return True
    written = span.source.text[span.start : span.end].replace(".", "")
    return written.isidentifier() and t.present(const.type) not in (t.WEEKDAY, t.BOOL)


class _Statement:
    def __init__(self, said: str, on: dt.date) -> None:
        self._text = said.casefold()
        self._numbers = said_numbers(said)
        self._daypart = names_part_of_day(said)
        self._days = {on, *(day for days in said_days(said, on) for day in (days.first, days.until))}

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
                return self.names_day(_EPOCH + dt.timedelta(days=value))
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

    def names_day(self, day: dt.date) -> bool:
        """By its number, by words that stand for it, or as an end of a month that is named."""
        if day in self._days or not self._numbers.isdisjoint((day.day - 1, day.day, day.day + 1)):
            return True
        if 1 < day.day < 28:
            return False
        nearby = {(day + dt.timedelta(days=shift)).month for shift in (-1, 0, 1)}
        return any(_MONTHS[month - 1].search(self._text) for month in nearby)
