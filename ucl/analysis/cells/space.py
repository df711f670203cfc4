"""The product of inputs, each by the few values that conditions can tell apart.

In: a survey of the conditions that matter. Out: a `Space` with an axis for each input that they read, and for each
expression outside what can be decided; and the truth of conditions over a `View` of it, as grids.

Sound for proofs: every option and context is in one cell, at which each condition is as it is for the option. Not every
cell is an option, where expressions that may be anything take part, or phantoms: who finds something at a cell replays
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ucl.analysis.cells.asking import INVALID, Asker, answer
from ucl.analysis.cells.grids import ALWAYS, NEVER, Grid, Indices, TooLarge, combined, taken
from ucl.analysis.cells.inputs import NOW, Key
from ucl.analysis.cells.phantoms import Answers, possible_answers
from ucl.analysis.cells.survey import Atom, Branch, Free, Same, Spoken, Survey
from ucl.analysis.cells.values import Values, values_of
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.expressions import Exhausted, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Expr


@frozen
class Truth:
    """Where a condition holds, and where finding out overflows."""

    holds: Grid
    over: Grid


@frozen
class Axis:
    """`values[i]` has one value for each side. `certain`: every way to answer is there. A free one has no key.

    The last of the values may be phantoms: places for answers that no value was found for.
    """

    key: Key | None
    values: tuple[Any, ...]
    certain: bool
    phantoms: int = 0

    @property
    def found(self) -> tuple[Any, ...]:
        """The values without phantoms."""
        return self.values[: len(self.values) - self.phantoms]


# Types whose values are tried at both ends of every stretch that conditions can tell apart.
_ON_A_LINE = (t.Int, t.Float, t.Quantity, t.Duration, t.Time)
Stretch = tuple[Any, Any]

# --- the space ------------------------------------------------------------------------------------------------------

PHANTOM = object()
"""In place of a value: one that may be, though none was found."""


class Space:
    """Axes, and what the conditions that each one decides by itself say at its values."""

    def __init__(self, survey: Survey, joint: Mapping[Key, Values] | None = None) -> None:
        """`joint` has the values of inputs that the sides declare differently, a tuple for each."""
        self.survey = survey
        self.sides = survey.sides
        self.tables: dict[int, tuple[Grid, Grid]] = {}
        self.axes: list[Axis] = []
        self.numbers: dict[Key, int] = {}
        self.free: dict[object, int] = {}
        # Every value that was worth trying, the edges too.
        self.tried: dict[Key, tuple[Any, ...]] = {}
        # Of a number that one side reads, for each place of its axis the stretches that it stands for, ends included.
        self.stretches: dict[int, tuple[tuple[Stretch, ...], ...]] = {}
        joint = joint or {}
        for key in sorted({*survey.asked, *joint}):
            self._add_axis(key, joint.get(key))
        for free, overflows in survey.free.items():
            self.free[free] = len(self.axes)
            self.axes.append(Axis(None, (False, True, None) if overflows else (False, True), True))
        for side, expr, kind in survey.atoms:
            if id(expr) not in self.tables:
                self.tables[id(expr)] = self._table(side, expr, kind.keys)

    def _add_axis(self, key: Key, joint: Values | None) -> None:
        atoms = [(side, expr) for side, expr, kind in self.survey.atoms if kind.keys == (key,)]
        found = joint or self._values(key)
        asker = Asker(self.sides, key, atoms, self._is_instant(key))
        answers = [asker.answers(value) for value in found.values]
        if key in self.survey.every or joint is not None:
            places = list(range(len(answers)))
        else:
            first: dict[tuple[Any, ...], int] = {}
            for place, answer in enumerate(answers):
                first.setdefault(tuple(answer), place)
            places = sorted(first.values())
        kept = [answers[place] for place in places]
        values = [found.values[place] for place in places]
        possible = None if found.certain or len(kept) < 1 or joint else possible_answers([expr for _, expr in atoms])
        more = _phantoms(possible or set(), kept) if key not in self.survey.every else []
        certain = found.certain or (possible is not None and key not in self.survey.every)
        self.tried[key] = found.values
        if found.certain and joint is None:
            self._note_stretches(key, found, places, answers)
        number = self.numbers[key] = len(self.axes)
        nothing = (PHANTOM,) * len(self.sides)
        self.axes.append(Axis(key, (*values, *(nothing for _ in more)), certain, len(more)))
        for column, (_, expr) in enumerate(atoms):
            told = [answer[column] for answer in (*kept, *more)]
            holds, over = (Grid((number,), np.array([answer[i] for answer in told], np.bool_)) for i in (0, 1))
            self.tables[id(expr)] = (holds, over)

    def _note_stretches(
        self, key: Key, found: Values, places: Sequence[int], answers: Sequence[Sequence[tuple[bool, bool]]]
    ) -> None:
        """Values next to one another that answer alike make a stretch: there is one at both ends of each."""
        side = next(side for side in self.sides if key in side.inputs.by_key)
        if not isinstance(t.present(side.inputs.by_key[key].field.type), _ON_A_LINE):
            return
        whole = key in self.survey.every
        looks = {place: (place if whole else tuple(answers[place])) for place in range(len(answers))}
        there = [(v[0], looks[place]) for place, v in enumerate(found.values) if v[0] is not None]
        ordered = sorted(there, key=lambda pair: pair[0])
        runs: dict[object, list[Stretch]] = {}
        for (value, look), before in zip(ordered, [None, *(look for _, look in ordered)], strict=False):
            if look == before:
                runs[look][-1] = (runs[look][-1][0], value)
            else:
                runs.setdefault(look, []).append((value, value))
        self.stretches[len(self.axes)] = tuple(tuple(runs.get(looks[place], ())) for place in places)

    def _values(self, key: Key) -> Values:
        """Where the sides declare an input alike, one value is each side's."""
        side = next(side for side in self.sides if key in side.inputs.by_key)
        found = values_of(side.inputs.by_key[key], self.survey.asked[key], side.zone, self.survey.since)
        one_clock = key != NOW or len({other.zone for other in self.sides}) == 1
        return Values(tuple((value,) * len(self.sides) for value in found.values), found.certain and one_clock)

    def _is_instant(self, key: Key) -> bool:
        side = next(side for side in self.sides if key in side.inputs.by_key)
        return isinstance(t.present(side.inputs.by_key[key].field.type), t.DateTime)

    def _answer_at(self, side: int, expr: Expr, at: Mapping[Key, Any]) -> tuple[bool, bool]:
        own = {key: value[side] for key, value in at.items()}
        invalid = any(value is INVALID for value in own.values())
        return answer(expr, None if invalid else self.sides[side].frame(own))

    def _table(self, side: int, expr: Expr, keys: tuple[Key, ...]) -> tuple[Grid, Grid]:
        axes, places, shape = self._product(keys)
        told = np.array([self._answer_at(side, expr, dict(zip(axes, at, strict=True))) for at in places], np.bool_)
        numbers = tuple(self.numbers[key] for key in axes)
        holds, over = (Grid(numbers, told[:, i].reshape(shape)) for i in (0, 1))
        return holds, over

    def _product(self, keys: Iterable[Key]) -> tuple[list[Key], Iterable[tuple[Any, ...]], list[int]]:
        """The keys in the order of their axes, every combination of their values, and how many there are of each."""
        axes = sorted(keys, key=lambda key: self.numbers[key])
        values = [self.axes[self.numbers[key]].values for key in axes]
        return axes, product(*values), [len(v) for v in values]

    def numbers_of(self, expr: Expr, side: int) -> tuple[tuple[int, ...], list[Any], list[int]]:
        """A number's axes, its values (None where it has none or overflows), and their shape. Small: `add_value`."""
        axes, places, shape = self._product(self.sides[side].inputs.read_by(expr))
        values: list[Any] = []
        for at in places:
            own = {key: value[side] for key, value in zip(axes, at, strict=True)}
            try:
                invalid = any(value is INVALID for value in own.values())
                values.append(None if invalid else evaluate(expr, self.sides[side].frame(own)))
            except (Overflow, Exhausted, TypeError):
                values.append(None)
        return tuple(self.numbers[key] for key in axes), values, shape


