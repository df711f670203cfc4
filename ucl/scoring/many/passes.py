"""One pass over the options of many people.

In: everybody's rules (`rules`), a table, whose its rows are, what holds around the call. Out: `Scores` for every row.
Rules that stand in tables are walked from person to person; others go through the ordinary kernels, all people who
share them at once, each person's options being one choice set.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns
from ucl.kernels.crowd.run import load, score_people
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.lower import lower
from ucl.kernels.plan import Plan
from ucl.kernels.run import Scores
from ucl.kernels.run import score as run_kernels
from ucl.scoring import errors
from ucl.scoring.calls import Moment, find_zone, start_call
from ucl.scoring.compiled import CompiledProgram
from ucl.scoring.many.result import Owned, runs_of
from ucl.scoring.many.rules import Layout, Rules, Shelf
from ucl.semantics.outcome import Call, Invalid, Reason
from ucl.spans import span
from ucl.tables.ingest import ingest

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Own = Mapping[str, Any]
"""What one person brings to a call: arguments `context`, `memory`, `weights` of `score`."""


@dataclass(frozen=True)
class Around:
    """What holds for everybody."""

    now: Moment
    timezone: str | None
    contested_from: float

    def arguments(self, own: Own | None = None) -> dict[str, Any]:
        """As `CompiledProgram.score` takes them."""
        shared = {"now": self.now, "timezone": self.timezone, "contested_from": self.contested_from}
        return shared | dict(own or {})

    def call(self, program: CompiledProgram, own: Own | None = None) -> Call:
        return start_call(program.semantic, **self.arguments(own))


def scored(
    shelf: Shelf,
    table: pa.Table,
    owned: Owned,
    members: Sequence[tuple[CompiledProgram, Rules]],
    around: Around,
    own: Mapping[Hashable, Own],
    threads: int,
    on_compile: Callable[[], None] | None,
) -> Scores:
    """`members` has the program and the rules of each of the owners, `own` what some of them bring along."""
    compiled = load(on_compile)
    rules_of = np.array([rules.number for _, rules in members], np.int64)
    is_own = np.zeros(len(rules_of), np.bool_)
    if own:
        is_own[:] = [owner in own for owner in owned.owners]
    with span("lowering"):
        key = (around.timezone, around.contested_from, compiled)
        shelf.prepare(rules_of[~is_own], key, around.call, compiled)
    places = np.where(is_own, -1, shelf.places[rules_of])
    made = None
    for layout, rows in _by_layout(shelf, rules_of, owned):
        part = _Part(table, owned, rows, layout, around, threads)
        walked = part.walked(places)
        if part.rows is None:
            made = _Made.of(walked)
        else:
            made = made or _Made.empty(table.num_rows)
            made.put(part.rows, walked)
        for plan, chosen in _others(shelf, members, owned, around, own, part, places):
            made.put_again(chosen if part.rows is None else part.rows[chosen], part.by_kernels(plan, chosen))
    return (made or _Made.empty(table.num_rows)).scores()


def _by_layout(shelf: Shelf, rules_of: Ints, owned: Owned) -> Iterator[tuple[Layout, Ints | None]]:
    """Layouts with the rows that are read in them, None for all."""
    layouts = shelf.layout_numbers[rules_of]
    used = np.unique(layouts).tolist()
    for number in used:
        rows = None if len(used) == 1 else np.flatnonzero(layouts[owned.of_row] == number)
        yield shelf.layouts[number], rows


def _others(
    shelf: Shelf,
    members: Sequence[tuple[CompiledProgram, Rules]],
    owned: Owned,
    around: Around,
    own: Mapping[Hashable, Own],
    part: _Part,
    places: Ints,
) -> Iterator[tuple[Plan, Ints]]:
    """Plans for the people who are not in tables, with the part's rows that they are for."""
    shared: dict[int, list[int]] = {}
    for person in np.unique(part.who[places[part.who] < 0]).tolist():
        owner = owned.owners[person]
        program, rules = members[person]
        if owner not in own and rules.plan is not None:
            shared.setdefault(rules.number, []).append(person)
            continue
        with errors.bounded():
            plan = lower(program.semantic, rules.schema, around.call(program, own.get(owner)))
        yield plan, np.flatnonzero(part.of_row == person)
    for number, people in shared.items():
        found = shelf.rules[number]
        assert found is not None
        assert found.plan is not None
        yield found.plan, np.flatnonzero(np.isin(part.of_row, people))


