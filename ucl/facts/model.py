"""An atomic fact (INTERFACE §5): one thing that a person said or did, from which rules are learnt and tests are made.

In: an object as JSON has it. Out: a `Fact`, or what is wrong with it, a `Wrong` for each mistake. Python code builds
`Fact(...)` and gets pydantic's own errors; readers of files ask `read_fact`, which speaks the user's words.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from ucl.frozen import frozen
from ucl.semantics.suggest import nearest
from ucl.semantics.values import nfc
from ucl.semantics.values.iso import read_date, read_datetime
from ucl.semantics.zones import UTC, Zone

SourceType = Literal["calendar", "chat", "email", "behaviour", "manual"]

STATEMENTS: frozenset[str] = frozenset(("chat", "email", "manual"))
"""Sources in which a person said something; the others only show what a person did."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DAY_MICROSECONDS = 86_400_000_000
FIRST_DAY, LAST_DAY = -25_567, 84_005
"""Facts are of days from 1900 to 2199, so that the days around them are days too."""
_LONGEST_CONTEXT = 16_384
_DEEPEST_CONTEXT = 20


def _as_text(value: object) -> object:
    """An object may be written as a number or a boolean; it is kept as JSON shows it."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _number_as_text(value: object) -> object:
    """Databases number their rows."""
    return str(value) if type(value) is int else value


def _moment(value: object, info: ValidationInfo) -> object:
    """ISO text to an instant. Without an offset it is local in the zone that the reader names; a date is its start."""
    if not isinstance(value, str):
        return value
    zone = (info.context or {}).get("zone", UTC)
    days, clock = read_date(value), read_datetime(value)
    if clock is not None:
        local, offset = clock
    elif days is not None:
        local, offset = days * _DAY_MICROSECONDS, None
    else:
        raise ValueError("no ISO 8601 date and time")
    instant = zone.instant(local).instant if offset is None else local - offset
    if not FIRST_DAY <= instant // _DAY_MICROSECONDS < LAST_DAY:
        raise ValueError("too far from now for a fact")
    return _EPOCH + dt.timedelta(microseconds=instant)


def _aware(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value


def _modest(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    if _depth(value) > _DEEPEST_CONTEXT:
        raise ValueError(f"nested deeper than {_DEEPEST_CONTEXT}")
    if len(json.dumps(value, ensure_ascii=False)) > _LONGEST_CONTEXT:
        raise ValueError(f"longer than {_LONGEST_CONTEXT:,} characters")
    return value


def _depth(value: object) -> int:
    """Counted level by level, since what is read may be nested deeper than Python calls may be."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST_CONTEXT:
        inner: list[object] = []
        for part in level:
            if isinstance(part, Mapping):
                inner += part.values()
            elif isinstance(part, list):
                inner += part
        level, depth = inner, depth + 1
    return depth


def _tidy(text: str) -> str:
    """In NFC; half of a surrogate pair, which JSON can hold and no file, becomes `?`."""
    return nfc(text.encode("utf-8", "replace").decode("utf-8"))


_Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_tidy)]
_Id = Annotated[_Name, BeforeValidator(_number_as_text)]


