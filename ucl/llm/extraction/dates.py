"""On which days something is said to be: relative dates, resolved against the day on which they were said.

In: an utterance and its local date. Out: `SaidDays`, each a half-open stretch of days with the words that say it.
English and Chinese. What comes again (`on Tuesdays`, `every Friday`, 每周二) is no day, and is left to rules.

A bare weekday is the next one after the day of the utterance, `this Friday` may be that day, `next Friday` is that of
the next week from Monday on, `last Friday` the one before. A day of a month without a year is the nearest one.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from ucl.frozen import frozen
from ucl.llm.extraction.numbers import read_number

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_NAMES = "|".join(_MONTHS)
_HAN_DAYS = "一二三四五六日天"
_COUNT = r"(?:\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of)"
_HAN_COUNT = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3})"
_YEARS = range(1, 9999)


@frozen
class SaidDays:
    """The words `text[start:end]` say the days from `first` on, `until` left out."""

    start: int
    end: int
    first: dt.date
    until: dt.date


def said_days(text: str, on: dt.date) -> list[SaidDays]:
    """Every stretch of days that a text names, in its order; the longest words at one place count."""
    found: list[SaidDays] = []
    for pattern, resolve in _FORMS:
        for match in pattern.finditer(text):
            days = _resolved(resolve, match, on)
            if days is not None:
                found.append(SaidDays(match.start(), match.end(), *days))
    found.sort(key=lambda said: (said.start, -said.end))
    kept: list[SaidDays] = []
    for said in found:
        if not kept or said.start >= kept[-1].end:
            kept.append(said)
    return kept


_Days = tuple[dt.date, dt.date]
_Resolve = Callable[[re.Match[str], dt.date], _Days | None]


def _resolved(resolve: _Resolve, match: re.Match[str], on: dt.date) -> _Days | None:
    """None for a day that the calendar does not have."""
    try:
        return resolve(match, on)
    except (ValueError, OverflowError):
        return None


def _one(day: dt.date) -> _Days:
    return day, day + dt.timedelta(days=1)


def _shifted(days: int) -> _Resolve:
    return lambda _, on: _one(on + dt.timedelta(days=days))


def _counted(unit_days: int, sign: int) -> _Resolve:
    def resolve(match: re.Match[str], on: dt.date) -> _Days | None:
        count = read_number(match["count"])
        return None if count is None else _one(on + dt.timedelta(days=sign * int(count) * unit_days))

    return resolve


# --- weekdays, weeks, months ----------------------------------------------------------------------------------------


def _weekday(number: int, which: str, on: dt.date) -> _Days:
    """`which` is `next`, `last`, `this` or "" for a bare name."""
    monday = on - dt.timedelta(days=on.weekday())
    match which:
        case "next":
            return _one(monday + dt.timedelta(days=7 + number))
        case "last":
            return _one(on - dt.timedelta(days=(on.weekday() - number - 1) % 7 + 1))
        case "this":
            return _one(on + dt.timedelta(days=(number - on.weekday()) % 7))
        case _:
            return _one(on + dt.timedelta(days=(number - on.weekday() - 1) % 7 + 1))


_WHICH = {
    "coming": "this",
    "past": "last",
    "下": "next",
    "下个": "next",
    "上": "last",
    "上个": "last",
    "这": "this",
    "这个": "this",
    "本": "this",
}


def _which(word: str | None) -> str:
    folded = (word or "").casefold()
    return _WHICH.get(folded, folded)


def _english_weekday(match: re.Match[str], on: dt.date) -> _Days:
    number = _WEEKDAYS.index(match["day"].casefold())
    return _weekday(number, _which(match["which"]), on)


def _chinese_weekday(match: re.Match[str], on: dt.date) -> _Days:
    """下周二 and 上周二 are those of the next and the last week, as 这周二 is that of this one."""
    number = min(_HAN_DAYS.index(match["day"]), 6)
    which = _which(match["which"])
    if not which:
        return _weekday(number, "", on)
    weeks = {"next": 1, "last": -1, "this": 0}[which]
    return _one(on - dt.timedelta(days=on.weekday()) + dt.timedelta(days=7 * weeks + number))


def _week(match: re.Match[str], on: dt.date) -> _Days:
    weeks = {"next": 1, "last": -1, "this": 0}[_which(match["which"])]
    monday = on - dt.timedelta(days=on.weekday()) + dt.timedelta(days=7 * weeks)
    return monday, monday + dt.timedelta(days=7)


def _weekend(match: re.Match[str], on: dt.date) -> _Days:
    weeks = {"next": 1, "last": -1, "this": 0, "": 0}[_which(match["which"])]
    saturday = on - dt.timedelta(days=on.weekday()) + dt.timedelta(days=7 * weeks + 5)
    return saturday, saturday + dt.timedelta(days=2)


def _month(match: re.Match[str], on: dt.date) -> _Days:
    months = on.year * 12 + on.month - 1 + {"next": 1, "last": -1, "this": 0}[_which(match["which"])]
    first, after = (dt.date(count // 12, count % 12 + 1, 1) for count in (months, months + 1))
    return first, after


# --- days of the calendar -------------------------------------------------------------------------------------------


def _iso(match: re.Match[str], _: dt.date) -> _Days:
    return _one(dt.date(int(match["year"]), int(match["month"]), int(match["day"])))


def _named_month(match: re.Match[str], on: dt.date) -> _Days | None:
    month = _MONTHS.index(match["month"].casefold()) + 1
    return _day_of(month, int(match["day"]), match["year"], on)


def _numbered_month(match: re.Match[str], on: dt.date) -> _Days | None:
    return _day_of(int(match["month"]), int(match["day"]), match["year"], on)


def _day_of(month: int, day: int, year: str | None, on: dt.date) -> _Days | None:
    if year is not None:
        return _one(dt.date(int(year), month, day))
    nearby = [y for y in range(on.year - 1, on.year + 2) if y in _YEARS]
    days = [found for y in nearby for found in _existing(y, month, day)]
    return _one(min(days, key=lambda found: abs(found - on))) if days else None


def _existing(year: int, month: int, day: int) -> Iterator[dt.date]:
    try:
        yield dt.date(year, month, day)
    except ValueError:
        return


# --- the forms ------------------------------------------------------------------------------------------------------


def _english(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


_FORMS: tuple[tuple[re.Pattern[str], _Resolve], ...] = (
    (_english("today|tonight|this morning|this afternoon|this evening"), _shifted(0)),
    (_english("tomorrow"), _shifted(1)),
    (_english("the day after tomorrow|day after tomorrow"), _shifted(2)),
    (_english("yesterday|last night"), _shifted(-1)),
    (_english("the day before yesterday|day before yesterday"), _shifted(-2)),
    (_english(rf"in (?P<count>{_COUNT}) days?"), _counted(1, 1)),
    (_english(rf"in (?P<count>{_COUNT}) weeks?"), _counted(7, 1)),
    (_english(rf"(?P<count>{_COUNT}) days? ago"), _counted(1, -1)),
    (_english(rf"(?P<count>{_COUNT}) weeks? ago"), _counted(7, -1)),
    # A word that ends a weekday's name with `s`, or `every` before it, makes it come again.
    (
        re.compile(
            rf"(?<!every )(?<!each )(?<!other )\b(?:(?P<which>next|this|coming|last|past) )?"
            rf"(?P<day>{'|'.join(_WEEKDAYS)})\b(?!s|'s)",
            re.IGNORECASE,
        ),
        _english_weekday,
    ),
    (_english("(?P<which>next|this|last) week"), _week),
    (_english("(?P<which>next|this|last) weekend"), _weekend),
    (_english("(?P<which>next|this|last) month"), _month),
    (re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)", re.ASCII), _iso),
    (_english(rf"(?P<month>{_MONTH_NAMES}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>\d{{4}}))?"), _named_month),
    (
        _english(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH_NAMES})(?:,? (?P<year>\d{{4}}))?"),
        _named_month,
    ),
    (re.compile("今天|今晚|今早|今日"), _shifted(0)),
    (re.compile("明天|明早|明晚|明日"), _shifted(1)),
    (re.compile("(?<!大)后天"), _shifted(2)),
    (re.compile("大后天"), _shifted(3)),
    (re.compile("昨天|昨晚|昨日"), _shifted(-1)),
    (re.compile("前天"), _shifted(-2)),
    (re.compile(rf"(?P<count>{_HAN_COUNT})天(?:以|之)?后"), _counted(1, 1)),
    (re.compile(rf"(?P<count>{_HAN_COUNT})天(?:以|之)?前"), _counted(1, -1)),
    (re.compile(rf"(?P<count>{_HAN_COUNT})(?:周|个?星期)(?:以|之)?后"), _counted(7, 1)),
    (re.compile(rf"(?P<count>{_HAN_COUNT})(?:周|个?星期)(?:以|之)?前"), _counted(7, -1)),
    (
        re.compile(
            rf"(?<!每)(?<!每个)(?P<which>下个?|上个?|这个?|本)?(?:周|星期|礼拜)(?P<day>[{_HAN_DAYS}])(?![、到至和都])"
        ),
        _chinese_weekday,
    ),
    (re.compile(rf"(?P<which>下个?|上个?|这个?|本)(?:周|星期|礼拜)(?![{_HAN_DAYS}末])"), _week),
    (re.compile("(?<!每)(?<!每个)(?P<which>下个?|上个?|这个?|本)(?:周|星期)末"), _weekend),
    (re.compile("(?P<which>下|上|这|本)个?月"), _month),
    (re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]"), _numbered_month),
)
