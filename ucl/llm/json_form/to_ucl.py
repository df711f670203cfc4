"""From JSON to UCL: every name and literal is looked at before it is written.

In: JSON, read. Out: UCL's text, laid out, or a `Misfit`. Parentheses are written around every part that could need
them; the layout takes out those that are not needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ucl.diagnostics import Report, Source
from ucl.frozen import frozen
from ucl.llm.json_form.schema import COMPARISONS, STATUSES, SUMS
from ucl.syntax.format import format_source
from ucl.syntax.layout.expressions import quote
from ucl.syntax.parse import parse

# Half of what the compiler takes, since parentheses are written around every part.
_DEEPEST = 40
_MOST_DECLARATIONS = 100
# Times, dates, datetimes, quantities, weekdays and percentages: never a sign that could end a literal.
_LITERAL = re.compile(r"[0-9]+(?:[0-9_.:%+-]|T(?=[0-9])|(?<=[0-9])[^\W\d_]+)*Z?|mon|tue|wed|thu|fri|sat|sun")


@frozen
class Misfit:
    """`place` leads to what is wrong, as in `declarations[0].when`; `message` is one sentence. `is_shape`: a schema
    would have kept it out, which can't say of every text what may stand in it."""

    place: str
    message: str
    is_shape: bool


def ucl_of(form: object) -> str | Misfit:
    """The text of the declarations, laid out. Total: whatever the JSON holds, one of the two comes out."""
    writer = _Writer()
    text = writer.program(form)
    return _laid_out(text) if writer.misfit is None else writer.misfit


def _laid_out(text: str) -> str:
    """Without the parentheses that are not needed. What doesn't parse stays, for the compiler to speak of."""
    report = Report()
    file = parse(Source("model.ucl", text), report)
    return text if report.has_errors else format_source(file)


