"""Dictionaries of a table that is written part by part, as Arrow's files want them.

In: parts of one schema, each with dictionaries of its own. Out: the same cells by dictionaries that only grow, each
part's beginning with that of the part before: a file has one for a column, and what is added to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class GrowingDictionaries:
    """The words of each column so far."""

    _words: dict[str, pa.Array] = field(default_factory=dict)

    def placed(self, part: pa.Table) -> pa.Table:
        import pyarrow as pa

        for place, column in enumerate(part.schema):
            if pa.types.is_dictionary(column.type):
                chunks = [self._grown(column.name, chunk) for chunk in part.column(place).chunks]
                part = part.set_column(place, column, pa.chunked_array(chunks, column.type))
        return part

    def _grown(self, name: str, chunk: pa.DictionaryArray) -> pa.DictionaryArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        own = chunk.dictionary
        words = self._words.get(name, own.slice(0, 0))
        if not own.equals(words):
            new = own.filter(pc.is_null(pc.index_in(own, words))).unique()
            words = pa.concat_arrays([words, new])
            codes = pc.index_in(own, words).cast(chunk.type.index_type).take(chunk.indices)
            chunk = pa.DictionaryArray.from_arrays(codes, words, ordered=chunk.type.ordered)
        self._words[name] = words
        return chunk
