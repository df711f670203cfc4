"""A table split into choice sets: the options that are compared with one another.

In: the input's table and a column. Out: the number of each row's set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.scoring import errors
from ucl.semantics.values import nfc

if TYPE_CHECKING:
    import pyarrow as pa


def choice_sets(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A number for each row's choice set; rows without a value are one set."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = {nfc(name): name for name in table.column_names}
    if nfc(column) not in names:
        raise errors.no_such_column(column, table.column_names)
    values = table[names[nfc(column)]]
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.int64)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    try:
        codes = pc.rank(values, sort_keys="ascending", tiebreaker="dense")
    except pa.ArrowNotImplementedError:
        raise errors.not_comparable(column) from None
    return np.asarray(codes, np.int64)
