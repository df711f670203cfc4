"""LANGUAGE §9 over a space: what applies, fires, is violated and contributes, in every cell.

In: a side's rules and constraints on one schema. Out: grids. Contributions are constants, or numbers of inputs with few
values; any other is `Undecidable` here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ucl.analysis.cells.grids import NEVER, Grid, constant
from ucl.analysis.cells.inputs import written_out
from ucl.analysis.cells.space import View
from ucl.analysis.cells.survey import Survey
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.evaluate.options import resolution_of, silencers
from ucl.semantics.outcome import CONTESTED_FROM, MAGNITUDE, NANO
from ucl.semantics.program import Constraint, Expr, Meta, Program, Resolution, Rule, Schema, Status
from ucl.semantics.types import BOOL, DATE

Declared = Rule | Constraint
_FROM_0_TO_1 = frozenset({"ramp_float", "ramp_int", "near_float", "near_int", "near_time"})


class Undecidable(Exception):  # noqa: N818 - a signal, not an error
    """A score that is no constant and can't be listed."""


@frozen
class Case:
    """Where `condition` holds (and no earlier one does), the rule's value is `score`, whose values may be listed."""

    condition: Expr | None
    score: Expr
    listed: bool = True


@frozen
class Written:
    """A declaration with its conditions written out. `when` includes the days on which it is valid."""

    declared: Declared
    applies: Expr
    today: Expr | None
    cases: tuple[Case, ...]
    require: Expr | None


@frozen
class Ledger:
    """What a rule adds: where `mask` holds, `nano`, of priority `priority`."""

    name: str
    priority: float
    mask: Grid
    nano: Grid


@frozen
class Ranged:
    """What a rule adds whose score can't be listed: where `mask` holds, something between two ends, both in."""

    mask: Grid
    low: int
    high: int


def range_of(score: Expr) -> tuple[float, float] | None:
    """The ends between which a score lies: `ramp` and `near` go from 0 to 1, and steps of doubles keep
    an order. None for any other."""
    match score:
        case p.Const(value=int() | float() as value):
            return float(value), float(value)
        case p.Apply(signature=signature) if signature.op in _FROM_0_TO_1:
            return 0.0, 1.0
        case p.Apply(signature=signature, arguments=(operand,)) if signature.op == "neg_float":
            ends = range_of(operand)
            return None if ends is None else (-ends[1], -ends[0])
        case p.Apply(signature=signature, arguments=(left, right)) if signature.op == "mul_float":
            a, b = range_of(left), range_of(right)
            if a is None or b is None:
                return None
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case _:
            return None


class Declarations:
    """The active declarations of a program on a schema, noted in a survey when they are first asked for."""

    def __init__(self, program: Program, schema: Schema, survey: Survey, side: int = 0) -> None:
        self.declared = declared_on(program, schema)
        self.side = side
        self.resolution = resolution_of(program, schema)
        self.active = {name: d for name, d in self.declared.items() if d.meta.status is Status.ACTIVE}
        self.silencers = silencers(self.active.values())
        self._survey = survey
        self._written: dict[str, Written] = {}

    @property
    def rules(self) -> list[str]:
        return [name for name, d in self.active.items() if isinstance(d, Rule)]

    @property
    def constraints(self) -> list[str]:
        return [name for name, d in self.active.items() if isinstance(d, Constraint)]

    def note(self, names: Iterable[str]) -> None:
        """Notes these and what overrides them directly, before the space is made."""
        for name in names:
            for each in (name, *self.silencers.get(name, ())):
                self.written(each)

    def shared_key(self, expr: Expr) -> object:
        """What a score shares with one of another side."""
        return self._survey.shared_key(expr, self.side)

    def written(self, name: str) -> Written:
        if name not in self._written:
            self._written[name] = _written(self.declared[name], self._survey, self.side)
        return self._written[name]


def declared_on(program: Program, schema: Schema) -> dict[str, Declared]:
    found: list[Declared] = [*program.rules_on(schema), *program.constraints_on(schema)]
    return {declared.name: declared for declared in found}


