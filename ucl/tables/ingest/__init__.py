"""Arrow to columns: what the kernels read, and the rows that can't be scored.

In: a `pa.Table`, the schema of its rows, the call's zone. Out: `Columns`. What is wrong with the table as a whole is
a `TableError` before anything is read; what is wrong with a row is an `InvalidCell` of its first such field in schema
order. The order here: find each field's cells (`places`), read them (`leaf`), fill in defaults and test domains
(`fill`).
`ingest_few` makes the same of a few rows of Python values without Arrow, where nothing is wrong with them.
"""

from ucl.tables.ingest.columns import ingest
from ucl.tables.ingest.few import FewRows, ingest_few, table_of

__all__ = ["FewRows", "ingest", "ingest_few", "table_of"]
