"""Commands about programs as text: `check` and `fmt`."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ucl import render
from ucl.cli.output import CommandError, complain, remark, replace_file, use_colour
from ucl.diagnostics import Diagnostic, Report, Severity

if TYPE_CHECKING:
    from ucl.cli.checking.again import Again
    from ucl.semantics.program import Program


class CheckFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def add_check(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="+", type=Path, help="a program, or a folder of programs")
    add("--format", choices=[*map(str, CheckFormat)], default="text", help="how to print findings")
    add("--fast", action="store_true", help="leave the analysis of rules against each other out")
    add("--strict", action="store_true", help="let warnings fail too")
    add("--tensions", action="store_true", help="list trade-offs between rules about different fields one by one")
    add("--now", metavar="DT", help="the day from which on rules are valid or not, in place of the clock's")
    add("--watch", action="store_true", help="check again whenever a file changes, until interrupted")


@dataclass(frozen=True)
class _Asked:
    """How to check: `now` and `tensions` are for the analysis, which `fast` leaves out."""

    format: CheckFormat
    fast: bool
    strict: bool
    now: str | None
    tensions: bool


def check(
    paths: list[Path],
    format: str,
    fast: bool,
    strict: bool,
    now: str | None = None,
    tensions: bool = False,
    watch: bool = False,
) -> int:
    """Prints what is found in all files; the status is 1 where that fails, 2 where a file could not be opened."""
    asked = _Asked(CheckFormat(format), fast, strict, now, tensions)
    if not watch:
        return _check(paths, asked, set())
    from ucl.cli.checking.again import Again
    from ucl.cli.checking.watch import repeat

    again = Again()
    return repeat(paths, lambda looked_up: _check(paths, asked, looked_up, again))


def _check(paths: list[Path], asked: _Asked, looked_up: set[Path], again: Again | None = None) -> int:
    """Checks once. Into `looked_up` go the files that programs import, or would; `again` knows the last versions."""
    from ucl.driver import check_path

    check_file = check_path if again is None else again.check
    found: list[Diagnostic] = []
    missing = files = 0
    for path in program_files(paths):
        files += 1
        try:
            program, report = check_file(path, looked_up)
        except OSError as error:
            complain(unreadable(path, error).message)
            missing += 1
            continue
        found.extend(report)
        if program is None or asked.fast:
            continue
        if again is None:
            found.extend(_analysed(program, asked.now, asked.tensions))
        else:
            found.extend(again.findings(path, program, _moment(program, asked.now), asked.tensions))
    found = list(_once(found))
    _print_findings(found, asked.format)
    if asked.format is CheckFormat.TEXT and missing < files:
        remark(f"{render.summary(found)} in {files} {'file' if files == 1 else 'files'}")
    return 2 if missing else int(fails(found, asked.strict))


def _analysed(program: Program, now: str | None, tensions: bool) -> list[Diagnostic]:
    """What rules, constraints and actions say of each other."""
    from ucl.analysis.findings import analyse

    return analyse(program, _moment(program, now), tensions)


def _moment(program: Program, now: str | None) -> int:
    """That of a check: the one that is given in the program's zone, or the clock's."""
    if now is None:
        return time.time_ns() // 1000
    from ucl.scoring.calls import find_zone, instant

    return instant(now, find_zone(program.timezone))


def complain_about_findings(program: Program, now: str | None = None) -> bool:
    """Whether the analysis finds errors, which are said; warnings are for `check`."""
    report = Report()
    for found in _analysed(program, now, tensions=False):
        if found.severity is Severity.ERROR:
            report.add(found)
    if report.has_errors:
        complain_about(report)
    return report.has_errors


def unreadable(path: Path, error: OSError) -> CommandError:
    """What to say of a file that can't be opened: `path`, or one that it led to."""
    name = error.filename or path
    if isinstance(error, FileNotFoundError):
        return CommandError(f"there is no file `{name}`")
    if isinstance(error, IsADirectoryError):
        return CommandError(f"`{name}` is a folder", "name one file in it")
    return CommandError(f"`{name}`: {(error.strerror or 'it can not be read').lower()}")


