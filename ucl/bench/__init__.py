"""Measures this machine: the same work on every engine that is here, answers compared before times.

In: which works, and how large. Out: tables on standard output, and a drawing. The work is that of rules about meetings
(times, closed text, organisers, lists of attendees, numbers), twelve written by hand and any number of generated ones.
The engines run in one process and take turns; each is as one who knows it would write it (`peers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ucl.bench.comparison import Comparison
from ucl.kernels.engines.choice import warm_up


@dataclass(frozen=True)
class Size:
    """Rows of tables, rules of new programs, runs of each engine, threads of the lines that use several; how large the
    file is that is read in parts. People are a tenth as many as rows."""

    rows: int
    rules: int
    repeats: int
    threads: int
    megabytes: int = 200


def _arrow(size: Size) -> Iterable[Comparison]:
    from ucl.bench.tables import arrow_to_scores

    return arrow_to_scores(size.rows, size.repeats)


def _prepared(size: Size) -> Iterable[Comparison]:
    from ucl.bench.tables import prepared_to_scores

    return prepared_to_scores(size.rows, size.repeats, size.threads)


def _new(size: Size) -> Iterable[Comparison]:
    from ucl.bench.programs import new_program

    return new_program(size.rules, size.repeats)


def _option(size: Size) -> Iterable[Comparison]:
    from ucl.bench.options import one_option

    return one_option(size.repeats)


def _memory(size: Size) -> Iterable[Comparison]:
    from ucl.bench.memory import bench_memory

    bench_memory(size.rows, max(1, size.rows // 10), min(size.repeats, 5))
    return ()


def _people(size: Size) -> Iterable[Comparison]:
    from ucl.bench.many import many_people

    return many_people(size.rows // 10, min(size.repeats, 5))


def _file(size: Size) -> Iterable[Comparison]:
    from ucl.bench.streams import file_in_parts

    return file_in_parts(size.megabytes, min(size.repeats, 3))


def _analysis(size: Size) -> Iterable[Comparison]:
    from ucl.bench.analysis import every_pair, one_edit, which_meet

    repeats = min(size.repeats, 3)
    yield from every_pair(repeats)
    yield from which_meet(repeats)
    yield from one_edit(repeats)


def _process(size: Size) -> Iterable[Comparison]:
    from ucl.bench.processes import first_process

    first_process(min(size.repeats, 5))
    return ()


WORKS: dict[str, Callable[[Size], Iterable[Comparison]]] = {
    "arrow": _arrow,
    "prepared": _prepared,
    "new": _new,
    "option": _option,
    "memory": _memory,
    "people": _people,
    "file": _file,
    "analysis": _analysis,
    "process": _process,
}
"""By name, in the order in which they are done."""


def measure(works: Iterable[str], size: Size) -> list[Comparison]:
    """Does the works, and prints each as it is done; with kernels that are there from the start."""
    warm_up(lambda: print("compiling the kernels, once for this machine"))
    found: list[Comparison] = []
    for work in works:
        found.extend(WORKS[work](size))
    return found
