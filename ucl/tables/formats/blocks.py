"""A table written block by block, so that somebody can be told how far it is; and tables put together again.

In: a table, and whom to tell. Out: its blocks in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 17

OnRows = Callable[[int], None]
"""Is told how many more rows have been written."""


def ignore_rows(rows: int) -> None:
    """For those who need not know."""


def blocks_of(table: pa.Table, on_rows: OnRows = ignore_rows) -> Iterator[pa.Table]:
    """Slices of at most `BLOCK` rows; `on_rows` hears of each after it was used."""
    for start in range(0, table.num_rows, BLOCK):
        block = table.slice(start, BLOCK)
        yield block
        on_rows(block.num_rows)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of one table after the other. Of tables without columns Arrow's own way forgets that there are any."""
    import pyarrow as pa

    if tables[0].num_columns:
        return pa.concat_tables(tables)
    rows = sum(table.num_rows for table in tables)
    return pa.table({"": pa.nulls(rows)}).select([])