def _written(declared: Declared, survey: Survey, side: int) -> Written:
    today = valid_today(declared.meta, declared.span)
    parts = [written_out(declared.when)] if declared.when is not None else []
    parts += [p.Not(BOOL, u.span, written_out(u)) for u in declared.unless]
    if today is not None:
        parts.insert(0, today)
    applies = p.And(BOOL, declared.span, tuple(parts)) if parts else p.Const(BOOL, declared.span, True)
    survey.add(applies, side)
    cases: tuple[Case, ...] = ()
    require = None
    if isinstance(declared, Rule):
        written = [(written_out(e.condition), e.score) for e in declared.exceptions] + [(None, declared.score)]
        found = [case for condition, score in written for case in _cases(condition, written_out(score))]
        for case in found:
            if case.condition is not None:
                survey.add(case.condition, side)
        cases = tuple(replace(case, listed=survey.add_value(case.score, side)) for case in found)
    elif declared.require is not None:
        require = written_out(declared.require)
        survey.add(require, side)
    return Written(declared, applies, today, cases, require)


def _cases(condition: Expr | None, score: Expr) -> list[Case]:
    """A score that chooses between scores is so many cases."""
    if not isinstance(score, p.If):
        return [Case(condition, score)]
    chosen = score.condition
    if condition is not None:
        chosen = p.And(BOOL, score.span, (condition, chosen))
    return [*_cases(chosen, score.then), *_cases(condition, score.otherwise)]


def valid_today(meta: Meta, span: Any) -> Expr | None:
    """Whether today lies in `valid`; None where it always does."""
    first, end = meta.valid.first, meta.valid.end
    if first is None and end is None:
        return None
    low, high = (None if day is None else p.Const(DATE, span, day) for day in (first, end))
    return p.InRange(BOOL, span, p.ContextValue(DATE, span, ("today",)), low, high, False, False)


