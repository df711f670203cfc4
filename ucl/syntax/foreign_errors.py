"""What is said of forms that other languages have: one function for each diagnostic, as in `errors`.

In: the place, and what the message speaks of. Out: a `Diagnostic` with the text to write instead. And the words that
other people have for units, which are no mistake of syntax but asked for from there too.
"""

from __future__ import annotations

from ucl.diagnostics import Diagnostic, Span, diagnostic
from ucl.syntax.errors import quoted

_UNIT_WORDS = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), "w"),
    **dict.fromkeys(("msec", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("kilometer", "kilometers", "kilometre", "kilometres", "kms"), "km"),
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("foot", "feet"), "ft"),
    **dict.fromkeys(("dollar", "dollars", "usd", "bucks"), "USD"),
    **dict.fromkeys(("euro", "euros", "eur"), "EUR"),
    **dict.fromkeys(("yuan", "cny", "rmb"), "CNY"),
    **dict.fromkeys(("pound_sterling", "gbp"), "GBP"),
    **dict.fromkeys(("yen", "jpy"), "JPY"),
    **dict.fromkeys(("kilo", "kilos", "kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("gram", "grams"), "g"),
    **dict.fromkeys(("pound", "pounds", "lbs"), "lb"),
}
_UNITS = frozenset(("w", "d", "h", "min", "s", "ms", *_UNIT_WORDS.values()))


def unit_meant(word: str) -> str | None:
    """The unit of the language or its library that a word is another name of, such as `min` for `minutes`."""
    return _UNIT_WORDS.get(word) or _UNIT_WORDS.get(word.lower())


def is_common_unit(word: str) -> bool:
    return word in _UNITS or unit_meant(word) is not None


def clock_time(number: str, half: str) -> str | None:
    """`13:00` for `1` and `pm`; None where that is no time of day."""
    if half.lower() not in ("am", "pm") or not number.isdecimal() or not 1 <= int(number) <= 12:
        return None
    return f"{int(number) % 12 + (12 if half.lower() == 'pm' else 0):02}:00"


# --- comments, brackets and operators -------------------------------------------------------------------------------


def foreign_comment(span: Span, mark: str) -> Diagnostic:
    """`// so`, `/* so */`, `-- so`."""
    help = "write `#`" if mark != "//" else "write `#`; a quotient rounded down is `floor(a / b)`"
    return diagnostic("syntax", span, f"a comment begins with `#`, not with `{mark}`", help)


def range_in_brackets(span: Span, inner: str) -> Diagnostic:
    """`n in [1..5]`."""
    return diagnostic("syntax", span, "a range stands without brackets", f"write `{inner}`")


def array_type(span: Span, element: str) -> Diagnostic:
    """`text[]`, `[text]`."""
    return diagnostic("syntax", span, "a type that holds many values is a set", f"write `set<{element}>`")


def no_operator(span: Span, sign: str, help: str) -> Diagnostic:
    """`n % 2`, `n ** 2`, `t =~ "x"`."""
    return diagnostic("syntax", span, f"there is no operator {quoted(sign)}", help)


def set_without_braces(span: Span, elements: str) -> Diagnostic:
    """`day in sat, sun`, `n in (1, 2)`."""
    return diagnostic("syntax", span, "a set is written in braces", f"write `{{{elements}}}`")


def missing_when(span: Span, word: str) -> Diagnostic:
    """`forbid n > 3`, `except n > 3 score 0.1`."""
    return diagnostic("syntax", span, f"`{word}` is followed by `when`", f"write `{word} when …`")


# --- expressions ----------------------------------------------------------------------------------------------------


def tested_for_null(span: Span, written: str, instead: str) -> Diagnostic:
    """`x is not null`."""
    message = f"there is no {quoted(written)}: what may be missing is tested by `present` and `absent`"
    return diagnostic("syntax", span, message, f"write `{instead}`")


def safe_access(span: Span, written: str, path: str | None) -> Diagnostic:
    """`x?.y`, and `x?` alone."""
    help = f"write `present({written})`" if path is None else f"write `present({written}) and {written}.{path} …`"
    return diagnostic("syntax", span, "what may be absent is tested by `present`, not by `?`", help)


def conditional_sign(span: Span) -> Diagnostic:
    """`c ? a : b`."""
    return diagnostic("syntax", span, "`? :` is written `if … then … else …`", "write `if … then … else …`")


def function_literal(span: Span, sign: str, word: str, variable: str, source: str) -> Diagnostic:
    """`tags.any(x => …)`, `any(tags, x -> …)`."""
    help = f"write `{word}({variable} in {source} where …)`"
    return diagnostic("syntax", span, f"there are no functions such as `{variable} {sign} …`", help)


def grouped_digits(span: Span, grouped: str, fraction: str | None) -> Diagnostic:
    """`1,000`, which might be meant as 1.000 too."""
    help = f"write `{grouped}`" + ("" if fraction is None else f", or `{fraction}` for a fraction")
    return diagnostic("bad-literal", span, "digits are grouped by `_`, not by commas", help)


def two_pieces(span: Span, whole: str) -> Diagnostic:
    """`2026-03-04 13:00`, `1h 30min`."""
    return diagnostic("bad-literal", span, "this is one value, and is written in one piece", f"write `{whole}`")


def number_beside_name(span: Span, number: str, name: str) -> Diagnostic:
    """`3 n`: a product, or a quantity of some unit."""
    help = f"write `{number} * {name}`, or `{number}{name}` where `{name}` is a unit"
    return diagnostic("syntax", span, f"nothing joins `{number}` and {quoted(name)}", help)


# --- declarations ---------------------------------------------------------------------------------------------------


def hyphen_in_name(span: Span, name: str) -> Diagnostic:
    """`rule my-rule on S`."""
    return diagnostic("syntax", span, "a name has no `-`", f"write `{name}`")


def renamed_import(span: Span, name: str) -> Diagnostic:
    """`import x (y as z)`."""
    help = f"import `{name}` by its own name, or the whole module, and write `module.{name}`"
    return diagnostic("syntax", span, "an import can't be renamed", help)


def domain_without_in(span: Span, domain: str) -> Diagnostic:
    """`n: int 0..10`."""
    return diagnostic("syntax", span, "the domain of a field follows `in`", f"write `in {domain}`")


def optional_name(span: Span, name: str) -> Diagnostic:
    """`n?: int`."""
    return diagnostic("syntax", span, "the `?` of what may be absent stands behind its type", f"write `{name}: …?`")


def enumeration(span: Span, values: str | None) -> Diagnostic:
    """`enum("a", "b")`."""
    help = f"write `{values}`" if values is not None else 'write `"a" | "b"`'
    return diagnostic("syntax", span, "a type of listed values names them, joined by `|`", help)
