"""What scoring a table gives: arrays by row, a ranking, rows as JSON, columns, explanations.

In: a program, columns of options, a call. Out: a `Result`. Totals come from the kernels at once; which rules fired is
worked out for the rows that are asked for, in ranges that keep memory small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.execution.distinct import take
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.run import Lists, Scores, Told, tell, whole_columns
from ucl.models.values import instant_to_python
from ucl.scoring import errors
from ucl.scoring.calls import instant_text
from ucl.scoring.results.arrays import ScoreArrays
from ucl.scoring.results.choice_sets import TableChoices
from ucl.scoring.results.counts import Counts
from ucl.scoring.results.explain import Explanation
from ucl.scoring.results.lines import json_lines, row_json
from ucl.scoring.results.ranking import Ranked, best_of_sets, best_rows
from ucl.scoring.results.records import record_at
from ucl.scoring.words import reason_of
from ucl.semantics.expressions import Budget, ChoiceSet, Frame
from ucl.semantics.outcome import Call, Invalid, Outcome, as_score, decide
from ucl.semantics.program import Constraint, Program, Rule, Schema
from ucl.semantics.trace import trace_in
from ucl.tables.ingest import FewRows, table_of

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa

    from ucl.kernels.columns import Columns
    from ucl.kernels.execution.vector import Vector
    from ucl.kernels.plan import Plan
    from ucl.scoring.display.svg import Svg
    from ucl.tables.output import ResultColumns

ColumnsWanted = Literal["all", "results", "scores"]
"""Of a table of results: the input's columns and all that is said of a row; only what is said; only scores."""


@frozen
class Scored:
    """Everything that a result is made from."""

    program: Program
    schema: Schema
    call: Call
    source: pa.Table | FewRows
    columns: Columns
    plan: Plan
    group_by: str | None
    groups: NDArray[np.int64] | None
    scores: Scores
    numbers: NDArray[np.int64] | None = None
    """The rows' numbers in the whole table that these are a part of; None where this is all of it."""
    wholes: Sequence[Vector] | None = None
    """Of a part, what only the whole table gives, for its rows."""

    @property
    def table(self) -> pa.Table:
        return table_of(self.source)


