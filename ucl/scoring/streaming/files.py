"""From a file to a file: what `program.score_file` does.

In: a program, a call, two paths. Out: `FileScores`: what was counted, and the best rows where they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from ucl.scoring import errors
from ucl.scoring.calls import instant_text
from ucl.scoring.results.counts import Counts
from ucl.scoring.results.result import ColumnsWanted, Result
from ucl.scoring.streaming.run import FileRun, open_run
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema
from ucl.tables.files import format_of
from ucl.tables.output import write_table

if TYPE_CHECKING:
    Path = str | PathLike[str]


@dataclass(frozen=True)
class FileScores:
    """What is said of a file as a whole.

    `best` are the best rows, best first, each with its number in the file; None unless `top` asked for them. `held` is
    None where memory was constant, and else says why the whole table had to be held.
    """

    counts: Counts
    best: Result | None
    held: str | None
    _moment: tuple[str, str] = field(repr=False)

    def __len__(self) -> int:
        return self.counts.rows

    @property
    def warnings(self) -> list[str]:
        """What a caller should know of the data, in sentences; empty where there is nothing."""
        return self.counts.warnings

    def summary(self) -> str:
        """One line: rows, warnings, the moment and the zone."""
        return self.counts.summary(*self._moment)


def score_file(
    program: Program,
    schema: Schema,
    call: Call,
    path: Path,
    output: Path | None,
    top: int | None,
    columns: ColumnsWanted,
    group_by: str | None,
    threads: int | None,
    on_rows: Callable[[int], None],
    on_compile: Callable[[], None] | None,
) -> FileScores:
    """Raises `CallError` and `TableError`; then nothing stands under `output` that did not before."""
    if top is not None and (not isinstance(top, int) or isinstance(top, bool) or top < 0):
        raise errors.wrong_argument("top", "a whole number of rows", top)
    target = None if output is None else fspath(output)
    format = None if target is None else format_of(target, b"")
    opened = open_run(program, schema, call, fspath(path), group_by=group_by, threads=threads, on_compile=on_compile)
    with opened as run:
        best = _score(run, target, format, top, columns, on_rows)
        return FileScores(run.counts, best, run.held, (instant_text(call), call.zone.name))


def _score(
    run: FileRun,
    target: str | None,
    format: str | None,
    top: int | None,
    columns: ColumnsWanted,
    on_rows: Callable[[int], None],
) -> Result | None:
    """The best rows, where they are asked for."""
    best = None
    if top is not None:
        best = run.best(top, on_rows)
        if target is not None and format is not None:
            write_table(best.to_arrow(columns=columns), target, format)
    elif target is not None and format is not None:
        run.write(target, format, columns, on_rows)
    else:
        for part in run.parts():
            on_rows(len(part))
    return best
