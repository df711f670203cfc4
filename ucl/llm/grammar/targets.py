"""A grammar as one engine or another reads it.

In: a `Grammar` and a target. Out: its text. Lark, llguidance and OpenAI read one syntax, in the subset that all three
have: each terminal is a list of texts or one regular expression without lookaround, lazy repetition or classes such as
`\\w` that differ between engines. XGrammar and llama.cpp have characters only, so terminals become rules; and since
llama.cpp writes `x{0,60}` out sixty times and slows down twentyfold, there long repetitions have no end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import assert_never

from ucl.llm.grammar.forms import Chain, Chars, Choice, Form, Grammar, Literal, Times, Use


class Target(StrEnum):
    LARK = "lark"
    LLGUIDANCE = "llguidance"
    OPENAI = "openai"
    XGRAMMAR = "xgrammar"
    GBNF = "gbnf"


def written(grammar: Grammar, target: Target) -> str:
    """The grammar's text, its lines ended."""
    match target:
        case Target.LARK | Target.LLGUIDANCE | Target.OPENAI:
            lines = _lark(grammar)
        case Target.XGRAMMAR:
            lines = _ebnf(grammar, bounded=True)
        case Target.GBNF:
            lines = _ebnf(grammar, bounded=False)
        case _:
            assert_never(target)
    return "".join(f"{line}\n" for line in lines)


# --- Lark -----------------------------------------------------------------------------------------------------------


def _lark(grammar: Grammar) -> Iterator[str]:
    for name, body in grammar.rules.items():
        options = body.options if isinstance(body, Choice) else (body,)
        yield f"{name}: " + "\n    | ".join(_expression(option, _quoted, str) for option in options)
    for name, body in grammar.terminals.items():
        yield f"{name}: {_terminal(body)}"


def _terminal(body: Form) -> str:
    options = body.options if isinstance(body, Choice) else (body,)
    texts = [option.text for option in options if isinstance(option, Literal)]
    if len(texts) == len(options):
        return " | ".join(map(_quoted, texts))
    return f"/{_regex(body)}/"


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


_REGEX_SIGNS = frozenset(".^$*+?()[]{}|\\/")


def _regex(form: Form) -> str:
    match form:
        case Literal(text):
            return "".join("\\n" if c == "\n" else f"\\{c}" if c in _REGEX_SIGNS else c for c in text)
        case Chars():
            return _class(form, _regex_point)
        case Chain(parts):
            return "".join(f"({_regex(part)})" if isinstance(part, Choice) else _regex(part) for part in parts)
        case Choice(options):
            return "|".join(map(_regex, options))
        case Times(part, least, most):
            single = isinstance(part, Chars) or (isinstance(part, Literal) and len(part.text) == 1)
            return (_regex(part) if single else f"({_regex(part)})") + _repeats(least, most)
        case Use(name):
            raise AssertionError(f"`{name}` stands in a terminal")
    assert_never(form)


def _regex_point(point: int) -> str:
    return f"\\{chr(point)}" if chr(point) in "\\]^-[/" else _point(point)


def _point(point: int) -> str:
    """A character as it is where it can be seen, else by its number, as all engines read it."""
    if 0x20 <= point < 0x7F or chr(point).isalnum():
        return chr(point)
    return f"\\x{point:02X}" if point < 0x80 else f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"


def _class(form: Chars, shown: Callable[[int], str]) -> str:
    inner = "".join(shown(low) if low == high else f"{shown(low)}-{shown(high)}" for low, high in form.ranges)
    return f"[{'^' if form.negated else ''}{inner}]"


def _repeats(least: int, most: int | None) -> str:
    match least, most:
        case 1, 1:
            return ""
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case _, None:
            return f"{{{least},}}"
        case _:
            return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


# --- rules, in both syntaxes ----------------------------------------------------------------------------------------


def _expression(form: Form, quoted: Callable[[str], str], name: Callable[[str], str]) -> str:
    match form:
        case Literal(text):
            return quoted(text)
        case Use(used):
            return name(used)
        case Chain(parts):
            return " ".join(
                f"({_expression(part, quoted, name)})" if isinstance(part, Choice) else _expression(part, quoted, name)
                for part in parts
            )
        case Choice(options):
            return " | ".join(_expression(option, quoted, name) for option in options)
        case Times(part, least, most):
            inner = _expression(part, quoted, name)
            return (inner if isinstance(part, Use) else f"({inner})") + _repeats(least, most)
        case Chars():
            raise AssertionError("a character stands in a rule")
    assert_never(form)


# --- XGrammar and llama.cpp -----------------------------------------------------------------------------------------

# Names are held to their length; only texts are not.
_LONGEST_WRITTEN_OUT = 64
_LONGEST_CLASS = 20


def _ebnf(grammar: Grammar, bounded: bool) -> Iterator[str]:
    def name(of: str) -> str:
        return "root" if of == "start" else of.lower().replace("_", "-") + ("-t" if of.isupper() else "")

    for rule, body in grammar.rules.items():
        yield f"{name(rule)} ::= {_expression(body, _quoted, name)}"
    characters = _Characters(bounded)
    for terminal, body in grammar.terminals.items():
        yield f"{name(terminal)} ::= {characters.expression(body)}"
    for number, text in enumerate(characters.classes, 1):
        yield f"characters-{number} ::= {text}"


class _Characters:
    """Writes terminals as rules. Long classes get rules of their own, in `classes`, since they come again and again."""

    def __init__(self, bounded: bool) -> None:
        self._bounded = bounded
        self.classes: list[str] = []

    def expression(self, form: Form) -> str:
        match form:
            case Literal(text):
                return _quoted(text)
            case Chars():
                return self._class(form)
            case Chain(parts):
                return " ".join(map(self._in_sequence, parts))
            case Choice(options):
                return " | ".join(map(self.expression, options))
            case Times(part, least, most):
                inner = self.expression(part)
                inner = inner if isinstance(part, Chars | Literal) else f"({inner})"
                return inner + _repeats(least, most) if self._bounded else _written_out(inner, least, most)
            case Use(name):
                raise AssertionError(f"`{name}` stands in a terminal")
        assert_never(form)

    def _in_sequence(self, part: Form) -> str:
        text = self.expression(part)
        return f"({text})" if isinstance(part, Choice) else text

    def _class(self, form: Chars) -> str:
        text = _class(form, _ebnf_point)
        if len(text) <= _LONGEST_CLASS:
            return text
        if text not in self.classes:
            self.classes.append(text)
        return f"characters-{self.classes.index(text) + 1}"


def _written_out(inner: str, least: int, most: int | None) -> str:
    """Without `{m,n}`: what may be there stands within what may be there before it."""
    needed = [inner] * least
    if most is None or most - least > _LONGEST_WRITTEN_OUT:
        return " ".join([*needed, f"{inner}*"])
    rest = ""
    for _ in range(most - least):
        rest = f"({inner} {rest})?" if rest else f"{inner}?"
    return " ".join([*needed, rest] if rest else needed)


def _ebnf_point(point: int) -> str:
    """llama.cpp knows no escapes for the signs of a class, but numbers."""
    if chr(point) in ']^-["':
        return f"\\x{point:02X}"
    return "\\\\" if chr(point) == "\\" else _point(point)
