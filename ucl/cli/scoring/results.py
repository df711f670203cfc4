"""Scores as `uclc score` prints and writes them: the formats, tables for reading, lines of JSON.

In: a result, and what was asked for on the command line. Out: text or a table, on standard output or in a file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli.output import CommandError, replace_file, text_table
from ucl.cli.progress import Progress
from ucl.spans import span

if TYPE_CHECKING:
    from ucl.scoring import Result
    from ucl.scoring.results.result import ColumnsWanted

# Without `--top`, a table for reading shows every row up to this many, and beyond it the best of them.
MOST_SHOWN = 40


class ScoreFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


_ENDINGS = {
    "": ScoreFormat.TABLE,
    ".txt": ScoreFormat.TABLE,
    ".json": ScoreFormat.JSON,
    ".jsonl": ScoreFormat.JSON,
    ".ndjson": ScoreFormat.JSON,
    ".csv": ScoreFormat.CSV,
    ".parquet": ScoreFormat.PARQUET,
    ".pq": ScoreFormat.PARQUET,
    ".arrow": ScoreFormat.ARROW,
    ".feather": ScoreFormat.ARROW,
    ".ipc": ScoreFormat.ARROW,
}
_COMPRESSED = frozenset({".gz", ".zst", ".bz2", ".xz", ".zip"})


@dataclass(frozen=True)
class Wanted:
    """What to write, and where: `output` None is standard output."""

    output: Path | None
    format: ScoreFormat
    explain: bool
    columns: ColumnsWanted

    @property
    def path(self) -> str:
        """As `tables.output` names it."""
        return "-" if self.output is None else str(self.output)

    def clear(self, shown: Progress) -> None:
        """Makes way on a terminal that fills with the results themselves."""
        if self.output is None and sys.stdout.isatty():
            shown.stop()


def target_of(output: str | None) -> Path | None:
    """The file that `-o` names; None for standard output."""
    if output == "":
        raise CommandError("`-o` names no file", "`-o -` is standard output")
    if output is None or output == "-":
        return None
    path = Path(output)
    if path.suffix.lower() in _COMPRESSED:
        raise CommandError(f"`{output}` would be compressed, which `-o` does not do", "pipe `-o -` into `gzip`")
    return path


def format_of(output: Path | None) -> ScoreFormat:
    """By the ending of the file's name; a name without one gets a table for reading."""
    ending = "" if output is None else output.suffix.lower()
    if ending not in _ENDINGS:
        known = ", ".join(filter(None, _ENDINGS))
        raise CommandError(
            f"`{output}` ends with `{ending}`, which is no format of ours", f"one of {known}; or say `--format`"
        )
    return _ENDINGS[ending]


def refuse(output: Path | None, format: ScoreFormat, explain: bool, columns: ColumnsWanted) -> None:
    """What can't be done is said before a large table is scored for it."""
    if explain and format not in (ScoreFormat.TABLE, ScoreFormat.JSON):
        raise CommandError(
            f"`--explain` adds nothing to {format}: its columns say what fired and what was added",
            "take it away, or write a table or json",
        )
    if columns != "all" and format in (ScoreFormat.TABLE, ScoreFormat.JSON):
        raise CommandError(f"`--columns` is not for a {format}", "write csv, parquet or arrow")
    if output is None and format in (ScoreFormat.PARQUET, ScoreFormat.ARROW) and sys.stdout.isatty():
        raise CommandError(f"{format} is not for a terminal", "name a file with `-o`")


def write(result: Result, rows: list[int] | None, wanted: Wanted, shown: Progress) -> None:
    """`rows` are those wanted, in their order; None for all."""
    count = len(result) if rows is None else len(rows)
    wanted.clear(shown)
    match wanted.format:
        case ScoreFormat.TABLE:
            write_lines(words(result, rows, wanted.explain), wanted)
        case ScoreFormat.JSON:
            shown.phase("writing", count)
            write_lines(shown.over(_json_lines(result, rows, wanted.explain)), wanted)
        case _:
            from ucl.tables.output import write_table

            shown.phase("telling what fired", count)
            with span("telling what fired"):
                table = result.to_arrow(rows, shown.rows_done, wanted.columns)
            shown.phase("writing", count)
            with span("writing"):
                write_table(table, wanted.path, str(wanted.format), shown.rows_done)


def _json_lines(result: Result, rows: list[int] | None, explain: bool) -> Iterator[str]:
    if not explain:
        return result.json_lines(rows)
    return (json.dumps(row, ensure_ascii=False) for row in result.rows(rows, reasons=True))


def words(result: Result, wanted: list[int] | None, explain: bool, hidden: int = 0) -> Iterator[str]:
    """A table for reading; a long one shows its best rows unless the caller says how many. So many are `hidden`."""
    rows = list(range(len(result))) if wanted is None else wanted
    if wanted is None and len(rows) > MOST_SHOWN:
        best = [place.row for place in result.ranking(MOST_SHOWN)]
        hidden, rows = len(rows) - len(best), best
    from ucl.scoring.display.glance import WIDEST_CELL, cells, telling_columns
    from ucl.widths import cut

    shown = list(result.rows(rows, reasons=True))
    below = [_reason_lines(row) if explain else [] for row in shown]
    columns = telling_columns(result.table, result.schema, result.group_by)
    known = cells(result.table, columns, rows)
    lines = [[str(row["row"]), *cell, *_cells(row)] for row, cell in zip(shown, known, strict=True)]
    heads = ["row", *(cut(column, WIDEST_CELL) for column in columns), "total", "decision", "fired"]
    yield from text_table(heads, lines, below, right={0, len(columns) + 1})
    if hidden:
        yield f"… and {hidden} more; `--top N` or `--format csv` shows them"


def _cells(row: dict[str, Any]) -> list[str]:
    from ucl.scoring.words import number

    if row["invalid"] is not None:
        return ["", f"invalid: {row['invalid']['field']} {row['invalid']['reason']}", ""]
    names = row["fired"] + [f"!{name}" for name in row["violated"]]
    return [number(row["total"]), row["decision"].replace("_", " "), ", ".join(names)]


def _reason_lines(row: dict[str, Any]) -> list[str]:
    from ucl.scoring.words import number, quoted

    lines = [f"because {row['why']}"]
    for reason in row["reasons"]:
        amount = reason["contribution"]
        added = "violated" if amount is None else f"{'+' if amount > 0 else ''}{number(amount)}"
        because = "" if reason["because"] is None else f": {quoted(reason['because'])}"
        lines.append(f"{added} {reason['name']}{because}")
    return lines


def write_lines(lines: Iterable[str], wanted: Wanted) -> None:
    """To the file or to standard output. A file of `.json` without any line is an empty array, since no byte at all is
    no JSON; JSON Lines without a line are right as they are."""
    output = wanted.output
    with span("writing"):
        if output is None:
            for line in lines:
                sys.stdout.write(line + "\n")
        elif wanted.format is ScoreFormat.JSON and output.suffix.lower() == ".json":
            replace_file(output, (f"{line}\n" for line in _or_empty(lines)))
        else:
            replace_file(output, (line + "\n" for line in lines))


def _or_empty(lines: Iterable[str]) -> Iterator[str]:
    line = None
    for line in lines:
        yield line
    if line is None:
        yield "[]"
