"""Scores tables fast: `lower` makes a plan of a program, `run` scores columns with it, equal to `evaluate` to the bit.

`columns` and `plan` are the two forms; `lowering` is the way to a plan, `execution` what a plan does with a table, and
`engines` are two ways to score a table, `single` is one for one option.
"""
