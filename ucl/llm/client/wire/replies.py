"""What a server's JSON says, whichever API it speaks and however far it strays from it.

In: JSON of the Responses or the chat API, whole or as a stream of events. Out: a `Reply`, or a `Failure`. Total: a key
that is missing, or holds something of another kind, says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ucl.frozen import frozen
from ucl.llm.client.contract import ErrorCode, Usage
from ucl.llm.client.wire.requests import Api

_MOST_TOKENS = 10**12


@frozen
class Failure:
    """No answer, this time. `passes`: it may be another time. `wait`: so many seconds, says the server. `status` is
    HTTP's; `may_cost`: the server may have worked, and count it."""

    code: ErrorCode
    message: str
    passes: bool = False
    wait: float | None = None
    status: int | None = None
    may_cost: bool = False


@frozen
class Reply:
    """`tool` is the input of the tool's call, of several the first; None where the tool was not called. `content` is
    what was said beside. `cut_off`: at the most output. `usage` is None where the server doesn't say."""

    tool: str | None
    content: str
    refusal: str | None
    cut_off: bool
    usage: Usage | None
    model: str
    call: str | None
    recorded: str | None

    @property
    def is_empty(self) -> bool:
        return not (self.tool or "").strip() and not self.content.strip()


def reply_of(api: Api, document: object) -> Reply | Failure:
    if not isinstance(document, Mapping):
        return _unreadable("the server's answer is no JSON object")
    error = document.get("error")
    if error and not document.get("output") and not document.get("choices"):
        return Failure(ErrorCode.SERVER_FAILED, f"the server failed: {error_text(document)}", passes=True)
    reply = _responses_reply(document) if api is Api.RESPONSES else _chat_reply(document)
    if isinstance(reply, Reply) and not _is_whole(reply):
        return _unreadable("the answer holds half of a character")
    return reply


def _is_whole(reply: Reply) -> bool:
    try:
        f"{reply.tool or ''}{reply.content}{reply.call or ''}{reply.model}".encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(message: str) -> Failure:
    return Failure(ErrorCode.UNREADABLE, message, passes=True, may_cost=True)


def error_text(document: object, most: int = 300) -> str:
    """What a server says of an error, on one line of `most` characters."""
    error = document.get("error", document) if isinstance(document, Mapping) else document
    text = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(_text(text).split())[:most] or "it does not say why"


# --- the two APIs ---------------------------------------------------------------------------------------------------


def _responses_reply(document: Mapping[str, Any]) -> Reply | Failure:
    items = document.get("output")
    if not isinstance(items, list):
        return _unreadable("the server's answer has no `output`")
    inputs, calls, content, refusals = [], [], [], []
    for item in filter(_is_mapping, items):
        match item.get("type"):
            case "custom_tool_call":
                inputs.append(_text(item.get("input")))
                calls.append(_text(item.get("call_id")))
            case "function_call":
                content.append(_only_argument(item.get("arguments")))
            case "message":
                for part in _mappings(item.get("content")):
                    content.append(_text(part.get("text")))
                    refusals.append(_text(part.get("refusal")))
            case _:
                pass
    reason = _get(document, "incomplete_details", "reason")
    is_filtered = reason == "content_filter"
    return Reply(
        tool=inputs[0] if inputs else None,
        content=_spoken("".join(content)),
        refusal="".join(refusals) or ("the server's filter stopped the answer" if is_filtered else None),
        cut_off=document.get("status") == "incomplete" and not is_filtered,
        usage=_usage(document, "input_tokens", "input_tokens_details", "output_tokens"),
        model=_text(document.get("model")),
        call=(calls[0] or None) if calls else None,
        recorded=_text(_get(document, "metadata", "recorded")) or None,
    )


def _chat_reply(document: Mapping[str, Any]) -> Reply | Failure:
    choice = next(iter(_mappings(document.get("choices"))), None)
    message = None if choice is None else choice.get("message")
    if choice is None or not isinstance(message, Mapping):
        return _unreadable("the server's answer has no `choices`")
    inputs, calls, content = [], [], [_content(message.get("content"))]
    for call in _mappings(message.get("tool_calls")):
        if _is_mapping(call.get("custom")):
            inputs.append(_text(_get(call, "custom", "input")))
            calls.append(_text(call.get("id")))
        else:
            content.append(_only_argument(_get(call, "function", "arguments")))
    is_filtered = choice.get("finish_reason") == "content_filter"
    return Reply(
        tool=inputs[0] if inputs else None,
        content=_spoken("".join(content)),
        refusal=_text(message.get("refusal")) or ("the server's filter stopped the answer" if is_filtered else None),
        cut_off=choice.get("finish_reason") == "length",
        usage=_usage(document, "prompt_tokens", "prompt_tokens_details", "completion_tokens"),
        model=_text(document.get("model")),
        call=(calls[0] or None) if calls else None,
        recorded=_text(_get(document, "metadata", "recorded")) or None,
    )


