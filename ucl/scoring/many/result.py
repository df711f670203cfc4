"""What scoring the options of many people gives: arrays by row, and each person's own result.

In: scores of all rows, whose they are. Out: a `CrowdResult`. A person's `Result`, with its reasons, is made when it is
asked for, by the ordinary way, from that person's rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.run import Scores
from ucl.scoring import errors
from ucl.scoring.results.arrays import ScoreArrays
from ucl.scoring.results.ranking import Ranked, best_of_sets

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.scoring.results.result import Result


def runs_of(codes: NDArray[np.integer[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The code of each run of equal ones, and where each begins; the last is where they end."""
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    starts = np.concatenate(([0], changes, [len(codes)])) if len(codes) else np.zeros(1, np.int64)
    return codes[starts[:-1]], starts


@dataclass(frozen=True)
class Owned:
    """Whose the rows are, in runs: those from `starts[i]` to before `starts[i + 1]` are of `owners[who[i]]`.

    Every owner has some.
    """

    owners: Sequence[Hashable]
    who: NDArray[np.int64]
    starts: NDArray[np.int64]

    @staticmethod
    def by_row(owners: Iterable[Hashable], of_row: NDArray[np.int64]) -> Owned:
        """`of_row` has for each row the place of its owner."""
        return Owned(list(owners), *runs_of(of_row))

    @property
    def rows(self) -> int:
        return int(self.starts[-1])

    @property
    def is_together(self) -> bool:
        """Whether everybody's rows are one run."""
        return len(self.who) == len(self.owners)

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """For each row the place of its owner."""
        return np.repeat(self.who, np.diff(self.starts))

    @cached_property
    def places(self) -> Mapping[Hashable, int]:
        return {owner: place for place, owner in enumerate(self.owners)}

    @cached_property
    def in_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows person by person, and where each person's begin among them; the last is where they end."""
        sizes = np.bincount(self.of_row, minlength=len(self.owners))
        return np.argsort(self.of_row, kind="stable"), np.concatenate(([0], np.cumsum(sizes)))

    def rows_of(self, owner: Hashable) -> NDArray[np.int64]:
        if owner not in self.places:
            raise errors.no_options_of(owner)
        rows, starts = self.in_order
        place = self.places[owner]
        return rows[starts[place] : starts[place + 1]]


class CrowdResult(ScoreArrays):
    """The scores of every person's options, by row of the table that they came in."""

    def __init__(
        self, scores: Scores, table: pa.Table, owned: Owned, result_of: Callable[[Hashable, pa.Table], Result]
    ) -> None:
        super().__init__(scores)
        self._table = table
        self._owned = owned
        self._result_of = result_of

    def __repr__(self) -> str:
        return f"<ucl result of {len(self._owned.owners)} people: {len(self)} rows>"

    @property
    def owners(self) -> Sequence[Hashable]:
        """Those who have options, in the order in which they are first met."""
        return self._owned.owners

    def rows_of(self, owner: Hashable) -> NDArray[np.int64]:
        """The numbers of the rows that are one person's options. Raises `CallError` for one who has none."""
        return self._owned.rows_of(owner)

    def of(self, owner: Hashable) -> Result:
        """One person's own result, of that person's rows alone: it ranks, explains and says what fired."""
        return self._result_of(owner, self._table.take(self.rows_of(owner)))

    def rankings(self, top: int = 5) -> Iterator[tuple[Hashable, list[Ranked]]]:
        """Each person with the best of that person's rows, without sorting all of them."""
        if not isinstance(top, int | np.integer) or isinstance(top, bool):
            raise errors.wrong_argument("top", "a whole number of rows", top)
        rows, starts = best_of_sets(self._scores, self._owned.of_row, max(top, 0))
        for owner, (start, stop) in zip(self._owned.owners, pairwise(starts.tolist()), strict=True):
            yield owner, [self._ranked(row) for row in rows[start:stop].tolist()]

    def to_arrow(self) -> pa.Table:
        """The input's table with `ucl_total`, `ucl_feasible`, `ucl_contested` and `ucl_decision` after its columns."""
        from ucl.scoring.results.columns import score_columns
        from ucl.tables.output import refuse_taken_names

        refuse_taken_names(self._table.column_names)
        table = self._table
        columns: Mapping[str, Any] = score_columns(self.total, self.feasible, self.contested, self._decision_codes)
        for name, column in columns.items():
            table = table.append_column(name, column)
        return table
