"""From the graph to what runs: only what is needed, in stages, tests of one column side by side.

In: the graph and the masks and values that are wanted. Out: a `Schedule`. Rows of masks are given out stage by stage,
so that all cuts of a column, all tests of a dictionary and all like conjunctions are written by one call each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.columns import Path
from ucl.kernels.lowering.graph import All, Graph, arguments_of
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
    Schedule,
    Select,
    Stage,
)


def schedule(graph: Graph, masks: Iterable[Literal], values: Iterable[int] = ()) -> Schedule:
    """What to run, so that the wanted masks and values are there."""
    rows, used = _reachable(graph, masks, values)
    levels = max(
        max((graph.mask_levels[row] for row in rows), default=0),
        max((graph.value_levels[value] for value in used), default=0),
    )
    place = {0: 0}
    stages = tuple(_stage(graph, level, rows, used, place) for level in range(levels + 1))
    literals = {2 * row + negative: 2 * at + negative for row, at in place.items() for negative in (0, 1)}
    return Schedule(stages, len(place), literals)


def _reachable(graph: Graph, masks: Iterable[Literal], values: Iterable[int]) -> tuple[list[int], list[int]]:
    """Rows and values that the wanted ones are made of, in the order in which they were made."""
    rows: set[int] = set()
    used: set[int] = set()
    waiting_rows, waiting_values = [literal >> 1 for literal in masks], list(values)
    while waiting_rows or waiting_values:
        while waiting_rows:
            row = waiting_rows.pop()
            if row in rows:
                continue
            rows.add(row)
            node = graph.masks[row]
            if type(node) is All:
                waiting_rows += [operand >> 1 for operand in node.operands]
            elif isinstance(node, AtLeast | Flag):
                waiting_values.append(node.value)
        while waiting_values:
            value = waiting_values.pop()
            if value in used:
                continue
            used.add(value)
            made = graph.values[value]
            waiting_values += arguments_of(made)
            if isinstance(made, Select):
                waiting_rows.append(made.condition >> 1)
    rows.discard(0)
    return sorted(rows), sorted(used)


def _stage(graph: Graph, level: int, rows: list[int], used: list[int], place: dict[int, int]) -> Stage:
    """Gives the rows of a level their places, group after group, and says how each is computed."""
    here = [row for row in rows if graph.mask_levels[row] == level]
    cuts: dict[int, list[tuple[int | float, int]]] = defaultdict(list)
    texts: dict[Path, list[tuple[Among | AnyElement, int]]] = defaultdict(list)
    sets: dict[Path, list[tuple[Among | AnyElement, int]]] = defaultdict(list)
    flags: list[tuple[Flag | HasValue, int]] = []
    conjunctions: list[tuple[All, int]] = []
    for row in here:
        match graph.masks[row]:
            case AtLeast(value, constant):
                cuts[value].append((constant, row))
            case All() as node:
                conjunctions.append((node, row))
            case Among(path) as node:
                texts[path].append((node, row))
            case AnyElement(path) as node:
                sets[path].append((node, row))
            case Flag() | HasValue() as node:
                flags.append((node, row))

    def placed(group: Iterable[int]) -> int:
        first = len(place)
        for row in group:
            place[row] = len(place)
        return first

    ordered = {value: sorted(group) for value, group in cuts.items()}
    cut_groups = tuple(
        Cuts(value, _constants(group), placed(row for _, row in group)) for value, group in ordered.items()
    )
    text_groups, set_groups = (
        tuple(
            Lookups(path, tuple(node.members for node, _ in group), placed(row for _, row in group))
            for path, group in groups.items()
        )
        for groups in (texts, sets)
    )
    flag_rows = tuple((node, placed([row])) for node, row in flags)
    return Stage(
        values=tuple(value for value in used if graph.value_levels[value] == level),
        cuts=cut_groups,
        texts=text_groups,
        sets=set_groups,
        flags=flag_rows,
        conjunctions=_conjunctions(conjunctions, place),
    )


def _conjunctions(nodes: list[tuple[All, int]], place: dict[int, int]) -> tuple[Conjunctions, ...]:
    """In groups of one depth and one length: each group needs only what stands before it."""
    depths: dict[int, int] = {}
    groups: dict[tuple[int, int], list[tuple[All, int]]] = defaultdict(list)
    for node, row in nodes:
        depths[row] = 1 + max([depths.get(operand >> 1, 0) for operand in node.operands])
        groups[depths[row], len(node.operands)].append((node, row))
    done = []
    for _, group in sorted(groups.items(), key=lambda item: item[0]):
        first = len(place)
        for _, row in group:
            place[row] = len(place)
        literals = [[2 * place[o >> 1] + (o & 1) for o in node.operands] for node, _ in group]
        done.append(Conjunctions(first, np.array(literals, np.int64)))
    return tuple(done)


def _constants(group: list[tuple[int | float, int]]) -> NDArray[Any]:
    floating = any(isinstance(constant, float) for constant, _ in group)
    return np.array([constant for constant, _ in group], np.float64 if floating else np.int64)