def standard_input(most: int) -> bytes:
    """At most so many bytes of it."""
    if sys.stdin is None:
        raise CommandError("standard input is closed", "name a file, or pipe something in")
    return sys.stdin.buffer.read(most)


def program_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files named, and for folders the programs in them by name.

    Hidden folders are left out, and so are links that lead out of the folder: a folder from elsewhere must not show
    what stands beside it.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        root = path.resolve()
        found = (p for p in path.rglob("*.ucl") if not _hidden(p.relative_to(path)))
        inside = sorted(p for p in found if p.resolve().is_relative_to(root))
        if not inside:
            raise CommandError(f"there is no program in `{path}`", "programs are files whose names end with `.ucl`")
        yield from inside


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def fails(found: Iterable[Diagnostic], strict: bool = False) -> bool:
    """Whether these findings make a command end with status 1."""
    return any(d.severity is Severity.ERROR or (strict and d.severity is Severity.WARNING) for d in found)


def _once(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Each finding once, though several of the files import the module that it is about."""
    seen = set()
    for d in found:
        span = d.span.in_document
        key = (span.source.path, span.start, span.end, d.code, d.message)
        if key not in seen:
            seen.add(key)
            yield d


def _print_findings(found: list[Diagnostic], format: CheckFormat) -> None:
    match format:
        case CheckFormat.TEXT:
            text = render.to_text(found, use_colour(sys.stdout))
        case CheckFormat.JSON:
            text = render.to_json(found)
        case CheckFormat.SARIF:
            import ucl

            text = render.to_sarif(found, ucl.__version__)
        case CheckFormat.GITHUB:
            text = render.to_github(found)
    if text:
        print(text)


# --- fmt ------------------------------------------------------------------------------------------------------------


def add_fmt(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="+", help="a program, a folder of programs, or `-` for standard input")
    add("--check", action="store_true", help="write nothing; end with status 1 if a file would change")
    add("--diff", action="store_true", help="write nothing; print what would change")


def fmt(paths: list[str], check: bool, diff: bool) -> int:
    """Rewrites files in place, and standard input to standard output; the status is 1 where a file has mistakes."""
    broken = changed = 0
    for shown, path in _to_format(paths):
        before, after, report = _formatted(path)
        if after is None:
            complain_about(report)
            broken += 1
        elif path is None and not (check or diff):
            sys.stdout.write(after)
        elif before != after:
            changed += 1
            _change(shown, path, before, after, write=not (check or diff), diff=diff)
    return int(bool(broken or (changed and (check or diff))))


def complain_about(report: Report) -> None:
    """The diagnostics as text on standard error, for commands whose results are something else."""
    print(render.to_text(report, use_colour(sys.stderr)), file=sys.stderr)


def _to_format(paths: list[str]) -> Iterator[tuple[str, Path | None]]:
    for path in paths:
        if path == "-":
            yield "<stdin>", None
        else:
            yield from ((str(file), file) for file in program_files([Path(path)]))


def _formatted(path: Path | None) -> tuple[str, str | None, Report]:
    """The text as it is, as it should be (None where it can't be parsed), and what was found."""
    from ucl.driver import open_source
    from ucl.syntax.format import format_source
    from ucl.syntax.parse import LARGEST_SOURCE, parse, read_source

    report = Report()
    if path is None:
        source = read_source("<stdin>", standard_input(LARGEST_SOURCE + 1), report)
    else:
        source = open_source(path, report)
    if source is None:
        return "", None, report
    file = parse(source, report)
    return source.text, None if report.has_errors else format_source(file), report


def _change(shown: str, path: Path | None, before: str, after: str, write: bool, diff: bool) -> None:
    if diff:
        import difflib

        lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), shown, shown)
        sys.stdout.write("".join(line if line.endswith("\n") else line + "\n" for line in lines))
    elif write and path is not None:
        replace_file(path, after)
        print(f"formatted {shown}")
    else:
        print(f"would change {shown}")


def checked_program(path: Path) -> Program | None:
    """The program of one file; None for one with mistakes, which have been said."""
    from ucl.driver import check_path

    try:
        program, report = check_path(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if program is None:
        complain_about(report)
    return program
