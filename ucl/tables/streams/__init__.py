"""Files of tables read in parts, so that one may be larger than memory.

In: a path. Out: a `TableStream`: what the file's columns are, how many rows it has where that is known, and its rows in
tables of one schema, in order. `opening` chooses, `columnar` reads Parquet and Arrow, `texts` CSV and JSON Lines,
`agreement` finds the types on which all rows of a JSON file agree, and `ahead` reads the next part meanwhile.
"""

from ucl.tables.streams.opening import LARGE, TableStream, is_large, open_stream, spooled

__all__ = ["LARGE", "TableStream", "is_large", "open_stream", "spooled"]
