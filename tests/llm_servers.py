"""What tests of the model's client share: a program to add to, servers to ask, a clock that needs no time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typed_programs import MEETINGS
from typed_walks import errors_in, grammar_text

from ucl.llm.client import Answer, Ask, Message, Model, ModelError, Output, Program, Role, Settings
from ucl.llm.client.capabilities import forget
from ucl.llm.client.connection import Surroundings, connection
from ucl.llm.grammar import Target
from ucl.llm.loopback import Loopback

KEY = "sk-test-0123456789-secret"
RULE = 'rule no_late on Meeting {\n  when start.time in 22:00..06:00\n  score -0.5\n  because "no late calls"\n}\n'
RULE_AS_JSON = (
    '{"declarations": [{"rule": "no_late", "on": "Meeting", "overrides": [], "when": {"test": {"name": "start.time"},'
    ' "in": {"from": {"literal": "22:00"}, "to": {"literal": "06:00"}, "inclusive": false}, "negated": false},'
    ' "unless": [], "score": {"number": -0.5}, "except": [], "because": "no late calls", "from": [],'
    ' "confidence": null, "priority": null, "valid": null, "status": null}]}'
)
INSTRUCTIONS = Message(Role.INSTRUCTIONS, "Write rules in UCL. " + "These are the fields of a meeting. " * 60)
SAID = Message(Role.DATA, "No calls late at night, please.")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is known of any server, and the key is ours."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "UCL_MODEL", "UCL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UCL_API_KEY", KEY)
    monkeypatch.setenv("UCL_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    yield
    forget()


@cache
def grammars() -> dict[Target, str]:
    return {target: grammar_text(MEETINGS, "Meeting", target) for target in Target}


def accepts(text: str) -> bool:
    return bool(text.strip()) and errors_in(MEETINGS, text) == []


def program() -> Program:
    return Program(grammars(), accepts)


def an_ask(output: Output | None = None, **rest: Any) -> Ask:
    return Ask((INSTRUCTIONS, SAID), program() if output is None else output, **rest)


@dataclass
class Clock:
    """Time passes only by sleeping; `slept` are the waits."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def surroundings(self) -> Surroundings:
        return Surroundings(lambda: self.now, self.sleep, lambda: 1.0)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def model(server: Loopback, clock: Clock | None = None, **settings: Any) -> Model:
    return connection(Settings("any", server.url, **settings), (clock or Clock()).surroundings())


def ask(server: Loopback, *asks: Ask, clock: Clock | None = None, **settings: Any) -> list[Answer | ModelError]:
    """One after the other over one connection."""

    async def run() -> list[Answer | ModelError]:
        asked = model(server, clock, **settings)
        found = [(await asked.ask_all([one]))[0] for one in asks]
        await asked.close()
        return found

    return asyncio.run(run())


def answer(server: Loopback, one: Ask, clock: Clock | None = None, **settings: Any) -> Answer:
    (found,) = ask(server, one, clock=clock, **settings)
    assert isinstance(found, Answer), found
    return found


def error(server: Loopback, one: Ask, clock: Clock | None = None, **settings: Any) -> ModelError:
    (found,) = ask(server, one, clock=clock, **settings)
    assert isinstance(found, ModelError), found
    return found


def paths(server: Loopback) -> list[str]:
    return [received.path.removeprefix("/v1/") for received in server.received]
