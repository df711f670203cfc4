"""A program with errors, without what they make meaningless.

In: the program of a file with mistakes. Out: the same one without schemas that have a field of an unknown type, and
without what is on them, or has a part of an unknown type, so that no later pass meets the type Unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.bodies import AnyBody, rules_spoken_of
from ucl.semantics.parts import children


def without_what_is_wrong(program: p.Program) -> p.Program:
    context = tuple(f for f in program.context if _is_known(f.type))
    memory = tuple(m for m in program.memory if _is_known(m.type))
    rules = tuple(rule for rule in program.rules if _is_sound(rule))
    constraints = tuple(constraint for constraint in program.constraints if _is_sound(constraint))
    names = {rule.name for rule in rules} | {constraint.name for constraint in constraints}
    return replace(
        program,
        schemas={name: schema for name, schema in program.schemas.items() if _is_known(t.Record(schema))},
        context=context,
        memory=memory,
        definitions={name: d for name, d in program.definitions.items() if _is_sound_expression(d.body)},
        rules=tuple(replace(r, overrides=tuple(o for o in r.overrides if o in names)) for r in rules),
        constraints=tuple(replace(c, overrides=tuple(o for o in c.overrides if o in names)) for c in constraints),
        actions=_sound_actions(program.actions),
        alerts=tuple(alert for alert in program.alerts if _is_sound(alert)),
        properties=tuple(
            promise
            for promise in program.properties
            if _is_sound(promise) and all(fact.rule in names for e in _parts(promise) for fact in rules_spoken_of(e))
        ),
    )


def _sound_actions(actions: tuple[p.Action, ...]) -> tuple[p.Action, ...]:
    sound = [action for action in actions if _is_sound(action)]
    names = {action.name for action in sound}
    return tuple(replace(a, overrides=tuple(o for o in a.overrides if o in names)) for a in sound)


def _is_sound(body: AnyBody) -> bool:
    record = body.record if isinstance(body, p.Alert) else t.Record(body.schema)
    return _is_known(record) and all(_is_sound_expression(part) for part in _parts(body))


def _is_sound_expression(expr: p.Expr) -> bool:
    return _is_known(expr.type) and all(_is_sound_expression(child) for child in children(expr))


def _is_known(type: t.Type) -> bool:
    """Whether no part of a type is Unknown. A schema can't contain itself, so this ends."""
    match type:
        case t.Unknown():
            return False
        case t.Optional(inner):
            return _is_known(inner)
        case t.List(element):
            return _is_known(element)
        case t.Record(schema):
            return all(_is_known(field.type) for field in schema.fields)
        case _:
            return True


def _parts(body: AnyBody) -> Iterator[p.Expr]:
    """Every expression of a body."""
    match body:
        case p.Rule():
            yield from (body.score, *(part for e in body.exceptions for part in (e.condition, e.score)))
        case p.Constraint(require=require) if require is not None:
            yield require
        case p.Action():
            calls = (*body.calls, *(call for e in body.exceptions for call in e.calls))
            yield from (argument for call in calls for argument in call.arguments)
            yield from (e.condition for e in body.exceptions)
        case p.Alert():
            yield from (part for part in body.say if not isinstance(part, str))
        case p.Property():
            yield from (*body.expect, *(() if body.given is None else (body.given,)))
        case p.Prefer():
            yield from (body.better, body.worse)
        case _:
            pass
    if isinstance(body, p.Rule | p.Constraint | p.Action | p.Alert):
        yield from (*body.unless, *(() if body.when is None else (body.when,)))
