"""Which declarations come before which: strongly connected components.

In: nodes and the nodes that each needs. Out: the components, what is needed first; a component of several nodes, or
of one that needs itself, is a cycle. The algorithm is Tarjan's (1972), with a stack of its own in place of recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(nodes: Iterable[N], needs: Callable[[N], Iterable[N]]) -> list[tuple[N, ...]]:
    """Every component after those that it needs, its members in the order in which they were met."""
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    open_nodes: dict[N, None] = {}
    found: list[tuple[N, ...]] = []
    for root in nodes:
        if root in index:
            continue
        work: list[tuple[N, Iterator[N]]] = []
        _enter(root, index, low, open_nodes, work, needs)
        while work:
            node, rest = work[-1]
            for needed in rest:
                if needed not in index:
                    _enter(needed, index, low, open_nodes, work, needs)
                    break
                if needed in open_nodes:
                    low[node] = min(low[node], index[needed])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    found.append(_close(node, open_nodes))
    return found


def _enter(
    node: N,
    index: dict[N, int],
    low: dict[N, int],
    open_nodes: dict[N, None],
    work: list[tuple[N, Iterator[N]]],
    needs: Callable[[N], Iterable[N]],
) -> None:
    index[node] = low[node] = len(index)
    open_nodes[node] = None
    work.append((node, iter(needs(node))))


def _close(node: N, open_nodes: dict[N, None]) -> tuple[N, ...]:
    members = []
    while True:
        member, _ = open_nodes.popitem()
        members.append(member)
        if member == node:
            return tuple(reversed(members))


def cycles(nodes: Iterable[N], needs: Callable[[N], Iterable[N]]) -> list[tuple[N, ...]]:
    """The components that are cycles."""
    return [c for c in components(nodes, needs) if len(c) > 1 or c[0] in needs(c[0])]
