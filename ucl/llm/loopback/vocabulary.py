"""The tokens that a model would write: OpenAI's own 200,000, or single bytes where a test needs no more.

In: a name. Out: a `Vocabulary`, loaded once. The packages `llguidance` and `bpe-openai` are needed, and are imported
here and in `decoding` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from llguidance import LLTokenizer

O200K, BYTES = "o200k_base", "bytes"
# Where any character may come, these come too seldom for a text to end.
_ENDINGS = (b"\n", b'"', b"}", b")", b",", b".", b" ", b"]")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`by_text` finds a token by its bytes; `endings` are the tokens that bring a text nearer to its end."""

    tokenizer: LLTokenizer
    texts: tuple[bytes, ...]
    by_text: dict[bytes, int]
    longest: int
    endings: NDArray[np.bool_]

    def count(self, text: str) -> int:
        return len(self.tokenizer.tokenize_str(text))

    def longest_allowed(self, allowed: NDArray[np.bool_], text: bytes) -> int | None:
        """The longest token that a text begins with, among those allowed."""
        for length in range(min(self.longest, len(text)), 0, -1):
            token = self.by_text.get(text[:length])
            if token is not None and allowed[token]:
                return token
        return None


@cache
def vocabulary(name: str = O200K) -> Vocabulary:
    """Raises `ImportError` where the packages are missing."""
    from llguidance import LLTokenizer

    return vocabulary_of(LLTokenizer("byte") if name == BYTES else _of_openai(name))


def vocabulary_of(tokenizer: LLTokenizer) -> Vocabulary:
    texts = tuple(tokenizer.decode_bytes([token]) for token in range(tokenizer.vocab_size))
    special = {token for token in range(tokenizer.vocab_size) if tokenizer.is_special_token(token)}
    by_text = {text: token for token, text in enumerate(texts) if text and token not in special}
    endings = np.array([text in _ENDINGS for text in texts])
    return Vocabulary(tokenizer, texts, by_text, max(map(len, by_text)), endings)


def _of_openai(name: str) -> LLTokenizer:
    """The package has no types, and what it builds on has changed its own name for this once."""
    bpe_openai: Any = import_module("bpe_openai")
    encoding = bpe_openai.get_encoding(name)
    tiktoken: Any = import_module("llguidance.tiktoken")
    llguidance: Any = import_module("llguidance")
    try:
        made: LLTokenizer = tiktoken.lltokenizer_from_encoding(encoding)
    except (AttributeError, TypeError):
        made = llguidance.LLTokenizer.from_tiktoken(
            encoder=dict(encoding._mergeable_ranks),
            special_tokens=dict(encoding._special_tokens),
            pattern=encoding._pat_str,
            eos_token=encoding.eot_token,
        )
    return made
