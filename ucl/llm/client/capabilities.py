"""What a server was seen to do, remembered for this process and, for a week, on disk.

In: what an answer showed. Out: which ways are worth trying. A server says nothing reliable of what it can: many accept
a grammar and ignore it. So a way counts as good or bad by the form of the answers that came, never by the absence of an
error, and what was seen is forgotten in time, since servers are updated.

What stands on disk is a hint. A file that is damaged, another user's, or not of this form is not read, and where
nothing can be written nothing is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from ucl.kernels.engines.kernel_cache import cache_folder

_FORM = 1
_LARGEST = 20_000
_DAY = 24 * 3600.0


class Verdict(StrEnum):
    """`WORKS`: the answer had the form asked for. `IGNORED`: it had another. `ABSENT`: the server refused the way."""

    WORKS = "works"
    IGNORED = "ignored"
    ABSENT = "absent"


# One answer of another form is little to go by, and one call a day is little to find out.
_KEPT_FOR = {Verdict.WORKS: 7 * _DAY, Verdict.ABSENT: 7 * _DAY, Verdict.IGNORED: _DAY}
_seen: dict[str, Capabilities] = {}


def capabilities_of(server: str, model: str) -> Capabilities:
    """Of one model at one server, shared by all connections of this process."""
    key = hashlib.sha256(f"{server}\0{model}".encode()).hexdigest()[:32]
    if key not in _seen:
        _seen[key] = Capabilities(_file_of(key), time.time)
    return _seen[key]


def forget() -> None:
    """All that this process remembers; what is on disk stays."""
    _seen.clear()


class Capabilities:
    """`now` gives seconds since 1970, which expiry is counted in."""

    def __init__(self, file: Path | None, now: Callable[[], float]) -> None:
        self._file = file
        self._now = now
        self._verdicts = {} if file is None else _read(file)

    def verdict(self, way: str) -> Verdict | None:
        """None where nothing was seen, or not lately."""
        verdict, at = self._verdicts.get(way, (None, 0.0))
        return verdict if verdict is not None and 0 <= self._now() - at < _KEPT_FOR[verdict] else None

    def note(self, way: str, verdict: Verdict) -> None:
        was = self.verdict(way)
        self._verdicts[way] = (verdict, self._now())
        if was is not verdict and self._file is not None:
            _write(self._file, self._verdicts)


# --- on disk --------------------------------------------------------------------------------------------------------

_Verdicts = dict[str, tuple[Verdict, float]]


def _file_of(key: str) -> Path | None:
    try:
        return cache_folder() / "models" / f"{key}.json"
    except RuntimeError:  # there is no home
        return None


def _read(file: Path) -> _Verdicts:
    try:
        with open(file, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NOFOLLOW", 0))) as opened:
            if hasattr(os, "getuid") and os.fstat(opened.fileno()).st_uid != os.getuid():
                return {}
            return _verdicts(json.loads(opened.read(_LARGEST)))
    except (OSError, ValueError, RecursionError):
        return {}


def _verdicts(data: object) -> _Verdicts:
    """Those entries that are of the form; any other form holds none."""
    if not isinstance(data, Mapping) or data.get("form") != _FORM or not isinstance(data.get("ways"), Mapping):
        return {}
    return {way: entry for way, seen in data["ways"].items() if (entry := _entry(seen)) is not None}


def _entry(seen: Any) -> tuple[Verdict, float] | None:
    match seen:
        case [str(word), int() | float() as at] if word in tuple(Verdict):
            return Verdict(word), float(at)
        case _:
            return None


def _write(file: Path, verdicts: _Verdicts) -> None:
    """Whole or not at all."""
    text = json.dumps({"form": _FORM, "ways": {way: [str(v), at] for way, (v, at) in verdicts.items()}})
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(temporary, "x", encoding="utf-8") as opened:
                opened.write(text)
            os.replace(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)
