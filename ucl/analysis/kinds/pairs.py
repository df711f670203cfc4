"""Pairs of rules: conflicts, tensions, and what is counted twice.

In: a study, dead rules marked. Out: diagnostics whose witnesses have been replayed, a limited number for each rule, and
how many more pairs there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from ucl.analysis import words
from ucl.analysis.boxes.overlap import Met, Side, overlapping
from ucl.analysis.boxes.space import Box
from ucl.analysis.formulas.terms import FieldPath
from ucl.analysis.scene.regions import Scene
from ucl.analysis.scene.study import Alike, Point, Study
from ucl.analysis.scene.subjects import Subject
from ucl.analysis.witness.search import Verdict
from ucl.diagnostics import Diagnostic

if TYPE_CHECKING:
    from ucl.analysis.witness.replay import Replayed

# So many findings of a kind are listed; each rule has its share of them, and a few in any case.
MOST = 300
_LEAST_SHARE = 3
# Trade-offs are counted one by one up to here; past it the count says `at least`.
_MOST_TENSIONS = 200


@dataclass
class Pair:
    """Two rules, the one that the finding is about first, and the parts of boxes in which both do what it says."""

    about: Subject
    other: Subject
    boxes: list[Box] = field(default_factory=list)


@dataclass
class Tally:
    """How many findings each rule has, and how many pairs were not looked at for that."""

    study: Study
    share: int
    by_rule: Counter[str] = field(default_factory=Counter)
    total: int = 0
    more: int = 0

    @property
    def is_over(self) -> bool:
        """Whether there is room for no rule at all."""
        return self.study.exhausted or self.total >= MOST

    def is_full(self, rule: Subject) -> bool:
        return self.is_over or self.by_rule[rule.name] >= self.share

    def has_room(self, a: Subject, b: Subject) -> bool:
        full = self.is_full(a) or self.is_full(b)
        self.more += full
        return not full

    def add(self, a: Subject, b: Subject) -> None:
        self.by_rule[a.name] += 1
        self.by_rule[b.name] += 1
        self.total += 1


def share_of(rules: Sequence[Subject]) -> int:
    """How many findings one rule may take part in; two rules share each."""
    return max(_LEAST_SHARE, 2 * MOST // max(1, len(rules)))


def overridden_by(scene: Scene) -> dict[str, set[str]]:
    """For each rule what it overrides, directly or through others."""
    direct: dict[str, list[str]] = {}
    for overridden, silencers in scene.silencers.items():
        for name in silencers:
            direct.setdefault(name, []).append(overridden)

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        work = list(direct.get(name, ()))
        while work:
            following = work.pop()
            if following not in seen:
                seen.add(following)
                work.extend(direct.get(following, ()))
        return seen

    return {name: reached(name) for name in direct}


def points_of(
    study: Study, pairs: Iterable[Pair], feasible: bool, tally: Tally | None = None
) -> list[tuple[Pair, Point]]:
    """The pairs that meet, with where; what is undecided is left open. The tally grows while `pairs`, which may look at
    it, is still being asked for more."""
    found: list[tuple[Pair, Point]] = []
    for pair in pairs:
        point = meeting_point(study, pair, feasible=feasible)
        if isinstance(point, Point):
            if tally is not None:
                tally.add(pair.about, pair.other)
            found.append((pair, point))
        elif point is Verdict.UNDECIDED:
            study.leave_open(pair.about.name, pair.other.name)
    study.prepare([point for _, point in found])
    return found


# --- conflicts and tensions -----------------------------------------------------------------------------------------


def conflicts(study: Study, list_tensions: bool) -> Iterator[Diagnostic]:
    if study.nothing_feasible:
        return
    rules = study.living
    ups = Side(list(chain.from_iterable(map(attrgetter("ups"), rules))))
    downs = Side(list(chain.from_iterable(map(attrgetter("downs"), rules))))
    over = overridden_by(study.scene)

    def may(a: Subject, b: Subject) -> bool:
        return b.name not in over.get(a.name, ()) and a.name not in over.get(b.name, ())

    tally, tensions = Tally(study, share_of(rules)), Tensions(study)
    for pair, point in points_of(study, pairs_of(study, ups, downs, tally, tensions, may), True, tally):
        replayed = study.replay(point, (pair.about.name, pair.other.name))
        if replayed is not None and pulls_both_ways(pair, replayed):
            yield words.conflict(study, pair.about, pair.other, replayed, point.possible)
        else:
            study.leave_open(pair.about.name, pair.other.name)
    if tally.more:
        yield words.more_conflicts(study, rules[0], tally.more)
    yield from tensions.findings(rules, list_tensions)


def pairs_of(
    study: Study, ups: Side, downs: Side, tally: Tally, tensions: Tensions, may: Callable[[Subject, Subject], bool]
) -> Iterator[Pair]:
    """Each pair of rules that meet with opposite signs, once, while there is room for more findings about them."""
    done: set[tuple[int, int]] = set()
    counts = study.meetings.meet(ups, downs)
    for first, (shared, others) in enumerate(counts.each):
        if tally.is_over and (tensions.is_full or not counts.apart_from(first)):
            tally.more += counts.alike_from(first)
            tensions.beyond += counts.apart_from(first)
            return
        a = ups.members[first][0]
        full = tally.is_full(a)
        if full:
            tally.more += shared
        if tensions.is_full:
            tensions.beyond += others
        if full and (tensions.is_full or not others):
            continue
        alike, apart = study.meetings.of(first)
        if not tensions.is_full:
            tensions.add(a, downs, apart, may)
        for place, j in enumerate(() if full else alike):
            if tally.is_full(a):
                tally.more += len(alike) - place
                break
            b = downs.members[j][0]
            key = (max(a.number, b.number), min(a.number, b.number))
            if key in done or not may(a, b):
                continue
            done.add(key)
            if tally.has_room(a, b):
                yield opposed(study, a, b)


def opposed(study: Study, a: Subject, b: Subject) -> Pair:
    """Where one rises and the other falls."""
    about, other = (a, b) if a.number > b.number else (b, a)
    return Pair(about, other, [*met(study, a.up_boxes, b.down_boxes), *met(study, a.down_boxes, b.up_boxes)])


def met(study: Study, left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    common = (study.scene.space.meet(a, b) for a in left for b in right)
    return [box for box in common if box is not None]


def meeting_point(study: Study, pair: Pair, feasible: bool) -> Point | Verdict:
    shown = pair.about.fields | pair.other.fields

    def ask() -> Point | Verdict:
        return study.outside(pair.boxes, study.blockers(pair.about, pair.other, feasible=feasible), shown)

    silencers = study.silencers(pair.about, pair.other)
    answers = study.among_feasible if feasible else study.answers
    return answers.of(("meets", pair.about, pair.other, silencers), ask)


def pulls_both_ways(pair: Pair, replayed: Replayed) -> bool:
    if not replayed.outcome.feasible:
        return False
    a = replayed.judgement.contributions.get(pair.about.name, 0)
    b = replayed.judgement.contributions.get(pair.other.name, 0)
    return (a > 0 > b) or (b > 0 > a)


class Tensions:
    """Trade-offs: kept as pairs up to a number, counted beyond it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.pairs: dict[tuple[int, int], tuple[Subject, Subject]] = {}
        self.beyond = 0

    @property
    def is_full(self) -> bool:
        return len(self.pairs) >= _MOST_TENSIONS

    def add(self, a: Subject, side: Side, others: Sequence[int], may: Callable[[Subject, Subject], bool]) -> None:
        for number, place in enumerate(others):
            if self.is_full:
                self.beyond += len(others) - number
                return
            b = side.members[place][0]
            if may(a, b):
                self.pairs.setdefault((max(a.number, b.number), min(a.number, b.number)), (a, b))

    def _is_met(self, pair: Pair) -> bool:
        study = self.study

        def ask() -> Box | Verdict:
            return study.left_of(pair.boxes, study.blockers(pair.about, pair.other, feasible=True))

        silencers = study.silencers(pair.about, pair.other)
        found = study.among_feasible.of(("apart", pair.about, pair.other, silencers), ask)
        if found is Verdict.UNDECIDED:
            self.study.leave_open(pair.about.name, pair.other.name)
        return not isinstance(found, Verdict)

    def findings(self, rules: Sequence[Subject], listed: bool) -> Iterator[Diagnostic]:
        study = self.study
        pairs = [opposed(study, a, b) for a, b in self.pairs.values()]
        if not listed:
            count = sum(self._is_met(pair) for pair in pairs)
            if count:
                yield words.tensions(rules[0], count, self.beyond > 0)
            return
        for pair, point in points_of(study, pairs, True):
            replayed = study.replay(point, (pair.about.name, pair.other.name))
            if replayed is not None and pulls_both_ways(pair, replayed):
                yield words.tension(pair.about, pair.other, replayed, point.possible)


