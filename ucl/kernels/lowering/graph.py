"""The graph that lowering builds: values, tests and conjunctions, each distinct one once.

In: nodes, asked for by what they are. Out: numbers of values and literals of masks. Simplifies as it goes: constants
fold, a conjunction of a literal and its negation is false, conjunctions in conjunctions are flattened.
"""

from __future__ import annotations

from ucl.frozen import frozen
from ucl.kernels.lowering.ranges import OfColumn, Range, is_never_missing, of_value, stays_within
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

STAGE_BITS = 32
"""A mask's order among masks: its stage, in the bits from this one on, and how deep in conjunctions of that stage it
lies. A mask is made of masks that come before it in this order."""


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

    `value_levels` say in which stage a value can be computed: one after the masks that it selects by. `mask_orders` say
    it of masks, and in which order within the stage. `ranges` say how small and how large values can be, if `of_column`
    knows it of columns: what they decide is no test.
    """

    def __init__(self, of_column: OfColumn = lambda path: None) -> None:
        self.values: list[ValueNode] = []
        self.ranges: list[Range | None] = []
        self._of_column = of_column
        self.value_levels: list[int] = []
        self.masks: list[Test | All | None] = [None]  # row 0 holds every row
        self.mask_orders: list[int] = [0]
        self._value_of: dict[ValueNode, int] = {}
        self._mask_of: dict[Test, Literal] = {}
        self._cuts: dict[tuple[int, int | float], Literal] = {}
        self._conjunction_of: dict[tuple[Literal, ...], Literal] = {}
        self._short: dict[Literal, tuple[Literal, ...]] = {}  # what conjunctions in conjunctions are replaced by

    def value(self, node: ValueNode) -> int:
        number = self._value_of.setdefault(node, len(self.values))
        if number == len(self.values):
            self.values.append(node)
            self.value_levels.append(self._level(node))
            self.ranges.append(of_value(node, self._of_column, self.ranges))
        return number

    def _level(self, node: ValueNode) -> int:
        after = [self.value_levels[argument] for argument in arguments_of(node)]
        if isinstance(node, Select):
            after.append((self.mask_orders[node.condition >> 1] >> STAGE_BITS) + 1)
        return max(after, default=0)

    def test(self, node: Among | AnyElement | Flag | HasValue) -> Literal:
        literal = self._mask_of.setdefault(node, 2 * len(self.masks))
        if literal == 2 * len(self.masks):
            if isinstance(node, Flag) and self._is_never(node):
                self._mask_of[node] = FALSE
                return FALSE
            self._add(node, self.value_levels[node.value] << STAGE_BITS if isinstance(node, Flag) else 0)
        return literal

    def cut(self, value: int, constant: int | float) -> Literal:
        """Where `value >= constant`: the commonest test."""
        literal = self._cuts.setdefault((value, constant), 2 * len(self.masks))
        if literal == 2 * len(self.masks):
            found = self.ranges[value]
            if found is not None and not found.low < constant <= found.high:
                decided = self._cuts[value, constant] = TRUE if constant <= found.low else FALSE
                return decided
            self._add(AtLeast(value, constant), self.value_levels[value] << STAGE_BITS)
        return literal

    def _is_never(self, flag: Flag) -> bool:
        node = self.values[flag.value]
        if flag.kind == "over":
            return stays_within(node, self.ranges[flag.value])
        return flag.kind == "missing" and is_never_missing(node, self.ranges)

    def _add(self, node: Test | All, order: int) -> Literal:
        self.masks.append(node)
        self.mask_orders.append(order)
        return 2 * (len(self.masks) - 1)

    def all_of(self, *literals: Literal) -> Literal:
        """The conjunction."""
        if FALSE in literals:
            return FALSE
        if TRUE in literals:
            literals = tuple([literal for literal in literals if literal != TRUE])
        if len(literals) < 2:
            return literals[0] if literals else TRUE
        operands: set[Literal] = set()
        for literal in literals:
            inside = self._short.get(literal)
            if inside is None:
                operands.add(literal)
            else:
                operands.update(inside)
        key = tuple(sorted(operands))
        known = self._conjunction_of.get(key)
        if known is None:
            known = self._conjunction_of[key] = self._conjunction(key)
        return known

    def _conjunction(self, operands: tuple[Literal, ...]) -> Literal:
        """Of sorted operands, in which a literal stands next to its negation."""
        if len(operands) == 1:
            return operands[0]
        orders, order, before = self.mask_orders, 0, -1
        for literal in operands:
            if literal ^ 1 == before:
                return FALSE
            before = literal
            order_of_it = orders[literal >> 1]
            if order_of_it > order:
                order = order_of_it
        literal = self._add(All(operands), order + 1)
        if len(operands) <= _FLATTEN:
            self._short[literal] = operands
        return literal

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
