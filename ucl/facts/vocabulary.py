"""Which field a topic is about: `meeting_time` is `start`. Built in for meetings, from a small file for other schemas.

In: a schema, the context's fields, and perhaps a file in TOML or JSON. Out: a `Vocabulary`. Such a file holds

    [topics]                        # topics of relations (`prefers_TOPIC`) and keys of contexts: what each is about
    dining_time = "visit"           # a field; of a datetime, objects name times, days, or both
    party_size = "size(guests)"     # how many a set holds
    dish_name = "contains(title)"   # words in a text

    [names]                         # other words for values
    "the boss" = "wang@corp.example"

    ignore = ["channel"]            # keys of contexts that narrow nothing (above the tables, in TOML)
    scale = 1.0                     # what a sentiment of 1 adds to a score; 0 where only signs are to be tested

Every field is a topic under its own name too, and so is the schema's name with it (`restaurant_price`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ucl.diagnostics import Report, Source, Span, diagnostic
from ucl.facts.regions import Part, Subject
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.program import Field, Schema
from ucl.semantics.suggest import nearest
from ucl.semantics.values import nfc

LARGEST_FILE = 1 << 20

IGNORED = frozenset(("utterance", "span", "language", "speaker", "confidence", "note", "hard", "since", "until"))
"""Keys of a context that say something of the fact, and do not narrow what it speaks of."""

_MEETING_TOPICS = {
    "meeting_time": "start",
    "meeting_day": "start",
    "meeting_date": "start",
    "meeting_weekday": "start",
    "meeting_duration": "duration",
    "meeting_length": "duration",
    "meeting_with_person": "attendees",
    "meeting_person": "attendees",
    "meeting_size": "size(attendees)",
    "meeting_attendees": "size(attendees)",
    "meeting_kind": "kind",
    "meeting_type": "kind",
    "meeting_title": "contains(title)",
    "meeting_topic": "contains(title)",
    "meeting_place": "place",
    "meeting_location": "place",
    "meeting_remote": "remote",
    "meeting_priority": "priority",
    "meeting_organizer": "organizer",
    "with_person": "attendees",
    "time": "start",
    "day": "start",
    "date": "start",
    "weekday": "start",
    "size": "size(attendees)",
}
_MEETING_NAMES = {
    "站会": "standup",
    "评审": "review",
    "复盘会": "review",
    "一对一": "one_on_one",
    "1:1": "one_on_one",
    "1-on-1": "one_on_one",
    "外部": "external",
    "外部会议": "external",
    "其他": "other",
}
_WRITTEN = re.compile(r"(?P<function>size|contains)\((?P<inner>[^()]+)\)|(?P<path>[^()]+)")


@frozen
class Vocabulary:
    """`topics` are names of relations and of keys in contexts; `scale` is what a sentiment of 1 adds to a score."""

    schema: Schema
    topics: Mapping[str, Subject]
    names: Mapping[str, str]
    ignored: frozenset[str]
    scale: float
    shared: frozenset[str]
    """Names of fields that the option and the context both have."""

    def subject(self, topic: str) -> Subject | None:
        return self.topics.get(topic)

    def near(self, topic: str) -> str | None:
        """The topic that may have been meant."""
        return nearest(topic, self.topics)


def vocabulary(
    schema: Schema, context: Sequence[Field] = (), file: Path | None = None, report: Report | None = None
) -> Vocabulary:
    """What is built in for the schema, with what the file adds. Raises `OSError` where it can't be opened."""
    topics = dict(_own_names(schema, context))
    names: dict[str, str] = {}
    if (schema.module, schema.name) == ("std.scheduling", "Meeting"):
        names |= _MEETING_NAMES
        for topic, written in _MEETING_TOPICS.items():
            subject = subject_of(written, schema, context)
            assert subject is not None
            topics[topic] = subject
    shared = frozenset({field.name for field in schema.fields} & {field.name for field in context})
    known = Vocabulary(schema, topics, names, IGNORED, 1.0, shared)
    return known if file is None else _Reader(file, report or Report()).add(known, context)


def _own_names(schema: Schema, context: Sequence[Field]) -> Iterator[tuple[str, Subject]]:
    for field in context:
        if (subject := subject_of(f"context.{field.name}", schema, context)) is not None:
            yield field.name, subject
            yield f"context.{field.name}", subject
    for field in schema.fields:
        if (subject := subject_of(field.name, schema, context)) is not None:
            yield field.name, subject
            yield f"{schema.name.casefold()}_{field.name}", subject


