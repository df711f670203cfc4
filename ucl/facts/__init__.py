"""Atomic facts: what a person said and did, read, understood and set in order of time.

In: facts as files hold them. Out: `Fact`s, what their objects name in a schema's fields, and which of them rule when.
"""

from ucl.facts.model import Fact, Wrong, read_fact
from ucl.facts.read import Facts, Located, parse_facts, read_facts

__all__ = ["Fact", "Facts", "Located", "Wrong", "parse_facts", "read_fact", "read_facts"]
