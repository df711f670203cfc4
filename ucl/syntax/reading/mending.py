"""Slips that leave no doubt about what was meant: reported, mended, and read on.

In: a token that can't come next, and what can. Out: the token to go on with, or None where there is no such thing and
the declaration has to be left out. Two tokens are only cut differently, and nothing is reported: the `>=` of
`tags: set<text>={}`, and the `context.` of `x.context.y`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction

from ucl.diagnostics import Report, Source, Span
from ucl.frozen import frozen
from ucl.syntax import errors
from ucl.syntax.reading.lexer import CLAUSE_WORDS, LONGEST_NAME, RESERVED, Token
from ucl.syntax.reading.literals import LONGEST_NUMBER

Takes = Callable[[str], bool]
"""Whether a terminal can come next."""

_WINDOW = 300
_MONEY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_OTHER_SIGNS = {
    "&&": "and", "||": "or", "!": "not", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", ":=": "=",
    "≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "…": "..", "∈": "in",
    "，": ",", "：": ":", "（": "(", "）": ")", "｛": "{", "｝": "}", "＝": "=", "＜": "<", "＞": ">", "＋": "+",
    "－": "-", "．": ".",
}  # fmt: skip
_TERMINALS = {"..": "RANGE_OP"}


@frozen
class Mend:
    """Go on with `terminal`, which ends at `end` and means `text` (None: what is written); None skips the token."""

    terminal: str | None
    end: int
    text: str | None = None


def mend(source: Source, token: Token, takes: Takes, report: Report) -> Mend | None:
    """What to read instead of `token`, reported where the user has to change something."""
    terminal, start, end = token
    text, span = source.text[start : min(end, start + _WINDOW)], Span(source, start, end)
    if terminal == ">=" and takes(">"):
        return Mend(">", start + 1)
    if terminal == "QUALIFIER":
        word = "context" if text.startswith("context") else "memory"
        return Mend(word, start + len(word))
    literal = _LITERALS.get(terminal)
    if literal is not None:
        return literal(span, text, report)
    if terminal == "LONG_NAME":
        report.add(errors.long_name(span, text, LONGEST_NAME))
        return Mend("NAME", end)
    return _sign(span, text, terminal, takes, report) or _reserved(span, text, terminal, takes, report)


# --- literals in other notations ------------------------------------------------------------------------------------


def _bad_date(span: Span, text: str, report: Report) -> Mend:
    """`2026-3-4`, `2026-03-04T9:00`, `2026-03-04T13:00:30.5`."""
    numbers = re.match(r"(\d+)-(\d+)-(\d+)(?:T(\d{1,2}):?(\d{2})?:?(\d{2})?)?", text)
    assert numbers is not None, text
    year, month, day, hour, minute, second = numbers.groups()
    fixed = f"{year}-{month:0>2}-{day:0>2}"
    if hour is None:
        report.add(errors.bad_literal(span, f"{errors.quoted(text)} is no date in the form year-month-day", fixed))
        return Mend("DATE", span.end, fixed)
    offset = re.search(r"(Z|[+-]\d{2}:\d{2})$", text)
    fixed += f"T{hour:0>2}:{minute or '00'}" + (f":{second}" if second else "") + (offset[0] if offset else "")
    message = f"{errors.quoted(text)} is no time in the form 2026-03-04T13:00, to the second"
    report.add(errors.bad_literal(span, message, fixed))
    return Mend("DATETIME", span.end, fixed)


def _bad_time(span: Span, text: str, report: Report) -> Mend:
    """`9:00`, `9:00pm`, `13:5`."""
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?([ap]m)?", text, re.IGNORECASE)
    fixed = None
    if match is not None:
        hour, half = int(match[1]), (match[4] or "").lower()
        hour = hour % 12 + (12 if half == "pm" else 0) if half and hour <= 12 else hour
        fixed = f"{hour:02}:{match[2]}" + (f":{match[3]}" if match[3] else "")
    report.add(errors.bad_literal(span, f"{errors.quoted(text)} is no time in the form 09:30", fixed))
    return Mend("TIME", span.end, fixed if fixed and _exists(fixed) else "00:00")


def _exists(time: str) -> bool:
    return all(int(part) < limit for part, limit in zip(time.split(":"), (24, 60, 60)))


def _bad_exponent(span: Span, text: str, report: Report) -> Mend:
    """`1e-3`."""
    mantissa, exponent = re.split("[eE]", text.replace("_", ""), maxsplit=1)
    fixed = None
    if re.fullmatch(r"[+-]?\d{1,2}", exponent) and len(mantissa) <= LONGEST_NUMBER // 2:
        fixed = _plain(Fraction(mantissa) * Fraction(10) ** int(exponent))
    report.add(errors.bad_literal(span, f"{errors.quoted(text)}: numbers have no exponent", fixed))
    return Mend("FLOAT", span.end, fixed if fixed and "." in fixed else "1.0")


def _plain(value: Fraction) -> str:
    """A decimal fraction without an exponent."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str((value * 10**digits).numerator).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def _bad_number(span: Span, text: str, report: Report) -> Mend:
    """Leading zeros, misplaced underscores, `1h30`, letters that run on from a number."""
    plain = text.replace("_", "")
    stripped = plain.lstrip("0") or "0"
    if re.fullmatch(r"\d+(\.\d+)?(%|[^\W\d_]+)?", plain) and len(text) <= LONGEST_NUMBER:
        fixed = stripped if stripped[0].isdigit() else "0" + stripped
        why = "a number has no leading zeros" if plain == text else "`_` stands only between digits"
        report.add(errors.bad_literal(span, f"{errors.quoted(text)}: {why}", fixed))
        kind = "PERCENT" if fixed.endswith("%") else "QUANTITY" if fixed[-1].isalpha() else "INT"
        return Mend("FLOAT" if kind == "INT" and "." in fixed else kind, span.end, fixed)
    if re.fullmatch(r"\d+[^\W\d_]+\d+", plain):
        report.add(errors.bad_literal(span, f"the last number of {errors.quoted(text)} has no unit", None))
        return Mend("QUANTITY", span.end, re.sub(r"\d+$", "", plain))
    report.add(errors.bad_literal(span, f"{errors.quoted(text)} is no number", None))
    return Mend("INT", span.end, "0")


