"""Statements to tests: facts become claims, and claims `property` blocks or a file of pytest and Hypothesis.

In: facts and the program that shall keep them. Out: text, and what could not be tested with the reason.
"""
