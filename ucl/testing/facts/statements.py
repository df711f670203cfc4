"""What the facts ask of one program: the way from a file of facts to claims, in one place.

In: a checked program, facts, a vocabulary. Out: `Statements`, from which properties and test files are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ucl.facts.history import Belief, History, Untested, history_of
from ucl.facts.model import Fact
from ucl.facts.vocabulary import Vocabulary
from ucl.semantics.program import Program
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.semantics.zones import UTC, Zone
from ucl.testing.facts.claims import Claim, claims_of
from ucl.testing.facts.promises import property_text

_LONGEST_NAME = 60


@dataclass(frozen=True)
class Statements:
    """Claims in order of time. `habits`: what was only seen is tested too, and does not stay in the shadow."""

    program: Program
    vocabulary: Vocabulary
    history: History
    habits: bool

    @cached_property
    def zone(self) -> Zone:
        return Zone.load(self.program.timezone) or UTC

    @cached_property
    def claims(self) -> Sequence[Claim]:
        """Those of habits are among them where `habits` is set."""
        return claims_of(self.history, self.vocabulary.scale, self.habits)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """A name for each belief, by the id of its fact: `c42_avoids_meeting_time_13_00_14_00`."""
        return _names(self.history.beliefs)

    @cached_property
    def since(self) -> int | None:
        """The first instant of the first day of which a claim speaks, None where all speak of any day."""
        days = [claim.first for claim in self.claims if claim.first is not None]
        return self.zone.instant(min(days) * DAY).instant if days else None

    def properties(self) -> str:
        """`property` blocks that stand below the program; no name of theirs is one of the program's."""
        program = self.program
        declared = [*program.rules, *program.constraints, *program.actions, *program.alerts, *program.properties]
        taken = {each.name for each in declared} | {*program.schemas, *program.lets, *program.definitions}
        return property_text(self.claims, self.names, self.vocabulary, self.zone, taken)

    @cached_property
    def tested(self) -> Sequence[Belief]:
        """Those of which something is claimed."""
        claimed = {id(claim.belief) for claim in self.claims}
        return [belief for belief in self.history.beliefs if id(belief) in claimed]

    @cached_property
    def untested(self) -> Sequence[Untested]:
        """Facts that mean nothing testable, and those of which nothing is left to claim."""
        tested = {id(belief) for belief in self.tested}
        left = [belief for belief in self.history.beliefs if id(belief) not in tested]
        return [*self.history.untested, *(Untested(belief.facts, _why(belief)) for belief in left)]

    def to_json(self) -> dict[str, Any]:
        """What became of the facts: names of tests, contradictions with both sentences, and what is not tested."""
        return {
            "tests": [{"name": self.names[b.fact.id], "ids": [f.id for f in b.facts]} for b in self.tested],
            "contradictions": [
                {
                    "earlier": _told(each.earlier),
                    "later": _told(each.later),
                    "from": None if each.day is None else iso.write_date(each.day),
                }
                for each in self.history.contradictions
            ],
            "untested": [
                {"ids": [f.id for f in each.facts], "sentence": each.facts[-1].sentence, "reason": each.reason}
                for each in self.untested
            ],
        }

    def of(self, belief: Belief) -> Sequence[Claim]:
        return [claim for claim in self.claims if claim.belief is belief]


def statements_of(program: Program, facts: Iterable[Fact], vocabulary: Vocabulary, habits: bool = False) -> Statements:
    """What the facts ask of the program's rules on the vocabulary's schema."""
    zone = Zone.load(program.timezone) or UTC
    return Statements(program, vocabulary, history_of(facts, vocabulary, zone), habits)


def _told(fact: Fact) -> dict[str, str]:
    return {"id": fact.id, "sentence": fact.sentence}


def _why(belief: Belief) -> str:
    return (
        "it was only seen, and is watched until somebody says so" if belief.habit else "other statements say all of it"
    )


def _names(beliefs: Iterable[Belief]) -> dict[str, str]:
    known: set[str] = set()
    found = {}
    for belief in beliefs:
        base = name = _name(belief.fact)
        number = 1
        while name in known:
            number += 1
            name = f"{base}_{number}"
        known.add(name)
        found[belief.fact.id] = name
    return found


def _name(fact: Fact) -> str:
    """Letters of any script, digits and `_`, which both the language and Python take for a name."""
    told = f"{fact.id}_{fact.extracted_relation}_{fact.object}".casefold()
    letters = "".join(c if f"a{c}".isidentifier() else "_" for c in told)
    name = "_".join(part for part in letters.split("_") if part)[:_LONGEST_NAME].rstrip("_")
    return name if name[:1].isalpha() else f"fact_{name}"
