"""What reading a file can find wrong: one function for each diagnostic.

In: the place, and what the message speaks of. Out: a `Diagnostic` with a sentence in the user's terms and, wherever
there is one, the text to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ucl.diagnostics import Diagnostic, Note, Report, Span, diagnostic

_LONGEST_QUOTE = 40


def quoted(text: str) -> str:
    """A piece of the user's text in backticks, cut where it is long."""
    line = text.partition("\n")[0]
    return f"`{line}`" if len(line) <= _LONGEST_QUOTE else f"`{line[:_LONGEST_QUOTE]}…`"


# --- the file as a whole --------------------------------------------------------------------------------------------


def large_source(span: Span, limit: int) -> Diagnostic:
    """More than 4 MiB."""
    return diagnostic(
        "too-large", span, f"the file is larger than {limit // (1024 * 1024)} MiB", "split it into modules"
    )


def not_utf8(span: Span, line: int) -> Diagnostic:
    """Bytes that are no UTF-8: another encoding, or no text at all."""
    message = f"the file is not UTF-8 text: its line {line} can't be decoded"
    return diagnostic("syntax", span, message, "save the file as UTF-8")


def binary_file(span: Span) -> Diagnostic:
    """A zero byte: no text file has one."""
    return diagnostic("syntax", span, "the file is not text: it holds zero bytes")


def half_characters(span: Span) -> Diagnostic:
    """A surrogate, which a text can hold in Python and no UTF-8 file can."""
    return diagnostic("syntax", span, "the text holds halves of characters, which UTF-8 has no way to write")


def too_many_errors(span: Span) -> Diagnostic:
    """Reading stops here, to keep the report one that can be read."""
    return diagnostic("syntax", span, "too many mistakes: the rest of the file was not read")


def too_deep(span: Span, limit: int) -> Diagnostic:
    """Parentheses, braces, operators or types, one in another, or a chain of `+` or `.`."""
    message = f"this is nested more than {limit} levels deep"
    return diagnostic("too-deep", span, message, "give parts of it names with `let` or `def`")


def large_set(span: Span, limit: int) -> Diagnostic:
    """A set literal with too many elements."""
    return diagnostic("too-large", span, f"a set has at most {limit:,} elements")


def long_name(span: Span, text: str, limit: int) -> Diagnostic:
    """A name of more than 200 characters."""
    return diagnostic("too-large", span, f"the name {quoted(text)} is longer than {limit} characters")


def module_not_first(span: Span) -> Diagnostic:
    """`module` after another declaration."""
    return diagnostic("syntax", span, "`module` must be the first declaration of the file", "move this line to the top")


def repeated_clause(span: Span, word: str, first: Span) -> Diagnostic:
    """A clause, or `module` or `timezone`, that was already given."""
    helps = {
        "when": "join the conditions with `and`, or write two rules",
        "score": "for another score in some cases write `except when … score …`",
        "do": "separate the effects by commas: `do a(…), b(…)`",
        "given": "join the conditions with `and`",
    }
    message = f"{quoted(word)} was already given"
    return diagnostic(
        "syntax", span, message, helps.get(word, "keep one of the two"), [Note(first, "given here first")]
    )


# --- literals -------------------------------------------------------------------------------------------------------


def bad_literal(span: Span, message: str, replacement: str | None) -> Diagnostic:
    """A literal in a form that other notations have; `replacement` is how it is written here."""
    return diagnostic("bad-literal", span, message, None if replacement is None else f"write `{replacement}`")


def or_else(found: Diagnostic, other: str) -> Diagnostic:
    """Another text that might be meant, besides the one that the help names."""
    return replace(found, help=f"{found.help} or `{other}`")


def long_number(span: Span) -> Diagnostic:
    """So many digits that no type holds them."""
    return diagnostic("too-large", span, "this number has too many digits")