class _Writer:
    """Writes from the outside in. The first misfit is kept; what is written after it counts for nothing."""

    def __init__(self) -> None:
        self.misfit: Misfit | None = None

    def wrong(self, place: str, message: str, is_shape: bool = True) -> str:
        if self.misfit is None:
            self.misfit = Misfit(place, message, is_shape)
        return ""

    # --- declarations -----------------------------------------------------------------------------------------------

    def program(self, form: object) -> str:
        declarations = form.get("declarations") if isinstance(form, Mapping) else None
        if not isinstance(declarations, list) or not declarations:
            is_empty = isinstance(declarations, list)
            return self.wrong("declarations", "a list of at least one declaration is expected", not is_empty)
        if len(declarations) > _MOST_DECLARATIONS:
            return self.wrong("declarations", f"there are more than {_MOST_DECLARATIONS} declarations", False)
        written = (self.declaration(d, f"declarations[{i}]") for i, d in enumerate(declarations))
        return "\n\n".join(written) + "\n"

    def declaration(self, form: object, place: str) -> str:
        if isinstance(form, Mapping):
            for word, clauses in (("rule", _RULE), ("constraint", _CONSTRAINT), ("property", _PROPERTY)):
                if word in form:
                    return self._declared(word, clauses, form, place)
        return self.wrong(place, "a `rule`, a `constraint` or a `property` is expected")

    def _declared(self, word: str, clauses: Mapping[str, _Clause], form: Mapping[str, Any], place: str) -> str:
        head = f"{word} {self.name(form[word], f'{place}.{word}')} on {self.name(form.get('on'), f'{place}.on')}"
        overrides = self.each(form.get("overrides"), f"{place}.overrides", self.name)
        if overrides:
            head += " overrides " + ", ".join(overrides)
        unknown = next((key for key in form if key not in (*clauses, word, "on", "overrides")), None)
        if unknown is not None:
            return self.wrong(place, f"a {word} has no `{str(unknown)[:40]}`")
        lines = (
            f"  {line}"
            for key, write in clauses.items()
            if form.get(key) is not None
            for line in write(self, form[key], f"{place}.{key}")
        )
        return "\n".join([f"{head} {{", *lines, "}"])

    def each(self, form: object, place: str, write: Callable[[object, str], str]) -> list[str]:
        """Of a list; null is an empty one."""
        if form is None:
            return []
        if not isinstance(form, list):
            self.wrong(place, "a list is expected")
            return []
        return [write(item, f"{place}[{index}]") for index, item in enumerate(form)]

    def source(self, form: object, place: str) -> str:
        if not isinstance(form, Mapping):
            return self.wrong(place, "a source is expected, as `kind`, `id` and `at`")
        at = form.get("at")
        when = "" if at is None else f" at {self.literal(at, f'{place}.at')}"
        return f"{self.name(form.get('kind'), f'{place}.kind')} {self.text(form.get('id'), f'{place}.id')}{when}"

    def exception(self, form: object, place: str) -> str:
        if not isinstance(form, Mapping):
            return self.wrong(place, "an exception is expected, as `when` and `score`")
        condition = self.expression(form.get("when"), f"{place}.when")
        return f"when {condition} score {self.expression(form.get('score'), f'{place}.score')}"

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, form: object, place: str, depth: int = 0) -> str:
        if depth > _DEEPEST:
            return self.wrong(place, f"expressions are nested more than {_DEEPEST} deep", False)
        if isinstance(form, Mapping):
            for key, write in _EXPRESSIONS.items():
                if key in form:
                    return write(self, form, place, depth + 1)
        return self.wrong(place, "an expression is expected, such as `name`, `compare`, `test`, `and` or `literal`")

    def inner(self, form: Mapping[str, Any], key: str, place: str, depth: int) -> str:
        """A part of an expression, in parentheses; the layout takes out those that are not needed."""
        return self.parted(form.get(key), f"{place}.{key}", depth)

    def parted(self, form: object, place: str, depth: int) -> str:
        written = self.expression(form, place, depth)
        return written if isinstance(form, Mapping) and not _CLOSED.isdisjoint(form) else f"({written})"

    def within(self, form: object, place: str, depth: int) -> str:
        """A range, or an expression that stands for one."""
        if isinstance(form, Mapping) and ("from" in form or "to" in form):
            return self.range(form, place, depth)
        return self.parted(form, place, depth)

    def range(self, form: Mapping[str, Any], place: str, depth: int) -> str:
        low, high = (self.bound(form.get(key), f"{place}.{key}", depth) for key in ("from", "to"))
        return f"{low}..{'=' if form.get('inclusive') is True else ''}{high}"

    def bound(self, form: object, place: str, depth: int) -> str:
        """In parentheses unless it is a literal, since a range ends before a name that is a clause word too."""
        if form is None:
            return ""
        written = self.expression(form, place, depth)
        return written if isinstance(form, Mapping) and not _BARE.isdisjoint(form) else f"({written})"

    # --- leaves -----------------------------------------------------------------------------------------------------

    def name(self, form: object, place: str) -> str:
        if isinstance(form, str) and len(form) <= 400 and all(part.isidentifier() for part in form.split(".")):
            return form
        return self.wrong(place, f"`{_shown(form)}` is no name", not isinstance(form, str))

    def text(self, form: object, place: str) -> str:
        if not isinstance(form, str):
            return self.wrong(place, "a text is expected")
        try:
            form.encode()
        except UnicodeEncodeError:
            return self.wrong(place, "the text holds half of a character", False)
        return quote(form)

    def literal(self, form: object, place: str) -> str:
        if isinstance(form, str) and len(form) <= 100 and _LITERAL.fullmatch(form):
            return form
        message = f"`{_shown(form)}` is no time, date, quantity, weekday or percentage"
        return self.wrong(place, message, not isinstance(form, str))

    def number(self, form: object, place: str) -> str:
        if isinstance(form, int) and not isinstance(form, bool):
            return str(form) if abs(form) < 10**30 else self.wrong(place, "the number is too large", False)
        if isinstance(form, float) and math.isfinite(form) and abs(form) < 1e30:
            # UCL has no exponents.
            text = f"{form:.17f}".rstrip("0") if "e" in repr(form) else repr(form)
            return f"{text}0" if text.endswith(".") else text
        return self.wrong(place, f"`{_shown(form)}` is no number", not isinstance(form, float))

    def share(self, form: object, place: str) -> str:
        """A number, or an expression of one."""
        return self.expression(form, place) if isinstance(form, Mapping) else self.number(form, place)

    def one_of(self, form: object, words: Sequence[str], place: str) -> str:
        listed = ", ".join(f"`{word}`" for word in words)
        return form if isinstance(form, str) and form in words else self.wrong(place, f"one of {listed} is expected")


def _shown(form: object) -> str:
    return str(form)[:40]


# --- clauses, in the order in which they are written ----------------------------------------------------------------

_Clause = Callable[[_Writer, Any, str], Sequence[str]]


def _condition(words: str) -> _Clause:
    return lambda writer, form, place: [f"{words} {writer.expression(form, place)}"]


def _conditions(words: str) -> _Clause:
    return lambda writer, form, place: [f"{words} {one}" for one in writer.each(form, place, writer.expression)]


def _leaf(words: str, write: Callable[[_Writer, Any, str], str]) -> _Clause:
    return lambda writer, form, place: [f"{words} {write(writer, form, place)}"]


_META: Mapping[str, _Clause] = {
    "because": _leaf("because", _Writer.text),
    "from": lambda w, form, place: [f"from {source}" for source in w.each(form, place, w.source)],
    "confidence": _leaf("confidence", _Writer.share),
    "priority": _leaf("priority", _Writer.share),
    "valid": lambda w, form, place: [f"valid {w.within(form, place, 0)}"],
    "status": _leaf("status", lambda w, form, place: w.one_of(form, STATUSES, place)),
}
_RULE: Mapping[str, _Clause] = {
    "when": _condition("when"),
    "unless": _conditions("unless"),
    "score": _condition("score"),
    "except": lambda w, form, place: [f"except {one}" for one in w.each(form, place, w.exception)],
    **_META,
}
_CONSTRAINT: Mapping[str, _Clause] = {
    "forbid": _condition("forbid when"),
    "require": _condition("require"),
    "when": _condition("when"),
    "unless": _conditions("unless"),
    **_META,
}
_PROPERTY: Mapping[str, _Clause] = {"given": _condition("given"), "expect": _conditions("expect"), **_META}


