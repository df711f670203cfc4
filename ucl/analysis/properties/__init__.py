"""Whether a program keeps its promises (LANGUAGE §11).

In: a program and the instant from which on it shall hold. Out: findings for `check`; `Prover`s for who tests further.
"""

from __future__ import annotations

from ucl.analysis.properties.blame import broken_property, sentence, statement, to_blame, witness_of
from ucl.analysis.properties.prove import Answer, Counterexample, Proved, Prover, Undecided
from ucl.analysis.properties.spoken import Promise
from ucl.diagnostics import Diagnostic
from ucl.semantics.program import Program, Schema, Status

__all__ = [
    "Answer",
    "Counterexample",
    "Promise",
    "Proved",
    "Prover",
    "Undecided",
    "analyse_properties",
    "broken_property",
    "provers",
    "sentence",
    "statement",
    "to_blame",
    "witness_of",
]

# What a check may look at for one promise; a test may look at more.
_CELLS = 1 << 14
_STEPS = 500_000


def analyse_properties(program: Program, since: int, cells: int = _CELLS) -> list[Diagnostic]:
    """A `broken-property` for each promise that is broken for certain, in source order; each has been replayed.

    `since` is the instant (microseconds) from which on promises shall hold. What is undecided is left to `uclc test`.
    """
    found = {}
    for prover in provers(program, since):
        for promise in prover.promises:
            answer = prover.prove(promise, cells, _STEPS)
            if isinstance(answer, Counterexample) and promise.meta.status is Status.ACTIVE:
                found[promise.name] = broken_property(prover, promise, answer)
    return [found[promise.name] for promise in program.properties if promise.name in found]


def provers(program: Program, since: int) -> list[Prover]:
    """One for each schema that promises are about; retired promises are left out."""
    kept = [promise for promise in program.properties if promise.meta.status is not Status.RETIRED]
    by_schema: dict[Schema, list[Promise]] = {}
    for promise in kept:
        by_schema.setdefault(promise.schema, []).append(promise)
    return [Prover(program, schema, since, promises) for schema, promises in by_schema.items()]
