"""Rules and constraints, and how a schema's rules are weighed against each other.

In: their declarations and module. Out: `program.Rule`, `program.Constraint`, or None where one is wrong; resolutions.
"""

from __future__ import annotations

from ucl.diagnostics import Report, Span
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.bodies.meta import check_meta
from ucl.semantics.check.bodies.surroundings import check_applicability, schema_of
from ucl.semantics.check.expressions import Known, check_condition, check_expression
from ucl.semantics.check.modules import Module
from ucl.semantics.check.scope import Scope
from ucl.semantics.program import Resolution
from ucl.semantics.types import FLOAT
from ucl.syntax import ast

_SCALE = 1.0


def check_rule(
    declared: ast.Rule, schema: p.Schema, overrides: tuple[str, ...], module: Module, report: Report
) -> p.Rule | None:
    scope = module.scope(schema)
    name = declared.name
    applies = check_applicability(declared.when, declared.unless, scope, report)
    exceptions = []
    for exception in declared.exceptions:
        condition = check_condition(exception.condition, scope, report, applies.facts)
        value = _score(exception.score, scope, condition.when_true, report)
        exceptions.append(p.ScoreException(condition.expr, value))
    meta = check_meta(declared.meta, module, scope, report)
    if declared.score is None:
        report.add(errors.missing_clause(name.span, "rule", name.text, "a `score`", "add such as `score 0.5`"))
        return None
    score = _score(declared.score, scope, applies.facts, report)
    return p.Rule(
        name.text,
        schema,
        overrides,
        applies.when,
        applies.unless,
        score,
        tuple(exceptions),
        meta,
        declared.doc,
        name.span,
    )


def _score(node: ast.Expr, scope: Scope, facts: Known, report: Report) -> p.Expr:
    checked = check_expression(node, scope, report, facts, FLOAT)
    if isinstance(checked, p.Const) and isinstance(checked.value, float) and abs(checked.value) > _SCALE:
        report.add(errors.ill_scaled(node.span))
    return checked


def check_constraint(
    declared: ast.Constraint, schema: p.Schema, overrides: tuple[str, ...], module: Module, report: Report
) -> p.Constraint | None:
    if not _says_one_thing(declared, report):
        return None
    scope = module.scope(schema)
    condition = declared.when if declared.forbid is None else declared.forbid
    applies = check_applicability(condition, declared.unless, scope, report)
    require = None
    if declared.require is not None:
        require = check_condition(declared.require, scope, report, applies.facts).expr
    meta = check_meta(declared.meta, module, scope, report)
    return p.Constraint(
        declared.name.text,
        schema,
        overrides,
        applies.when,
        applies.unless,
        require,
        meta,
        declared.doc,
        declared.name.span,
    )


def _says_one_thing(declared: ast.Constraint, report: Report) -> bool:
    """Either `forbid when`, or `require`, perhaps with `when`."""
    name = declared.name
    if declared.forbid is None and declared.require is None:
        needs = "a `forbid when` or a `require`"
        report.add(errors.missing_clause(name.span, "constraint", name.text, needs, "add one of the two"))
    elif declared.forbid is not None and declared.require is not None:
        report.add(errors.forbid_and_require(declared.require.span, name.text))
    elif declared.forbid is not None and declared.when is not None:
        report.add(errors.forbid_with_when(declared.when.span, name.text))
    else:
        return True
    return False


def check_resolutions(module: Module, report: Report) -> None:
    """Fills in how each schema's rules are weighed, by the schema's name; said at most once for each."""
    first: dict[p.Schema, Span] = {}
    for declared in module.file.declarations:
        if not isinstance(declared, ast.Resolve):
            continue
        method = declared.method
        known = [str(r) for r in Resolution]
        if method.text not in known:
            report.add(errors.bad_word(method.span, "way to resolve", method.text, known))
        schema = schema_of(declared.schema, module, report)
        if schema is None:
            continue
        if schema in first:
            report.add(errors.resolved_twice(declared.span, schema.name, first[schema]))
        elif method.text in known:
            first[schema] = declared.span
            module.resolutions[schema] = Resolution(method.text)
