"""Letting a model write UCL so that it can't write it wrong.

    found = ucl.llm.extract("I have a dentist appointment Tuesday; and no meetings after ten, please.")
    draft = ucl.llm.write("I'd rather not have meetings right after lunch", "meetings.ucl", "Meeting")

    grammar/        what may be written: the typed sub-grammar
    client/         whom to ask, whichever it is
    prompts/        what is asked
    extraction/     from what was said to facts
    writing/        from a statement to a draft
    drafts/         what a draft does to the program that it is added to
    doors.py        the functions below

`write` and `extract` wait; `write_async` and `extract_async` are for an event loop; `write_all` and
`extract_conversations` take many at once. Each name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucl.llm.client import Budget as Budget
    from ucl.llm.client import ErrorCode as ErrorCode
    from ucl.llm.client import Model as Model
    from ucl.llm.client import ModelError as ModelError
    from ucl.llm.client import Prices as Prices
    from ucl.llm.client import Settings as Settings
    from ucl.llm.client import Usage as Usage
    from ucl.llm.client import connect as connect
    from ucl.llm.doors import extract as extract
    from ucl.llm.doors import extract_all_async as extract_all_async
    from ucl.llm.doors import extract_async as extract_async
    from ucl.llm.doors import extract_conversations as extract_conversations
    from ucl.llm.doors import write as write
    from ucl.llm.doors import write_all as write_all
    from ucl.llm.doors import write_all_async as write_all_async
    from ucl.llm.doors import write_async as write_async
    from ucl.llm.drafts import Doubt as Doubt
    from ucl.llm.drafts import Draft as Draft
    from ucl.llm.drafts import Evidence as Evidence
    from ucl.llm.drafts import FactOnly as FactOnly
    from ucl.llm.drafts import Failure as Failure
    from ucl.llm.drafts import Question as Question
    from ucl.llm.drafts import Result as Result
    from ucl.llm.extraction import Extraction as Extraction
    from ucl.llm.extraction import Utterance as Utterance
    from ucl.llm.writing import Statement as Statement

_HOMES = {
    "ucl.llm.client": (
        "Budget",
        "ErrorCode",
        "Model",
        "ModelError",
        "Prices",
        "Settings",
        "Usage",
        "connect",
    ),
    "ucl.llm.doors": (
        "extract",
        "extract_all_async",
        "extract_async",
        "extract_conversations",
        "write",
        "write_all",
        "write_all_async",
        "write_async",
    ),
    "ucl.llm.drafts": ("Doubt", "Draft", "Evidence", "FactOnly", "Failure", "Question", "Result"),
    "ucl.llm.extraction": ("Extraction", "Utterance"),
    "ucl.llm.writing": ("Statement",),
}
_BY_NAME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_BY_NAME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _BY_NAME:
        raise AttributeError(f"module 'ucl.llm' has no attribute {name!r}")
    return getattr(import_module(_BY_NAME[name]), name)
