"""Engines of one option at a time: rule-engine, zen-engine, CEL, and a function of plain Python.

In: a `Work`. Out: a function from an option, a dict with local times and weekdays in it, to its total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ucl.bench.meetings import PEOPLE
from ucl.bench.peers.work import WORDS, All, Between, Condition, Holds, Line, Not, OneOf, Overlap, Some, Work
from ucl.semantics.outcome import NANO

Option = dict[str, Any]
Scorer = Callable[[Option], int]


def options_of(work: Work, rows: int) -> list[dict[str, Any]]:
    """The first rows as dicts: what is local is there, texts are texts."""
    found = []
    for row in range(rows):
        option = {name: column[row].item() for name, column in work.columns.items()}
        option |= {name: words[option[name]] for name, words in WORDS.items()}
        first, last = work.table.offsets[row : row + 2]
        found.append({**option, "attendees": [PEOPLE[code] for code in work.table.attendees[first:last]]})
    return found


@dataclass(frozen=True)
class _Syntax:
    """How an engine writes conditions; `{}` stands for the parts."""

    conjunction: str
    disjunction: str
    negation: str
    among: str
    overlap: str
    column: str = "{}"

    def text(self, condition: Condition) -> str:
        match condition:
            case Between(column, low, high):
                name = self.column.format(column)
                ends = [] if low is None else [f"{name} >= {low!r}"]
                ends += [] if high is None else [f"{name} < {high!r}"]
                return f"({self.conjunction.join(ends)})"
            case OneOf(column, values):
                return f"({self.among.format(self.column.format(column), ', '.join(map(_value, values)))})"
            case Overlap(people):
                return f"({self.overlap.format(', '.join(map(_value, people)))})"
            case Holds(column):
                return self.column.format(column)
            case Not(part):
                return f"({self.negation} {self.text(part)})"
            case All(parts):
                return f"({self.conjunction.join(map(self.text, parts))})"
            case Some(parts):
                return f"({self.disjunction.join(map(self.text, parts))})"

    def score(self, line: Line, number: str = "{}") -> str:
        if line.times is None:
            return repr(line.score)
        return f"{line.score!r} * {number.format(self.column.format(line.times))}"


def _value(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _nano(score: float) -> int:
    return round(score * NANO)


_PYTHON = _Syntax(" and ", " or ", "not", "{} in ({},)", "not people.isdisjoint(({},))", 'option["{}"]')
_RULE_ENGINE = _Syntax(" and ", " or ", "not", "{} in [{}]", "[p for p in attendees if p in [{}]]")
_ZEN = _Syntax(" and ", " or ", "not", "{} in [{}]", "some(attendees, # in [{}])")
_CEL = _Syntax(" && ", " || ", "!", "{} in [{}]", "attendees.exists(p, p in [{}])")


def python_scorer(work: Work) -> Scorer:
    """A function written for the program; its text is made from numbers and names of our own."""
    lines = "\n".join(
        f"    if {_PYTHON.text(line.when)}: total += {line.nano if line.times is None else _python_score(line)}"
        for line in work.lines
    )
    source = f'def score(option):\n    people, total = set(option["attendees"]), 0\n{lines}\n    return total\n'
    namespace: dict[str, Any] = {}
    exec(compile(source, "rules", "exec"), namespace)
    scorer: Scorer = namespace["score"]
    return scorer


def _python_score(line: Line) -> str:
    return f"round({_PYTHON.score(line)} * {NANO})"


def rule_engine_scorer(work: Work) -> Scorer:
    """One rule of theirs for each of ours; what matches is added up in Python, since theirs only match."""
    import rule_engine

    rules = [(rule_engine.Rule(_RULE_ENGINE.text(line.when)), line) for line in work.lines]

    def score(option: Option) -> int:
        total = 0
        for rule, line in rules:
            if rule.matches(option):
                total += line.nano if line.times is None else _nano(line.score * option[line.times])
        return total

    return score


def zen_scorer(work: Work) -> Scorer:
    """One expression, a sum of choices."""
    import zen

    text = " + ".join(f"({_ZEN.text(line.when)} ? {_ZEN.score(line)} : 0)" for line in work.lines)
    expression = zen.compile_expression(text)
    return lambda option: _nano(expression.evaluate(option))


def cel_scorer(work: Work) -> Scorer:
    """One expression, a sum of choices, by the engine in Rust."""
    import cel

    terms = (f"({_CEL.text(line.when)} ? {_CEL.score(line, 'double({})')} : 0.0)" for line in work.lines)
    program = cel.compile(" + ".join(terms))
    return lambda option: _nano(program.execute(option))
