"""Other engines on the same work: `work` says what is to be computed, each other module how some engines do it.

Each peer is given the conditions and scores of a program in plain terms, never its text, and is written as one who
knows that engine would write it. Totals are compared before times are taken.
"""
