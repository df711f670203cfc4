"""Texts, closed texts and booleans: Arrow's strings to codes into a dictionary of NFC texts.

In: a column of strings of any Arrow kind, dictionary-encoded or not. Out: a `Read` whose dictionary is distinct after
NFC, or, for a closed text, the type's own list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars, Texts
from ucl.semantics.outcome import Reason
from ucl.tables.ingest.readers.reading import Cell, Lookup, Read, distinct, numpy_of

if TYPE_CHECKING:
    import pyarrow as pa

# Absent rows have code 0, so that there is always an entry for it.
NO_TEXTS = ("",)


def read_texts(column: pa.ChunkedArray) -> Read:
    """Each distinct text is normalised once; ASCII is NFC as it stands."""
    found = distinct(column)
    words = _normalised(found.words.to_pylist())
    if words and not found.has_null and len(set(words)) == len(words):
        return Read(Texts(found.codes, None, tuple(words)))
    return texts_of(found.looked_up(words))


def texts_of(lookup: Lookup) -> Read:
    """A dictionary of the texts among the looked-up cells, in the order of first mention."""
    places: dict[str, int] = {}
    texts = map(_text, lookup.cells)
    codes = np.array([0 if text is None else places.setdefault(text, len(places)) for text in texts], np.int32)
    return Read(Texts(_by_row(codes, lookup), lookup.valid, tuple(places) or NO_TEXTS), lookup.unreadable)


def closed_of(lookup: Lookup, values: Sequence[str]) -> Read:
    """Codes into the closed text's own list."""
    places = {value: place for place, value in enumerate(values)}
    texts = map(_text, lookup.cells)
    codes = np.array([0 if text is None else places[text] for text in texts], np.int32)
    return Read(Texts(_by_row(codes, lookup), lookup.valid, tuple(values)), lookup.unreadable, lookup.outside)


def _by_row(codes: NDArray[np.int32], lookup: Lookup) -> NDArray[np.int32]:
    """Each row's code: as it stands where every cell is a text of its own, as in most dictionaries of Arrow."""
    if not lookup.has_null and len(codes) > 1 and np.array_equal(codes[:-1], np.arange(len(codes) - 1)):
        return lookup.codes
    by_row: NDArray[np.int32] = codes[lookup.codes]
    return by_row


def read_bools(array: pa.Array) -> Read:
    values, valid = numpy_of(array)
    return Read(Scalars(values, valid))


def _normalised(words: list[str]) -> list[str]:
    if all(map(str.isascii, words)):
        return words
    return [unicodedata.normalize("NFC", word) for word in words]


def _text(cell: Cell) -> str | None:
    """A `Reason` is a str as well, and no text."""
    return cell if isinstance(cell, str) and not isinstance(cell, Reason) else None
