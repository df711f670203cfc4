"""One thing that a person said, as it is to become a rule: the words, where and when they were said, what they mean.

In: a text, a fact, or what `extract` found. Out: a `Statement`, and the `Origin` that its declarations carry.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import get_args

from ucl.facts import Fact
from ucl.facts.model import SourceType
from ucl.llm.extraction import Extracted
from ucl.llm.extraction.conversation import moment_of
from ucl.llm.extraction.dates import said_days
from ucl.llm.prompts import cleaned, identifier, on_one_line
from ucl.llm.writing.admit import Origin
from ucl.semantics.zones import Zone

_NAME = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Statement:
    """`source_type` is a word such as `chat`, `email`, `manual`; with a `source_id` the declarations say that they come
    from there. `at` is when it was said; without an offset it is local to the program. `facts` are what it means, where
    that is known."""

    text: str
    source_type: str = "chat"
    source_id: str | None = None
    at: dt.datetime | None = None
    facts: tuple[Fact, ...] = ()


Said = str | Statement | Fact | Extracted
"""What `write` takes for a statement."""


def statement_of(said: Said) -> Statement:
    match said:
        case str():
            return Statement(said)
        case Statement():
            return said
        case Fact():
            return Statement(said.sentence, said.source_type, said.source_id, said.timestamp, (said,))
        case Extracted(fact=fact, quote=quote):
            return Statement(quote, fact.source_type, fact.source_id, fact.timestamp, (fact,))
        case _:
            raise TypeError(f"a statement is a text, a `Statement` or a `Fact`, not `{said!r:.60}`")


@dataclass(frozen=True)
class Read:
    """A statement as it was read: `text` is what a model is shown, `moment` the instant of the utterance."""

    statement: Statement
    text: str
    notes: tuple[str, ...]
    moment: dt.datetime
    local: dt.datetime

    @property
    def as_data(self) -> dict[str, str | float]:
        """As a prompt shows it: the words, when they were said, and what is known of what they mean."""
        shown: dict[str, str | float] = {"said": self.text, "at": self.local.strftime("%Y-%m-%d %H:%M, %A")}
        for fact in self.statement.facts[:1]:
            means = f"{fact.extracted_relation}: {fact.object}"
            shown |= {"means": on_one_line(cleaned(means).text), "sentiment": fact.feeling}
        return shown

    @property
    def origin(self) -> Origin:
        """A fact without its words has none to give as a reason."""
        facts, given = self.statement.facts, self.statement
        wordless = bool(facts) and all(fact.utterance is None for fact in facts) and given.text == facts[0].sentence
        kind = given.source_type if _NAME.fullmatch(given.source_type) else None
        at = None if given.at is None else self.local.date().isoformat()
        return Origin(None if wordless else on_one_line(self.text), kind, identifier(given.source_id), at)

    def as_fact(self) -> Fact:
        """Something that happens once, with the days on which it does."""
        days, kind = said_days(self.text, self.local.date()), self.statement.source_type
        context: dict[str, str] = {"utterance": self.text[:1000]}
        if days:
            context |= {"since": days[0].first.isoformat(), "until": days[0].until.isoformat()}
        return Fact.model_validate(
            {
                "source_type": kind if kind in get_args(SourceType) else "manual",
                "source_id": identifier(self.statement.source_id),
                "extracted_relation": "has_event",
                "subject": "user",
                "object": on_one_line(self.text, 900) or "?",
                "context": context,
                "timestamp": self.moment,
            }
        )


def read_statement(statement: Statement, zone: Zone, now: dt.datetime) -> Read:
    """`now` stands in for the time of the utterance where that is not known."""
    found = cleaned(statement.text)
    moment, local = moment_of(statement.at or now, zone)
    return Read(statement, found.text, found.notes, moment, local)
