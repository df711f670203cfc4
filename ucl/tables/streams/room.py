"""Whether a table that has to be held as a whole fits into memory, before it is read.

In: its columns and rows, or its bytes. Out: nothing, or a `TableError`. What is asked for is the least that the table
can take, so that nothing is refused that might have gone well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ucl.tables import errors

if TYPE_CHECKING:
    import pyarrow as pa

_MEMORY = Path("/proc/meminfo")
_GROUP_LIMIT, _GROUP_USE = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
# A code or an offset, for what is as long as its content.
_LEAST_OF_TEXT = 4


def refuse_what_does_not_fit(name: str, least: int, why: str) -> None:
    """`least` is in bytes, `why` says why the whole table is needed."""
    free = free_bytes()
    if free is not None and least > free:
        raise errors.no_room(name, least, free, why)


def least_bytes(path: str, schema: pa.Schema, rows: int | None) -> int:
    """Of these columns of so many rows; where nobody knows how many there are, of a text that is kept."""
    if rows is None:
        return os.stat(path).st_size // 2
    return rows * sum(_least_of_a_cell(type) for type in schema.types)


def _least_of_a_cell(type: pa.DataType) -> int:
    import pyarrow as pa

    if pa.types.is_struct(type):
        return sum(_least_of_a_cell(child.type) for child in type)
    try:
        return int(type.bit_width) // 8
    except ValueError:
        return 0 if pa.types.is_null(type) else _LEAST_OF_TEXT


def free_bytes() -> int | None:
    """What this process can still take, where the system says so: of its machine, and of its group."""
    known = [free for free in (_free_of_machine(), _free_of_group()) if free is not None]
    return min(known, default=None)


def _free_of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
        return sum(int(lines[key].split()[0]) for key in ("MemAvailable", "SwapFree")) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_of_group() -> int | None:
    try:
        return max(int(_GROUP_LIMIT.read_text()) - int(_GROUP_USE.read_text()), 0)
    except (OSError, ValueError):  # `max` is no limit
        return None
