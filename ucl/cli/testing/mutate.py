"""`uclc test --mutate`: are the tests any good? How many mutants of a program its promises notice, and which they miss.

In: a program, verdicts on it. Out: the score, printed; mutants that nobody noticed, each with the smallest option that
tells it from the program.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ucl.cli import inputs
from ucl.cli.output import print_json
from ucl.cli.progress import Progress
from ucl.cli.testing.diff import data_words, outcome_words
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.diagnostics import Source
    from ucl.testing.mutants import Asked, Score, Tried
    from ucl.testing.verdicts import Verdict

_DEFAULT_MOST = 500


def add_mutate(parser: ArgumentParser) -> None:
    """The options of `test` that are about mutants."""
    add = parser.add_argument
    add("--mutate", action="store_true", help="say how many mutants of the program its properties notice")
    add("--mutants", metavar="N", type=inputs.count, default=_DEFAULT_MOST, help="how many to try at most")


def print_mutants(source: Source, properties: str, found: Sequence[Verdict], asked: Asked, format: str) -> None:
    """`properties` is source below the program's own; `found` are the verdicts on all of it."""
    from ucl.testing.mutants import Mutation

    mutation = Mutation(source, Path(source.path).parent, properties, asked)
    with Progress() as shown:
        shown.phase("trying mutants", len(mutation))
        score = mutation.score(found, lambda _: shown.rows_done(1))
    if format == "json":
        print_json({"program": source.path, **score.to_json()})
    else:
        print("\n".join(map(printable, _words(source.path, score))))


def _words(path: str, score: Score) -> Iterator[str]:
    from ucl.testing.mutants import Fate

    yield f"{path}: {_summary(score)}"
    if score.left_out:
        names = ", ".join(score.left_out)
        yield f"  without {names}: what is broken already, or a shadow, notices nothing"
    for fate in (Fate.SURVIVED, Fate.UNDECIDED, Fate.EQUIVALENT):
        for tried in score.of(fate):
            yield from _one(tried)


def _summary(score: Score) -> str:
    from ucl.testing.mutants import Fate

    if score.share is None:
        return "there is no mutant to try"
    killed, equivalent = len(score.of(Fate.KILLED)), len(score.of(Fate.EQUIVALENT))
    # Rounded down, so that 100% is all of them.
    percent = math.floor(score.share * 1000) / 10
    some = f" (a sample: {score.picked} of {score.made})" if score.picked < score.made else ""
    same = f"; {equivalent} more {'says' if equivalent == 1 else 'say'} the same" if equivalent else ""
    return f"{killed} of {score.killable} mutants killed, {percent:g}%{some}{same}"


def _one(tried: Tried) -> Iterator[str]:
    mutant, shown = tried.mutant, tried.difference
    yield f"{tried.fate:<10} {mutant.name}: {mutant.said}"
    yield f"  at {mutant.span.source.path}:{mutant.span.line}:{mutant.span.column}"
    if shown is not None:
        yield f"  option  {data_words(shown.option)}"
        if shown.context:
            yield f"  context {data_words(shown.context)}"
        yield f"  old     {outcome_words(shown.old)}"
        yield f"  new     {outcome_words(shown.new)}"
