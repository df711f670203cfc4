"""How an option is scored: LANGUAGE §9, rule by rule.

In: a program, a schema, options (records, or why a row's data can't be read) and a call. Out: an `Outcome` for each.

One option is judged in the order of its definition: what applies, what fires, what each firing rule contributes, which
constraints are violated. A declaration that can't be evaluated counts as not applying in what follows, is noted, and
the first of them in the order of the source is what the invalid row carries. Shadow rules note nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ucl.frozen import frozen
from ucl.semantics.expressions import STEPS, Budget, ChoiceSet, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import MAGNITUDE, NANO, Call, Invalid, Outcome, Reason, decide
from ucl.semantics.program import (
    ALWAYS,
    Action,
    Alert,
    Constraint,
    Program,
    Resolution,
    Rule,
    Schema,
    ScoreException,
    Status,
)

Record = Mapping[str, Any]
Declared = TypeVar("Declared", Rule, Constraint, Action, Rule | Constraint)


# --- what takes part ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ruleset:
    """The rules and constraints of one schema on one day: active ones and shadow ones, each in source order.

    `silencers` has, for a name, the names of the active declarations that override it directly.
    """

    active: tuple[Rule | Constraint, ...]
    shadow: tuple[Rule | Constraint, ...]
    silencers: Mapping[str, tuple[str, ...]]
    resolution: Resolution

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(d for d in self.active if isinstance(d, Rule))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return tuple(d for d in self.active if isinstance(d, Constraint))

    @staticmethod
    def of(program: Program, schema: Schema, today: int) -> Ruleset:
        declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
        valid = [d for d in in_source_order(program, declared) if d.meta.valid is ALWAYS or d.meta.valid.holds(today)]
        active = tuple([d for d in valid if d.meta.status is Status.ACTIVE])
        shadow = tuple([d for d in valid if d.meta.status is Status.SHADOW])
        return Ruleset(active, shadow, silencers(active), resolution_of(program, schema))


def in_source_order(program: Program, declarations: Iterable[Declared]) -> list[Declared]:
    """As `program.order` has them; what was added to the program stands last."""
    places = {name: place for place, name in enumerate(program.order)}
    return sorted(declarations, key=lambda declared: places.get(declared.name, len(places)))


def resolution_of(program: Program, schema: Schema) -> Resolution:
    """A schema may be known to the program under more than its own name."""
    names = (name for name, known in program.schemas.items() if known is schema)
    return next((program.resolutions[name] for name in names if name in program.resolutions), Resolution.WEIGHTED)


def silencers(active: Iterable[Rule | Constraint | Action]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for declaration in active:
        for overridden in declaration.overrides:
            found[overridden] = (*found.get(overridden, ()), declaration.name)
    return found


# --- one declaration ------------------------------------------------------------------------------------------------


def applies(declaration: Rule | Constraint | Action | Alert, frame: Frame) -> bool:
    """Its `when` holds (absent means always) and no `unless` does."""
    if declaration.when is not None and not evaluate(declaration.when, frame):
        return False
    return not any(evaluate(unless, frame) for unless in declaration.unless)


def exception_taken(rule: Rule, frame: Frame) -> ScoreException | None:
    """The first `except when` that holds."""
    return next((e for e in rule.exceptions if evaluate(e.condition, frame)), None)


def contribution(rule: Rule, frame: Frame) -> int | None:
    """What a firing rule adds, in units of 10^-9; None where it lies beyond `MAGNITUDE`.

    Each product is one multiplication of doubles, in this order.
    """
    exception = exception_taken(rule, frame)
    value = float(evaluate(rule.score if exception is None else exception.score, frame))
    recency = frame.call.recency.get(rule.name, 1.0)
    weighted = rule.meta.priority * rule.meta.confidence * recency * value
    if not abs(weighted) <= MAGNITUDE:
        return None
    return round(weighted * NANO)


def violates(constraint: Constraint, frame: Frame) -> bool:
    """Of a constraint that applies and is not silenced: `forbid` has no `require`."""
    return constraint.require is None or not evaluate(constraint.require, frame)


# --- one option -----------------------------------------------------------------------------------------------------


@frozen
class Judgement:
    """Everything that is found of one option.

    `fired` are the names of rules and constraints that apply and are not silenced; `contributions` those of firing
    rules, `dropped` which of them `priority` leaves out; `failed` why a declaration could not be evaluated.
    """

    applying: frozenset[str]
    fired: frozenset[str]
    contributions: Mapping[str, int]
    dropped: frozenset[str]
    violated: tuple[str, ...]
    shadow: tuple[str, ...]
    failed: Mapping[str, Reason]


def judge(rules: Ruleset, frame: Frame) -> Judgement:
    failed: dict[str, Reason] = {}
    applying = set()
    for declaration in rules.active:
        try:
            if applies(declaration, frame):
                applying.add(declaration.name)
        except Overflow:
            failed[declaration.name] = Reason.OVERFLOW
    fired = frozenset(name for name in applying if not _silenced(name, rules, applying))
    contributions: dict[str, int] = {}
    violated = []
    for declaration in rules.active:
        if declaration.name not in fired:
            continue
        try:
            if isinstance(declaration, Constraint):
                if violates(declaration, frame):
                    violated.append(declaration.name)
            elif (nano := contribution(declaration, frame)) is None:
                failed[declaration.name] = Reason.MAGNITUDE
            else:
                contributions[declaration.name] = nano
        except Overflow:
            failed[declaration.name] = Reason.OVERFLOW
    return Judgement(
        frozenset(applying),
        fired,
        contributions,
        dropped_by_priority(rules, contributions),
        tuple(violated),
        tuple(d.name for d in rules.shadow if _would_take_effect(d, rules, applying, frame)),
        failed,
    )


def _silenced(name: str, rules: Ruleset, applying: set[str]) -> bool:
    return any(silencer in applying for silencer in rules.silencers.get(name, ()))


def _would_take_effect(shadow: Rule | Constraint, rules: Ruleset, applying: set[str], frame: Frame) -> bool:
    """Whether it would fire, or be violated, were it active; one that can't be evaluated would not."""
    try:
        if not applies(shadow, frame) or _silenced(shadow.name, rules, applying):
            return False
        return isinstance(shadow, Rule) or violates(shadow, frame)
    except Overflow:
        return False


