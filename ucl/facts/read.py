"""Facts from files: JSON (one object or an array), JSON Lines, or the table `facts` of an SQLite database.

In: a path. Out: `Facts`, all that are good and each of them once, with a message in the report for every one that is
bad, which takes none of the others with it. Files, facts and the number of facts are bounded. A row of a database is
shown as the object that it says, one a line, so that messages about it have a place.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from ucl.diagnostics import Note, Report, Severity, Source, Span, diagnostic
from ucl.facts.model import Fact, Wrong, read_fact
from ucl.frozen import frozen
from ucl.semantics.zones import UTC, Zone

LARGEST_FILE = 64 << 20
MOST_FACTS = 100_000
_LONGEST_FACT = 65_536
_MOST_REPORTED = 200
_MOST_STEPS = 10_000_000
"""Of SQLite's machine: `facts` may be a view that never ends."""
_SQLITE = b"SQLite format 3\x00"
_BLANK = re.compile(r"[ \t\r\n]*")


@frozen
class Located:
    """A fact and the text that says it."""

    fact: Fact
    span: Span


@dataclass(frozen=True)
class Facts:
    """In the order of the file. `bad` counts those that could not be read, `repeated` those that were there before."""

    located: tuple[Located, ...]
    bad: int = 0
    repeated: int = 0

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(each.fact for each in self.located)


def read_facts(path: Path, report: Report, zone: Zone = UTC) -> Facts:
    """The facts in a file, by what it begins with. Raises `OSError` where it can't be opened.

    `zone` is that of times without an offset.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if data.startswith(_SQLITE):
        return _from_database(path, report, zone)
    if len(data) > LARGEST_FILE:
        return _refused(path, report, "too-large", f"there are more than {LARGEST_FILE >> 20} MiB of facts")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        return _refused(path, report, "syntax", f"the file is not UTF-8 (line {line})")
    return parse_facts(Source(str(path), text), report, zone)


def parse_facts(source: Source, report: Report, zone: Zone = UTC) -> Facts:
    """The facts that a text says."""
    gathering = _Gathering(report, zone)
    gathering.take(_values(source, gathering))
    return gathering.facts()


def _refused(path: Path, report: Report, code: str, message: str, help: str | None = None) -> Facts:
    report.add(diagnostic(code, Span(Source(str(path), ""), 0, 0), message, help))
    return Facts((), bad=1)


class _Gathering:
    """Facts as they come, with what was wrong with the others."""

    def __init__(self, report: Report, zone: Zone) -> None:
        self._report, self._zone = report, zone
        self._found: dict[str, Located] = {}
        self.bad = 0
        self.repeated = 0

    def take(self, values: Iterable[tuple[object, Span]]) -> None:
        for value, span in values:
            if len(self._found) >= MOST_FACTS:
                message = f"there are more than {MOST_FACTS:,} facts; the rest is not read"
                self.complain(span, Wrong("too-large", message))
                return
            if span.end - span.start > _LONGEST_FACT:
                self.complain(span, Wrong("too-large", f"this fact has more than {_LONGEST_FACT:,} characters"))
                continue
            fact = read_fact(value, self._zone)
            if isinstance(fact, Fact):
                self._keep(Located(fact, span))
            else:
                self.complain(span, *fact)

    def _keep(self, new: Located) -> None:
        known = self._found.setdefault(new.fact.id, new)
        if known is new:
            return
        self.repeated += 1
        if known.fact != new.fact:
            message = f"the fact `{new.fact.id}` is here again and says something else; the first counts"
            note = Note(known.span, "the first stands here")
            found = diagnostic("duplicate-name", new.span, message, notes=[note], severity=Severity.WARNING)
            self._report.add(found)

    def complain(self, span: Span, *problems: Wrong) -> None:
        """One bad fact. A file of nothing but mistakes is not told one by one."""
        self.bad += 1
        if self.bad > _MOST_REPORTED:
            return
        for wrong in problems:
            place = span if wrong.key is None else _place(span, wrong.key)
            self._report.add(diagnostic(wrong.code, place, wrong.message, wrong.help))
        if self.bad == _MOST_REPORTED:
            self._report.add(diagnostic("too-large", span, "there are more facts that can't be read; not all are said"))

    def facts(self) -> Facts:
        return Facts(tuple(self._found.values()), self.bad, self.repeated)


def _place(span: Span, key: str) -> Span:
    """Where the key stands in the text of a fact; the whole fact where it is written in another way."""
    quoted = json.dumps(key, ensure_ascii=False)
    at = span.source.text.find(quoted, span.start, span.end)
    return span if at < 0 else Span(span.source, at, at + len(quoted))


# --- texts ----------------------------------------------------------------------------------------------------------


class _Refused(ValueError):  # noqa: N818 - a signal, not an error
    """Something that JSON itself lets pass, or that Python can't hold."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Refused(f"it gives `{next(name for name in names if names.count(name) > 1)}` twice in one object")
    return made


