"""Sets: Arrow's lists, and texts that spell sets, to flat elements with offsets.

In: a list column with its elements already read, or cells looked up by their text. Out: a `Read` of `Sets`, whose
elements are distinct within each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars, Sets, Texts
from ucl.tables.ingest.readers.reading import Lookup, Mask, Read, both, either

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def list_lengths(column: pa.ChunkedArray) -> tuple[Ints, Mask | None]:
    """How many elements each row has, 0 where it is null, and which rows are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64()).to_numpy()
    return lengths, None if column.null_count == 0 else column.is_valid().to_numpy()


def sets_of_lists(lengths: Ints, valid: Mask | None, elements: Read) -> Read:
    """Rows of `lengths` elements each. A row with an element that is null or can't be read can't be read itself."""
    column = elements.column
    assert isinstance(column, Scalars | Texts)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    outside, wrong = elements.outside, None if column.valid is None else ~column.valid
    if wrong is not None and outside is not None:
        # An element outside its list has no value either, and that is not why.
        wrong &= ~outside
    unreadable, outside = _rows_with(wrong, rows, len(lengths)), _rows_with(outside, rows, len(lengths))
    if unreadable is not None and outside is not None:
        outside &= ~unreadable
    wrong = either(unreadable, outside)
    if wrong is not None:
        valid = both(valid, ~wrong)
    values = column.codes if isinstance(column, Texts) else column.values
    dictionary = column.dictionary if isinstance(column, Texts) else None
    sets = _distinct_within_rows(lengths, rows, values.astype(np.int64), valid, dictionary)
    return Read(sets, unreadable, outside)


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
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return offsets, flat[np.repeat(starts, lengths) + within]


def _distinct_within_rows(
    lengths: Ints, rows: Ints, values: Ints, valid: Mask | None, dictionary: tuple[str, ...] | None
) -> Sets:
    """Drops repeated elements, and all elements of rows without a value."""
    if valid is not None and not valid.all():
        keep = valid[rows]
        rows, values = rows[keep], values[keep]
    if len(values) and int(lengths.max()) > 1:
        rows, values = _without_repeats(rows, values, len(lengths))
    lengths = np.bincount(rows, minlength=len(lengths)).astype(np.int64)
    return Sets(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), values, valid, dictionary)


def _without_repeats(rows: Ints, values: Ints, count: int) -> tuple[Ints, Ints]:
    """Row and element as one number each, which sort fast; elements ascend within a row where any was repeated."""
    least, known = int(values.min()), None
    span = int(values.max()) - least + 1
    if span > np.iinfo(np.int64).max // max(count, 1):
        known, values = np.unique(values, return_inverse=True)
        least, span = 0, len(known)
    pairs = rows * span + (values - least)
    pairs.sort()
    fresh = np.concatenate(([True], pairs[1:] != pairs[:-1]))
    if not fresh.all():
        rows, values = np.divmod(pairs[fresh], span)
        values += least
    return rows, values if known is None else known[values]


def _rows_with(elements: Mask | None, rows: Ints, count: int) -> Mask | None:
    if elements is None or not elements.any():
        return None
    mask = np.zeros(count, np.bool_)
    mask[rows[elements]] = True
    return mask
