"""The JSON text of one cell in a column whose rows disagree, and back.

In: any value that a row may hold. Out: JSON text that gives the same value back. Python's own dates, times, lengths of
time and decimals are objects with one tagged key, so that a date is never taken for a text.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

# No key of anybody's data begins so.
_TAG = "\0"
_MICROSECOND = dt.timedelta(microseconds=1)
_DECODERS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}datetime": dt.datetime.fromisoformat,
    f"{_TAG}date": dt.date.fromisoformat,
    f"{_TAG}time": dt.time.fromisoformat,
    f"{_TAG}timedelta": lambda text: int(text) * _MICROSECOND,
    f"{_TAG}decimal": Decimal,
}


def encode(value: Any, plain: Callable[[Any], Any]) -> str:
    """`plain` makes a plain Python value of one of a richer library; what is left then is said as text."""

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
        return str(value) if value is rich else value

    try:
        return json.dumps(value, default=default)
    except (TypeError, ValueError, RecursionError):
        # Too long a number, a circle, keys that are no text: a list in a list, which is a value of no type.
        return json.dumps([[f"a value of the kind {type(value).__name__}"]])


def decode(text: str) -> Any:
    """A text that `encode` did not make, in a column that somebody marked as ours, stands for itself."""
    try:
        return json.loads(text, object_hook=_untagged)
    except (ValueError, RecursionError):
        return text


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