def _constant(word: str) -> NoReturn:
    raise _Refused(f"{word} is not a value of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _values(source: Source, gathering: _Gathering) -> Iterator[tuple[object, Span]]:
    """The objects of an array, of the lines, or the one that the whole text is."""
    text = source.text
    start = _after_blanks(text, 0)
    if text.startswith("[", start):
        yield from _elements(source, start + 1, gathering)
        return
    if start < len(text) and (whole := _whole(source, start)) is not None:
        yield whole
        return
    yield from _lines(source, gathering)


def _whole(source: Source, start: int) -> tuple[object, Span] | None:
    """The text as one object over several lines."""
    try:
        value, end = _decoded(source.text, start)
    except _Refused:
        return None
    alone = _after_blanks(source.text, end) == len(source.text)
    return (value, Span(source, start, end)) if alone and "\n" in source.text[start:end] else None


def _lines(source: Source, gathering: _Gathering) -> Iterator[tuple[object, Span]]:
    """JSON's own line ends only: a text may hold others, such as U+2028."""
    for start, after in pairwise([*source.line_starts, len(source.text) + 1]):
        begin, end = _after_blanks(source.text, start), after - 1
        if begin >= end:
            continue
        span = Span(source, begin, begin + len(source.text[begin:end].rstrip()))
        try:
            value, stop = _decoded(source.text, begin, end)
        except _Refused as problem:
            gathering.complain(span, Wrong("syntax", f"this line is not JSON: {problem}"))
            continue
        if stop < span.end:
            gathering.complain(span, Wrong("syntax", "this line goes on after its object", None, "one fact a line"))
            continue
        yield value, span


def _elements(source: Source, at: int, gathering: _Gathering) -> Iterator[tuple[object, Span]]:
    """Of an array. After one that is no JSON, the next is looked for where a line begins with `{`."""
    text = source.text
    while (at := _after_blanks(text, at)) < len(text) and text[at] != "]":
        try:
            value, end = _decoded(text, at)
        except _Refused as problem:
            line_end = text.find("\n", at)
            span = Span(source, at, len(text) if line_end < 0 else line_end)
            gathering.complain(span, Wrong("syntax", f"this fact is not JSON: {problem}"))
            following = re.compile(r"\n[ \t]*(?=\{)").search(text, at + 1)
            if following is None:
                return
            at = following.end()
            continue
        yield value, Span(source, at, end)
        at = _after_blanks(text, end)
        if text.startswith(",", at):
            at += 1
        elif at < len(text) and text[at] != "]":
            wrong = Wrong("syntax", "a comma is missing between two facts")
            gathering.complain(Span(source, at, at + 1), wrong)
    if at >= len(text):
        gathering.complain(Span(source, len(text), len(text)), Wrong("syntax", "the array of facts is not closed"))


def _decoded(text: str, start: int, end: int | None = None) -> tuple[object, int]:
    """The value that begins at `start`, and where it ends. Raises `_Refused` with the reason."""
    part = text if end is None else text[start:end]
    shift = 0 if end is None else start
    try:
        value, stop = _DECODER.raw_decode(part, start - shift)
    except json.JSONDecodeError as problem:
        what = problem.msg[:1].lower() + problem.msg[1:].removesuffix(" at")
        raise _Refused(f"{what} at column {problem.colno}") from None
    except RecursionError:
        raise _Refused("it is nested too deep") from None
    except _Refused:
        raise
    except ValueError:
        raise _Refused("it has a number of more than 4,300 digits") from None
    return value, stop + shift


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


# --- databases ------------------------------------------------------------------------------------------------------


def _from_database(path: Path, report: Report, zone: Zone) -> Facts:
    """Opened to be read only; a column that is no field of a fact is a mistake, as a key would be."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_FILE)
            database.set_progress_handler(lambda: True, _MOST_STEPS)
            rows = _rows(database)
    except sqlite3.Error as problem:
        reason = str(problem)
        mend = "facts stand in a table of the name `facts`" if "no such table" in reason else None
        return _refused(path, report, "syntax", f"the database can't be read: {reason}", mend)
    if rows is None:
        return _refused(path, report, "too-large", f"there are more than {LARGEST_FILE >> 20} MiB of facts")
    lines = [json.dumps(row, ensure_ascii=False, default=_from_bytes) for row in rows]
    return parse_facts(Source(str(path), "\n".join(lines)), report, zone)


def _rows(database: sqlite3.Connection) -> list[Mapping[str, Any]] | None:
    """In the order in which they were written; None where they are too many bytes."""
    database.row_factory = sqlite3.Row
    found: list[Mapping[str, Any]] = []
    size = 0
    for row in database.execute("select * from facts order by rowid limit ?", (MOST_FACTS + 1,)):
        given = {key: row[key] for key in row.keys() if row[key] is not None}  # noqa: SIM118 - a row iterates values
        size += sum(len(value) for value in given.values() if isinstance(value, str | bytes))
        if size > LARGEST_FILE:
            return None
        if isinstance(given.get("context"), str):
            given["context"] = _context(given["context"])
        found.append(given)
    return found


def _from_bytes(cell: bytes) -> object:
    """The text that a cell of bytes holds; where it holds none, what no fact may have as a text."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": cell.hex()[:20]}


def _context(text: str) -> object:
    """The object that a cell holds; the cell itself where it holds none, which is then said."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
