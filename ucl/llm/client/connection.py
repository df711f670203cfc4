"""A connection to a server: from an `Ask` to an `Answer`, by the best way that the server can go.

    ask ──▶ ways, best first ──▶ request ──▶ exchange ──▶ reply ──▶ understood ──▶ Answer
             ▲                    ▲ again, later, where it may pass         │
             └────────────────────┴── the next way, where this was ignored or refused

In: `Settings`. Out: a `Model`. Every call has its place in the budget, retries and ways that led nowhere included, and
whatever goes wrong ends in an answer or in one `ModelError`. A connection serves one event loop at a time: one after
the other, as doors that wait make them.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from ucl.llm.client.capabilities import Verdict, capabilities_of
from ucl.llm.client.contract import (
    Answer,
    Ask,
    ErrorCode,
    Model,
    ModelError,
    Program,
    Structured,
    Usage,
    total,
)
from ucl.llm.client.ledger import Ledger, over_budget
from ucl.llm.client.settings import Settings
from ucl.llm.client.wire.exchange import Exchange, without_keys
from ucl.llm.client.wire.replies import Failure, Reply, reply_of
from ucl.llm.client.wire.requests import Api, Held, Request, Way, request_of, ways_for
from ucl.llm.client.wire.understanding import Understood, understand

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
# Beyond this a server's own wish is no wait but a refusal.
_LONGEST_WISH = 90.0
# What a server answers to a way that it doesn't know, or to an API that it doesn't speak.
_REFUSES_WAY = frozenset((400, 404, 405, 415, 422, 501))
_GOOD = (None, Verdict.WORKS)
_OF_SIZE = re.compile(
    r"\btoo (?:large|long|big|complex|many|deep)\b|\b(?:exceed(?:s|ed|ing)?|maximum|limits?|complexity)\b",
    re.IGNORECASE,
)
_CUT_OFF = Failure(ErrorCode.TRUNCATED, "the answer was cut off at the most output")


@dataclass(frozen=True)
class Surroundings:
    """What a test puts in place of the clock: seconds that pass, a way to let them, and chance from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


def connection(settings: Settings, surroundings: Surroundings | None = None) -> Model:
    """Raises `ModelError` where the package, an address or a key is missing."""
    return Connection(settings, Exchange(settings), surroundings or Surroundings())


@dataclass
class _Course:
    """How one ask goes: what it took so far, which ways were refused, what last came of one that was not held to."""

    spent: list[Usage] = field(default_factory=list)
    refused: list[tuple[Way, Failure]] = field(default_factory=list)
    fallback: tuple[Understood, Reply] | None = None

    @property
    def unspoken(self) -> list[Api]:
        """The APIs that the server was found not to speak."""
        return [way.api for way, failure in self.refused if failure.status not in (400, 422, 500)]

    def error(self, failure: Failure) -> ModelError:
        return ModelError(failure.code, without_keys(failure.message), _HELP.get(failure.code), total(self.spent))


