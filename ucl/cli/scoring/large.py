"""`uclc score` of a table that is read, scored and written in parts.

In: a program, a large file, what to write. Out: as of a small one, equal to the bit; memory stays constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ucl.cli.inputs import Options
from ucl.cli.progress import Progress
from ucl.cli.scoring.results import MOST_SHOWN, ScoreFormat, Wanted, words, write, write_lines
from ucl.scoring.calls import checked_threads, choose_schema, instant_text, scored_schemas, start_call
from ucl.scoring.streaming.run import FileRun, open_run

if TYPE_CHECKING:
    from ucl.scoring import CompiledProgram


def score_large(
    program: CompiledProgram,
    source: Options,
    schema: str | None,
    around: dict[str, Any],
    limits: dict[str, Any],
    top: int | None,
    wanted: Wanted,
    shown: Progress,
) -> tuple[list[str], str]:
    """Writes the scores; gives the warnings and the summary. `around` are the arguments of a call."""
    semantic = program.semantic
    chosen = choose_schema(semantic, schema, scored_schemas(semantic), "rules")
    call = start_call(semantic, **around)
    limits = {**limits, "threads": checked_threads(limits["threads"])}
    shown.phase("reading")
    assert source.path is not None
    with open_run(semantic, chosen, call, source.path, name=source.name, **limits) as run:
        if run.held is not None:
            shown.remark(f"{run.held}: it is held in memory as a whole")
        shown.phase("scoring", run.rows)
        if top is not None or wanted.format is ScoreFormat.TABLE:
            _write_best(run, top, wanted, shown)
        else:
            _write_all(run, wanted, shown)
        return run.counts.warnings, run.counts.summary(instant_text(call), call.zone.name)


def _write_best(run: FileRun, top: int | None, wanted: Wanted, shown: Progress) -> None:
    best = run.best(MOST_SHOWN if top is None else top, shown.rows_done)
    places = list(range(len(best)))
    if top is None and run.counts.rows <= MOST_SHOWN:
        places.sort(key=best.numbers.__getitem__)
    if wanted.format is not ScoreFormat.TABLE:
        write(best, None, wanted, shown)
        return
    wanted.clear(shown)
    hidden = 0 if top is not None else run.counts.rows - len(best)
    write_lines(words(best, places, wanted.explain, hidden), wanted)


def _write_all(run: FileRun, wanted: Wanted, shown: Progress) -> None:
    wanted.clear(shown)
    if wanted.format is ScoreFormat.JSON:
        write_lines(run.lines(wanted.explain, shown.rows_done), wanted)
        return
    run.write(wanted.path, str(wanted.format), wanted.columns, shown.rows_done)
