"""Between which ends a value lies, whatever the option is: most scores can't overflow, and nobody needs to look.

In: the nodes of a plan, the ends of fields. Out: the least and the greatest value, or None where that isn't known.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from ucl.kernels.columns import Path
from ucl.kernels.plan import Constant, Operation, Plan, Read
from ucl.kernels.single.scalars import Ends, operate

# On a box, these take their least and greatest values at its corners, after rounding too.
_AT_CORNERS = frozenset(
    ["to_float", "contribution", "min", "max", "neg_int", "neg_float"]
    + [f"{verb}_{kind}" for verb in ("add", "sub", "mul") for kind in ("int", "float")]
)


class Bounds:
    """`field_ends` are those that a field's values are held to."""

    def __init__(self, plan: Plan, field_ends: Callable[[Path], Ends | None]) -> None:
        self._values = plan.values
        self._field_ends = field_ends
        self._known: dict[int, Ends | None] = {}

    def of(self, value: int) -> Ends | None:
        """None, too, where the value may overflow."""
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: int) -> Ends | None:
        match self._values[value]:
            case Constant(number):
                return number, number
            case Read(path):
                return self._field_ends(path)
            case Operation(op, arguments) if op in _AT_CORNERS:
                return self._at_corners(op, arguments)
            case _:
                return None

    def _at_corners(self, op: str, arguments: tuple[int, ...]) -> Ends | None:
        found = [self.of(argument) for argument in arguments]
        sides = [ends for ends in found if ends is not None]
        if len(sides) < len(found):
            return None
        corners = [operate(op, list(corner)) for corner in product(*sides)]
        if any(corner.over for corner in corners):
            return None
        numbers = [corner.value for corner in corners]
        return min(numbers), max(numbers)
