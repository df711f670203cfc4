"""What surrounds one call, and what is said of one option: the arguments and the results of scoring.

`evaluate` and the kernels take a `Call` and agree on every `Outcome`, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from ucl.frozen import frozen
from ucl.semantics.program import Value
from ucl.semantics.zones import Zone

# Contributions and totals are whole numbers of 10^-9, so sums do not depend on order.
NANO = 1_000_000_000
# A contribution beyond this makes its row invalid, so that a sum over every rule fits 64 bits.
MAGNITUDE = 8192.0
CONTESTED_FROM = 0.25


@frozen
class Call:
    """What holds for one whole call.

    `now` is an instant in microseconds, `today` its day in `zone`; `context` and `memory` hold a value for every
    declared field (defaults filled in); `recency` weighs rules by name, 1 where it says nothing; `contested_from` is
    the least magnitude that contests.
    """

    zone: Zone
    now: int
    today: int
    context: Mapping[str, Value] = field(default_factory=dict)
    memory: Mapping[str, Value] = field(default_factory=dict)
    recency: Mapping[str, float] = field(default_factory=dict)
    contested_from: float = CONTESTED_FROM


class Reason(StrEnum):
    """Why a row is invalid. The first three are found in its data, the others while scoring it."""

    ABSENT = "absent"
    DOMAIN = "domain"
    UNREADABLE = "unreadable"
    OVERFLOW = "overflow"
    MAGNITUDE = "magnitude"


@frozen
class Invalid:
    """`field` is a path in the schema, or the rule (or constraint) that could not be evaluated."""

    field: str
    reason: Reason
    value: Any = None


class Decision(StrEnum):
    INFEASIBLE = "infeasible"
    ASK_USER = "ask_user"
    ACCEPT = "accept"
    SUGGEST_ALTERNATIVE = "suggest_alternative"


@frozen
class Outcome:
    """What is said of one option. `total` and `contributions` are in units of 10^-9; names stand in source order.

    Of an invalid row `total`, `feasible`, `contested` and `decision` are None and the tuples are empty.
    `contributions` has the firing rules that count: not those of a side that `priority` dropped.
    """

    total: int | None
    feasible: bool | None
    contested: bool | None
    decision: Decision | None
    fired: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    shadow: tuple[str, ...] = ()
    contributions: Mapping[str, int] = field(default_factory=dict)
    invalid: Invalid | None = None


def as_score(nano: int) -> float:
    """A total or a contribution as people read it, in doubles: kernels divide the same way."""
    return nano / NANO


def decide(total: int, feasible: bool, contested: bool) -> Decision:
    if not feasible:
        return Decision.INFEASIBLE
    if contested:
        return Decision.ASK_USER
    return Decision.ACCEPT if total >= 0 else Decision.SUGGEST_ALTERNATIVE
