"""Small random programs with promises over few values, which can be asked of every option there is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program
from ucl.semantics.types import DAY
from ucl.semantics.zones import UTC

NOW = 1_790_000_000_000_000  # 2026-09-21T13:33:20Z
HEADER = """
schema S { n: int in 0..=4  m: int? in 0..=3  b: bool  k: "x" | "y" | "z"  w: weekday }
context { mood: "calm" | "busy" = "calm" }
"""
ATOMS = [
    "b",
    "n > 2",
    "n in 1..=3",
    "n == 0",
    "n in {0, 3}",
    "n + 1 > 3",
    "n > (m ?? 1)",
    "absent(m)",
    "(present(m) and m >= 2)",
    "(m ?? 2) < 2",
    'k == "x"',
    'k in {"x", "y"}',
    "w in fri..=mon",
    "w == tue",
    'mood == "busy"',
]
EXPECTED = [
    "score < 0.2",
    "score >= 0",
    "feasible",
    "contested",
    "not contested",
    'decision == "accept"',
    'decision in {"ask_user", "infeasible"}',
    "score > -1 or feasible",
]


def compiled(source: str) -> Program:
    program, report = check_source(Source("p.ucl", source))
    assert program is not None, [d.message for d in report]
    return program


def condition(chance: random.Random, depth: int = 2) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return chance.choice(ATOMS)
    a, b, c = (condition(chance, depth - 1) for _ in range(3))
    if kind < 0.6:
        return f"({a} and {b})"
    if kind < 0.8:
        return f"({a} or {b})"
    return f"not ({a})" if kind < 0.9 else f"(if {a} then {b} else {c})"


def score(chance: random.Random) -> str:
    choice = f"if {condition(chance, 1)} then 0.4 else -0.4"
    return chance.choice(["0.5", "-0.25", "0.3", "-0.7", "0.25", "n * 0.1", "0", choice])


def rules(chance: random.Random) -> list[str]:
    """Rules and constraints with overrides, exceptions, priorities and every status."""
    lines = ["resolve S by priority"] if chance.random() < 0.3 else []
    names: dict[str, list[str]] = {"r": [], "c": []}
    for number in range(chance.randint(1, 5)):
        kind = "r" if chance.random() < 0.75 else "c"
        name, status = f"{kind}{number}", chance.choice(["active"] * 5 + ["shadow", "retired"])
        overrides = f" overrides {chance.choice(names[kind])}" if names[kind] and chance.random() < 0.4 else ""
        unless = f"unless {condition(chance, 1)}" if chance.random() < 0.3 else ""
        if kind == "r":
            exception = f"except when {condition(chance, 1)} score {score(chance)}" if chance.random() < 0.3 else ""
            body = (
                f"when {condition(chance)} {unless} score {score(chance)} {exception} priority {chance.choice('122')}"
            )
        else:
            required = f"require {condition(chance, 1)} when {condition(chance, 1)}"
            body = f"{chance.choice([f'forbid when {condition(chance)}', required])} {unless}"
        lines.append(f"{'rule' if kind == 'r' else 'constraint'} {name} on S{overrides} {{ {body} status {status} }}")
        names[kind].append(name)
    return lines


def promises(chance: random.Random, names: list[str]) -> list[str]:
    """Three properties and a preference."""
    named = [name for name in names if name.startswith("r")]
    spoken = [f"fires({name})" for name in named] + [f"not applies({name})" for name in named]
    spoken += [f"contribution({name}) <= 0.3" for name in named]
    spoken += [f"contribution({name}) < score or b" for name in named]
    lines = [
        f"property p{number} on S {{ given {condition(chance)} expect {chance.choice(EXPECTED + spoken)} }}"
        for number in range(3)
    ]
    return [*lines, f"prefer q on S {{ better {condition(chance, 1)} worse {condition(chance, 1)} }}"]


def random_source(seed: int, promised: bool = True) -> str:
    chance = random.Random(seed)
    lines = rules(chance)
    names = [line.split()[1] for line in lines if line.startswith(("rule", "constraint"))]
    return HEADER + "\n".join([*lines, *(promises(chance, names) if promised else [])])


def every_option() -> Iterator[dict[str, Any]]:
    for n, m, b, k, w in product(range(5), (None, 0, 1, 2, 3), (False, True), "xyz", range(7)):
        yield {"n": n, "m": m, "b": b, "k": k, "w": w}


def every_call() -> Iterator[Call]:
    for mood in ("calm", "busy"):
        yield Call(UTC, NOW, NOW // DAY, {"mood": mood}, {})


# --- numbers, of which there are too many to ask each --------------------------------------------------------------

NUMBERS = """
schema N { a: int in 0..=150  b: int in -20..=150  x: float in 0.0..=1.0  y: float in -1.0..=1.0  m: int? in 0..=200
  when_: time  wait: duration }
