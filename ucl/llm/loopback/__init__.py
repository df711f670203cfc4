"""A server on this machine that speaks as model servers do, and writes under the mask that it was sent.

    vocabulary   the 200,000 tokens of OpenAI's models, or single bytes
    ebnf         grammars as vLLM and llama.cpp read them, as Lark
    decoding     a text, token by token, under the mask of a grammar or a JSON schema
    speech       requests of the Responses and the chat API, and the answers to them, whole and as streams
    faults       what servers do wrong, to be done on purpose
    server       HTTP around all that

    with Loopback(says("rule r on S {…}"), powers=VLLM, faults=[Fault(Kind.RATE_LIMITED, wait="2")]) as server:
        settings = Settings("any", base_url=server.url)

In: what the model would like to say, by request, and what the server can do. Out: answers over HTTP. There is no model
in it unless it is given one (`Mind`), so it shows nothing of any model's quality: it shows that nothing comes out of a
grammar but its sentences, and that the client stands whatever a server does. It knows nothing of the client, and keeps
no key but in `received`.
"""

from __future__ import annotations

from ucl.llm.loopback.decoding import Mind
from ucl.llm.loopback.faults import Fault, Kind
from ucl.llm.loopback.server import Loopback, Received
from ucl.llm.loopback.speech import (
    LLAMA_CPP,
    OLLAMA,
    OPENAI,
    OPENAI_CHAT,
    PLAIN,
    VLLM,
    Constraint,
    Powers,
    Said,
    Script,
    Wanted,
    anything,
    in_turn,
    says,
)

__all__ = [
    "LLAMA_CPP",
    "OLLAMA",
    "OPENAI",
    "OPENAI_CHAT",
    "PLAIN",
    "VLLM",
    "Constraint",
    "Fault",
    "Kind",
    "Loopback",
    "Mind",
    "Powers",
    "Received",
    "Said",
    "Script",
    "Wanted",
    "anything",
    "in_turn",
    "says",
]
