"""What an edit changed in meaning: LANGUAGE §14.

In: an old and a new program. Out: a `Comparison`: for each schema the options and contexts, the plainest first, of
which the two say something different, grouped by the rules that make the difference; how much is undecided. Where
nothing is either, the programs are equivalent: every cell has been looked at.

Cells are compared by what changed rules add to either side, and by which of their priorities; what both programs have
in common adds the same to both. Where cells differ, the whole programs are asked about an option of the cell.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ucl.analysis.cells.asking import INVALID
from ucl.analysis.cells.grids import Grid, Spent, TooLarge, Work, constant, merge_alike, sizes_of, to_split
from ucl.analysis.cells.inputs import NOW, Key, Place
from ucl.analysis.cells.outcomes import Declarations, Undecidable, declared_on
from ucl.analysis.cells.space import Space, View
from ucl.analysis.cells.survey import Side, Survey
from ucl.analysis.diff.pairing import changed, declared_differently, joint_values
from ucl.analysis.diff.replay import Replay, Shown
from ucl.analysis.diff.sayings import Parts, Said, differs_in
from ucl.analysis.points import Point, point_at, smallest, with_memories, with_memory
from ucl.analysis.properties.prove import PARTS
from ucl.frozen import frozen
from ucl.semantics.outcome import Outcome
from ucl.semantics.program import Expr, Program, Schema

CELLS = 1 << 20
_REPLAYS = 12
_TRIES = 400
_MOST_GROUPS = 60
_SEED = 0


@frozen
class Difference:
    """An option and a context, as data, of which the programs say something different, because of `rules`."""

    schema: str
    rules: tuple[str, ...]
    option: Mapping[str, Any]
    context: Mapping[str, Any]
    old: Outcome | None
    new: Outcome | None


@frozen
class Comparison:
    differences: tuple[Difference, ...]
    undecided: int

    @property
    def equivalent(self) -> bool:
        return not self.differences and not self.undecided


@frozen
class Reach:
    """Where a condition holds and two programs say something different: values of all inputs that decide so, in a few
    cells, the plainest first. `decided`: with no cells there is no such option."""

    cells: tuple[Mapping[Key, Any], ...]
    decided: bool


def compare(old: Program, new: Program, since: int, cells: int = CELLS) -> Comparison:
    """`since` is the first instant that `now` may be."""
    differences: list[Difference] = []
    undecided = 0
    for one, other in _schemas(old, new):
        if one is None or other is None:
            differences += _only_in_one(old if one else new, one or other, one is not None, since)
            continue
        pair = _Pair(old, new, one, other, since, cells)
        found = pair.differences()
        if pair.undecided:
            # What both have in common may settle it: a constraint, say, that forbids the same options anyway.
            whole = _Pair(old, new, one, other, since, cells, whole=True)
            again = whole.differences()
            if whole.undecided < pair.undecided:
                pair, found = whole, again
        differences += found
        undecided += pair.undecided
    return Comparison(tuple(differences), undecided)


def reach(
    old: Program,
    new: Program,
    schemas: tuple[Schema, Schema],
    since: int,
    conditions: Sequence[Expr],
    cells: int = CELLS,
) -> list[Reach]:
    """For each condition, written out and about the new program's schema; `schemas` are the same one in either
    program. What promises something under that condition alone can be broken by the edit there and nowhere else."""
    pair = _Pair(old, new, *schemas, since, cells, conditions)
    return [pair.reach(condition) for condition in conditions]


def _schemas(old: Program, new: Program) -> list[tuple[Schema | None, Schema | None]]:
    """Those on which either program scores, by name."""
    scored = [_scored(program) for program in (old, new)]
    known = [{s.name: s for s in program.schemas.values()} for program in (old, new)]
    old_known, new_known = (every | some for every, some in zip(known, scored, strict=True))
    return [(old_known.get(name), new_known.get(name)) for name in dict.fromkeys([*scored[0], *scored[1]])]


def _scored(program: Program) -> dict[str, Schema]:
    found = {rule.schema.name: rule.schema for rule in program.rules}
    return found | {constraint.schema.name: constraint.schema for constraint in program.constraints}


def _only_in_one(program: Program, schema: Schema | None, is_old: bool, since: int) -> list[Difference]:
    """A schema that only one of the programs knows: it scores an option of which the other can say nothing."""
    assert schema is not None
    side = Side(program, schema)
    replay = Replay((side, side), {})
    told = replay.show(point_at(side, {}, since), {}, now_matters=False)
    rules = tuple(declared_on(program, schema))
    sayings = (told.old, None) if is_old else (None, told.new)
    return [Difference(schema.name, rules, told.option, told.context, *sayings)]


# --- one schema -----------------------------------------------------------------------------------------------------


class _Pair:
    def __init__(
        self,
        old: Program,
        new: Program,
        one: Schema,
        other: Schema,
        since: int,
        cells: int,
        conditions: Sequence[Expr] = (),
        whole: bool = False,
    ) -> None:
        """`conditions` are about the new program's options. `whole`: what did not change is looked at too."""
        self.undecided = 0
        self._schema, self._since, self._cells = one, since, cells
        self._sides = (Side(old, one), Side(new, other))
        self._different = declared_differently(*self._sides)
        self._survey = Survey(self._sides, since, self._different)
        self._declarations = tuple(
            Declarations(program, schema, self._survey, number)
            for number, (program, schema) in enumerate(((old, one), (new, other)))
        )
        left, right = self._declarations
        self._changed = (list(left.active), list(right.active)) if whole else changed(left, right, self._sides)
        for declarations, names in zip(self._declarations, self._changed, strict=True):
            declarations.note(names)
        # With nothing in common, and every score known, outcomes themselves can be compared.
        self._whole = all(
            len(names) == len(declarations.active)
            and all(case.listed for name in names for case in declarations.written(name).cases)
            for declarations, names in zip(self._declarations, self._changed, strict=True)
        )
        for condition in conditions:
            self._survey.add(condition, 1)
        joint = joint_values(*self._sides, self._survey, self._different)
        self._space = Space(self._survey, joint)
        self._replay = Replay(self._sides, self._declared_names())
        self._found: dict[tuple[str, ...], Difference] = {}

    def _declared_names(self) -> dict[str, int]:
        names = [name for declarations, c in zip(self._declarations, self._changed, strict=True) for name in c]
        return {name: number for number, name in enumerate(dict.fromkeys(names))}

    def differences(self) -> list[Difference]:
        if not any(self._changed) and not self._different:
            return []
        try:
            self._refuse_mixed()
            self._by_cells(View(self._space, self._cells), Work(self._cells * PARTS))
        except (TooLarge, Spent, Undecidable):
            self._by_trying()
            self.undecided += 1
        return sorted(self._found.values(), key=lambda found: (len(found.rules), found.rules))

    def _refuse_mixed(self) -> None:
        """What rules in common add counts otherwise under another way to resolve."""
        if not self._whole and self._declarations[0].resolution is not self._declarations[1].resolution:
            raise Undecidable

    # --- by cells ---------------------------------------------------------------------------------------------------

    def _by_cells(self, view: View, work: Work) -> None:
        """The whole view at once, or value by value of one axis, where it has too many cells."""
        kept = merge_alike([grid for parts in self._parts(view) for grid in parts.grids()])
        view.narrow(kept)
        parts = self._parts(view)
        grids = [grid for each in parts for grid in each.grids()]
        count = prod(sizes_of(grids).values())
        if count > view.cap:
            axis = to_split(grids)
            for place in range(sizes_of(grids)[axis]):
                self._by_cells(view.at(axis, place), work)
            return
        work.do(count)
        old, new = (each.said(self._whole) for each in parts)
        differs = differs_in(view, old, new)
        if differs.values.any():
            self._group(view, differs, old, new)
        elif not self.undecided and (not view.certain() or self._different & self._memory()):
            self._by_trying()
            self.undecided += 1

    def _parts(self, view: View) -> list[Parts]:
        return [
            Parts(self._declarations[number], self._changed[number], view, list(self._unreadable(view, number)))
            for number in (0, 1)
        ]

    def _memory(self) -> frozenset[Key]:
        return frozenset(key for key in self._different if key[0] is Place.MEMORY)

    def _unreadable(self, view: View, number: int) -> Iterator[Grid]:
        """Where data can't be read by the side."""
        for axis, declared in enumerate(self._space.axes):
            if declared.key in self._different:
                view.used.add(axis)
                gone = [value[number] is INVALID for value in declared.values]
                yield view.part_of(Grid((axis,), np.array(gone, np.bool_)))

    def _group(self, view: View, differs: Grid, old: Said, new: Said) -> None:
        """For each set of rules that differ in cells, the plainest cells, until an option shows the difference."""
        names = list(dict.fromkeys([*old.rules, *new.rules]))[:_MOST_GROUPS]
        bits = constant(np.int64(0))
        nothing = constant(0.5)
        for number, name in enumerate(names):
            unlike = view.combine(np.not_equal, old.rules.get(name, nothing), new.rules.get(name, nothing))
            bits = view.combine(lambda b, u, n=number: b + (u.astype(np.int64) << n), bits, unlike)
        whole = view.combine(lambda d, b: np.where(d, b, -1), differs, bits)
        for group in np.unique(whole.values).tolist()[:_MOST_GROUPS]:
            if group >= 0:
                self._look(view, Grid(whole.axes, whole.values == group))

    def _look(self, view: View, cells: Grid) -> None:
        for cell in view.plainest(view.without_phantoms(cells), _REPLAYS):
            point, joint = self._point(view.point(cells.axes, cell))
            if any(self._note(tried, joint) for tried in with_memories(self._sides[0], point)):
                return
        self.undecided += 1

    def _point(self, known: Mapping[Key, Any]) -> tuple[Point, dict[Key, Any]]:
        """The inputs that both declare alike, and the others."""
        joint = {axis.key: axis.values[0] for axis in self._space.axes if axis.key in self._different and axis.key}
        joint |= {key: value for key, value in known.items() if key in self._different}
        alike = {key: value[0] for key, value in known.items() if key not in self._different}
        point = point_at(self._sides[0], alike, self._since)
        return Point({key: value for key, value in point.values.items() if key not in self._different}), joint

    # --- under a condition ------------------------------------------------------------------------------------------

    def reach(self, condition: Expr) -> Reach:
        if not any(self._changed) and not self._different:
            return Reach((), True)
        found: list[Mapping[Key, Any]] = []
        view = View(self._space, self._cells)
        try:
            self._refuse_mixed()
            view.restrict(condition)
            decided = self._cross(view, condition, found, Work(self._cells))
        except (TooLarge, Spent, Undecidable):
            decided = False
        return Reach(tuple(found), decided)

    def _cross(self, view: View, condition: Expr, found: list[Mapping[Key, Any]], work: Work) -> bool:
        """Adds cells where the condition holds and the programs differ; whether nothing else has been overlooked."""
        grids = [grid for parts in self._parts(view) for grid in parts.grids()]
        view.narrow(merge_alike([*grids, view.truth(condition).holds]))
        parts, holds = self._parts(view), view.truth(condition).holds
        grids = [holds, *(grid for each in parts for grid in each.grids())]
        count = prod(sizes_of(grids).values())
        if count > view.cap:
            axis = to_split(grids)
            decided = [
                self._cross(view.at(axis, place), condition, found, work) for place in range(sizes_of(grids)[axis])
            ]
            return all(decided)
        work.do(count)
        old, new = (each.said(self._whole) for each in parts)
        cells = view.both(differs_in(view, old, new), holds)
        for cell in view.plainest(cells, _REPLAYS) if cells.values.any() else ():
            known = view.point(cells.axes, cell)
            found.append({key: value[1] for key, value in known.items() if key not in self._different})
        return view.certain() and not self._different

    # --- differences ------------------------------------------------------------------------------------------------

    def _note(self, point: Point, joint: Mapping[Key, Any]) -> bool:
        """Whether the programs differ there; if so, and for new reasons, made small and kept."""
        told = self._shown(point, joint)
        if told is None:
            return False
        rules = self._replay.to_blame(told)
        if rules not in self._found:
            point, joint = self._smaller(point, joint, rules)
            told = self._shown(point, joint) or told
            self._found[rules] = Difference(self._schema.name, rules, told.option, told.context, told.old, told.new)
        return True

    def _shown(self, point: Point, joint: Mapping[Key, Any]) -> Shown | None:
        told = self._replay.show(point, joint, NOW in self._space.numbers)
        return told if told.differs else None

    def _smaller(
        self, point: Point, joint: Mapping[Key, Any], rules: tuple[str, ...]
    ) -> tuple[Point, Mapping[Key, Any]]:
        def still(tried: Point, with_joint: Mapping[Key, Any] = joint) -> bool:
            told = self._shown(tried, with_joint)
            return told is not None and self._replay.to_blame(told) == rules

        tried = {a.key: [v[0] for v in a.found] for a in self._space.axes if a.key and a.key not in self._different}
        for axis in self._space.axes:
            if axis.key in joint and axis.key is not None:
                kept = next((v for v in axis.values if still(point, {**joint, axis.key: v})), joint[axis.key])
                joint = {**joint, axis.key: kept}
        final = joint
        return smallest(self._sides[0], point, lambda p: still(p, final), tried, self._since), joint

    def _by_trying(self) -> None:
        """Where cells are too many: values of inputs put together at random, the same ones on every run."""
        chance = random.Random(_SEED)
        axes = [axis for axis in self._space.axes if axis.key is not None]
        for _ in range(_TRIES):
            known = {axis.key: chance.choice(axis.found) for axis in axes if axis.key is not None and axis.found}
            point, joint = self._point(known)
            self._note(with_memory(self._sides[0], point, chance), joint)
