"""Whatever a server does wrong ends in an answer or in one clear error, within the budget, and never shows a key."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
import traceback
from collections.abc import Iterable
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import pytest
from llm_servers import KEY, RULE, RULE_AS_JSON, Clock, alone, an_ask, answer, ask, error, model, paths
from pydantic import BaseModel

from ucl.llm.client import (
    Answer,
    Budget,
    ErrorCode,
    ModelError,
    Path,
    Prices,
    Prose,
    Settings,
    Structured,
    connect,
)
from ucl.llm.client.capabilities import capabilities_of
from ucl.llm.client.connection import Connection
from ucl.llm.client.wire.replies import Failure, Reply, reply_of, streamed
from ucl.llm.client.wire.requests import Api
from ucl.llm.loopback import OPENAI, OPENAI_CHAT, PLAIN, VLLM, Fault, Kind, Loopback, Powers, Script, Wanted, says

__all__ = ["alone"]

APIS = {"responses": OPENAI, "chat": OPENAI_CHAT}


def failing(*faults: Fault, powers: Powers = OPENAI, script: Script | None = None) -> Loopback:
    return Loopback(script or says(RULE, RULE_AS_JSON), powers, faults, vocabulary="bytes")


class Fact(BaseModel):
    subject: str


# --- what passes ----------------------------------------------------------------------------------------------------

PASSING = [
    Fault(Kind.RATE_LIMITED),
    Fault(Kind.RATE_LIMITED, wait="3"),
    Fault(Kind.FAILING, status=502),
    Fault(Kind.FAILING, status=503, wait="2"),
    Fault(Kind.FAILING, status=529),
    Fault(Kind.FAILING, status=408),
    Fault(Kind.NO_JSON),
    Fault(Kind.NO_UTF8),
    Fault(Kind.DISCONNECT),
    Fault(Kind.ERROR_BODY),
    Fault(Kind.CUT),
    Fault(Kind.HALF),
]


@pytest.mark.parametrize(
    ("fault", "stream"),
    [
        pytest.param(fault, stream, id=f"{fault.kind}-{fault.status}-{fault.wait}-{'stream' if stream else 'whole'}")
        for number, fault in enumerate(PASSING)
        for stream in ([False, True] if fault.kind is Kind.CUT else [bool(number % 2)])
    ],
)
def test_what_passes_is_tried_again(fault: Fault, stream: bool) -> None:
    clock = Clock()
    with failing(fault, fault) as server:
        found = answer(server, an_ask(), clock, stream=stream)
    assert (found.path, found.text.strip(), found.complete) == (Path.GRAMMAR, RULE.strip(), True)
    assert paths(server) == ["responses"] * 3
    wished = 0.0 if fault.wait is None else float(fault.wait)
    assert clock.slept == [max(0.5, wished), max(1.0, wished)]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(Kind.RATE_LIMITED), ErrorCode.RATE_LIMITED),
        (Fault(Kind.FAILING, status=502), ErrorCode.SERVER_FAILED),
        (Fault(Kind.NO_JSON), ErrorCode.UNREADABLE),
        (Fault(Kind.NO_UTF8), ErrorCode.UNREADABLE),
        (Fault(Kind.DISCONNECT), ErrorCode.UNREACHABLE),
        (Fault(Kind.ERROR_BODY), ErrorCode.SERVER_FAILED),
        (Fault(Kind.CUT), ErrorCode.UNREACHABLE),
        (Fault(Kind.HALF), ErrorCode.UNREADABLE),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_what_does_not_pass_ends_after_so_many_tries(fault: Fault, code: ErrorCode) -> None:
    clock = Clock()
    with failing(*[fault] * 9) as server:
        failed = error(server, an_ask(), clock, retries=3)
    assert (failed.code, len(server.received)) == (code, 4)
    assert clock.slept == [0.5, 1.0, 2.0]
    assert failed.message[0].islower() or failed.message[0] == "`"
    assert "\n" not in failed.message


def test_a_server_that_fails_on_a_way_is_asked_by_another() -> None:
    """And one that fails on all is given up."""
    fails = Fault(Kind.FAILING, status=500)
    with failing(fails, fails) as server:
        assert answer(server, an_ask()).path is Path.GRAMMAR
        assert paths(server) == ["responses", "responses", "chat/completions"]
    with failing(Fault(Kind.NONE), fails, fails, fails) as server:
        first, second = ask(server, an_ask(), an_ask())
        # What was seen to work fails by accident.
        assert isinstance(first, Answer)
        assert isinstance(second, Answer)
        assert paths(server) == ["responses"] * 5
    with failing(*[fails] * 99) as server:
        failed = error(server, an_ask(), retries=3)
    assert (failed.code, len(server.received)) == (ErrorCode.SERVER_FAILED, 6 * 2 + 4)


def test_waits_grow_to_a_limit_and_are_never_alike() -> None:
    chances = iter([0.0, 1.0, 0.5, 0.25, 0.75, 0.0, 1.0, 0.5])
    clock = Clock()
    surroundings = clock.surroundings()
    with failing(*[Fault(Kind.FAILING, status=502)] * 9) as server:

        async def run() -> None:
            made: Any = model(server, clock, retries=8)
            made._surroundings = type(surroundings)(surroundings.clock, surroundings.sleep, lambda: next(chances))
            with pytest.raises(ModelError):
                await made.ask(an_ask())

        asyncio.run(run())
    assert clock.slept == [0.25, 1.0, 1.5, 2.5, 7.0, 8.0, 30.0, 22.5]


def test_a_wish_for_a_long_wait_is_a_refusal() -> None:
    clock = Clock()
    with failing(Fault(Kind.RATE_LIMITED, wait="3600")) as server:
        failed = error(server, an_ask(), clock)
    assert (failed.code, clock.slept) == (ErrorCode.RATE_LIMITED, [])
    assert "3600 seconds" in failed.message


@pytest.mark.parametrize("wait", ["", "soon", "-5", "nan", "inf", "9" * 400, "Thu, 99 Foo 9999 99:99:99 GMT"])
def test_a_wish_that_is_none_is_not_heard(wait: str) -> None:
    clock = Clock()
    with failing(Fault(Kind.RATE_LIMITED, wait=wait)) as server:
        answer(server, an_ask(), clock)
    assert clock.slept == [0.5]


def test_a_wish_may_be_a_date() -> None:
    clock = Clock()
    with failing(Fault(Kind.RATE_LIMITED, wait=formatdate(time.time() + 30, usegmt=True))) as server:
        answer(server, an_ask(), clock)
    assert 20 < clock.slept[0] <= 31


def test_a_quota_that_is_used_up_is_not_waited_for() -> None:
    with failing(*[Fault(Kind.RATE_LIMITED, code="insufficient_quota")] * 9) as server:
        failed = error(server, an_ask())
    assert (failed.code, len(server.received)) == (ErrorCode.RATE_LIMITED, 1)


@pytest.mark.parametrize("powers", APIS.values(), ids=APIS)
def test_a_slow_answer_is_waited_for_only_so_long(powers: Powers) -> None:
    slow = Fault(Kind.SLOW, seconds=60)
    answer_first = [Fault(Kind.NONE)] * len(paths_to(powers))
    with failing(*answer_first, slow, powers=powers) as server:
        first, failed, good = ask(server, an_ask(), an_ask(), an_ask(), timeout=1, retries=0)
    assert isinstance(first, Answer), first
    assert isinstance(failed, ModelError)
    assert failed.code is ErrorCode.TIMEOUT
    assert "1 seconds" in failed.message
    assert failed.usage.calls == 1
    assert failed.usage.input is None
    assert isinstance(good, Answer)


def paths_to(powers: Powers) -> list[str]:
    with failing(powers=powers) as server:
        answer(server, an_ask())
    return paths(server)


# --- what does not pass ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(Kind.FAILING, status=401), ErrorCode.DENIED),
        (Fault(Kind.FAILING, status=403), ErrorCode.DENIED),
        (Fault(Kind.FAILING, status=404, code="model_not_found"), ErrorCode.UNKNOWN_MODEL),
        (Fault(Kind.FAILING, status=413), ErrorCode.TOO_LONG),
        (Fault(Kind.FAILING, status=400, code="context_length_exceeded"), ErrorCode.TOO_LONG),
        (Fault(Kind.FAILING, status=402), ErrorCode.REQUEST_REFUSED),
        (Fault(Kind.HUGE), ErrorCode.TOO_LONG),
        (Fault(Kind.REFUSAL), ErrorCode.REFUSED),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else "",
)
def test_what_can_not_be_helped_is_said_at_once(fault: Fault, code: ErrorCode) -> None:
    clock = Clock()
    with failing(*[fault] * 3) as server:
        failed = error(server, an_ask(), clock)
    assert (failed.code, len(server.received), clock.slept) == (code, 1, [])


def test_no_server_at_all() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        clock = Clock()

        async def run() -> ModelError:
            connected = connect(Settings("any", address, retries=2))
            assert isinstance(connected, Connection)
            connected._surroundings = clock.surroundings()
            with pytest.raises(ModelError) as raised:
                await connected.ask(an_ask())
            return raised.value

        failed = asyncio.run(run())
    assert (failed.code, clock.slept) == (ErrorCode.UNREACHABLE, [0.5, 1.0])
    assert failed.usage.calls == 0
    assert failed.help


def test_a_page_in_place_of_json_is_another_api_or_a_wrong_address() -> None:
    with failing(Fault(Kind.WRONG_TYPE)) as server:
        assert answer(server, an_ask()).path is Path.GRAMMAR
        assert paths(server) == ["responses", "chat/completions"]
    with failing(*[Fault(Kind.WRONG_TYPE)] * 9) as server:
        failed = error(server, an_ask())
    assert (failed.code, paths(server)) == (ErrorCode.UNREADABLE, ["responses", "chat/completions"])
    assert "`text/html`" in failed.message
    assert "/v1" in (failed.help or "")


def test_a_model_that_the_server_does_not_have() -> None:
    with Loopback(says(RULE), vocabulary="bytes", models=frozenset(("other",))) as server:
        failed = error(server, an_ask())
    assert (failed.code, len(server.received)) == (ErrorCode.UNKNOWN_MODEL, 1)
    assert "`any`" in failed.message
    with Loopback(says(RULE), Powers(frozenset(), frozenset()), vocabulary="bytes") as server:
        failed = error(server, an_ask())
    assert (failed.code, len(server.received)) == (ErrorCode.UNKNOWN_MODEL, 2)


# --- answers that went wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("powers", APIS.values(), ids=APIS)
def test_a_program_that_was_cut_off_is_asked_for_with_more_room_and_then_said_to_be_cut(
    powers: Powers, stream: bool
) -> None:
    cut = Fault(Kind.TRUNCATED)
    skipped = [Fault(Kind.NONE)] * (len(paths_to(powers)) - 1)
    with failing(*skipped, cut, powers=powers) as server:
        found = answer(server, an_ask(most_output=100), stream=stream)
        assert (found.complete, found.text.strip()) == (True, RULE.strip())
        most = [r.body.get("max_output_tokens") or r.body.get("max_tokens") for r in server.received[-2:]]
        assert most == [100, 200]
        assert found.usage.calls == 2
    with failing(*skipped, cut, cut, powers=powers) as server:
        found = answer(server, an_ask(), stream=stream)
    assert (found.complete, found.path) == (False, Path.GRAMMAR)
    assert RULE.startswith(found.text)


def test_a_value_that_was_cut_off_is_no_value() -> None:
    with failing(*[Fault(Kind.TRUNCATED)] * 2, script=says('{"subject": "a very long one"}')) as server:
        failed = error(server, an_ask(Structured(Fact)))
    assert failed.code is ErrorCode.TRUNCATED


def test_more_room_than_the_model_has() -> None:
    """The second request is refused for its size; what was cut off is what there is."""
    faults = [Fault(Kind.TRUNCATED), Fault(Kind.FAILING, status=400, message="max_output_tokens is too large")]
    with failing(*faults) as server:
        found = answer(server, an_ask())
    assert (found.complete, len(server.received)) == (False, 2)


def test_an_empty_answer_is_asked_for_once_more_and_then_otherwise() -> None:
    with failing(Fault(Kind.EMPTY)) as server:
        assert answer(server, an_ask()).path is Path.GRAMMAR
        assert len(server.received) == 2
    with failing(*[Fault(Kind.EMPTY)] * 30) as server:
        failed = error(server, an_ask())
    assert failed.code is ErrorCode.EMPTY
    assert failed.usage.calls == len(server.received)
    with failing(*[Fault(Kind.EMPTY)] * 30) as server:
        assert error(server, an_ask(Prose())).code is ErrorCode.EMPTY


@pytest.mark.parametrize("powers", APIS.values(), ids=APIS)
def test_prose_in_place_of_a_call_is_looked_through_for_the_program(powers: Powers) -> None:
    before = len(paths_to(powers)) - 1
    faults = [*[Fault(Kind.NONE)] * before, Fault(Kind.PROSE)]
    with failing(*faults, powers=powers) as server:
        found = answer(server, an_ask())
    assert (found.path, found.text.strip()) == (Path.TEXT, RULE.strip())
    with failing(*faults, powers=powers, script=first_wrong(before + 1)) as server:
        found = answer(server, an_ask())
    assert found.text.strip() == RULE.strip()
    assert len(server.received) > before + 1


def first_wrong(count: int) -> Script:
    """No UCL in so many answers, and then right ones."""
    said = says(RULE, RULE_AS_JSON)
    turn = iter(range(count))
    return lambda wanted: says("As you like.")(wanted) if next(turn, None) is not None else said(wanted)


def test_a_grammar_that_was_ignored_is_noticed_and_not_relied_upon_again() -> None:
    with failing(Fault(Kind.IGNORED), script=first_wrong(1)) as server:
        first, second = ask(server, an_ask(), an_ask())
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert (first.text.strip(), first.usage.calls) == (RULE.strip(), 2)
    assert "tools" in server.received[0].body
    assert paths(server) == ["responses", "chat/completions", "chat/completions"]


@pytest.mark.parametrize("powers", APIS.values(), ids=APIS)
def test_a_function_in_place_of_a_custom_tool_holds_the_program_all_the_same(powers: Powers) -> None:
    before = len(paths_to(powers)) - 1
    with failing(*[Fault(Kind.NONE)] * before, Fault(Kind.FUNCTION), powers=powers) as server:
        found = answer(server, an_ask())
    assert (found.path, found.text.strip()) == (Path.TEXT, RULE.strip())


def test_of_several_calls_the_first_counts() -> None:
    with failing(Fault(Kind.SEVERAL)) as server:
        found = answer(server, an_ask())
    assert (found.path, found.text.strip()) == (Path.GRAMMAR, RULE.strip())


def test_json_of_another_form_is_no_program() -> None:
    with failing(Fault(Kind.WRONG_JSON), Fault(Kind.WRONG_JSON)) as server:
        found = answer(server, an_ask(), path=Path.JSON)
    # Both APIs ignored the schema; what is wrong is told, for a round of mending.
    assert (found.text, found.problem is not None) == ("", True)
    with failing(*[Fault(Kind.WRONG_JSON)] * 9) as server:
        failed = error(server, an_ask(Structured(Fact)))
    assert failed.code is ErrorCode.UNREADABLE
    assert "`subject`" in failed.message


# --- the budget holds in all of it ----------------------------------------------------------------------------------

POWERS = {"openai": OPENAI, "vllm": VLLM, "plain": PLAIN}
# Every fault at one server, each server at a third of the faults; all with all in the longer campaign.
ALL = [
    pytest.param(Fault(kind), powers, id=f"{name}-{kind}", marks=[] if at == number % len(POWERS) else pytest.mark.slow)
    for number, kind in enumerate(Kind)
    for at, (name, powers) in enumerate(POWERS.items())
]


@pytest.mark.parametrize(("fault", "powers"), ALL)
def test_every_fault_again_and_again_ends_within_the_budget(fault: Fault, powers: Powers) -> None:
    """In an answer or in one error; a fault that no one foresaw would come out as another exception."""
    with failing(*[fault] * 100, powers=powers) as server:
        outputs = [an_ask(), an_ask(Structured(Fact)), an_ask(Prose())]
        found = ask(server, *outputs, budget=Budget(calls=12), retries=2)
    assert len(server.received) <= 12
    assert all(isinstance(one, Answer | ModelError) for one in found)
    for one in found:
        if isinstance(one, ModelError):
            assert one.code in ErrorCode
            assert one.usage.calls <= 12


def test_what_a_lost_answer_may_have_cost_counts() -> None:
    """The server may have worked and charged for it, so the budget holds nothing for another call."""
    money = Budget(money=Decimal("0.2"))
    prices = Prices(Decimal(2), Decimal(8))
    with failing(*[Fault(Kind.CUT)] * 9) as server:
        failed = error(server, an_ask(), budget=money, prices=prices, retries=9)
    assert failed.code is ErrorCode.OVER_BUDGET
    assert failed.usage.money is None
    assert 1 <= len(server.received) <= 3
    with failing(*[Fault(Kind.FAILING, status=502)] * 5) as server:
        answer(server, an_ask(), budget=money, prices=prices, retries=9)
    assert len(server.received) == 6


def test_a_task_that_is_cancelled_gives_its_place_back() -> None:
    with failing(Fault(Kind.NONE), Fault(Kind.SLOW, seconds=60)) as server:

        async def run() -> Answer:
            asked = model(server, concurrency=1, budget=Budget(tokens=200_000))
            await asked.ask(an_ask())
            task = asyncio.create_task(asked.ask(an_ask()))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await asked.ask(an_ask())

        assert asyncio.run(run()).path is Path.GRAMMAR


# --- the key --------------------------------------------------------------------------------------------------------

ECHOED = [
    Fault(Kind.FAILING, status=status, message="wrong key {key}, given as Bearer {key}")
    for status in (400, 401, 403, 404, 429, 500)
]


@pytest.mark.parametrize("fault", [*ECHOED, Fault(Kind.ERROR_BODY, message="bad {key}")], ids=lambda f: str(f.status))
def test_no_key_comes_out_even_where_a_server_repeats_it(fault: Fault, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with failing(*[fault] * 50) as server:
        failed = error(server, an_ask(), retries=1)
    assert any(KEY in received.authorization for received in server.received)
    texts = [str(failed), repr(failed), failed.message, failed.help or "", caplog.text, *chain(failed)]
    assert all(KEY not in text and KEY[:14] not in text for text in texts)


def chain(failed: BaseException | None) -> Iterable[str]:
    """All that a traceback would print."""
    return traceback.format_exception(failed) if failed is not None else []


def test_a_part_of_a_key_is_hidden_too() -> None:
    shown = "Incorrect API key provided: sk-proj-****************abcd. You can find your key at …"
    with failing(Fault(Kind.FAILING, status=401, message=shown)) as server:
        failed = error(server, an_ask())
    assert "abcd" not in failed.message
    assert "Incorrect API key provided: …" in failed.message


@pytest.mark.parametrize("key", ["a", "rule", "EMPTY", "score"])
def test_a_key_that_is_none_takes_no_letter_out_of_an_answer(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCL_API_KEY", key)
    with failing() as server:
        found = answer(server, an_ask())
    assert server.received[0].authorization == f"Bearer {key}"
    assert found.text.strip() == RULE.strip()


def test_nothing_that_is_kept_or_shown_holds_the_key() -> None:
    with failing() as server:
        connected = model(server)
        found = asyncio.run(connected.ask(an_ask()))
        shown = [repr(connected), repr(found), repr(Settings("any", server.url)), repr(vars(connected))]
        assert capabilities_of(server.url, "any") is not None
    assert all(KEY not in text for text in shown)


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a b", "sk-a\nb", "\x00"])
def test_a_key_that_no_header_can_hold_is_said_without_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key) if "\x00" not in key else None
    monkeypatch.setattr("os.environ", {"UCL_API_KEY": key})
    from ucl.llm.client.wire.exchange import Exchange

    with pytest.raises(ModelError) as raised:
        Exchange(Settings("any", "http://127.0.0.1:9/v1"), {"UCL_API_KEY": key})
    assert raised.value.code is ErrorCode.BAD_SETTINGS
    assert key not in str(raised.value)


# --- whatever JSON comes --------------------------------------------------------------------------------------------

ODD: list[object] = [
    None,
    [],
    {},
    {"output": None},
    {"output": "text", "choices": "text"},
    {"output": [None, 3, {"type": 3}, {"type": "message", "content": "text"}]},
    {"output": [{"type": "custom_tool_call", "input": 3, "call_id": None}]},
    {"output": [{"type": "message", "content": [{"text": None}, None]}], "usage": {"input_tokens": "many"}},
    {"output": [], "status": "incomplete", "incomplete_details": "x", "metadata": []},
    {"output": [], "usage": {"input_tokens": -1, "output_tokens": 10**30}, "model": 3},
    {"choices": []},
    {"choices": [None]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {"content": 3, "tool_calls": {"a": 1}, "refusal": []}, "finish_reason": 3}]},
    {"choices": [{"message": {"tool_calls": [{"custom": 3}, {"custom": {"input": []}}, {"function": None}]}}]},
    {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, 3]}}], "usage": []},
    {"error": {"message": ["a"]}},
    {"error": "bad", "output": None},
]


@pytest.mark.parametrize("document", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("api", Api)
def test_json_of_any_form_is_a_reply_or_a_failure(api: Api, document: object) -> None:
    found = reply_of(api, document)
    assert isinstance(found, Reply | Failure)
    if isinstance(found, Reply):
        assert isinstance(found.content, str)
        assert found.usage is None or isinstance(found.usage.input, int)


STREAMS = [
    "",
    "data:",
    "data: [DONE]\n\n",
    "data: 3\n\n",
    'data: {"type": "response.created", "response": {"status": "in_progress"}}\n\n',
    'data: {"type": "response.completed", "response": 3}\n\n',
    'data: {"type": "error", "message": "overloaded"}\n\n',
    'data: {"error": {"message": "overloaded"}}\n\n',
    'data: {"choices": [{"delta": {"tool_calls": [{"index": [], "custom": 3}]}}]}\n\n',
    'data: {"choices": [{"delta": 3, "finish_reason": null}]}\n\n',
    "data: " + "[" * 100_000,
    "event: x\nnothing\n\n",
]


@pytest.mark.parametrize("text", STREAMS, ids=range(len(STREAMS)))
@pytest.mark.parametrize("api", Api)
def test_a_stream_without_an_end_was_cut(api: Api, text: str) -> None:
    assert isinstance(streamed(api, text), Failure)


def test_line_separators_within_a_text_do_not_end_an_event() -> None:
    said = "a\u2028b\u0085c"

    def script(wanted: Wanted) -> Any:
        return says(said)(wanted)

    with failing(script=script, powers=PLAIN) as server:
        found = answer(server, an_ask(Prose()), stream=True)
    assert said in found.text
