"""Time zones as sorted arrays of microseconds: from an instant to its wall clock and back.

In: a zone's name. Out: a `Zone`, whose `transitions` and `offsets` hold the whole history up to the year 9999, so that
kernels need nothing else. The data are the tz database's as Python's `zoneinfo` finds them (TZif, RFC 8536).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from functools import lru_cache
from operator import add
from typing import Literal, NamedTuple

from ucl.frozen import frozen
from ucl.semantics.tzif import History, has_history, read_history

# The machine's own links into the database, and its variants that count leap seconds.
_NOT_ZONES = frozenset({"posix", "right", "localtime", "posixrules", "Factory"})
_NAME = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*", re.ASCII)
_LONGEST_NAME = 100

Kind = Literal["exact", "fold", "gap"]


class Resolved(NamedTuple):
    """`fold`: the wall clock showed this twice, and the first is meant. `gap`: it skipped this, and it is moved on."""

    instant: int
    kind: Kind


@frozen
class Zone:
    """Compares by name. `offsets[i]` (microseconds east of UTC) holds before `transitions[i]`, the last one for ever.

    `wall_ends[i]` is the wall clock from which on only what follows transition i can be meant: kernels find the offset
    of a local time by its place among them.
    """

    name: str
    transitions: tuple[int, ...] = field(compare=False, repr=False)
    offsets: tuple[int, ...] = field(compare=False, repr=False)
    wall_ends: tuple[int, ...] = field(compare=False, repr=False)

    @staticmethod
    def load(name: str) -> Zone | None:
        """The zone of that name, or None where the tz database has none. Cached; UTC needs no database."""
        if name == UTC.name:
            return UTC
        return _load(name) if _may_name(name) else None

    @staticmethod
    def exists(name: str) -> bool:
        """Whether there is a zone of that name; costs less than loading it."""
        return name == UTC.name or (_may_name(name) and _exists(name))

    def offset(self, instant: int) -> int:
        """Microseconds east of UTC."""
        return self.offsets[bisect_right(self.transitions, instant)]

    def local(self, instant: int) -> int:
        """The wall clock at an instant, in microseconds since 1970-01-01T00:00 on it."""
        return instant + self.offset(instant)

    def instant(self, local: int) -> Resolved:
        """The instant at which the wall clock shows `local`: LANGUAGE §7's rule for folds and gaps."""
        place = bisect_right(self.wall_ends, local)
        before = self.offsets[place]
        kind: Kind = "exact"
        if place < len(self.transitions):
            after = self.offsets[place + 1]
            if local >= self.transitions[place] + min(before, after):
                kind = "gap" if after > before else "fold"
        return Resolved(local - before, kind)


def _may_name(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and bool(_NAME.fullmatch(name)) and name.split("/", 1)[0] not in _NOT_ZONES


@lru_cache(maxsize=256)
def _exists(name: str) -> bool:
    return has_history(name)


@lru_cache(maxsize=256)
def _load(name: str) -> Zone | None:
    history = read_history(name)
    return None if history is None else _zone(name, history)


def _zone(name: str, history: History) -> Zone:
    transitions, offsets = history
    # There are sixteen thousand of them.
    ends = tuple(map(add, transitions, map(max, offsets, offsets[1:])))
    return Zone(name, transitions, offsets, ends)


UTC = Zone("UTC", (), (0,), ())
