"""Findings against brute force: on small random programs, every option that differs is scored by the definition.

What is found must be so, and what is so must be found, kind by kind.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ucl.analysis.findings import analyse
from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.semantics.evaluate import Ruleset, judge
from ucl.semantics.evaluate.options import applies, contribution, frames
from ucl.semantics.expressions import STEPS, Frame, evaluate
from ucl.semantics.outcome import Call
from ucl.semantics.program import Constraint, Program, Rule
from ucl.semantics.zones import UTC, Zone

HOUR = 3_600_000_000
NOW = 1_780_000_000_000_000
FIELDS = {
    "b": ("bool", [False, True]),
    "o": ("bool?", [None, False, True]),
    "k": ('"a" | "b" | "c"', ["a", "b", "c"]),
    "n": ("int in 0..=3", [0, 1, 2, 3]),
    "w": ("weekday", list(range(7))),
    "t": ("time", [h * HOUR + m for h in (0, 9, 12, 22) for m in (0, 1)] + [24 * HOUR - 1]),
}
Finding = tuple[str, tuple[str, ...]]


class Writer:
    """Writes random programs over a few of the fields."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fields = sorted(self.random.sample(sorted(FIELDS), self.random.choice([2, 2, 3])))

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def atom(self) -> str:
        match self.pick(*self.fields):
            case "b":
                return self.pick("b", "not b", "b == true")
            case "o":
                return self.pick("absent(o)", "present(o)", "(o ?? true)", "(present(o) and o)", "not (o ?? false)")
            case "k":
                return self.pick('k == "a"', 'k != "b"', 'k in {"a", "c"}', 'k not in {"b", "c"}')
            case "n":
                low = self.random.randrange(4)
                return self.pick(
                    f"n >= {low}", f"n < {low}", f"n == {low}", f"n in {low}..={min(3, low + 1)}", f"n + n > {low}"
                )
            case "w":
                return self.pick("w == mon", "w in sat..=mon", "w in {tue, sun}", "w not in mon..=fri", "w != sun")
            case _:
                return self.pick("t in 22:00..09:00", "t < 12:00", "t in 09:00..=12:00", "t >= 22:00", "t in ..09:00")

    def condition(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.35:
            return self.atom()
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        return self.pick(
            f"({a} and {b})", f"({a} or {b})", f"not ({a} and {b})", f"(if {a} then {b} else {self.atom()})"
        )

    def score(self) -> str:
        return self.pick("0.5", "-0.5", "0.25", "-0.75", "0.0")

    def rule(self, number: int) -> str:
        over = f" overrides r{self.random.randrange(number)}" if number and self.random.random() < 0.3 else ""
        lines = [f"rule r{number} on S{over} {{"]
        if self.random.random() < 0.95:
            lines.append(f"  when {self.condition()}")
        lines += [f"  unless {self.condition(1)}" for _ in range(self.random.choice([0, 0, 1, 2]))]
        if self.random.random() < 0.2:
            lines.append(f"  score if {self.condition(1)} then {self.score()} else {self.score()}")
        else:
            lines.append(f"  score {self.score()}")
        lines += [
            f"  except when {self.condition(1)} score {self.score()}"
            for _ in range(self.random.choice([0, 0, 0, 1, 2]))
        ]
        return "\n".join([*lines, "}"])

    def constraint(self, number: int) -> str:
        over = f" overrides c{self.random.randrange(number)}" if number and self.random.random() < 0.3 else ""
        kind = self.pick(f"forbid when {self.condition()}", f"require {self.condition(1)} when {self.condition(1)}")
        unless = f"\n  unless {self.condition(1)}" if self.random.random() < 0.3 else ""
        return f"constraint c{number} on S{over} {{\n  {kind}{unless}\n}}"

    def program(self) -> str:
        fields = "\n".join(f"  {name}: {FIELDS[name][0]}" for name in self.fields)
        rules = [self.rule(number) for number in range(self.random.randrange(2, 6))]
        constraints = [self.constraint(number) for number in range(self.random.choice([0, 1, 2, 3]))]
        return "\n\n".join([f"schema S {{\n{fields}\n}}", *rules, *constraints]) + "\n"


def options(pools: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(pools, values, strict=True)) for values in itertools.product(*pools.values())]


