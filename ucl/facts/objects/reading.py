"""What the object of a fact names, for a field: a range of times, days, a length, a person, one of a closed list.

In: the object's text (or a value of the context, which JSON may have as a number, a boolean or a list), and what it is
about. Out: `Named`, a condition for each subject, or `Unread` with the reason. Nothing is guessed: what can mean two
things, or nothing that the tables know, is left unread. Parts of the day are those of `std.dayparts`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from ucl.diagnostics import Report, Source
from ucl.facts.model import FIRST_DAY, LAST_DAY
from ucl.facts.objects import clocks, words
from ucl.facts.objects.clocks import Reader, Unread
from ucl.facts.regions import Absent, Among, Between, Condition, Interval, Matches, Number, Overlaps, Subject, without
from ucl.frozen import frozen
from ucl.resources import stdlib_source
from ucl.semantics import types as t
from ucl.semantics.operations import MINUTE
from ucl.semantics.suggest import nearest
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.syntax import ast
from ucl.syntax.parse import parse

_INFINITE = float("inf")


@frozen
class Named:
    """`turned` where it is the contrary that is meant: `prefers not_after_17:00` speaks against what is after 17:00."""

    conditions: tuple[tuple[Subject, Condition], ...]
    turned: bool = False


Reading = Named | Unread


def read_value(value: object, subject: Subject, names: Mapping[str, str]) -> Reading:
    """What a value of JSON names: a list is one of its elements, null what is absent."""
    if value is None:
        if subject.optional:
            return Named(((subject, Absent()),))
        return Unread(f"`{subject.name}` is always there, and null says that it is not")
    if isinstance(value, list):
        return _any_of([read_value(each, subject, names) for each in value], value)
    if isinstance(value, bool):
        return read_object("true" if value else "false", subject, names)
    if isinstance(value, int | float | str):
        return read_object(str(value), subject, names)
    return Unread(f"`{value!s:.40}` names nothing that `{subject.name}` can be")


def read_object(text: str, subject: Subject, names: Mapping[str, str]) -> Reading:
    """`names` are other words for values: `站会` for `standup`, `Ann` for an address."""
    text = names.get(text, text)
    phrase = plain(text)
    match subject.compared:
        case t.DateTime():
            return _moment(phrase, subject)
        case t.Time():
            return _of_moment(phrase, subject, "time")
        case t.Weekday():
            return _of_moment(phrase, subject, "weekday")
        case t.Date():
            return _ordered(phrase, subject, _read_date)
        case t.Duration():
            return _ordered(phrase, subject, clocks.read_duration)
        case t.Int():
            return _ordered(phrase, subject, _read_int)
        case t.Float():
            return _ordered(phrase, subject, clocks.read_number)
        case t.Quantity() as type:
            return _ordered(phrase, subject, lambda each: _read_quantity(each, type))
        case t.Bool():
            return _boolean(phrase, subject)
        case t.Closed(values):
            return _variant(text, phrase, subject, values, names)
        case t.Text():
            words_ = Matches("contains", text) if subject.part == "words" else _text(text)
            return Named(((subject, words_),))
        case t.Set(t.Text() | t.Closed()):
            return _members(text, subject, names)
        case _:
            return Unread(f"objects for `{subject.name}` can't be read")


def plain(text: str) -> str:
    """Full width made half, lower case, `_` for a blank."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(folded.split())


def _nothing(phrase: str, subject: Subject) -> Unread:
    return Unread(f"`{phrase}` names nothing that `{subject.name}` can be")


def _any_of(readings: Sequence[Reading], value: object) -> Reading:
    """One of several, where they are conditions of one kind on one subject."""
    found: list[tuple[Subject, Condition]] = []
    for reading in readings:
        if isinstance(reading, Unread):
            return reading
        if reading.turned or len(reading.conditions) != 1:
            return Unread(f"`{value!s:.60}` joins what can't be joined")
        found += reading.conditions
    joined = _joined([condition for _, condition in found]) if found else None
    if joined is None or len({subject for subject, _ in found}) != 1:
        return Unread(f"`{value!s:.60}` joins what can't be joined")
    return Named(((found[0][0], joined),))