# --- double counting ------------------------------------------------------------------------------------------------


def double_counting(study: Study) -> Iterator[Diagnostic]:
    tally = Tally(study, share_of(study.living))
    covered = (pair for alike in _alike(study) for pair in _covered_pairs(study, alike, tally))
    for pair, point in points_of(study, covered, False, tally):
        replayed = study.replay(point, (pair.about.name, pair.other.name))
        if replayed is not None and pulls_one_way(pair, replayed):
            yield words.double_counting(pair.about, pair.other, replayed, point.possible)
        else:
            study.leave_open(pair.about.name, pair.other.name)
    if tally.more:
        yield words.more_double_counting(study.living[0], tally.more)


def _alike(study: Study) -> Iterator[Alike]:
    """Rules that speak of the same fields together; what lies within what is asked again where one came or went."""
    groups: dict[frozenset[FieldPath], list[Subject]] = {}
    for rule in study.living:
        groups.setdefault(rule.fields, []).append(rule)
    known, study.alike = study.alike, {}
    for fields, members in groups.items():
        found = known.get(fields)
        if found is None or found.members != members:
            sides = [Side(list(chain.from_iterable(map(attrgetter(way), members)))) for way in ("ups", "downs")]
            found = Alike(members, [(side, *_nested(study, side)) for side in sides])
        study.alike[fields] = found
        yield found


