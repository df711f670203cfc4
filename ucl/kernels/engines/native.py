"""Which values of a plan the compiled driver computes itself, and which are left to NumPy.

In: a plan and its binding. Out: `Natives`. A value is native for what it is alone: its arguments may be foreign. What
only foreign values need is computed by NumPy with them, so it is not needed here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Scalars
from ucl.kernels.execution.schedules import Binding
from ucl.kernels.lowering.graph import arguments_of
from ucl.kernels.plan import (
    Constant,
    Entry,
    Flag,
    HasElement,
    Local,
    OfText,
    Operation,
    Plan,
    Read,
    SameText,
    Select,
    SetSize,
    SetsMeet,
    Whole,
)

_OF_TIME = frozenset({"wall_day", "wall_time", "night_day", "date_weekday", "time_hour", "time_minute"})
_OF_INTS = frozenset({"add_int", "sub_int"})
_OF_FLOATS = frozenset({"add_float", "sub_float", "mul_float", "div_float"})
_COMPARED = frozenset({"less", "equal"})
_OF_EITHER = frozenset({"min", "max"})
_OVERFLOWS = _OF_INTS | _OF_FLOATS | {"contribution"}

# Of the operations of `execution.vector`: those whose results are doubles, and those whose results are as their
# arguments are.
_FLOATING = _OF_FLOATS | {
    "neg_float",
    "abs_float",
    "to_float",
    "ratio_duration",
    "duration_days",
    "duration_hours",
    "duration_minutes",
    "duration_seconds",
    "ramp_float",
    "ramp_int",
    "near_float",
    "near_int",
    "near_time",
}
_ALIKE = _OF_EITHER | {"clamp"}

Kind = type[np.generic]


@dataclass(frozen=True)
class Multiple:
    """A contribution of `factor * value`, at `weight`. The value is an int where `whole`; `product` is the number of
    the value that is passed over, since nothing else needs it."""

    value: int
    whole: bool
    factor: float
    weight: float
    product: int | None


class Natives:
    """`needed` are the values that steps or columns are there for, `foreign` those that come from NumPy; `computed` are
    those that something is computed from or that are added, rather than tested alone; `multiples` are native
    contributions, by number."""

    def __init__(self, plan: Plan, binding: Binding) -> None:
        self._values = plan.values
        self._stages = plan.scoring.stages
        self._binding = binding
        self._kinds: dict[int, Kind] = {}
        self._uses = Counter[int](value for _, value in plan.varying)
        self.needed: set[int] = set()
        self.foreign: set[int] = set()
        self.computed = {value for _, value in plan.varying}
        self.multiples: dict[int, Multiple] = {}
        flagged: set[int] = set()
        for stage in plan.scoring.stages:
            self._uses.update(cuts.value for cuts in stage.cuts)
            flagged.update(flag.value for flag, _ in stage.flags if isinstance(flag, Flag))
        wanted = set(self._uses)
        for stage in plan.scoring.stages:
            for value in stage.values:
                self._uses.update(arguments_of(self._values[value]))
        self._collect(wanted, flagged)

    def _collect(self, wanted: set[int], flagged: set[int]) -> None:
        """From the last value to the first, so that what a value is needed for is known before it is looked at."""
        passed_over: set[int | None] = set()
        scheduled = {value for stage in self._stages for value in stage.values}
        for number in sorted(scheduled, reverse=True):
            if number not in wanted and (number not in flagged or number in passed_over):
                continue
            node = self._values[number]
            if isinstance(node, Operation) and node.op in _COMPARED and number not in wanted:
                wanted.update(node.arguments)  # a mask at once
                self.computed.update(node.arguments)
            elif not self._is_native(number):
                self.foreign.add(number)
            else:
                self.needed.add(number)
                arguments = arguments_of(node)
                if isinstance(node, Operation) and node.op == "contribution":
                    multiple = self.multiples[number] = self._multiple(node)
                    passed_over.add(multiple.product)
                    arguments = (multiple.value,)
                wanted.update(arguments)
                self.computed.update(arguments)

    def parts(self, wall: int) -> dict[str, int]:
        """Of the day, the time and the weekday of a wall clock those that are needed, by the operations that make
        them."""
        found: dict[str, int] = {}
        for number in sorted(self.needed):
            match self._values[number]:
                case Operation("wall_day" | "wall_time" as name, (argument,)) if argument == wall:
                    found[name] = number
                case Operation("date_weekday" as name, (argument,)) if argument == found.get("wall_day"):
                    found[name] = number
        return found

    def writes_flag(self, number: int, kind: str) -> bool:
        """Whether the step of a native value writes this mask beside it."""
        node = self._values[number]
        if not isinstance(node, Operation):
            return False
        return node.op in _OVERFLOWS if kind == "over" else kind == "missing" and node.op == "div_float"

    # --- what a value is --------------------------------------------------------------------------------------------

    def kind(self, number: int) -> Kind:
        """int64, float64 or bool."""
        known = self._kinds.get(number)
        if known is None:
            known = self._kinds[number] = self._kind(number)
        return known

    def _kind(self, number: int) -> Kind:
        match self._values[number]:
            case Read(path):
                column = self._binding.columns[path]
                assert isinstance(column, Scalars)
                return _kind_of(column.values)
            case Constant(_, floating):
                return np.float64 if floating else np.int64
            case Select(_, then, _):
                return self.kind(then)
            case Whole(index):
                return _kind_of(self._binding.wholes[index].values)
            case OfText():
                return _kind_of(self._binding.prepared(number).values)
            case Entry(_, table):
                return _kind_of(table.values)
            case SameText() | HasElement() | SetsMeet():
                return np.bool_
            case Operation(name, arguments):
                if name in _ALIKE:
                    return self.kind(arguments[0])
                return np.bool_ if name in _COMPARED else np.float64 if name in _FLOATING else np.int64
            case _:
                return np.int64

    def _is_native(self, number: int) -> bool:
        match self._values[number]:
            case Read() | Constant() | Whole() | Local() | SetSize():
                return True
            case Select(_, then, _):
                return self.kind(then) is not np.bool_
            case OfText():
                vector = self._binding.prepared(number)
                return vector.over is None and vector.missing is None and self.kind(number) is not np.bool_
            case Operation("contribution", (_, weight)):
                return isinstance(self._values[weight], Constant)
            case Operation(name, arguments):
                if name in _OF_EITHER:
                    return len({self.kind(argument) for argument in arguments}) == 1
                return name in _OF_TIME or name == "to_float" or name in _OF_INTS or name in _OF_FLOATS
            case _:
                return False

    def _multiple(self, node: Operation) -> Multiple:
        """Looks through a product with a constant, and through the int that was made a double, where only this
        contribution needs them."""
        value, weight = node.arguments
        weighing = self._values[weight]
        assert isinstance(weighing, Constant)
        factor, product = 1.0, None
        match self._values[value]:
            case Operation("mul_float", (left, right)) if self._uses[value] == 1:
                for constant, other in ((left, right), (right, left)):
                    by = self._values[constant]
                    if isinstance(by, Constant):
                        factor, product, value = float(by.value), value, other
                        break
        match self._values[value]:
            case Operation("to_float", (whole,)) if self._uses[value] == 1:
                return Multiple(whole, True, factor, float(weighing.value), product)
        return Multiple(value, False, factor, float(weighing.value), product)


def _kind_of(values: NDArray[Any]) -> Kind:
    return np.bool_ if values.dtype == np.bool_ else np.float64 if values.dtype == np.float64 else np.int64
