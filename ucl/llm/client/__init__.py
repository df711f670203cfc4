"""Asking a model, whichever it is: the only room that knows of providers.

    contract        an `Ask`, an `Answer`, a `ModelError`; what the rest of the house knows
    settings        which model, where, and at what cost at most

    model = connect(settings_from(os.environ))
    answer = await model.ask(Ask(messages, Program(grammars, accepts)))
    while there is something wrong with answer.text:
        ask = ask.again(answer, "what the compiler says")
        answer = await model.ask(ask)

In: settings, whose key is in the environment alone, and asks. Out: answers, each with what it cost. A server is
whatever speaks the Responses or the chat API; what it can do is found out from what it answers.
"""

from __future__ import annotations

from ucl.llm.client.contract import (
    USUAL_OUTPUT,
    Answer,
    Ask,
    ErrorCode,
    Message,
    Model,
    ModelError,
    Output,
    Path,
    Program,
    Prose,
    Role,
    Round,
    Structured,
    Usage,
    total,
)
from ucl.llm.client.settings import Budget, Prices, Settings, settings_from


def connect(settings: Settings) -> Model:
    """Ready to ask; no call is made yet. Raises `ModelError` where the package or the key is missing."""
    from ucl.llm.client.connection import connection

    return connection(settings)


__all__ = [
    "USUAL_OUTPUT",
    "Answer",
    "Ask",
    "Budget",
    "ErrorCode",
    "Message",
    "Model",
    "ModelError",
    "Output",
    "Path",
    "Prices",
    "Program",
    "Prose",
    "Role",
    "Round",
    "Settings",
    "Structured",
    "Usage",
    "connect",
    "settings_from",
    "total",
]
