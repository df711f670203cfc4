"""Whether a program keeps its promises: proofs and counterexamples for `property` and `prefer` (LANGUAGE §11).

In: a program, the day from which on it shall hold. Out: for each promise `Proved`, a `Counterexample` that has been
replayed by `evaluate`, or `Undecided` with the reason. Proofs look at every cell (`cells`): a promise that holds in
each holds for every option and context. What cells leave open goes to a solver (`solving`), and who can sample takes
over what is still undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, product
from math import prod
from typing import Any

import numpy as np

from ucl.analysis.cells.grids import Spent, TooLarge, Work, sizes_of, to_split
from ucl.analysis.cells.inputs import Key, Place, written_out
from ucl.analysis.cells.outcomes import Declarations, Undecidable, valid_today
from ucl.analysis.cells.space import Space, View
from ucl.analysis.cells.survey import Side, Survey
from ucl.analysis.points import Point, call_of, option_of, point_at, smallest, with_memories
from ucl.analysis.properties.extremes import Extreme
from ucl.analysis.properties.spoken import Promise, Told, WrittenPromise, needs_of
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.evaluate import property_holds, satisfies, score_option
from ucl.semantics.expressions import Exhausted
from ucl.semantics.program import Expr, Prefer, Program, Property, Schema
from ucl.semantics.types import BOOL

CELLS = 1 << 20
# The solver's own steps for one promise.
STEPS = 5_000_000
_STEPS_A_RULE = 2_500
_REPLAYS = 40
# A promise whose cells are more than may be looked at together is looked at in parts, so many times as much in all.
PARTS = 16
# Looking at a part costs as much as so many cells, however few it has.
_PART = 1 << 14


@frozen
class Proved:
    """It holds in every cell. `vacuous`: nothing that it speaks of can be."""

    vacuous: bool = False


@frozen
class Counterexample:
    """A point where it fails; of a `prefer`, the `better` option there and the `worse` one, which scores more."""

    point: Point
    worse: Point | None = None


@frozen
class Undecided:
    reason: str


Answer = Proved | Counterexample | Undecided

_TOO_MANY = "more cases than may be looked at"
_VARYING = "a score that is not constant"
_UNCERTAIN = "it speaks of what can't be decided"


class Prover:
    """Proves promises about one schema of a program. `since` is the first instant at which they shall hold."""

    def __init__(self, program: Program, schema: Schema, since: int, promises: Sequence[Promise] | None = None) -> None:
        self.program, self.since = program, since
        self.side = Side(program, schema)
        self.survey = Survey([self.side], since)
        self.declarations = Declarations(program, schema, self.survey)
        chosen = [promise for promise in program.properties if promise.schema is schema]
        self.promises = tuple(chosen if promises is None else promises)
        self._written = {promise.name: self._note(promise) for promise in self.promises}
        self.space = Space(self.survey)

    def _note(self, promise: Promise) -> WrittenPromise:
        """Notes what the promise speaks of, and every declaration that it depends on."""
        days = valid_today(promise.meta, promise.span)
        needs = needs_of(promise)
        declarations = self.declarations
        declarations.note(needs.facts)
        declarations.note(declarations.rules if needs.total or needs.added else ())
        declarations.note(declarations.constraints if needs.feasible else ())
        given = [] if days is None else [days]
        given += [day for name in sorted(needs.facts) if (day := declarations.written(name).today) is not None]
        conditions: list[Expr] = []
        if isinstance(promise, Property):
            given += [] if promise.given is None else [written_out(promise.given)]
            conditions = [written_out(expr) for expr in promise.expect]
            sides: tuple[Expr, ...] = (_all(given, promise),)
        else:
            sides = tuple(_all([*given, written_out(side)], promise) for side in (promise.better, promise.worse))
        for condition in (*sides, *conditions):
            self.survey.add(condition)
        return WrittenPromise(needs, sides, tuple(conditions))

    def prove(self, promise: Promise, cells: int = CELLS, steps: int = STEPS) -> Answer:
        """A counterexample is the plainest that was found, made smaller. The solver takes over what `cells` leave open,
        for so many `steps`, unless there are so many rules that to write them down would take longer."""
        answer = self._by_cells(promise, cells)
        if isinstance(answer, Undecided) and len(self.declarations.active) * _STEPS_A_RULE <= steps:
            return self._by_solver(promise, answer, steps)
        return answer

    def _by_cells(self, promise: Promise, cells: int) -> Answer:
        written = self._written[promise.name]
        try:
            if isinstance(promise, Property):
                return self._property(promise, written, cells)
            return self._prefer(promise, written, cells)
        except (TooLarge, Spent):
            return Undecided(_TOO_MANY)
        except Undecidable:
            return Undecided(_VARYING)

    def _by_solver(self, promise: Promise, open: Undecided, steps: int) -> Answer:
        from ucl.analysis.properties.solving import Never, solved

        try:
            found = solved(self.declarations, self.space, self._written[promise.name], steps, CELLS)
        except TooLarge:
            return open
        if found is None:
            return open
        if isinstance(found, Never):
            return Proved(found.vacuous) if found.certain else open
        if isinstance(promise, Property):
            return self._broken_near(promise, found.values[0]) or open
        better, worse = (point_at(self.side, values, self.since) for values in found.values)
        worse = _in_context_of(better, worse)
        if self.fails_pair(promise, better, worse):
            return self.smaller_pair(promise, Counterexample(better, worse))
        return open

    def _broken_near(self, prop: Property, values: Mapping[Key, Any]) -> Counterexample | None:
        """At these values, or where others of their cells stand."""
        for known in islice(self._alike(values), _REPLAYS):
            for point in with_memories(self.side, point_at(self.side, known, self.since)):
                if self.fails(prop, point):
                    return Counterexample(self.smaller(prop, point))
        return None

    def _alike(self, values: Mapping[Key, Any]) -> Iterator[dict[Key, Any]]:
        """The values, then numbers at the ends of what no condition tells apart, where scores are greatest or least."""
        yield dict(values)
        ends: dict[Key, list[Any]] = {}
        for key, value in values.items():
            stretches = chain.from_iterable(self.space.stretches.get(self.space.numbers.get(key, -1), ()))
            ends[key] = [
                v for low, high in stretches if value is not None and low <= value <= high for v in (low, high)
            ]
        moved = {key: both for key, both in ends.items() if both}
        yield from (dict(values) | dict(zip(moved, chosen, strict=True)) for chosen in product(*moved.values()))

    # --- properties -------------------------------------------------------------------------------------------------

    def _property(self, prop: Property, written: WrittenPromise, cells: int) -> Answer:
        view = View(self.space, cells)
        (given,) = written.sides
        view.restrict(given)
        if any(len(kept) == 0 for kept in view.kept.values()):
            return Proved(vacuous=True) if view.certain() else Undecided(_UNCERTAIN)
        return self._search(prop, written, view, Work(cells * PARTS))

    def _search(self, prop: Property, written: WrittenPromise, view: View, work: Work) -> Answer:
        """The whole view at once, or value by value of one axis, where it has too many cells."""
        try:
            told = Told(self.declarations, view, written.needs)
            if all(told.surely(expr) for expr in written.expect):
                return Proved() if view.certain() else Undecided(_UNCERTAIN)
            grids = told.narrow(written.sides[0], written.expect)
            count = prod(sizes_of(grids).values())
            work.do(max(count, _PART))
            if count <= view.cap:
                return self._whole(prop, written, view)
            axis = to_split(grids)
        except TooLarge:
            work.do(_PART)
            axis = view.longest()
        return self._by_value(prop, written, view, axis, work)

    def _by_value(self, prop: Property, written: WrittenPromise, view: View, axis: int, work: Work) -> Answer:
        """A counterexample as soon as there is one."""
        vacuous, undecided = True, None
        for place in range(len(view.indices(axis))):
            answer = self._search(prop, written, view.at(axis, place), work)
            match answer:
                case Counterexample():
                    return answer
                case Undecided():
                    undecided = answer
                case Proved():
                    vacuous = vacuous and answer.vacuous
        return undecided or Proved(vacuous)

    def _whole(self, prop: Property, written: WrittenPromise, view: View) -> Answer:
        told = Told(self.declarations, view, written.needs)
        told.conjoined = all(_conjunction(expr) for expr in written.expect)
        truth = view.truth(written.sides[0])
        expected = [view.truth(expr) for expr in written.expect]
        says = view.both(truth.holds, *(view.no(grid) for grid in (truth.over, told.invalid())))
        says = view.both(says, *(view.no(each.over) for each in expected if each.over.values.any()))
        broken = view.both(says, view.no(view.both(*(each.holds for each in expected))))
        if not broken.values.any():
            return Proved(not says.values.any()) if view.certain() else Undecided(_UNCERTAIN)
        for cell in view.plainest(view.without_phantoms(broken), _REPLAYS):
            known = {key: value for key, (value,) in view.point(broken.axes, cell).items()}
            for point in with_memories(self.side, point_at(self.side, known, self.since)):
                if self.fails(prop, point):
                    return Counterexample(self.smaller(prop, point))
        return Undecided(_UNCERTAIN)

    def fails(self, prop: Property, point: Point, program: Program | None = None) -> bool:
        """Whether the definition says so, on a day on which it shall hold; of the prover's program unless another is
        given, which differs in its rules alone."""
        call = call_of(self.side, point)
        if not self.on_its_days(prop, call.today):
            return False
        try:
            return property_holds(program or self.program, prop, option_of(self.side, point), call) is False
        except Exhausted:
            return False

    def fails_at(self, promise: Promise, found: Counterexample, program: Program) -> bool:
        """Whether a counterexample is one for another program."""
        if isinstance(promise, Property):
            return self.fails(promise, found.point, program)
        assert found.worse is not None
        return self.fails_pair(promise, found.point, found.worse, program)

    def named_by(self, promise: Promise) -> frozenset[str]:
        """The rules and constraints that it names."""
        return self._written[promise.name].needs.facts

    def smaller(self, prop: Property, point: Point) -> Point:
        return smallest(self.side, point, lambda tried: self.fails(prop, tried), self._tried(), self.since)

    def _tried(self) -> dict[Key, list[Any]]:
        return {axis.key: [v for (v,) in axis.found] for axis in self.space.axes if axis.key is not None}

    def likely(self, promise: Promise) -> list[dict[Key, list[Any]]]:
        """For each of the promise's conditions, values of inputs with which it may hold, for who samples."""
        found = []
        for condition in self._written[promise.name].sides:
            view = View(self.space, CELLS)
            # A condition of too many cells leaves every value likely.
            with suppress(TooLarge):
                view.restrict(condition)
            axes = [(number, axis) for number, axis in enumerate(self.space.axes) if axis.key is not None]
            places = {number: [i for i in view.indices(number) if i < len(axis.found)] for number, axis in axes}
            found.append({axis.key: [axis.found[i][0] for i in places[n]] for n, axis in axes if axis.key})
        return found

    def on_its_days(self, promise: Promise, today: int) -> bool:
        """Whether the promise, and every rule that it names, is valid."""
        named = (self.declarations.declared[name].meta for name in self._written[promise.name].needs.facts)
        return promise.meta.valid.holds(today) and all(meta.valid.holds(today) for meta in named)

    # --- preferences ------------------------------------------------------------------------------------------------

    def _prefer(self, prefer: Prefer, written: WrittenPromise, cells: int) -> Answer:
        """The least of the better against the most of the worse, in each context."""
        best = [
            Extreme(self.declarations, self.space, written.sides[i], written.needs, cells, sign)
            for i, sign in ((0, 1), (1, -1))
        ]
        if not all(side.any for side in best):
            return Proved(vacuous=True)
        better, worse = best
        shared = sorted({*better.outer.axes, *worse.outer.axes})
        gap = np.asarray(better.outer.over(shared)) < np.asarray(-worse.outer.over(shared))
        if not gap.any():
            return Proved() if better.certain and worse.certain else Undecided(_UNCERTAIN)
        for place in np.argwhere(gap)[:_REPLAYS].tolist():
            around = dict(zip(shared, place, strict=True))
            pair = [point_at(self.side, side.point(around), self.since) for side in best]
            pair[1] = _in_context_of(pair[0], pair[1])
            if self.fails_pair(prefer, pair[0], pair[1]):
                return self.smaller_pair(prefer, Counterexample(pair[0], pair[1]))
        return Undecided(_UNCERTAIN)

    def fails_pair(self, prefer: Prefer, better: Point, worse: Point, program: Program | None = None) -> bool:
        call = call_of(self.side, better)
        if not self.on_its_days(prefer, call.today):
            return False
        totals = []
        for point, condition in ((better, prefer.better), (worse, prefer.worse)):
            option = option_of(self.side, point)
            try:
                if not satisfies(condition, option, call):
                    return False
                totals.append(score_option(program or self.program, self.side.schema, option, call).total)
            except Exhausted:
                return False
        return totals[0] is not None and totals[1] is not None and totals[0] < totals[1]

    def smaller_pair(self, prefer: Prefer, found: Counterexample) -> Counterexample:
        better, worse = found.point, found.worse
        assert worse is not None
        fixed = worse

        def still_better(tried: Point) -> bool:
            return self.fails_pair(prefer, tried, _in_context_of(tried, fixed))

        better = smallest(self.side, better, still_better, self._tried(), self.since)

        def still_worse(tried: Point) -> bool:
            return _in_context_of(better, tried) == tried and self.fails_pair(prefer, better, tried)

        worse = smallest(self.side, _in_context_of(better, worse), still_worse, self._tried(), self.since)
        return Counterexample(better, worse)


def _conjunction(expr: Expr) -> bool:
    """Of comparisons and facts, none of them turned round."""
    if isinstance(expr, p.And):
        return all(_conjunction(part) for part in expr.operands)
    return not isinstance(expr, p.Or | p.Not | p.If)


def _in_context_of(one: Point, other: Point) -> Point:
    """The other option, with what surrounds the one."""
    around = {key: value for key, value in one.values.items() if key[0] is not Place.OPTION}
    return Point({**other.values, **around})


def _all(conditions: Sequence[Expr], promise: Promise) -> Expr:
    return p.And(BOOL, promise.span, tuple(conditions)) if conditions else p.Const(BOOL, promise.span, True)
