"""Times of day and lengths of time as people write them, in English and Chinese, to microseconds.

In: a phrase in NFKC and lower case. Out: a number; `Unread` where it can mean two things, None where it is no such
phrase. An hour alone (`three`, `三点`) can be in the morning or in the afternoon, and is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from ucl.facts.objects import words
from ucl.frozen import frozen
from ucl.semantics.operations import HOUR, MINUTE
from ucl.semantics.types import DAY, DURATION_UNITS, SECOND

_NOON = 12
_LONGEST = 1000 * 366 * DAY
"""A thousand years, so that what lies around it is a duration too."""
_FACTORS = {unit.name: unit.factor for unit in DURATION_UNITS}


@frozen
class Unread:
    """Why an object is not read: the rest of the sentence `it is not tested, since …`."""

    reason: str


_HALVES = "|".join(sorted(words.HALVES, key=len, reverse=True))
_CHINESE_NUMBER = "[零〇一二三四五六七八九十两]{1,3}"
_NUMBER = rf"\d{{1,2}}|{_CHINESE_NUMBER}"
_ENGLISH = re.compile(
    r"(?P<hour>\d{1,2})(?:(?P<colon>[:.])(?P<minute>\d\d)(?::(?P<second>\d\d))?)? ?(?P<half>[ap]\.?m\.?|o'?clock)?"
)
_CHINESE = re.compile(
    rf"(?P<half>{_HALVES})?(?P<hour>{_NUMBER})(?:[点點时時]钟?(?P<minute>半|一刻|三刻|(?:{_NUMBER})分?)?|:(?P<digits>\d\d))"
)


# --- times of day ---------------------------------------------------------------------------------------------------


@frozen
class _Clock:
    """An hour as it was written, which `half` of the day may have to explain."""

    hour: int
    rest: int
    half: str | None
    sure: bool

    def time(self, half: str | None) -> int | None:
        """Microseconds since midnight; None where there is no such time."""
        hour = _hour(self.hour, half)
        time = None if hour is None else hour * HOUR + self.rest
        return time if time is not None and time <= 24 * HOUR else None


def read_time(phrase: str) -> int | Unread | None:
    """`24:00` is a time here, as the end of a range."""
    named = {"noon": 12 * HOUR, "midday": 12 * HOUR, "正午": 12 * HOUR, "midnight": 24 * HOUR, "午夜": 24 * HOUR}
    if phrase in named:
        return named[phrase]
    clock = _clock(phrase)
    if clock is None:
        return None
    return _unsure(phrase) if not clock.sure else clock.time(clock.half)


def read_times(first: str, second: str) -> tuple[int, int] | Unread | None:
    """The two ends of a range: what the one says of its half of the day, the other need not say again."""
    start, stop = _clock(first), _clock(second)
    as_written = _both(read_time(first), read_time(second))
    if start is None or stop is None or (start.half is None) == (stop.half is None):
        return as_written
    known = start.half or stop.half or ""
    # Of `11-1pm` the first is in the morning: a range runs forward within half a day.
    for half in (known, *_OTHER_HALF.get(known, ())):
        ends = (start.time(start.half or half), stop.time(stop.half or half))
        if ends[0] is not None and ends[1] is not None and 0 < ends[1] - ends[0] < 12 * HOUR:
            return (ends[0], ends[1])
    return as_written


_OTHER_HALF = {"pm": ("am",), "am": ("pm",), "morning": ("afternoon",), "afternoon": ("evening",)}


def _both(first: int | Unread | None, second: int | Unread | None) -> tuple[int, int] | Unread | None:
    for each in (first, second):
        if not isinstance(each, int):
            return each
    assert isinstance(first, int)
    assert isinstance(second, int)
    return (first % (24 * HOUR), second)


def _unsure(phrase: str) -> Unread:
    return Unread(f"`{phrase}` may be in the morning or in the afternoon")


def _clock(phrase: str) -> _Clock | None:
    if found := _ENGLISH.fullmatch(phrase):
        hour, half = int(found["hour"]), (found["half"] or "").replace(".", "")
        rest = int(found["minute"] or 0) * MINUTE + int(found["second"] or 0) * SECOND
        if hour > 24 or rest >= HOUR or (hour == 24 and rest) or (half in ("am", "pm") and not 1 <= hour <= _NOON):
            return None
        told = half if half in ("am", "pm") else None
        return _Clock(hour, rest, told, told is not None or found["colon"] == ":" or not 1 <= hour <= _NOON)
    if found := _CHINESE.fullmatch(phrase):
        spoken, minute = _small(found["hour"]), _minutes(found["minute"] or found["digits"] or "0")
        if spoken is None or minute is None or spoken > 24 or (spoken == 24 and minute):
            return None
        told = words.HALVES[found["half"]] if found["half"] else None
        sure = told is not None or found["digits"] is not None or not 1 <= spoken <= _NOON
        return _Clock(spoken, minute * MINUTE, told, sure)
    return None


def _hour(hour: int, half: str | None) -> int | None:
    """Of 24, from one of 12 in a half of the day."""
    if half is None or hour > _NOON:
        return hour
    match half:
        case "am" | "night":
            return hour % _NOON
        case "pm":
            return hour % _NOON + _NOON
        case "morning":
            return hour
        case "noon":
            return hour if hour >= 11 else hour + _NOON if hour <= 2 else None
        case "afternoon":
            return hour if hour == _NOON else hour + _NOON
        case _:
            return 24 if hour == _NOON else hour + _NOON if hour >= 5 else None


def _minutes(phrase: str) -> int | None:
    named = {"半": 30, "一刻": 15, "三刻": 45}
    if phrase in named:
        return named[phrase]
    minute = _small(phrase.removesuffix("分"))
    return minute if minute is not None and minute < 60 else None


# --- numbers --------------------------------------------------------------------------------------------------------


def _small(phrase: str) -> int | None:
    """A whole number below 100 in digits of either script."""
    if phrase.isascii():
        return int(phrase) if phrase.isdigit() else None
    tens, ten, ones = phrase.partition("十")
    if not ten:
        return words.DIGITS.get(phrase)
    high, low = words.DIGITS.get(tens) if tens else 1, words.DIGITS.get(ones) if ones else 0
    return None if high is None or low is None else high * 10 + low


def read_number(phrase: str) -> Fraction | None:
    """`8`, `2.5`, `-3`, `eight`, `八`, `20%`."""
    phrase = phrase.strip()
    for noun in words.COUNTED:
        if phrase.endswith(noun) and phrase != noun:
            phrase = phrase.removesuffix(noun).strip()
            break
    if re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?%?", phrase, re.ASCII):
        number = Fraction(phrase.removesuffix("%"))
        return number / 100 if phrase.endswith("%") else number
    if phrase in words.NUMBERS:
        return Fraction(words.NUMBERS[phrase])
    small = _small(phrase) if re.fullmatch(_CHINESE_NUMBER, phrase) else None
    return None if small is None else Fraction(small)


# --- lengths of time ------------------------------------------------------------------------------------------------

_UNIT = "|".join(sorted(words.UNITS, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<number>\d{{1,9}}(?:\.\d{{1,6}})?|{_CHINESE_NUMBER}|[a-z]+(?: five)?)(?P<half1>个半)?"
    rf"(?P<gap> ?)(?P<unit>{_UNIT})(?P<half2>半)?(?: and )?,? ?"
)


def read_duration(phrase: str) -> int | None:
    """`30 minutes`, `1h30min`, `an hour and a half`, `半小时`, `一个半小时`, in microseconds."""
    named: list[tuple[str, int]] = [
        ("half an hour", 30 * MINUTE),
        ("half hour", 30 * MINUTE),
        ("a quarter of an hour", 15 * MINUTE),
        ("a quarter hour", 15 * MINUTE),
        ("an hour and a half", 90 * MINUTE),
        ("半小时", 30 * MINUTE),
        ("半个小时", 30 * MINUTE),
        ("半个钟头", 30 * MINUTE),
        ("一刻钟", 15 * MINUTE),
    ]
    if phrase in dict(named):
        return dict(named)[phrase]
    total, at = Fraction(0), 0
    while at < len(phrase):
        found = _AMOUNT.match(phrase, at)
        number = None if found is None else read_number(found["number"])
        if found is None or number is None:
            return None
        half = Fraction(1, 2) if found["half1"] or found["half2"] else 0
        total += (number + half) * _FACTORS[words.UNITS[found["unit"]]]
        at = found.end()
    return int(total) if phrase and total.denominator == 1 and total <= _LONGEST else None


Reader = Callable[[str], "int | Fraction | Unread | None"]
