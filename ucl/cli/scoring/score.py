"""Commands that score a table and say why: `score` and `explain`."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli import inputs
from ucl.cli.output import COMPILING, print_json, remark
from ucl.cli.progress import Progress
from ucl.cli.scoring.profile import profiled
from ucl.cli.scoring.results import ScoreFormat, Wanted, format_of, refuse, target_of, write
from ucl.render import printable
from ucl.spans import span

if TYPE_CHECKING:
    from ucl.scoring import CompiledProgram, Result
    from ucl.scoring.results.result import ColumnsWanted


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
    about = "of csv, parquet and arrow: the input's columns and the results, the results, or the scores alone"
    add("--columns", choices=["all", "results", "scores"], default="all", help=about)
    add("--format", choices=[*map(str, ScoreFormat)], help="a table for reading, or FILE's own, by default")
    add("--threads", metavar="N", type=inputs.count, help="how many cores to use")
    add("--profile", action="store_true", help="say where the time went, on standard error")
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
    columns: ColumnsWanted,
    format: str | None,
    threads: int | None,
    profile: bool,
    progress: bool,
    **call: Any,
) -> int:
    """Prints or writes the scores, and a summary on standard error."""
    target = target_of(output)
    chosen = format_of(target) if format is None else ScoreFormat(format)
    refuse(target, chosen, explain, columns)
    wanted = Wanted(target, chosen, explain, columns)
    with profiled(profile, chosen is ScoreFormat.JSON):
        with span("checking the program"):
            compiled = inputs.load_program(program)
        if compiled is None:
            return 1
        with Progress(progress) as shown, inputs.opened_options(options, sql) as source:
            around = inputs.read_call(compiled, **call)
            if source.is_large:
                from ucl.cli.scoring.large import score_large

                limits = {"group_by": group_by, "threads": threads, "on_compile": lambda: shown.remark(COMPILING)}
                warnings, summary = score_large(compiled, source, schema, around, limits, top, wanted, shown)
            else:
                result = _scored(compiled, shown, source, schema, group_by, threads, around)
                with span("ranking"):
                    rows = None if top is None else [place.row for place in result.ranking(top)]
                write(result, rows, wanted, shown)
                warnings, summary = result.warnings, result.summary()
    remark(summary)
    return 1 if strict and warnings else 0


def _scored(
    program: CompiledProgram,
    shown: Progress,
    source: inputs.Options,
    schema: str | None,
    group_by: str | None,
    threads: int | None,
    around: dict[str, Any],
) -> Result:
    shown.phase("reading")
    with span("reading"):
        table = source.table()
    shown.phase("scoring")
    return program.score(
        table,
        schema,
        **around,
        group_by=group_by,
        threads=threads,
        on_compile=lambda: shown.remark(COMPILING),
    )


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
    with Progress() as shown, inputs.opened_options(options, sql) as source:
        around = inputs.read_call(compiled, **call)
        result = _scored(compiled, shown, source, schema, group_by, None, around)
        told = result.explain(row)
    if format == "json":
        print_json(told.to_json())
    else:
        print(printable(told.text(full=all)))
    remark(result.summary())
    return 0
