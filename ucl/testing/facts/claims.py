"""What statements promise of the rules, all together: beliefs to claims about scores and feasibility.

In: a `History`. Out: `Claim`s, each about a region of options without the regions of which other statements speak.

A statement `avoids X` claims, of options about which no other statement says anything:

- inside X the score is below 0, and by about as much as the sentiment says (within a factor of √2, so that a weight
  that is halved or doubled is noticed);
- just outside each end of X, and where one of its conditions does not hold, the score is not below 0: the rule goes no
  further than what was said.

`prefers X` mirrors it; a sentiment of 0 claims a score of 0 ("I don't mind"). A `hard` one speaks of feasibility. A
narrower statement rules inside its own region, whatever the general one says; where two merely overlap neither claims
anything. Before and after the days that a statement itself names, it claims what it does outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from ucl.facts.history import Belief, History
from ucl.facts.regions import (
    Between,
    Condition,
    Region,
    Subject,
    around,
    region_within,
    regions_meet,
    step_of,
    without,
)
from ucl.frozen import frozen
from ucl.semantics import types as t

FACTOR = math.sqrt(2)
"""How far a score may be from what a sentiment asks for; with it neither half nor twice the weight passes."""
_FAINTEST = 1e-6
"""Scores are whole numbers of 10⁻⁹: of what is weaker only the sign can be told."""


@frozen
class Expected:
    """`feasible` for hard claims; else the score lies between two bounds, each of which may be left out."""

    low: float = -math.inf
    high: float = math.inf
    low_in: bool = True
    high_in: bool = True
    feasible: bool | None = None


@frozen
class Claim:
    """Of options in `region` and in none of `but`, on days from `first` to before `end`.

    `axis` is what the region was left by, for claims about what is outside. `others` are the beliefs that `but` are the
    regions of, in the order of the history.
    """

    belief: Belief
    kind: Literal["inside", "outside", "before", "after"]
    region: Region
    but: tuple[Region, ...]
    others: tuple[Belief, ...]
    first: int | None
    end: int | None
    expected: Expected
    axis: Subject | None = None


def claims_of(history: History, scale: float = 1.0, habits: bool = False) -> list[Claim]:
    """In the order of the history. `habits` says whether what was only seen counts as much as what was said."""
    counted = [belief for belief in history.beliefs if habits or not belief.habit]
    found: list[Claim] = []
    for belief in counted:
        world = [other for other in counted if other is not belief and other.hard == belief.hard]
        found += _claims(belief, world, scale)
    return found


def _claims(belief: Belief, world: Sequence[Belief], scale: float) -> Iterator[Claim]:
    """Inside and outside in every period, and after the end."""
    for first, end in _periods(belief):
        later = [r for r in belief.revisions if first is None or (r.day is not None and r.day > first)]
        unsaid = {id(r.by) for r in later if end is None or r.day is None or r.day >= end}
        present = [other for other in world if _in_force(other, first, end) and id(other.fact) not in unsaid]
        inside = Claim(belief, "inside", well_inside(belief.region), (), (), first, end, _inside(belief, scale))
        yield from _carved(inside, [o for o in present if not region_within(belief.region, o.region)])
        if belief.sign != 0 and not (belief.hard and belief.sign > 0):
            outside = replace(inside, kind="outside", expected=_outside(belief))
            for subject, region in neighbours(belief.region):
                yield from _carved(replace(outside, region=region, axis=subject), present)
    if belief.sign != 0:
        yield from _ends_in_time(belief, world)


def _ends_in_time(belief: Belief, world: Sequence[Belief]) -> Iterator[Claim]:
    """Before the day and from the day on that the statement itself names."""
    outside = Claim(belief, "before", belief.region, (), (), None, belief.first, _outside(belief))
    if belief.begins and belief.first is not None:
        yield from _carved(outside, world)
    if belief.end is not None and belief.replaced is None:
        present = [other for other in world if _in_force(other, belief.end, None)]
        yield from _carved(replace(outside, kind="after", first=belief.end, end=None), present)


def _periods(belief: Belief) -> list[tuple[int | None, int | None]]:
    """Between the days on which something is taken from the region."""
    days = sorted({r.day for r in belief.revisions if r.day is not None})
    inner = [d for d in days if (belief.first is None or d > belief.first) and (belief.end is None or d < belief.end)]
    ends: list[int | None] = [*inner, belief.end]
    return list(zip([belief.first, *inner], ends, strict=True))


def _in_force(belief: Belief, first: int | None, end: int | None) -> bool:
    """Some day of the period. Before it was said a rule may be there all the same, so that its start does not count."""
    return belief.end is None or first is None or belief.end > first


def _carved(claim: Claim, others: Sequence[Belief]) -> Iterator[Claim]:
    """Without what the others speak of; nothing where one of them covers all of it."""
    meeting = [other for other in others if regions_meet(claim.region, other.region)]
    if any(region_within(claim.region, other.region) for other in meeting):
        return
    but: list[Region] = []
    for other in meeting:
        rest = _unimplied(other.region, claim.region)
        if not any(region_within(rest, known) for known in but):
            but = [known for known in but if not region_within(known, rest)] + [rest]
    yield replace(claim, but=tuple(but), others=tuple(meeting))


def _unimplied(region: Region, around: Region) -> Region:
    """The conditions that the claim's own do not imply."""
    return {
        subject: condition
        for subject, condition in region.items()
        if subject not in around or not region_within({subject: around[subject]}, {subject: condition})
    }


def well_inside(region: Region) -> Region:
    """More than an hour is a minute more at least: nobody speaks of what lies closer."""
    return {subject: _well_inside(subject, condition) for subject, condition in region.items()}


def _well_inside(subject: Subject, condition: Condition) -> Condition:
    if not isinstance(condition, Between) or isinstance(subject.compared, t.Int | t.Date):
        return condition
    intervals = []
    for interval in condition.intervals:
        first = interval.low + step_of(subject.compared, interval.low)
        inner = interval if interval.low_in else replace(interval, low=first, low_in=True)
        intervals.append(interval if inner.empty else inner)
    return Between(tuple(intervals))


def neighbours(region: Region) -> Iterator[tuple[Subject, Region]]:
    """For each condition the region in which it is just not so, and all others are."""
    for subject, condition in region.items():
        near = _just_outside(subject, condition)
        if near is not None:
            yield subject, {**region, subject: near}


def _just_outside(subject: Subject, condition: Condition) -> Condition | None:
    match condition:
        case Between():
            strips = around(condition, subject.compared)
            return Between(tuple(strips)) if strips else None
        case _:
            return without(condition, subject.compared)


def _inside(belief: Belief, scale: float) -> Expected:
    if belief.hard:
        return Expected(feasible=belief.sign >= 0)
    if belief.sign == 0:
        return Expected(0.0, 0.0)
    strength = abs(belief.feeling) * scale
    if not (belief.measured and belief.latest) or strength < _FAINTEST:
        return Expected(low=0.0, low_in=False) if belief.sign > 0 else Expected(high=0.0, high_in=False)
    # Three digits after the point, and of what is small three that say something.
    digits = 2 - min(-1, math.floor(math.log10(strength)))
    least, most = round(strength / FACTOR, digits), round(strength * FACTOR, digits)
    return Expected(least, most) if belief.sign > 0 else Expected(-most, -least)


def _outside(belief: Belief) -> Expected:
    if belief.hard:
        return Expected(feasible=belief.sign < 0)
    return Expected(high=0.0) if belief.sign > 0 else Expected(low=0.0)
