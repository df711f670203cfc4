"""One grammar for everyone: Lark and llguidance read it, the compiler's table and lexer say the same as it does."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import lark
import llguidance
import pytest
from golden_files import chunks, good_programs
from lark import Lark, Token, Tree

from ucl.diagnostics import Report, Source
from ucl.resources import grammar_text
from ucl.syntax.parse import parse
from ucl.syntax.reading import table
from ucl.syntax.reading.lexer import KEYWORDS, tokens

PROGRAMS = good_programs()


@pytest.fixture(scope="module")
def every_token() -> Lark:
    """Lark's own parser, with all tokens kept in its trees."""
    return Lark(
        grammar_text(), parser="lalr", lexer="contextual", edit_terminals=table._end_words, keep_all_tokens=True
    )


@pytest.fixture(scope="module")
def decoder() -> Any:
    """The grammar as llguidance compiles it. Its texts may begin with a comment."""
    return llguidance.LLMatcher.grammar_from_lark('%llguidance {"allow_initial_skip": true}\n' + grammar_text())


def test_the_kept_table_is_that_of_the_grammar() -> None:
    """After a change to the grammar: `python -m ucl.syntax.reading.table`."""
    kept = json.loads(Path(table.__file__).with_name("table.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(table.encode(grammar_text())))


def test_a_table_of_another_grammar_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "grammar_text", lambda: 'start: "let" NAME\nNAME: /[a-z]/\n')
    found = table.load.__wrapped__()
    assert found.actions[found.initial] == {"let": found.actions[found.initial]["let"]}


def test_the_grammar_has_no_conflict(caplog: pytest.LogCaptureFixture) -> None:
    """Lark resolves a conflict between shifting and reducing silently, unless it is asked to say so."""
    logger = lark.logger
    logger.addHandler(caplog.handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        Lark('start: "if" start ("else" start)? | "x"', parser="lalr", debug=True)
        assert "conflict" in caplog.text.lower()
        caplog.clear()
        Lark(grammar_text(), parser="lalr", debug=True)
        assert "conflict" not in caplog.text.lower()
    finally:
        logger.setLevel(level)
        logger.removeHandler(caplog.handler)


def test_the_grammar_keeps_to_the_portable_subset() -> None:
    lines = [line for line in grammar_text().splitlines() if not line.startswith("//")]
    for line in lines:
        assert not re.match(r"%(import|declare|extend|override)", line), line
        assert not re.match(r"\s*[?!]?\w+(\.\d+|\{\w)", line), f"a priority or a template: {line}"
        assert not re.search(r"\S->|->\S", line.replace('"->"', "")), f"an alias wants blanks: {line}"
        pattern = re.fullmatch(r"[A-Z_]+: /(.*)/", line)
        if pattern:
            bare = re.sub(r"\\.|\[[^]]*\]", "x", pattern[1])
            assert "(?" not in bare, f"lookaround or a flag: {line}"
            assert not re.search(r"[*+]|\{\d*,\}", bare), f"unbounded: {line}"
            assert not re.search(r"\\[bpPAZ]|\\\d", pattern[1]), f"not known everywhere: {line}"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_llguidance_accepts_golden_programs(decoder: Any, path: Path) -> None:
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = llguidance.LLMatcher(tokenizer, decoder)
    data = list(path.read_bytes())
    assert matcher.try_consume_tokens(data) == len(data)
    assert not matcher.is_error(), matcher.get_error()
    assert matcher.is_accepting()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_lark_reads_golden_programs_in_the_same_tokens(every_token: Lark, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    theirs = [
        cut
        for token in every_token.parse(text).scan_values(lambda value: isinstance(value, Token))
        for cut in _cut(token)
    ]
    ours = [cut for name, start, end in tokens(text, 0, []) for cut in _cut_own(text, name, start, end)]
    assert theirs == ours


def _cut(token: Token) -> list[tuple[int, int]]:
    """The place of Lark's token. `1..` and `context.`, which it takes in one piece, are two tokens of ours."""
    start, end = token.start_pos or 0, token.end_pos or 0
    if token.type == "INT_RANGE_OP":
        digits = len(re.match(r"[0-9_]*", token)[0])  # type: ignore[index]
        return [(start, start + digits), (start + digits, end)]
    if token.type == "QUALIFIER":
        return [(start, end - 1), (end - 1, end)]
    return [(start, end)]


def _cut_own(text: str, name: str, start: int, end: int) -> list[tuple[int, int]]:
    if name == "QUALIFIER":
        return [(start, end - 1), (end - 1, end)]
    if name == ">=" and re.search(r"set<[^>]*$", text[:start]):
        return [(start, start + 1), (start + 1, end)]
    return [(start, end)] if name != table.END else []


def test_words_end_where_they_end(every_token: Lark) -> None:
    """`notx` is a name; without what is added to Lark's terminals it would be `not x`."""
    tree = every_token.parse("let a = notx\nlet b = not x")
    assert isinstance(tree, Tree)
    names = [str(token) for token in tree.scan_values(lambda value: isinstance(value, Token) and value.type == "NAME")]
    assert names == ["a", "notx", "b", "x"]


def test_every_word_of_the_grammar_is_known_to_the_lexer() -> None:
    words = set(re.findall(r'"([a-z]+)"', grammar_text()))
    assert words == set(KEYWORDS)


@pytest.mark.parametrize(
    "text",
    ["rule a on S { when 1 < n < 5 score 1 }", "rule a on S { score }", "let x = ", "schema S { x int }", "score 1"],
)
def test_what_we_refuse_by_grammar_others_refuse_too(every_token: Lark, decoder: Any, text: str) -> None:
    report = Report()
    parse(Source("x", text), report)
    assert report.has_errors
    with pytest.raises(lark.UnexpectedInput):
        every_token.parse(text)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), decoder)
    data = list(text.encode())
    assert matcher.try_consume_tokens(data) < len(data) or not matcher.is_accepting()


def test_golden_mistakes_are_many() -> None:
    """The other tests here would pass on no programs at all."""
    assert len(PROGRAMS) >= 10
    assert len(chunks("syntax")) >= 100
