"""As `test_analysis_brute`, for what only samples, instants and relations tell apart: texts, sets, days and moments
around a change of the clock, doubles, nested records, differences and sums of fields.

The pools have every value that the tests below can tell apart, so that brute force is the truth.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from test_analysis_brute import reported, truth

from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.semantics.calendar import days_from_civil
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.zones import Zone

NEW_YORK = Zone.load("America/New_York")
assert NEW_YORK is not None
MINUTE = 60 * SECOND


@dataclass(frozen=True)
class Kind:
    type: str
    pool: Sequence[Any]
    tests: Sequence[str]


def texts() -> list[str]:
    """Of the letters that tests name, and of one that none does: what stands between others may be anything."""
    named = ["".join(letters) for length in range(5) for letters in itertools.product("abC", repeat=length)]
    others = ["".join(letters) for length in range(4) for letters in itertools.product("abC-", repeat=length)]
    return [*named, *(text for text in others if "-" in text), "a--b", "abab-ab"]


def subsets(members: Sequence[Any]) -> list[frozenset[Any]]:
    return [frozenset(c) for size in range(len(members) + 1) for c in itertools.combinations(members, size)]


def instants() -> list[int]:
    """Every half hour and the minute after it, from Friday to Sunday night, of which Sunday has 23 hours."""
    assert NEW_YORK is not None
    first = NEW_YORK.instant(days_from_civil(2026, 3, 6) * DAY).instant
    last = NEW_YORK.instant(days_from_civil(2026, 3, 9) * DAY).instant
    steps = range(first, last, 30 * MINUTE)
    return [instant + extra for instant in steps for extra in (0, MINUTE)]


def doubles() -> list[float]:
    """Quarters and their neighbours: rounding makes `near(f, 1.0, 1.0) >= 0.5` true just below 0.5."""
    quarters = [quarter / 4 for quarter in range(9)]
    near = [math.nextafter(quarter, end) for quarter in quarters for end in (-1.0, 3.0)]
    return sorted({*quarters, *(value for value in near if 0.0 <= value <= 2.0)})


KINDS = {
    "x": Kind(
        "text",
        texts(),
        [
            'x == "ab"',
            'x != "a"',
            'x in {"a", "b", "ab"}',
            'contains(x, "ab")',
            'contains(x, "b")',
            'starts_with(x, "a")',
            'ends_with(x, "b")',
            'like(x, "a*b")',
            "length(x) <= 1",
            "length(x) == 3",
            'lower(x) == "c"',
            'contains(lower(x), "c")',
        ],
    ),
    "s": Kind(
        "set<text>",
        subsets(["p", "q", "r", "1", "2", "3"]),
        [
            '"p" in s',
            'overlaps(s, {"p", "q"})',
            'subset(s, {"q", "r"})',
            'subset({"p", "q", "r"}, s)',
            "size(s) > 2",
            "size(s) == 1",
            "size(s) == 0",
            'subset({"p"}, s)',
            'not overlaps(s, {"r", "q"})',
        ],
    ),
    "v": Kind(
        "set<weekday>",
        subsets(range(7)),
        ["mon in v", "subset(v, {sat, sun})", "size(v) >= 6", "overlaps(v, {mon, tue})", "size(v) in 1..3"],
    ),
    "at_": Kind(
        "datetime in 2026-03-06T00:00..2026-03-09T00:00",
        instants(),
        [
            "at_.time in 02:00..03:00",
            "at_.time in 22:00..06:00",
            "at_.date == 2026-03-08",
            "at_.weekday == sat",
            "at_ < 2026-03-08T07:00Z",
            "at_ >= 2026-03-08T06:30Z",
            "at_.hour == 3",
            "night_of(at_) == sat",
            "at_.weekday in fri..=sat",
            "at_.time < 00:30",
            "at_.day == 7",
            "at_.minute == 0",
            "at_ in 2026-03-07T12:00..2026-03-08T03:30",
        ],
    ),
    "d": Kind(
        "date in 2026-02-24..2026-03-10",
        [days_from_civil(2026, 2, 24) + n for n in range(14)],
        [
            "d.month == 2",
            "d.day <= 3",
            "d.weekday == sat",
            "d >= 2026-03-01",
            "d in 2026-02-27..=2026-03-02",
            "d.weekday in sat..=mon",
            "d.year == 2025",
            "d + 7d >= 2026-03-10",
            "next_weekday(d, mon) < 2026-03-03",
        ],
    ),
    "f": Kind(
        "float in 0.0..=2.0",
        doubles(),
        [
            "f > 0.5",
            "f < 1.5",
            "f in 0.5..1.0",
            "f in 1.0..=1.5",
            "f * 2.0 >= 3.0",
            "abs(f - 1.0) < 0.5",
            "ramp(f, 0.5, 1.5) > 0.5",
            "near(f, 1.0, 1.0) >= 0.5",
            "2.0 - f <= 0.5",
        ],
    ),
    "n": Kind("int in 0..=3", range(4), ["n > 1", "n + 1 == 2", "n in {0, 3}", "n * n > 3", "max(n, 1) == 1"]),
    "m": Kind(
        "int? in 0..=3", [None, *range(4)], ["absent(m)", "(m ?? 2) > 1", "(present(m) and m < 2)", "(m ?? 0) == 0"]
    ),
    "h": Kind(
        "Inner?",
        [None, *({"a": a, "g": g} for a in range(3) for g in (None, 0, 1))],
        [
            "absent(h)",
            "(present(h) and h.a > 0)",
            "(present(h) and absent(h.g))",
            "(h.a ?? 1) == 1",
            "(present(h.g) and h.g == 1)",
        ],
    ),
}
TOGETHER = {
    ("m", "n"): ["(present(m) and n > m)", "n + (m ?? 0) < 3", "n == (m ?? n)"],
    ("f", "n"): ["f + n > 3.0", "f < n", "n - f >= 1.0"],
    ("n", "s"): ["size(s) > n"],
}


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fields = self._chosen()
        self.tests = [test for name in self.fields for test in KINDS[name].tests]
        for pair, more in TOGETHER.items():
            if set(pair) <= set(self.fields) and pair != ("n", "s"):
                self.tests += more * 2

    def _chosen(self) -> list[str]:
        while True:
            names = sorted(self.random.sample(sorted(KINDS), self.random.choice([1, 2, 2])))
            size = 1
            for name in names:
                size *= len(KINDS[name].pool)
            if size <= 700:
                return names

    def condition(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice(self.tests)
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        return self.random.choice([f"({a} and {b})", f"({a} or {b})", f"({a} and not ({b}))", f"not ({a} or {b})"])

    def program(self) -> str:
        fields = "\n".join(f"  {name}: {KINDS[name].type}" for name in self.fields)
        bodies = []
        for number in range(self.random.randrange(2, 5)):
            over = f" overrides r{self.random.randrange(number)}" if number and self.random.random() < 0.25 else ""
            unless = f"  unless {self.condition(1)}\n" if self.random.random() < 0.3 else ""
            score = self.random.choice(["0.5", "-0.5", "0.25", "-0.75"])
            bodies.append(f"rule r{number} on S{over} {{\n  when {self.condition()}\n{unless}  score {score}\n}}")
        if self.random.random() < 0.5:
            bodies.append(f"constraint c0 on S {{\n  forbid when {self.condition()}\n}}")
        inner = "schema Inner {\n  a: int in 0..=2\n  g: int? in 0..=1\n}"
        return "\n\n".join(['timezone "America/New_York"', inner, f"schema S {{\n{fields}\n}}", *bodies]) + "\n"


def compare(seed: int) -> bool:
    writer = Writer(seed)
    text = writer.program()
    program, _ = check_source(Source("p.ucl", text))
    if program is None:
        return False
    expected, found = truth(program, {name: KINDS[name].pool for name in writer.fields}), reported(program)
    assert found == expected, f"seed {seed}: unfounded {found - expected}, missed {expected - found}\n{text}"
    return True


def test_findings_about_texts_sets_and_moments_are_those_of_brute_force() -> None:
    assert sum(compare(seed) for seed in range(60)) >= 50


@pytest.mark.slow
def test_findings_about_texts_sets_and_moments_are_those_of_brute_force_at_length() -> None:
    assert sum(compare(seed) for seed in range(1000, 2200)) >= 1000
