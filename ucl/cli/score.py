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
from ucl.cli.output import COMPILING, CommandError, print_json, remark, replace_file, text_table
from ucl.cli.progress import Progress
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.scoring import CompiledProgram, Result

# Without `--top`, a table for reading shows every row up to this many, and beyond it the best of them.
_MOST_SHOWN = 40


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


def add_score(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    inputs.add_table(parser)
    inputs.add_call(parser)
    add = parser.add_argument
    add("--group-by", metavar="COL", help="the column whose values split the table into choice sets")
    add("--explain", action="store_true", help="say for each row why")
    add("--top", metavar="N", type=inputs.count, help="only the best N rows, best first")
    add("--strict", action="store_true", help="end with status 1 where there is a warning")
    add("-o", "--output", metavar="FILE", help="write there; `-` is standard output, the default")
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
    output: str | None,
    format: str | None,
    threads: int | None,
    progress: bool,
    **call: Any,
) -> int:
    """Prints or writes the scores, and a summary on standard error."""
    target = _target(output)
    chosen = _format(target) if format is None else ScoreFormat(format)
    _refuse(target, chosen, explain)
    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    with Progress(progress) as shown:
        result = _scored(compiled, shown, options, sql, schema, group_by, threads, call)
        rows = None if top is None else [place.row for place in result.ranking(top)]
        _write(result, rows, target, chosen, explain, shown)
    remark(result.summary())
    return 1 if strict and result.warnings else 0


def _scored(
    program: CompiledProgram,
    shown: Progress,
    options: str | None,
    sql: str | None,
    schema: str | None,
    group_by: str | None,
    threads: int | None,
    call: dict[str, Any],
) -> Result:
    around = inputs.read_call(program, **call)
    shown.phase("reading")
    table = inputs.read_options(options, sql)
    shown.phase("scoring")
    return program.score(
        table,
        schema,
        **around,
        group_by=group_by,
        threads=threads,
        on_compile=lambda: shown.remark(COMPILING),
    )


def _target(output: str | None) -> Path | None:
    """The file that `-o` names; None for standard output."""
    if output == "":
        raise CommandError("`-o` names no file", "`-o -` is standard output")
    if output is None or output == "-":
        return None
    path = Path(output)
    if path.suffix.lower() in _COMPRESSED:
        raise CommandError(f"`{output}` would be compressed, which `-o` does not do", "pipe `-o -` into `gzip`")
    return path


def _format(output: Path | None) -> ScoreFormat:
    """By the ending of the file's name; a name without one gets a table for reading."""
    ending = "" if output is None else output.suffix.lower()
    if ending not in _ENDINGS:
        known = ", ".join(filter(None, _ENDINGS))
        raise CommandError(
            f"`{output}` ends with `{ending}`, which is no format of ours", f"one of {known}; or say `--format`"
        )
    return _ENDINGS[ending]


def _refuse(output: Path | None, format: ScoreFormat, explain: bool) -> None:
    """What can't be done is said before a large table is scored for it."""
    if explain and format not in (ScoreFormat.TABLE, ScoreFormat.JSON):
        raise CommandError(
            f"`--explain` adds nothing to {format}: its columns say what fired and what was added",
            "take it away, or write a table or json",
        )
    if output is None and format in (ScoreFormat.PARQUET, ScoreFormat.ARROW) and sys.stdout.isatty():
        raise CommandError(f"{format} is not for a terminal", "name a file with `-o`")


def _write(
    result: Result, rows: list[int] | None, output: Path | None, format: ScoreFormat, explain: bool, shown: Progress
) -> None:
    """`rows` are those wanted, in their order; None for all."""
    count = len(result) if rows is None else len(rows)
    if output is None and sys.stdout.isatty():
        shown.stop()  # the terminal fills with the results themselves
    match format:
        case ScoreFormat.TABLE:
            _write_lines(_words(result, rows, explain), output)
        case ScoreFormat.JSON:
            shown.phase("writing", count)
            _write_lines(shown.over(_json_lines(result, rows, explain)), output)
        case _:
            from ucl.tables.output import write_table

            shown.phase("telling what fired", count)
            table = result.to_arrow(rows, on_rows=shown.rows_done)
            shown.phase("writing", count)
            write_table(table, "-" if output is None else str(output), str(format), shown.rows_done)


def _json_lines(result: Result, rows: list[int] | None, explain: bool) -> Iterator[str]:
    if not explain:
        return result.json_lines(rows)
    return (json.dumps(row, ensure_ascii=False) for row in result.rows(rows, reasons=True))


def _words(result: Result, wanted: list[int] | None, explain: bool) -> Iterator[str]:
    """A table for reading; a long one shows its best rows unless the caller says how many."""
    rows = list(range(len(result))) if wanted is None else wanted
    hidden = 0
    if wanted is None and len(rows) > _MOST_SHOWN:
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
    from ucl.scoring.words import number, quoted

    lines = [f"because {row['why']}"]
    for reason in row["reasons"]:
        amount = reason["contribution"]
        added = "violated" if amount is None else f"{'+' if amount > 0 else ''}{number(amount)}"
        because = "" if reason["because"] is None else f": {quoted(reason['because'])}"
        lines.append(f"{added} {reason['name']}{because}")
    return lines


def _write_lines(lines: Iterator[str], output: Path | None) -> None:
    if output is None:
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    replace_file(output, (line + "\n" for line in lines))


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
    with Progress() as shown:
        result = _scored(compiled, shown, options, sql, schema, group_by, None, call)
        told = result.explain(row)
    if format == "json":
        print_json(told.to_json())
    else:
        print(printable(told.text(full=all)))
    remark(result.summary())
    return 0
