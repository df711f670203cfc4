"""Whether a program keeps its promises: proved where that can be, sampled everywhere, the smallest counterexample.

In: a program. Out: a `Verdict` for each `property` and `prefer` in source order. Samples go through the compiled
kernels; what they find counts once `evaluate` says so too, and is then made as small as people would make it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from ucl.analysis.cells.inputs import Place
from ucl.analysis.points import Point
from ucl.analysis.properties import Counterexample, Promise, Proved, Prover, provers, sentence, to_blame, witness_of
from ucl.analysis.properties.blame import outcome_at
from ucl.analysis.properties.prove import Answer
from ucl.frozen import frozen
from ucl.scoring.results.records import record_at
from ucl.semantics.outcome import Invalid
from ucl.semantics.program import Prefer, Program, Property, Status
from ucl.testing.readings import Reader, Reading, Sides
from ucl.testing.samples import Batch, batches

SAMPLES = 1000
# How many rows that the kernels find are replayed, and how many only `evaluate` can judge.
_REPLAYS = 20
_ONE_BY_ONE = 300


class Outcome(StrEnum):
    PROVED = "proved"
    HELD = "held"
    BROKEN = "broken"


@frozen
class Verdict:
    """`samples` are those of which the promise said something; `blamed` the rules that broke it."""

    prover: Prover
    promise: Promise
    outcome: Outcome
    samples: int
    found: Counterexample | None
    blamed: tuple[str, ...]
    vacuous: bool

    @property
    def fails(self) -> bool:
        """A shadow promise is reported and fails nothing."""
        return self.outcome is Outcome.BROKEN and not self.is_shadow

    @property
    def is_shadow(self) -> bool:
        return self.promise.meta.status is not Status.ACTIVE

    @property
    def message(self) -> str:
        """One sentence."""
        name = f"`{self.promise.name}`"
        if self.found is not None:
            return sentence(self.prover, self.promise, self.found, self.blamed)
        if self.vacuous:
            return f"{name} holds, since there is no option of which it says anything"
        if self.outcome is Outcome.PROVED:
            return f"{name} holds for every option"
        samples = "1 sample" if self.samples == 1 else f"{self.samples} samples"
        return f"{name} held on {samples}; it could not be decided for all options"

    def to_json(self) -> dict[str, Any]:
        """The object of INTERFACE §2."""
        return {
            "property": self.promise.name,
            "status": str(self.outcome),
            "samples": self.samples,
            "counterexample": None if self.found is None else self._counterexample(self.found),
            "message": self.message,
        }

    def _counterexample(self, found: Counterexample) -> dict[str, Any]:
        witness = witness_of(self.prover, found)
        told: dict[str, Any] = {
            "option": dict(witness.option),
            "context": dict(witness.context),
            "total": witness.total,
        }
        if found.worse is None:
            told["decision"] = str(outcome_at(self.prover, found).decision)
        return {**told, "rules": list(self.blamed)}


def verdicts(program: Program, since: int, samples: int = SAMPLES, seed: int = 0) -> list[Verdict]:
    """One for each promise that is not retired, in source order. `since` is the instant from which on they hold."""
    told = (verdict for prover in provers(program, since) for verdict in _of(prover, samples, seed))
    found = {verdict.promise.name: verdict for verdict in told}
    return [found[promise.name] for promise in program.properties if promise.name in found]


def _of(prover: Prover, samples: int, seed: int) -> Iterator[Verdict]:
    answers = {promise.name: prover.prove(promise) for promise in prover.promises}
    sampled = _Sampled(prover, answers)
    for batch in batches(prover, samples, seed) if samples else ():
        sampled.take(batch)
    for promise in prover.promises:
        answer = sampled.answers[promise.name]
        found = answer if isinstance(answer, Counterexample) else None
        proved = isinstance(answer, Proved)
        outcome = Outcome.BROKEN if found else Outcome.PROVED if proved else Outcome.HELD
        blamed = () if found is None else to_blame(prover, promise, found)
        vacuous = isinstance(answer, Proved) and answer.vacuous
        yield Verdict(prover, promise, outcome, sampled.counts.get(promise.name, 0), found, blamed, vacuous)


class _Sampled:
    """Answers, as samples correct them, and how many samples spoke of each promise."""

    def __init__(self, prover: Prover, answers: dict[str, Answer]) -> None:
        self.answers = answers
        self.counts: dict[str, int] = {}
        self._prover = prover
        self._reader = Reader(prover)

    def take(self, batch: Batch) -> None:
        for promise, reading in self._reader.read(batch):
            if isinstance(reading, Reading):
                count = int(reading.says.sum())
            else:
                count = int(reading.better.sum() + reading.worse.sum())
            self.counts[promise.name] = self.counts.get(promise.name, 0) + count
            if isinstance(self.answers[promise.name], Counterexample):
                continue
            found = self._found(promise, reading, batch)
            if found is not None:
                self.answers[promise.name] = found

    def _found(self, promise: Promise, reading: Reading | Sides, batch: Batch) -> Counterexample | None:
        if isinstance(promise, Prefer):
            assert isinstance(reading, Sides)
            return self._pair(promise, reading, batch)
        assert isinstance(reading, Reading)
        rows = np.flatnonzero(reading.says & ~reading.holds)[:_REPLAYS].tolist()
        if self._reader.row_by_row(promise) and not isinstance(self.answers[promise.name], Proved):
            rows += np.flatnonzero(reading.says)[:_ONE_BY_ONE].tolist()
        return self._single(promise, rows, batch)

    def _single(self, prop: Property, rows: Sequence[int], batch: Batch) -> Counterexample | None:
        prover = self._prover
        for row in rows:
            point = point_of(prover, batch, row)
            if point is not None and prover.fails(prop, point):
                return Counterexample(prover.smaller(prop, point))
        return None

    def _pair(self, prefer: Prefer, sides: Sides, batch: Batch) -> Counterexample | None:
        """The least of the better kind, and the most of the worse."""
        better, worse = np.flatnonzero(sides.better), np.flatnonzero(sides.worse)
        if not len(better) or not len(worse):
            return None
        low, high = better[sides.totals[better].argmin()], worse[sides.totals[worse].argmax()]
        if sides.totals[low] >= sides.totals[high]:
            return None
        points = [point_of(self._prover, batch, int(row)) for row in (low, high)]
        if points[0] is None or points[1] is None or not self._prover.fails_pair(prefer, points[0], points[1]):
            return None
        return self._prover.smaller_pair(prefer, Counterexample(points[0], points[1]))


def point_of(prover: Prover, batch: Batch, row: int) -> Point | None:
    """The option in a row with what surrounds it; None for one that is invalid."""
    record = record_at(batch.columns, prover.side.schema, row)
    if isinstance(record, Invalid):
        return None
    values = dict(batch.around.values)
    for key, input in prover.side.inputs.by_key.items():
        if key[0] is Place.OPTION:
            value: Any = record
            for name in input.path:
                value = value[name]
            values[key] = value
    return Point(values)