class Result(ScoreArrays):
    """The scores of one table, by row from 0. Rows that are invalid keep their place.

    An invalid row has the total NaN, is neither `feasible` nor `contested`, and has no decision; `invalid` says why.
    """

    def __init__(self, scored: Scored) -> None:
        super().__init__(scored.scores)
        self._scored = scored
        self._call = scored.call
        self._choices: dict[int, ChoiceSet] = {}

    def __repr__(self) -> str:
        return f"<ucl result: {self.summary()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows."""
        from ucl.scoring.display.notebook import html_of

        return html_of(self)

    # --- what was scored --------------------------------------------------------------------------------------------

    @property
    def table(self) -> pa.Table:
        """The input."""
        return self._scored.table

    @property
    def schema(self) -> Schema:
        """What a row is."""
        return self._scored.schema

    @property
    def group_by(self) -> str | None:
        """The column that splits the table into choice sets."""
        return self._scored.group_by

    # --- the call ---------------------------------------------------------------------------------------------------

    @property
    def now(self) -> dt.datetime:
        """The moment of the call, in its zone."""
        return instant_to_python(self._call.now, self._call.zone)

    @property
    def timezone(self) -> str:
        return self._call.zone.name

    @property
    def folds(self) -> int:
        """How many local times happened twice; the first was taken."""
        return self._scored.columns.folds

    @property
    def gaps(self) -> int:
        """How many local times were skipped; they were moved forward by the gap."""
        return self._scored.columns.gaps

    @property
    def counts(self) -> Counts:
        return Counts(len(self), len(self.invalid), self.folds, self.gaps)

    @property
    def warnings(self) -> list[str]:
        """What a caller should know of the data, in sentences; empty where there is nothing."""
        return self.counts.warnings

    def summary(self) -> str:
        """One line: rows, warnings, the moment and the zone."""
        return self.counts.summary(instant_text(self._call), self.timezone)

    # --- rows -------------------------------------------------------------------------------------------------------

    def ranking(self, top: int | None = 5) -> list[Ranked]:
        """The best rows: feasible ones first, then by total, then in row order; invalid rows come last.

        Of a table that `group_by` splits, the ranking is over all rows.
        """
        if top is not None and not isinstance(top, int | np.integer):
            raise errors.wrong_argument("top", "a whole number of rows", top)
        rows = best_rows(self._scores, len(self) if top is None else max(top, 0))
        return [self._ranked(row) for row in rows]

    def rankings(self, top: int = 5) -> list[list[Ranked]]:
        """The best rows of each choice set, in the order in which sets are first met; one set without `group_by`."""
        if not isinstance(top, int | np.integer) or isinstance(top, bool):
            raise errors.wrong_argument("top", "a whole number of rows", top)
        groups = self._scored.groups
        if groups is None:
            return [self.ranking(top)]
        _, first, sets = np.unique(groups, return_index=True, return_inverse=True)
        in_order = np.argsort(np.argsort(first))
        rows, starts = best_of_sets(self._scores, in_order[sets], max(top, 0))
        found = [self._ranked(row) for row in rows.tolist()]
        return [found[start:stop] for start, stop in pairwise(starts.tolist())]

    def part(self, rows: NDArray[np.int64], table: pa.Table | None = None) -> Result:
        """Some of the rows, which keep their numbers and all that is said of them but `explain`, which compares.

        `table` is their input, where it is another than the rows of this one's.
        """
        scored, scores = self._scored, self._scores
        kept = Scores(
            scores.total[rows],
            scores.feasible[rows],
            scores.contested[rows],
            scores.valid[rows],
            self._invalid_among(rows),
        )
        cells = {place: scored.columns.invalid.get(int(rows[place])) for place in kept.invalid}
        columns = replace(
            rows_of(scored.columns, rows),
            invalid={place: cell for place, cell in cells.items() if cell is not None},
        )
        groups = None if scored.groups is None else scored.groups[rows]
        table = scored.table.take(rows) if table is None else table
        numbers = self.numbers_of(rows)
        return Result(
            replace(
                scored,
                source=table,
                columns=columns,
                groups=groups,
                scores=kept,
                numbers=numbers,
                wholes=[take(vector, rows) for vector in self._wholes],
            )
        )

    def outcome(self, row: int) -> Outcome:
        """Everything that is said of one row."""
        return next(self.outcomes([self._row(row)]))

    def fired(self, row: int) -> list[str]:
        """The rules that fired, in source order."""
        return list(self.outcome(row).fired)

    def outcomes(self, rows: Iterable[int] | None = None) -> Iterator[Outcome]:
        """What is said of each row: of all, or of the rows named, in their order."""
        wanted = self._numbers(rows)
        for numbers, told in self._told(wanted):
            yield from (self._outcome(told, place, row) for place, row in enumerate(numbers.tolist()))

    def rows(self, rows: Iterable[int] | None = None, reasons: bool = False) -> Iterator[dict[str, Any]]:
        """The objects that `uclc score --format json` prints, of all rows or of those named.

        With `reasons` each has `why`, a sentence, and `reasons`, what was added and what forbids.
        """
        wanted = self._numbers(rows)
        for row, outcome in zip(self.numbers_of(wanted).tolist(), self.outcomes(wanted.tolist()), strict=True):
            said = row_json(row, outcome)
            yield (said | {"why": self.why(outcome), "reasons": self._reasons(outcome)} if reasons else said)

    def json_lines(self, rows: Iterable[int] | None = None) -> Iterator[str]:
        """The objects of `rows` as JSON texts, made by whole columns."""
        for numbers, told in self._told(self._numbers(rows)):
            yield from json_lines(self.numbers_of(numbers), self._columns(numbers, [told]))

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Shape (rows,): the rows' numbers in the table that these are of, counted from 0."""
        return self.numbers_of(np.arange(len(self)))

    def numbers_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows' numbers in the whole table."""
        numbers = self._scored.numbers
        return rows if numbers is None else numbers[rows]

    def _told(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Told]]:
        """What is told of the rows, range after range, with their numbers."""
        scored, first = self._scored, 0
        with errors.bounded():
            columns, wholes, valid = scored.columns, self._wholes, self._scores.valid
            if len(rows) != len(self) or not np.array_equal(rows, np.arange(len(self))):
                columns, wholes, valid = rows_of(columns, rows), [take(each, rows) for each in wholes], valid[rows]
            for told in tell(scored.plan, columns, wholes, valid):
                yield rows[first : first + told.rows], told
                first += told.rows

    @cached_property
    def _wholes(self) -> Sequence[Vector]:
        scored = self._scored
        if scored.wholes is not None:
            return scored.wholes
        return whole_columns(scored.plan, scored.columns, scored.groups)

    def _outcome(self, told: Told, place: int, row: int) -> Outcome:
        scores = self._scores
        if not scores.valid[row]:
            return Outcome(None, None, None, None, invalid=scores.invalid[row])
        total, feasible, contested = int(scores.total[row]), bool(scores.feasible[row]), bool(scores.contested[row])
        added = slice(*told.counted.ends[place : place + 2].tolist())
        return Outcome(
            total,
            feasible,
            contested,
            decide(total, feasible, contested),
            _names(told.fired, place),
            _names(told.violated, place),
            _names(told.shadow, place),
            dict(zip(_names(told.counted, place), told.amounts[added].tolist(), strict=True)),
        )

    def _numbers(self, rows: Iterable[int] | None) -> NDArray[np.int64]:
        """All rows, or those that a caller names, which must be there."""
        if rows is None:
            return np.arange(len(self))
        if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
            raise errors.wrong_argument("rows", "a list of numbers of rows", rows)
        return np.array([self._row(row) for row in rows], np.int64)

    def _row(self, row: int) -> int:
        if not isinstance(row, int | np.integer) or isinstance(row, bool):
            raise errors.wrong_argument("row", "the number of a row", row)
        if not 0 <= row < len(self):
            raise errors.no_such_row(row, len(self))
        return int(row)

    # --- reasons ----------------------------------------------------------------------------------------------------

    def explain(self, row: int) -> Explanation:
        """Why a row scores as it does: evaluated anew, by the definition, and held against what the kernels say."""
        row = self._row(row)
        scored, known = self._scored, self.outcome(row)
        if known.total is None and row in scored.columns.invalid:
            return Explanation(row, scored.schema, None, known, (), self._call)
        option = record_at(scored.columns, scored.schema, row)
        assert not isinstance(option, Invalid)
        frame = Frame(self._call, Budget(options=len(self)), option, self._choices_of(row))
        with errors.bounded():
            told = trace_in(scored.program, scored.schema, frame)
        if told.outcome != known:
            raise RuntimeError(f"the kernels say {known} of row {row}, the definition says {told.outcome}")
        return Explanation(row, scored.schema, option, known, told.rules, self._call)

    def plot(self, row: int) -> Svg:
        """A waterfall of what each rule adds to a row's total; notebooks show it, `str()` is its SVG."""
        from ucl.scoring.display.plots import waterfall

        return waterfall(self, row)

    def plot_ranking(self, top: int = 10) -> Svg:
        """The totals of the best rows as bars."""
        from ucl.scoring.display.plots import ranking_bars

        return ranking_bars(self, top)

    def _choices_of(self, row: int) -> ChoiceSet:
        """The rows that this one is compared with; kept, since the next row may be compared with the same."""
        scored = self._scored
        group = 0 if scored.groups is None else int(scored.groups[row])
        if group not in self._choices:
            takes_part = np.ones(len(self), np.bool_) if scored.groups is None else scored.groups == group
            takes_part[list(scored.columns.invalid)] = False
            self._choices[group] = TableChoices(scored.columns, np.flatnonzero(takes_part))
        return self._choices[group]

    def why(self, outcome: Outcome) -> str:
        """Why the decision of one row is what it is, in a sentence."""
        return reason_of(outcome, self._call.contested_from)

    def _reasons(self, outcome: Outcome) -> list[dict[str, Any]]:
        """What forbids, and what was added, the weightiest first: `{"name", "contribution", "because"}`."""
        program = self._scored.program
        declared: list[Rule | Constraint] = [*program.rules, *program.constraints]
        because = {declaration.name: declaration.meta.because for declaration in declared}
        added = sorted(outcome.contributions.items(), key=lambda item: -abs(item[1]))
        forbidding: list[tuple[str, int | None]] = [(name, None) for name in outcome.violated]
        return [
            {"name": name, "contribution": None if nano is None else as_score(nano), "because": because[name]}
            for name, nano in [*forbidding, *added]
        ]

    # --- columns ----------------------------------------------------------------------------------------------------

    def to_arrow(
        self,
        rows: Sequence[int] | None = None,
        on_rows: Callable[[int], None] = lambda rows: None,
        columns: ColumnsWanted = "all",
        coded: bool = False,
    ) -> pa.Table:
        """The input's table with the results' columns, `ucl_total` and so on; of all rows or of those named.

        With `columns` "results" there are none of the input but `ucl_row`, the row's number, in their place; with
        "scores" total, feasible, contested and decision alone come after it, which takes a fraction of the time.
        `on_rows` hears of how many more rows the details are there, each time that they are of some. Where `coded`,
        the results' names are codes of a dictionary rather than text.
        """
        from ucl.scoring.results.columns import score_columns
        from ucl.tables.output import append_results, table_of_results

        wanted = self._numbers(rows)
        metadata = {
            "now": instant_text(self._call),
            "timezone": self.timezone,
            "folds": str(self.folds),
            "gaps": str(self.gaps),
            "invalid_rows": str(len(self.invalid)),
        }
        if columns == "scores":
            on_rows(len(wanted))
            return table_of_results(self.numbers_of(wanted), score_columns(*self._arrays(wanted), coded), metadata)

        def told() -> Iterator[Told]:
            for numbers, each in self._told(wanted):
                yield each
                on_rows(len(numbers))

        said = self._columns(wanted, told(), metadata, coded)
        if columns == "results":
            return table_of_results(self.numbers_of(wanted), said.named(), metadata)
        if columns != "all":
            raise errors.wrong_argument("columns", '"all", "results" or "scores"', columns)
        return append_results(self._scored.table if rows is None else self._scored.table.take(wanted), said)

    def _columns(
        self,
        rows: NDArray[np.int64],
        told: Iterable[Told],
        metadata: Mapping[str, str] = MappingProxyType({}),
        coded: bool = False,
    ) -> ResultColumns:
        from ucl.scoring.results.columns import result_columns

        return result_columns(*self._arrays(rows), self._invalid_among(rows), told, metadata, coded)

    def _arrays(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int8]]:
        """Total, feasible, contested and the decision's code, by row."""
        return self.total[rows], self.feasible[rows], self.contested[rows], self._decision_codes[rows]

    def _invalid_among(self, rows: NDArray[np.int64]) -> dict[int, Invalid]:
        """By place among the rows."""
        places = np.flatnonzero(~self._scores.valid[rows])
        return {place: self.invalid[row] for place, row in zip(places.tolist(), rows[places].tolist(), strict=True)}


def _names(lists: Lists, place: int) -> tuple[str, ...]:
    start, stop = lists.ends[place : place + 2].tolist()
    return tuple(lists.names[number] for number in lists.numbers[start:stop].tolist())
