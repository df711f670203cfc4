"""Which facts rule when: what was said later, what is an exception, and what was only seen.

In: facts in any order. Out: a `History`: beliefs in order of time, the contradictions among them, and the facts that
mean nothing that can be tested, with the reason. The rules are those of INTERFACE §5:

- a statement is believed at once; behaviour only where more than 5 observations agree with a mean beyond ±0.5;
- facts of one source are one observation;
- of statements about the same that contradict, the later one rules from its day on, and the earlier one until then;
- a statement that is narrower by something else (a kind of meeting, a day) is an exception, and takes its region out of
  the general one whenever it was said;
- what was said rules over what was only seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ucl.facts.meaning import Meaning, meaning_of
from ucl.facts.model import Fact
from ucl.facts.objects import Unread
from ucl.facts.regions import Region, region_within, regions_meet, same_region
from ucl.facts.vocabulary import Vocabulary
from ucl.frozen import frozen
from ucl.semantics.zones import Zone

OBSERVATIONS = 5
"""A habit has been seen more often than this."""
STRENGTH = 0.5
"""The mean sentiment of a habit lies beyond this."""
_MOST_MEANT = 2000
"""Facts are compared in pairs."""


@frozen
class Revision:
    """From that day on, the region is another fact's to say."""

    day: int | None
    region: Region
    by: Fact


@frozen
class Belief:
    """What is believed of a region, from `first` to before `end`, and since which fact.

    `facts` are one statement, the several of one source, or all that make a habit. `revisions` take parts out of the
    region. `latest` where no later belief says the same of the same region: it tells how strong it is now.
    `replaced` by the statement that ended it, if one did; `begins` where the fact itself says since when it holds.
    """

    facts: tuple[Fact, ...]
    region: Region
    feeling: float
    measured: bool
    hard: bool
    first: int | None
    end: int | None
    revisions: tuple[Revision, ...] = ()
    latest: bool = True
    replaced: Fact | None = None
    begins: bool = False

    @property
    def sign(self) -> int:
        return (self.feeling > 0) - (self.feeling < 0)

    @property
    def habit(self) -> bool:
        return not self.facts[0].said

    @property
    def fact(self) -> Fact:
        """The one that it is named after."""
        return self.facts[-1] if self.habit else self.facts[0]


@frozen
class Contradiction:
    """`later` rules from `day` on; None where it rules at all times."""

    earlier: Fact
    later: Fact
    day: int | None


@frozen
class Untested:
    """Facts of which nothing can be tested: `it is not tested, since …`."""

    facts: tuple[Fact, ...]
    reason: str


@frozen
class History:
    beliefs: tuple[Belief, ...]
    contradictions: tuple[Contradiction, ...]
    untested: tuple[Untested, ...]


def history_of(facts: Iterable[Fact], vocabulary: Vocabulary, zone: Zone) -> History:
    """What the facts come to."""
    meant: list[Meaning] = []
    untested: list[Untested] = []
    for fact in facts:
        meaning = meaning_of(fact, vocabulary, zone)
        if isinstance(meaning, Unread):
            untested.append(Untested((fact,), meaning.reason))
        elif len(meant) >= _MOST_MEANT:
            untested.append(Untested((fact,), f"there are more than {_MOST_MEANT:,} facts"))
        else:
            meant.append(meaning)
    # Of one moment, the one that stands later in the file was said later.
    meant.sort(key=lambda meaning: _moment(meaning.fact))
    said = _statements([meaning for meaning in meant if meaning.fact.said])
    habits, rare = _habits([meaning for meaning in meant if not meaning.fact.said])
    contradictions: list[Contradiction] = []
    said, silent = _revised(said, contradictions)
    kept, overruled = _under(habits, said, contradictions)
    beliefs = sorted([*said, *kept], key=lambda belief: _moment(belief.fact))
    return History(tuple(beliefs), tuple(contradictions), (*untested, *rare, *silent, *overruled))


def _moment(fact: Fact) -> float:
    return float("-inf") if fact.instant is None else fact.instant


