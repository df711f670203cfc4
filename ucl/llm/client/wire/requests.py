"""An `Ask` as a server takes it: two APIs, and several ways to hold a model to a form.

In: an ask, a way, and whose server it is. Out: a `Request`. What is the same for every ask of a kind stands first: the
instructions, then how to answer; after them come the words of people, and the rounds.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Any, assert_never

from ucl.frozen import frozen
from ucl.llm.client.contract import Ask, Message, Output, Path, Program, Prose, Role, Round, Structured
from ucl.llm.client.settings import Settings
from ucl.llm.client.wire.schemas import schema_of
from ucl.llm.grammar import Target
from ucl.llm.json_form import json_schema


class Api(StrEnum):
    RESPONSES = "responses"
    CHAT = "chat"


class Held(StrEnum):
    """By what a model is held to a form: a tool's grammar, a field that one server or another has, a JSON schema."""

    TOOL = "tool"
    STRUCTURED_OUTPUTS = "structured_outputs"  # vLLM
    GRAMMAR = "grammar"  # llama.cpp
    SCHEMA = "schema"
    NOTHING = "nothing"

    @property
    def path(self) -> Path:
        match self:
            case Held.TOOL | Held.STRUCTURED_OUTPUTS | Held.GRAMMAR:
                return Path.GRAMMAR
            case Held.SCHEMA:
                return Path.JSON
            case Held.NOTHING:
                return Path.TEXT
        assert_never(self)


@frozen
class Way:
    api: Api
    held: Held

    @property
    def key(self) -> str:
        return f"{self.api}-{self.held}"


@frozen
class Request:
    """`body` has what both the API and the package know, `extra` what one server has of its own."""

    api: Api
    body: dict[str, Any]
    extra: dict[str, Any]

    @property
    def size(self) -> int:
        """Bytes, which no count of tokens exceeds."""
        return len(json.dumps([self.body, self.extra], ensure_ascii=False).encode(errors="replace"))


# What each way of holding by grammar reads.
_TARGETS = {Held.TOOL: Target.OPENAI, Held.STRUCTURED_OUTPUTS: Target.XGRAMMAR, Held.GRAMMAR: Target.GBNF}
_WAYS = (
    *(Way(api, Held.TOOL) for api in Api),
    Way(Api.CHAT, Held.STRUCTURED_OUTPUTS),
    Way(Api.CHAT, Held.GRAMMAR),
    *(Way(api, Held.SCHEMA) for api in Api),
    *(Way(api, Held.NOTHING) for api in Api),
)


def ways_for(output: Output, is_openai: bool, path: Path | None) -> list[Way]:
    """The ways that could lead to such an output, the best first; to a program with `path`, those of that path."""
    ways = [way for way in _WAYS if _leads_to(output, way.held, is_openai)]
    is_free = path is None or not isinstance(output, Program)
    return ways if is_free else [way for way in ways if way.held.path is path]


def _leads_to(output: Output, held: Held, is_openai: bool) -> bool:
    match output:
        case Program():
            is_foreign = held in (Held.STRUCTURED_OUTPUTS, Held.GRAMMAR)
            return not (is_foreign and is_openai) and (held not in _TARGETS or _TARGETS[held] in output.grammars)
        case Structured():
            return held in (Held.SCHEMA, Held.NOTHING)
        case Prose():
            return held is Held.NOTHING
    assert_never(output)


def request_of(way: Way, ask: Ask, settings: Settings, is_openai: bool, most_output: int) -> Request:
    body: dict[str, Any] = {"model": settings.model}
    extra: dict[str, Any] = {}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if is_openai:
        body |= {"store": False, "prompt_cache_key": _cache_key(ask)}
    messages = _with_manner(ask.messages, _manner(ask.output, way.held, is_openai))
    if way.api is Api.RESPONSES:
        # Nothing of what people say is to be kept by the server.
        body |= {"input": _responses_input(messages, ask, way), "max_output_tokens": most_output, "store": False}
    else:
        most = "max_completion_tokens" if is_openai else "max_tokens"
        body |= {"messages": _chat_messages(messages, ask, way), most: most_output}
    _hold(way, ask.output, body, extra)
    if settings.stream:
        body["stream"] = True
        if way.api is Api.CHAT:
            body["stream_options"] = {"include_usage": True}
    return Request(way.api, body, extra)


def _cache_key(ask: Ask) -> str:
    """The same for all asks that begin alike, so that they meet at one machine of the server."""
    common = "\0".join(message.text for message in ask.messages if message.role is Role.INSTRUCTIONS)
    return f"ucl-{hashlib.sha256(common.encode(errors='replace')).hexdigest()[:24]}"


# --- messages -------------------------------------------------------------------------------------------------------

_ROLES = {Role.INSTRUCTIONS: "system", Role.DATA: "user", Role.MODEL: "assistant"}


