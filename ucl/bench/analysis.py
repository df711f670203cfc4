"""What rules do to each other: all findings beside asking z3 about every pair, and an edit beside a fresh check.

In: how many rules and repeats. Out: comparisons. z3 is asked as one who knows it would: one solver, what all options
have in common asserted once, a push and a pop for each pair of opposite signs, times and closed texts as whole numbers.
Both must find the same pairs in conflict before a time is printed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ucl.analysis.boxes.overlap import Side, overlapping
from ucl.analysis.findings import analyse
from ucl.analysis.kinds import pairs
from ucl.analysis.recheck import Recheck
from ucl.analysis.scene.regions import scene_of
from ucl.bench.comparison import OURS, Comparison, compare
from ucl.diagnostics import Source
from ucl.driver import compile_program
from ucl.editing import Versions
from ucl.semantics.operations import date_of
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone

_NOW = 1_780_000_000_000_000
_LISTED = 60  # rules of which every conflict is listed, with a witness
_PAIRED = 400  # rules of which every pair is decided
_EDITED = 3_000
_KINDS = ("standup", "review", "external", "social", "lunch", "other")
_NUMBERS = (
    "count",
    "priority",
    "cost",
    "notice",
    "travel",
    "rating",
    "seats",
    "floor",
    "delay",
    "weight",
    "age",
    "rank",
)
HEADER = f"""schema Meeting {{
  at: time  kind: {" | ".join(f'"{kind}"' for kind in _KINDS)}
  {"  ".join(f"{name}: int in 0..=99" for name in _NUMBERS)}
}}
"""


@dataclass(frozen=True)
class _Drawn:
    """A rule over 14 fields: minutes of the day, kinds, and ranges of two numbers (the ends left out)."""

    minutes: tuple[int, int]
    kinds: tuple[int, ...]
    numbers: dict[str, tuple[int, int]]
    score: float

    def text(self, name: str) -> str:
        first, last = (f"{minute // 60:02}:{minute % 60:02}" for minute in self.minutes)
        kinds = ", ".join(f'"{_KINDS[kind]}"' for kind in self.kinds)
        ranges = " and ".join(f"{number} in {low}..{end}" for number, (low, end) in self.numbers.items())
        when = f"at in {first}..{last} and kind in {{{kinds}}} and {ranges}"
        return f"rule {name} on Meeting {{ when {when} score {self.score} }}"


def _drawn(count: int, seed: int = 5) -> list[_Drawn]:
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        start = chance.randrange(7 * 60, 19 * 60, 15)
        numbers = {}
        for name in sorted(chance.sample(_NUMBERS, 2)):
            low = chance.randrange(0, 80, 5)
            numbers[name] = low, low + chance.choice((5, 10, 20))
        kinds = tuple(sorted(chance.sample(range(len(_KINDS)), 2)))
        score = chance.choice((-1, 1)) * chance.randrange(1, 100) / 100
        found.append(_Drawn((start, start + chance.choice((30, 60, 120))), kinds, numbers, score))
    return found


def _program(rules: list[_Drawn]) -> str:
    return HEADER + "\n".join(rule.text(f"r{number}") for number, rule in enumerate(rules)) + "\n"


def by_z3(rules: list[_Drawn]) -> set[tuple[int, int]]:
    """The pairs of opposite signs that can fire together, by asking about each."""
    import z3

    at, kind = z3.Ints("at kind")
    numbers = {name: z3.Int(name) for name in _NUMBERS}
    solver = z3.Solver()
    solver.add(at >= 0, at < 24 * 60, kind >= 0, kind < len(_KINDS))
    solver.add(*(z3.And(number >= 0, number <= 99) for number in numbers.values()))

    def applies(rule: _Drawn) -> Any:
        ranges = (z3.And(numbers[name] >= low, numbers[name] < end) for name, (low, end) in rule.numbers.items())
        kinds = z3.Or([kind == number for number in rule.kinds])
        return z3.And(at >= rule.minutes[0], at < rule.minutes[1], kinds, *ranges)

    conditions = [applies(rule) for rule in rules]
    found = set()
    for a, b in combinations(range(len(rules)), 2):
        if rules[a].score * rules[b].score < 0:
            solver.push()
            solver.add(conditions[a], conditions[b])
            if solver.check() == z3.sat:
                found.add((a, b))
            solver.pop()
    return found


def every_pair(repeats: int, count: int = _LISTED) -> Iterator[Comparison]:
    """All findings of some rules, in which every conflict is listed, beside z3's answer about every pair."""
    rules = _drawn(count)
    program = compile_program(Source("bench.ucl", _program(rules)))
    listed = pairs.MOST
    found = {
        tuple(sorted(int(name[1:]) for name in finding.rules))
        for finding in analyse(program, _NOW)
        if finding.code == "conflict" and finding.rules
    }
    theirs = by_z3(rules)
    if found != theirs:
        print(f"  z3 finds OTHER CONFLICTS ({len(theirs)} beside {len(found)}, of which {listed} are listed): left out")
        return
    asked = sum(a.score * b.score < 0 for a, b in combinations(rules, 2))
    work = f"{count} rules over 14 fields: all findings ({len(found)} conflicts), beside z3 about {asked:,} pairs"
    runs: dict[str, Callable[[], object]] = {OURS: lambda: analyse(program, _NOW), "z3": lambda: by_z3(rules)}
    yield compare(work, runs, repeats)


