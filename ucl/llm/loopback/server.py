"""HTTP around a model that isn't one.

In: a script, powers, faults, a vocabulary. Out: a server on this machine's own address, in threads, for as long as the
`with` block lasts. `received` keeps what came, for a test to look at.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from types import TracebackType
from typing import Any

from ucl.llm.loopback.decoding import Mind, decode, decode_by, freely, matcher
from ucl.llm.loopback.faults import GOOD, Fault, Kind
from ucl.llm.loopback.speech import (
    OPENAI,
    PATHS,
    Constraint,
    Powers,
    Script,
    Spoken,
    Wanted,
    anything,
    document,
    events,
    wanted_of,
)
from ucl.llm.loopback.vocabulary import O200K, Vocabulary, vocabulary

_LARGEST_REQUEST = 16_000_000
_TRUNCATED_AT = 12
# As OpenAI's servers keep beginnings of prompts: in steps of so many tokens.
_KEPT_STEP = 128
_PAGE = b"<!doctype html><title>Sign in</title>"
_PROSE = "Of course! Here is what you asked for:\n\n```ucl\n{}\n```\n\nTell me if anything is to be changed."


@dataclass(frozen=True)
class Received:
    """A request; `authorization` is its header."""

    path: str
    authorization: str
    body: dict[str, Any]


class Loopback:
    """A server. `seed` is that of chance; `faults` are done in turn, and then none; `models` are all, if none is
    named. With a `mind` that one says what the script would have said."""

    def __init__(
        self,
        script: Script = anything,
        powers: Powers = OPENAI,
        faults: Iterable[Fault] = (),
        vocabulary: str = O200K,
        seed: int = 0,
        models: frozenset[str] = frozenset(),
        mind: Mind | None = None,
    ) -> None:
        self.script, self.powers, self.seed, self.models, self.mind = script, powers, seed, models, mind
        self._vocabulary = vocabulary
        self.received: list[Received] = []
        self.closing = threading.Event()
        self._faults = iter(faults)
        self._prompts: list[list[int]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def words(self) -> Vocabulary:
        return vocabulary(self._vocabulary) if self.mind is None else self.mind.vocabulary

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- what the handler asks for ----------------------------------------------------------------------------------

    def take(self, received: Received) -> tuple[int, Fault]:
        """The request's number, and what is to go wrong with it."""
        with self._lock:
            self.received.append(received)
            return len(self.received), next(self._faults, GOOD)

    def answer(self, wanted: Wanted, number: int, fault: Fault) -> Spoken | str:
        """What is said, or what is wrong with the grammar."""
        said = self.script(wanted)
        most = min(wanted.most_output, _TRUNCATED_AT) if fault.kind is Kind.TRUNCATED else wanted.most_output
        is_held = wanted.constraint in self.powers.obeys and fault.kind not in _UNHELD
        start = matcher(wanted.grammar, self.words) if is_held else None
        if isinstance(start, str):
            return start
        if self.mind is not None:
            decoded = decode_by(self.mind, start, wanted.messages, most)
        elif start is not None:
            wish, chosen = None if said is None else said.text, random.Random(f"{self.seed} {number}")
            decoded = decode(start, self.words, wish, most, chosen)
        else:
            decoded = freely("I have nothing to say." if said is None else said.text, self.words, most)
        taken, cached = self._counted(wanted)
        spoken = Spoken(
            wanted.model,
            number,
            is_whole=decoded.is_whole,
            tokens=None if fault.kind is Kind.NO_USAGE else (taken, cached, decoded.tokens),
            recorded=None if said is None else said.recorded,
            tool=wanted.tool or "",
        )
        return _spoken(spoken, wanted, fault, decoded.text, is_held)

    def _counted(self, wanted: Wanted) -> tuple[int, int]:
        """The tokens of a prompt, and those of them that were kept from an earlier one that began alike."""
        tokens = self.words.tokenizer.tokenize_str(wanted.prompt)
        with self._lock:
            kept = max((_alike(tokens, earlier) for earlier in self._prompts), default=0)
            self._prompts.append(tokens)
        return len(tokens), kept // _KEPT_STEP * _KEPT_STEP