class Ruling:
    """What the declarations say in each cell of a view.

    `varying`, where it is given, gathers the masks of scores that can't be listed, which are else `Undecidable`.
    """

    def __init__(self, declarations: Declarations, view: View, varying: dict[object, list[Grid]] | None = None) -> None:
        self._all, self.view, self.varying = declarations, view, varying
        # Where a caller puts a list here, scores that can't be listed are told by their ends.
        self.ranged: list[Ranged] | None = None
        self._fires: dict[str, Grid] = {}
        self.over: dict[str, Grid] = {}

    @property
    def weighted(self) -> bool:
        """Whether every firing rule counts."""
        return self._all.resolution is Resolution.WEIGHTED

    def applies(self, name: str) -> Grid:
        """False where it overflows, and on days on which it is not valid; whatever its status."""
        truth = self.view.truth(self._all.written(name).applies)
        if not truth.over.values.any():
            return truth.holds
        if name in self._all.active:
            self.over[name] = self.view.either(self.over.get(name, NEVER), truth.over)
        return self.view.both(truth.holds, self.view.no(truth.over))

    def fires(self, name: str) -> Grid:
        if name not in self._all.active:
            return NEVER
        found = self._fires.get(name)
        if found is None:
            silent = [self.view.no(self.applies(other)) for other in self._all.silencers.get(name, ())]
            found = self._fires[name] = self.view.both(self.applies(name), *silent)
        return found

    def ledgers(self, names: Iterable[str]) -> list[Ledger]:
        """What firing rules add, dropped ones too; those that add nothing anywhere are left out."""
        found = []
        for name in names:
            found += self._ledgers(self._all.written(name), self.fires(name))
        return found

    def _ledgers(self, written: Written, mask: Grid) -> list[Ledger]:
        rule, view = written.declared, self.view
        assert isinstance(rule, Rule)
        found = []
        for case in written.cases:
            if not mask.values.any():
                break
            here = mask
            if case.condition is not None:
                truth = view.truth(case.condition)
                here = view.both(mask, truth.holds)
                self._note(rule.name, view.both(mask, truth.over))
                mask = view.both(mask, view.no(truth.holds))
            if not here.values.any():
                continue
            if not case.listed:
                self._vary(rule, case.score, here)
                continue
            nano, missing = self._nano(rule, case.score)
            self._note(rule.name, view.both(here, missing))
            found.append(Ledger(rule.name, rule.meta.priority, view.both(here, view.no(missing)), nano))
        return [ledger for ledger in found if ledger.mask.values.any()]

    def _vary(self, rule: Rule, score: Expr, mask: Grid) -> None:
        """Notes where a score that can't be listed counts, with all that its contribution depends on."""
        if self.ranged is not None:
            ends = range_of(score)
            if ends is None:
                raise Undecidable
            weight = rule.meta.priority * rule.meta.confidence
            low, high = sorted(round(weight * end * NANO) for end in ends)
            self.ranged.append(Ranged(mask, low, high))
            return
        if self.varying is None:
            raise Undecidable
        key = (self._all.shared_key(score), rule.meta.priority * rule.meta.confidence, rule.meta.priority)
        self.varying.setdefault(key, []).append(mask)

    def _nano(self, rule: Rule, score: Expr) -> tuple[Grid, Grid]:
        """The contribution, and where there is none: overflow, or beyond the magnitude."""
        axes, values, shape = self.view.space.numbers_of(score, self._all.side)
        weight = rule.meta.priority * rule.meta.confidence * 1.0
        weighted = [None if value is None else weight * float(value) for value in values]
        missing = [value is None or not abs(value) <= MAGNITUDE for value in weighted]
        nano = [
            0 if gone or value is None else round(value * NANO) for value, gone in zip(weighted, missing, strict=True)
        ]
        grids = (Grid(axes, np.array(column).reshape(shape)) for column in (nano, missing))
        amount, gone = (self.view.part_of(grid) for grid in grids)
        return amount, gone

    def _note(self, name: str, over: Grid) -> None:
        if over.values.any():
            self.over[name] = self.view.either(self.over.get(name, NEVER), over)

    def violated(self, name: str) -> Grid:
        written, fires = self._all.written(name), self.fires(name)
        if written.require is None:
            return fires
        truth = self.view.truth(written.require)
        self._note(name, self.view.both(fires, truth.over))
        return self.view.both(fires, self.view.no(truth.holds), self.view.no(truth.over))

    # --- all rules together -----------------------------------------------------------------------------------------

    def counted(self, ledgers: Sequence[Ledger]) -> list[Ledger]:
        """Under `priority`, without those of the side whose highest priority is the lower one."""
        if self._all.resolution is not Resolution.PRIORITY:
            return list(ledgers)
        view, up, down = self.view, NEVER, NEVER
        up_wins, down_wins = NEVER, NEVER
        for level in sorted({ledger.priority for ledger in ledgers}, reverse=True):
            here = [ledger for ledger in ledgers if ledger.priority == level]
            up = view.either(up, *(self.side_of(ledger, 1, 1) for ledger in here))
            down = view.either(down, *(self.side_of(ledger, -1, 1) for ledger in here))
            up_wins = view.either(up_wins, view.both(up, view.no(down)))
            down_wins = view.either(down_wins, view.both(down, view.no(up)))
        kept = []
        for ledger in ledgers:
            dropped = view.either(
                view.both(self.side_of(ledger, 1, 1), down_wins), view.both(self.side_of(ledger, -1, 1), up_wins)
            )
            mask = view.both(ledger.mask, view.no(dropped))
            kept.append(Ledger(ledger.name, ledger.priority, mask, ledger.nano))
        return kept

    def side_of(self, ledger: Ledger, sign: int, least: int) -> Grid:
        """Where it adds (or takes away) at least so much."""
        return self.view.both(ledger.mask, Grid(ledger.nano.axes, ledger.nano.values * sign >= least))

    def total(self, ledgers: Sequence[Ledger]) -> Grid:
        """The sum in units of 10^-9; small grids are added first."""
        view = self.view
        amounts = [view.combine(lambda mask, nano: np.where(mask, nano, 0), led.mask, led.nano) for led in ledgers]
        by_axes: dict[tuple[int, ...], Grid] = {}
        for amount in amounts:
            known = by_axes.get(amount.axes, constant(0))
            by_axes[amount.axes] = view.combine(np.add, known, amount)
        total = constant(np.int64(0))
        for amount in sorted(by_axes.values(), key=lambda grid: grid.values.size):
            total = view.combine(np.add, total, amount)
        return total

    def contested(self, ledgers: Sequence[Ledger], contested_from: float = CONTESTED_FROM) -> Grid:
        least = max(1, round(contested_from * NANO))
        up = self.view.either(*(self.side_of(ledger, 1, least) for ledger in ledgers))
        down = self.view.either(*(self.side_of(ledger, -1, least) for ledger in ledgers))
        return self.view.both(up, down)

    def invalid(self) -> Grid:
        """Where something that has been asked so far overflows."""
        return self.view.either(*self.over.values())