def _joined(conditions: Sequence[Condition]) -> Condition | None:
    first = conditions[0]
    if len(conditions) == 1:
        return first
    match first:
        case Among(outside=False):
            same = [c for c in conditions if isinstance(c, Among) and not c.outside]
            values = frozenset(value for c in same for value in c.values)
            return Among(values) if len(same) == len(conditions) else None  # type: ignore[arg-type]
        case Overlaps(outside=False):
            sets = [c for c in conditions if isinstance(c, Overlaps) and not c.outside]
            names = frozenset(name for c in sets for name in c.names)
            return Overlaps(names) if len(sets) == len(conditions) else None
        case Between():
            ranges = [c for c in conditions if isinstance(c, Between)]
            intervals = sorted((i for c in ranges for i in c.intervals), key=lambda each: each.start)
            apart = all(a.stop < b.start for a, b in zip(intervals, intervals[1:]))  # noqa: RUF007
            return Between(tuple(intervals)) if apart and len(ranges) == len(conditions) else None
        case _:
            return None


# --- moments --------------------------------------------------------------------------------------------------------


def _of_moment(phrase: str, subject: Subject, part: str) -> Reading:
    """Of a time or a weekday alone."""
    reading = _moment(phrase, replace(subject, part=""))
    if isinstance(reading, Unread):
        return reading
    if [each.part for each, _ in reading.conditions] != [part]:
        return _nothing(phrase, subject)
    return Named(((subject, reading.conditions[0][1]),), reading.turned)


def _moment(phrase: str, subject: Subject) -> Reading:
    """Days, times of day, or both: `friday afternoons`, `周二和周四上午`."""
    at, on, date = (replace(subject, part=part) for part in ("time", "weekday", "date"))
    negated = phrase.removeprefix("not ").removeprefix("no ").removeprefix("非")
    if (days := _weekdays(phrase)) is not None:
        return Named(((on, days),))
    if (part := _daypart(phrase)) is not None:
        return Named(((on if isinstance(part, Among) else at, part),))
    if negated != phrase and ((days := _weekdays(negated)) is not None or isinstance(_daypart(negated), Among)):
        inside = days or _daypart(negated)
        others = None if inside is None else without(inside, t.Weekday())
        return _nothing(phrase, subject) if others is None else Named(((on, others),))
    for text in _stripped(phrase):
        times = _times(text, at)
        if times is not None:
            return times
    if iso.read_date(phrase) is not None:
        return _ordered(phrase, date, _read_date)
    return _day_and_time(phrase, subject, on) or _nothing(phrase, subject)


def _day_and_time(phrase: str, subject: Subject, on: Subject) -> Reading | None:
    """What is left beside the days is a time."""
    for cut in range(1, len(phrase)):
        for day, time in ((phrase[:cut], phrase[cut:]), (phrase[cut:], phrase[:cut])):
            days = _weekdays(day.strip(" ,的"))
            if days is None or not time.strip():
                continue
            rest = _moment(time.strip(" ,的"), subject)
            if isinstance(rest, Named) and not rest.turned and [s.part for s, _ in rest.conditions] == ["time"]:
                return Named(((on, days), *rest.conditions))
    return None


def _times(phrase: str, at: Subject) -> Reading | None:
    """A range of times, one with an end alone, or the minute that a time names."""
    for first, second in _pairs(phrase):
        found = clocks.read_times(first, second)
        if isinstance(found, Unread):
            return found
        if found is not None:
            low, high = found
            if low == high:
                return Unread(f"`{phrase}` is empty")
            return Named(((at, _clock_range(low, high)),))
    reading = _one_ended(phrase, at, clocks.read_time)
    if reading is not None:
        return reading
    found_time = clocks.read_time(phrase)
    if isinstance(found_time, int):
        minute = found_time % DAY
        return Named(((at, Between((Interval(minute, minute + MINUTE),))),))
    return found_time


def _clock_range(low: int, high: int) -> Between:
    if low < high:
        return Between((Interval(low, high),))
    return Between(tuple(each for each in (Interval(low, DAY), Interval(0, high)) if not each.empty))


