"""Samples with what a program says of them, to be held against what its mutants say.

In: a prover, a batch of samples, a mutant. Out: the name of a promise that a sample breaks on the mutant, or None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.analysis.points import Point, option_of
from ucl.analysis.properties import Promise, Prover
from ucl.frozen import frozen
from ucl.kernels.lower import lower
from ucl.kernels.run import Scores, score
from ucl.semantics.evaluate import property_holds, satisfies, score_option
from ucl.semantics.expressions import Exhausted
from ucl.semantics.outcome import Call
from ucl.semantics.program import Constraint, Prefer, Program, Property, Rule, Schema
from ucl.testing.readings import Reader, Reading, Sides
from ucl.testing.samples import Batch
from ucl.testing.verdicts import point_of

_REPLAYS = 12

Bits = NDArray[np.bool_]
Option = Mapping[str, Any]


@frozen
class _Told:
    """Whom a row concerns: of a property the rows of which it says something, of a `prefer` those of either side."""

    promise: Promise
    rows: Bits
    worse: Bits | None


class Stored:
    """One batch with what the program says of it."""

    def __init__(self, prover: Prover, batch: Batch, names: frozenset[str]) -> None:
        self.prover, self._batch = prover, batch
        self.rows = batch.columns.rows
        self._alone = np.arange(self.rows, dtype=np.int64)
        self._before = self._scores(prover.program, prover.side.schema)
        readings = Reader(prover).read(batch)
        self._told = [_told(promise, reading) for promise, reading in readings if promise.name in names]

    def _scores(self, program: Program, schema: Schema) -> Scores:
        return score(lower(program, schema, self._batch.call), self._batch.columns, groups=self._alone)

    def point(self, row: int) -> Point | None:
        return point_of(self.prover, self._batch, row)

    def killer(self, mutant: Program, promises: Mapping[str, Promise]) -> str | None:
        """`promises` are those of the mutant, by name."""
        schema = schema_of(mutant, self.prover.side.schema.name)
        if schema is None:
            return None
        after = self._scores(mutant, schema)
        differs = _differing(self._before, after)
        if not differs.any():
            return None
        for told in self._told:
            promise = promises.get(told.promise.name)
            if promise is not None and self._breaks(mutant, promise, told, differs, after):
                return promise.name
        return None

    def _breaks(self, mutant: Program, promise: Promise, told: _Told, differs: Bits, after: Scores) -> bool:
        call = self._batch.call
        if isinstance(promise, Property):
            named = self.prover.named_by(told.promise)
            options = map(self._option, _spread(np.flatnonzero(differs & told.rows)))
            return any(option is not None and breaks(mutant, promise, named, option, call) for option in options)
        assert told.worse is not None
        better, worse = (np.flatnonzero(side & after.valid) for side in (told.rows, told.worse))
        if not len(better) or not len(worse):
            return False
        least, most = better[after.total[better].argmin()], worse[after.total[worse].argmax()]
        if after.total[least] >= after.total[most]:
            return False
        pair = [self._option(int(row)) for row in (least, most)]
        return pair[0] is not None and pair[1] is not None and _breaks_pair(mutant, promise, pair[0], pair[1], call)

    def _option(self, row: int) -> Option | None:
        point = self.point(row)
        return None if point is None else option_of(self.prover.side, point)


def _told(promise: Promise, reading: Reading | Sides) -> _Told:
    if isinstance(reading, Reading):
        return _Told(promise, reading.says, None)
    return _Told(promise, reading.better, reading.worse)


def schema_of(program: Program, name: str) -> Schema | None:
    """A mutant's own schema of that name, which it has declared or read anew."""
    declared = (*program.rules, *program.constraints, *program.properties)
    return next((each.schema for each in declared if each.schema.name == name), None)


def _differing(before: Scores, after: Scores) -> Bits:
    found: Bits = before.total != after.total
    for one, other in (
        (before.feasible, after.feasible),
        (before.contested, after.contested),
        (before.valid, after.valid),
    ):
        found = found | (one != other)
    return found


def _spread(rows: NDArray[np.int64]) -> Iterator[int]:
    """Some of them, evenly: neighbours are of one kind of sample, and alike."""
    step = max(1, -(-len(rows) // _REPLAYS))
    yield from rows[::step].tolist()


def breaks(program: Program, prop: Property, named: frozenset[str], option: Option, call: Call) -> bool:
    """Whether a property fails for an option, on a day on which it and the rules that it names are valid."""
    declared: list[Rule | Constraint] = [*program.rules, *program.constraints]
    metas = [each.meta for each in declared if each.name in named]
    if not all(meta.valid.holds(call.today) for meta in (prop.meta, *metas)):
        return False
    try:
        return property_holds(program, prop, option, call) is False
    except Exhausted:
        return False


def _breaks_pair(program: Program, prefer: Promise, better: Option, worse: Option, call: Call) -> bool:
    assert isinstance(prefer, Prefer)
    if not prefer.meta.valid.holds(call.today):
        return False
    try:
        if not (satisfies(prefer.better, better, call) and satisfies(prefer.worse, worse, call)):
            return False
        totals = [score_option(program, prefer.schema, dict(option), call).total for option in (better, worse)]
    except Exhausted:
        return False
    return totals[0] is not None and totals[1] is not None and totals[0] < totals[1]
