"""One typed sub-grammar for every engine: the same language in each syntax, within the engines' limits; the command."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cli_runs import folder, run_here
from ebnf import Recogniser
from lark import Lark
from lark.exceptions import UnexpectedInput
from typed_programs import MEETINGS, NESTED, PROGRAMS
from typed_walks import (
    accepts,
    byte_tokenizer,
    errors_in,
    formatted,
    grammar_text,
    matcher,
    new_matcher,
    rule,
    walk,
)

from ucl.llm.grammar import Target

__all__ = ["folder"]

META = '  from chat "c42" at 2026-03-04\n  from email "e1" at 2026-03-04T13:00\n'

# --- engines --------------------------------------------------------------------------------------------------------

CANONICAL = [
    formatted(rule('start.time in 22:00..06:00 and kind != "external"', score="-0.5 * ramp(priority, 0, 10)")),
    formatted(rule('present(place) and contains(place, "\\"x\\" 你好") or duration > 1h30min', rest=META)),
    "constraint c on Meeting {\n  forbid when start.date >= 2026-03-04\n}\n",
    "property p on Meeting {\n  given not (remote and priority < 3)\n  expect score < 0\n}\n",
]
NOT_CANONICAL = [
    rule("start.time in 22:00..26:00"),
    rule('kind == "party"'),
    rule('organizer == "ann"'),
    rule("remote").replace("rule r", "rule vip"),
]


@pytest.mark.parametrize("target", [Target.XGRAMMAR, Target.GBNF])
def test_ebnf_says_the_same(target: Target) -> None:
    text = grammar_text(*PROGRAMS["meetings"], target)
    recogniser = Recogniser(text)
    assert [recogniser.accepts(sentence) for sentence in CANONICAL] == [True] * len(CANONICAL)
    assert [recogniser.accepts(sentence) for sentence in NOT_CANONICAL] == [False] * len(NOT_CANONICAL)
    if target is Target.GBNF:
        unquoted = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', "", text)
        assert "{" not in unquoted


@pytest.mark.parametrize("target", [Target.XGRAMMAR, Target.GBNF])
def test_xgrammar_itself_says_the_same(target: Target) -> None:
    xgrammar = pytest.importorskip("xgrammar", exc_type=ImportError)
    from xgrammar.testing import _is_grammar_accept_string as is_sentence

    grammar = xgrammar.Grammar.from_ebnf(grammar_text(*PROGRAMS["meetings"], target))
    assert all(is_sentence(grammar, sentence) for sentence in CANONICAL)
    assert not any(is_sentence(grammar, sentence) for sentence in NOT_CANONICAL)


def test_lark_reads_it_too() -> None:
    """Walks of the one engine are sentences for the other."""
    parser = Lark(grammar_text(*PROGRAMS["meetings"], Target.LARK), parser="earley", lexer="dynamic")
    chosen = random.Random(3)
    walks = (walk(matcher("meetings"), chosen, byte_tokenizer(), longest=300) for _ in range(12))
    for sentence in [*CANONICAL, *(w for w in walks if w is not None and len(w) < 250)]:
        parser.parse(sentence)
    for sentence in NOT_CANONICAL:
        with pytest.raises(UnexpectedInput):
            parser.parse(sentence)


@pytest.mark.parametrize("target", [Target.LARK, Target.LLGUIDANCE, Target.OPENAI])
@pytest.mark.parametrize("name", ["nested", "chinese", "large"])
def test_the_grammar_keeps_to_the_portable_subset(name: str, target: Target) -> None:
    for line in grammar_text(*PROGRAMS[name], target).splitlines():
        assert re.match(r"[a-z_0-9]+: |    \| |[A-Z_0-9]+: ", line), line
        pattern = re.fullmatch(r"[A-Z_0-9]+: /(.*)/", line)
        if pattern:
            bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "x", pattern[1])
            assert "(?" not in bare, "lookaround or a flag"
            assert not re.search(r"[*+]|\{\d*,\}", bare), "unbounded"
            assert not re.search(r"[*+?}]\?", bare), "lazy"
            escapes = set(re.findall(r"\\(.)", pattern[1]))
            assert not escapes & set("bBdDwWsSpPAZ123456789"), "not the same everywhere"


@cache
def o200k() -> Any:
    """The vocabulary of 200,000 tokens that OpenAI's models have."""
    bpe_openai = pytest.importorskip("bpe_openai")
    from llguidance.tiktoken import lltokenizer_from_encoding

    encoding = bpe_openai.get_encoding("o200k_base")
    try:
        return lltokenizer_from_encoding(encoding)
    except (AttributeError, TypeError):
        from llguidance import LLTokenizer

        return LLTokenizer.from_tiktoken(
            encoder=dict(encoding._mergeable_ranks),
            special_tokens=dict(encoding._special_tokens),
            pattern=encoding._pat_str,
            eos_token=encoding.eot_token,
        )


def test_a_real_vocabulary_stays_within_half_the_limits() -> None:
    """`new_matcher` sets them; each mask is looked at."""
    tokenizer = o200k()
    for name in ("meetings", "large"):
        start = new_matcher(tokenizer, grammar_text(*PROGRAMS[name]))
        on = PROGRAMS[name][1]
        sentences = CANONICAL if name == "meetings" else [rule("field_number_0 in 3..=7", on=on)]
        assert all(accepts(start, sentence, tokenizer) for sentence in sentences)


@pytest.mark.parametrize("name", ["nested", "chinese", "large"])
def test_sentences_in_tokens_of_a_real_vocabulary_are_right(name: str) -> None:
    tokenizer, chosen, finished = o200k(), random.Random(4), 0
    start = new_matcher(tokenizer, grammar_text(*PROGRAMS[name]))
    for _ in range(6):
        sentence = walk(start, chosen, tokenizer, longest=400)
        if sentence is not None:
            finished += 1
            assert errors_in(PROGRAMS[name][0], sentence) == [], sentence
    assert finished >= 1


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", Target)
def test_the_command_prints_the_grammar(folder: Path, target: Target) -> None:
    (folder / "program.ucl").write_text(MEETINGS, encoding="utf-8")
    ran = run_here("grammar", "program.ucl", "--schema", "Meeting", "--target", target)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == grammar_text(MEETINGS, "Meeting", target)


def test_the_schema_is_the_one_that_rules_are_on(folder: Path) -> None:
    (folder / "program.ucl").write_text(MEETINGS + "schema Other { n: int }\n", encoding="utf-8")
    assert " on Meeting" in run_here("grammar", "program.ucl").out
    (folder / "nested.ucl").write_text(NESTED, encoding="utf-8")
    ran = run_here("grammar", "nested.ucl")
    assert (ran.status, ran.out) == (2, "")
    assert "`Trip`" in ran.err


def test_wrong_use_is_said(folder: Path) -> None:
    (folder / "program.ucl").write_text(MEETINGS, encoding="utf-8")
    (folder / "wrong.ucl").write_text("rule r on S { score 1 }\n", encoding="utf-8")
    (folder / "bare.ucl").write_text("let x = 1\n", encoding="utf-8")
    assert run_here("grammar", "program.ucl", "--schema", "Meetings").status == 2
    assert run_here("grammar", "missing.ucl").status == 2
    assert run_here("grammar", "bare.ucl").status == 2
    ran = run_here("grammar", "wrong.ucl")
    assert (ran.status, ran.out) == (1, "")
    assert "unknown" in ran.err