def _alike(tokens: list[int], earlier: list[int]) -> int:
    """How many tokens the two have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(tokens, earlier, strict=False)))


_UNHELD = frozenset((Kind.IGNORED, Kind.PROSE, Kind.WRONG_JSON, Kind.FUNCTION))


def _spoken(spoken: Spoken, wanted: Wanted, fault: Fault, text: str, is_held: bool) -> Spoken:
    """The text where it belongs: in calls of the tool, or in the content."""
    shown: dict[str, Any] = {}
    match fault.kind:
        case Kind.EMPTY:
            shown = {"content": ""}
        case Kind.REFUSAL:
            shown = {"refusal": "I can't help with that."}
        case Kind.WRONG_JSON:
            shown = {"content": '{"answer": {"of": "another form"}}'}
        case Kind.FUNCTION:
            shown = {"function": text}
        case Kind.HALF:
            shown = {"content": f"{text}\ud83d"}
        case Kind.SEVERAL:
            shown = {"calls": (text, text)}
        case Kind.PROSE:
            shown = {"content": _PROSE.format(text)}
        case _ if wanted.tool is not None and (is_held or fault.kind is Kind.IGNORED):
            shown = {"calls": (text,)}
        case _ if is_held or text.lstrip().startswith("{") or "```" in text or fault.kind is Kind.IGNORED:
            shown = {"content": text}
        case _:
            shown = {"content": _PROSE.format(text)}
    return replace(spoken, **shown)


# --- HTTP -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Response:
    status: int
    data: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False
    is_stream: bool = False


def _error(status: int, message: str, code: str | None = None, **headers: str) -> _Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return _Response(status, json.dumps({"error": error}).encode(), headers=headers)


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(min(length, _LARGEST_REQUEST)))
            received = Received(self.path, self.headers.get("authorization", ""), body)
            number, fault = loopback.take(received)
            response = _response(loopback, received, number, fault)
            with contextlib.suppress(OSError):  # whoever asked may have left
                self._send(response)

        def _send(self, response: _Response | None) -> None:
            if response is None:
                self.close_connection = True
                return
            self.send_response(response.status)
            self.send_header("Content-Type", response.content_type)
            for name, value in response.headers.items():
                self.send_header(name, value)
            if response.is_stream:
                # A stream's end is where the connection ends.
                self.send_header("Connection", "close")
            else:
                self.send_header("Content-Length", str(len(response.data)))
            self.end_headers()
            self.wfile.write(response.data[: len(response.data) // 2] if response.is_cut else response.data)
            self.close_connection = self.close_connection or response.is_cut or response.is_stream

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: what was asked for is in `received`."""

    return Handler


def _response(loopback: Loopback, received: Received, number: int, fault: Fault) -> _Response | None:
    """None breaks the connection off."""
    instead = _instead(fault, received)
    if fault.kind is Kind.DISCONNECT or instead is not None:
        return instead
    if fault.kind is Kind.SLOW:
        loopback.closing.wait(fault.seconds)
    api = PATHS.get(received.path)
    if api is None or api not in loopback.powers.apis:
        return _error(404, f"there is no {received.path}")
    model = received.body.get("model")
    if loopback.models and model not in loopback.models:
        return _error(404, f"there is no model {model}", "model_not_found")
    try:
        wanted = wanted_of(api, received.body)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        return _error(400, f"the request is of no known form ({error!r})")
    if isinstance(wanted, str):
        return _error(400, wanted)
    if wanted.constraint in loopback.powers.refuses:
        return _error(loopback.powers.refusal, f"{_NAMES[wanted.constraint]} is not supported")
    spoken = loopback.answer(wanted, number, fault)
    if isinstance(spoken, str):
        return _error(400, f"the grammar is not good: {spoken[:500]}", "invalid_grammar")
    is_cut = fault.kind is Kind.CUT
    if wanted.stream:
        data = b"".join(_cut(events(api, spoken), is_cut))
        return _Response(200, data, "text/event-stream", is_stream=True)
    return _Response(200, json.dumps(document(api, spoken)).encode(), is_cut=is_cut)


_NAMES: dict[Constraint | None, str] = {
    Constraint.TOOL_GRAMMAR: "a tool of type `custom`",
    Constraint.STRUCTURED_OUTPUTS: "`structured_outputs`",
    Constraint.GBNF: "`grammar`",
    Constraint.JSON_SCHEMA: "a response format of type `json_schema`",
}


def _cut(pieces: Iterable[bytes], is_cut: bool) -> Iterator[bytes]:
    """All of them, or the first half: as if the connection had gone then."""
    listed = list(pieces)
    yield from listed[: len(listed) // 2] if is_cut else listed


def _instead(fault: Fault, received: Received) -> _Response | None:
    """What comes in place of an answer."""
    message = fault.message.replace("{key}", received.authorization.removeprefix("Bearer "))
    waits = {} if fault.wait is None else {"Retry-After": fault.wait}
    match fault.kind:
        case Kind.RATE_LIMITED:
            return _error(429, message, fault.code, **waits)
        case Kind.FAILING:
            return _error(fault.status, message, fault.code, **waits)
        case Kind.WRONG_TYPE:
            return _Response(200, _PAGE, "text/html; charset=utf-8")
        case Kind.HUGE:
            return _Response(200, b'{"output": "' + b"x" * fault.size + b'"}')
        case Kind.NO_JSON:
            return _Response(200, b'{"output": [')
        case Kind.NO_UTF8:
            return _Response(200, b'{"output": [{"type": "message", "content": [{"text": "\xff\xfe"}]}]}')
        case Kind.ERROR_BODY:
            return _error(200, message, fault.code)
        case _:
            return None
