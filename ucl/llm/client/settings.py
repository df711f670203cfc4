"""Which model to ask, where, and at what cost at most.

In: what a door was told, and the environment. Out: `Settings`, which hold no key: that is read from the environment
when a connection is made, and is sent to the server that it is meant for alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ucl.llm.client.contract import ErrorCode, ModelError, Path

MODEL_VARIABLE = "UCL_MODEL"
BASE_URL_VARIABLE = "UCL_BASE_URL"
# The key for a server that was named in UCL's own settings; OpenAI's key goes to where OpenAI's settings say.
KEY_VARIABLE = "UCL_API_KEY"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI_BASE_URL_VARIABLE = "OPENAI_BASE_URL"


@dataclass(frozen=True)
class Prices:
    """For a million tokens, in one currency. `cached` is for input that the server had kept; None means as `input`."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None


@dataclass(frozen=True)
class Budget:
    """What a connection may use in all; None is without limit. `money` is kept where `prices` are known.

    It is kept before each call: what the call could cost at most has to be left.
    """

    calls: int | None = None
    tokens: int | None = None
    money: Decimal | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Settings:
    """`timeout` is for one call, in seconds. `retries` are those after what may pass (429, 5xx, cut streams).

    `path` holds programs to one path where a caller wants to; else the best that the server can go is found out.
    """

    model: str
    base_url: str | None = None
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 8
    budget: Budget = field(default_factory=Budget)
    prices: Prices | None = None
    path: Path | None = None
    stream: bool = False
    temperature: float | None = None
    largest_answer: int = 1_000_000

    def __post_init__(self) -> None:
        if self.budget.money is not None and self.prices is None:
            raise ModelError(
                ErrorCode.BAD_SETTINGS, "a budget of money can't be kept without prices", "give the prices of the model"
            )


def settings_from(environment: Mapping[str, str], model: str | None = None, base_url: str | None = None) -> Settings:
    """What a door was told, else `UCL_MODEL` and `UCL_BASE_URL`. Raises `ModelError` where no model is named."""
    chosen = model or environment.get(MODEL_VARIABLE)
    if not chosen:
        raise ModelError(
            ErrorCode.BAD_SETTINGS,
            "no model is named",
            f"name one with `--model` or in `{MODEL_VARIABLE}`, and its server in `{BASE_URL_VARIABLE}`",
        )
    return Settings(chosen, base_url or environment.get(BASE_URL_VARIABLE) or None)
