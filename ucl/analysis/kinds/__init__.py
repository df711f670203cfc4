"""The kinds of findings, one file for each family: what makes one, and the check that its witness must pass."""
