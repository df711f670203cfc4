"""The canonical layout: what it looks like, and that it changes no meaning, loses no comment and is stable."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from golden_files import GOLDEN, good_programs
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.diagnostics import Report, Source
from ucl.resources import stdlib_modules, stdlib_source
from ucl.syntax import ast
from ucl.syntax.format import WIDTH, format_source
from ucl.syntax.layout.expressions import quote
from ucl.syntax.parse import parse
from ucl.syntax.reading.lexer import END, tokens

MESSY = sorted((GOLDEN / "format").glob("*.messy.ucl"))
PROGRAMS = [path.read_text(encoding="utf-8") for path in good_programs()]


def read(text: str) -> ast.File:
    report = Report()
    file = parse(Source("test.ucl", text), report)
    assert [d.message for d in report] == [], text
    return file


def comments(file: ast.File) -> list[str]:
    return [comment.text.rstrip() for comment in file.comments]


def laid_out(text: str) -> str:
    """The layout of a text, after a look at all that must hold of it."""
    before = read(text)
    once = format_source(before)
    after = read(once)
    assert after == before
    assert sorted(comments(after)) == sorted(comments(before))
    assert format_source(after) == once
    assert not re.search(r"[ \t]$|\n\n\n|\A\n|\n\n\Z", once, re.MULTILINE)
    return once


@pytest.mark.parametrize("path", MESSY, ids=lambda path: path.name)
def test_messy_files_come_out_like_this(path: Path) -> None:
    expected = path.with_name(path.name.replace(".messy", "")).read_text(encoding="utf-8")
    assert laid_out(path.read_text(encoding="utf-8")) == expected
    assert laid_out(expected) == expected


@pytest.mark.parametrize("text", PROGRAMS, ids=[path.stem for path in good_programs()])
def test_golden_programs_keep_their_meaning_and_comments(text: str) -> None:
    laid_out(text)


@pytest.mark.parametrize("module", stdlib_modules())
def test_the_standard_library_keeps_its_meaning(module: str) -> None:
    source = stdlib_source(module)
    assert source is not None
    laid_out(source[1])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("((a))", "a"),
        ("(a or b) and (c and d)", "(a or b) and c and d"),
        ("not (not (a == b))", "not not a == b"),
        ("(a + b) + c - (d - e)", "a + b + c - (d - e)"),
        ("a * (b * c) / (-(d))", "a * (b * c) / -d"),
        ("- -5 + -(-(n))", "- -5 + - -n"),
        ("(-5).x + (a.b).c", "(-5).x + a.b.c"),
        ("(a ?? b) ?? (c ?? d)", "a ?? b ?? (c ?? d)"),
        ("(if a then b else c) + 1", "(if a then b else c) + 1"),
        (
            "if a then (if b then c else d) else (if e then f else g)",
            "if a then if b then c else d else if e then f else g",
        ),
        ("a in (b) and c in (1)..(n+1)", "a in b and c in 1..n + 1"),
        ("a in 0..(priority) or a in 0..(score + 1)", "a in 0..(priority) or a in 0..(score + 1)"),
        ("a in 0..(context.n) or a in 0..(option.n)", "a in 0..context.n or a in 0..option.n"),
        ("a in {1,2,} and b not in {  }", "a in {1, 2} and b not in {}"),
        ("count( t in (l) where (a) by (b)desc,c )", "count(t in l where a by b desc, c)"),
        ("frequent(t.x for t in l, (25%))", "frequent(t.x for t in l, 25%)"),
        ("07:30:00 == t or 2026-03-04T07:30:05+00:00 == u", "07:30 == t or 2026-03-04T07:30:05Z == u"),
        ("1_000 + 0.80 + 15% == 1h05min", "1_000 + 0.80 + 15% == 1h05min"),
        (r'"\u00e9\/\"\n\u202e\ud83d\ude00"', r'"é/\"\n\u202e😀"'),
        ("x.context.y + context . z", "x.context.y + context.z"),
    ],
)
def test_expressions_are_written_like_this(written: str, expected: str) -> None:
    assert laid_out(f"let x = {written}") == f"let x = {expected}\n"


def test_clauses_take_their_comments_along() -> None:
    text = "rule a on S {\n  # of the score\n  score 1 # behind it\n  # of when\n  when b\n  # last\n}\n"
    expected = "rule a on S {\n  # of when\n  when b\n  # of the score\n  score 1 # behind it\n  # last\n}\n"
    assert laid_out(text) == expected


def test_a_comment_before_a_comma_stands_above_the_next_field() -> None:
    text = "schema S {\n  n: int = 5 # of n\n  # why t\n  , t: text\n  # last\n  ,\n}\n"
    assert laid_out(text) == "schema S {\n  n: int = 5 # of n\n  # why t\n  t: text\n  # last\n}\n"


def test_groups_of_short_declarations_stay_together_and_apart() -> None:
    text = "let a = 1\nlet b = 2\n\n\n\nlet c = 3\n# of d\nlet d = 4\nrule r on S {}\nlet e = 5\n"
    expected = "let a = 1\nlet b = 2\n\nlet c = 3\n# of d\nlet d = 4\n\nrule r on S {}\n\nlet e = 5\n"
    assert laid_out(text) == expected


def test_a_comment_apart_from_a_declaration_stays_apart() -> None:
    text = "# a licence\n\n# of a\nlet a = 1\n\n# of nothing\n\nrule r on S {}\n# the end"
    once = laid_out(text)
    assert once == text + "\n"
    assert [d.doc for d in read(once).declarations] == ["of a", None]  # type: ignore[union-attr]


def _glue(text: str, gaps: list[str]) -> str:
    """The tokens of a text with other gaps between them."""
    spans = [(start, end) for name, start, end in tokens(text, 0, []) if name != END]
    pieces = [text[start:end] + gap for (start, end), gap in zip(spans, gaps)]
    return "".join(pieces) + "".join(gap for gap in gaps[len(spans) :] if "#" in gap)


CANONICAL = [format_source(read(text)) for text in PROGRAMS if text]
# What may be written, and is no part of the canonical layout.
CANONICAL += [
    'schema S { n: int in 0..5 = 5 , t: text , u: float from "c" = 1 , }\ncontext { a: int , b: text? , }',
    "import std.units (length, mass ,)\ndimension d { m, km = 1000m , }\nlet s = {(1), 2 ,}\nlet b = ((1) + ((2)))",
]
GAPS = st.sampled_from([" ", " ", " ", "\n", "\n\n", "  # c", " # c", "\n# own", "\n\n  # apart"])


@st.composite
def commented(draw: st.DrawFn) -> str:
    """A canonical program with line ends and comments, each with a text of its own, between any of its tokens."""
    text = draw(st.sampled_from(CANONICAL))
    count = sum(1 for _ in tokens(text, 0, []))
    dense = draw(st.booleans())
    drawn = draw(st.lists(GAPS, min_size=count, max_size=count)) if dense else [" "] * count
    for position in draw(st.lists(st.integers(0, count - 1), max_size=8)):
        drawn[position] = draw(GAPS)
    numbered = [f"{gap}{number}\n" if "#" in gap else gap for number, gap in enumerate(drawn)]
    return _glue(text, numbered)


@given(commented())
@settings(max_examples=80, deadline=None)
def test_comments_anywhere_stay_in_order(text: str) -> None:
    once = laid_out(text)
    assert comments(read(once)) == comments(read(text))


def test_a_comment_after_every_token_stays() -> None:
    for text in CANONICAL:
        count = sum(1 for _ in tokens(text, 0, []))
        crowded = _glue(text, [f" # c{number}\n" for number in range(count)])
        assert comments(read(laid_out(crowded))) == comments(read(crowded))


NAMES = st.sampled_from(["a", "b", "priority", "count", "from", "unit", "let", "context"])
LEAVES = st.one_of(
    NAMES, st.sampled_from(["1", "-5", "0.5", "15%", "1h30min", "13:00", "mon", '"x"', "true", "{1, 2}", "{}"])
)


def _operations(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Each operand in parentheses, so that every tree can come up."""
    two = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(st.sampled_from(["and", "or", "==", "<", "+", "-", "*", "/", "??", "in"]), two).map(
            lambda t: f"({t[1][0]}) {t[0]} ({t[1][1]})"
        ),
        st.tuples(st.sampled_from(["not", "-"]), inner).map(lambda t: f"{t[0]} ({t[1]})"),
        st.tuples(inner, two).map(lambda t: f"if ({t[0]}) then ({t[1][0]}) else ({t[1][1]})"),
        st.tuples(inner, two).map(lambda t: f"({t[0]}) in ({t[1][0]})..({t[1][1]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]}) not in ({t[1]}).."),
        inner.map(lambda t: f"({t}).priority"),
        two.map(lambda t: f"f({t[0]}, {t[1]})"),
        two.map(lambda t: f"any(v in ({t[0]}) where {t[1]})"),
        two.map(lambda t: f"first({t[0]} for v in l by {t[1]} desc, b)"),
    )


