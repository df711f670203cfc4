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
from typing import Any

from ucl.diagnostics import Report, Source, Span
from ucl.frozen import frozen
from ucl.syntax import errors, foreign_errors
from ucl.syntax.reading import literals
from ucl.syntax.reading.lexer import CLAUSE_WORDS, KEYWORDS, LONGEST_NAME, RESERVED, Token

Takes = Callable[[str], bool]
"""Whether a terminal can come next."""

_WINDOW = 300
_MONEY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_OTHER_SIGNS = {
    "&&": "and", "||": "or", "!": "not", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=<": "<=", ":=": "=",
    "...": "..",
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
    meaning = _LITERALS.get(terminal)
    if meaning is not None:
        return _literal(meaning(text, _before(span)), span, takes, report)
    if terminal == "LONG_NAME":
        report.add(errors.long_name(span, text, LONGEST_NAME))
        return Mend("NAME", end)
    return (
        _comment(span, text, report)
        or _sign(span, text, terminal, takes, report)
        or _word(span, text, terminal, takes, report)
    )


def _before(span: Span) -> str:
    return span.source.text[max(0, span.start - _WINDOW) : span.start]


# --- literals in other notations ------------------------------------------------------------------------------------


@frozen
class _Meant:
    """What is wrong with a literal, the terminal that it was meant to be, and what to write, where that is known."""

    message: str
    terminal: str
    fixed: str | None
    or_else: str | None = None


# Read in place of what can't be told; whatever stands on it is not looked at.
_STAND_INS = {
    "INT": "0", "FLOAT": "1.0", "PERCENT": "1%", "QUANTITY": "1s", "TEXT": '""', "TIME": "00:00", "DATE": "2000-01-01",
    "DATETIME": "2000-01-01T00:00",
}  # fmt: skip
_READERS: dict[str, Callable[[Span, str, Report], Any]] = {
    "DATE": literals.day,
    "DATETIME": literals.instant,
    "TIME": literals.time,
}


def _literal(meant: _Meant, span: Span, takes: Takes, report: Report) -> Mend | None:
    if not takes(meant.terminal):
        return None  # out of place besides, which is for `mistakes` to say
    fixed = meant.fixed if meant.fixed is not None and _exists(meant.terminal, meant.fixed) else None
    found = errors.bad_literal(span, meant.message, fixed)
    report.add(found if fixed is None or meant.or_else is None else errors.or_else(found, meant.or_else))
    return Mend(meant.terminal, span.end, fixed or _STAND_INS[meant.terminal])


def _exists(terminal: str, text: str) -> bool:
    """Whether a date or time of the right form is one that there is."""
    found = Report()
    if terminal in _READERS:
        source = Source("", text)
        _READERS[terminal](Span(source, 0, len(text)), text, found)
    return not found.diagnostics


def _bad_date(text: str, before: str) -> _Meant:
    """`2026-3-4`, `04.03.2026`, `2026/03/04`, `2026-03-04T9:00`, `2026-03-04T13:00:30.5`."""
    said = errors.quoted(text)
    numbers = re.match(r"(\d{4})[-/](\d+)[-/](\d+)(?:T(\d{1,2}):?(\d{2})?:?(\d{2})?)?", text)
    if numbers is None:
        parts = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text)
        fixed = None if parts is None else f"{parts[3]}-{parts[2]:0>2}-{parts[1]:0>2}"
        return _Meant(f"{said} is no date in the form year-month-day", "DATE", fixed)
    year, month, day, hour, minute, second = numbers.groups()
    fixed = f"{year}-{month:0>2}-{day:0>2}"
    if hour is None:
        return _Meant(f"{said} is no date in the form year-month-day", "DATE", fixed)
    offset = re.search(r"(Z|[+-]\d{2}:\d{2})$", text)
    fixed += f"T{hour:0>2}:{minute or '00'}" + (f":{second}" if second else "") + (offset[0] if offset else "")
    return _Meant(f"{said} is no time in the form 2026-03-04T13:00, to the second", "DATETIME", fixed)


def _bad_time(text: str, before: str) -> _Meant:
    """`9:00`, `9:00pm`, `13:5`."""
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?([ap]m)?", text, re.IGNORECASE)
    fixed = None
    if match is not None:
        hour, half = int(match[1]), (match[4] or "").lower()
        hour = hour % 12 + (12 if half == "pm" else 0) if half and hour <= 12 else hour
        fixed = f"{hour:02}:{match[2]}" + (f":{match[3]}" if match[3] else "")
    return _Meant(f"{errors.quoted(text)} is no time in the form 09:30", "TIME", fixed)


