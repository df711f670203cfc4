"""Comprehensions over what a call holds: read in one pass, and looked up by row where the option takes part.

`remembered` is the way in; `items` are the columns of what is gone over, `survey` expressions over them, `conditions`
the parts of a `where`, `answers` what is the same for every row, `lookups` and `membership` what is grouped by the
option's fields, `index` the tables that rows are looked up in.
"""
