"""What an edit changed in meaning (LANGUAGE §14)."""

from ucl.analysis.diff.compare import Comparison, Difference, Reach, compare, reach

__all__ = ["Comparison", "Difference", "Reach", "compare", "reach"]
