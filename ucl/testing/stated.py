"""A program with what was stated about it: the properties that facts become, read below its own.

In: a checked program, a file of facts and how to read it. Out: the statements; the program with both, and verdicts on
both. The program's own promises
hold from now on; a statement holds from the day on which it was made, which may lie in the past.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ucl.diagnostics import Report, Source
from ucl.driver import check_source
from ucl.facts import Facts, read_facts
from ucl.facts.vocabulary import vocabulary
from ucl.frozen import frozen
from ucl.scoring.calls import choose_schema, find_zone, scored_schemas
from ucl.semantics.program import Program
from ucl.testing.facts import Statements, statements_of
from ucl.testing.verdicts import Verdict, verdicts


@frozen
class FactsFile:
    """A file of facts and how to read it. `schema` names what they are about, where a program has rules on several;
    `vocabulary` says which field a topic is about; with `habits` what was only seen counts as much as what was said."""

    path: Path
    schema: str | None = None
    vocabulary: Path | None = None
    habits: bool = False

    def read(self, program: Program, report: Report) -> tuple[Statements, Facts]:
        """What the facts ask of the program; mistakes in them and in the vocabulary are in the report.

        Raises `OSError` where one of the files can't be opened, `CallError` where the schema is not to be known.
        """
        schema = choose_schema(program, self.schema, scored_schemas(program), "rules")
        words = vocabulary(schema, program.context, self.vocabulary, report)
        read = read_facts(self.path, report, find_zone(program.timezone))
        return statements_of(program, read.facts, words, self.habits), read


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


def stated(program: Program, facts: FactsFile, report: Report) -> Stated:
    """The program with what the facts ask of it. Reports and raises as reading them does."""
    statements, _ = facts.read(program, report)
    below = statements.properties()
    source = program.sources[0]
    whole, _ = check_source(Source(source.path, f"{source.text}\n{below}"), Path(source.path).parent)
    assert whole is not None, "properties that are made of facts compile"
    names = {promise.name for promise in whole.properties} - {promise.name for promise in program.properties}
    return Stated(whole, below, frozenset(names), statements.since)
