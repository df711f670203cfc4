"""A table split into choice sets: the options that are compared with one another.

In: the input's table and a column. Out: the number of each row's set. In: the columns of one set. Out: what a
definition needs to know of it, where one of its rows is evaluated anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Columns, Scalars
from ucl.kernels.execution.distinct import distinct_records
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.lowering.reads import paths_read
from ucl.scoring import errors
from ucl.semantics import program as p
from ucl.semantics.expressions import ChoiceSet, Frame, Ranking, evaluate, ranking_of
from ucl.semantics.operations import Overflow
from ucl.semantics.values import nfc

if TYPE_CHECKING:
    import pyarrow as pa


def choice_sets(table: pa.Table, column: str, schema: p.Schema) -> NDArray[np.int64]:
    """A number for each row's choice set; rows without a value are one set. `schema` is what a row is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = table[group_column(table.column_names, column, schema)]
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.int64)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    try:
        codes = pc.rank(values, sort_keys="ascending", tiebreaker="dense")
    except pa.ArrowNotImplementedError:
        raise errors.not_comparable(column) from None
    return np.asarray(codes, np.int64)


def group_column(names: list[str], column: str | None, schema: p.Schema) -> str | None:
    """The table's column that `group_by` means; None for None. Raises `CallError`."""
    if column is None:
        return None
    if not isinstance(column, str):
        raise errors.wrong_argument("group_by", "the name of a column", column)
    known = {nfc(name): name for name in names}
    if nfc(column) not in known:
        meant = next((field.column for field in schema.fields if field.name == nfc(column)), None)
        raise errors.no_such_column(column, names, meant)
    return known[nfc(column)]


class TableChoices(ChoiceSet):
    """The rows of a table that are compared with each other, as the definition sees them.

    Its answers are those of a `ChoiceSet` of their records; but an argument is evaluated once for each distinct tuple
    of what it reads, so that no record of a whole row is made. What was found is kept.
    """

    def __init__(self, columns: Columns, rows: NDArray[np.int64]) -> None:
        """`rows` are those of the choice set whose data are valid."""
        super().__init__(())
        self._columns = rows_of(columns, rows)

    def _ranking(self, expr: p.BatchValue, frame: Frame) -> Ranking:
        return ranking_of(expr, self._field_values(expr.argument) or self._evaluated(expr, frame))

    def _field_values(self, argument: p.Expr) -> list[Any] | None:
        """Of a field that every row has: as it stands in the column."""
        column = self._columns.columns.get(argument.path) if isinstance(argument, p.OptionValue) else None
        return column.values.tolist() if isinstance(column, Scalars) and column.valid is None else None

    def _evaluated(self, expr: p.BatchValue, frame: Frame) -> list[Any]:
        distinct = distinct_records(self._columns, paths_read(expr.argument))
        counts = np.bincount(distinct.of_row, minlength=len(distinct.records))
        values: list[Any] = []
        for option, count in zip(distinct.records, counts.tolist(), strict=True):
            try:
                values += [evaluate(expr.argument, Frame(frame.call, frame.budget, option, self))] * count
            except Overflow:
                continue  # left out of this builtin
        return values
