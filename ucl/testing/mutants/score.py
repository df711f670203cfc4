"""Are the tests any good? The share of a program's mutants that its promises notice.

In: the source of a program, further properties to hold it to, as source. Out: a `Score`: each mutant that compiles with
what became of it. One that says the same of every option as the program can't be noticed by any test: it is left out of
the share. One that nothing noticed comes with the smallest option that tells it from the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from ucl.analysis.diff import Difference, compare
from ucl.diagnostics import Source
from ucl.driver import check_module
from ucl.editing import Versions
from ucl.frozen import frozen
from ucl.scoring.results.lines import row_json
from ucl.semantics.outcome import Outcome
from ucl.semantics.program import Program
from ucl.testing.mutants.making import MUTANTS, Mutant, mutants_of
from ucl.testing.mutants.trial import Trial
from ucl.testing.verdicts import SAMPLES, Verdict, verdicts


class Fate(StrEnum):
    """`undecided`: nothing noticed it, and whether it says anything else than the program could not be decided."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@frozen
class Tried:
    """`by` is the promise that noticed it; `difference` shows one that nobody noticed."""

    mutant: Mutant
    fate: Fate
    by: str | None = None
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        span, shown = self.mutant.span, self.difference
        found: dict[str, Any] = {
            "declaration": self.mutant.name,
            "kind": str(self.mutant.kind),
            "change": self.mutant.said,
            "file": span.source.path,
            "line": span.line,
            "column": span.column,
            "fate": str(self.fate),
            "by": self.by,
        }
        if shown is None:
            return {**found, "option": None, "context": None, "old": None, "new": None}
        sides = {"old": _row(shown.old), "new": _row(shown.new)}
        return {**found, "option": dict(shown.option), "context": dict(shown.context), **sides}


def _row(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else row_json(0, outcome)


@frozen
class Score:
    """`made` is how many mutants there are, `picked` how many of them were made into programs, of which those that
    compile have been tried; `left_out` names the promises that notice nothing: they are broken already, or shadows."""

    tried: tuple[Tried, ...]
    made: int
    picked: int
    left_out: tuple[str, ...]

    def of(self, fate: Fate) -> list[Tried]:
        return [each for each in self.tried if each.fate is fate]

    @property
    def killable(self) -> int:
        """How many are not proved to be equivalent."""
        return len(self.tried) - len(self.of(Fate.EQUIVALENT))

    @property
    def share(self) -> float | None:
        """Of those, how many were noticed, from 0 to 1; None where there are none."""
        return len(self.of(Fate.KILLED)) / self.killable if self.killable else None

    def to_json(self) -> dict[str, Any]:
        counts = Counter(each.fate for each in self.tried)
        return {
            "mutants": len(self.tried),
            "made": self.made,
            "picked": self.picked,
            **{str(fate): counts[fate] for fate in Fate},
            "share": self.share,
            "left_out": list(self.left_out),
            "tried": [each.to_json() for each in self.tried],
        }


@frozen
class Asked:
    """How to try mutants. `since` is the instant in microseconds from which on promises shall hold and mutants be
    compared; `most` bounds how many are tried, and `seed` picks them and the samples."""

    since: int
    samples: int = SAMPLES
    seed: int = 0
    most: int = MUTANTS


class Mutation:
    """The mutants of one program, ready to be tried: there is a step for each, so that who waits can be told."""

    def __init__(self, source: Source, folder: Path | None, properties: str, asked: Asked) -> None:
        """`properties` is source that is read below the program's own. Raises `ValueError` for a program that does not
        compile with it: that is for the caller to have seen to."""
        self._asked, self._path = asked, source.path
        self._below = f"\n{properties}" if properties else ""
        self._versions = Versions(folder)
        alone, _ = check_module(source, folder)
        program = self._compiled(source.text)
        if alone is None or program is None:
            raise ValueError("the program does not compile")
        self.program = program
        self._mutants, self.made = mutants_of(alone[1], asked.most, asked.seed)

    def __len__(self) -> int:
        return len(self._mutants)

    def verdicts(self) -> list[Verdict]:
        """On the program itself, the further properties among them."""
        return verdicts(self.program, self._asked.since, self._asked.samples, self._asked.seed)

    def score(self, found: Sequence[Verdict], step: Callable[[Mutant], None] = lambda _: None) -> Score:
        """`found` are the verdicts; `step` is told of each mutant that has been tried."""
        trial = Trial(found, self._asked.seed)
        tried = []
        for mutant, program in self._compiling(step):
            tried.append(self._try(trial, mutant, program))
        left_out = [verdict.promise.name for verdict in found if verdict.promise.name not in trial.names]
        return Score(tuple(tried), self.made, len(self), tuple(left_out))

    def _compiling(self, step: Callable[[Mutant], None]) -> Iterator[tuple[Mutant, Program]]:
        """Those that do; of equal ones the first."""
        seen = set()
        for mutant in self._mutants:
            if mutant.text not in seen:
                seen.add(mutant.text)
                program = self._compiled(mutant.text)
                if program is not None:
                    yield mutant, program
            step(mutant)

    def _compiled(self, text: str) -> Program | None:
        """Each is an edit of the one before, of which most stays as it is."""
        checked, _ = self._versions.check(Source(self._path, text + self._below))
        return None if checked is None else checked[0]

    def _try(self, trial: Trial, mutant: Mutant, program: Program) -> Tried:
        """The cheapest question first: most are killed by a sample, and of the others some are the same program."""
        killer = trial.killer_among_samples(program)
        if killer is not None:
            return Tried(mutant, Fate.KILLED, killer)
        found = compare(self.program, program, self._asked.since)
        if found.equivalent:
            return Tried(mutant, Fate.EQUIVALENT)
        killer = trial.killer_by_search(program)
        if killer is not None:
            return Tried(mutant, Fate.KILLED, killer)
        if found.differences:
            return Tried(mutant, Fate.SURVIVED, None, found.differences[0])
        return Tried(mutant, Fate.UNDECIDED)
