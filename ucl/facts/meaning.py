"""What one fact means: a region of options, and how it is felt about.

In: a fact and a vocabulary. Out: a `Meaning`, or `Unread` with the reason. The object and each key of the context are a
condition; all of them together are the region. These keys of a context say how the fact is meant:

- `hard`: true for what can't be (`avoids`, so that it is infeasible) or is allowed all the same (`prefers`);
- `since`, `until`: the days from which on and before which it holds; else it holds from its timestamp on.
"""

from __future__ import annotations

from collections.abc import Mapping

from ucl.facts.model import FIRST_DAY, LAST_DAY, Fact
from ucl.facts.objects import Named, Reading, Unread, read_object, read_value
from ucl.facts.regions import Condition, Region, Subject, region_within, without
from ucl.facts.vocabulary import Vocabulary
from ucl.frozen import frozen
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.semantics.zones import Zone


@frozen
class Meaning:
    """`feeling` is from -1 to 1, `measured` where the fact says how strong it is. Days count from 1970-01-01."""

    fact: Fact
    region: Region
    feeling: float
    measured: bool
    hard: bool
    since: int | None
    until: int | None
    begins: bool
    """Whether the fact itself says since when, and not only its timestamp."""

    @property
    def sign(self) -> int:
        return (self.feeling > 0) - (self.feeling < 0)


def meaning_of(fact: Fact, vocabulary: Vocabulary, zone: Zone) -> Meaning | Unread:
    """What the fact speaks of, in the zone's local days."""
    topic = fact.topic
    if topic is None:
        return Unread(f"`{fact.extracted_relation}` says what is so, and no preference")
    subject = vocabulary.subject(topic)
    if subject is None:
        close = vocabulary.near(topic)
        mend = f"; did you mean `{close}`?" if close else ""
        return Unread(f"no field of `{vocabulary.schema.name}` is known for the topic `{topic}`{mend}")
    named = read_object(fact.object, subject, vocabulary.names)
    if isinstance(named, Unread):
        return named
    if named.turned and fact.feeling < 0:
        return Unread(f"`{fact.extracted_relation}` and `{fact.object}` say twice that it is not so")
    region = _narrowed(named, fact, vocabulary)
    if isinstance(region, Unread):
        return region
    days = _days(fact, zone)
    if isinstance(days, Unread):
        return days
    hard = fact.context.get("hard", False)
    if not isinstance(hard, bool):
        return Unread("`hard` in its context is neither true nor false")
    feeling = -fact.feeling if named.turned else fact.feeling
    return Meaning(fact, region, feeling, fact.sentiment is not None, hard, *days, "since" in fact.context)


def _narrowed(named: Named, fact: Fact, vocabulary: Vocabulary) -> Region | Unread:
    """The object's conditions with those of the context."""
    region: dict[Subject, Condition] = dict(named.conditions)
    for key, value in fact.context.items():
        if key in vocabulary.ignored:
            continue
        reading = _read_key(key, value, vocabulary)
        if isinstance(reading, Unread):
            return reading
        for subject, condition in reading.conditions:
            known = region.setdefault(subject, condition)
            if region_within({subject: condition}, {subject: known}):
                region[subject] = condition
            elif not region_within({subject: known}, {subject: condition}):
                return Unread(f"its object and `{key}` in its context say different things of `{subject.name}`")
    return region


def _read_key(key: str, value: object, vocabulary: Vocabulary) -> Reading:
    subject = vocabulary.subject(key)
    if subject is None:
        close = vocabulary.near(key)
        mend = f"; did you mean `{close}`?" if close else ""
        return Unread(f"its context speaks of `{key}`, of which `{vocabulary.schema.name}` knows nothing{mend}")
    reading = read_value(value, subject, vocabulary.names)
    if isinstance(reading, Named) and reading.turned:
        return _contrary(reading)
    return reading


def _contrary(reading: Named) -> Reading:
    """In a context `not after 17:00` is simply where it is not after 17:00."""
    if len(reading.conditions) == 1:
        subject, condition = reading.conditions[0]
        others = without(condition, subject.compared)
        if others is not None:
            return Named(((subject, others),))
    return Unread("its context says what it is not, which leaves too much")


def _days(fact: Fact, zone: Zone) -> tuple[int | None, int | None] | Unread:
    """From its timestamp on, or between the days that the context names."""
    found: Mapping[str, int | None] = {key: _day(fact.context.get(key)) for key in ("since", "until")}
    for key, day in found.items():
        if day is None and fact.context.get(key) is not None:
            return Unread(f"`{key}` in its context is no date such as `2026-03-04`")
    since, until = found["since"], found["until"]
    if since is None and fact.instant is not None:
        since = zone.local(fact.instant) // DAY
    if since is not None and until is not None and since >= until:
        return Unread("it ends before it begins")
    return since, until


def _day(value: object) -> int | None:
    day = iso.read_date(value) if isinstance(value, str) else None
    return day if day is not None and FIRST_DAY <= day < LAST_DAY else None
