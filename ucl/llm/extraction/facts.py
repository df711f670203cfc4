"""From what a model says it found to facts that hold: each part is held against the conversation.

In: a model's answer in form, and the conversation. Out: facts with the span of the words that say them and the days
that they are about; questions, where a statement leaves open how much, when or who; and what was refused, and why.
Nothing is a fact whose words nobody said, or only an assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import ValidationError

from ucl.facts import Fact
from ucl.frozen import frozen
from ucl.llm.client import Path, Usage
from ucl.llm.extraction.conversation import Conversation, Heard
from ucl.llm.extraction.dates import SaidDays, said_days
from ucl.llm.extraction.form import FactForm, FactsForm, Kind
from ucl.llm.extraction.numbers import names_part_of_day, said_numbers
from ucl.llm.extraction.spans import find_quote
from ucl.llm.extraction.vague import open_words
from ucl.llm.prompts import cleaned, identifier, on_one_line
from ucl.semantics.values.iso import WEEKDAYS

MOST_FACTS = 100
_RELATION = re.compile(r"(?:prefers|avoids|has)_[a-z][a-z0-9_]{0,59}")
_OTHER_RELATION = re.compile(r"[a-z][a-z0-9_]{0,79}")
_LONGEST_OBJECT = 300
_LONGEST_QUESTION = 300
_CLOCKS = re.compile(r"(\d{1,2}):(\d\d)")


@dataclass(frozen=True)
class Extracted:
    """A fact and the words that say it: `text[start:end]` of utterance number `utterance` (from 0). `once` is whether
    it happens once, so that no rule follows from it."""

    fact: Fact
    utterance: int
    start: int
    end: int
    quote: str
    once: bool


@frozen
class Unclear:
    """A statement that leaves something open, and the question to ask the person."""

    utterance: int
    start: int
    end: int
    quote: str
    question: str


@frozen
class Refused:
    """Something that a model said and nobody else did."""

    quote: str
    why: str


@dataclass(frozen=True)
class Extraction:
    """`facts` in the order of what was said. `notes` say what was left unread."""

    facts: tuple[Extracted, ...] = ()
    questions: tuple[Unclear, ...] = ()
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    path: Path | None = None


def facts_of(form: FactsForm, conversation: Conversation, source_type: str) -> Extraction:
    """What holds of an answer."""
    facts: list[Extracted] = []
    questions: list[Unclear] = []
    refused: list[Refused] = []
    for said in form.facts[:MOST_FACTS]:
        match _read(said, conversation, source_type):
            case Extracted() as fact:
                facts.append(fact)
            case Unclear() as question:
                questions.append(question)
            case Refused() as why:
                refused.append(why)
    if len(form.facts) > MOST_FACTS:
        refused.append(Refused("", f"there were {len(form.facts):,} facts, of which the first {MOST_FACTS} were read"))
    facts.sort(key=lambda fact: (fact.utterance, fact.start))
    return Extraction(tuple(_once_each(facts)), tuple(questions), tuple(refused), conversation.notes)


def _once_each(facts: Iterable[Extracted]) -> list[Extracted]:
    """What is said twice in the same words is one fact."""
    found: dict[tuple[object, ...], Extracted] = {}
    for each in facts:
        key = (each.utterance, each.fact.extracted_relation, each.fact.object.casefold())
        found.setdefault(key, each)
    return list(found.values())


def _read(said: FactForm, conversation: Conversation, source_type: str) -> Extracted | Unclear | Refused:
    place = _place(said, conversation)
    if isinstance(place, Refused):
        return place
    number, start, end = place
    heard = conversation.heard[number]
    quote = heard.text[start:end]
    question = on_one_line(cleaned(said.ask or "").text, _LONGEST_QUESTION)
    if said.kind is Kind.VAGUE:
        return Unclear(number, start, end, quote, question or _open_question(quote))
    if said.kind is Kind.PREFERENCE:
        left_open = open_words(heard.text)
        made_up = _made_up(said.object, heard.text)
        if left_open is not None and left_open in quote:
            return Unclear(number, start, end, quote, question or _open_question(left_open))
        if made_up is not None:
            asked = f'"{on_one_line(quote)}": nobody said `{made_up}`; what is meant?'
            return Unclear(number, start, end, quote, question or asked)
    fact = _fact(said, heard, start, end, source_type)
    if isinstance(fact, Refused):
        return fact
    return Extracted(fact, number, start, end, quote, once=said.kind is not Kind.PREFERENCE)


def _open_question(words: str) -> str:
    return f'how much, when or who is meant by "{on_one_line(words)}"?'


def _place(said: FactForm, conversation: Conversation) -> tuple[int, int, int] | Refused:
    """Where the words stand: in the utterance that is named, else in any other of the person's."""
    shown = on_one_line(said.quote, 200)
    named = said.utterance - 1
    order = sorted(range(len(conversation.heard)), key=lambda number: number != named)
    by_another = False
    for number in order:
        span = find_quote(said.quote, conversation.heard[number].text)
        if span is not None and conversation.heard[number].utterance.by_person:
            return number, *span
        by_another = by_another or span is not None
    return Refused(shown, "only the assistant said it" if by_another else "nobody said these words")


