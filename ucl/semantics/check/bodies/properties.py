"""Properties and preferences: what a program promises of every option.

In: their declarations and module, whose rules may be spoken of in `expect`. Out: `program.Property`,
`program.Prefer`, or None where one is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.bodies.meta import check_meta
from ucl.semantics.check.expressions import NO_FACTS, check_condition
from ucl.semantics.check.modules import Module
from ucl.semantics.check.scope import Scope
from ucl.semantics.parts import children
from ucl.syntax import ast


def check_property(declared: ast.Property, schema: p.Schema, module: Module, report: Report) -> p.Property | None:
    """What `given` says is known in each `expect`."""
    scope, name = module.scope(schema), declared.name
    given, facts = None, NO_FACTS
    if declared.given is not None:
        checked = check_condition(declared.given, scope, report, NO_FACTS)
        given, facts = checked.expr, checked.when_true.facts
    in_expect = replace(scope, in_expect=True)
    expect = tuple(check_condition(node, in_expect, report, facts).expr for node in declared.expect)
    for condition in expect:
        _check_facts(condition, schema, module, report)
    meta = check_meta(declared.meta, module, scope, report)
    if not expect:
        help = "add such as `expect score > 0`"
        report.add(errors.missing_clause(name.span, "property", name.text, "an `expect`", help))
        return None
    return p.Property(name.text, schema, given, expect, meta, declared.doc, name.span)


def check_prefer(declared: ast.Prefer, schema: p.Schema, module: Module, report: Report) -> p.Prefer | None:
    scope = module.scope(schema)
    better = _side("better", declared.better, declared, scope, report)
    worse = _side("worse", declared.worse, declared, scope, report)
    meta = check_meta(declared.meta, module, scope, report)
    if better is None or worse is None:
        return None
    return p.Prefer(declared.name.text, schema, better, worse, meta, declared.doc, declared.name.span)


def _side(word: str, node: ast.Expr | None, declared: ast.Prefer, scope: Scope, report: Report) -> p.Expr | None:
    if node is None:
        name, help = declared.name, f"add `{word}` and a condition"
        report.add(errors.missing_clause(name.span, "preference", name.text, f"a `{word}`", help))
        return None
    return check_condition(node, scope, report, NO_FACTS).expr


def rules_spoken_of(expr: p.Expr) -> Iterator[p.RuleFact]:
    """Every `fires(r)` and its like in an expression."""
    if isinstance(expr, p.RuleFact):
        yield expr
    for child in children(expr):
        yield from rules_spoken_of(child)


def _check_facts(expr: p.Expr, schema: p.Schema, module: Module, report: Report) -> None:
    """A property speaks of rules on its own schema: those on another say nothing of its options."""
    for fact in rules_spoken_of(expr):
        found = module.origin(fact.rule)
        if found is None or not isinstance(found[1], ast.Rule | ast.Constraint):
            continue
        other = found[0].find_path(found[1].schema.text)
        if isinstance(other, p.Schema) and other is not schema:
            report.add(errors.fact_of_other_schema(fact.span, fact.rule, schema.name, other.name))
