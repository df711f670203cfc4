"""Models that say what a test wants them to say: no server, no network, and a note of all that they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from ucl.llm.client import Answer, Ask, Message, ModelError, Path, Program, Prose, Role, Structured, Usage

USAGE = Usage(1, 100, 0, 20, Decimal("0.01"))
RULE_THOUGHT = "They want a rule.\nsign: against\nverdict: rule\nask: -"
Reply = str | ModelError


@dataclass
class Scripted:
    """Says `thoughts`, `programs` and `values` one after the other, the last one for ever. A value is JSON."""

    programs: Sequence[Reply] = ()
    thoughts: Sequence[Reply] = (RULE_THOUGHT,)
    values: Sequence[Reply] = ()
    path: Path = Path.GRAMMAR
    asks: list[Ask] = field(default_factory=list)

    async def ask(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        match ask.output:
            case Prose():
                said, path = self._next(self.thoughts, ask), Path.TEXT
            case Structured():
                said, path = self._next(self.values, ask), Path.JSON
            case Program():
                said, path = self._next(self.programs, ask), self.path
        await asyncio.sleep(0)
        if isinstance(said, ModelError):
            raise said
        value = ask.output.model.model_validate_json(said) if isinstance(ask.output, Structured) else None
        return Answer(said, path, "scripted", value, call="c1", usage=USAGE)

    def _next(self, replies: Sequence[Reply], ask: Ask) -> Reply:
        count = sum(isinstance(each.output, type(ask.output)) for each in self.asks)
        return replies[min(count, len(replies)) - 1]

    async def ask_all(self, asks: Sequence[Ask]) -> list[Answer | ModelError]:
        return [await self.ask(ask) for ask in asks]

    async def close(self) -> None:
        return None

    @property
    def ours(self) -> str:
        """Everything that it was told as instructions."""
        return "\n".join(m.text for ask in self.asks for m in ask.messages if m.role is Role.INSTRUCTIONS)

    @property
    def data(self) -> list[Message]:
        return [m for ask in self.asks for m in ask.messages if m.role is Role.DATA]


def by_statement(write: Callable[[str, int], str]) -> Scripted:
    """A model whose program depends on the statement that it is shown, and on the rounds before."""

    class Reader(Scripted):
        def _next(self, replies: Sequence[Reply], ask: Ask) -> Reply:
            if not isinstance(ask.output, Program):
                return super()._next(replies, ask)
            data = next(message.text for message in ask.messages if message.role is Role.DATA)
            return write(data.splitlines()[-1], len(ask.rounds))

    return Reader()