def _phantoms(possible: set[Answers], kept: Sequence[Sequence[tuple[bool, bool]]]) -> list[list[tuple[bool, bool]]]:
    """The possible answers that none of the kept ones gives."""
    given = {tuple(holds for holds, _ in answer) for answer in kept}
    return [[(holds, False) for holds in answer] for answer in sorted(possible - given)]


class View:
    """A part of the space: some values of each axis. Raises `TooLarge` past `cap` cells at once.

    `spoken` tells the truth of what speaks of outcomes.
    """

    def __init__(self, space: Space, cap: int) -> None:
        self.space, self.cap = space, cap
        self.spoken: Callable[[Expr], Truth] | None = None
        self.kept: dict[int, Indices] = {}
        # Every axis that anything said here depends on.
        self.used: set[int] = set()
        self._known: dict[int, Truth] = {}

    def at(self, axis: int, place: int) -> View:
        """The part of this view with one value of an axis."""
        part = View(self.space, self.cap)
        part.used = set(self.used)
        part.kept = {**self.kept, axis: self.indices(axis)[place : place + 1]}
        return part

    def combine(self, operation: Any, *grids: Grid) -> Grid:
        return combined(operation, grids, self.cap)

    def both(self, *grids: Grid) -> Grid:
        found = ALWAYS
        for grid in sorted(grids, key=lambda grid: grid.values.size):
            found = self.combine(np.logical_and, found, grid)
        return found

    def either(self, *grids: Grid) -> Grid:
        found = NEVER
        for grid in sorted(grids, key=lambda grid: grid.values.size):
            found = self.combine(np.logical_or, found, grid)
        return found

    def no(self, grid: Grid) -> Grid:
        return Grid(grid.axes, ~grid.values)

    def indices(self, axis: int) -> Indices:
        found = self.kept.get(axis)
        return np.arange(len(self.space.axes[axis].values)) if found is None else found

    def longest(self) -> int:
        """The axis with the most values left; `TooLarge` where each has one."""
        axis = max(range(len(self.space.axes)), key=lambda axis: len(self.indices(axis)))
        if len(self.indices(axis)) == 1:
            raise TooLarge
        return axis

    def restrict(self, expr: Expr) -> None:
        """Leaves out values at which a conjunct of the condition, read from one input, is false."""
        if isinstance(self.space.survey.kinds[id(expr)], Branch) and isinstance(expr, p.And):
            for part in expr.operands:
                self.restrict(part)
            return
        holds = self.truth(expr).holds
        if len(holds.axes) == 1:
            (axis,) = holds.axes
            self.kept[axis] = self.indices(axis)[holds.values]
            self._known.clear()

    def narrow(self, kept: Mapping[int, Indices]) -> None:
        """Keeps these places among those that are left."""
        for axis, places in kept.items():
            self.kept[axis] = self.indices(axis)[places]
        self._known.clear()

    def truth(self, expr: Expr) -> Truth:
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = self._truth(expr)
        return known

    def _truth(self, expr: Expr) -> Truth:
        match self.space.survey.kinds[id(expr)]:
            case Atom():
                holds, over = self.space.tables[id(expr)]
                self.used |= set(holds.axes)
                return Truth(self.part_of(holds), self.part_of(over))
            case Free(key):
                axis = self.space.free[key]
                self.used.add(axis)
                states = [self.space.axes[axis].values[i] for i in self.indices(axis)]
                holds = Grid((axis,), np.array([state is True for state in states]))
                return Truth(holds, Grid((axis,), np.array([state is None for state in states])))
            case Same(other):
                return self.truth(other)
            case Spoken():
                assert self.spoken is not None
                return self.spoken(expr)
            case Branch():
                return self._branch(expr)

    def part_of(self, grid: Grid) -> Grid:
        """The view's part of a grid over the whole space."""
        return taken(grid, {axis: self.kept[axis] for axis in grid.axes if axis in self.kept})

    def _branch(self, expr: Expr) -> Truth:
        """From left to right what is needed, as `evaluate` goes."""
        match expr:
            case p.Not(operand=operand):
                truth = self.truth(operand)
                return Truth(self.no(truth.holds), truth.over)
            case p.And(operands=operands):
                return self._sequence(operands, True)
            case p.Or(operands=operands):
                return self._sequence(operands, False)
            case p.If(condition=condition, then=then, otherwise=otherwise):
                c, a, b = self.truth(condition), self.truth(then), self.truth(otherwise)
                holds = self.combine(np.where, c.holds, a.holds, b.holds)
                return Truth(holds, self.either(c.over, self.combine(np.where, c.holds, a.over, b.over)))
            case p.Compare(operator=operator, left=left, right=right):
                a, b = self.truth(left), self.truth(right)
                equal = self.combine(np.equal, a.holds, b.holds)
                return Truth(equal if operator == "==" else self.no(equal), self.either(a.over, b.over))
            case _:
                raise AssertionError(expr)

    def _sequence(self, operands: Sequence[Expr], going: bool) -> Truth:
        """`and` goes on while its operands hold, `or` while they do not."""
        reached, over = ALWAYS, NEVER
        for operand in operands:
            truth = self.truth(operand)
            if truth.over.values.any():
                over = self.either(over, self.both(reached, truth.over))
            reached = self.both(reached, truth.holds if going else self.no(truth.holds))
        return Truth(reached if going else self.no(reached), over)

    def point(self, axes: Sequence[int], cell: Sequence[int]) -> dict[Key, Any]:
        """The values of a cell's inputs, a tuple with one for each side; of inputs that the view restricts and that the
        cell does not speak of, the plainest that it keeps."""
        places = {**dict.fromkeys(self.kept, 0), **dict(zip(axes, cell, strict=True))}
        found = {}
        for axis, place in sorted(places.items()):
            declared = self.space.axes[axis]
            value = declared.values[int(self.indices(axis)[place])]
            if declared.key is not None and PHANTOM not in value:
                found[declared.key] = value
        return found

    def without_phantoms(self, holds: Grid) -> Grid:
        """Where it holds, as far as options can be made of the cells."""
        for axis in holds.axes:
            declared = self.space.axes[axis]
            if declared.phantoms:
                real = self.indices(axis) < len(declared.found)
                holds = self.both(holds, Grid((axis,), real))
        return holds

    def plainest(self, holds: Grid, most: int) -> list[tuple[int, ...]]:
        """Cells where it holds, those of the plainest values first."""
        cells = np.argwhere(holds.values)
        if len(cells) > 200_000:
            cells = cells[:200_000]
        order = np.argsort(cells.sum(axis=1), kind="stable")[:most] if cells.size else np.arange(min(len(cells), 1))
        return [tuple(cells[i].tolist()) for i in order]

    def certain(self) -> bool:
        """Whether every axis that has been looked at has every way to answer."""
        return all(self.space.axes[axis].certain for axis in self.used)
