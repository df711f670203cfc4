"""Times of runs that take turns, and how they compare.

In: functions by name. Out: seconds of each, and lines on standard output.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median


def interleaved(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each run, taking turns, so that what else the machine does falls on all."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def print_runs(seconds: dict[str, list[float]], rows: int, baseline: str | None) -> None:
    for name, taken in seconds.items():
        rate = f"{median(taken) * 1e3:8.1f} ms  {rows / median(taken) / 1e6:6.1f} million rows/s"
        print(f"  {name:28} {rate}{_ratios(seconds, name, baseline)}")


def _ratios(seconds: dict[str, list[float]], name: str, baseline: str | None) -> str:
    """How many times as fast as the baseline: the median of the runs side by side, and the least and the greatest."""
    if baseline is None or name == baseline:
        return ""
    ratios = sorted(theirs / ours for theirs, ours in zip(seconds[baseline], seconds[name], strict=True))
    return f"  {median(ratios):5.1f} times polars ({ratios[0]:.1f} to {ratios[-1]:.1f})"