def decided(program: Program) -> set[tuple[int, int]]:
    """The same pairs from the exact layer, which names none and shows none."""
    zone = Zone.load(program.timezone)
    assert zone is not None
    scene = scene_of(program, program.schemas["Meeting"], zone, _NOW, date_of(zone, _NOW))
    rules = list(scene.subjects.values())
    ups = Side([(rule, box) for rule in rules for box in rule.up_boxes])
    downs = Side([(rule, box) for rule in rules for box in rule.down_boxes])
    found = set()
    for met in overlapping(scene.space, ups, downs):
        a = ups.members[met.first][0].number
        for place in (*met.alike, *met.apart):
            b = downs.members[place][0].number
            found.add((min(a, b), max(a, b)))
    return found


def which_meet(repeats: int, count: int = _PAIRED) -> Iterator[Comparison]:
    """The same question to both: which pairs of opposite signs can fire together."""
    rules = _drawn(count)
    program = compile_program(Source("bench.ucl", _program(rules)))
    if decided(program) != by_z3(rules):
        print("  z3 finds OTHER PAIRS: left out")
        return
    runs: dict[str, Callable[[], object]] = {OURS: lambda: decided(program), "z3": lambda: by_z3(rules)}
    yield compare(f"{count} rules over 14 fields: which pairs of opposite signs meet", runs, repeats)


def one_edit(repeats: int, count: int = _EDITED) -> Iterator[Comparison]:
    """One rule changed among many: what was found before is known, beside a fresh analysis of the same version."""
    rules = _drawn(count)
    text, versions, recheck = _program(rules), Versions(), Recheck()
    numbers = iter(range(1, 1_000_000))
    before = rules[count // 2].text(f"r{count // 2}")

    def version() -> Any:
        after = before.replace(f"score {rules[count // 2].score}", f"score 0.{next(numbers):06}1")
        checked, _ = versions.check(Source("bench.ucl", text.replace(before, after)))
        assert checked is not None
        return checked[0]

    edited = [version() for _ in range(repeats + 2)]
    recheck.findings(edited[0], _NOW)
    if recheck.findings(edited[1], _NOW) != analyse(edited[1], _NOW):
        print("  the edit finds OTHER FINDINGS: left out")
        return
    waiting, fresh = iter(edited[2:]), iter(edited[2:])
    runs: dict[str, Callable[[], object]] = {
        OURS: lambda: recheck.findings(next(waiting), _NOW),
        "a fresh analysis": lambda: analyse(next(fresh), _NOW),
    }
    yield compare(f"one rule edited among {count:,}: all findings again", runs, repeats)
