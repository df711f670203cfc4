"""Conditions as formulas over terms: what a program asks of fields, freed of everything that only says so otherwise.

In: typed conditions. Out: formulas whose atoms say which values of one term are meant, or relate several.
"""
