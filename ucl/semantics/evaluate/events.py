"""What a program does when something happens, and what it answers: LANGUAGE §12, and definitions as queries.

In: a program, a call, and events (records of a schema) or a definition's arguments. Out: tables of effects, alerts and
answers; nothing is performed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ucl.frozen import frozen
from ucl.semantics.evaluate.options import Record, applies, frames, in_source_order, silencers
from ucl.semantics.expressions import STEPS, Budget, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, Invalid, Reason
from ucl.semantics.program import Action, Alert, EffectCall, Program, Schema, Status, Value
from ucl.semantics.values import to_text


@frozen
class Effected:
    """One effect that an action asks for, with its arguments by name."""

    action: str
    effect: str
    arguments: Mapping[str, Value]


@frozen
class Alerted:
    """A record for which an alert holds. Where the alert overflows, `say` is empty and `invalid` says so."""

    alert: str
    severity: str
    record: Mapping[str, Any]
    say: str
    invalid: Invalid | None = None


@frozen
class Answer:
    """`value` is None and `error` a sentence where the answer leaves its type."""

    name: str
    value: Value = None
    error: str | None = field(default=None)


def act(
    program: Program, schema: Schema, events: Sequence[Record | Invalid], call: Call, steps: int = STEPS
) -> list[tuple[Effected, ...] | Invalid]:
    """For each event, in order, what is asked for, by actions in source order; or why the event is invalid."""
    active = [
        action
        for action in in_source_order(program, (a for a in program.actions if a.schema is schema))
        if action.meta.status is Status.ACTIVE and action.meta.valid.holds(call.today)
    ]
    with bounded():
        return [
            event if isinstance(event, Invalid) else _effects(active, frame)
            for event, frame in zip(events, frames(events, call, None, steps), strict=True)
        ]


def _effects(active: Sequence[Action], frame: Frame) -> tuple[Effected, ...] | Invalid:
    """As rules: first what applies, then what is not silenced; the first action that overflows is the one named."""
    applying: set[str] = set()
    failed: set[str] = set()
    for action in active:
        try:
            if applies(action, frame):
                applying.add(action.name)
        except Overflow:
            failed.add(action.name)
    silenced_by = silencers(active)
    effects: list[Effected] = []
    for action in active:
        if action.name not in applying or any(name in applying for name in silenced_by.get(action.name, ())):
            continue
        try:
            effects += [_effect(action, called, frame) for called in calls_taken(action, frame)]
        except Overflow:
            failed.add(action.name)
    first = next((action.name for action in active if action.name in failed), None)
    return tuple(effects) if first is None else Invalid(first, Reason.OVERFLOW)


def calls_taken(action: Action, frame: Frame) -> tuple[EffectCall, ...]:
    """Those of the first exception that holds, else the action's own."""
    exception = next((e for e in action.exceptions if evaluate(e.condition, frame)), None)
    return action.calls if exception is None else exception.calls


def _effect(action: Action, called: EffectCall, frame: Frame) -> Effected:
    names = (parameter.name for parameter in called.effect.parameters)
    values = (evaluate(argument, frame) for argument in called.arguments)
    return Effected(action.name, called.effect.name, dict(zip(names, values, strict=True)))


def alerts(program: Program, call: Call, steps: int = STEPS) -> list[Alerted]:
    """By alert in source order, then by record in the order of the memory."""
    budget = Budget(steps)
    found: list[Alerted] = []
    with bounded():
        for alert in program.alerts:
            if alert.meta.status is not Status.ACTIVE or not alert.meta.valid.holds(call.today):
                continue
            records = call.memory[alert.memory]
            assert isinstance(records, Sequence)
            for record in records:
                assert isinstance(record, Mapping)
                frame = Frame(call, budget, variables={alert.variable: record})
                found += _alerted(alert, record, frame)
    return found


def _alerted(alert: Alert, record: Mapping[str, Any], frame: Frame) -> list[Alerted]:
    try:
        if not applies(alert, frame):
            return []
    except Overflow:
        return [unevaluated(alert, record)]
    return [told(alert, record, frame)]


def told(alert: Alert, record: Mapping[str, Any], frame: Frame) -> Alerted:
    """An alert that holds for a record."""
    try:
        return Alerted(alert.name, alert.severity, record, _said(alert, frame))
    except Overflow:
        return unevaluated(alert, record)


def unevaluated(alert: Alert, record: Mapping[str, Any]) -> Alerted:
    """An alert that can't be evaluated must not be silent."""
    return Alerted(alert.name, alert.severity, record, "", Invalid(alert.name, Reason.OVERFLOW))


def _said(alert: Alert, frame: Frame) -> str:
    """Without a `say` the user's own words, else the name."""
    if not alert.say:
        return alert.meta.because or alert.name
    return "".join(
        part if isinstance(part, str) else to_text(evaluate(part, frame), part.type, frame.call.zone)
        for part in alert.say
    )


def query(program: Program, name: str, arguments: Sequence[Value], call: Call, steps: int = STEPS) -> Answer:
    """What a definition of the program answers to arguments of its parameters' types, as many as it has."""
    definition = program.definitions[name]
    names = (parameter.name for parameter in definition.parameters)
    frame = Frame(call, Budget(steps), variables=dict(zip(names, arguments, strict=True)))
    try:
        with bounded():
            return Answer(name, evaluate(definition.body, frame))
    except Overflow:
        return Answer(name, error="a result on the way leaves the range of its type")
