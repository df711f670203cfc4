"""From the graph to what runs: only what is needed, in stages, tests of one column side by side.

In: the graph and the masks and values that are wanted. Out: a `Schedule`. Rows of masks are given out stage by stage,
so that all cuts of a column, all tests of a dictionary and all like conjunctions are written by one call each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import STAGE_BITS, All, Graph, arguments_of
from ucl.kernels.plan import (
    Among,
    AnyElement,
    AtLeast,
    Conjunctions,
    Cuts,
    Flag,
    HasValue,
    Literal,
    Lookups,
    Members,
    Schedule,
    Select,
    Stage,
)


def schedule(graph: Graph, masks: Iterable[Literal], values: Iterable[int] = ()) -> Schedule:
    """What to run, so that the wanted masks and values are there."""
    reached = _reached(graph, masks, values)
    stages = defaultdict[int, _Reached](_Reached)
    for row in sorted(reached.tests):
        stages[graph.mask_orders[row] >> STAGE_BITS].tests.append(row)
    for row in sorted(reached.conjunctions):
        stages[graph.mask_orders[row] >> STAGE_BITS].conjunctions.append(row)
    for value in sorted(reached.values):
        stages[graph.value_levels[value]].values.append(value)
    places = _Places()
    made = tuple(_stage(graph, stages[level], places) for level in range(max(stages, default=0) + 1))
    return Schedule(made, places.given, places.of)


@dataclass
class _Reached:
    """Rows of tests and of conjunctions, and values."""

    tests: list[int] = field(default_factory=list)
    conjunctions: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)


def _reached(graph: Graph, masks: Iterable[Literal], values: Iterable[int]) -> _Reached:
    """What the wanted ones are made of, in no order."""
    found = _Reached()
    rows, used = {0}, set[int]()
    waiting_rows, waiting_values = {literal >> 1 for literal in masks} - rows, set(values)
    while waiting_rows or waiting_values:
        rows |= waiting_rows
        used |= waiting_values
        found.values += waiting_values
        operands, arguments = set[Literal](), set[int]()
        for row in waiting_rows:
            node = graph.masks[row]
            if type(node) is All:
                operands.update(node.operands)
                found.conjunctions.append(row)
                continue
            if isinstance(node, AtLeast | Flag):
                arguments.add(node.value)
            found.tests.append(row)
        for value in waiting_values:
            made = graph.values[value]
            arguments.update(arguments_of(made))
            if isinstance(made, Select):
                operands.add(made.condition)
        waiting_rows = {literal >> 1 for literal in operands} - rows
        waiting_values = arguments - used
    return found


class _Places:
    """Gives rows their places, one after another; `of` has the literals of the schedule by those of the graph."""

    def __init__(self) -> None:
        self.given = 1
        self.of: dict[Literal, Literal] = {0: 0, 1: 1}

    def give(self, rows: Sequence[int]) -> int:
        """The first of their places."""
        first, of = self.given, self.of
        self.given += len(rows)
        for place, row in enumerate(rows, first):
            of[2 * row] = 2 * place
            of[2 * row + 1] = 2 * place + 1
        return first


def _stage(graph: Graph, reached: _Reached, places: _Places) -> Stage:
    """Gives the rows of a stage their places, group after group, and says how each is computed."""
    cuts: dict[int, list[tuple[int | float, int]]] = defaultdict(list)
    texts: dict[Path, list[tuple[Members, int]]] = defaultdict(list)
    sets: dict[Path, list[tuple[Members, int]]] = defaultdict(list)
    flags: list[tuple[Flag | HasValue, int]] = []
    for row in reached.tests:
        match graph.masks[row]:
            case AtLeast(value, constant):
                cuts[value].append((constant, row))
            case Among(path, members):
                texts[path].append((members, row))
            case AnyElement(path, members):
                sets[path].append((members, row))
            case Flag() | HasValue() as node:
                flags.append((node, row))
    return Stage(
        values=tuple(reached.values),
        cuts=tuple(_cuts(value, sorted(group), places) for value, group in cuts.items()),
        texts=tuple(_lookups(path, group, places) for path, group in texts.items()),
        sets=tuple(_lookups(path, group, places) for path, group in sets.items()),
        flags=tuple((node, places.give([row])) for node, row in flags),
        conjunctions=_conjunctions(graph, reached.conjunctions, places),
    )


def _lookups(path: Path, group: list[tuple[Members, int]], places: _Places) -> Lookups:
    return Lookups(path, tuple([members for members, _ in group]), places.give([row for _, row in group]))


def _cuts(value: int, group: list[tuple[int | float, int]], places: _Places) -> Cuts:
    constants = [constant for constant, _ in group]
    floating = any(isinstance(constant, float) for constant in constants)
    array: NDArray[Any] = np.array(constants, np.float64 if floating else np.int64)
    return Cuts(value, array, places.give([row for _, row in group]))


def _conjunctions(graph: Graph, rows: list[int], places: _Places) -> tuple[Conjunctions, ...]:
    """In groups of one depth and one length: each group needs only what stands before it."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    operands: dict[int, tuple[Literal, ...]] = {}
    for row in rows:
        node = graph.masks[row]
        assert isinstance(node, All)
        operands[row] = node.operands
        groups[graph.mask_orders[row], len(node.operands)].append(row)
    made = []
    for (_, size), group in sorted(groups.items()):
        first = places.give(group)
        literals = [places.of[literal] for row in group for literal in operands[row]]
        made.append(Conjunctions(first, np.array(literals, np.int64).reshape(len(group), size)))
    return tuple(made)