class _Part:
    """The rows of one layout, person by person: row i is `rows[i]` of the table, or row i itself where that is None.

    In runs, as `Owned` says them.
    """

    def __init__(
        self, table: pa.Table, owned: Owned, rows: Ints | None, layout: Layout, around: Around, threads: int
    ) -> None:
        if rows is None and owned.is_together:
            self.who, self.starts = owned.who, owned.starts
        else:
            of_row = owned.of_row if rows is None else owned.of_row[rows]
            order = np.argsort(of_row, kind="stable")
            rows = order if rows is None else rows[order]
            self.who, self.starts = runs_of(of_row[order])
        self.rows = rows
        self._threads = threads
        zone = find_zone(around.timezone or layout.zone)
        self._layout = layout
        self._call = Call(zone, 0, 0)
        with span("reading columns"):
            self.columns = ingest(table if rows is None else table.take(rows), layout.schema, zone)

    @cached_property
    def of_row(self) -> Ints:
        return np.repeat(self.who, np.diff(self.starts))

    def walked(self, places: Ints) -> Scores:
        """By tables; of people whose place is below 0, nothing that counts."""
        people = np.stack([places[self.who], self.starts[:-1], self.starts[1:]], axis=1)
        sums = score_people(self._layout.tables, self.columns, self._call, people[people[:, 0] >= 0], self._threads)
        invalid = {
            row: Invalid(cell.field, Reason(cell.reason), cell.value) for row, cell in self.columns.invalid.items()
        }
        valid = np.ones(self.columns.rows, np.bool_)
        gone = np.fromiter(invalid, np.int64, len(invalid))
        valid[gone], sums.total[gone], sums.feasible[gone], sums.contested[gone] = False, 0, False, False
        return Scores(sums.total, sums.feasible, sums.contested, valid, invalid)

    def by_kernels(self, plan: Plan, chosen: Ints) -> Scores:
        """Some rows, by a plan; each person's are a choice set."""
        columns = rows_of(self.columns, chosen)
        known = self.columns.invalid
        cells = {place: known[row] for place, row in enumerate(chosen.tolist()) if row in known} if known else {}
        some = Columns(columns.rows, columns.columns, cells)
        with errors.bounded(), span("kernels"):
            return run_kernels(plan, some, groups=self.of_row[chosen], threads=self._threads)


@dataclass(frozen=True)
class _Made:
    """The scores of the whole table, as parts of it are done."""

    total: Ints
    feasible: NDArray[np.bool_]
    contested: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    invalid: dict[int, Invalid]

    @staticmethod
    def empty(rows: int) -> _Made:
        feasible, contested, valid = np.zeros((3, rows), np.bool_)
        return _Made(np.zeros(rows, np.int64), feasible, contested, valid, {})

    @staticmethod
    def of(scores: Scores) -> _Made:
        """What is said of every row."""
        return _Made(scores.total, scores.feasible, scores.contested, scores.valid, dict(scores.invalid))

    def put_again(self, rows: Ints, scores: Scores) -> None:
        """Over what was said of these rows before."""
        for row in rows.tolist() if self.invalid else ():
            self.invalid.pop(row, None)
        self.put(rows, scores)

    def put(self, rows: Ints, scores: Scores) -> None:
        self.total[rows], self.feasible[rows] = scores.total, scores.feasible
        self.contested[rows], self.valid[rows] = scores.contested, scores.valid
        self.invalid.update({int(rows[row]): why for row, why in scores.invalid.items()})

    def scores(self) -> Scores:
        return Scores(self.total, self.feasible, self.contested, self.valid, dict(sorted(self.invalid.items())))