# --- expressions, by their first key --------------------------------------------------------------------------------

_Form = Mapping[str, Any]
_Expression = Callable[[_Writer, _Form, str, int], str]
# What needs no parentheses wherever it stands.
_CLOSED = frozenset(("name", "text", "bool", "literal", "set", "call", "gather"))
_BARE = frozenset(("literal", "number"))


def _joined(word: str) -> _Expression:
    def write(writer: _Writer, form: _Form, place: str, depth: int) -> str:
        parts = writer.each(form[word], f"{place}.{word}", lambda one, at: f"({writer.expression(one, at, depth)})")
        return f" {word} ".join(parts) if parts else writer.wrong(place, f"`{word}` needs parts to join", False)

    return write


def _infix(key: str, signs: Sequence[str]) -> _Expression:
    def write(writer: _Writer, form: _Form, place: str, depth: int) -> str:
        sign = writer.one_of(form[key], signs, f"{place}.{key}")
        left, right = (writer.inner(form, side, place, depth) for side in ("left", "right"))
        return f"{left} {sign} {right}"

    return write


def _test(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    word = "not in" if form.get("negated") is True else "in"
    return f"{writer.inner(form, 'test', place, depth)} {word} {writer.within(form.get('in'), f'{place}.in', depth)}"


def _call(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    arguments = writer.each(form.get("arguments"), f"{place}.arguments", _at(writer, depth))
    return f"{writer.name(form['call'], f'{place}.call')}({', '.join(arguments)})"


def _at(writer: _Writer, depth: int) -> Callable[[object, str], str]:
    return lambda one, place: writer.expression(one, place, depth)


def _gather(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    def part(words: str, key: str) -> str:
        return "" if form.get(key) is None else f"{words}{writer.expression(form[key], f'{place}.{key}', depth)}"

    def sorted_by(key: object, at: str) -> str:
        if not isinstance(key, Mapping):
            return writer.wrong(at, "a key is expected, as `key` and `descending`")
        return writer.inner(key, "key", at, depth) + (" desc" if key.get("descending") is True else "")

    each = "" if form.get("each") is None else f"{part('', 'each')} for "
    variable = writer.name(form.get("variable"), f"{place}.variable")
    keys = writer.each(form.get("by"), f"{place}.by", sorted_by)
    source = f"{each}{variable} in {writer.inner(form, 'source', place, depth)}{part(' where ', 'where')}"
    order = f" by {', '.join(keys)}" if keys else ""
    return f"{writer.name(form['gather'], f'{place}.gather')}({source}{order}{part(', ', 'share')})"


def _if(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    condition, then, otherwise = (writer.inner(form, key, place, depth) for key in ("if", "then", "else"))
    return f"if {condition} then {then} else {otherwise}"


def _set(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    return f"{{{', '.join(writer.each(form['set'], f'{place}.set', _at(writer, depth)))}}}"


def _bool(writer: _Writer, form: _Form, place: str, depth: int) -> str:
    if not isinstance(form["bool"], bool):
        return writer.wrong(f"{place}.bool", "true or false is expected")
    return "true" if form["bool"] else "false"


_EXPRESSIONS: Mapping[str, _Expression] = {
    "name": lambda w, form, place, depth: w.name(form["name"], f"{place}.name"),
    "number": lambda w, form, place, depth: w.number(form["number"], f"{place}.number"),
    "text": lambda w, form, place, depth: w.text(form["text"], f"{place}.text"),
    "bool": _bool,
    "literal": lambda w, form, place, depth: w.literal(form["literal"], f"{place}.literal"),
    "set": _set,
    "compare": _infix("compare", COMPARISONS),
    "test": _test,
    "and": _joined("and"),
    "or": _joined("or"),
    "not": lambda w, form, place, depth: f"not {w.inner(form, 'not', place, depth)}",
    "negate": lambda w, form, place, depth: f"-{w.inner(form, 'negate', place, depth)}",
    "if": _if,
    "part": lambda w, form, place, depth: (
        f"{w.inner(form, 'of', place, depth)}.{w.name(form['part'], f'{place}.part')}"
    ),
    "call": _call,
    "gather": _gather,
    "arithmetic": _infix("arithmetic", SUMS),
    "value": lambda w, form, place, depth: (
        f"{w.inner(form, 'value', place, depth)} ?? {w.inner(form, 'default', place, depth)}"
    ),
}
