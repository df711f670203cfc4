"""Forms of other languages, from the place where reading stopped: the causes that `mistakes` asks about first.

In: a `Scene`. Out: one diagnostic with what to write instead, or None where the form is another. All that leaves no
doubt, and can be read on from, is in `mending`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ucl.diagnostics import Diagnostic
from ucl.syntax import errors, foreign_errors
from ucl.syntax.reading.lexer import CLAUSE_WORDS, END, Token, words
from ucl.syntax.reading.scene import Scene

Cause = Callable[[Scene], Diagnostic | None]

_NUMBERS = ("INT", "FLOAT")
_NULLS = frozenset(words("null none nil undefined missing absent empty"))
_VALUES = frozenset(
    words("INT FLOAT PERCENT QUANTITY TEXT TIME DATE DATETIME NAME true false mon tue wed thu fri sat sun")
)


# --- numbers --------------------------------------------------------------------------------------------------------


def spaced_quantity(scene: Scene) -> Diagnostic | None:
    """`30 min`, `20 dollars`, `1 pm`; and `3 n`, which may be a product."""
    number, unit, then = scene.previous, scene.stop.token, scene.following
    if scene.terminal in _NUMBERS and "QUANTITY" in scene.stop.expected:
        number, unit, then = scene.stop.token, scene.following, scene.after[1] if len(scene.after) > 1 else unit
    if number is None or number[0] not in _NUMBERS or unit[0] != "NAME" or then[0] in _VALUES:
        return None
    if "\n" in scene.source.text[number[2] : unit[1]]:
        return None
    span, written, name = scene.place(number).to(scene.place(unit)), scene.written(number), scene.written(unit)
    time = foreign_errors.clock_time(written, name)
    if time is not None:
        return errors.bad_literal(span, f"{errors.quoted(scene.text_of(span))} is no time in the form 09:30", time)
    if "QUANTITY" not in scene.stop.expected and not foreign_errors.is_common_unit(name):
        return foreign_errors.number_beside_name(span, written, name)
    return errors.spaced_quantity(span, written, name, foreign_errors.unit_meant(name) or name)


def bare_fraction(scene: Scene) -> Diagnostic | None:
    """`.5`, `0,5`, `1,000USD`, and `5.`, of which the `.` was taken for an access to a field."""
    following, previous = scene.following, scene.previous
    if scene.terminal == "." and following[0] == "INT" and following[1] == scene.stop.token[2]:
        digits = scene.written(following)
        span = scene.span.to(scene.place(following))
        return errors.bad_literal(span, "a number has a digit before its point", f"0.{digits}")
    if scene.terminal == "," and previous is not None and previous[0] == "INT":
        return _comma_in_number(scene, previous, following)
    if len(scene.before) < 2 or scene.before[-1][0] != "." or scene.before[-2][0] != "INT":
        return None
    number, point = scene.before[-2:]
    span = scene.place(number).to(scene.place(point))
    return errors.bad_literal(span, "a number has a digit after its point", scene.written(number) + ".0")


def _comma_in_number(scene: Scene, whole: Token, rest: Token) -> Diagnostic | None:
    digits, fraction = scene.written(whole), scene.written(rest)
    if whole[2] != scene.stop.token[1] or rest[1] != scene.stop.token[2]:
        return None
    span = scene.place(whole).to(scene.place(rest))
    if re.fullmatch(r"\d{3}[^\W\d_]*", fraction) and len(digits) <= 3 and digits != "0":
        point = f"{digits}.{fraction}" if fraction.isdigit() and not fraction.endswith("0") else None
        return foreign_errors.grouped_digits(span, f"{digits}_{fraction}", point)
    if rest[0] in ("INT", "QUANTITY", "BAD_NUMBER"):
        return errors.bad_literal(span, "the fraction of a number follows a point", f"{digits}.{fraction}")
    return None


def two_pieces(scene: Scene) -> Diagnostic | None:
    """`2026-03-04 13:00`, `1h 30min`."""
    previous, token = scene.previous, scene.stop.token
    if previous is None or "and" not in scene.stop.expected:
        return None
    between = scene.source.text[previous[2] : token[1]]
    if between.strip() or "\n" in between:
        return None
    left, right = scene.written(previous), scene.text
    if (previous[0], token[0]) == ("DATE", "BAD_TIME") and re.fullmatch(r"\d:\d\d(:\d\d)?", right):
        right = "0" + right
    elif (previous[0], token[0]) not in (("DATE", "TIME"), ("QUANTITY", "QUANTITY")):
        return None
    span = scene.place(previous).to(scene.span)
    return foreign_errors.two_pieces(span, f"{left}T{right}" if previous[0] == "DATE" else left + right)


# --- operators ------------------------------------------------------------------------------------------------------


def no_operator(scene: Scene) -> Diagnostic | None:
    """`n % 2`, `n mod 2`, `n ** 2`, `t =~ "x"`, and `a // b` in the middle of a line."""
    sign = scene.text
    if sign in ("//", "/*"):
        return foreign_errors.foreign_comment(scene.span, sign)
    if sign not in ("%", "mod", "**", "^", "=~", "~") or scene.previous is None or "and" not in scene.stop.expected:
        return None
    left, right = scene.operand_before(), scene.written(scene.following)
    if sign in ("%", "mod"):
        left, right = (left, right) if scene.following[0] in _NUMBERS else ("a", "b")
        help = f"write `{left} - {right} * floor({left} / {right})`"
    elif sign in ("=~", "~"):
        help = f'write `like({left}, "…*")`, where `*` is any run of characters'
    else:
        help = f"write `{left} * {left}`" if right == "2" else "write a product"
    return foreign_errors.no_operator(scene.span, sign, help)


def null_test(scene: Scene) -> Diagnostic | None:
    """`x is not null`, `x is None`."""
    if scene.text.lower() != "is" or scene.previous is None:
        return None
    after = [token for token in scene.after[:2] if token[0] != END]
    negated = bool(after) and after[0][0] == "not"
    word = after[int(negated)] if len(after) > int(negated) else None
    if word is None or scene.written(word).lower() not in _NULLS:
        return None
    span = scene.span.to(scene.place(word))
    test = "present" if negated else "absent"
    return foreign_errors.tested_for_null(span, scene.text_of(span), f"{test}({scene.operand_before()})")


def question_mark(scene: Scene) -> Diagnostic | None:
    """`c ? a : b`, `x?.y`, `x?`."""
    if scene.terminal != "?" or "and" not in scene.stop.expected:
        return None
    if any(token[0] == ":" for token in scene.after[:20]) and scene.following[0] != ".":
        return foreign_errors.conditional_sign(scene.span)
    path = None
    if scene.following[0] == "." and len(scene.after) > 1:
        path = scene.written(scene.after[1])
    return foreign_errors.safe_access(scene.span, scene.operand_before(), path)


def capital_not(scene: Scene) -> Diagnostic | None:
    """`NOT n > 3`, whose first word was taken for a name."""
    previous = scene.previous
    if previous is None or "and" not in scene.stop.expected or scene.terminal not in (*_VALUES, "("):
        return None
    word = scene.written(previous)
    if previous[0] != "NAME" or word.lower() not in ("not", "if"):
        return None
    return errors.other_sign(scene.place(previous), word, word.lower())


# --- calls and sets -------------------------------------------------------------------------------------------------


def named_argument(scene: Scene) -> Diagnostic | None:
    """`f(a = 1)`, `f(a: 1)`."""
    if scene.terminal not in ("=", ":") or scene.previous is None or not scene.open or scene.open[-1][0] != "(":
        return None
    if scene.terminal == ":" and "and" not in scene.stop.expected:
        return None
    return errors.named_argument(
        scene.place(scene.previous).to(scene.span), scene.written(scene.previous), scene.terminal
    )


def set_in_parentheses(scene: Scene) -> Diagnostic | None:
    """`x in (1, 2)`."""
    if scene.terminal != "," or not scene.open or scene.open[-1][0] != "(":
        return None
    opening = scene.open[-1]
    at = scene.before.index(opening) if opening in scene.before else 0
    if at == 0 or scene.before[at - 1][0] != "in":
        return None
    closing = scene.closing()
    last = closing or scene.stop.token
    elements = scene.source.text[opening[2] : closing[1]] if closing is not None else "…"
    return foreign_errors.set_without_braces(scene.place(opening).to(scene.place(last)), " ".join(elements.split()))


def set_without_braces(scene: Scene) -> Diagnostic | None:
    """`day in sat, sun`."""
    if scene.terminal != "," or len(scene.before) < 2 or scene.before[-2][0] != "in":
        return None
    listed, tokens = [scene.before[-1]], iter(scene.after)
    for token in tokens:
        if token[0] not in _VALUES:
            break
        listed.append(token)
        if next(tokens, (END, 0, 0))[0] != ",":
            break
    if len(listed) < 2:
        return None
    span = scene.place(listed[0]).to(scene.place(listed[-1]))
    return foreign_errors.set_without_braces(span, ", ".join(scene.written(token) for token in listed))


def function_literal(scene: Scene) -> Diagnostic | None:
    """`tags.any(x => …)`, `any(tags, x => …)`."""
    if scene.text not in ("=>", "->") or scene.previous is None or scene.previous[0] != "NAME":
        return None
    if not scene.open or scene.open[-1][0] != "(":
        return None
    at = next((i for i, token in enumerate(scene.before) if token == scene.open[-1]), 0)
    if at == 0:
        return None
    word, source = scene.before[at - 1], "list"
    if at > 2 and scene.before[at - 2][0] == ".":
        source = scene.operand_before(at - 2)
    elif at + 1 < len(scene.before) - 1:
        source = scene.written(scene.before[at + 1])
    variable = scene.written(scene.previous)
    return foreign_errors.function_literal(scene.span, scene.text, scene.written(word), variable, source)


# --- declarations ---------------------------------------------------------------------------------------------------


def hyphen_in_name(scene: Scene) -> Diagnostic | None:
    """`rule my-rule on S`."""
    previous = scene.previous
    if scene.terminal != "-" or previous is None or not scene.stop.expected & {"on", "=", ":", "(", "{", "for"}:
        return None
    if "INT" in scene.stop.expected or "and" in scene.stop.expected:
        return None
    whole = re.compile(r"[\w-]+").match(scene.source.text, previous[1])
    if previous[2] != scene.stop.token[1] or whole is None:
        return None
    span = scene.place(previous).to(scene.span)
    return foreign_errors.hyphen_in_name(span, whole[0].strip("-").replace("-", "_"))


def renamed_import(scene: Scene) -> Diagnostic | None:
    """`import x (y as z)`."""
    if scene.word != "import" or scene.text != "as" or scene.previous is None:
        return None
    return foreign_errors.renamed_import(scene.span, scene.written(scene.previous))


def foreign_field(scene: Scene) -> Diagnostic | None:
    """`n: int 0..10`, `n?: int`, `n: [text]`, `n: text[]`, `n: enum("a", "b")`."""
    if scene.word not in ("schema", "context", "memory", "let", "def", "effect") or scene.previous is None:
        return None
    previous, following = scene.previous, scene.following
    if scene.terminal == "?" and ":" in scene.stop.expected:
        return foreign_errors.optional_name(scene.span, scene.written(previous))
    if scene.terminal in _VALUES and following[0] == "RANGE_OP" and "in" in scene.stop.expected:
        high = scene.after[1] if len(scene.after) > 1 else following
        span = scene.span.to(scene.place(high if high[0] in _VALUES else following))
        return foreign_errors.domain_without_in(span, scene.text_of(span))
    if scene.text == "[" and following[0] == "BAD_CHARACTER" and previous[0] == "NAME":
        return foreign_errors.array_type(scene.span, scene.written(previous))
    if scene.text == "[" and previous[0] == ":" and following[0] in ("NAME", "TEXT"):
        return foreign_errors.array_type(scene.span, scene.written(following))
    if scene.terminal == "(" and previous[0] == "NAME" and scene.written(previous).lower() == "enum":
        closing = scene.closing()
        values = [] if closing is None else [t for t in scene.after if t[1] < closing[1] and t[0] in ("TEXT", "NAME")]
        listed = " | ".join(f'"{scene.written(t).strip(chr(34))}"' for t in values) or None
        return foreign_errors.enumeration(scene.place(previous), listed)
    return None


def swallowed_bound(scene: Scene) -> Diagnostic | None:
    """`n in 0..=priority score 1`: `priority` was read as a clause, and `score` as its value."""
    if len(scene.before) < 3 or scene.before[-3][0] != "RANGE_OP" or scene.terminal not in _VALUES:
        return None
    bound, clause = scene.before[-2:]
    if bound[0] not in CLAUSE_WORDS or clause[0] not in CLAUSE_WORDS:
        return None
    return errors.clause_word_as_bound(scene.place(bound), bound[0], scene.written(scene.before[-3]))


HABITS: tuple[Cause, ...] = (
    renamed_import,
    foreign_field,
    hyphen_in_name,
    set_in_parentheses,
    set_without_braces,
    function_literal,
    no_operator,
    null_test,
    spaced_quantity,
    bare_fraction,
    two_pieces,
    capital_not,
)
