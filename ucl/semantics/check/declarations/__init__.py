"""What bodies can speak of: dimensions, schemas, context, memory, lets, defs, effects.

In: a module whose names are known, those that it imports being done. Out: the same module, with what they mean.
"""

from ucl.semantics.check.declarations.dimensions import check_dimensions
from ucl.semantics.check.declarations.named import check_declarations

__all__ = ["check_declarations", "check_dimensions"]