def _bad_exponent(text: str, before: str) -> _Meant:
    """`1e-3`."""
    mantissa, exponent = re.split("[eE]", text.replace("_", ""), maxsplit=1)
    fixed = None
    if re.fullmatch(r"[+-]?\d{1,2}", exponent) and len(mantissa) <= literals.LONGEST_NUMBER // 2:
        fixed = _plain(Fraction(mantissa) * Fraction(10) ** int(exponent))
    kind = "INT" if fixed is not None and "." not in fixed else "FLOAT"
    return _Meant(f"{errors.quoted(text)}: numbers have no exponent", kind, fixed)


def _plain(value: Fraction) -> str:
    """A decimal fraction without an exponent."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str((value * 10**digits).numerator).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def _bad_number(text: str, before: str) -> _Meant:
    """Leading zeros, misplaced underscores, `1h30`, `1,000`, letters that run on from a number."""
    said, plain = errors.quoted(text), text.replace("_", "")
    grouped = re.search(r"\d{1,3}(?:,\d{3})*,$", before)
    if grouped is not None and re.fullmatch(r"\d{3}", text):
        return _Meant("digits are grouped by `_`, not by commas", "INT", grouped[0].replace(",", "_") + text)
    if re.fullmatch(r"\d+(\.\d+)?(%|[^\W\d_]+)?", plain) and len(text) <= literals.LONGEST_NUMBER:
        stripped = plain.lstrip("0") or "0"
        fixed = stripped if stripped[0].isdigit() else "0" + stripped
        why = "a number has no leading zeros" if plain == text else "`_` stands only between digits"
        kind = "PERCENT" if fixed.endswith("%") else "QUANTITY" if fixed[-1].isalpha() else "INT"
        return _Meant(f"{said}: {why}", "FLOAT" if kind == "INT" and "." in fixed else kind, fixed)
    if re.fullmatch(r"\d+[^\W\d_]+\d+", plain):
        return _Meant(f"the last number of {said} has no unit", "QUANTITY", None)
    return _Meant(f"{said} is no number", "INT", None)


def _bad_point(text: str, before: str) -> _Meant:
    """`5.`, which is no float."""
    return _Meant("a number has a digit after its point", "FLOAT", text + "0", text[:-1])


def _money(text: str, before: str) -> _Meant:
    """`$20`, `20 €`."""
    sign = text[0] if text[0] in _MONEY else text[-1]
    fixed = text.strip(sign + " ") + _MONEY[sign]
    return _Meant("an amount of money is a number and its currency", "QUANTITY", fixed)


def _quoted(text: str, before: str) -> _Meant:
    """A text in single or curly quotes."""
    return _Meant('a text stands in double quotes, `"…"`', "TEXT", json.dumps(text[1:-1], ensure_ascii=False))


_LITERALS: dict[str, Callable[[str, str], _Meant]] = {
    "BAD_DATE": _bad_date,
    "BAD_TIME": _bad_time,
    "BAD_EXPONENT": _bad_exponent,
    "BAD_NUMBER": _bad_number,
    "BAD_POINT": _bad_point,
    "MONEY": _money,
    "QUOTED": _quoted,
}


# --- signs ----------------------------------------------------------------------------------------------------------


def _comment(span: Span, text: str, report: Report) -> Mend | None:
    """`// so`, `/* so */`, and `-- so` on a line of its own: skipped like the comments that they are."""
    source, start = span.source.text, span.start
    mark = source[start : start + 2]
    if mark not in ("//", "/*", "--"):
        return None
    line_end = source.find("\n", start)
    end = len(source) if line_end < 0 else line_end
    alone = not source[source.rfind("\n", 0, start) + 1 : start].strip()
    if mark == "/*":
        closed = source.find("*/", start + 2)
        end = end if closed < 0 else closed + 2
    elif not alone and (mark == "--" or "}" in source[start:end]):
        return None  # more likely an operator
    report.add(foreign_errors.foreign_comment(Span(span.source, start, start + 2), mark))
    return Mend(None, end)


def _sign(span: Span, text: str, terminal: str, takes: Takes, report: Report) -> Mend | None:
    """`&&`, `=` for `==`, `[1, 2]`, `;`, a comma between clauses, `score: 0.5`."""
    before = _before(span)
    if terminal == "=" and takes("==") and not re.search(r"[(,]\s*\w+\s*$", before):
        report.add(errors.assignment_for_equality(span))
        return Mend("==", span.end, "==")
    if text in ("[", "]"):
        return _bracket(span, text, before, takes, report)
    other = _OTHER_SIGNS.get(text)
    is_arrow = text == "=>" and re.search(r"\(\s*\w+\s*$", before)
    if terminal in ("BAD_SIGN", "BAD_CHARACTER") and other and takes(_TERMINALS.get(other, other)) and not is_arrow:
        report.add(errors.other_sign(span, text, other))
        return Mend(_TERMINALS.get(other, other), span.end, other)
    if text == ";":
        report.add(errors.needless_sign(span, text, "at the end of a clause or declaration"))
        return Mend(None, span.end)
    if terminal == "+" and takes("INT"):
        report.add(errors.needless_sign(span, text, "before a value"))
        return Mend(None, span.end)
    if terminal == "," and takes("}") and takes("because") and not _joins_values(span, before):
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


_AFTER_IN = re.compile(r"\bin\s+(?:\"[^\"\n]*\"|[\w.:%+-]+)\s*$")


def _joins_values(span: Span, before: str) -> bool:
    """Whether a comma stands within a number, `1,5`, or in a list without braces, `day in sat, sun`."""
    after = re.match(r"(\s*)(\w*)", span.source.text[span.end : span.end + _WINDOW])
    assert after is not None
    if re.search(r"[0-9]$", before) and after[2][:1].isdigit() and not after[1]:
        return True
    return bool(_AFTER_IN.search(before)) and after[2] not in CLAUSE_WORDS


def _bracket(span: Span, text: str, before: str, takes: Takes, report: Report) -> Mend | None:
    """What square brackets stand for: a set's braces, the angle brackets of its type, or nothing around a range."""
    rest = span.source.text[span.start : span.start + _WINDOW]
    ranged = re.match(r"\[[^\[\]\n]*?\.\.[^\[\]\n]*\]", rest)
    if text == "[" and ranged is not None and takes("INT"):
        report.add(foreign_errors.range_in_brackets(span, ranged[0][1:-1].strip()))
        return Mend(None, span.end)
    if text == "]" and re.search(r"\[[^\[\]\n]*\.\.[^\[\]\n]*$", before):
        return Mend(None, span.end)
    if text == "[" and re.match(r"\[\s*\]", rest) and not takes("INT"):
        return None  # `text[]`
    choices = "{<" if text == "[" else "}>"
    other = next((choice for choice in choices if takes(choice)), None)
    if other is None:
        return None
    if text == "[":  # its `]` is the same mistake
        report.add(errors.other_sign(span, text, other))
    return Mend(other, span.end, other)