def _statements(meant: Sequence[Meaning]) -> list[Belief]:
    """One for each source that says something of a region."""
    found: list[Belief] = []
    sources: dict[tuple[str, str], list[int]] = {}
    for m in meant:
        mine = sources.setdefault(m.fact.observation, [])
        same = next((at for at in mine if _same(found[at], m)), None)
        if same is None:
            mine.append(len(found))
            belief = Belief((m.fact,), m.region, m.feeling, m.measured, m.hard, m.since, m.until, begins=m.begins)
            found.append(belief)
        else:
            found[same] = replace(found[same], facts=(*found[same].facts, m.fact))
    return found


def _same(belief: Belief, meaning: Meaning) -> bool:
    return belief.hard == meaning.hard and belief.sign == meaning.sign and same_region(belief.region, meaning.region)


def _habits(meant: Sequence[Meaning]) -> tuple[list[Belief], list[Untested]]:
    """What was seen of one region, whatever each time: a habit where it was often enough, and mostly the same."""
    groups: list[list[Meaning]] = []
    for m in meant:
        group = next((g for g in groups if g[0].hard == m.hard and same_region(g[0].region, m.region)), None)
        if group is None:
            groups.append([m])
        else:
            group.append(m)
    habits, rare = [], []
    for group in groups:
        facts = tuple(m.fact for m in group)
        seen: dict[tuple[str, str], list[float]] = {}
        for m in group:
            seen.setdefault(m.fact.observation, []).append(m.feeling)
        mean = sum(sum(feelings) / len(feelings) for feelings in seen.values()) / len(seen)
        if len(seen) <= OBSERVATIONS:
            times = "once" if len(seen) == 1 else f"{len(seen)} times"
            rare.append(Untested(facts, f"it was seen {times}, and a habit takes more than {OBSERVATIONS}"))
        elif abs(mean) <= STRENGTH:
            mixed = min(m.feeling for m in group) < 0 < max(m.feeling for m in group)
            said = "points both ways" if mixed else f"is no stronger than {STRENGTH}, and a habit is"
            rare.append(Untested(facts, f"what was seen {len(seen)} times {said} (mean {mean:.2f})"))
        else:
            last = group[-1]
            habits.append(Belief(facts, last.region, mean, True, last.hard, last.since, last.until))
    return habits, rare


# --- who rules ------------------------------------------------------------------------------------------------------


def _revised(said: Sequence[Belief], contradictions: list[Contradiction]) -> tuple[list[Belief], list[Untested]]:
    """Each with what later statements take from it, and those that never ruled for a day."""
    found, silent = [], []
    for at, belief in enumerate(said):
        for later in said[at + 1 :]:
            if later.hard != belief.hard:
                continue
            if later.sign == belief.sign:
                if same_region(later.region, belief.region) and later.measured:
                    belief = replace(belief, latest=False)
            elif _contradict(belief, later):
                contradictions.append(Contradiction(belief.fact, later.fact, later.first))
                belief = _taken(belief, later)
        if belief.replaced is None or (belief.end is not None and (belief.first is None or belief.first < belief.end)):
            found.append(belief)
        else:
            silent.append(Untested(belief.facts, f"no day lies before what was said later: {belief.replaced.sentence}"))
    return found, silent


def _contradict(one: Belief, other: Belief) -> bool:
    """They speak of the same things, and of some options both do. Otherwise one may be an exception."""
    return set(one.region) == set(other.region) and regions_meet(one.region, other.region)


def _taken(belief: Belief, later: Belief) -> Belief:
    if region_within(belief.region, later.region):
        if belief.end is not None and later.first is not None and belief.end <= later.first:
            return belief
        return replace(belief, end=later.first, replaced=later.fact)
    return replace(belief, revisions=(*belief.revisions, Revision(later.first, later.region, later.fact)))


def _under(
    habits: Sequence[Belief], said: Sequence[Belief], contradictions: list[Contradiction]
) -> tuple[list[Belief], list[Untested]]:
    """Habits against which nothing was said."""
    kept, overruled = [], []
    for habit in habits:
        against = next(_against(habit, said), None)
        if against is None:
            kept.append(habit)
        else:
            contradictions.append(Contradiction(habit.fact, against.fact, None))
            overruled.append(Untested(habit.facts, f"what was said rules over what was seen: {against.fact.sentence}"))
    return kept, overruled


def _against(habit: Belief, said: Sequence[Belief]) -> Iterator[Belief]:
    for statement in reversed(said):
        if statement.hard == habit.hard and statement.sign != habit.sign and _contradict(habit, statement):
            yield statement