def _money(span: Span, text: str, report: Report) -> Mend:
    """`$20`."""
    fixed = text[1:].strip() + _MONEY[text[0]]
    report.add(errors.bad_literal(span, "an amount of money is a number and its currency", fixed))
    return Mend("QUANTITY", span.end, fixed)


def _quoted(span: Span, text: str, report: Report) -> Mend:
    """A text in single or curly quotes."""
    fixed = json.dumps(text[1:-1], ensure_ascii=False)
    report.add(errors.bad_literal(span, 'a text stands in double quotes, `"…"`', fixed))
    return Mend("TEXT", span.end, fixed)


_LITERALS: dict[str, Callable[[Span, str, Report], Mend]] = {
    "BAD_DATE": _bad_date,
    "BAD_TIME": _bad_time,
    "BAD_EXPONENT": _bad_exponent,
    "BAD_NUMBER": _bad_number,
    "MONEY": _money,
    "QUOTED": _quoted,
}


# --- signs and words ------------------------------------------------------------------------------------------------


def _sign(span: Span, text: str, terminal: str, takes: Takes, report: Report) -> Mend | None:
    """`&&`, `=` for `==`, `[1, 2]`, `;`, a comma between clauses, `score: 0.5`."""
    before = span.source.text[max(0, span.start - _WINDOW) : span.start]
    if terminal == "=" and takes("==") and not re.search(r"[(,]\s*\w+\s*$", before):
        report.add(errors.assignment_for_equality(span))
        return Mend("==", span.end, "==")
    other = _OTHER_SIGNS.get(text) or _bracket(text, takes)
    if terminal in ("BAD_SIGN", "BAD_CHARACTER") and other and takes(_TERMINALS.get(other, other)):
        if text != "]":  # its `[` has been reported
            report.add(errors.other_sign(span, text, other))
        return Mend(_TERMINALS.get(other, other), span.end, other)
    if text == ";":
        report.add(errors.needless_sign(span, text, "at the end of a clause or declaration"))
        return Mend(None, span.end)
    if terminal == "+" and takes("INT"):
        report.add(errors.needless_sign(span, text, "before a value"))
        return Mend(None, span.end)
    decimal = re.search(r"[0-9]$", before) and re.match(r"[0-9]", span.source.text[span.end : span.end + 1])
    if terminal == "," and takes("}") and takes("because") and not decimal:
        report.add(errors.needless_sign(span, text, "between clauses"))
        return Mend(None, span.end)
    word = re.search(r"(\w+)\s*$", before)
    names_column = word is not None and word[1] == "from" and not takes("NAME")
    if terminal in ("=", ":") and word and word[1] in CLAUSE_WORDS and _takes_value(takes) and not names_column:
        report.add(errors.needless_sign(span, text, f"after `{word[1]}`"))
        return Mend(None, span.end)
    return None


def _takes_value(takes: Takes) -> bool:
    return takes("INT") or takes("TEXT") or takes("NAME")


def _bracket(text: str, takes: Takes) -> str | None:
    """What square brackets stand for: a set's braces, or the angle brackets of its type."""
    choices = {"[": "{<", "]": "}>"}.get(text, "")
    return next((choice for choice in choices if takes(choice)), None)


def _reserved(span: Span, text: str, terminal: str, takes: Takes, report: Report) -> Mend | None:
    """A reserved word where a name is declared or follows a `.`; where a value is wanted it is no name at all."""
    if text not in RESERVED and text not in ("from", "unit"):
        return None
    if takes(terminal) or not takes("NAME") or takes("INT"):
        return None
    is_field = takes("}")
    report.add(errors.reserved_word(span, text, is_field))
    return Mend("NAME", span.end)
