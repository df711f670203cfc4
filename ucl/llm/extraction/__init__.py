"""From a sentence or a conversation to atomic facts, each with the words that say it, and questions.

    conversation   who said what and when, cleaned and within bounds
    form           how a model says what it found
    spans          where its quotations stand, if they do
    dates          on which days something is said to be
    numbers        which numbers and parts of the day are said
    vague          whether a sentence says too little, or something that happens once
    facts          what of a model's answer holds

In: what was said, a model. Out: an `Extraction`, or the `ModelError` of a model that gave no answer.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ucl.llm.client import Ask, Model, ModelError, Structured
from ucl.llm.extraction.conversation import Utterance, heard, shown, utterances_of
from ucl.llm.extraction.facts import Extracted, Extraction, Refused, Unclear, facts_of
from ucl.llm.extraction.form import FactsForm
from ucl.llm.prompts import extracting
from ucl.semantics.zones import UTC, Zone

__all__ = ["Extracted", "Extraction", "Refused", "Said", "Unclear", "Utterance", "extract", "extract_all"]

Said = str | Utterance | Iterable[Utterance | Mapping[str, Any]]
"""A sentence, an utterance, or a conversation."""

_TOPICS = ("meeting_time", "meeting_day", "meeting_duration", "meeting_with_person")


async def extract(
    said: Said,
    model: Model,
    topics: Sequence[str] = _TOPICS,
    now: dt.datetime | None = None,
    zone: Zone = UTC,
    source_type: str = "chat",
) -> Extraction:
    """The facts in what was said. `topics` are words that relations shall use; `now` stands in for unknown times.

    Raises `ModelError` where there is no answer, `ValueError` where what was said has no form of a conversation.
    """
    conversation = heard(utterances_of(said), zone, now or dt.datetime.now(dt.UTC))
    if not any(each.text and each.utterance.by_person for each in conversation.heard):
        return Extraction(notes=(*conversation.notes, "nothing was said"))
    answer = await model.ask(Ask(extracting(topics, shown(conversation)), Structured(FactsForm)))
    assert isinstance(answer.value, FactsForm)
    found = facts_of(answer.value, conversation, source_type)
    notes = found.notes if answer.complete else (*found.notes, "the model's answer was cut off: facts may be missing")
    return replace(found, notes=notes, usage=answer.usage, path=answer.path)


async def extract_all(
    conversations: Sequence[Said],
    model: Model,
    topics: Sequence[str] = _TOPICS,
    now: dt.datetime | None = None,
    zone: Zone = UTC,
    source_type: str = "chat",
) -> list[Extraction | ModelError]:
    """Many at once, as far as the model's settings let; one that gets no answer takes none of the others with it."""
    import asyncio

    async def one(said: Said) -> Extraction | ModelError:
        try:
            return await extract(said, model, topics, now, zone, source_type)
        except ModelError as error:
            return error

    return list(await asyncio.gather(*map(one, conversations)))
