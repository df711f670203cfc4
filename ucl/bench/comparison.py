"""One work done by several engines in turns: how they compare, in words and as a drawing.

In: what each engine runs, and whether their answers agree. Out: lines on standard output, and a `Comparison` that the
picture is drawn from. A ratio is of runs side by side, so that what else the machine does falls on both; it is given as
its median, with the least and the greatest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.timing import interleaved
from ucl.scoring.display.svg import OUT, RISES, Bar, Svg, bars

OURS = "ucl"


@dataclass(frozen=True)
class Comparison:
    """Seconds of each engine's runs, which took turns; `OURS` is first. `rows` is what one run goes over."""

    work: str
    seconds: Mapping[str, Sequence[float]]
    rows: int | None = None

    def ratio(self, name: str) -> tuple[float, float, float]:
        """How many times as fast as an engine ours is: the median, the least, the greatest."""
        ratios = sorted(theirs / ours for theirs, ours in zip(self.seconds[name], self.seconds[OURS], strict=True))
        return median(ratios), ratios[0], ratios[-1]

    def print(self) -> None:
        print(self.work)
        for name, taken in self.seconds.items():
            print(f"  {name:34} {self._time(median(taken))}{self._ratio(name)}")

    def _time(self, seconds: float) -> str:
        if self.rows is not None:
            return f"{seconds / self.rows * 1e9:10.1f} ns a row "
        return f"{seconds * 1e3:10.2f} ms       " if seconds >= 1e-3 else f"{seconds * 1e6:10.1f} µs       "

    def _ratio(self, name: str) -> str:
        if name == OURS:
            return ""
        middle, least, greatest = self.ratio(name)
        return f"  ucl is {middle:.2f} times as fast ({least:.2f} to {greatest:.2f})"


def compare(
    work: str,
    runs: Mapping[str, Callable[[], object]],
    repeats: int,
    rows: int | None = None,
) -> Comparison:
    """Runs all in turns and prints how they compare."""
    found = Comparison(work, interleaved(dict(runs), repeats), rows)
    found.print()
    return found


def same_answers(name: str, theirs: Sequence[NDArray[Any]], ours: Sequence[NDArray[Any]]) -> bool:
    """Whether a peer finds the same totals and the same feasible rows; says so where it does not."""
    agree = bool(np.array_equal(theirs[0], ours[0]) and np.array_equal(theirs[1], ours[1]))
    if not agree:
        print(f"  {name} finds OTHER TOTALS: left out")
    return agree


def picture(comparisons: Sequence[Comparison]) -> Svg:
    """How many times as fast as each engine ours is, on a logarithmic axis around 1."""
    drawn = []
    for comparison in comparisons:
        for name in comparison.seconds:
            if name == OURS:
                continue
            middle, least, greatest = comparison.ratio(name)
            caption = f"{middle:.2f} times ({least:.2f} to {greatest:.2f})"
            end = float(np.log10(middle))
            drawn.append(Bar(f"{comparison.work}: {name}", 0.0, end, caption, RISES if end > 0 else OUT))
    description = "One bar for each engine and work: to the right where ucl is faster, a unit for each factor of ten."
    return bars("How many times as fast as other engines", description, drawn)
