"""Engines of arrays, given prepared columns: NumPy in blocks, numexpr, and sharrow.

In: a `Work`. Out: a function that computes totals, as whole numbers of 10^-9, and what is feasible.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.peers.frames import Answer
from ucl.bench.peers.work import (
    All,
    Between,
    Condition,
    Holds,
    Not,
    OneOf,
    Overlap,
    Some,
    Work,
    codes,
    people_codes,
)
from ucl.semantics.outcome import NANO

Bits = NDArray[np.bool_]

# Rows at a time: what is between stays in the cache.
_BLOCK = 16_384
# An expression of numexpr has less than 256 values.
_TERMS = 12


def numpy_query(work: Work) -> Callable[[], Answer]:
    """Block by block, each distinct condition once."""
    rows = len(work.table.start)

    def run() -> Answer:
        total, feasible = np.zeros(rows, np.int64), np.zeros(rows, bool)
        for start in range(0, rows, _BLOCK):
            stop = min(start + _BLOCK, rows)
            block = _Block(work, start, stop)
            for line in work.lines:
                where = block.holds(line.when)
                if line.times is None:
                    total[start:stop] += where * np.int64(line.nano)
                else:
                    varying = np.rint(line.score * work.columns[line.times][start:stop] * NANO).astype(np.int64)
                    total[start:stop] += np.where(where, varying, 0)
            feasible[start:stop] = block.holds(work.feasible)
        return total, feasible

    return run


class _Block:
    """Some rows, with the conditions that are known of them."""

    def __init__(self, work: Work, start: int, stop: int) -> None:
        self._columns: Mapping[str, NDArray[Any]] = {n: column[start:stop] for n, column in work.columns.items()}
        offsets = work.table.offsets[start : stop + 1]
        self._people = work.table.attendees[offsets[0] : offsets[-1]]
        self._firsts = offsets[:-1] - offsets[0]
        self._rows = stop - start
        self._known: dict[Condition, Bits] = {}

    def holds(self, condition: Condition) -> Bits:
        found = self._known.get(condition)
        if found is None:
            found = self._known[condition] = self._computed(condition)
        return found

    def _computed(self, condition: Condition) -> Bits:
        match condition:
            case Between(column, low, high):
                values = self._columns[column]
                found: Bits = np.ones(self._rows, bool) if low is None else values >= low
                return found if high is None else found & (values < high)
            case OneOf(column):
                values = self._columns[column]
                return reduce(or_, (values == code for code in codes(condition)))
            case Overlap():
                hits = reduce(or_, (self._people == code for code in people_codes(condition)))
                return np.logical_or.reduceat(hits, self._firsts)  # everybody invites somebody
            case Holds(column):
                return self._columns[column]
            case Not(part):
                return ~self.holds(part)
            case All(parts):
                return reduce(and_, map(self.holds, parts), np.ones(self._rows, bool))
            case Some(parts):
                return reduce(or_, map(self.holds, parts))


def numexpr_query(work: Work, threads: int) -> Callable[[], Answer]:
    """As few expressions as it takes; who is invited comes from NumPy, since numexpr knows no lists."""
    import numexpr

    overlaps: dict[Condition, str] = {}
    terms = [f"where({_numexpr(line.when, overlaps)}, {_numexpr_score(line)}, 0.0)" for line in work.lines]
    sums = [" + ".join(terms[start : start + _TERMS]) for start in range(0, len(terms), _TERMS)]
    feasible = _numexpr(work.feasible, overlaps)

    def run() -> Answer:
        numexpr.set_num_threads(threads)
        whole = _Block(work, 0, len(work.table.start))
        names = {**work.columns, **{name: whole.holds(condition) for condition, name in overlaps.items()}}
        # Doubles hold these whole numbers exactly, and numexpr's own integers are slower.
        nanos = sum(numexpr.evaluate(part, local_dict=names, global_dict={}, sanitize=False) for part in sums)
        if not feasible:
            return nanos.astype(np.int64), np.ones(len(nanos), bool)
        return nanos.astype(np.int64), numexpr.evaluate(feasible, local_dict=names, global_dict={}, sanitize=False)

    return run


def _numexpr_score(line: Any) -> str:
    return f"{float(line.nano)!r}" if line.times is None else f"floor({line.score!r} * {line.times} * 1e9 + 0.5)"


def _numexpr(condition: Condition, overlaps: dict[Condition, str]) -> str:
    match condition:
        case Between(column, low, high):
            ends = [] if low is None else [f"({column} >= {low!r})"]
            ends += [] if high is None else [f"({column} < {high!r})"]
            return f"({' & '.join(ends)})"
        case OneOf(column):
            return f"({' | '.join(f'({column} == {code})' for code in codes(condition))})"
        case Overlap():
            return overlaps.setdefault(condition, f"overlap_{len(overlaps)}")
        case Holds(column):
            return column
        case Not(part):
            return f"(~{_numexpr(part, overlaps)})"
        case All(parts):
            return f"({' & '.join(_numexpr(part, overlaps) for part in parts)})" if parts else ""
        case Some(parts):
            return f"({' | '.join(_numexpr(part, overlaps) for part in parts)})"


# --- sharrow --------------------------------------------------------------------------------------------------------


def sharrow_query(work: Work) -> Callable[[], Answer]:
    """A flow of one expression for each rule, and their product with the scores; compiled once, in some twenty seconds.

    It adds doubles, which are near enough to ours to be the same whole numbers here; it knows no constraints.
    """
    import pandas as pd
    import sharrow

    overlaps: dict[Condition, str] = {}
    expressions = {}
    for number, line in enumerate(work.lines):
        holds = _numexpr(line.when, overlaps)
        expressions[f"rule_{number}"] = holds if line.times is None else f"{holds} * {line.times}"
    scores = np.array([line.score for line in work.lines])
    block = _Block(work, 0, len(work.table.start))
    known = {name: block.holds(condition) for condition, name in overlaps.items()}
    tree = sharrow.DataTree(df=pd.DataFrame({**work.columns, **known}))
    folder = tempfile.TemporaryDirectory()
    flow = tree.setup_flow(expressions, cache_dir=folder.name)
    feasible = block.holds(work.feasible)

    def run(folder: object = folder) -> Answer:
        return np.rint(flow.dot(scores, dtype=np.float64) * NANO).astype(np.int64), feasible

    return run