def dropped_by_priority(rules: Ruleset, contributions: Mapping[str, int]) -> frozenset[str]:
    """Under `priority`, the rules of the side whose highest priority is the lower one; none where they are equal."""
    if rules.resolution is not Resolution.PRIORITY:
        return frozenset()
    priorities = {rule.name: rule.meta.priority for rule in rules.rules}
    up = [name for name, nano in contributions.items() if nano > 0]
    down = [name for name, nano in contributions.items() if nano < 0]
    if not up or not down:
        return frozenset()
    highest_up = max(priorities[name] for name in up)
    highest_down = max(priorities[name] for name in down)
    if highest_up == highest_down:
        return frozenset()
    return frozenset(down if highest_up > highest_down else up)


def is_contested(contributions: Iterable[int], contested_from: float) -> bool:
    """Whether both signs are there with at least that magnitude, measured in units of 10^-9."""
    least = round(contested_from * NANO)
    strong = [nano for nano in contributions if abs(nano) >= least]
    return any(nano > 0 for nano in strong) and any(nano < 0 for nano in strong)


def outcome_of(rules: Ruleset, judgement: Judgement, call: Call) -> Outcome:
    """What is said of the option: its totals, or why it has none."""
    for declaration in rules.active:
        if declaration.name in judgement.failed:
            return invalid_outcome(Invalid(declaration.name, judgement.failed[declaration.name]))
    counted = {name: nano for name, nano in judgement.contributions.items() if name not in judgement.dropped}
    total = sum(counted.values())
    feasible = not judgement.violated
    contested = is_contested(counted.values(), call.contested_from)
    return Outcome(
        total=total,
        feasible=feasible,
        contested=contested,
        decision=decide(total, feasible, contested),
        fired=tuple(judgement.contributions),
        violated=judgement.violated,
        shadow=judgement.shadow,
        contributions=counted,
    )


def invalid_outcome(why: Invalid) -> Outcome:
    return Outcome(None, None, None, None, invalid=why)


# --- a batch --------------------------------------------------------------------------------------------------------


def score_options(
    program: Program,
    schema: Schema,
    options: Sequence[Record | Invalid],
    call: Call,
    groups: Sequence[Hashable] | None = None,
    steps: int = STEPS,
) -> list[Outcome]:
    """An outcome for each option, in order. `groups` gives each one's choice set; without it they are one.

    Raises `Exhausted` past so many steps, with `STEPS_PER_OPTION` more for each option.
    """
    rules = Ruleset.of(program, schema, call.today)
    outcomes = []
    with bounded():
        for option, frame in zip(options, frames(options, call, groups, steps), strict=True):
            if isinstance(option, Invalid):
                outcomes.append(invalid_outcome(option))
            else:
                outcomes.append(outcome_of(rules, judge(rules, frame), call))
    return outcomes


def score_option(program: Program, schema: Schema, option: Record, call: Call, steps: int = STEPS) -> Outcome:
    """The outcome of an option that is a choice set by itself."""
    return score_options(program, schema, [option], call, steps=steps)[0]


def frames(
    options: Sequence[Record | Invalid], call: Call, groups: Sequence[Hashable] | None, steps: int
) -> list[Frame]:
    """A frame for each option, with its choice set: the valid options of its group. They share one budget."""
    budget = Budget(steps, len(options))
    keys: Sequence[Hashable] = [None] * len(options) if groups is None else groups
    members: dict[Hashable, list[Record]] = {}
    for key, option in zip(keys, options, strict=True):
        group = members.setdefault(key, [])
        if not isinstance(option, Invalid):
            group.append(option)
    choices = {key: ChoiceSet(group) for key, group in members.items()}
    return [
        Frame(call, budget, None if isinstance(option, Invalid) else option, choices[key])
        for key, option in zip(keys, options, strict=True)
    ]
