"""Cells: every option and context of a program, in finitely many cases that its conditions can't tell apart.

In: conditions. Out: for each input that they read a few values, one for every way in which the input can answer them,
and arrays over the product of these: what holds for each cell holds for every option. No solver takes part; what is
outside (differences of fields, sums, memory) is a value that may be anything.
"""
