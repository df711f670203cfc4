"""Rules, constraints, actions, alerts, properties: the bodies of a module.

In: a module whose declarations are known. Out: the same module, with a typed body for each that is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.bodies.actions import check_action, check_alert
from ucl.semantics.check.bodies.overrides import check_overrides, kind_of
from ucl.semantics.check.bodies.properties import check_prefer, check_property, rules_spoken_of
from ucl.semantics.check.bodies.rules import check_constraint, check_resolutions, check_rule
from ucl.semantics.check.bodies.surroundings import schema_of
from ucl.semantics.check.declarations.constants import has_errors_since
from ucl.semantics.check.modules import BODIES, MOST_WRONG, Body, Module
from ucl.syntax import ast

__all__ = ["MOST_RULES", "AnyBody", "CheckBody", "check_bodies", "check_body", "kind_of", "rules_spoken_of"]

MOST_RULES = 100_000

AnyBody = p.Rule | p.Constraint | p.Action | p.Alert | p.Property | p.Prefer


CheckBody = Callable[[Body, tuple[str, ...], Module, Report], AnyBody | None]
"""What checks one body, given the names that it overrides; None, and a message, where it is wrong."""


def check_body(declared: Body, overrides: tuple[str, ...], module: Module, report: Report) -> AnyBody | None:
    if isinstance(declared, ast.Alert):
        return check_alert(declared, module, report)
    schema = schema_of(declared.schema, module, report)
    if schema is None:
        return None
    match declared:
        case ast.Rule():
            return check_rule(declared, schema, overrides, module, report)
        case ast.Constraint():
            return check_constraint(declared, schema, overrides, module, report)
        case ast.Action():
            return check_action(declared, schema, overrides, module, report)
        case ast.Property():
            return check_property(declared, schema, module, report)
        case ast.Prefer():
            return check_prefer(declared, schema, module, report)
        case _:
            assert_never(declared)


def check_bodies(module: Module, report: Report, check_one: CheckBody = check_body) -> None:
    """Fills in the bodies and the resolutions; a body with a mistake is left out."""
    counted = module.own(ast.Rule, ast.Constraint, ast.Action)
    if len(counted) > MOST_RULES:
        report.add(errors.too_many(counted[MOST_RULES].name.span, "rules, constraints and actions", MOST_RULES))
        return
    check_resolutions(module, report)
    overrides = check_overrides(module, report)
    wrong = 0
    for body in module.own(*BODIES):
        name = body.name.text
        before = len(report.diagnostics)
        checked = check_one(body, overrides.get(name, ()), module, report)
        if has_errors_since(report, before):
            wrong += 1
            if wrong == MOST_WRONG:
                report.add(errors.too_many_mistakes(body.name.span, MOST_WRONG))
                return
        elif checked is not None:
            module.bodies[name] = checked