def _covered_pairs(study: Study, alike: Alike, tally: Tally) -> Iterator[Pair]:
    """Pairs of which one applies wherever the other does, and that meet with the same sign; the narrower one first."""
    done: set[tuple[int, int]] = set()
    for side, nested, count in alike.ways:
        if tally.total >= MOST:
            tally.more += count
            continue
        for touching in nested:
            a = side.members[touching.first][0]
            others = [*touching.alike, *touching.apart]
            for place, j in enumerate(others):
                if tally.is_full(a):
                    tally.more += len(others) - place
                    break
                b = side.members[j][0]
                key = (max(a.number, b.number), min(a.number, b.number))
                if a is b or key in done:
                    continue
                done.add(key)
                pair = _covers(study, a, b) or _covers(study, b, a)
                if pair is not None and tally.has_room(a, b):
                    pair.boxes += met(study, a.up_boxes, b.up_boxes) + met(study, a.down_boxes, b.down_boxes)
                    yield pair


def _nested(study: Study, side: Side) -> tuple[list[Met], int]:
    """What meets, and how much that is."""
    found = list(overlapping(study.scene.space, side, side, nested=True))
    return found, sum(len(met.alike) + len(met.apart) for met in found)


def _covers(study: Study, wide: Subject, narrow: Subject) -> Pair | None:
    assert wide.boxes is not None
    assert narrow.boxes is not None
    if wide.boxes == narrow.boxes and wide.number > narrow.number:
        return None  # said of the later one
    found = study.answers.of(("covers", wide, narrow), partial(study.left_of, narrow.boxes, wide.boxes))
    if found is Verdict.UNDECIDED:
        study.leave_open(wide.name, narrow.name)
    return Pair(narrow, wide) if found is Verdict.EMPTY else None


def pulls_one_way(pair: Pair, replayed: Replayed) -> bool:
    a = replayed.judgement.contributions.get(pair.about.name, 0)
    b = replayed.judgement.contributions.get(pair.other.name, 0)
    return (a > 0 and b > 0) or (a < 0 and b < 0)