class Connection:
    """See `Model`."""

    def __init__(self, settings: Settings, exchange: Exchange, surroundings: Surroundings) -> None:
        self._settings = settings
        self._exchange = exchange
        self._surroundings = surroundings
        self._ledger = Ledger(settings.budget, settings.prices, surroundings.clock)
        self._places = asyncio.Semaphore(max(1, settings.concurrency))
        self._seen = capabilities_of(exchange.base_url, settings.model)
        self._finding_out = asyncio.Lock()
        self._found_out: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, ask: Ask) -> Answer:
        """The first ask of a kind goes alone, so that only one finds out what the server can do."""
        self._settle_in()
        kind = type(ask.output).__name__
        if kind not in self._found_out:
            async with self._finding_out:
                if kind not in self._found_out:
                    try:
                        return await self._answered(ask, kind)
                    finally:
                        self._found_out.add(kind)
        return await self._answered(ask, kind)

    async def ask_all(self, asks: Sequence[Ask]) -> list[Answer | ModelError]:
        async def one(ask: Ask) -> Answer | ModelError:
            try:
                return await self.ask(ask)
            except ModelError as error:
                return error

        return list(await asyncio.gather(*map(one, asks)))

    async def close(self) -> None:
        await self._exchange.close()

    def _settle_in(self) -> None:
        """What waits, and what is connected, belongs to the loop that runs; what is known and spent stays."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._places, self._finding_out = asyncio.Semaphore(max(1, self._settings.concurrency)), asyncio.Lock()
            self._ledger.renew()
            self._exchange.renew()
        self._loop = loop

    # --- from way to way --------------------------------------------------------------------------------------------

    async def _answered(self, ask: Ask, kind: str) -> Answer:
        course = _Course()
        try:
            for way in self._ways(ask, kind):
                answer = await self._by(way, ask, kind, course)
                if answer is not None:
                    return answer
        except ModelError as error:
            error.usage = total(course.spent)
            raise
        return self._at_last(ask, course)

    def _ways(self, ask: Ask, kind: str) -> list[Way]:
        """Those that were not seen to fail; all of them where that leaves none."""
        ways = ways_for(ask.output, self._exchange.is_openai, self._settings.path)
        good = [way for way in ways if all(self._seen.verdict(key) in _GOOD for key in (way.api, f"{way.key}-{kind}"))]
        return good or ways

    async def _by(self, way: Way, ask: Ask, kind: str, course: _Course) -> Answer | None:
        """None where this way leads nowhere, so that the next is to be tried."""
        if way.api in course.unspoken:
            return None
        reply = await self._whole(way, ask, course)
        if isinstance(reply, Failure):
            if not (_refuses_way(reply) or _chokes_on(way, reply)):
                raise course.error(reply)
            course.refused.append((way, reply))
            return None
        self._note_refused(kind, course)
        if reply.is_empty:
            if reply.cut_off:
                raise course.error(_CUT_OFF)
            return None
        understood = understand(reply, way.held, ask.output)
        if understood.verdict is not None:
            self._seen.note(f"{way.key}-{kind}", understood.verdict)
        if isinstance(ask.output, Structured) and not understood.is_right:
            return await self._mended(way, ask, course, reply, understood)
        if understood.verdict is Verdict.IGNORED and not understood.is_right:
            course.fallback = understood, reply
            return None
        return _answer(understood, reply, course)

    def _note_refused(self, kind: str, course: _Course) -> None:
        """Another way was taken, so it was those ways that the server refused, and not the ask."""
        for api in course.unspoken:
            self._seen.note(api, Verdict.ABSENT)
        for way, failure in course.refused:
            key = f"{way.key}-{kind}"
            if _chokes_on(way, failure):
                # Which may have been an accident, so that it is soon tried again.
                self._seen.note(key, Verdict.IGNORED)
            elif self._seen.verdict(key) is not Verdict.WORKS and not _refuses_size(failure):
                self._seen.note(key, Verdict.ABSENT)

    async def _whole(self, way: Way, ask: Ask, course: _Course) -> Reply | Failure:
        """One answer by this way; a second try where it was empty, or cut off: with twice the output then."""
        reply = await self._reply(way, ask, ask.most_output, course)
        if isinstance(reply, Reply) and (reply.cut_off or reply.is_empty) and not reply.refusal:
            more = 2 * ask.most_output if reply.cut_off else ask.most_output
            again = await self._reply(way, ask, more, course)
            # So much output may be more than the model has.
            reply = again if isinstance(again, Reply) or not _refuses_way(again) else reply
        if isinstance(reply, Reply) and reply.refusal:
            said = " ".join(reply.refusal.split())[:300]
            raise course.error(Failure(ErrorCode.REFUSED, f"the model refuses: {said}"))
        return reply

    async def _mended(self, way: Way, ask: Ask, course: _Course, reply: Reply, understood: Understood) -> Answer | None:
        """A value that its model did not accept: the model is told why, twice at most."""
        for is_last in (False, False, True):
            if understood.is_right:
                return _answer(understood, reply, course)
            if reply.cut_off:
                raise course.error(_CUT_OFF)
            if understood.verdict is Verdict.IGNORED:
                course.fallback = understood, reply
                return None
            if is_last or reply.is_empty:
                break
            ask = ask.again(_answer(understood, reply, course), f"{understood.problem}. Answer again, whole.")
            again = await self._whole(way, ask, course)
            if isinstance(again, Failure):
                raise course.error(again)
            reply, understood = again, understand(again, way.held, ask.output)
        raise course.error(Failure(ErrorCode.UNREADABLE, understood.problem or "the model's answer is empty"))

    def _at_last(self, ask: Ask, course: _Course) -> Answer:
        """No way is left: what came of one that was not held to, else why there is nothing."""
        if not ways_for(ask.output, self._exchange.is_openai, self._settings.path):
            raise course.error(Failure(ErrorCode.BAD_SETTINGS, f"nothing leads to the path `{self._settings.path}`"))
        if course.fallback is not None:
            understood, reply = course.fallback
            if isinstance(ask.output, Program):
                return _answer(understood, reply, course)
            raise course.error(Failure(ErrorCode.UNREADABLE, understood.problem or "the answer can't be read"))
        if course.refused and not course.spent:
            if all(failure.status == 404 for _, failure in course.refused):
                message = f"the server has no model `{self._settings.model}`, or no API of this kind at this address"
                raise course.error(Failure(ErrorCode.UNKNOWN_MODEL, message))
            raise course.error(course.refused[-1][1])
        raise course.error(Failure(ErrorCode.EMPTY, "the model's answer is empty"))

    # --- one call ---------------------------------------------------------------------------------------------------

    async def _reply(self, way: Way, ask: Ask, most_output: int, course: _Course) -> Reply | Failure:
        """Tries again what may pass. Raises `ModelError` where the budget ends, or the patience."""
        request = request_of(way, ask, self._settings, self._exchange.is_openai, most_output)
        is_known = self._seen.verdict(f"{way.key}-{type(ask.output).__name__}") is Verdict.WORKS
        tried = 0
        while True:
            async with self._places:
                found = await self._call(way, ask, request, most_output, course)
            if isinstance(found, Reply) or not found.passes:
                return found
            if tried == 1 and not is_known and _chokes_on(way, found):
                return found
            if tried == self._settings.retries:
                raise course.error(found)
            await self._pause(tried, found, course)
            tried += 1

    async def _call(self, way: Way, ask: Ask, request: Request, most_output: int, course: _Course) -> Reply | Failure:
        allowance = await self._ledger.allow(request.size, most_output)
        if allowance.output != most_output:
            request = request_of(way, ask, self._settings, self._exchange.is_openai, allowance.output)
        left = self._ledger.seconds_left()
        timeout = self._settings.timeout if left is None else min(self._settings.timeout, left)
        usage, may_cost = None, True
        try:
            document = await self._exchange.send(request, timeout)
            found = document if isinstance(document, Failure) else reply_of(way.api, document)
            usage = found.usage if isinstance(found, Reply) else None
            may_cost = not isinstance(found, Failure) or found.may_cost
        finally:
            # A task that is cancelled has spent what it may have spent.
            used = self._ledger.settle(allowance, usage, may_cost)
            if used.calls:
                course.spent.append(used)
        return found

    async def _pause(self, tried: int, failure: Failure, course: _Course) -> None:
        """Twice as long each time, never all at once, and as long as the server wishes."""
        wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2**tried) * (0.5 + self._surroundings.chance() / 2)
        if failure.wait is not None:
            if failure.wait > _LONGEST_WISH:
                message = f"{failure.message}; it asks to wait {failure.wait:.0f} seconds"
                raise course.error(Failure(failure.code, message))
            wait = max(wait, failure.wait)
        left = self._ledger.seconds_left()
        if left is not None and wait >= left:
            raise over_budget(f"{self._settings.budget.seconds:g} seconds")
        await self._surroundings.sleep(wait)


def _refuses_way(failure: Failure) -> bool:
    """Whether a server doesn't know a way, or an API; some answer with a page to every address that they don't know."""
    if failure.code in (ErrorCode.UNKNOWN_MODEL, ErrorCode.TOO_LONG):
        return False
    return failure.status in _REFUSES_WAY or (failure.code is ErrorCode.UNREADABLE and not failure.passes)


def _refuses_size(failure: Failure) -> bool:
    """Whether it is this one grammar that a server finds too large, so that it may take the next one."""
    return failure.status in (400, 422) and _OF_SIZE.search(failure.message) is not None


def _chokes_on(way: Way, failure: Failure) -> bool:
    """Whether it may be the way that a server fails on: llama.cpp, for one, fails on tools that it doesn't know."""
    return failure.status == 500 and way.held is not Held.NOTHING


def _answer(understood: Understood, reply: Reply, course: _Course) -> Answer:
    return Answer(
        text=understood.text,
        path=understood.path,
        model=reply.model,
        value=understood.value,
        complete=not reply.cut_off,
        problem=understood.problem,
        raw=understood.raw,
        call=understood.call,
        usage=total(course.spent),
        recorded=reply.recorded,
    )


_HELP = {
    ErrorCode.UNREACHABLE: "look at the server's address, and whether it runs",
    ErrorCode.TIMEOUT: "allow more time, or ask a faster model",
    ErrorCode.DENIED: "look at the key and at what it is allowed",
    ErrorCode.UNKNOWN_MODEL: "look at the model's name and at the server's address, which mostly ends in `/v1`",
    ErrorCode.RATE_LIMITED: "ask less at once, or later",
    ErrorCode.TRUNCATED: "allow more output, or ask for less",
    ErrorCode.TOO_LONG: "ask for less",
    ErrorCode.UNREADABLE: "look at the server's address, which mostly ends in `/v1`",
}
