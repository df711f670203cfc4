"""Requests of the Responses and the chat API, and the answers to them.

In: the JSON of a request, and later what is to be said. Out: `Wanted`, what a request asks for; then the JSON of the
answer, or the events of a stream. Written from the APIs' own documentation, apart from the client that it tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Any

from ucl.llm.loopback.decoding import grammar_of_schema
from ucl.llm.loopback.ebnf import lark_of

RESPONSES, CHAT = "responses", "chat"
PATHS = {"/v1/responses": RESPONSES, "/v1/chat/completions": CHAT}
_USUAL_OUTPUT = 2000
_PIECE = 16


class Constraint(StrEnum):
    """Where a request says what the answer has to be."""

    TOOL_GRAMMAR = "tool-grammar"
    STRUCTURED_OUTPUTS = "structured-outputs"
    GBNF = "gbnf"
    JSON_SCHEMA = "json-schema"


@dataclass(frozen=True)
class Powers:
    """What a server can do: the APIs it speaks, the constraints that it obeys, those that it answers with an error of
    such a status. The others it ignores, and says nothing."""

    apis: frozenset[str]
    obeys: frozenset[Constraint]
    refuses: frozenset[Constraint] = frozenset()
    refusal: int = 400


_BOTH = frozenset((RESPONSES, CHAT))
OPENAI = Powers(_BOTH, frozenset((Constraint.TOOL_GRAMMAR, Constraint.JSON_SCHEMA)))
OPENAI_CHAT = Powers(frozenset((CHAT,)), OPENAI.obeys)
VLLM = Powers(
    frozenset((CHAT,)),
    frozenset((Constraint.STRUCTURED_OUTPUTS, Constraint.JSON_SCHEMA)),
    frozenset((Constraint.TOOL_GRAMMAR,)),
)
LLAMA_CPP = Powers(
    frozenset((CHAT,)), frozenset((Constraint.GBNF, Constraint.JSON_SCHEMA)), frozenset((Constraint.TOOL_GRAMMAR,)), 500
)
OLLAMA = Powers(frozenset((CHAT,)), frozenset((Constraint.JSON_SCHEMA,)))
PLAIN = Powers(_BOTH, frozenset())


@dataclass(frozen=True)
class Wanted:
    """`grammar` is Lark's or llguidance's own. `messages` are roles and texts, those of tools included; `tool` is the
    one that has to be called."""

    api: str
    model: str
    messages: tuple[tuple[str, str], ...]
    most_output: int
    stream: bool
    constraint: Constraint | None = None
    grammar: str = ""
    tool: str | None = None

    @property
    def prompt(self) -> str:
        return "\n".join(f"{role}: {text}" for role, text in self.messages)


@dataclass(frozen=True)
class Said:
    """What a model would like to say. `recorded` tells where a recorded answer came from: model, server, day."""

    text: str
    recorded: str | None = None


# None leaves it to chance.
Script = Callable[[Wanted], Said | None]


def anything(_: Wanted) -> None:
    return None


def says(text: str, json: str | None = None) -> Script:
    """Always the same; `json` where JSON is wanted."""
    return lambda wanted: Said(json if json is not None and wanted.constraint is Constraint.JSON_SCHEMA else text)


def in_turn(*texts: str) -> Script:
    """One for each request, the last one from then on."""
    number = count()
    return lambda _: Said(texts[min(next(number), len(texts) - 1)])


# --- requests -------------------------------------------------------------------------------------------------------


def wanted_of(api: str, body: Mapping[str, Any]) -> Wanted | str:
    """Or what is wrong with the request. Raises `KeyError` and its like where it is of no known form."""
    said = body["input"] if api == RESPONSES else body["messages"]
    most = next(
        (body[key] for key in ("max_output_tokens", "max_completion_tokens", "max_tokens") if key in body), None
    )
    messages = tuple(
        _message(item) for item in ([{"role": "user", "content": said}] if isinstance(said, str) else said)
    )
    wanted = Wanted(api, body["model"], messages, most or _USUAL_OUTPUT, bool(body.get("stream")))
    tool = next((tool for tool in body.get("tools", ()) if tool["type"] == "custom"), None)
    schema = body.get("text", {}).get("format") if api == RESPONSES else body.get("response_format")
    if tool is not None:
        about = tool if api == RESPONSES else tool["custom"]
        form = about["format"] if api == RESPONSES else about["format"]["grammar"]
        if form["syntax"] != "lark":
            return f"the syntax `{form['syntax']}` is not known"
        return _held(wanted, Constraint.TOOL_GRAMMAR, form["definition"], about["name"])
    if "structured_outputs" in body:
        lark = lark_of(body["structured_outputs"]["grammar"])
        return "the grammar is no EBNF" if lark is None else _held(wanted, Constraint.STRUCTURED_OUTPUTS, lark)
    if "grammar" in body:
        lark = lark_of(body["grammar"])
        return "the grammar is no GBNF" if lark is None else _held(wanted, Constraint.GBNF, lark)
    if schema is not None and schema["type"] == "json_schema":
        inner = schema if api == RESPONSES else schema["json_schema"]
        return _held(wanted, Constraint.JSON_SCHEMA, grammar_of_schema(json.dumps(inner["schema"])))
    return wanted


def _held(wanted: Wanted, constraint: Constraint, grammar: str, tool: str | None = None) -> Wanted:
    return replace(wanted, constraint=constraint, grammar=grammar, tool=tool)


def _message(item: Mapping[str, Any]) -> tuple[str, str]:
    """A message, a call or its output, as a role and a text."""
    match item.get("type"):
        case "custom_tool_call":
            return "call", item["input"]
        case "custom_tool_call_output":
            return "tool", item["output"]
        case _ if item.get("tool_calls"):
            return "call", item["tool_calls"][0]["custom"]["input"]
        case _:
            return item["role"], item["content"]


# --- answers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spoken:
    """What comes out: texts of calls of the tool, or of a function, or content, or a refusal. `tokens` are those of
    the input, of these those that were kept, and those of the output; None says nothing of them."""

    model: str
    number: int
    calls: tuple[str, ...] = ()
    function: str | None = None
    content: str | None = None
    refusal: str | None = None
    is_whole: bool = True
    tokens: tuple[int, int, int] | None = None
    recorded: str | None = None
    tool: str = ""


def document(api: str, spoken: Spoken) -> dict[str, Any]:
    return _responses(spoken) if api == RESPONSES else _chat(spoken)


def _responses(spoken: Spoken) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    for index, text in enumerate(spoken.calls):
        call = {"id": f"ctc_{spoken.number}_{index}", "call_id": f"call_{spoken.number}_{index}"}
        output.append({"type": "custom_tool_call", **call, "name": spoken.tool, "input": text, "status": "completed"})
    if spoken.function is not None:
        call = {"id": f"fc_{spoken.number}", "call_id": f"call_{spoken.number}", "name": spoken.tool}
        output.append({"type": "function_call", **call, "arguments": json.dumps({"input": spoken.function})})
    if spoken.content is not None:
        parts = [{"type": "output_text", "text": spoken.content, "annotations": []}]
        output.append({"type": "message", "id": f"msg_{spoken.number}", "role": "assistant", "content": parts})
    if spoken.refusal is not None:
        parts = [{"type": "refusal", "refusal": spoken.refusal}]
        output.append({"type": "message", "id": f"msg_{spoken.number}", "role": "assistant", "content": parts})
    answer: dict[str, Any] = {
        "id": f"resp_{spoken.number}",
        "object": "response",
        "created_at": 0,
        "model": spoken.model,
        "status": "completed" if spoken.is_whole else "incomplete",
        "incomplete_details": None if spoken.is_whole else {"reason": "max_output_tokens"},
        "error": None,
        "output": output,
        "metadata": {} if spoken.recorded is None else {"recorded": spoken.recorded},
    }
    if spoken.tokens is not None:
        taken, cached, written = spoken.tokens
        counts = {"input_tokens": taken, "output_tokens": written, "total_tokens": taken + written}
        answer["usage"] = {**counts, "input_tokens_details": {"cached_tokens": cached}}
    return answer


def _chat(spoken: Spoken) -> dict[str, Any]:
    calls: list[dict[str, Any]] = [
        {"id": f"call_{spoken.number}_{i}", "type": "custom", "custom": {"name": spoken.tool, "input": text}}
        for i, text in enumerate(spoken.calls)
    ]
    if spoken.function is not None:
        function = {"name": spoken.tool, "arguments": json.dumps({"input": spoken.function})}
        calls.append({"id": f"call_{spoken.number}", "type": "function", "function": function})
    message: dict[str, Any] = {"role": "assistant", "content": spoken.content, "refusal": spoken.refusal}
    if calls:
        message["tool_calls"] = calls
    reason = "length" if not spoken.is_whole else "tool_calls" if calls else "stop"
    answer: dict[str, Any] = {
        "id": f"chatcmpl-{spoken.number}",
        "object": "chat.completion",
        "created": 0,
        "model": spoken.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    if spoken.recorded is not None:
        answer["metadata"] = {"recorded": spoken.recorded}
    if spoken.tokens is not None:
        taken, cached, written = spoken.tokens
        counts = {"prompt_tokens": taken, "completion_tokens": written, "total_tokens": taken + written}
        answer["usage"] = {**counts, "prompt_tokens_details": {"cached_tokens": cached}}
    return answer


# --- streams --------------------------------------------------------------------------------------------------------


def events(api: str, spoken: Spoken) -> Iterator[bytes]:
    """Server-sent events, of which the last ends the stream."""
    whole = document(api, spoken)
    for event in _responses_events(whole) if api == RESPONSES else _chat_events(whole):
        name = f"event: {event['type']}\n" if api == RESPONSES else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
    if api == CHAT:
        yield b"data: [DONE]\n\n"


def _responses_events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    for index, item in enumerate(whole["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "input": ""}}
        for piece in _pieces(item.get("input", "")):
            about = {"output_index": index, "item_id": item["id"]}
            yield {"type": "response.custom_tool_call_input.delta", **about, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def _chat_events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    choice, message = whole["choices"][0], whole["choices"][0]["message"]
    head = {"id": whole["id"], "object": "chat.completion.chunk", "model": whole["model"]}
    head |= {"metadata": whole["metadata"]} if "metadata" in whole else {}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant"})
    for key in ("content", "refusal"):
        yield from (chunk({key: piece}) for piece in _pieces(message[key] or ""))
    for index, call in enumerate(message.get("tool_calls", ())):
        kind, part = ("custom", "input") if call["type"] == "custom" else ("function", "arguments")
        begun = {"index": index, "id": call["id"], "type": call["type"]}
        yield chunk({"tool_calls": [{**begun, kind: {"name": call[kind]["name"], part: ""}}]})
        for piece in _pieces(call[kind][part]):
            yield chunk({"tool_calls": [{"index": index, kind: {part: piece}}]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in whole:
        yield {**head, "choices": [], "usage": whole["usage"]}


def _pieces(text: str) -> list[str]:
    return [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
