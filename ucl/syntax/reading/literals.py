"""From the text of a literal to its value.

In: the text of a token that has the right shape, its span and a report. Out: the literal's node. A value that does not
exist (30 February, `\\q`, an offset of 99 hours) is reported, and something near it stands in its place, so that one
slip gives one message.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime, timedelta
from fractions import Fraction

from ucl.diagnostics import Report, Span
from ucl.syntax import ast, errors

LONGEST_NUMBER = 100
MIDNIGHT = 24 * 3600 * 1_000_000
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = re.compile(r"[\x00-\x1f]")
_PART = re.compile(r"([0-9_]+(?:\.[0-9]+)?)([^\W\d_]+)")


def integer(span: Span, text: str, report: Report) -> ast.IntLiteral:
    return ast.IntLiteral(span, int(_number(span, text, report)), text)


def decimal(span: Span, text: str, report: Report) -> ast.FloatLiteral:
    return ast.FloatLiteral(span, float(_number(span, text, report)), text)


def percent(span: Span, text: str, report: Report) -> ast.FloatLiteral:
    """The double nearest to a hundredth of the number."""
    return ast.FloatLiteral(span, float(Fraction(_number(span, text[:-1], report)) / 100), text)


def quantity(span: Span, text: str, report: Report) -> ast.QuantityLiteral:
    if len(text) > LONGEST_NUMBER:
        report.add(errors.long_number(span))
        text = "0" + (_PART.findall(text[-LONGEST_NUMBER:]) or [("", "x")])[-1][1]
    parts = tuple(
        ast.QuantityPart(Fraction(number.replace("_", "")), unicodedata.normalize("NFC", unit))
        for number, unit in _PART.findall(text)
    )
    return ast.QuantityLiteral(span, parts, text)


def _number(span: Span, text: str, report: Report) -> str:
    """The digits, without the underscores that group them."""
    if len(text) > LONGEST_NUMBER:
        report.add(errors.long_number(span))
        return "0"
    return text.replace("_", "")


def text(span: Span, written: str, report: Report) -> ast.TextLiteral:
    """The value of JSON's string syntax, in NFC. `written` includes the quotes."""
    inner = written[1:-1]
    control = _CONTROL.search(inner)
    if control:
        at = span.start + 1 + control.start()
        report.add(errors.control_character(Span(span.source, at, at + 1), control[0]))
    if "\\" not in inner:
        return ast.TextLiteral(span, inner)
    value = _ESCAPE.sub(_unescape, inner)
    bad = next((match for match in _ESCAPE.finditer(inner) if len(match[1]) == 1 and match[1] not in _ESCAPES), None)
    if bad is not None:
        start = span.start + 1 + bad.start()
        report.add(errors.bad_escape(Span(span.source, start, start + len(bad[0])), bad[0]))
    return ast.TextLiteral(span, unicodedata.normalize("NFC", _join_surrogates(value, span, report)))


def _unescape(match: re.Match[str]) -> str:
    """The character that an escape stands for; what is no escape stands for itself."""
    escape = match[1]
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _ESCAPES.get(escape, escape)


_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_LONE = re.compile("[\ud800-\udfff]")


def _join_surrogates(value: str, span: Span, report: Report) -> str:
    r"""`\ud83d\ude00` is one character; half of one is none."""
    joined = _PAIR.sub(lambda m: chr(0x10000 + ((ord(m[1]) - 0xD800) << 10) + ord(m[2]) - 0xDC00), value)
    lone = _LONE.search(joined)
    if lone:
        report.add(errors.lone_surrogate(span, f"\\u{ord(lone[0]):04x}"))
        joined = _LONE.sub("\ufffd", joined)
    return joined


def time(span: Span, text: str, report: Report) -> ast.TimeLiteral:
    hour, minute, second = int(text[:2]), int(text[3:5]), int(text[6:] or 0)
    value = ((hour * 60 + minute) * 60 + second) * 1_000_000
    if minute > 59 or second > 59 or value > MIDNIGHT:
        report.add(errors.no_such_time(span, text))
        value = 0
    return ast.TimeLiteral(span, value)


def day(span: Span, text: str, report: Report) -> ast.DateLiteral:
    return ast.DateLiteral(span, _day(span, text, report))


def _day(span: Span, text: str, report: Report) -> date:
    year, month, number = (int(part) for part in text.split("-"))
    try:
        return date(year, month, number)
    except ValueError:
        report.add(errors.no_such_day(span, text, _last_day(year, month)))
        return date(2000, 1, 1)


def _last_day(year: int, month: int) -> str | None:
    """The last day of a month that exists, as text."""
    if not (1 <= year <= 9998 and 1 <= month <= 12):
        return None
    following = date(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).isoformat()


_DATETIME = re.compile(r"(.{10})T([0-9:]{5,8}?)(Z|[+-].{5})?", re.DOTALL)


def instant(span: Span, text: str, report: Report) -> ast.DateTimeLiteral:
    """`2026-03-04T13:00:30+08:00`; without an offset the zone of the call decides."""
    match = _DATETIME.fullmatch(text)
    assert match is not None, text
    on = _day(Span(span.source, span.start, span.start + 10), match[1], report)
    clock = time(Span(span.source, span.start + 11, span.start + 11 + len(match[2])), match[2], report).value
    if clock == MIDNIGHT:
        report.add(errors.midnight_in_datetime(span, text[:10]))
        clock = 0
    local = datetime(on.year, on.month, on.day) + timedelta(microseconds=clock)
    offset = _offset(span, match[3], report)
    if offset is not None and not _FIRST <= local - _BASE - offset <= _LAST:
        report.add(errors.no_such_instant(span, text))
    return ast.DateTimeLiteral(span, local, offset)


# Of instants, in the time since an arbitrary one, since a `datetime` holds none beyond them.
_BASE = datetime(2000, 1, 1)
_FIRST, _LAST = datetime.min - _BASE, datetime.max - _BASE


def _offset(span: Span, text: str | None, report: Report) -> timedelta | None:
    if text is None:
        return None
    if text == "Z":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 14 or minutes > 59:
        report.add(errors.no_such_offset(Span(span.source, span.end - 6, span.end), text))
        return timedelta(0)
    size = timedelta(hours=hours, minutes=minutes)
    return -size if text[0] == "-" else size
