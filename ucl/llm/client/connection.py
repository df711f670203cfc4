"""A connection to a server through the `openai` package."""

from __future__ import annotations

from ucl.llm.client.contract import Model
from ucl.llm.client.settings import Settings


def connection(settings: Settings) -> Model:
    raise NotImplementedError
