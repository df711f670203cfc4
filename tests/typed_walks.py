"""Random walks under a decoder's mask, and what comes out of them, checked."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import llguidance
import numpy as np
from typed_programs import PROGRAMS

from ucl.diagnostics import Diagnostic, Report, Severity, Source
from ucl.driver import check_module
from ucl.llm.grammar import Target, grammar_of, vocabulary_of, written
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse

# What ends a name, a number or a text comes up too seldom in an even choice among all characters.
_ENDING = frozenset((b"\n", b'"', b"}", b")", b",", b".", b" ", b"]"))
_LONGEST = 1500
# Half of llguidance's own limit.
MOST_ITEMS = 25_000


def grammar_text(text: str, schema: str, target: Target = Target.LLGUIDANCE) -> str:
    checked, report = check_module(Source("program.ucl", text))
    assert checked is not None, [d.message for d in report]
    return written(grammar_of(vocabulary_of(*checked, schema)), target)


@cache
def byte_tokenizer() -> Any:
    return llguidance.LLTokenizer("byte")


@cache
def matcher(name: str) -> Any:
    """A decoder of single bytes at its beginning, to be copied."""
    return new_matcher(byte_tokenizer(), grammar_text(*PROGRAMS[name]))


def new_matcher(tokenizer: Any, grammar: str) -> Any:
    limits = llguidance.LLParserLimits(step_max_items=MOST_ITEMS)
    made = llguidance.LLMatcher(tokenizer, grammar, log_level=0, limits=limits)
    assert not made.is_error(), made.get_error()
    return made


def accepts(start: Any, text: str, tokenizer: Any = None) -> bool:
    """Whether the text is a whole sentence; the mask is worked out before each token, as a decoder does."""
    decoder, tokenizer = start.deep_copy(), tokenizer or byte_tokenizer()
    for token in tokenizer.tokenize_str(text):
        mask = decoder.compute_bitmask()
        assert not decoder.is_error(), decoder.get_error()
        if not mask[token >> 3] >> (token & 7) & 1:
            return False
        decoder.consume_token(token)
    return bool(decoder.is_accepting())


@cache
def _are_ending(tokenizer: Any) -> Any:
    """Of every token, whether it is one of these characters."""
    return np.array([tokenizer.decode_bytes([token]) in _ENDING for token in range(tokenizer.vocab_size)])


def walk(start: Any, chosen: random.Random, tokenizer: Any, longest: int = _LONGEST) -> str | None:
    """A random sentence, or None where it did not end in time."""
    decoder, out = start.deep_copy(), bytearray()
    for _ in range(longest):
        if decoder.is_accepting() and chosen.random() < 0.6:
            break
        mask = decoder.compute_bitmask()
        assert not decoder.is_error(), decoder.get_error()
        bits = np.unpackbits(np.frombuffer(mask, dtype=np.uint8), bitorder="little")[: tokenizer.vocab_size]
        allowed = np.flatnonzero(bits)
        allowed = allowed[allowed != tokenizer.eos_token]
        if not len(allowed):
            break
        ending = allowed[_are_ending(tokenizer)[allowed]]
        if len(ending) and chosen.random() < 0.45:
            allowed = ending
        token = int(allowed[chosen.randrange(len(allowed))])
        decoder.consume_token(token)
        out += tokenizer.decode_bytes([token])
    return out.decode() if decoder.is_accepting() else None


def rule(when: str, score: str = "-0.5", on: str = "Meeting", rest: str = "") -> str:
    """A rule as `fmt` lays it out; `rest` are lines of further clauses."""
    return f'rule r on {on} {{\n  when {when}\n  score {score}\n  because "said so"\n{rest}}}'


def errors_in(program: str, addition: str) -> list[Diagnostic]:
    """What the compiler says against the program with the addition at its end."""
    _, report = check_module(Source("program.ucl", f"{program}\n{addition}"))
    return [found for found in report if found.severity is Severity.ERROR]


def formatted(text: str) -> str:
    report = Report()
    file = parse(Source("addition.ucl", text), report)
    assert not report.has_errors, text
    return format_source(file)


def walk_and_check(name: str, count: int, seed: int) -> None:
    """So many walks that end, through one program's grammar: every sentence must check, and be one still when laid out
    by `fmt`."""
    program, _ = PROGRAMS[name]
    start, chosen, ended = matcher(name), random.Random(seed), 0
    for _ in range(2 * count):
        sentence = walk(start, chosen, byte_tokenizer())
        if sentence is None:
            continue
        assert errors_in(program, sentence) == [], sentence
        assert accepts(start, formatted(sentence)), formatted(sentence)
        ended += 1
        if ended == count:
            return
    raise AssertionError(f"only {ended} walks ended")
