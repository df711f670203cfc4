"""One request, one answer: the only module that touches the `openai` package.

In: a `Request`. Out: the JSON of the answer, or a `Failure`; no exception of the package or of HTTP comes out, and no
key, not even where a server repeats it in a message. An answer is read up to a size, within a time.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import os
import re
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ucl.llm.client.contract import ErrorCode, ModelError
from ucl.llm.client.settings import (
    KEY_VARIABLE,
    OPENAI_BASE_URL_VARIABLE,
    OPENAI_KEY_VARIABLE,
    Settings,
)
from ucl.llm.client.wire.replies import Failure, broken_off, error_text, streamed
from ucl.llm.client.wire.requests import Api, Request

if TYPE_CHECKING:
    import httpx2
    import openai

OPENAI = "https://api.openai.com/v1"
# For servers that want none, since the package wants one.
_NO_KEY = "none"
# What is shorter keeps nothing safe (`EMPTY`, `ollama`), and taking it out would take letters out of answers.
_SHORTEST_SECRET = 8
_LOOKS_LIKE_A_KEY = re.compile(r"\bsk-[\w*.-]{8,}")
_PASSING = frozenset((408, 409, 425, 429))


class Exchange:
    """With one server. `base_url` is where; raises `ModelError` where the package, an address or a key is missing."""

    def __init__(self, settings: Settings, environment: Mapping[str, str] = os.environ) -> None:
        self.base_url, self._key = _address(settings, environment)
        self.is_openai = _is_host(self.base_url, "api.openai.com", "openai.azure.com")
        self._settings = settings
        self.renew()

    async def send(self, request: Request, timeout: float) -> Mapping[str, Any] | Failure:
        """Raises nothing but what cancels a task."""
        import httpx2
        import openai

        try:
            async with asyncio.timeout(timeout):
                return self._read(request.api, *await self._sent(request, timeout))
        except (TimeoutError, openai.APITimeoutError):
            message = f"{self._host} did not answer within {timeout:g} seconds"
            return Failure(ErrorCode.TIMEOUT, message, passes=True, may_cost=True)
        except _TooLongError:
            return self._too_long()
        except openai.APIStatusError as error:
            return self._status(error.status_code, error.body, error.response.headers)
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, _TooLongError):
                return self._too_long()
            if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                return Failure(ErrorCode.UNREACHABLE, f"{self._host} can't be reached", passes=True)
            return broken_off()
        except (httpx2.HTTPError, httpx2.StreamError):
            return broken_off()
        except Exception as error:  # whatever the package makes of an answer, it is the answer of a server
            kind = type(error).__name__
            return Failure(ErrorCode.UNREADABLE, f"the answer of {self._host} can't be read ({kind})", may_cost=True)

    def renew(self) -> None:
        """Connects anew, for another event loop; the connections of the one before went with it."""
        self._client = _client(self.base_url, self._key, self._settings.largest_answer)
        if not self.is_openai:
            # What the environment says of an account concerns no other server.
            self._client.organization = self._client.project = self._client.admin_api_key = None

    async def close(self) -> None:
        await self._client.close()

    @property
    def _host(self) -> str:
        """Without what an address may hold of a user."""
        parts = urlsplit(self.base_url)
        return f"`{parts.hostname}{f':{parts.port}' if parts.port else ''}`"

    async def _sent(self, request: Request, timeout: float) -> tuple[str, bytes]:
        """The type and the bytes of an answer with a good status."""
        to = self._client.responses if request.api is Api.RESPONSES else self._client.chat.completions
        create: Any = to.with_streaming_response.create
        async with create(**request.body, extra_body=request.extra or None, timeout=timeout) as response:
            return response.headers.get("content-type", ""), await response.read()

    # --- what came --------------------------------------------------------------------------------------------------

    def _read(self, api: Api, content_type: str, data: bytes) -> Mapping[str, Any] | Failure:
        kind = content_type.partition(";")[0].strip().lower()
        try:
            # What a server repeats of the key goes no further than this.
            text = self._without_key(data.decode())
        except UnicodeDecodeError:
            return Failure(ErrorCode.UNREADABLE, "the answer is no UTF-8", passes=True, may_cost=True)
        if kind == "text/event-stream":
            return streamed(api, text)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            if kind.endswith("json") or not kind:
                return Failure(ErrorCode.UNREADABLE, "the answer is no JSON", passes=True, may_cost=True)
            message = f"{self._host} answered with `{kind[:40]}` in place of JSON"
            return Failure(ErrorCode.UNREADABLE, message)
        if not isinstance(document, dict):
            return Failure(ErrorCode.UNREADABLE, "the answer is no JSON object", passes=True, may_cost=True)
        return document

    def _too_long(self) -> Failure:
        most = self._settings.largest_answer
        return Failure(ErrorCode.TOO_LONG, f"the answer has more than {most:,} bytes", may_cost=True)

    def _status(self, status: int, body: object, headers: Mapping[str, str]) -> Failure:
        said = self._without_key(error_text(body, most=10_000))[:300]
        code = _error_code(body)
        if status in (401, 403):
            return Failure(ErrorCode.DENIED, f"{self._host} denies access: {said}", status=status)
        if code == "model_not_found":
            return Failure(
                ErrorCode.UNKNOWN_MODEL, f"{self._host} has no model `{self._settings.model}`", status=status
            )
        if code == "context_length_exceeded" or status == 413:
            return Failure(ErrorCode.TOO_LONG, f"the request is too long for the model: {said}", status=status)
        if status == 429:
            message = f"{self._host} takes no more requests for now: {said}"
            return Failure(ErrorCode.RATE_LIMITED, message, code != "insufficient_quota", _wait(headers), status)
        if status >= 500 and status != 501:
            message = f"{self._host} failed ({status}): {said}"
            return Failure(ErrorCode.SERVER_FAILED, message, True, _wait(headers), status)
        passes = status in _PASSING
        message = f"{self._host} refused the request ({status}): {said}"
        return Failure(ErrorCode.REQUEST_REFUSED, message, passes, _wait(headers) if passes else None, status)

    def _without_key(self, text: str) -> str:
        return text if len(self._key) < _SHORTEST_SECRET else text.replace(self._key, "…")


def without_keys(message: str) -> str:
    """Without what looks like a key, or like the part of one that some servers show."""
    return _LOOKS_LIKE_A_KEY.sub("…", message)


def _error_code(body: object) -> str | None:
    error = body.get("error", body) if isinstance(body, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, str) else None


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `Retry-After` in either of its forms or in milliseconds."""
    for header, of_a_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(header, "")) / of_a_second
        except ValueError:
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    try:
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except (ValueError, OverflowError):
        return None