def truth(program: Program, pools: Mapping[str, Sequence[Any]]) -> set[Finding]:
    """Every finding that the options show, by LANGUAGE §10 word for word."""
    schema = program.schemas["S"]
    zone = Zone.load(program.timezone)
    assert zone is not None
    call = Call(zone, NOW, NOW // 86_400_000_000)
    rows, names = options(pools), list(pools)
    all_frames = frames(rows, call, None, STEPS)
    ruleset = Ruleset.of(program, schema, call.today)
    judged = [judge(ruleset, frame) for frame in all_frames]
    where = {d.name: {i for i, j in enumerate(judged) if d.name in j.applying} for d in ruleset.active}
    fires = {d.name: {i for i, j in enumerate(judged) if d.name in j.fired} for d in ruleset.active}
    feasible = {i for i, j in enumerate(judged) if not j.violated}
    living = [d for d in ruleset.active if where[d.name]]
    found: set[Finding] = {("never-applies", (d.name,)) for d in ruleset.active if not where[d.name]}
    found |= {("always-overridden", (d.name,)) for d in living if not fires[d.name]}
    if not feasible:
        found.add(("nothing-feasible", ()))
    rules = [d for d in living if isinstance(d, Rule)]
    for rule in rules:
        up = any((contribution(rule, all_frames[i]) or 0) > 0 for i in where[rule.name])
        if up and feasible and not where[rule.name] & feasible:
            found.add(("never-feasible", (rule.name,)))
    over = overriding(program)
    for a, b in itertools.combinations(rules, 2):
        both = [
            (i, judged[i].contributions[a.name] * judged[i].contributions[b.name])
            for i in fires[a.name] & fires[b.name]
        ]
        free = b.name not in over[a.name] and a.name not in over[b.name]
        fields_a, fields_b = mentioned(a, names), mentioned(b, names)
        if free and fields_a & fields_b and any(product < 0 and i in feasible for i, product in both):
            found.add(("conflict", tuple(sorted((a.name, b.name)))))
        nested = where[a.name] <= where[b.name] or where[b.name] <= where[a.name]
        if nested and fields_a == fields_b and any(product > 0 for _, product in both):
            found.add(("double-counting", tuple(sorted((a.name, b.name)))))
    for d in living:
        found |= unreachable(d, [all_frames[i] for i in range(len(rows))])
    return found


def overriding(program: Program) -> dict[str, set[str]]:
    direct = {d.name: set(d.overrides) for d in (*program.rules, *program.constraints)}
    for _ in direct:
        direct = {name: targets.union(*(direct[t] for t in targets)) for name, targets in direct.items()}
    return direct


def mentioned(rule: Rule, names: list[str]) -> set[str]:
    """The fields in the text of its conditions, those of the nested record `h` each by itself."""
    spans = [e.span for e in (rule.when, *rule.unless, *(e.condition for e in rule.exceptions)) if e is not None]
    word = re.compile(rf"\bh\.[ag]\b|(?<![.\"])\b(?:{'|'.join(names)})\b(?!\")")
    return {found for s in spans for found in word.findall(s.source.text[s.start : s.end])}


def unreachable(d: Rule | Constraint, all_frames: list[Frame]) -> set[Finding]:
    """`unless` and `except when` that decide nothing."""
    found = set()
    reached = [f for f in all_frames if d.when is None or evaluate(d.when, f)]
    for number, unless in enumerate(d.unless):
        if not any(evaluate(unless, f) for f in reached):
            found.add(("unreachable", (d.name, "unless", str(number))))
        reached = [f for f in reached if not evaluate(unless, f)]
    for number, exception in enumerate(d.exceptions if isinstance(d, Rule) else ()):
        if not any(evaluate(exception.condition, f) for f in reached):
            found.add(("unreachable", (d.name, "except", str(number))))
        reached = [f for f in reached if not evaluate(exception.condition, f)]
    return found


def reported(program: Program) -> set[Finding]:
    found: set[Finding] = set()
    for d in analyse(program, NOW):
        match d.code:
            case "nothing-feasible":
                found.add((d.code, ()))
            case "never-applies" | "always-overridden" | "never-feasible":
                found.add((d.code, (d.rules[0],)))
            case "conflict" | "double-counting":
                found.add((d.code, tuple(sorted(d.rules))))
            case "unreachable":
                declared = next(x for x in (*program.rules, *program.constraints) if x.name == d.rules[0])
                place = branch_of(declared, d.span.start)
                if place is not None:
                    found.add((d.code, (d.rules[0], *place)))
            case _:
                assert d.code == "tension", d.message
    return found


def branch_of(declared: Rule | Constraint, start: int) -> tuple[str, str] | None:
    """Which `unless` or `except when` stands there; None for a side of an `if`."""
    for number, unless in enumerate(declared.unless):
        if unless.span.start == start:
            return "unless", str(number)
    for number, exception in enumerate(declared.exceptions if isinstance(declared, Rule) else ()):
        if exception.condition.span.start == start:
            return "except", str(number)
    return None


def compare(seed: int) -> bool:
    """Whether the program of this seed compiles; and if so, findings are held to the truth."""
    writer = Writer(seed)
    text = writer.program()
    program, _ = check_source(Source("p.ucl", text))
    if program is None:
        return False
    expected, found = truth(program, {name: FIELDS[name][1] for name in writer.fields}), reported(program)
    assert found == expected, f"seed {seed}: unfounded {found - expected}, missed {expected - found}\n{text}"
    return True


def test_findings_are_those_of_brute_force() -> None:
    compiled = sum(compare(seed) for seed in range(230))
    assert compiled >= 200


@pytest.mark.slow
def test_findings_are_those_of_brute_force_at_length() -> None:
    compiled = sum(compare(seed) for seed in range(1000, 2200))
    assert compiled >= 1000


def test_the_applying_of_a_witness_is_what_is_compared() -> None:
    """The oracle itself: it must see what it is there to see."""
    program, _ = check_source(
        Source(
            "p.ucl",
            "schema S { b: bool  n: int in 0..=3 }\n"
            "rule r0 on S { when n > 1 score 0.5 }\nrule r1 on S { when n > 2 score -0.5 }",
        )
    )
    assert program is not None
    assert truth(program, {"b": [False, True], "n": [0, 1, 2, 3]}) == {("conflict", ("r0", "r1"))}
    assert applies(program.rules[0], frames([{"b": True, "n": 2}], Call(UTC, NOW, 0), None, STEPS)[0])