def subject_of(written: str, schema: Schema, context: Sequence[Field]) -> Subject | None:
    """Of `start`, `start.time`, `size(attendees)`, `contains(title)`, `context.energy`; None where there is no such."""
    found = _WRITTEN.fullmatch(written.strip())
    if found is None:
        return None
    names = [nfc(name.strip()) for name in (found["inner"] or found["path"]).split(".")]
    place = names[0] if names[0] in ("option", "context") and len(names) > 1 else None
    names = names[1:] if place else names
    for where, fields in (("option", schema.fields), ("context", context)):
        if place in (None, where) and (subject := _walk(names, fields)) is not None:
            path, part, type, optional = subject
            if found["function"]:
                part = "size" if found["function"] == "size" else "words"
            if _fits(part, type):
                return Subject("context" if where == "context" else "option", path, part, type, optional)
    return None


def _walk(names: Sequence[str], fields: Sequence[Field]) -> tuple[tuple[str, ...], Part, t.Type, bool] | None:
    """Along a path; the last name may be a part of a datetime."""
    parts: dict[str, Part] = {"time": "time", "weekday": "weekday", "date": "date"}
    optional = False
    for at, name in enumerate(names):
        field = next((each for each in fields if each.name == name), None)
        if field is None:
            return None
        type, rest = t.present(field.type), names[at + 1 :]
        optional = optional or isinstance(field.type, t.Optional)
        if not rest:
            return tuple(names), "", type, optional
        if isinstance(type, t.DateTime) and len(rest) == 1 and rest[0] in parts:
            return tuple(names[: at + 1]), parts[rest[0]], type, optional
        if not isinstance(type, t.Record) or optional:
            return None
        fields = type.schema.fields
    return None


def _fits(part: Part, type: t.Type) -> bool:
    if part == "size":
        return isinstance(type, t.Set)
    if part == "words":
        return isinstance(type, t.Text)
    return not isinstance(type, t.Record | t.List)


# --- files ----------------------------------------------------------------------------------------------------------

_KEYS = ("topics", "names", "ignore", "scale")


class _Reader:
    """Adds what a file says; what is wrong in it is reported, and the rest counts."""

    def __init__(self, file: Path, report: Report) -> None:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_FILE + 1)
        self._report = report
        self._source = Source(str(file), data.decode("utf-8", "replace"))
        self._data: Mapping[str, Any] = {}
        if len(data) > LARGEST_FILE:
            self._complain("too-large", f"a vocabulary has at most {LARGEST_FILE >> 20} MiB", "")
            return
        try:
            read = json.loads(self._source.text) if file.suffix == ".json" else tomllib.loads(self._source.text)
        except (ValueError, RecursionError) as problem:
            kind = "JSON" if file.suffix == ".json" else "TOML"
            self._complain("syntax", f"the vocabulary is not {kind}: {str(problem).lower()}", "")
            return
        if isinstance(read, dict):
            self._data = read
        else:
            self._complain("syntax", "a vocabulary is an object", "")

    def add(self, known: Vocabulary, context: Sequence[Field]) -> Vocabulary:
        for key in self._data:
            if key not in _KEYS:
                close = nearest(key, _KEYS)
                mend = f"did you mean `{close}`?" if close else f"it may have {', '.join(f'`{k}`' for k in _KEYS)}"
                self._complain("unknown-field", f"a vocabulary has no `{key}`", key, mend)
        topics = dict(known.topics)
        for topic, written in self._texts("topics"):
            subject = subject_of(written, known.schema, context)
            if subject is None:
                self._unknown_field(written, known.schema)
            else:
                topics[nfc(topic)] = subject
        ignored = self._data.get("ignore", [])
        if not isinstance(ignored, list) or not all(isinstance(each, str) for each in ignored):
            self._complain("type-mismatch", "`ignore` is a list of keys", "ignore")
            ignored = []
        names = {**known.names, **{nfc(word): nfc(value) for word, value in self._texts("names")}}
        ignored_too = known.ignored | set(ignored)
        return replace(known, topics=topics, names=names, ignored=ignored_too, scale=self._scale())

    def _scale(self) -> float:
        scale = self._data.get("scale", 1.0)
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 <= scale <= 8192:
            self._complain("out-of-range", "`scale` is a number from 0 to 8192", "scale")
            return 1.0
        return float(scale)

    def _texts(self, key: str) -> Iterator[tuple[str, str]]:
        table = self._data.get(key, {})
        if not isinstance(table, dict):
            self._complain("type-mismatch", f"`{key}` is a table", key)
            return
        for name, value in table.items():
            if isinstance(value, str):
                yield name, value
            else:
                self._complain("type-mismatch", f"`{name}` in `{key}` is a text", name)

    def _unknown_field(self, written: str, schema: Schema) -> None:
        close = nearest(written, [field.name for field in schema.fields])
        mend = f"did you mean `{close}`?" if close else "write a field, `size(field)` or `contains(field)`"
        self._complain("unknown-field", f"`{schema.name}` has nothing like `{written}` to speak of", written, mend)

    def _complain(self, code: str, message: str, word: str, help: str | None = None) -> None:
        at = self._source.text.find(word) if word else -1
        span = Span(self._source, max(at, 0), max(at, 0) + (len(word) if at >= 0 else 0))
        self._report.add(diagnostic(code, span, message, help))
