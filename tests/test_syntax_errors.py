"""What is said about a text that is wrong; and that something is said about any text at all, in bounded time."""

from __future__ import annotations

import re

import pytest
from golden_files import Chunk, chunks, good_programs
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.diagnostics import Report, Source
from ucl.syntax import ast
from ucl.syntax.parse import MOST_ERRORS, parse, read_source
from ucl.syntax.reading import expressions
from ucl.syntax.reading.lexer import CLAUSE_WORDS, DECLARATION_WORDS, RESERVED


def read(text: str) -> tuple[ast.File, Report]:
    report = Report()
    return parse(Source("test.ucl", text), report), report


@pytest.mark.parametrize("chunk", chunks("syntax"), ids=lambda chunk: chunk.name)
def test_golden_mistakes(chunk: Chunk) -> None:
    _, report = read(chunk.text)
    assert chunk.differences(report) == []
    assert chunk.expected


def test_what_can_be_read_is_read() -> None:
    file, report = read("rule a on S { score 1 }\nrule b on S { whn x }\nrule c on S { score 2 }\n")
    assert [d.name.text for d in file.declarations] == ["a", "c"]  # type: ignore[union-attr]
    assert [d.code for d in report] == ["syntax"]


def test_a_mended_slip_leaves_the_tree_that_was_meant() -> None:
    slips = read("rule a on S { when x = 1 && t > 9:00 and [1, 2] == y or b == null score: 1e-3; }")[0]
    meant = read("rule a on S { when x == 1 and t > 09:00 and {1, 2} == y or absent(b) score 0.001 }")[0]
    assert slips == meant


def test_a_reserved_word_as_a_name_leaves_the_declaration() -> None:
    file, report = read("schema S { n: int\n sat: bool }")
    assert [d.code for d in report] == ["reserved-word"]
    assert [field.name.text for field in file.declarations[0].fields] == ["n", "sat"]  # type: ignore[union-attr]


def test_long_names_numbers_and_sets_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert expressions.LARGEST_SET == 100_000
    monkeypatch.setattr(expressions, "LARGEST_SET", 10)
    for text in ("let " + "a" * 201 + " = 1", "let a = " + "9" * 101, "let a = {" + "1," * 11 + "}"):
        assert [d.code for d in read(text)[1]] == ["too-large"]
    assert list(read("let " + "a" * 200 + " = {" + "1," * 10 + "}")[1]) == []


def test_of_very_many_mistakes_the_first_are_said() -> None:
    report = read("let = 1\n" * 1000)[1]
    assert len(report.diagnostics) == MOST_ERRORS + 1
    assert "too many mistakes" in report.diagnostics[-1].message


MIB4 = 4 * 1024 * 1024
LARGE = {
    "parentheses": "(" * MIB4,
    "parentheses in a let": "let x = " + "(" * (MIB4 - 8),
    "quotes": '"' * MIB4,
    "hashes": "#" * MIB4,
    "rule": "rule " * (MIB4 // 5),
    "a.": "a." * (MIB4 // 2),
    "a. in a let": "let x = " + "a." * (MIB4 // 2 - 4),
    "+": "let x = " + "a + " * (MIB4 // 4 - 2),
    "not": "let x = " + "not " * (MIB4 // 4 - 2),
    "if": "let x = " + "if a then b else " * (MIB4 // 17 - 1),
    "set<": "memory x: " + "set<" * (MIB4 // 4 - 3),
    "digits": "let x = " + "9" * (MIB4 - 8),
    "a unit": "let x = " + "1h" * (MIB4 // 2 - 4) + "1",
    "single quotes": "'" * MIB4,
    "//": "let x = " + "a // } " * (MIB4 // 7 - 2),
    "/*": "/* a\n" * (MIB4 // 5),
    "[": "let x = a in " + "[1.." * (MIB4 // 4 - 4),
    "20 €": "let x = " + "20 €, " * (MIB4 // 8 - 2),
    "=": "let x = " + "a = " * (MIB4 // 4 - 2),
    "a name": "a" * MIB4,
    "blanks": " " * MIB4,
    "closing": "}" * (MIB4 // 8),
    "odd characters": "“a" * (MIB4 // 8),
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE.keys())
def test_large_and_odd_files_end(text: str) -> None:
    """Each of these takes a moment where reading is linear and stops early, and hours where it is not."""
    report = read(text)[1]
    assert len(report.diagnostics) <= MOST_ERRORS + 1


def _sound(text: str) -> None:
    """What must hold of any text: an answer, spans within it, and messages that a person can read."""
    file, report = read(text)
    assert isinstance(file, ast.File)
    for found in report:
        assert 0 <= found.span.start <= found.span.end <= len(found.span.source.text)  # NFC may lengthen a text
        plain = re.sub(r"`[^`]*`|U\+[0-9A-F]+|UTF|UTC", "", found.message)
        assert "`" in text or not re.search(r"\b[A-Z]{2,}\b", plain), found.message
        assert found.message[:1] in "`…" or not found.message[:1].isupper()
    places = [comment.span.start for comment in file.comments]
    assert places == sorted(set(places))


SIGNS = """( ) { } [ ] < > = == != <= >= + - * / ?? ? . .. ..= , : ; | -> && || ! % $ ' " # “ ” ， ￥ \u200b"""
LITERALS = [
    "1",
    "0.5",
    "15%",
    "007",
    "1e5",
    "9:00",
    "24:00",
    "13:00",
    "2026-03-04",
    "2026-2-30",
    "30min",
    '"a"',
    "$20",
    "é",
]
SOUP = [
    *RESERVED,
    *CLAUSE_WORDS,
    *DECLARATION_WORDS,
    *SIGNS.split(),
    "\n",
    *LITERALS,
    "a",
    "S",
    "on",
    "overrides",
    "nothing",
    "count",
    "f(",
]
SOUP += """// /* */ -- ** =~ =< => [1.. 1..5] text[] 1,000 1,5 04.03.2026 2026/03/04 5. €20 20$ AND NOT is null ?.x x.y
my-rule enum( forbid n then given pm minutes as""".split()


@given(st.lists(st.sampled_from(sorted(SOUP)), max_size=40).map(" ".join))
@settings(max_examples=150, deadline=None)
def test_any_tokens_are_answered(text: str) -> None:
    _sound(text)


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_any_text_is_answered(text: str) -> None:
    _sound(text)


@given(st.binary(max_size=60))
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_answered(data: bytes) -> None:
    report = Report()
    source = read_source("x.ucl", data, report)
    if source is None:
        assert report.has_errors
    else:
        _sound(source.text)


PROGRAMS = [path.read_text(encoding="utf-8") for path in good_programs()]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A golden program with a few pieces taken out, doubled, or put in place of others."""
    text = draw(st.sampled_from(PROGRAMS))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        piece = draw(st.sampled_from(["", text[start:end] * 2, *SOUP]))
        text = text[:start] + piece + text[end:]
    return text


@given(mutated())
@settings(max_examples=80, deadline=None)
def test_damaged_programs_are_answered(text: str) -> None:
    _sound(text)


@given(st.sampled_from(PROGRAMS), st.data())
@settings(max_examples=50, deadline=None)
def test_a_damaged_line_leaves_the_other_declarations(text: str, data: st.DataObject) -> None:
    """A declaration that is read without the damage behind it is read with it too."""
    cut = data.draw(st.integers(0, len(text)))
    whole, damaged = read(text)[0], read(text[:cut] + "\n}}{ ?\n")[0]
    before = [d for d in whole.declarations if d.span.end < cut]
    assert list(damaged.declarations[: len(before)]) == before