def _fact(said: FactForm, heard: Heard, start: int, end: int, source_type: str) -> Fact | Refused:
    """Checked by the form of all facts. The days are worked out here, from the words and the time of the utterance."""
    relation, wanted = said.relation.strip().casefold().replace(" ", "_"), on_one_line(cleaned(said.object).text, 1000)
    pattern = _OTHER_RELATION if said.kind is Kind.OTHER else _RELATION
    quote = on_one_line(heard.text[start:end], 1000)
    if pattern.fullmatch(relation) is None or not wanted or len(wanted) > _LONGEST_OBJECT:
        return Refused(quote, "the fact has no form that a fact can have")
    preferred = said.kind is Kind.PREFERENCE and not relation.startswith("has_")
    if said.kind is Kind.PREFERENCE and not preferred:
        return Refused(quote, "a preference is one that prefers or avoids")
    context: dict[str, object] = {"utterance": quote, "span": [start, end]}
    days = _days(said, heard, start, end) if not preferred else None
    if days is not None:
        context |= {"since": days.first.isoformat(), "until": days.until.isoformat()}
    sign = -1.0 if relation.startswith("avoids_") else 1.0
    given = {
        "source_type": source_type,
        "source_id": identifier(heard.utterance.source_id),
        "extracted_relation": relation,
        "subject": "user",
        "object": wanted,
        "sentiment": sign * min(abs(said.sentiment), 1.0) if preferred else None,
        "context": context,
        "timestamp": heard.moment,
    }
    try:
        return Fact.model_validate(given)
    except ValidationError:
        return Refused(quote, "the fact has no form that a fact can have")


def _days(said: FactForm, heard: Heard, start: int, end: int) -> SaidDays | None:
    """Those in the words that the model points at, if they were said; else in the quotation, else the only ones."""
    every = said_days(heard.text, heard.local.date())
    if said.when:
        span = find_quote(said.when, heard.text)
        inside = [] if span is None else [days for days in every if days.start < span[1] and span[0] < days.end]
        if inside:
            return inside[0]
    quoted = [days for days in every if start <= days.start < end]
    return quoted[0] if quoted else every[0] if len(every) == 1 else None


def _made_up(wanted: str, text: str) -> str | None:
    """A time of day in an object that the utterance does not say, by a number or a part of the day."""
    if names_part_of_day(text) or any(day in wanted for day in WEEKDAYS):
        return None
    numbers = said_numbers(text)
    for clock in _CLOCKS.finditer(wanted):
        hour = int(clock[1])
        if hour not in (0, 24) and numbers.isdisjoint({hour, hour - 12, hour + 12, hour + 1, hour - 11}):
            return clock[0]
    return None
