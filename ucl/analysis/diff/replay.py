"""One option, asked of two programs: the same data go to both, as a caller would give them.

In: values of inputs. Out: the data, what either program says of them by `evaluate`, and which rules make them differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ucl.analysis.cells.inputs import NOW, Key, Place
from ucl.analysis.cells.survey import Side
from ucl.analysis.points import Point
from ucl.frozen import frozen
from ucl.semantics.evaluate import Exhausted, score_options
from ucl.semantics.evaluate.options import invalid_outcome
from ucl.semantics.outcome import Invalid, Outcome, Reason
from ucl.semantics.types import DATETIME
from ucl.semantics.values import Problem, make_call, read_record, to_data, to_json

# In place of what a program says of an option in a context that it can't read.
_NO_CALL = invalid_outcome(Invalid("context", Reason.UNREADABLE))


@frozen
class Shown:
    """`option` and `context` are data, `now` among the context where it matters."""

    option: Mapping[str, Any]
    context: Mapping[str, Any]
    old: Outcome
    new: Outcome

    @property
    def differs(self) -> bool:
        return _said(self.old) != _said(self.new)


def _said(outcome: Outcome) -> tuple[Any, ...]:
    return (outcome.total, outcome.feasible, outcome.contested, outcome.decision)


class Replay:
    """`changed` are the names of the rules and constraints that are not the same in both programs."""

    def __init__(self, sides: tuple[Side, Side], changed: Mapping[str, int]) -> None:
        self._sides = sides
        self._changed = changed

    def show(self, point: Point, joint: Mapping[Key, Any], now_matters: bool) -> Shown:
        """`joint` has (old value, new value, data) for the inputs that the sides declare differently."""
        now = point.values[NOW]
        option, context = self._data(Place.OPTION, point, joint), self._data(Place.CONTEXT, point, joint)
        memory = {key[1][0]: value for key, value in point.values.items() if key[0] is Place.MEMORY}
        told = [self._outcome(number, option, context, memory, now) for number in (0, 1)]
        if now_matters:
            context = {**context, "now": to_json(now, DATETIME, self._sides[0].zone)}
        return Shown(option, context, told[0], told[1])

    def _data(self, place: Place, point: Point, joint: Mapping[Key, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        side = self._sides[0]
        for key, value in point.values.items():
            if key[0] is place and key != NOW:
                field = side.inputs.by_key[key].field
                _put(data, key[1], to_data({field.name: value}, [field], side.zone).get(field.column))
        for key, value in joint.items():
            if key[0] is place:
                _put(data, key[1], value[2])
        return data

    def _outcome(
        self, number: int, option: Mapping[str, Any], context: Mapping[str, Any], memory: Mapping[str, Any], now: int
    ) -> Outcome:
        side = self._sides[number]
        known = {field.column for field in side.program.context}
        own = {m.name: to_json(memory[m.name], m.type, side.zone) for m in side.program.memory if m.name in memory}
        call = make_call(side.program, now, side.zone, {k: v for k, v in context.items() if k in known}, own)
        if isinstance(call, Problem):
            return _NO_CALL
        try:
            record = read_record(option, side.schema.fields, side.zone)
            return score_options(side.program, side.schema, [record], call)[0]
        except Exhausted:
            return _NO_CALL

    def to_blame(self, told: Shown) -> tuple[str, ...]:
        """The changed rules and constraints of which the two say something else; else those that take part at all."""
        old, new = told.old, told.new
        unlike = [name for name in self._changed if _effect(old, name) != _effect(new, name)]
        if old.invalid is not None or new.invalid is not None:
            unlike = [i.field for i in (old.invalid, new.invalid) if i is not None and i.field in self._changed]
        return tuple(dict.fromkeys(unlike))


def _effect(outcome: Outcome, name: str) -> tuple[Any, ...]:
    return (outcome.contributions.get(name), name in outcome.fired, name in outcome.violated)


def _put(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """What is absent is left out."""
    if value is None:
        return
    for name in path[:-1]:
        data = data.setdefault(name, {})
    data[path[-1]] = value
