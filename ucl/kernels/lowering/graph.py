"""The graph that lowering builds: values, tests and conjunctions, each distinct one once.

In: nodes, asked for by what they are. Out: numbers of values and literals of masks. Simplifies as it goes: constants
fold, a conjunction of a literal and its negation is false, conjunctions in conjunctions are flattened.
"""

from __future__ import annotations

from itertools import pairwise

from ucl.frozen import frozen
from ucl.kernels.plan import (
    FALSE,
    TRUE,
    Among,
    AnyElement,
    AtLeast,
    Below,
    Constant,
    Entry,
    Flag,
    FromWall,
    Group,
    HasElement,
    HasValue,
    Literal,
    Local,
    Operation,
    Select,
    Test,
    ValueNode,
    negated,
)

# A longer conjunction keeps its own row inside another one: flattening it would copy its operands.
_FLATTEN = 6


@frozen
class All:
    """Every operand holds; at least two, sorted."""

    operands: tuple[Literal, ...]


def arguments_of(node: ValueNode) -> tuple[int, ...]:
    """The values that a value is made of."""
    match node:
        case Operation(_, arguments):
            return arguments
        case Local(argument) | FromWall(argument):
            return (argument,)
        case Select(_, then, otherwise):
            return (then, otherwise)
        case HasElement(_, int() as argument) | Entry(argument):
            return (argument,)
        case Below(group, bound):
            return (group, bound)
        case Group(keys):
            return tuple(key for key in keys if isinstance(key, int))
        case _:
            return ()


class Graph:
    """Grows while a program is lowered, and is only read afterwards.

    `levels` say in which stage a node can be computed: one after the masks that a value selects by.
    """

    def __init__(self) -> None:
        self.values: list[ValueNode] = []
        self.value_levels: list[int] = []
        self.masks: list[Test | All | None] = [None]  # row 0 holds every row
        self.mask_levels: list[int] = [0]
        self._value_of: dict[ValueNode, int] = {}
        self._mask_of: dict[Test | tuple[Literal, ...], Literal] = {}
        self._cuts: dict[tuple[int, int | float], Literal] = {}

    def value(self, node: ValueNode) -> int:
        number = self._value_of.get(node)
        if number is None:
            number = self._value_of[node] = len(self.values)
            self.values.append(node)
            self.value_levels.append(self._level(node))
        return number

    def _level(self, node: ValueNode) -> int:
        after = [self.value_levels[argument] for argument in arguments_of(node)]
        if isinstance(node, Select):
            after.append(self.mask_levels[node.condition >> 1] + 1)
        return max(after, default=0)

    def test(self, node: Among | AnyElement | Flag | HasValue) -> Literal:
        literal = self._mask_of.get(node)
        if literal is None:
            level = self.value_levels[node.value] if isinstance(node, Flag) else 0
            literal = self._mask_of[node] = self._add(node, level)
        return literal

    def cut(self, value: int, constant: int | float) -> Literal:
        """Where `value >= constant`: the commonest test."""
        key = (value, constant)
        literal = self._cuts.get(key)
        if literal is None:
            literal = self._cuts[key] = self._add(AtLeast(value, constant), self.value_levels[value])
        return literal

    def _add(self, node: Test | All, level: int) -> Literal:
        self.masks.append(node)
        self.mask_levels.append(level)
        return 2 * (len(self.masks) - 1)

    def all_of(self, *literals: Literal) -> Literal:
        """The conjunction."""
        counting = [literal for literal in literals if literal != TRUE]
        if len(counting) < 2:
            return counting[0] if counting else TRUE
        if FALSE in counting:
            return FALSE
        operands: set[Literal] = set()
        masks = self.masks
        for literal in counting:
            node = None if literal & 1 else masks[literal >> 1]
            if type(node) is All and len(node.operands) <= _FLATTEN:
                operands.update(node.operands)
            else:
                operands.add(literal)
        key = tuple(sorted(operands))
        known = self._mask_of.get(key)
        if known is None:
            # Sorted, a literal stands next to its negation.
            clash = any(a ^ 1 == b for a, b in pairwise(key))
            known = self._mask_of[key] = FALSE if clash else key[0] if len(key) == 1 else self._conjunction(key)
        return known

    def _conjunction(self, operands: tuple[Literal, ...]) -> Literal:
        return self._add(All(operands), max(self.mask_levels[operand >> 1] for operand in operands))

    def any_of(self, *literals: Literal) -> Literal:
        """The disjunction."""
        some = [literal for literal in literals if literal != FALSE]
        if len(some) < 2:
            return some[0] if some else FALSE
        return negated(self.all_of(*[literal ^ 1 for literal in some]))

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """`then` where the condition holds, else `otherwise`."""
        if then == otherwise:
            return then
        return self.any_of(self.all_of(condition, then), self.all_of(negated(condition), otherwise))

    def number(self, value: int | float) -> int:
        return self.value(Constant(value, isinstance(value, float)))

    def constant(self, value: int) -> int | float | None:
        node = self.values[value]
        return node.value if isinstance(node, Constant) else None