def _with_manner(messages: tuple[Message, ...], manner: str | None) -> tuple[Message, ...]:
    """How to answer comes after the instructions that stand first, so that the beginning stays the same; all of these
    in one message, since the templates of some models take no more."""
    first = next((i for i, m in enumerate(messages) if m.role is not Role.INSTRUCTIONS), len(messages))
    told = [*(message.text for message in messages[:first]), *([] if manner is None else [manner])]
    leading = [Message(Role.INSTRUCTIONS, "\n\n".join(told))] if told else []
    return (*leading, *messages[first:])


def _responses_input(messages: tuple[Message, ...], ask: Ask, way: Way) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": _ROLES[m.role], "content": m.text} for m in messages]
    for round in ask.rounds:
        if isinstance(ask.output, Program) and way.held is Held.TOOL and round.answer.call is not None:
            call = {"type": "custom_tool_call", "call_id": round.answer.call, "name": ask.output.name}
            items.append({**call, "input": round.answer.raw})
            told = {"type": "custom_tool_call_output", "call_id": round.answer.call, "output": round.diagnostics}
            items.append(told)
        else:
            items += _told(round)
    return items


def _chat_messages(messages: tuple[Message, ...], ask: Ask, way: Way) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": _ROLES[m.role], "content": m.text} for m in messages]
    for round in ask.rounds:
        if isinstance(ask.output, Program) and way.held is Held.TOOL and round.answer.call is not None:
            custom = {"name": ask.output.name, "input": round.answer.raw}
            calls = [{"id": round.answer.call, "type": "custom", "custom": custom}]
            items.append({"role": "assistant", "content": None, "tool_calls": calls})
            items.append({"role": "tool", "tool_call_id": round.answer.call, "content": round.diagnostics})
        else:
            items += _told(round)
    return items


def _told(round: Round) -> list[dict[str, Any]]:
    """A round without a tool. Diagnostics quote what people said, so they are no instructions."""
    said = round.answer.raw or round.answer.text
    return [{"role": "assistant", "content": said}, {"role": "user", "content": round.diagnostics}]


# --- holding to a form ----------------------------------------------------------------------------------------------


def _hold(way: Way, output: Output, body: dict[str, Any], extra: dict[str, Any]) -> None:
    match way.held:
        case Held.TOOL:
            assert isinstance(output, Program)
            body |= _tool(way.api, output)
        case Held.STRUCTURED_OUTPUTS:
            assert isinstance(output, Program)
            extra["structured_outputs"] = {"grammar": output.grammars[Target.XGRAMMAR]}
        case Held.GRAMMAR:
            assert isinstance(output, Program)
            extra["grammar"] = output.grammars[Target.GBNF]
        case Held.SCHEMA:
            schema, strict = _schema(output)
            named = {"name": "answer", "schema": schema, "strict": strict}
            if way.api is Api.RESPONSES:
                body["text"] = {"format": {"type": "json_schema", **named}}
            else:
                body["response_format"] = {"type": "json_schema", "json_schema": named}
        case Held.NOTHING:
            pass
        case _:
            assert_never(way.held)


def _tool(api: Api, output: Program) -> dict[str, Any]:
    grammar = {"syntax": "lark", "definition": output.grammars[Target.OPENAI]}
    about = {"name": output.name, "description": output.description}
    if api is Api.RESPONSES:
        tool: dict[str, Any] = {"type": "custom", **about, "format": {"type": "grammar", **grammar}}
        choice: dict[str, Any] = {"type": "custom", "name": output.name}
    else:
        tool = {"type": "custom", "custom": {**about, "format": {"type": "grammar", "grammar": grammar}}}
        choice = {"type": "custom", "custom": {"name": output.name}}
    return {"tools": [tool], "tool_choice": choice, "parallel_tool_calls": False}


def _schema(output: Output) -> tuple[dict[str, Any], bool]:
    match output:
        case Program():
            return json_schema(), True
        case Structured(model):
            return schema_of(model)
        case Prose():
            raise AssertionError("prose has no schema")
    assert_never(output)


def _manner(output: Output, held: Held, is_openai: bool) -> str | None:
    """How to answer, where the request doesn't say it by itself."""
    match output, held:
        case Program(), Held.TOOL:
            return f"Answer with one call of the tool `{output.name}`, whose input is the declarations in UCL."
        case Program(), Held.SCHEMA:
            form = "Write the declarations as JSON, clause by clause, in place of UCL's text; times, dates, quantities"
            return f"{form} and weekdays are literals.{'' if is_openai else _shown(output)}"
        case Program(), Held.NOTHING:
            return "Answer with the declarations in UCL, in one fenced block that begins with ```ucl."
        case Program(), _:
            return "Answer with the declarations in UCL and nothing else: no introduction, no fence."
        case Structured(), Held.SCHEMA:
            return None if is_openai else f"Answer in JSON and nothing else.{_shown(output)}"
        case Structured(), _:
            return f"Answer in JSON and nothing else.{_shown(output)}"
        case _:
            return None


def _shown(output: Output) -> str:
    """The schema itself, for servers that hold a model to it without telling it, or do neither."""
    return f" The JSON schema is:\n{json.dumps(_schema(output)[0], ensure_ascii=False, separators=(',', ':'))}"
