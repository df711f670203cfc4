"""What reading a column of cells gives, and the way to read text: each distinct text once.

In: an Arrow column and a function that reads one cell. Out: a `Read`: a kernel's column, and masks that say why a cell
has no value. Helpers here turn Arrow arrays into NumPy ones without copies where the types allow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Scalars, Sets, Texts
from ucl.semantics.outcome import Reason
from ucl.semantics.program import Value
from ucl.semantics.values.iso import WallClock

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]
# One cell read: its value (a `WallClock` for datetimes), None where it is absent, or why it has no value.
Cell = Value | WallClock | Reason
Parse = Callable[[Any], Cell]


@frozen
class Read:
    """`column` is valid where a cell has a value; of the others, `unreadable` and `outside` (the list of a closed
    text) are wrong and the rest are absent. `folds` and `gaps` count local times met; `extent` is of the column's
    values, where reading had to find it."""

    column: Scalars | Texts | Sets
    unreadable: Mask | None = None
    outside: Mask | None = None
    folds: int = 0
    gaps: int = 0
    extent: Extent | None = None


class Extent(NamedTuple):
    """The least and the greatest of a column's values; NaN where any is NaN, and of floats only."""

    least: float
    greatest: float

    def within(self, first: float, last: float) -> bool:
        return self.least >= first and self.greatest <= last


# Values at a time: the second look at them finds them near the processor.
_STRETCH = 1 << 16


def extent_of(values: NDArray[Any]) -> Extent | None:
    """None where there are no values. Both ends at once, since fetching a column takes longer than looking at it."""
    if len(values) == 0:
        return None
    parts = [values[first : first + _STRETCH] for first in range(0, len(values), _STRETCH)]
    ends = np.array([(np.minimum.reduce(part), np.maximum.reduce(part)) for part in parts], values.dtype)
    return Extent(ends[:, 0].min().item(), ends[:, 1].max().item())


@frozen
class Lookup:
    """Cells by their distinct texts: row i is `cells[codes[i]]`; the last of `cells` stands for null, which some row
    is where it `has_null`."""

    cells: Sequence[Cell]
    codes: NDArray[np.int32]
    has_null: bool

    @property
    def valid(self) -> Mask | None:
        return self.rows([cell is not None and not isinstance(cell, Reason) for cell in self.cells], keep=False)

    @property
    def unreadable(self) -> Mask | None:
        return self.rows([cell is Reason.UNREADABLE for cell in self.cells], keep=True)

    @property
    def outside(self) -> Mask | None:
        return self.rows([cell is Reason.DOMAIN for cell in self.cells], keep=True)

    def rows(self, flags: Sequence[bool], *, keep: bool) -> Mask | None:
        """The flag of each row, or None where none of them is `keep`."""
        if keep not in flags or (flags.index(keep) == len(flags) - 1 and not self.has_null):
            return None
        mask = np.array(flags, np.bool_)[self.codes]
        return mask if bool((mask == keep).any()) else None

    def scalars(self, dtype: DTypeLike) -> Read:
        values = np.array([0 if cell is None or isinstance(cell, Reason) else cell for cell in self.cells], dtype)
        return Read(Scalars(values[self.codes], self.valid), self.unreadable, self.outside)


def look_up(column: pa.ChunkedArray, parse: Parse) -> Lookup:
    """Reads each distinct value of the column once."""
    found = distinct(column)
    return found.looked_up(map(parse, found.words.to_pylist()))


@frozen
class Distinct:
    """A column's distinct `words`, and each row's place among them; null is past the last."""

    words: pa.Array
    codes: NDArray[np.int32]
    has_null: bool

    def looked_up(self, cells: Iterable[Cell]) -> Lookup:
        """Of a cell for each word."""
        return Lookup([*cells, None], self.codes, self.has_null)


def distinct(column: pa.ChunkedArray) -> Distinct:
    import pyarrow as pa

    chunks = [without_null_words(chunk) for chunk in column.dictionary_encode().chunks]
    if not chunks:
        return Distinct(pa.nulls(0, pa.string()), np.zeros(0, np.int32), False)
    encoded = pa.chunked_array(chunks).unify_dictionaries()
    words = encoded.chunk(0).dictionary
    indices = flat(pa.chunked_array([chunk.indices for chunk in encoded.chunks])).cast(pa.int32())
    codes, there = numpy_of(indices)
    return Distinct(words, codes if there is None else np.where(there, codes, np.int32(len(words))), there is not None)


