"""Measures this machine: a realistic table and program on every engine that is here, totals compared before times.

In: how many rows and repeats. Out: a table on standard output. The work is that of twelve rules about meetings (times,
closed text, organisers, lists of attendees, numbers; three scores are expressions). polars does the same sum of
when/then over the same rows in the same process, the runs taking turns. Then a memory's counts and sums, correlated
with each option, against polars' joins. Then a new program of many rules is scored for
the first time, since that is what an edit costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from ucl.bench.meetings import TWELVE, columns_of, compiled, many_rules, plan_of, polars_query, some_meetings
from ucl.bench.memory import bench_memory
from ucl.bench.timing import interleaved, print_runs
from ucl.kernels.engines.choice import EngineName
from ucl.kernels.run import Scores, score


def bench_table(rows: int, repeats: int, threads: int) -> None:
    table = some_meetings(rows)
    columns, plan = columns_of(table), plan_of(compiled(TWELVE))

    def ucl(engine: EngineName, threads: int) -> Callable[[], Scores]:
        return lambda: score(plan, columns, engine=engine, threads=threads)

    runs: dict[str, Callable[[], object]] = {"ucl, 1 thread": ucl("numba", 1)}
    if threads > 1:
        runs[f"ucl, {threads} threads"] = ucl("numba", threads)
    runs["ucl without numba"] = ucl("portable", 1)
    ours = ucl("numba", 1)()
    baseline = None
    try:
        baseline, query = polars_query(table)
    except ImportError:
        print("polars is not installed: there is nothing to compare with")
    else:
        total, feasible = query()
        same = bool(np.array_equal(total, ours.total) and np.array_equal(feasible, ours.feasible))
        print(f"{baseline} finds {'the same totals' if same else 'OTHER TOTALS'}")
        runs[baseline] = query
    seconds = interleaved(runs, repeats)
    print(f"12 rules, {rows:,} rows, {repeats} runs")
    print_runs(seconds, rows, baseline)


def bench_new_program(rules: int, repeats: int) -> None:
    """From text to scores of a program that this process has not seen."""
    columns = columns_of(some_meetings(1000))
    steps: dict[str, list[float]] = {"parse and check": [], "lower": [], "score 1,000 rows": []}
    for seed in range(repeats):
        text = many_rules(rules, seed)
        moments = [time.perf_counter()]
        program = compiled(text)
        moments.append(time.perf_counter())
        plan = plan_of(program)
        moments.append(time.perf_counter())
        score(plan, columns, engine="numba")
        moments.append(time.perf_counter())
        for taken, start, end in zip(steps.values(), moments, moments[1:], strict=False):
            taken.append(end - start)
    print(f"a new program of {rules:,} rules, {repeats} of them")
    for name, taken in steps.items():
        print(f"  {name:28} {median(taken) * 1e3:8.1f} ms  ({min(taken) * 1e3:.1f} to {max(taken) * 1e3:.1f})")


def measure(rows: int, rules: int, repeats: int, threads: int) -> None:
    """Prints the measurements: a table of `rows`, a memory of a tenth as many, a new program of `rules`.

    Each is the median of `repeats` runs, of the memory of five at most.
    """
    bench_table(rows, repeats, threads)
    bench_memory(rows, max(1, rows // 10), min(repeats, 5))
    bench_new_program(rules, repeats)
