"""Programs made to be hard for a solver: each question ends within its steps, and there are few of them."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from ucl.analysis import smt
from ucl.analysis.findings import analyse
from ucl.diagnostics import Source
from ucl.driver import compile_program

NOW = 1_780_000_000_000_000
HEADER = """
schema S {
  share: float in 0.0..=1.0  other: float in 0.0..=1.0  a: float  b: float  c: float
  n: int  m: int  k: int  d: datetime  e: datetime  f: duration
}
"""
# A sixth of what a question may take, so that the hardest end soon.
STEPS = 500_000
# Past its steps a solver ends at the next place where it counts them.
SLACK = 1.5
MOST_QUESTIONS = 40

CONDITIONS = {
    "two shares add up to little more than nothing": "share + other in 0.299..0.301",
    "the same without bounds": "a + b in 0.299..0.301",
    "a sum between neighbouring doubles": "a + b in 0.1..0.10000000000000002 and a - b in 0.3..0.30000000000000005",
    "two narrow bands": "share * 3.0 + other * 7.0 in 0.2999..0.3001 and share - other in 0.01..0.0101",
    "thirds and sevenths": "a * 3.0 == 1.0 + b and b * 7.0 == c and c - a in 0.1..0.1001",
    "an odd sum of even numbers": "2 * n + 4 * m == 6 * k + 1",
    "coprime and unbounded": "982451653 * n - 1000003 * m == 7 * k + 3 and n > 1000000 and m < 0 - 5",
    "a knapsack": "12223 * n + 12224 * m + 36674 * k == 89643482 and n >= 0 and m >= 0 and k >= 0",
    "a thin slab": "7 * n - 11 * m in 3..4 and 13 * m - 17 * k in 5..6 and 19 * k - 23 * n in 7..8",
    "two thin slabs of reals": "a - 1.000001 * b in 0.0..0.000001 and b - 1.000001 * c in 0.0..0.000001 and c > a",
    "times across the night": "e - d in 29min..31min and d.time in 01:00..04:00 and e.weekday == sun and f * 3 > e - d",
    "many choices": " and ".join(f"(a + {i}.0 * b > c or b + {i}.5 * c < a or n + {i} * m == k)" for i in range(12)),
    "a pigeonhole": " and ".join(
        f"{x} != {y} and {x} in 0..3" for x, y in (("n", "m"), ("m", "k"), ("k", "n"), ("n + m", "k + 1"))
    ),
}


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of each question to the solver."""
    steps: list[int] = []
    check = z3.Solver.check

    def counted(solver: z3.Solver, *assumptions: Any) -> Any:
        found = check(solver, *assumptions)
        statistics = solver.statistics()
        steps.append(statistics.get_key_value("rlimit count") if "rlimit count" in statistics.keys() else 0)  # noqa: SIM118
        return found

    monkeypatch.setattr(z3.Solver, "check", counted)
    return steps


@pytest.mark.parametrize("name", CONDITIONS)
def test_no_program_hangs_the_solver(name: str, spent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "STEPS", STEPS)
    rules = [
        f"rule hard on S {{ when {CONDITIONS[name]} score 0.5 }}",
        "rule beside on S { when share > other and a < b + c and n > m score -0.5 }",
        "constraint never on S { forbid when e < d + f and n + m > k }",
    ]
    analyse(compile_program(Source("p.ucl", HEADER + "\n".join(rules))), NOW)
    assert len(spent) <= MOST_QUESTIONS
    assert all(steps <= STEPS * SLACK for steps in spent), spent
