"""Whether the promises of a program notice a mutant of it: by stored samples, then where the two differ, then by proof.

In: verdicts on the program, a mutant that compiles. Out: the name of a promise that breaks on it, or None. Samples
stand on the edges of what conditions ask, so that most mutants die of the first few; only rows of which the programs
say something different are looked at, and `evaluate` has the last word on each. What is left is searched: a promise
that speaks of scores alone can be broken only where its condition holds and the programs differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ucl.analysis.cells.inputs import canonical, written_out
from ucl.analysis.cells.outcomes import valid_today
from ucl.analysis.diff import Reach, reach
from ucl.analysis.points import Point, call_of, option_of, point_at
from ucl.analysis.properties import Counterexample, Promise, Prover, Undecided, provers
from ucl.semantics import program as p
from ucl.semantics.parts import mapped
from ucl.semantics.program import Expr, Prefer, Program, Property
from ucl.semantics.types import BOOL
from ucl.testing.mutants.stored import Stored, breaks, schema_of
from ucl.testing.samples import batches
from ucl.testing.verdicts import Outcome, Verdict, verdicts

# Samples of any kind, and as many for each promise, as long as there are not too many promises; the calls that they
# are spread over; samples that are put together with a cell where programs differ.
_SAMPLES = 200
_MOST_SAMPLES = 20_000
_CALLS = 8
_MIXED = 6
_UNDECIDED_SAMPLES = 300


class Trial:
    """Stores what the program says of samples, for mutants to be compared with."""

    def __init__(self, found: Sequence[Verdict], seed: int) -> None:
        self._seed = seed
        active = [verdict for verdict in found if verdict.outcome is not Outcome.BROKEN and not verdict.is_shadow]
        self.names = frozenset(verdict.promise.name for verdict in active)
        """The promises that can notice something: they hold, and are no shadows."""
        self._provers = list({id(verdict.prover): verdict.prover for verdict in active}.values())
        count = max(1, min(_SAMPLES, _MOST_SAMPLES // max(1, len(active))))
        self._stored = [
            Stored(prover, batch, self.names)
            for prover in self._provers
            for batch in batches(prover, count, seed, _CALLS)
        ]

    def killer_among_samples(self, mutant: Program) -> str | None:
        """The name of a promise that a stored sample breaks on the mutant. What killed last is tried first: mutants of
        one rule die of the same samples."""
        promises = self._promises(mutant)
        for stored in self._stored:
            killer = stored.killer(mutant, promises)
            if killer is not None:
                self._stored.remove(stored)
                self._stored.insert(0, stored)
                return killer
        return None

    def _promises(self, mutant: Program) -> dict[str, Promise]:
        """As the mutant has them: a value that rules and promises share is otherwise in both."""
        return {promise.name: promise for promise in mutant.properties if promise.name in self.names}

    # --- by search --------------------------------------------------------------------------------------------------

    def killer_by_search(self, mutant: Program) -> str | None:
        """The name of a promise that breaks where the two programs differ, or is proved to break."""
        promises = self._promises(mutant)
        still_open: list[tuple[Prover, list[Promise], set[str]]] = []
        for prover in self._provers:
            told = [promises[each.name] for each in prover.promises if each.name in promises]
            looked_at, out_of_reach = set(), set()
            for promise, reached in _reached(prover, mutant, told):
                if self._breaks_there(prover, mutant, promise, reached):
                    return promise.name
                if reached.cells:
                    looked_at.add(promise.name)
                elif reached.decided and _says_the_same(prover, promise):
                    out_of_reach.add(promise.name)
            still_open.append((prover, [promise for promise in told if promise.name not in out_of_reach], looked_at))
        # Proofs cost the most, and come last.
        proofs = (self._by_proof(mutant, open_, prover.since, seen) for prover, open_, seen in still_open)
        return next((name for name in proofs if name is not None), None)

    def _breaks_there(self, prover: Prover, mutant: Program, prop: Property, reached: Reach) -> bool:
        """Cells fix what the condition and the edit depend on; everything else is plain, or as in some sample."""
        samples = [stored for stored in self._stored if stored.prover is prover]
        named = prover.named_by(prop)
        for number, cell in enumerate(reached.cells):
            points = [point_at(prover.side, cell, prover.since)]
            points += [Point({**around.values, **cell}) for around in _some(samples, number)]
            for point in points:
                if breaks(mutant, prop, named, option_of(prover.side, point), call_of(prover.side, point)):
                    return True
        return False

    # --- by proof ---------------------------------------------------------------------------------------------------

    def _by_proof(self, mutant: Program, promises: list[Promise], since: int, looked_at: set[str]) -> str | None:
        """As `uclc test` goes about it; `looked_at` are those that have been tried where they could break."""
        undecided: list[Promise] = []
        for prover in provers(replace(mutant, properties=tuple(promises)), since):
            for promise in prover.promises:
                match prover.prove(promise):
                    case Counterexample():
                        return promise.name
                    case Undecided() if promise.name not in looked_at:
                        undecided.append(promise)
                    case _:
                        continue
        if not undecided:
            return None
        sampled = verdicts(replace(mutant, properties=tuple(undecided)), since, _UNDECIDED_SAMPLES, self._seed)
        return next((verdict.promise.name for verdict in sampled if verdict.fails), None)


def _reached(prover: Prover, mutant: Program, told: list[Promise]) -> Iterator[tuple[Property, Reach]]:
    """Where each property could be broken by what is otherwise in the mutant."""
    schema = schema_of(mutant, prover.side.schema.name)
    if schema is None:
        return
    properties = [promise for promise in told if isinstance(promise, Property)]
    known: dict[object, Expr] = {}
    conditions = [_shared(_given(prop), known) for prop in properties]
    schemas = (prover.side.schema, schema)
    yield from zip(properties, reach(prover.program, mutant, schemas, prover.since, conditions), strict=True)


def _some(samples: Sequence[Stored], number: int) -> Iterator[Point]:
    """A few points of the samples, others for another number."""
    for place in range(_MIXED):
        if samples:
            stored = samples[(number + place) % len(samples)]
            point = stored.point((number * _MIXED + place) % stored.rows)
            if point is not None:
                yield point


def _given(prop: Property) -> Expr:
    """The condition of a property, with the days on which it is valid."""
    days = valid_today(prop.meta, prop.span)
    parts = [part for part in (days, None if prop.given is None else written_out(prop.given)) if part is not None]
    return p.And(BOOL, prop.span, tuple(parts)) if parts else p.Const(BOOL, prop.span, True)


def _shared(expr: Expr, known: dict[object, Expr]) -> Expr:
    """The same with one node for all tests that are equal: promises of one person ask the same again and again, and
    each is then asked of every value once."""
    if isinstance(expr, p.And | p.Or | p.Not | p.If):
        return mapped(expr, lambda part: _shared(part, known))
    return known.setdefault(canonical(expr), expr)


def _says_the_same(prover: Prover, promise: Property) -> bool:
    """Whether it speaks of scores and decisions alone, and means in the mutant what it means in the program."""
    original = next(each for each in prover.promises if each.name == promise.name)
    return not prover.named_by(original) and _meaning(original) == _meaning(promise)


def _meaning(promise: Promise) -> list[object]:
    parts: list[Expr] = [promise.better, promise.worse] if isinstance(promise, Prefer) else [*promise.expect]
    if isinstance(promise, Property) and promise.given is not None:
        parts.append(promise.given)
    return [canonical(written_out(part)) for part in parts]
