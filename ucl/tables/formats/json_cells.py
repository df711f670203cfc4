"""The JSON text of one cell in a column whose rows disagree, and back.

In: any value that a row may hold. Out: JSON text that gives the same value back. Python's own dates, times, lengths of
time and decimals are objects with one tagged key, so that a date is never taken for a text. What has no place in data
(bytes, functions, any object, a nest of hundreds) comes back as `Foreign`, which no type reads.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

# No key of anybody's data begins so.
_TAG = "\0"
_FOREIGN = f"{_TAG}foreign"
# Far beyond any schema's records, and far from where recursion would end.
_DEEPEST = 100
# Brackets, and whole texts, since those may hold brackets.
_BRACKETS = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*"')
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value that data can't have; `shown` says what it was."""

    shown: str


_DECODERS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}datetime": dt.datetime.fromisoformat,
    f"{_TAG}date": dt.date.fromisoformat,
    f"{_TAG}time": dt.time.fromisoformat,
    f"{_TAG}timedelta": lambda text: int(text) * _MICROSECOND,
    f"{_TAG}decimal": Decimal,
    _FOREIGN: Foreign,
}


def encode(value: Any, plain: Callable[[Any], Any]) -> str:
    """`plain` makes a plain Python value of one of a richer library; what is left then is `Foreign`."""

    def default(rich: Any) -> Any:
        value = plain(rich)
        match value:
            case dt.datetime():
                return {f"{_TAG}datetime": value.isoformat()}
            case dt.date():
                return {f"{_TAG}date": value.isoformat()}
            case dt.time():
                return {f"{_TAG}time": value.isoformat()}
            case dt.timedelta():
                return {f"{_TAG}timedelta": str(value // _MICROSECOND)}
            case Decimal():
                return {f"{_TAG}decimal": str(value)}
            case frozenset():
                return sorted(value, key=repr)
        # Python's own text of an object may be its place in memory, and is nobody's data.
        return _foreign(value) if value is rich else value

    try:
        return json.dumps(value, default=default)
    except (TypeError, ValueError, RecursionError):
        # Too long a number, a circle, keys that are no text.
        return json.dumps(_foreign(value))


def _foreign(value: Any) -> dict[str, str]:
    return {_FOREIGN: f"a value of the kind {type(value).__name__}"}


def decode(text: str) -> Any:
    """A text that `encode` did not make, in a column that somebody marked as ours, stands for itself. What is nested
    too deep is `Foreign`, shown as its JSON text."""
    if _is_deep(text):
        return Foreign(text)
    try:
        return json.loads(text, object_hook=_untagged)
    except (ValueError, RecursionError):
        return text


def _is_deep(text: str) -> bool:
    """Whether arrays and objects nest deeper than `_DEEPEST`."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for mark in _BRACKETS.findall(text):
        if mark in "[{":
            depth += 1
            if depth > _DEEPEST:
                return True
        elif mark in "]}":
            depth -= 1
    return False


def _untagged(made: dict[str, Any]) -> Any:
    if len(made) == 1:
        ((key, value),) = made.items()
        decoder = _DECODERS.get(key)
        if decoder is not None:
            try:
                return decoder(value)
            except (TypeError, ValueError, OverflowError, InvalidOperation):
                return made
    return made
