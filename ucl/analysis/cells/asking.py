"""What conditions say of one input at a value of it.

In: sides, an input, conditions that read nothing else. Out: for each condition whether it holds, and whether it
overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ucl.analysis.cells.inputs import Key, canonical
from ucl.analysis.cells.moments import half_read
from ucl.analysis.cells.survey import Side
from ucl.semantics.expressions import Budget, Exhausted, Frame, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Expr
from ucl.semantics.types import DAY

INVALID = object()
"""In place of a value: data that this side can't read."""


class Asker:
    """Asks conditions about one input, value by value: alike ones once, and those of one half of an instant (its local
    day, its time of day) once for each such half."""

    def __init__(self, sides: Sequence[Side], key: Key, atoms: Sequence[tuple[int, Expr]], is_instant: bool) -> None:
        self._sides, self._key, self._count = sides, key, len(atoms)
        alike: dict[object, list[int]] = {}
        for column, (side, expr) in enumerate(atoms):
            alike.setdefault((side, canonical(expr)), []).append(column)
        distinct = [(*atoms[columns[0]], columns) for columns in alike.values()]
        self._asked = [
            (side, expr, half_read(expr) if is_instant else None, columns) for side, expr, columns in distinct
        ]
        self._known: dict[tuple[int, int], tuple[bool, bool]] = {}

    def answers(self, value: tuple[Any, ...]) -> list[tuple[bool, bool]]:
        owns = value[: len(self._sides)]
        frames = [
            None if own is INVALID else side.frame({self._key: own})
            for side, own in zip(self._sides, owns, strict=True)
        ]
        found = [(False, False)] * self._count
        for number, (side, expr, half, columns) in enumerate(self._asked):
            told = self._one(number, expr, self._place(side, half, owns[side]), frames[side])
            for column in columns:
                found[column] = told
        return found

    def _place(self, side: int, half: str | None, own: Any) -> int | None:
        if half is None or not isinstance(own, int):
            return None
        day, time = divmod(self._sides[side].zone.local(own), DAY)
        return day if half == "day" else time

    def _one(self, number: int, expr: Expr, place: int | None, frame: Frame | None) -> tuple[bool, bool]:
        if place is None:
            return answer(expr, frame)
        known = self._known.get((number, place))
        if known is None:
            known = self._known[number, place] = answer(expr, frame)
        return known


def answer(expr: Expr, frame: Frame | None) -> tuple[bool, bool]:
    """Whether it holds, and whether it overflows; without a frame the data can't be read. What is absent where its type
    says that it is there is guarded by a condition around it, and never looked at."""
    if frame is None:
        return False, True
    try:
        return bool(evaluate(expr, Frame(frame.call, Budget(), frame.option))), False
    except (Overflow, Exhausted):
        return False, True
    except TypeError:
        return False, False
