"""The command `test`: whether programs keep what they promise, and what their rules did meanwhile."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ucl.cli import inputs
from ucl.cli.output import CommandError, print_json, remark, text_table
from ucl.cli.source import checked_program, complain_about, complain_about_findings, program_files
from ucl.cli.testing.mutate import add_mutate, print_mutants
from ucl.cli.testing.stated import add_facts_options, opened
from ucl.diagnostics import Report
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.semantics.program import Program
    from ucl.testing.coverage import Coverage
    from ucl.testing.stated import Stated
    from ucl.testing.verdicts import Verdict


def add_test(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="+", type=Path, help="a program, or a folder of programs")
    add("--samples", metavar="N", type=inputs.count, default=1000, help="how many options to try for each promise")
    add("--seed", metavar="S", type=inputs.count, default=0, help="the same seed tries the same options")
    add("--now", metavar="DT", help="from when on promises shall hold, in place of the clock's")
    add("--coverage", action="store_true", help="say how often each rule fired, was overridden, did not apply")
    add("--table", metavar="FILE", help="count that over a table's rows, in place of the samples")
    add("--facts", metavar="FILE", type=Path, help="test what these facts state too (JSON, JSON Lines, SQLite)")
    add_facts_options(parser)
    add_mutate(parser)
    add("--format", choices=["text", "json"], default="text", help="words, or one JSON object a line")


def test(
    paths: list[Path],
    samples: int,
    seed: int,
    now: str | None,
    coverage: bool,
    table: str | None,
    facts: Path | None,
    schema: str | None,
    vocabulary: Path | None,
    habits: bool,
    mutate: bool,
    mutants: int,
    format: str,
) -> int:
    """Prints a verdict for each promise, in source order; the status is 1 where one is broken, or where a program, a
    fact or the vocabulary has a mistake."""
    if facts is None and (schema or vocabulary or habits):
        raise CommandError("`--schema`, `--vocabulary` and `--habits` are about facts", "name them: `--facts FILE`")
    programs = list(_programs(paths))
    fails = any(program is None for program in programs)
    told = broken = 0
    for program in programs:
        if program is None:
            continue
        since = inputs.since(program, now)
        report = Report()
        below = None if facts is None else _stated(program, facts, schema, vocabulary, habits, report)
        if report.diagnostics:
            complain_about(report)
        fails = report.has_errors or fails
        if below is None:
            found = _verdicts(program, since, samples, seed)
        else:
            start = below.since(None if now is None else since, since)
            found = below.verdicts(since, start, samples, seed)
        for verdict in found:
            told, broken = told + 1, broken + verdict.fails
            if format == "json":
                print_json(verdict.to_json())
            else:
                _print_words(verdict, below)
        if coverage or table is not None:
            _print_coverage(_coverage(program, since, samples, seed, table), format)
        if mutate:
            from ucl.testing.mutants import Asked

            earliest = min((verdict.prover.since for verdict in found), default=since)
            asked = Asked(earliest, samples, seed, mutants)
            print_mutants(program.sources[0], "" if below is None else below.properties, found, asked, format)
        # Broken promises have been told, and better.
        fails = complain_about_findings(replace(program, properties=()), now) or fails
    if format == "text" and any(program is not None for program in programs):
        remark(_summary(told, broken))
    return int(fails or broken > 0)


def _programs(paths: Iterable[Path]) -> Iterator[Program | None]:
    """None for one with mistakes, which have been said."""
    return map(checked_program, program_files(paths))


def _verdicts(program: Program, since: int, samples: int, seed: int) -> list[Verdict]:
    from ucl.testing.verdicts import verdicts

    return verdicts(program, since, samples, seed)


def _stated(
    program: Program, facts: Path, schema: str | None, vocabulary: Path | None, habits: bool, report: Report
) -> Stated:
    """The program with what the facts state."""
    from ucl.testing.stated import FactsFile, stated

    with opened(facts):
        return stated(program, FactsFile(facts, schema, vocabulary, habits), report)


def _print_words(verdict: Verdict, below: Stated | None) -> None:
    from ucl.testing.words import told

    is_written = below is None or verdict.promise.name not in below.names
    print("\n".join(map(printable, told(verdict, is_written))))


def _summary(told: int, broken: int) -> str:
    if not told:
        return "there is no property to test; write one with `property name on Schema { given … expect … }`"
    return f"{told} {'promise' if told == 1 else 'promises'}, {broken or 'none'} broken"


# --- coverage -------------------------------------------------------------------------------------------------------


def _coverage(program: Program, since: int, samples: int, seed: int, table: str | None) -> list[Coverage]:
    from ucl.testing.coverage import over_samples, over_table

    if table is None:
        return over_samples(program, since, samples, seed)
    from ucl.tables.files import read_table

    found = over_table(program, since, read_table(table))
    if not found:
        raise CommandError("the program has no rules to count")
    return found


def _print_coverage(found: list[Coverage], format: str) -> None:
    if format == "json":
        for counted in found:
            print_json(counted.to_json())
        return
    heads = ["rule", "rows", "applied", "fired", "overridden", "violated"]
    rows = [[str(cell) for cell in counted.cells()] for counted in found]
    below = [[f"{case}: {count}" for case, count in counted.cases] for counted in found]
    print("\n".join(text_table(heads, rows, below, right={1, 2, 3, 4, 5})))