@cache
def _dayparts() -> Mapping[str, Condition]:
    """The lets of `std.dayparts`."""
    shipped = stdlib_source("std.dayparts")
    assert shipped is not None
    found: dict[str, Condition] = {}
    for declared in parse(Source(*shipped), Report()).declarations:
        match declared:
            case ast.Let(name=name, value=ast.Range(low=ast.TimeLiteral() as low, high=ast.TimeLiteral() as high)):
                found[name.text] = _clock_range(low.value, high.value)
            case ast.Let(
                name=name, value=ast.Range(low=ast.WeekdayLiteral() as low, high=ast.WeekdayLiteral() as high)
            ):
                found[name.text] = Among(frozenset(_week(low.value, high.value)))
            case ast.Let(name=name, value=ast.SetLiteral(elements=elements)):
                days = [each.value for each in elements if isinstance(each, ast.WeekdayLiteral)]
                found[name.text] = Among(frozenset(days))
            case _:
                pass
    return found


def _daypart(phrase: str) -> Condition | None:
    for text in _stripped(phrase):
        for form in (text, text.removesuffix("s")):
            name = words.DAYPARTS.get(form, form.replace(" ", "_"))
            if name in _dayparts():
                return _dayparts()[name]
    return None


def _stripped(phrase: str) -> Iterator[str]:
    """The phrase, and without the words that say nothing about which part it is."""
    yield phrase
    bare = phrase
    while (word := next((w for w in words.ADVERBS if bare.startswith(f"{w} ")), None)) is not None:
        bare = bare.removeprefix(f"{word} ")
    for word in words.CHINESE_ADVERBS:
        bare = bare.replace(word, "")
    if bare != phrase:
        yield bare


def _weekdays(phrase: str) -> Among | None:
    """`fri`, `tuesdays and thursdays`, `monday to friday`, `周二和周四`."""
    phrase = phrase.removeprefix("on ").removeprefix("每").strip()
    for first, second in _pairs(phrase):
        start, stop = _weekday(first), _weekday(second)
        if start is not None and stop is not None:
            return Among(frozenset(_week(start, stop)))
    found = [_weekday(each) for each in _split(phrase, words.ALTERNATIVES)]
    days = [day for day in found if day is not None]
    return Among(frozenset(days)) if days and len(days) == len(found) else None


def _weekday(phrase: str) -> int | None:
    phrase = phrase.strip()
    return words.WEEKDAYS.get(phrase, words.WEEKDAYS.get(phrase.removesuffix("s")))


def _week(first: int, last: int) -> list[int]:
    return [(first + day) % 7 for day in range((last - first) % 7 + 1)]


# --- ordered values -------------------------------------------------------------------------------------------------


def _ordered(phrase: str, subject: Subject, read: Reader) -> Reading:
    """A value, a range of values, or one with an end alone."""
    for text in _stripped(phrase):
        for first, second in _pairs(text):
            low, high = _shared_unit(first, second, read), read(second)
            if isinstance(low, int | Fraction) and isinstance(high, int | Fraction):
                interval = Interval(_exact(low), _exact(high), True, True)
                return Unread(f"`{phrase}` is empty") if interval.empty else Named(((subject, Between((interval,))),))
        if (reading := _one_ended(text, subject, read)) is not None:
            return reading
        value = read(text)
        if isinstance(value, int | Fraction):
            return Named(((subject, Between((Interval(_exact(value), _exact(value), True, True),))),))
    return _nothing(phrase, subject)


def _shared_unit(first: str, second: str, read: Reader) -> int | Fraction | Unread | None:
    """Of `30-60 minutes` the first has the unit of the second."""
    value = read(first)
    unit = second.lstrip("0123456789. ")
    return read(f"{first} {unit}") if value is None and unit and unit != second else value


def _one_ended(phrase: str, subject: Subject, read: Reader) -> Reading | None:
    """`not after 17:00`, `over an hour`, `晚上十点以后`; None where nothing of that kind is said."""
    told = [(sign, turned, phrase[len(w) :]) for w, sign, turned in words.BEFORE if _begins(phrase, w)]
    told += [(sign, False, phrase[: -len(w)]) for w, sign in words.AFTER if phrase.endswith(w)]
    for sign, turned, rest in told:
        value = read(rest.strip())
        if isinstance(value, Unread):
            return value
        if value is not None:
            interval = _open(_exact(value), sign, subject.compared)
            if interval.empty:
                return Unread(f"`{phrase}` is empty")
            return Named(((subject, Between((interval,))),), turned)
    return None


def _begins(phrase: str, word: str) -> bool:
    """As a whole word, where it is one of letters: `afternoon` is not after noon."""
    after = phrase[len(word) : len(word) + 1]
    return phrase.startswith(word) and not (word[-1].isascii() and word[-1].isalpha() and after.isalpha())


