"""What a draft does to the program that it is added to, and what of that only the person can decide.

In: a base and an addition that compiles with it. Out: `Judged`: evidence for a reader; `doubts`, each a question; and
`wrong`, what the writer of the draft has to mend, in sentences. The draft is judged as if it were in force, since that
is what it is to become. Nothing is decided in silence: what breaks a promise, contradicts a rule, repeats one or
silences one is a doubt, with the earlier sentence and an option that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ucl.analysis.diff import compare
from ucl.analysis.findings import analyse
from ucl.analysis.properties import statement, witness_of
from ucl.diagnostics import Diagnostic, Severity
from ucl.driver import check_source
from ucl.llm.drafts.base import Addition, Base
from ucl.llm.drafts.promises import kept, shown_by
from ucl.llm.drafts.results import Asking, Doubt, Evidence, Held
from ucl.semantics.program import Constraint, Program, Rule, Status
from ucl.testing.verdicts import Outcome, Verdict

SAMPLES = 200
# Cells that a comparison may look at: fewer than `uclc diff` takes, since a person is waiting.
_CELLS = 1 << 18
_CONTRADICTING = ("conflict", "never-feasible", "nothing-feasible")


@dataclass(frozen=True, eq=False)
class Judged:
    """`program` is that of both."""

    program: Program
    evidence: Evidence
    doubts: tuple[Doubt, ...]
    wrong: tuple[str, ...]


def judged(base: Base, addition: Addition, now: int, samples: int = SAMPLES) -> Judged:
    """`now` is the instant in microseconds from which on all of it shall hold."""
    program, report = check_source(base.with_text(addition.text(Status.ACTIVE)), base.folder)
    assert program is not None, [d.message for d in report]
    own = frozenset(addition.names)
    told = kept(program, now, samples)
    findings = [found for found in analyse(program, now) if own & set(found.rules) and found.code != "tension"]
    findings = [found for found in findings if found.code != "broken-property"]
    broken = [verdict for verdict in told if verdict.fails]
    before = _broken_before(base.program, broken, own, now, samples)
    comparison = compare(base.program, program, now, _CELLS)
    judge = _Judge(program, own)
    doubts = [*judge.broken(broken, before), *judge.overriding(), *judge.found(findings)]
    evidence = Evidence(tuple(_held(told, own)), tuple(findings), comparison.differences, comparison.undecided)
    return Judged(program, evidence, tuple(doubts), tuple(judge.wrong))


def _held(told: Sequence[Verdict], own: frozenset[str]) -> Iterator[Held]:
    for verdict in told:
        if verdict.outcome is not Outcome.BROKEN:
            name = verdict.promise.name
            yield Held(name, str(verdict.outcome), verdict.samples, verdict.message, name in own)


def _broken_before(
    program: Program, broken: Sequence[Verdict], own: frozenset[str], now: int, samples: int
) -> frozenset[str]:
    """The promises that the program did not keep as it was."""
    if all(verdict.promise.name in own for verdict in broken):
        return frozenset()
    return frozenset(verdict.promise.name for verdict in kept(program, now, samples) if verdict.fails)


class _Judge:
    """`own` are the names of the draft; in `wrong` gathers what its writer has to mend."""

    def __init__(self, program: Program, own: frozenset[str]) -> None:
        self._own = own
        declared: list[Rule | Constraint] = [*program.rules, *program.constraints]
        self._declared = {d.name: d for d in declared}
        self.wrong: list[str] = []

    def broken(self, broken: Sequence[Verdict], before: frozenset[str]) -> Iterator[Doubt]:
        for verdict in broken:
            name = verdict.promise.name
            if name in before:
                continue
            assert verdict.found is not None
            witness = witness_of(verdict.prover, verdict.found)
            others = [rule for rule in verdict.blamed if rule not in self._own]
            if name not in self._own:
                said = statement(verdict.promise)
                stands = f", which stands for {said}" if said else ""
                text = f"this would break `{name}`{stands}; shall it be changed all the same?"
                yield Doubt(Asking.BREAKS, text, verdict.promise.meta.because, (name, *verdict.blamed), witness)
            elif others:
                speak = "speaks" if len(others) == 1 else "speak"
                text = f"where {_listed(others)} {speak} too, this comes to nothing; which shall win?"
                yield Doubt(Asking.OUTWEIGHED, text, self._words(others[0]), (name, *others), witness)
            else:
                self.wrong.append(f"{verdict.message}, {shown_by(verdict)}")

    def overriding(self) -> Iterator[Doubt]:
        for name in sorted(self._own & self._declared.keys()):
            for other in self._declared[name].overrides:
                if other not in self._own:
                    words = self._words(other)
                    said = f' ("{words}")' if words else ""
                    text = f"shall `{name}` silence `{other}`{said} wherever it applies?"
                    yield Doubt(Asking.OVERRIDES, text, words, (name, other))

    def found(self, findings: Sequence[Diagnostic]) -> Iterator[Doubt]:
        for found in findings:
            others = [name for name in found.rules if name not in self._own]
            if found.code == "never-applies" or (not others and found.code in (*_CONTRADICTING, "unreachable")):
                self.wrong.append(found.message + (f" ({found.help})" if found.help else ""))
            elif found.severity is Severity.INFO or not others:
                continue
            elif found.code in _CONTRADICTING:
                text = f"{found.message}; which shall hold?"
                yield Doubt(Asking.CONTRADICTS, text, self._words(others[0]), found.rules, found.witness)
            elif found.code == "double-counting":
                text = f"{found.message}; shall both count?"
                yield Doubt(Asking.REPEATS, text, self._words(others[0]), found.rules, found.witness)
            elif found.code == "always-overridden":
                text = f"{found.message}; shall it never have a say?"
                yield Doubt(Asking.OVERRIDES, text, self._words(others[0]), found.rules, found.witness)

    def _words(self, name: str) -> str | None:
        declared = self._declared.get(name)
        return None if declared is None else declared.meta.because


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
