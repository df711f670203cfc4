"""What was said, by whom and when, as it is read: one utterance or a conversation.

In: a text, or utterances as Python or JSON has them. Out: a `Conversation` of cleaned utterances within bounds, and
notes on what was left unread. Offsets into an utterance are into its cleaned text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ucl.llm.prompts import cleaned, on_one_line
from ucl.semantics.zones import Zone

MOST_UTTERANCES = 200
MOST_CHARACTERS = 40_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# Whose words are no statements of the person: what an assistant said is not to be learnt again.
_NOT_THE_PERSON = frozenset(("assistant", "system", "tool", "bot", "agent", "ai", "model"))


@dataclass(frozen=True)
class Utterance:
    """`at` without an offset is local; None is the time of the conversation. `source_id` is the message's own."""

    text: str
    speaker: str = "user"
    at: dt.datetime | None = None
    source_id: str | None = None

    @property
    def by_person(self) -> bool:
        return self.speaker.casefold() not in _NOT_THE_PERSON


@dataclass(frozen=True)
class Heard:
    """An utterance as it was read: `text` is cleaned, `moment` the instant, `local` the wall clock at it."""

    utterance: Utterance
    text: str
    moment: dt.datetime
    local: dt.datetime


@dataclass(frozen=True)
class Conversation:
    heard: tuple[Heard, ...]
    notes: tuple[str, ...]


def utterances_of(said: str | Utterance | Iterable[Utterance | Mapping[str, Any]]) -> list[Utterance]:
    """One text, one utterance or many; of JSON's objects `text` (or `content`), `speaker` (or `role`), `at` (ISO 8601)
    and `source_id` are read. Raises `ValueError` for what says no such thing."""
    match said:
        case str():
            return [Utterance(said)]
        case Utterance():
            return [said]
        case _:
            return [each if isinstance(each, Utterance) else _from_json(each) for each in said]


def _from_json(data: Mapping[str, Any]) -> Utterance:
    text, speaker = data.get("text", data.get("content")), data.get("speaker", data.get("role", "user"))
    at, source = data.get("at", data.get("timestamp")), data.get("source_id", data.get("id"))
    if not isinstance(text, str) or not isinstance(speaker, str):
        raise ValueError("an utterance has a `text`, and a `speaker` where it is not the user's")
    if isinstance(at, str):
        at = dt.datetime.fromisoformat(at)
    if at is not None and not isinstance(at, dt.datetime):
        raise ValueError("the `at` of an utterance is a time in ISO 8601")
    return Utterance(text, speaker, at, None if source is None else str(source))


def heard(utterances: Sequence[Utterance], zone: Zone, now: dt.datetime) -> Conversation:
    """As many as are read, in order. `now` stands in for a time that is not known."""
    found: list[Heard] = []
    notes: list[str] = []
    room = MOST_CHARACTERS
    for number, utterance in enumerate(utterances, 1):
        if number > MOST_UTTERANCES or room <= 0:
            notes.append(f"of {len(utterances):,} utterances the first {number - 1:,} were read")
            break
        read = cleaned(utterance.text, what=f"utterance {number}")
        room -= len(read.text)
        notes += read.notes
        moment, local = moment_of(utterance.at or now, zone)
        found.append(Heard(utterance, read.text, moment, local))
    return Conversation(tuple(found), tuple(notes))


def shown(conversation: Conversation) -> list[dict[str, object]]:
    """As a prompt shows them, numbered from 1."""
    return [
        {
            "utterance": number,
            "speaker": on_one_line(cleaned(each.utterance.speaker, 60).text, 60),
            "at": each.local.strftime("%Y-%m-%d %H:%M, %A"),
            "text": each.text,
        }
        for number, each in enumerate(conversation.heard, 1)
    ]


def moment_of(at: dt.datetime, zone: Zone) -> tuple[dt.datetime, dt.datetime]:
    """The instant in UTC, and the same on the zone's clock."""
    if at.tzinfo is None:
        local = (at - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
        at = _EPOCH + dt.timedelta(microseconds=zone.instant(local).instant)
    at = at.astimezone(dt.UTC)
    offset = zone.offset((at - _EPOCH) // dt.timedelta(microseconds=1))
    return at, at.astimezone(dt.timezone(dt.timedelta(microseconds=offset)))
