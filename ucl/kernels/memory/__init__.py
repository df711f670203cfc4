"""Comprehensions over what a call holds: read in one pass, and looked up by row where the option takes part.

`items` are the columns of what is gone over, `conditions` the parts of a `where`, `answers` what is the same for every
row, `lookups` what is grouped by the option's fields, `index` the tables that rows are looked up in.
"""