context { budget: float in 0.0..=2.0 = 1.0 }
"""
RELATIONS = [
    "a > b",
    "a + b > 100",
    "a - b <= 10",
    "2 * a == b",
    "a != b",
    "x + y > 0.3",
    "x - y <= 0.1",
    "x * 3 > y + 0.5",
    "x + y <= budget",
    "a > (m ?? 20)",
    "(present(m) and m < b)",
    "a * 0.1 > x",
    "a > 75",
    "x >= 0.5",
    "y < 0.0",
    "b in 0..a",
    "x + y - y > 0.2",
    "(x + y) * 3 > x * 3 + 0.5",
    "x + y + 1_000_000.0 - 1_000_000.0 > 0.3",
    "a * 0.1 + b * 0.1 > 1.0",
    "x * 0.1 + y * 0.2 <= budget * 0.05",
    "wait * 2 > 3h",
    "when_ > 12:00",
]
VARYING = [
    "0.5",
    "-0.3",
    "0.6 * ramp(x, 0.2, 0.8)",
    "-near(y, 0.5, 0.25)",
    "x * y",
    "a * 0.01 - 0.5",
    "min(x, 0.3) - 0.1",
    "-0.4 * ramp(wait, 1h, 3h)",
    "near(when_, 09:00, 2h) * 0.2",
    "if a > b then x else -x",
]
POOLS: dict[str, list[Any]] = {
    "a": [0, 1, 2, 9, 10, 11, 50, 74, 75, 76, 100, 101, 149, 150],
    "b": [-20, -1, 0, 1, 2, 50, 51, 64, 65, 75, 100, 149, 150],
    "x": [0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.5, 0.49999999999999994, 0.8, 0.7999999999999999, 1.0],
    "y": [-1.0, -0.1, -0.0, 0.0, 0.1, 0.2, 0.19999999999999998, 0.25, 0.5, 0.75, 1.0],
    "m": [None, 0, 1, 19, 20, 50, 200],
    "when_": [0, 7 * 3_600_000_000, 9 * 3_600_000_000, 12 * 3_600_000_000, 12 * 3_600_000_000 + 1, DAY - 1],
    "wait": [0, 3_600_000_000, 5_400_000_000, 5_400_000_001, 3 * 3_600_000_000, -1],
}


def numeric_source(seed: int) -> str:
    """Rules that compare fields with one another and add what varies, with promises about them."""
    chance = random.Random(seed)

    def both() -> str:
        a, b = chance.sample(RELATIONS, 2)
        return chance.choice([a, b, f"({a} and {b})", f"({a} or {b})", f"not ({a})"])

    lines = ["resolve N by priority"] if chance.random() < 0.25 else []
    names: list[str] = []
    for number in range(chance.randint(1, 4)):
        overrides = f" overrides {chance.choice(names)}" if names and chance.random() < 0.3 else ""
        exception = f"except when {both()} score {chance.choice(VARYING)}" if chance.random() < 0.3 else ""
        names.append(f"r{number}")
        body = f"when {both()} score {chance.choice(VARYING)} {exception} priority {chance.choice('112')}"
        lines.append(f"rule r{number} on N{overrides} {{ {body} }}")
    if chance.random() < 0.5:
        lines.append(f"constraint c on N {{ forbid when {both()} }}")
    expected = ["score < 0.61", "score >= -0.41", "not contested", 'decision != "ask_user"', "feasible", "score <= 1"]
    expected += [f"fires({name})" for name in names] + [f"contribution({name}) <= 0.5" for name in names]
    for number in range(4):
        lines.append(f"property p{number} on N {{ given {both()} expect {chance.choice(expected)} }}")
    lines.append(f"prefer q on N {{ better {both()} worse {both()} }}")
    return NUMBERS + "\n".join(lines)


def some_numbers(chance: random.Random, count: int) -> list[tuple[dict[str, Any], Call]]:
    """Options at the edges of what is asked, with the budget of each."""
    found = []
    for _ in range(count):
        option = {name: chance.choice(pool) for name, pool in POOLS.items()}
        found.append((option, Call(UTC, NOW, NOW // DAY, {"budget": chance.choice([0.0, 0.3, 1.0, 2.0])}, {})))
    return found
