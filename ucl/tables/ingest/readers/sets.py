"""Sets: Arrow's lists, and texts that spell sets, to flat elements with offsets.

In: a list column with its elements already read, or cells looked up by their text. Out: a `Read` of `Sets`; lists may
repeat elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Offsets, Scalars, Sets, Texts
from ucl.kernels.lists import only
from ucl.tables.ingest.readers.reading import Lookup, Mask, Read, both, either, flat, numpy_of, values_of

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def list_offsets(column: pa.ChunkedArray) -> tuple[Offsets, Mask | None]:
    """Where each row's elements begin and end among all that are not null, and which rows are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    if own and column.num_chunks == 1 and column.null_count == 0:
        offsets: Offsets = values_of(column.chunk(0).offsets)
        return offsets - offsets[0] if offsets[0] else offsets, None
    lengths, there = numpy_of(flat(pc.list_value_length(column)).cast(pa.int64()))
    return offsets_of(lengths), there


def offsets_of(lengths: Ints) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def sets_of_lists(offsets: Offsets, valid: Mask | None, elements: Read) -> Read:
    """Rows of `elements`. A row with an element that is null or can't be read can't be read itself."""
    column = elements.column
    assert isinstance(column, Scalars | Texts)
    outside, wrong = elements.outside, None if column.valid is None else ~column.valid
    if wrong is not None and outside is not None:
        # An element outside its list has no value either, and that is not why.
        wrong &= ~outside
    unreadable, outside = _rows_with(wrong, offsets), _rows_with(outside, offsets)
    if unreadable is not None and outside is not None:
        outside &= ~unreadable
    wrong = either(unreadable, outside)
    if wrong is not None:
        valid = both(valid, ~wrong)
    values = column.codes if isinstance(column, Texts) else column.values
    dictionary = column.dictionary if isinstance(column, Texts) else None
    return Read(_sets_of(offsets, values, valid, dictionary), unreadable, outside)


def sets_of_lookup(lookup: Lookup, dictionary: tuple[str, ...] | None, texts: bool) -> Read:
    """Sets that were read from distinct texts. `dictionary` is given for closed texts, and made for other `texts`."""
    places = {word: place for place, word in enumerate(dictionary or ())}
    each: list[list[int]] = []
    for cell in lookup.cells:
        members: list[Any] = sorted(cell, key=repr) if isinstance(cell, frozenset) else []
        each.append([places.setdefault(member, len(places)) if texts else member for member in members])
    sizes = np.array([len(members) for members in each], np.int64)
    flat = np.array([member for members in each for member in members], np.int64)
    starts = np.cumsum(sizes) - sizes
    offsets, elements = ragged_take(flat, starts[lookup.codes], sizes[lookup.codes])
    words = tuple(places) if texts else None
    return Read(Sets(offsets, elements, lookup.valid, words), lookup.unreadable, lookup.outside)


def ragged_take(flat: Ints, starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Offsets and elements of the rows `flat[start:start + length]`, one after the other."""
    offsets = offsets_of(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return offsets, flat[np.repeat(starts, lengths) + within]


def _sets_of(offsets: Offsets, values: NDArray[Any], valid: Mask | None, dictionary: tuple[str, ...] | None) -> Sets:
    """Rows without a value have no elements."""
    if valid is not None and not valid.all():
        offsets, values = only(offsets, values, np.repeat(valid, np.diff(offsets)))
    if dictionary is None:
        values = values.astype(np.int64, copy=False)
    return Sets(offsets, values, valid, dictionary, repeats=True)


def _rows_with(elements: Mask | None, offsets: Offsets) -> Mask | None:
    if elements is None or not elements.any():
        return None
    mask = np.zeros(len(offsets) - 1, np.bool_)
    mask[np.searchsorted(offsets, np.flatnonzero(elements), side="right") - 1] = True
    return mask
