"""Many people, each with rules and options of their own, in one pass.

In: what each person's program says (`passages` writes it into `tables`, beside what all others say), the options of
all, those of one person next to each other. Out: totals and masks for every option. `walk` goes from person to person,
up to 64 options being one word of a mask, in about a microsecond for twenty rules and fifty options; `fill` makes the
columns that it compares on the way, `columns` says how. Rules whose scores vary, that read a memory record by record,
or that compare options stay with the ordinary kernels (`Writer.add` says so).
"""