EXPRESSIONS = st.recursive(LEAVES, _operations, max_leaves=14)


@given(EXPRESSIONS)
@settings(max_examples=120, deadline=None)
def test_any_expression_keeps_its_meaning_within_the_width(text: str) -> None:
    once = laid_out(f"let x = {text}")
    assert all(len(line) <= WIDTH for line in once.splitlines())


@given(EXPRESSIONS)
@settings(max_examples=50, deadline=None)
def test_no_parentheses_are_left_that_are_not_needed(text: str) -> None:
    before = read(f"let x = {text}")
    once = format_source(before)
    opened = [match.start() for match in re.finditer(r"(?<![A-Za-z])\(", once)]
    for start in opened:
        depth, end = 1, start
        while depth:
            end += 1
            depth += {"(": 1, ")": -1}.get(once[end], 0)
        without = once[:start] + " " + once[start + 1 : end] + " " + once[end + 1 :]
        report = Report()
        assert parse(Source("x", without), report) != before or report.has_errors, once[start : end + 1]


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_text_is_quoted_as_itself(value: str) -> None:
    value = unicodedata.normalize("NFC", "".join(c for c in value if not "\ud800" <= c <= "\udfff"))
    (let,) = read(f"let x = {quote(value)}").declarations
    assert let.value.value == value  # type: ignore[union-attr]