def without_null_words(array: pa.Array) -> pa.Array:
    """A dictionary may hold null itself; then a cell of that code is null instead. Arrow neither puts such
    dictionaries together nor writes them."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type) or not array.dictionary.null_count:
        return array
    there = array.dictionary.is_valid().to_numpy(zero_copy_only=False)
    code_of = pa.array(np.cumsum(there) - 1, mask=~there).cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(
        code_of.take(array.indices), array.dictionary.drop_null(), ordered=array.type.ordered
    )


def flat(column: pa.ChunkedArray) -> pa.Array:
    """One array, without a copy where the column has one chunk."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def numpy_of(array: pa.Array) -> tuple[NDArray[Any], Mask | None]:
    """Values, 0 where null, and where there are any."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        bits = bits_of(array)
        valid = None if array.null_count == 0 else bits_of(array.is_valid())
        return bits if valid is None else bits & valid, valid
    values = values_of(array)
    if array.null_count == 0:
        return values, None
    there = bits_of(array.is_valid())
    return np.where(there, values, values.dtype.type(0)), there


def values_of(array: pa.Array) -> NDArray[Any]:
    """Numbers as they are, whatever stands under nulls.

    Arrow's own ways from and to NumPy, and from Python's numbers, first import pandas where it is installed, to ask
    whether they were given something of it: longer than what a first score takes.
    """
    dtype = np.dtype(array.type.to_pandas_dtype())
    if len(array) == 0:
        return np.zeros(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def indices_of(places: NDArray[np.int64] | NDArray[np.int32]) -> pa.Array:
    """Places as Arrow takes them, without a copy."""
    import pyarrow as pa

    type = pa.from_numpy_dtype(places.dtype)
    return pa.Array.from_buffers(type, len(places), [None, pa.py_buffer(np.ascontiguousarray(places))])


def bits_of(array: pa.BooleanArray) -> Mask:
    """The bits of an array of bools as they are, whatever stands under nulls: many times as fast as Arrow's own way."""
    if len(array) == 0:
        return np.zeros(0, np.bool_)
    first, skipped = divmod(array.offset, 8)
    packed = np.frombuffer(array.buffers()[1], np.uint8)[first:]
    bits = np.unpackbits(packed, count=skipped + len(array), bitorder="little")
    return bits[skipped:].view(np.bool_)


def merged(first: Read, second: Read) -> Read:
    """Two readings of one column of scalars, each of which left the other's cells out."""
    a, b = first.column, second.column
    assert isinstance(a, Scalars)
    assert isinstance(b, Scalars)
    if a.valid is None or b.valid is None:
        return first if a.valid is None else second
    values = np.where(a.valid, a.values, b.values)
    return Read(Scalars(values, a.valid | b.valid), either(first.unreadable, second.unreadable))


def both(a: Mask | None, b: Mask | None) -> Mask | None:
    """Rows in both, None being all rows."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def either(a: Mask | None, b: Mask | None) -> Mask | None:
    """Rows in one or the other, None being no row."""
    if a is None or b is None:
        return b if a is None else a
    return a | b


def some(mask: Mask) -> Mask | None:
    return mask if bool(mask.any()) else None


def outside(values: NDArray[Any], first: Any, last: Any, extent: Extent | None = None) -> Mask | None:
    """Values that do not lie from `first` to `last`, NaN among them.

    None where all do, which the `extent` tells sooner than a mask would; it is found where it is not given.
    """
    extent = extent or extent_of(values)
    if extent is None or extent.within(first, last):
        return None
    return some(~((values >= first) & (values <= last)))


def settled(values: NDArray[Any], valid: Mask | None, wrong: Mask | None, extent: Extent | None = None) -> Read:
    """Scalars of which the `wrong` ones are unreadable; where there is no value the column holds 0."""
    unreadable = None if wrong is None else some(wrong if valid is None else wrong & valid)
    if unreadable is not None:
        valid = both(valid, ~unreadable)
    if valid is not None:
        values, extent = np.where(valid, values, np.zeros((), values.dtype)), None
    return Read(Scalars(values, valid), unreadable, extent=extent)
