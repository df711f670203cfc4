"""The form in which a model gives facts, and what of it is believed.

In: an answer of this form. Out: nothing yet: `facts` holds each part against the conversation before it is a fact.
Fields are as loose as a server's schema has to be (no bounds, no defaults); what is too much of anything is refused
one by one, not with the whole.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Kind(StrEnum):
    PREFERENCE = "preference"
    EVENT = "event"
    VAGUE = "vague"
    OTHER = "other"


class FactForm(BaseModel):
    """One fact, as a model says it."""

    model_config = ConfigDict(extra="forbid")

    utterance: int
    quote: str
    kind: Kind
    relation: str
    object: str
    sentiment: float
    when: str | None
    ask: str | None


class FactsForm(BaseModel):
    """Everything that a model takes from a conversation."""

    model_config = ConfigDict(extra="forbid")

    facts: list[FactForm]