def _open(end: Number, sign: str, type: t.Type) -> Interval:
    least, most = (0, DAY) if isinstance(type, t.Time) else (-_INFINITE, _INFINITE)
    return Interval(end, most, sign == ">=") if sign[0] == ">" else Interval(least, end, True, sign == "<=")


def _exact(value: int | Fraction) -> Number:
    return int(value) if value == int(value) else float(value)


def _read_int(phrase: str) -> int | None:
    number = clocks.read_number(phrase)
    return None if number is None or number.denominator != 1 else int(number)


def _read_date(phrase: str) -> int | None:
    day = iso.read_date(phrase)
    return day if day is not None and FIRST_DAY <= day < LAST_DAY else None


def _read_quantity(phrase: str, type: t.Quantity) -> Fraction | None:
    """A number with a unit of the dimension, in the base unit."""
    for unit in type.dimension.units:
        name = unit.name.casefold()
        number = clocks.read_number(phrase.removesuffix(name)) if phrase.endswith(name) else None
        if number is not None:
            return number * Fraction(unit.factor)
    return None


def _pairs(phrase: str) -> Iterator[tuple[str, str]]:
    """Both sides of whatever may join the ends of a range."""
    bare = phrase.removeprefix("from ").removeprefix("between ").removeprefix("从")
    joiners = (*words.JOINERS, " and ") if phrase.startswith("between ") else words.JOINERS
    for joiner in joiners:
        first, found, second = bare.partition(joiner)
        if found and first.strip() and second.strip() and joiner not in second:
            yield first.strip(), second.strip()


def _split(phrase: str, separators: Sequence[str]) -> list[str]:
    parts = [phrase]
    for separator in separators:
        parts = [each.strip() for part in parts for each in part.split(separator) if each.strip()]
    return parts


# --- words ----------------------------------------------------------------------------------------------------------


def _boolean(phrase: str, subject: Subject) -> Reading:
    own = plain(subject.path[-1])
    if phrase in words.YES or phrase == own:
        return Named(((subject, Among(frozenset((True,)))),))
    if phrase in words.NO or phrase == f"not {own}":
        return Named(((subject, Among(frozenset((False,)))),))
    return _nothing(phrase, subject)


def _variant(text: str, phrase: str, subject: Subject, values: Sequence[str], names: Mapping[str, str]) -> Reading:
    """One of the list, several, or all but one (`not_external`, `非外部`); blanks, hyphens and case do not matter."""
    known = {plain(value).replace("-", " "): value for value in values}
    known |= {plain(name): value for name, value in names.items() if value in values}

    def one(word: str) -> str | None:
        bare = word.replace("-", " ")
        return known.get(bare, known.get(bare.removesuffix("s")))

    for negation in ("not ", "non ", "非", "不是"):
        if phrase.startswith(negation) and (value := one(phrase.removeprefix(negation))) is not None:
            return Named(((subject, Among(frozenset(values) - {value})),))
    found = [one(each) for each in ([phrase] if one(phrase) else _split(phrase, words.ALTERNATIVES))]
    several = [value for value in found if value is not None]
    if several and len(several) == len(found):
        return Named(((subject, Among(frozenset(several))),))
    close = nearest(phrase, known)
    return Unread(
        f"`{text}` is none of {', '.join(f'`{value}`' for value in values)}"
        + (f"; did you mean `{known[close]}`?" if close else "")
    )


def _text(text: str) -> Condition:
    """A text, or with `*` what begins or ends with it, or has it in it."""
    inner = text.strip("*")
    if inner and "*" not in inner and text != inner:
        before, after = text.startswith("*"), text.endswith("*")
        return Matches("contains" if before and after else "ends_with" if before else "starts_with", inner)
    return Among(frozenset((text,)))


def _members(text: str, subject: Subject, names: Mapping[str, str]) -> Reading:
    """A person, or one of several."""
    given = [names.get(each, each) for each in _split(text, (";", "；", "、", ",", "，"))]
    compared = subject.compared
    if isinstance(compared, t.Set) and isinstance(compared.element, t.Closed):
        wrong = next((each for each in given if each not in compared.element.values), None)
        if wrong is not None:
            return _nothing(wrong, subject)
    return Named(((subject, Overlaps(frozenset(given))),)) if given else _nothing(text, subject)
