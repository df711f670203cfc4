"""A program with what was stated about it: the properties that facts become, read below its own.

In: a checked program and a file of facts. Out: the program with both, and verdicts on both. The program's own promises
hold from now on; a statement holds from the day on which it was made, which may lie in the past.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ucl.diagnostics import Report, Source
from ucl.driver import check_source
from ucl.facts import read_facts
from ucl.facts.vocabulary import vocabulary
from ucl.frozen import frozen
from ucl.scoring.calls import choose_schema, find_zone, scored_schemas
from ucl.semantics.program import Program
from ucl.testing.facts import statements_of
from ucl.testing.verdicts import Verdict, verdicts


@frozen
class Stated:
    """`program` holds the facts' properties too, whose source is `properties` and whose names are `names`; `first` is
    the first instant of which one of them speaks, None where all speak of any day."""

    program: Program
    properties: str
    names: frozenset[str]
    first: int | None

    def since(self, moment: int | None, now: int) -> int:
        """From when on statements shall hold: the moment that was asked for, else from the first of them on."""
        return moment if moment is not None else min(now, now if self.first is None else self.first)

    def verdicts(self, since: int, stated_since: int, samples: int, seed: int) -> list[Verdict]:
        """Those on the program's own promises, then those on statements."""
        own = [promise for promise in self.program.properties if promise.name not in self.names]
        theirs = [promise for promise in self.program.properties if promise.name in self.names]
        told = ((own, since), (theirs, stated_since))
        return [
            verdict
            for promises, start in told
            for verdict in verdicts(replace(self.program, properties=tuple(promises)), start, samples, seed)
        ]


def stated(program: Program, facts: Path, report: Report) -> Stated:
    """What the facts in a file ask of the program; those that can't be read are in the report.

    Raises `OSError` where the file can't be opened, `CallError` where the program has rules on several schemas.
    """
    schema = choose_schema(program, None, scored_schemas(program), "rules")
    read = read_facts(facts, report, find_zone(program.timezone))
    statements = statements_of(program, read.facts, vocabulary(schema, program.context, report=report))
    below = statements.properties()
    source = program.sources[0]
    whole, _ = check_source(Source(source.path, f"{source.text}\n{below}"), Path(source.path).parent)
    assert whole is not None, "properties that are made of facts compile"
    names = {promise.name for promise in whole.properties} - {promise.name for promise in program.properties}
    return Stated(whole, below, frozenset(names), statements.since)