# --- words ----------------------------------------------------------------------------------------------------------


def _word(span: Span, text: str, terminal: str, takes: Takes, report: Report) -> Mend | None:
    """`AND`, `forbid n > 3`, `when n > 3 then score 1`, a reserved word as a name."""
    lower = text.lower()
    if terminal == "NAME" and lower in KEYWORDS and takes(lower):
        report.add(errors.other_sign(span, text, lower))
        return Mend(lower, span.end, lower)
    word = re.search(r"\b(forbid|except)\s+$", _before(span))
    if word is not None and takes("when") and not takes("NAME") and (text.isidentifier() or text in ("(", "{")):
        report.add(foreign_errors.missing_when(span, word[1]))
        return Mend("when", span.start, "when")
    if terminal == "then" and takes("because"):
        report.add(errors.needless_sign(span, text, "before a clause"))
        return Mend(None, span.end)
    return _reserved(span, text, terminal, takes, report)


def _reserved(span: Span, text: str, terminal: str, takes: Takes, report: Report) -> Mend | None:
    """A reserved word where a name is declared or follows a `.`; where a value is wanted it is no name at all, but is
    read as one where that is what it was declared as."""
    if text not in RESERVED and text not in ("from", "unit"):
        return None
    if takes(terminal) or not takes("NAME"):
        return None
    if takes("INT"):
        return Mend("NAME", span.end) if errors.is_reserved_name(text, report) else None
    report.add(errors.reserved_word(span, text, is_field=takes("}")))
    return Mend("NAME", span.end)
