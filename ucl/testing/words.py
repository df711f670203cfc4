"""Verdicts in words: what is promised, whether it holds, the counterexample as a table, who is to blame.

In: a `Verdict`. Out: lines. The statement that a promise stands for comes at once after its name, since it is what a
person knows it by.
"""

from __future__ import annotations

from collections.abc import Iterator

from ucl.analysis.cells.inputs import NOW, Place
from ucl.analysis.points import Point, call_of, option_of
from ucl.analysis.properties import Prover, statement
from ucl.scoring.words import DECISIONS, shown, total_words
from ucl.semantics.evaluate import score_option
from ucl.semantics.program import Expr, Property
from ucl.testing.verdicts import Verdict
from ucl.widths import text_width


def told(verdict: Verdict, is_written: bool = True) -> Iterator[str]:
    """One line; for a broken promise the statement, what it says, and the counterexample below it. What was made of a
    fact is written nowhere that a person could look at."""
    promise = verdict.promise
    line, column = promise.span.source.position(promise.span.start)
    yield f"{verdict.outcome:<7} {_head(verdict)}"
    if verdict.found is None:
        return
    said = statement(promise)
    if said is not None:
        yield f"  it stands for {said}"
    yield from (f"  {clause}" for clause in _clauses(verdict))
    if is_written:
        yield f"  at {promise.span.source.path}:{line}:{column}"
    for title, point in _points(verdict):
        yield f"  {title}"
        yield from (f"    {row}" for row in _point_rows(verdict.prover, point, verdict.found.point))
    yield ""


def _head(verdict: Verdict) -> str:
    name = verdict.promise.name
    if verdict.found is not None:
        by = f", by {', '.join(verdict.blamed)}" if verdict.blamed else ""
        return name + by
    if verdict.vacuous:
        return f"{name} (there is no option of which it says anything)"
    return f"{name} ({verdict.samples} samples)"


def _clauses(verdict: Verdict) -> Iterator[str]:
    """What the promise says, as it is written."""
    promise = verdict.promise
    if isinstance(promise, Property):
        if promise.given is not None:
            yield f"given {_written(promise.given)}"
        yield from (f"expect {_written(expr)}" for expr in promise.expect)
    else:
        yield f"better {_written(promise.better)}"
        yield f"worse {_written(promise.worse)}"


def _written(expr: Expr) -> str:
    span = expr.span
    return " ".join(span.source.text[span.start : span.end].split())


def _points(verdict: Verdict) -> list[tuple[str, Point]]:
    assert verdict.found is not None
    if verdict.found.worse is None:
        return [("but for", verdict.found.point)]
    return [("but the better", verdict.found.point), ("and the worse", verdict.found.worse)]


def _point_rows(prover: Prover, point: Point, around: Point) -> Iterator[str]:
    """The option's fields and what surrounds it, then its score."""
    keys = [key for key in prover.side.inputs.by_key if key in point.values]
    cells = []
    for key in sorted(keys, key=lambda key: key[0] is not Place.OPTION):
        if key == NOW and NOW not in prover.space.numbers:
            continue
        name = ("" if key[0] is Place.OPTION else f"{key[0]}.") + ".".join(prover.side.inputs.by_key[key].path)
        value = shown(point.values[key], prover.side.inputs.by_key[key].field.type, prover.side.zone)
        cells.append((name, value.replace("\n", " ")))
    width = max((text_width(name) for name, _ in cells), default=0)
    yield from (f"{name}{' ' * (width - text_width(name))}  {value}".rstrip() for name, value in cells)
    option, call = option_of(prover.side, point), call_of(prover.side, around)
    outcome = score_option(prover.program, prover.side.schema, option, call)
    assert outcome.decision is not None
    yield f"score {total_words(outcome)}, decision: {DECISIONS[outcome.decision]}"
