"""Values and tests of one option, each computed when it is asked for.

In: the nodes of a plan, the option's values by path (None where there is none). Out: values, and whether tests hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ucl.kernels.columns import Path
from ucl.kernels.execution import members
from ucl.kernels.plan import (
    Among,
    AnyElement,
    AtLeast,
    Constant,
    CountHits,
    Flag,
    FromWall,
    HasElement,
    HasValue,
    Literal,
    Local,
    Members,
    OfText,
    OneOf,
    Operation,
    Plan,
    Read,
    SameText,
    Select,
    SetSize,
    SetsMeet,
    Test,
    ValueNode,
)
from ucl.kernels.single.scalars import Scalar, operate
from ucl.semantics import calendar

EVALUATED = (
    Read
    | Constant
    | Operation
    | Local
    | FromWall
    | Select
    | OfText
    | SameText
    | SetSize
    | CountHits
    | HasElement
    | SetsMeet
)
"""What an option's own values decide. The rest looks at other rows, or at many records of the memory."""

Values = Callable[[Path], Any]


def decide(plan: Plan, path: Path) -> Callable[[Members, Any], bool]:
    """Whether a text or an element is a member."""

    def is_member(test: Members, value: Any) -> bool:
        return bool(members.meanings(plan.call, path, (value,), [test]).of(0)[0])

    return is_member


class Evaluation:
    """`holds` tells of a literal that is not a test; an evaluation of tests alone needs none."""

    def __init__(self, plan: Plan, values: Values, stand_ins: Mapping[Path, Any], holds: Callable[[Literal], bool]):
        self._plan = plan
        self._values = values
        self._stand_ins = stand_ins
        self._holds = holds
        self._known: dict[int, Scalar] = {}

    def value(self, number: int) -> Scalar:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._compute(number, self._plan.values[number])
        return known

    def test(self, test: Test) -> bool:
        match test:
            case AtLeast(value, constant):
                return bool(self.value(value).value >= constant)
            case Flag(value, kind):
                scalar = self.value(value)
                return bool(scalar.value if kind == "holds" else scalar.over if kind == "over" else scalar.missing)
            case HasValue(path):
                return self._values(path) is not None
            case Among(path, test_members):
                text = self._values(path)
                return text is not None and self._is_member(path, test_members, text)
            case AnyElement(path, test_members):
                return any(self._is_member(path, test_members, element) for element in self._set(path))

    def _is_member(self, path: Path, test: Members, value: Any) -> bool:
        if isinstance(test, OneOf):
            return (value in test.values) != test.inverted
        return decide(self._plan, path)(test, value)

    def _set(self, path: Path) -> frozenset[Any]:
        elements: frozenset[Any] | None = self._values(path)
        return frozenset() if elements is None else elements

    def _compute(self, number: int, node: ValueNode) -> Scalar:
        zone = self._plan.call.zone
        match node:
            case Read(path):
                value = self._values(path)
                return Scalar(self._stand_ins[path] if value is None else value)
            case Constant(value):
                return Scalar(value)
            case Operation(op, arguments):
                return operate(op, [self.value(argument).value for argument in arguments])
            case Local(instant):
                return Scalar(zone.local(self.value(instant).value))
            case FromWall(wall):
                instant = zone.instant(self.value(wall).value).instant
                within = calendar.FIRST_INSTANT <= instant <= calendar.LAST_INSTANT
                return Scalar(instant) if within else Scalar(0, over=True)
            case Select(condition, then, otherwise):
                return Scalar(self.value(then if self._holds(condition) else otherwise).value)
            case OfText(path, expression):
                return self._of_text(path, expression)
            case SameText(left, right):
                return Scalar(self._values(left) == self._values(right))
            case SetSize(path):
                return Scalar(len(self._set(path)))
            case CountHits(path, test):
                return Scalar(sum(self._is_member(path, test, element) for element in self._set(path)))
            case HasElement(container, element):
                own = self._values(element) if isinstance(element, tuple) else self.value(element).value
                return Scalar(own in self._set(container))
            case SetsMeet(op, left, right):
                first, second = self._set(left), self._set(right)
                return Scalar(first <= second if op == "subset" else not first.isdisjoint(second))
            case _:
                raise AssertionError(node)

    def _of_text(self, path: Path, expression: Any) -> Scalar:
        text = self._values(path)
        if text is None:
            return Scalar(0)
        vector = members.of_each(self._plan.call, path, (text,), expression)
        over = vector.over is not None and bool(vector.over[0])
        missing = vector.missing is not None and bool(vector.missing[0])
        return Scalar(vector.values[0].item(), over, missing)
