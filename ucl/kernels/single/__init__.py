"""One option at a time, in Python's whole numbers: what a batch does by columns costs more than all of one option.

In: a plan, an option as a dict. Out: its total, whether it is feasible and whether it is contested, as the kernels say.
"""

from ucl.kernels.single.building import index_of
from ucl.kernels.single.index import Index
from ucl.kernels.single.leaves import Unindexed
from ucl.kernels.single.straight import straight

__all__ = ["Index", "Unindexed", "index_of", "straight"]
