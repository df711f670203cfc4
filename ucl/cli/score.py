"""Commands that score a table and say why: `score` and `explain`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli import inputs
from ucl.cli.output import CommandError, print_json, remark, replace_file, text_table, with_progress
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.scoring import Result

# Without `--top`, a table for reading shows every row up to this many, and beyond it the best of them.
_MOST_SHOWN = 40


class ScoreFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


def add_score(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    inputs.add_table(parser)
    inputs.add_call(parser)
    add = parser.add_argument
    add("--group-by", metavar="COL", help="the column whose values split the table into choice sets")
    add("--explain", action="store_true", help="say for each row why")
    add("--top", metavar="N", type=inputs.count, help="only the best N rows, best first")
    add("--strict", action="store_true", help="end with status 1 where there is a warning")
    add("-o", "--output", metavar="FILE", type=Path, help="write there, in place of standard output")
    add("--format", choices=[*map(str, ScoreFormat)], help="a table for reading, or FILE's own, by default")
    add("--threads", metavar="N", type=inputs.count, help="how many cores to use")
    add("--progress", action=BooleanOptionalAction, default=True, help="show progress on a terminal")


def score(
    program: Path,
    options: str | None,
    sql: str | None,
    schema: str | None,
    group_by: str | None,
    explain: bool,
    top: int | None,
    strict: bool,
    output: Path | None,
    format: str | None,
    threads: int | None,
    progress: bool,
    **call: Any,
) -> int:
    """Prints or writes the scores, and a summary on standard error."""
    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    table = inputs.read_options(options, sql)
    result = compiled.score(table, schema, **inputs.read_call(compiled, **call), group_by=group_by, threads=threads)
    chosen = _format(output) if format is None else ScoreFormat(format)
    rows = list(range(len(result))) if top is None else [place.row for place in result.ranking(top)]
    if chosen in (ScoreFormat.TABLE, ScoreFormat.JSON):
        lines = _json_lines(result, rows, explain) if chosen is ScoreFormat.JSON else _words(result, rows, explain, top)
        _write_lines(with_progress(lines, len(rows), progress), output)
    else:
        _write_columns(result, rows if top is not None else None, output, chosen)
    remark(result.summary())
    return 1 if strict and result.warnings else 0


def _format(output: Path | None) -> ScoreFormat:
    """By the ending of the file's name."""
    endings = {".csv": ScoreFormat.CSV, ".parquet": ScoreFormat.PARQUET, ".arrow": ScoreFormat.ARROW}
    endings |= {".json": ScoreFormat.JSON, ".jsonl": ScoreFormat.JSON, ".ndjson": ScoreFormat.JSON}
    return ScoreFormat.TABLE if output is None else endings.get(output.suffix.lower(), ScoreFormat.TABLE)


def _json_lines(result: Result, rows: list[int], explain: bool) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) for row in result.rows(rows, reasons=explain))


def _words(result: Result, rows: list[int], explain: bool, top: int | None) -> Iterator[str]:
    """A table for reading; a long one shows its best rows unless the caller says how many."""
    hidden = 0
    if top is None and len(rows) > _MOST_SHOWN:
        best = [place.row for place in result.ranking(_MOST_SHOWN)]
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
    from ucl.scoring.words import number

    lines = [f"because {row['why']}"]
    for reason in row["reasons"]:
        amount = reason["contribution"]
        added = "violated" if amount is None else f"{'+' if amount > 0 else ''}{number(amount)}"
        because = "" if reason["because"] is None else f': "{reason["because"]}"'
        lines.append(f"{added} {reason['name']}{because}")
    return lines


def _write_lines(lines: Iterator[str], output: Path | None) -> None:
    if output is None:
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    replace_file(output, (line + "\n" for line in lines))


def _write_columns(result: Result, rows: list[int] | None, output: Path | None, format: ScoreFormat) -> None:
    from ucl.tables.output import write_table

    table = result.to_arrow(rows)
    if output is None and format is not ScoreFormat.CSV and sys.stdout.isatty():
        raise CommandError(f"{format} is not for a terminal", "name a file with `-o`")
    write_table(table, "-" if output is None else str(output), format=str(format))


def add_explain(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    inputs.add_table(parser)
    inputs.add_call(parser)
    parser.add_argument("--row", metavar="N", type=inputs.count, required=True, help="which row, counted from 0")
    parser.add_argument("--group-by", metavar="COL", help="the column whose values split the table into choice sets")
    parser.add_argument("--all", action="store_true", help="tell what plays no part at length too")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="words, or one JSON object")


def explain(
    program: Path,
    options: str | None,
    sql: str | None,
    schema: str | None,
    row: int,
    group_by: str | None,
    all: bool,
    format: str,
    **call: Any,
) -> int:
    """Prints why one row scores as it does: every rule, what it looked at, what it added, what silenced it."""
    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    table = inputs.read_options(options, sql)
    result = compiled.score(table, schema, **inputs.read_call(compiled, **call), group_by=group_by)
    told = result.explain(row)
    if format == "json":
        print_json(told.to_json())
    else:
        print(printable(told.text(full=all)))
    remark(result.summary())
    return 0
