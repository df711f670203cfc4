"""Mutants: a program with one small mistake in it, and whether its promises notice."""

from ucl.testing.mutants.edits import Kind
from ucl.testing.mutants.making import MUTANTS, Mutant, mutants_of
from ucl.testing.mutants.score import Asked, Fate, Mutation, Score, Tried

__all__ = ["MUTANTS", "Asked", "Fate", "Kind", "Mutant", "Mutation", "Score", "Tried", "mutants_of"]
