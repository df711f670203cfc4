"""What an edit changed in meaning (LANGUAGE §14)."""

from ucl.analysis.diff.compare import Comparison, Difference, compare

__all__ = ["Comparison", "Difference", "compare"]
