"""Many people, each with rules and options of their own, in one pass.

In: a plan for each person's program (`tables` writes it down beside those of all others, in arrays), the options of
all, those of one person next to each other. Out: totals and masks for every option. `walk` goes from person to person:
up to 64 options are one word of a mask, and a person costs one to two microseconds. Rules whose scores vary, that read
a memory record by record, or that compare options stay with the ordinary kernels (`tables.add` says so).
"""