def control_character(span: Span, character: str) -> Diagnostic:
    """A raw tab, say, within a text."""
    escape = {"\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}.get(character, f"\\u{ord(character):04x}")
    return bad_literal(span, "a text can't hold this control character as it is", escape)


def bad_escape(span: Span, escape: str) -> Diagnostic:
    r"""`\q`: JSON's escapes are `\" \\ \/ \b \f \n \r \t \uXXXX`."""
    message = f"{quoted(escape)} is no escape that a text can have"
    if escape == "\\u":
        return bad_literal(span, "`\\u` needs four hexadecimal digits", "\\u00e9")
    return bad_literal(span, message, "\\" + escape)


def lone_surrogate(span: Span, escape: str) -> Diagnostic:
    r"""`\ud83d` alone is half a character."""
    return bad_literal(span, f"{quoted(escape)} is half a character", None)


def no_such_time(span: Span, text: str) -> Diagnostic:
    """`25:00`."""
    return bad_literal(span, f"there is no time {quoted(text)}: they run from `00:00` to `23:59:59`", None)


def misplaced_midnight(span: Span) -> Diagnostic:
    """`24:00` that no range ends with."""
    return bad_literal(span, "`24:00` stands only as the end of a range", "00:00")


def midnight_in_datetime(span: Span, day: str) -> Diagnostic:
    """`2026-03-04T24:00`."""
    return bad_literal(span, f"the day {quoted(day)} ends before `24:00`: that instant is 00:00 of the next day", None)


def no_such_day(span: Span, text: str, last: str | None) -> Diagnostic:
    """`2026-02-30`; `last` is the month's last day, where there is such a month."""
    return bad_literal(span, f"there is no day {quoted(text)}", last)


def no_such_instant(span: Span, text: str) -> Diagnostic:
    """`9999-12-31T23:59-14:00`, which is in the year 10000 in UTC."""
    return bad_literal(span, f"the instant {quoted(text)} lies outside the years 1 to 9999 in UTC", None)


def no_such_offset(span: Span, text: str) -> Diagnostic:
    """`+99:00`: offsets reach 14 hours."""
    return bad_literal(span, f"no place has the offset {quoted(text)} from UTC", None)


def spaced_quantity(span: Span, number: str, unit: str, meant: str) -> Diagnostic:
    """`30 min`, `90 minutes`; `meant` is the unit as it is called here."""
    message = f"a number and its unit are written together, without a space between {quoted(number)} and {quoted(unit)}"
    return bad_literal(span, message, number + meant)


def open_inclusive_range(span: Span, low: str) -> Diagnostic:
    """`5..=` keeps an end in that is not there."""
    return diagnostic("syntax", span, "`..=` keeps its end in, so it needs one", f"write `{low}..`")


def unclosed_text(span: Span) -> Diagnostic:
    """A text whose closing quote is not on its line."""
    message = 'this text is not closed by `"` on its line'
    return diagnostic("syntax", span, message, 'close it with `"`; a line break within it is `\\n`')


# --- words and signs of other languages -----------------------------------------------------------------------------


def other_sign(span: Span, sign: str, replacement: str) -> Diagnostic:
    """`&&`, `!`, `≥`, a full-width comma."""
    return diagnostic("syntax", span, f"{quoted(sign)} is written `{replacement}` here", f"write `{replacement}`")


def needless_sign(span: Span, sign: str, where: str) -> Diagnostic:
    """A `;` at the end, a comma between clauses, a `:` or `=` after a clause word."""
    return diagnostic("syntax", span, f"no {quoted(sign)} is written {where}", f"leave {quoted(sign)} out")


def assignment_for_equality(span: Span) -> Diagnostic:
    """`kind = "a"` in a condition."""
    return diagnostic("syntax", span, "`=` gives a value; to compare write `==`", "write `==`")


def named_argument(span: Span, name: str, sign: str) -> Diagnostic:
    """`f(x=1)`, `f(x: 1)`."""
    written = f"{name} =" if sign == "=" else f"{name}{sign}"
    return diagnostic("syntax", span, "arguments are given by their order, not by name", f"leave `{written}` out")


def compared_with_null(span: Span, word: str, replacement: str) -> Diagnostic:
    """`x == null`."""
    message = f"there is no {quoted(word)}: what may be missing is tested by `present` and `absent`"
    return diagnostic("syntax", span, message, f"write `{replacement}`")


def capital_truth(span: Span, word: str) -> Diagnostic:
    """`True`."""
    return diagnostic("syntax", span, f"{quoted(word)} is written in small letters", f"write `{word.lower()}`")


def else_if(span: Span, word: str) -> Diagnostic:
    """`elif`."""
    return diagnostic("syntax", span, f"{quoted(word)} is written `else if`", "write `else if`")


def unknown_character(span: Span, character: str) -> Diagnostic:
    """A character that no token begins with."""
    if character.isprintable() and not character.isspace():
        return diagnostic("syntax", span, f"{quoted(character)} has no meaning outside a text")
    return diagnostic("syntax", span, f"an invisible character (U+{ord(character):04X}) stands here", "delete it")


# --- names ----------------------------------------------------------------------------------------------------------


def reserved_word(span: Span, word: str, is_field: bool) -> Diagnostic:
    """A word that is never a name where a name is wanted; a field can't be called `from` or `unit` either."""
    message = f"{quoted(word)} can't be {'the name of a field' if is_field else 'a name'}: it has a meaning of its own"
    other = {"from": "sender", "unit": "unit_"}.get(word, word + "_")
    help = f'write `{other}: … from "{word}"`' if is_field else f"write `{other}`"
    return diagnostic("reserved-word", span, message, help)


def reserved_function(span: Span, word: str) -> Diagnostic:
    """`def count(n: int) -> int = …`."""
    message = f"a `def` can't be called `{word}`: `{word}(` begins a comprehension"
    return diagnostic("reserved-word", span, message, f"write `{word}_`")


def is_reserved_name(word: str, report: Report) -> bool:
    """Whether it was said already that a word can't be the name that it is used as."""
    return any(
        d.code == "reserved-word" and d.span.source.text[d.span.start : d.span.end] == word for d in report.diagnostics
    )


def quoted_name(span: Span, text: str) -> Diagnostic:
    """`schema "Meeting"`."""
    bare = text[1:-1]
    help = f"write `{bare}`" if bare.isidentifier() else None
    return diagnostic("syntax", span, f"a name is written without quotes, not as {quoted(text)}", help)


def unquoted_text(span: Span, word: str, after: str) -> Diagnostic:
    """`because too late`."""
    message = f"{quoted(after)} is followed by a text in double quotes, not by {quoted(word)}"
    return diagnostic("syntax", span, message, f'write `{after} "…"`')


def source_without_kind(span: Span, text: str) -> Diagnostic:
    """`from "c42"`."""
    message = "`from` says first what kind of source it was"
    return diagnostic("syntax", span, message, f"write `from chat {text}`")


# --- declarations and clauses ---------------------------------------------------------------------------------------


def unknown_declaration(span: Span, word: str, nearest: str | None) -> Diagnostic:
    """`ruel a on S {…}`."""
    help = (
        f"did you mean `{nearest}`?"
        if nearest
        else "a declaration begins with a word such as `rule`, `let` or `schema`"
    )
    return diagnostic("syntax", span, f"{quoted(word)} begins no declaration", help)


def python_import(span: Span) -> Diagnostic:
    """`from std.units import length`."""
    message = "what is imported is named in parentheses after its module"
    return diagnostic("syntax", span, message, "write `import module.path (name, other)`")


def computed_domain(span: Span, word: str) -> Diagnostic:
    """`n: int in 0..limit`."""
    message = f"the ends of a field's domain are literals, not names such as {quoted(word)}"
    return diagnostic("syntax", span, message, "write the value itself")


def clause_outside_body(span: Span, word: str, owners: Iterable[str]) -> Diagnostic:
    """`score 0.5` between declarations."""
    message = f"the clause {quoted(word)} stands outside a body"
    return diagnostic("syntax", span, message, f"move it between the `{{` and `}}` of {_either(owners)}")


def clause_of_another_body(span: Span, word: str, body: str, owners: Iterable[str]) -> Diagnostic:
    """`score` in a constraint."""
    message = f"{quoted(word)} is no clause of {_a(body)}"
    return diagnostic("syntax", span, message, f"it belongs to {_either(owners)}")


def unknown_clause(span: Span, word: str, body: str, nearest: str | None, clauses: Iterable[str]) -> Diagnostic:
    """`whn x`."""
    listed = ", ".join(f"`{clause}`" for clause in clauses)
    help = f"did you mean `{nearest}`?" if nearest else f"the clauses of {_a(body)} are {listed}"
    return diagnostic("syntax", span, f"{quoted(word)} begins no clause of {_a(body)}", help)


def unclosed(span: Span, bracket: str, closing: str, before: str) -> Diagnostic:
    """A `(` or `{` that is still open where something else begins."""
    message = f"this {quoted(bracket)} is not closed before {before}"
    return diagnostic("syntax", span, message, f"add `{closing}`")


def unopened(span: Span, bracket: str) -> Diagnostic:
    """A closing bracket too many."""
    return diagnostic("syntax", span, f"this {quoted(bracket)} closes nothing", f"leave {quoted(bracket)} out")


# --- expressions ----------------------------------------------------------------------------------------------------


def chained_comparison(span: Span, replacement: str | None) -> Diagnostic:
    """`a < b < c`, `n in 1..5 == b`."""
    message = "comparisons can't be chained"
    help = "join two comparisons with `and`, or put one in parentheses"
    return diagnostic("chained-comparison", span, message, f"write `{replacement}`" if replacement else help)


def missing_expression(span: Span, after: str | None, before: str) -> Diagnostic:
    """An operator, a comma or a clause word with nothing after it."""
    where = f"after {quoted(after)}, before {before}" if after else f"before {before}"
    return diagnostic("syntax", span, f"a value is missing {where}")


def missing_branch(span: Span, word: str) -> Diagnostic:
    """`if c then a` without an `else`, or `if c` without a `then`."""
    message = f"the `{word}` of this `if` is missing"
    return diagnostic("syntax", span, message, "write `if condition then value else value`")


def side_by_side(span: Span, left: str, right: str, instead: str | None) -> Diagnostic:
    """Two values with nothing that joins them, or with a word such as `is` or `after` for an operator."""
    if instead is not None:
        return diagnostic("syntax", span, f"{quoted(right)} is no operator", f"write `{instead}`")
    return diagnostic("syntax", span, f"nothing joins {quoted(left)} and {quoted(right)}", "an operator is missing")


def needs_parentheses(span: Span, word: str) -> Diagnostic:
    """`a == not b`: what binds looser than its surroundings."""
    return diagnostic("syntax", span, f"{quoted(word)} needs parentheses here", f"write `({word} …)`")


def clause_word_as_bound(span: Span, word: str, sign: str) -> Diagnostic:
    """`n in 0..priority`: an open range ends before a clause word."""
    message = f"a range ends before the clause word {quoted(word)}, which is not taken for its upper end"
    return diagnostic("syntax", span, message, f"write `{sign}({word})`")


def late_name(span: Span, word: str) -> Diagnostic:
    """`any(t.x for t in l)`: these bind their variable first."""
    message = f"`{word}` names its variable first"
    return diagnostic("syntax", span, message, f"write `{word}(t in list where condition)`")


def expected(span: Span, found: str, wanted: Iterable[str]) -> Diagnostic:
    """Something else must stand here; `wanted` are descriptions such as "a name" or "`on`"."""
    options = list(wanted)
    if not options:
        return diagnostic("syntax", span, f"{found} can't stand here")
    return diagnostic("syntax", span, f"{_either(options, bare=True)} is expected here, not {found}")


def _either(words: Iterable[str], bare: bool = False) -> str:
    listed = list(words) if bare else [_a(word) for word in words]
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
