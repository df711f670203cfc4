"""Statements to tests: facts become claims, and claims `property` blocks or a file of pytest and Hypothesis.

In: facts and the program that shall keep them. Out: `Statements`, whose `properties()` stand below the program, and
from which `pytest_file.test_file` writes a file; what could not be tested is in `untested`, with the reason.
"""

from ucl.testing.facts.statements import Statements, statements_of

__all__ = ["Statements", "statements_of"]