# --- the package ----------------------------------------------------------------------------------------------------


def _address(settings: Settings, environment: Mapping[str, str]) -> tuple[str, str]:
    """Where to ask and with which key. OpenAI's own key goes nowhere but to where OpenAI's own settings say."""
    base_url = settings.base_url or environment.get(OPENAI_BASE_URL_VARIABLE) or OPENAI
    try:
        parts = urlsplit(base_url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_good = False
    if not is_good:
        raise _bad_settings("the server's address is no URL with `http` or `https`", "as in `http://localhost:8000/v1`")
    key = environment.get(KEY_VARIABLE)
    if not key and (settings.base_url is None or _is_host(base_url, "api.openai.com")):
        key = environment.get(OPENAI_KEY_VARIABLE)
        if not key:
            raise _bad_settings("there is no key for the server", f"set `{OPENAI_KEY_VARIABLE}` or `{KEY_VARIABLE}`")
    key = (key or _NO_KEY).strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise _bad_settings("the server's key has a character that no key has", f"look at `{KEY_VARIABLE}`")
    return base_url, key


def _is_host(address: str, *hosts: str) -> bool:
    """One of the hosts, or a part of it such as `eu.api.openai.com`."""
    name = (urlsplit(address).hostname or "").lower()
    return any(name == host or name.endswith(f".{host}") for host in hosts)


def _bad_settings(message: str, help: str) -> ModelError:
    return ModelError(ErrorCode.BAD_SETTINGS, message, help)


def _client(base_url: str, key: str, largest_answer: int) -> openai.AsyncOpenAI:
    """Without retries: those are ours, since they count against the budget."""
    try:
        import openai
    except ImportError:
        help = "install it with `pip install 'ucl[llm]'`"
        raise ModelError(ErrorCode.NOT_INSTALLED, "the package `openai` is not installed", help) from None

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            # What was asked for is plain; anything else could unpack to any size.
            raise _TooLongError
        response.stream = _bounded(response.stream, largest_answer)

    return openai.AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        default_headers={"Accept-Encoding": "identity"},
        http_client=openai.DefaultAsyncHttpxClient(verify=_certificates(), event_hooks={"response": [bound]}),
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes most of the time of a connection."""
    import httpx2

    return httpx2.create_ssl_context()


class _TooLongError(Exception):
    """Stops the reading of an answer; never leaves this module."""


def _bounded(stream: Any, most: int) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in stream:
                read += len(chunk)
                if read > most:
                    raise _TooLongError
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
