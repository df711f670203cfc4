"""What the rest of the house knows of a model: an `Ask` goes in, an `Answer` comes out, or one `ModelError`.

In: messages, each of them either ours or data, and what is to come out of them. Out: a text or a value, the path on
which it came, and what it cost. Nothing here knows of a provider, of HTTP or of a package.

Which path a server can go is not the caller's concern: whatever the path, a `Program` comes out as UCL's text, to be
compiled, and `Structured` as a value that its model accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING, Protocol

from ucl.llm.grammar import Target

if TYPE_CHECKING:
    from pydantic import BaseModel

# Of one answer, in tokens, those of thinking included.
USUAL_OUTPUT = 4000


class Role(StrEnum):
    """Whose words a message has. Only `INSTRUCTIONS` are ours; `DATA` is what a person, a mail or a page says."""

    INSTRUCTIONS = "instructions"
    DATA = "data"
    MODEL = "model"


@dataclass(frozen=True)
class Message:
    role: Role
    text: str


# --- what is to come out --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """Declarations of UCL.

    `grammars` holds the typed sub-grammar as each engine reads it; a target that is left out is a path not taken.
    `accepts` says whether the compiler takes a text. Every sentence of the grammar compiles, so a text that doesn't
    shows that a server ignored the grammar. `name` (letters, digits, `_`) and `description` are the tool's.
    """

    grammars: Mapping[Target, str]
    accepts: Callable[[str], bool]
    name: str = "write_ucl"
    description: str = "Writes declarations of UCL, a small typed language for what a person wants."


@dataclass(frozen=True)
class Structured:
    """A value of a pydantic model, whose JSON schema the server is held to where it can be."""

    model: type[BaseModel]


@dataclass(frozen=True)
class Prose:
    """Free text, such as what a model thinks before it writes."""


Output = Program | Structured | Prose


@dataclass(frozen=True)
class Round:
    """What the model wrote, and what it was told of it."""

    answer: Answer
    diagnostics: str


@dataclass(frozen=True)
class Ask:
    """`messages` in the order in which they are sent: what stays the same from ask to ask first, since servers keep
    beginnings of prompts. `rounds` are those of this conversation so far."""

    messages: tuple[Message, ...]
    output: Output
    rounds: tuple[Round, ...] = ()
    most_output: int = USUAL_OUTPUT

    def again(self, answer: Answer, diagnostics: str) -> Ask:
        """The next round: the same, with what came out of it and what is wrong with that."""
        return replace(self, rounds=(*self.rounds, Round(answer, diagnostics)))


# --- what came out --------------------------------------------------------------------------------------------------


class Path(StrEnum):
    """How an answer was held to its form: by a grammar, by a JSON schema, or by nothing."""

    GRAMMAR = "grammar"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True)
class Usage:
    """Of one call or of many: `calls` that were answered, tokens and money; None where somebody didn't say.

    `cached` tokens are among the `input`. `money` is in the currency of the settings' prices.
    """

    calls: int = 0
    input: int | None = 0
    cached: int | None = 0
    output: int | None = 0
    money: Decimal | None = Decimal(0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            None if self.input is None or other.input is None else self.input + other.input,
            None if self.cached is None or other.cached is None else self.cached + other.cached,
            None if self.output is None or other.output is None else self.output + other.output,
            None if self.money is None or other.money is None else self.money + other.money,
        )


def total(usages: Iterable[Usage]) -> Usage:
    return reduce(Usage.__add__, usages, Usage())


@dataclass(frozen=True)
class Answer:
    """`text` is what was asked for: UCL, JSON or prose. It may be wrong UCL; that is for the compiler to say.

    `value` is there for `Structured`. `complete` is false where the text was cut off at the most output, twice.
    `problem` says in a sentence why there is no text of UCL (JSON of another form), to be sent back as diagnostics.
    `raw` is what the model sent, `call` the id under which a server knows it, `usage` all that the ask took, tries
    that came to nothing included. `model` is what the server says that answered, `recorded` where the answer was
    recorded if it was no model's.
    """

    text: str
    path: Path
    model: str
    value: BaseModel | None = None
    complete: bool = True
    problem: str | None = None
    raw: str = ""
    call: str | None = None
    usage: Usage = field(default_factory=Usage)
    recorded: str | None = None


class ErrorCode(StrEnum):
    """Why there is no answer; stable words."""

    NOT_INSTALLED = "not-installed"
    BAD_SETTINGS = "bad-settings"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    DENIED = "denied"
    UNKNOWN_MODEL = "unknown-model"
    RATE_LIMITED = "rate-limited"
    SERVER_FAILED = "server-failed"
    REQUEST_REFUSED = "request-refused"
    REFUSED = "refused"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    TOO_LONG = "too-long"
    UNREADABLE = "unreadable"
    OVER_BUDGET = "over-budget"


class ModelError(Exception):
    """No answer: one sentence why, and what to do. Holds no key, and no other error. `usage` was spent all the same."""

    def __init__(self, code: ErrorCode, message: str, help: str | None = None, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
        self.usage = usage if usage is not None else Usage()


class Model(Protocol):
    """Whatever can be asked: a connection to a server, or a stand-in of a test."""

    async def ask(self, ask: Ask) -> Answer:
        """Raises `ModelError`, and nothing else. Many asks may be under way at once."""
        ...

    async def ask_all(self, asks: Sequence[Ask]) -> list[Answer | ModelError]:
        """All of them at once, as far as the settings let; the answers in the order of the asks."""
        ...

    async def close(self) -> None: ...
