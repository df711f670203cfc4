"""Why an option scores as it does, told in words and as JSON.

In: the trace of one option (`semantics.trace`), which re-evaluates it. Out: an `Explanation`. What counts is told
first, both sides apart; then what was silenced; then, in a line each, what plays no part. There is one template for
each thing that can become of a rule or a constraint; sentences are never joined from fragments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ucl.scoring.words import DECISIONS, invalid_json, number, quoted, reason_of, shown, signed
from ucl.semantics.outcome import Call, Outcome, Reason, as_score
from ucl.semantics.program import Constraint, Meta, Rule, Schema, Status
from ucl.semantics.trace import RuleTrace, Test, written
from ucl.semantics.values import to_json
from ucl.widths import cut

_WIDEST_READS = 60


@dataclass(frozen=True)
class Explanation:
    """Of one row. `rules` has every rule and constraint on the schema in source order. Of a row whose data is invalid
    `option` is None and there are no `rules`.

    `str()` and `text()` give the words, `to_json()` the same as data.
    """

    row: int
    schema: Schema
    option: dict[str, Any] | None
    outcome: Outcome
    rules: tuple[RuleTrace, ...]
    call: Call

    def __str__(self) -> str:
        return self.text()

    def text(self, full: bool = False) -> str:
        """The words; with `full` what plays no part is told at length too."""
        return "\n".join(self._lines(full))

    def _lines(self, full: bool) -> Iterator[str]:
        outcome = self.outcome
        if outcome.total is None or outcome.decision is None:
            yield f"row {self.row} can't be scored: {self._why()}"
        else:
            total = number(as_score(outcome.total))
            yield f"row {self.row}: total {total}, {DECISIONS[outcome.decision]}, because {self._why()}"
        if self.option is not None:
            for field in self.schema.fields:
                yield f"    {field.name} = {shown(self.option[field.name], field.type, self.call.zone)}"
        for part in Part:
            rules = [rule for rule in self.rules if part_of(rule, outcome.total is not None) is part]
            if rules:
                yield ""
                yield f"{part.value}:"
                yield from self._brief(rules) if part is Part.NONE and not full else self._at_length(rules)

    def _why(self) -> str:
        return reason_of(self.outcome, self.call.contested_from)

    def _verdict(self, rule: RuleTrace) -> str:
        return verdict(rule, is_scored=self.outcome.total is not None)

    def _at_length(self, rules: Sequence[RuleTrace]) -> Iterator[str]:
        for place, rule in enumerate(rules):
            if place:
                yield ""
            yield f"  {self._verdict(rule)}"
            yield from (f"    {line}" for line in self._reasons(rule))

    def _brief(self, rules: Sequence[RuleTrace]) -> Iterator[str]:
        """A line each, with the test that decided it."""
        for rule in rules:
            is_told = rule.applies or rule.declaration.meta.status is Status.RETIRED
            decided = None if is_told else next((t for c, t in clauses(rule) if _decided(c, t)), None)
            if decided is None:
                yield f"  {self._verdict(rule)}"
                continue
            said = "holds" if decided.holds else "does not hold"
            reads = cut(self._reads(decided), _WIDEST_READS)
            yield f"  {self._verdict(rule)}: `{written(decided.expr)}` {said}" + (f" ({reads})" if reads else "")

    def _reasons(self, rule: RuleTrace) -> Iterator[str]:
        meta = rule.declaration.meta
        if meta.because is not None:
            yield quoted(meta.because)
        if meta.sources:
            yield f"from {_provenance(meta)}"
        for clause, test in clauses(rule):
            yield self._test(clause, test)
        if rule.contribution is not None and isinstance(rule.declaration, Rule):
            yield _calculation(rule, rule.declaration, self.call)

    def _test(self, clause: str, test: Test) -> str:
        said = f"{clause} {written(test.expr)}"
        if not test.needed:
            return f"--   {said}: not needed"
        answer = {True: "yes", False: "no ", None: "?? "}[test.holds]
        reads = self._reads(test)
        return f"{answer}  {said}" + (f"   ({reads})" if reads else "")

    def _reads(self, test: Test) -> str:
        return ", ".join(f"{r.name} = {shown(r.value, r.expr.type, self.call.zone)}" for r in test.reads)

    def to_json(self) -> dict[str, Any]:
        """`{"row", "total", "feasible", "contested", "decision", "why", "invalid", "option", "rules": […]}`."""
        outcome, zone = self.outcome, self.call.zone
        option = self.option
        return {
            "row": self.row,
            "total": None if outcome.total is None else as_score(outcome.total),
            "feasible": outcome.feasible,
            "contested": outcome.contested,
            "decision": None if outcome.decision is None else str(outcome.decision),
            "why": self._why(),
            "invalid": None if outcome.invalid is None else invalid_json(outcome.invalid),
            "option": None
            if option is None
            else {field.name: to_json(option[field.name], field.type, zone) for field in self.schema.fields},
            "rules": [self._rule_json(rule) for rule in self.rules],
        }

    def _rule_json(self, rule: RuleTrace) -> dict[str, Any]:
        meta = rule.declaration.meta
        return {
            "name": rule.declaration.name,
            "kind": "rule" if isinstance(rule.declaration, Rule) else "constraint",
            "status": str(meta.status),
            "verdict": self._verdict(rule),
            "applies": rule.applies,
            "fires": rule.fires,
            "violated": rule.violated,
            "silenced_by": list(rule.silenced_by),
            "dropped": rule.dropped,
            "contribution": None if rule.contribution is None else as_score(rule.contribution),
            "failed": None if rule.failed is None else str(rule.failed),
            "because": meta.because,
            "sources": [{"kind": s.kind, "id": s.id, "at": s.at} for s in meta.sources],
            "tests": [self._test_json(clause, test) for clause, test in clauses(rule)],
        }

    def _test_json(self, clause: str, test: Test) -> dict[str, Any]:
        reads = {r.name: to_json(r.value, r.expr.type, self.call.zone) for r in test.reads}
        text = written(test.expr)
        return {"clause": clause, "text": text, "holds": test.holds, "needed": test.needed, "reads": reads}


# --- what became of a rule ------------------------------------------------------------------------------------------


class Part(StrEnum):
    """What a rule or a constraint has to do with the outcome; in this order they are told."""

    FAILS = "Can't be evaluated"
    FORBIDS = "Forbids it"
    FOR = "Speaks for it"
    AGAINST = "Speaks against it"
    SILENCED = "Applies, and changes nothing"
    NONE = "Plays no part"


def part_of(rule: RuleTrace, is_scored: bool) -> Part:
    """`is_scored`: whether the option has a total; where it has none, nothing says what was dropped."""
    is_shadow = rule.declaration.meta.status is Status.SHADOW
    if rule.failed is not None and not is_shadow:
        return Part.FAILS
    if rule.violated and not is_shadow:
        return Part.FORBIDS
    if not (rule.valid and rule.applies) or rule.declaration.meta.status is Status.RETIRED:
        return Part.NONE
    if isinstance(rule.declaration, Constraint):
        kept = rule.require is not None and rule.require.holds is not False
        return Part.SILENCED if rule.silenced_by or (is_shadow and not kept) else Part.NONE
    if rule.silenced_by or (rule.dropped and is_scored) or is_shadow or not rule.contribution:
        return Part.SILENCED
    return Part.FOR if rule.contribution > 0 else Part.AGAINST


def _decided(clause: str, test: Test) -> bool:
    """Whether this test is why a rule does not apply."""
    return test.needed and test.holds is (clause == "unless")


def verdict(rule: RuleTrace, is_scored: bool) -> str:
    """One sentence: what became of a rule or a constraint, and the first thing that decided it."""
    name = rule.declaration.name
    if rule.declaration.meta.status is Status.RETIRED:
        return f"`{name}` is retired"
    if rule.failed is Reason.MAGNITUDE:
        return f"`{name}` can't be counted: it adds more than 8192"
    if rule.failed is not None:
        return f"`{name}` can't be evaluated: a value leaves the range of its type"
    if not rule.valid:
        return f"`{name}` is silent: it is not valid today"
    if rule.silenced_by and rule.applies:
        return f"`{name}` applies, but is silenced by {_names(rule.silenced_by)}"
    if rule.declaration.meta.status is Status.SHADOW:
        return _shadow_verdict(rule)
    match rule.declaration:
        case Rule():
            return _rule_verdict(rule, name, is_scored)
        case Constraint():
            return _constraint_verdict(rule, name)


def _rule_verdict(rule: RuleTrace, name: str, is_scored: bool) -> str:
    if not rule.fires or rule.contribution is None:
        return f"`{name}` does not apply"
    if not is_scored:
        return f"`{name}` would add {signed(rule.contribution)}"
    if rule.dropped:
        return f"`{name}` fires and adds nothing: rules of a higher priority pull the other way"
    return f"`{name}` fires and adds {signed(rule.contribution)}"


def _constraint_verdict(rule: RuleTrace, name: str) -> str:
    if rule.violated:
        return f"`{name}` is violated"
    return f"`{name}` is kept" if rule.applies else f"`{name}` does not apply"


def _shadow_verdict(rule: RuleTrace) -> str:
    name = rule.declaration.name
    if any(test.needed and test.holds is None for _, test in clauses(rule)):
        return f"`{name}` is in shadow, and can't be evaluated: a value leaves the range of its type"
    if not rule.applies:
        return f"`{name}` is in shadow, and would not apply"
    if isinstance(rule.declaration, Rule):
        return f"`{name}` is in shadow: it would fire, and changes nothing"
    if rule.require is not None and rule.require.holds:
        return f"`{name}` is in shadow, and would be kept"
    return f"`{name}` is in shadow: it would be violated, and changes nothing"


def clauses(rule: RuleTrace) -> Iterator[tuple[str, Test]]:
    """Each test with the words that open its clause, in the order of the language's own page."""
    forbids = isinstance(rule.declaration, Constraint) and rule.require is None
    if rule.require is not None:
        yield "require", rule.require
    opening = "forbid when" if forbids else "when"
    for place, test in enumerate(rule.when):
        yield ("and" if place else opening), test
    yield from (("unless", test) for test in rule.unless)
    yield from (("except when", test) for test in rule.exceptions)


def _calculation(rule: RuleTrace, declaration: Rule, call: Call) -> str:
    """How the contribution comes about: `score -0.8, times confidence 0.9`."""
    score = declaration.score if rule.taken is None else rule.taken.score
    weights = {
        "priority": declaration.meta.priority,
        "confidence": declaration.meta.confidence,
        "recency": call.recency.get(declaration.name, 1.0),
    }
    factors = "".join(f", times {name} {number(weight)}" for name, weight in weights.items() if weight != 1)
    return f"score {written(score)}{factors}"


def _provenance(meta: Meta) -> str:
    return ", ".join(f"{s.kind} {' '.join(s.id.split())}" + (f" at {s.at}" if s.at else "") for s in meta.sources)


def _names(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
