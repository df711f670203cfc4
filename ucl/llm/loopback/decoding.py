"""A text, token by token, under a mask: what the mask forbids can't be written.

In: a grammar, and what would be written if anything could be, or a model. Out: `Decoded`. Where the mask forbids what
comes next, the part of the wish that it forbids is skipped; where all of it is forbidden, chance takes a token that is
allowed. Without a wish chance takes them all, the same ones for the same seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ucl.llm.loopback.vocabulary import Vocabulary

if TYPE_CHECKING:
    from llguidance import LLMatcher

# How much of a wish is skipped at once, in bytes: a little where few tokens are allowed, of which chance then takes one
# (what is missing there is a sign or a digit), and up to a line elsewhere.
_LITTLE, _MUCH = 3, 60
_FEW = 12
_ENDS, _STOPS = 0.45, 0.6


@dataclass(frozen=True)
class Decoded:
    """`is_whole` is false where the tokens did not suffice."""

    text: str
    tokens: int
    is_whole: bool


def matcher(grammar: str, vocabulary: Vocabulary) -> LLMatcher | str:
    """A decoder at its beginning, or what is wrong with the grammar."""
    made = _made(grammar, vocabulary)
    return made.get_error() if made.is_error() else made.deep_copy()


@lru_cache(maxsize=16)
def _made(grammar: str, vocabulary: Vocabulary) -> LLMatcher:
    """Reading a grammar takes longer than writing under it, and the same one comes again and again."""
    from llguidance import LLMatcher

    return LLMatcher(vocabulary.tokenizer, grammar, log_level=0)


def grammar_of_schema(schema: str) -> str:
    """A grammar of the JSON that fits, on one line."""
    from llguidance import LLMatcher

    return LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})


def decode(start: LLMatcher, vocabulary: Vocabulary, wish: str | None, most: int, chosen: random.Random) -> Decoded:
    """At most so many tokens. Where nothing of the wish is left, or can come, is where to stop, if the grammar lets."""
    rest = None if wish is None else wish.encode()
    out, tokens = bytearray(), 0
    while not start.is_stopped():
        if start.is_accepting() and (chosen.random() < _STOPS if rest is None else not rest.strip()):
            break
        if tokens == most:
            return Decoded(out.decode(errors="ignore"), tokens, False)
        allowed = _allowed(start, vocabulary)
        token, skipped = _wished(vocabulary, allowed, rest or b"", _LITTLE)
        if token is None and np.count_nonzero(allowed) > _FEW:
            token, skipped = _wished(vocabulary, allowed, rest or b"", _MUCH)
        if token is None and rest is not None and start.is_accepting():
            break
        if token is None:
            token = _by_chance(vocabulary, allowed, chosen)
        if token is None:
            break
        text = vocabulary.texts[token]
        if rest is not None and skipped is not None:
            rest = rest[skipped + len(text) :]
        start.consume_token(token)
        out += text
        tokens += 1
    return Decoded(out.decode(errors="ignore"), tokens, start.is_accepting() or start.is_stopped())


def freely(text: str, vocabulary: Vocabulary, most: int) -> Decoded:
    """All of a text, or its first tokens."""
    tokens = vocabulary.tokenizer.tokenize_str(text)
    return Decoded(vocabulary.tokenizer.decode_str(tokens[:most]), len(tokens[:most]), len(tokens) <= most)


class Mind(Protocol):
    """A real model, if a small one: `begin` reads messages (roles and texts), and gives what says, token by token, how
    good each next token would be; its first call is without a token."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    def begin(self, messages: Sequence[tuple[str, str]]) -> Callable[[int | None], NDArray[np.float32]]: ...


def decode_by(mind: Mind, start: LLMatcher | None, messages: Sequence[tuple[str, str]], most: int) -> Decoded:
    """The best token that is allowed, always; without a grammar all are. Where it is the one that ends, that is all."""
    words, scores = mind.vocabulary, mind.begin(messages)
    end = words.tokenizer.eos_token
    out, token = bytearray(), None
    for tokens in range(most):
        if start is not None and start.is_stopped():
            return Decoded(out.decode(errors="ignore"), tokens, True)
        found = scores(token)
        if start is not None:
            allowed = _allowed(start, words)
            allowed[end] = start.is_accepting()
            found = np.where(allowed, found, -np.inf)
        token = int(np.argmax(found))
        if token == end:
            return Decoded(out.decode(errors="ignore"), tokens, True)
        if start is not None:
            start.consume_token(token)
        out += words.texts[token]
    return Decoded(out.decode(errors="ignore"), most, False)


def _allowed(start: LLMatcher, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    mask = np.frombuffer(start.compute_bitmask(), dtype=np.uint8)
    if start.is_error():
        raise ValueError(start.get_error())
    allowed = np.unpackbits(mask, bitorder="little")[: len(vocabulary.texts)].astype(bool)
    allowed[vocabulary.tokenizer.eos_token] = False
    return allowed


def _wished(
    vocabulary: Vocabulary, allowed: NDArray[np.bool_], rest: bytes, most: int
) -> tuple[int | None, int | None]:
    """The next token of the wish, and how much of the wish was skipped before it."""
    for skipped in range(min(len(rest), most)):
        token = vocabulary.longest_allowed(allowed, rest[skipped:])
        if token is not None:
            return token, skipped
    return None, None


def _by_chance(vocabulary: Vocabulary, allowed: NDArray[np.bool_], chosen: random.Random) -> int | None:
    tokens = np.flatnonzero(allowed)
    ending = np.flatnonzero(allowed & vocabulary.endings)
    if len(ending) and chosen.random() < _ENDS:
        tokens = ending
    return int(tokens[chosen.randrange(len(tokens))]) if len(tokens) else None