def _usage(document: Mapping[str, Any], input: str, details: str, output: str) -> Usage | None:
    usage = document.get("usage")
    if not isinstance(usage, Mapping):
        return None
    counted = _count(usage.get(input)), _count(usage.get(output))
    if None in counted:
        return None
    cached = _count(_get(usage, details, "cached_tokens")) or 0
    return Usage(1, counted[0], min(cached, counted[0] or 0), counted[1], None)


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return value if is_count and isinstance(value, int) else None


def _spoken(content: str) -> str:
    """Without what some models think aloud first."""
    before, mark, after = content.partition("</think>")
    return after.lstrip() if mark and before.lstrip().startswith("<think>") else content


def _only_argument(arguments: object) -> str:
    """Some servers make a function of every tool: then the text is its one argument."""
    try:
        read = json.loads(_text(arguments))
    except (ValueError, RecursionError):
        return _text(arguments)
    texts = [v for v in read.values() if isinstance(v, str)] if isinstance(read, dict) else []
    return texts[0] if len(texts) == 1 else _text(arguments)


def _content(content: object) -> str:
    return content if isinstance(content, str) else "".join(_text(part.get("text")) for part in _mappings(content))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _get(document: object, *keys: str) -> object:
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


# --- streams --------------------------------------------------------------------------------------------------------


def streamed(api: Api, text: str) -> Mapping[str, Any] | Failure:
    """What the events of a stream come to: the same JSON that comes without one."""
    events = list(_events(text))
    failed = next((event for event in events if event.get("error") or event.get("type") == "error"), None)
    if failed is not None:
        return Failure(ErrorCode.SERVER_FAILED, f"the server failed: {error_text(failed)}", passes=True, may_cost=True)
    whole = _responses_whole(events) if api is Api.RESPONSES else _chat_whole(events)
    return whole if whole is not None else broken_off()


def broken_off() -> Failure:
    return Failure(ErrorCode.UNREACHABLE, "the answer broke off before its end", passes=True, may_cost=True)


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.split("\n"):
        if line.startswith("data:"):
            try:
                event = json.loads(line[5:])
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def _responses_whole(events: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    last = events[-1] if events else {}
    response = last.get("response")
    return response if last.get("type") != "response.created" and _ended(response) else None


def _ended(response: object) -> bool:
    return isinstance(response, Mapping) and response.get("status") in ("completed", "incomplete", "failed")


def _chat_whole(events: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Pieces joined. A stream that doesn't say why it ended was cut."""
    message: dict[str, Any] = {"content": "", "refusal": "", "tool_calls": []}
    calls: dict[object, dict[str, Any]] = {}
    whole: dict[str, Any] = {"choices": [{"message": message, "finish_reason": None}]}
    for event in events:
        whole |= {key: event[key] for key in ("model", "usage", "metadata") if event.get(key)}
        choice = next(iter(_mappings(event.get("choices"))), {})
        delta = choice.get("delta")
        whole["choices"][0]["finish_reason"] = choice.get("finish_reason") or whole["choices"][0]["finish_reason"]
        message["content"] += _content(_get(delta, "content"))
        message["refusal"] += _text(_get(delta, "refusal"))
        for piece in _mappings(_get(delta, "tool_calls")):
            _add(calls.setdefault(str(piece.get("index")), {}), piece)
    message["tool_calls"] = list(calls.values())
    return whole if whole["choices"][0]["finish_reason"] else None


def _add(call: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Texts grow; all else is said once."""
    call |= {key: piece[key] for key in ("id", "type") if piece.get(key)}
    for kind, part in (("custom", "input"), ("function", "arguments")):
        if _is_mapping(piece.get(kind)):
            inner = call.setdefault(kind, {part: ""})
            inner[part] += _text(_get(piece, kind, part))
