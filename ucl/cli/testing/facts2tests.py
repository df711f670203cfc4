"""`uclc facts2tests`: what a person said and did, as tests of the program that came of it.

In: a file of facts, a program. Out: a file of pytest and Hypothesis with the package that it tests, or the same as
`property` blocks on standard output; and, said in words, which facts contradict each other and which can't be tested.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ucl.cli.output import CommandError, print_json, remark, replace_file
from ucl.cli.source import checked_program, complain_about
from ucl.cli.testing.stated import add_facts_options, opened
from ucl.diagnostics import Report
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.facts import Facts
    from ucl.semantics.program import Program
    from ucl.testing.facts import Statements

_SEAL = "# as written: "
_MOST_SHOWN = 200


def add_facts2tests(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("facts", metavar="FACTS", type=Path, help="facts as JSON, JSON Lines, or the table `facts` of an SQLite file")
    add("-o", "--output", metavar="DIR", type=Path, help="where the test file and the package that it tests go")
    add("--program", metavar="P", type=Path, help="the program (the one that stands beside the facts)")
    add_facts_options(parser)
    add("--properties", action="store_true", help="print `property` blocks in place of writing a test file")
    add("--no-build", action="store_true", help="leave the package as it is, or elsewhere")
    add("--force", action="store_true", help="replace a test file that was edited, or that is not ours")
    add("--format", choices=["text", "json"], default="text", help="how to say what became of the facts")


def facts2tests(
    facts: Path,
    output: Path | None,
    program: Path | None,
    schema: str | None,
    vocabulary: Path | None,
    habits: bool,
    properties: bool,
    no_build: bool,
    force: bool,
    format: str,
) -> int:
    """The status is 1 where facts, vocabulary or program have mistakes; tests are made of the facts that have none, and
    no file of such as could not be read at all."""
    if (output is None) == (not properties):
        raise CommandError("name a folder for the tests", "`-o DIR`, or `--properties` to print them as properties")
    path = program or _beside(facts)
    checked = checked_program(path)
    if checked is None:
        return 1
    report = Report()
    statements, read = _statements(checked, facts, schema, vocabulary, habits, report)
    if report.diagnostics:
        complain_about(report)
    if properties:
        print(statements.properties(), end="")
        return int(report.has_errors)
    assert output is not None
    if report.has_errors and not read.located:
        remark("no facts could be read, and no tests are written")
        return 1
    target = output / f"test_{_stem(facts)}.py"
    _write(target, statements, facts, force)
    if not no_build:
        _build(checked, path, output)
    if format == "json":
        print_json({"file": str(target), **statements.to_json(), "unreadable": read.bad, "repeated": read.repeated})
    else:
        print("\n".join(map(printable, _words(target, statements, read))))
    return int(report.has_errors)


def _beside(facts: Path) -> Path:
    """The one program in the folder of the facts."""
    found = sorted(facts.parent.glob("*.ucl"))
    if len(found) == 1:
        return found[0]
    told = "there is no program" if not found else f"there are {len(found)} programs"
    raise CommandError(f"{told} beside `{facts}`", "name the one to test: `--program P.ucl`")


def _statements(
    program: Program, path: Path, schema: str | None, vocabulary: Path | None, habits: bool, report: Report
) -> tuple[Statements, Facts]:
    from ucl.testing.facts.pytest_file import needs_memory
    from ucl.testing.stated import FactsFile

    if needs_memory(program):
        raise CommandError("the program needs a memory, of which facts say nothing", "give its scalars a default")
    with opened(path):
        return FactsFile(path, schema, vocabulary, habits).read(program, report)


def _stem(path: Path) -> str:
    from ucl.models.naming import identifier

    return identifier(path.stem).casefold()


# --- files ----------------------------------------------------------------------------------------------------------


def _write(target: Path, statements: Statements, facts: Path, force: bool) -> None:
    """The whole file or none of it; what somebody else wrote, or changed, is left alone."""
    from ucl.testing.facts.pytest_file import MARK, test_file

    text = test_file(statements, facts.name)
    if target.exists() and not force:
        known = target.read_text(encoding="utf-8", errors="replace")
        body, _, seal = known.rpartition(_SEAL)
        if MARK not in known:
            raise CommandError(f"`{target}` is not one of our test files", "`--force` replaces it all the same")
        if not seal or seal.strip() != _digest(body):
            raise CommandError(f"`{target}` was edited since it was written", "`--force` gives these edits up")
    target.parent.mkdir(parents=True, exist_ok=True)
    body = f"{text}\n\n"
    replace_file(target, f"{body}{_SEAL}{_digest(body)}\n")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8"), digest_size=8).hexdigest()


def _build(program: Program, path: Path, output: Path) -> None:
    import ucl
    from ucl.build.package import write_packages
    from ucl.cli.make import package_of

    package_of(program, path)
    write_packages([program], output, ucl.__version__)


# --- words ----------------------------------------------------------------------------------------------------------


def _words(target: Path, statements: Statements, read: Facts) -> Iterator[str]:
    tested = len(statements.tested)
    yield f"{tested} {'statement' if tested == 1 else 'statements'} in {target}"
    told = statements.to_json()
    contradictions = told["contradictions"]
    if contradictions:
        yield f"{len(contradictions)} {'contradiction' if len(contradictions) == 1 else 'contradictions'}:"
        for each in contradictions[:_MOST_SHOWN]:
            yield f"  {each['earlier']['id']}: “{each['earlier']['sentence']}”"
            yield f"  {each['later']['id']}: “{each['later']['sentence']}”"
            yield f"    the second rules {'from ' + each['from'] + ' on' if each['from'] else 'at all times'}"
    untested = told["untested"]
    if untested:
        count = sum(len(each["ids"]) for each in untested)
        yield f"{count} {'fact is' if count == 1 else 'facts are'} not tested:"
        for each in untested[:_MOST_SHOWN]:
            yield f"  {', '.join(each['ids'])}: “{each['sentence']}”"
            yield f"    {each['reason']}"
    if read.repeated:
        remark(f"{read.repeated} {'fact was' if read.repeated == 1 else 'facts were'} there before, and counted once")