class Fact(BaseModel):
    """One fact, frozen. `id` is made from the rest where it is not given, so that the same fact has the same one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: _Id
    source_type: SourceType
    source_id: _Id | None = None
    extracted_relation: _Name
    subject: _Name
    object: Annotated[str, Field(min_length=1, max_length=1000), BeforeValidator(_as_text), AfterValidator(_tidy)]
    sentiment: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] | None = None
    context: Annotated[dict[str, JsonValue], AfterValidator(_modest)] = Field(default_factory=dict)
    timestamp: Annotated[dt.datetime, BeforeValidator(_moment), AfterValidator(_aware)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        """What is null is not given, as everywhere in data."""
        if not isinstance(data, Mapping):
            return data
        given = {key: value for key, value in data.items() if value is not None}
        return given if "id" in given else {**given, "id": _made_up(given)}

    @property
    def said(self) -> bool:
        """Whether it is a statement, believed at once; if not, it is behaviour."""
        return self.source_type in STATEMENTS

    @property
    def observation(self) -> tuple[str, str]:
        """Facts of one source are one observation."""
        return (self.source_type, self.source_id or self.id)

    @property
    def topic(self) -> str | None:
        """`meeting_time` of `avoids_meeting_time`; None for a relation that says no preference."""
        verb, _, topic = self.extracted_relation.partition("_")
        return topic if verb in ("prefers", "avoids") and topic else None

    @property
    def feeling(self) -> float:
        """-1 to 1. The sentiment; where none is given, what the relation says."""
        if self.sentiment is not None:
            return self.sentiment
        return -1.0 if self.extracted_relation.startswith("avoids_") else 1.0

    @property
    def utterance(self) -> str | None:
        """The person's own words, where the context keeps them."""
        words = self.context.get("utterance")
        return " ".join(_tidy(words).split()) if isinstance(words, str) and words.strip() else None

    @property
    def sentence(self) -> str:
        """The person's own words, or what the fact says in their place."""
        return self.utterance or f"{self.subject} {self.extracted_relation.replace('_', ' ')}: {self.object}"

    @property
    def instant(self) -> int | None:
        """The timestamp in microseconds since 1970-01-01T00:00Z."""
        return None if self.timestamp is None else (self.timestamp - _EPOCH) // dt.timedelta(microseconds=1)

    def to_json(self) -> dict[str, Any]:
        """The object of INTERFACE §5, without what was not given."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _made_up(given: Mapping[str, Any]) -> str:
    text = json.dumps(given, ensure_ascii=False, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# --- what is wrong --------------------------------------------------------------------------------------------------


@frozen
class Wrong:
    """One mistake in a fact; `key` is where it is, None where something is missing or the whole is wrong."""

    code: str
    message: str
    key: str | None = None
    help: str | None = None


def read_fact(data: object, zone: Zone = UTC) -> Fact | list[Wrong]:
    """The fact that an object of JSON says. `zone` is that of times without an offset."""
    if not isinstance(data, Mapping):
        return [Wrong("syntax", f"a fact is an object, and this is {_kind(data)}", None, _SHAPE)]
    try:
        return Fact.model_validate(dict(data), context={"zone": zone})
    except ValidationError as error:
        problems = {str(told["loc"][0]) if told["loc"] else "": told for told in reversed(error.errors())}
    missing = [key for key, told in problems.items() if told["type"] == "missing"]
    found = [_wrong(key, dict(told), data) for key, told in problems.items() if key not in missing]
    if missing:
        lacks = " and no ".join(f"`{key}`" for key in reversed(missing))
        found.append(Wrong("syntax", f"this fact has no {lacks}", None, _SHAPE))
    return found[::-1]


_REQUIRED = [name for name, field in Fact.model_fields.items() if field.is_required() and name != "id"]
_SHAPE = f"give it {', '.join(f'`{name}`' for name in _REQUIRED[:-1])} and `{_REQUIRED[-1]}`"
_WANTED = {"sentiment": "a number", "context": "an object"}


def _wrong(key: str, told: Mapping[str, Any], data: Mapping[Any, Any]) -> Wrong:
    value, kind = data.get(key), told["type"]
    match kind:
        case "extra_forbidden":
            close = nearest(key, Fact.model_fields)
            mend = f"did you mean `{close}`?" if close else "put what else is known into `context`"
            return Wrong("unknown-field", f"a fact has no field `{_cut(key)}`", key, mend)
        case "literal_error":
            return _wrong_source(value)
        case "greater_than_equal" | "less_than_equal" | "finite_number":
            return Wrong("out-of-range", f"`sentiment` is {_shown(value)}, which does not lie in -1..=1", key)
        case "string_too_short":
            return Wrong("bad-literal", f"`{key}` is empty", key)
        case "string_too_long":
            most = told["ctx"]["max_length"]
            return Wrong("too-large", f"`{key}` has more than {most:,} characters", key)
        case "value_error" if key == "timestamp":
            mend = "write it as `2026-03-04T09:30:00+08:00`"
            return Wrong("bad-literal", f"`timestamp` {_shown(value)} is {told['ctx']['error']}", key, mend)
        case "value_error":
            return Wrong("too-large", f"`{key}` is {told['ctx']['error']}", key)
        case _:
            wanted = _WANTED.get(key, "a text")
            return Wrong("type-mismatch", f"`{key}` is {_kind(value)}, where {wanted} is wanted", key)


def _wrong_source(value: object) -> Wrong:
    known: tuple[str, ...] = SourceType.__args__  # type: ignore[attr-defined]
    if not isinstance(value, str):
        return Wrong("type-mismatch", f"`source_type` is {_kind(value)}, where a text is wanted", "source_type")
    close = nearest(value, known)
    mend = f"did you mean `{close}`?" if close else f"it is one of {', '.join(f'`{name}`' for name in known)}"
    return Wrong("unknown-variant", f"there is no source type `{_cut(value)}`", "source_type", mend)


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def _shown(value: object) -> str:
    return f"`{_cut(str(value))}`"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
