"""What the bodies of rules, constraints, actions and alerts share: their schema, and when they apply.

In: `on S`, `when` and `unless` as written. Out: the schema; the typed conditions, and the facts that hold in the other
clauses. A `when` holds in all of them, in whatever order they are written, and so does that no `unless` holds; of
several `unless` each knows that those before it do not (LANGUAGE §6).
"""

from __future__ import annotations

from ucl.diagnostics import Report
from ucl.frozen import frozen
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.expressions import NO_FACTS, Known, check_condition
from ucl.semantics.check.modules import Imported, Module, Own
from ucl.semantics.check.scope import Scope, Wrong
from ucl.syntax import ast


@frozen
class Applicability:
    """`facts` are what is known where the body applies."""

    when: p.Expr | None
    unless: tuple[p.Expr, ...]
    facts: Known


def check_applicability(
    when: ast.Expr | None, unless: tuple[ast.Expr, ...], scope: Scope, report: Report
) -> Applicability:
    facts: Known = NO_FACTS
    condition = None
    if when is not None:
        checked = check_condition(when, scope, report, facts)
        condition, facts = checked.expr, checked.when_true
    exceptions = []
    for node in unless:
        checked = check_condition(node, scope, report, facts)
        exceptions.append(checked.expr)
        facts = checked.when_false
    return Applicability(condition, tuple(exceptions), facts)


def schema_of(name: ast.Identifier, module: Module, report: Report) -> p.Schema | None:
    """The schema that a body is on, or None where there is none."""
    found = module.find_path(name.text)
    if isinstance(found, p.Schema):
        return found
    if isinstance(found, Wrong) or module.is_wrong(name.text):
        return None
    if found is None and module.origin(name.text) is None:
        known = [
            n
            for n, e in module.table.items()
            if isinstance(e, Own | Imported) and isinstance(e.declaration, ast.Schema)
        ]
        report.add(errors.unknown_reference(name.span, "schema", name.text, known))
    else:
        report.add(errors.not_a_schema(name.span, name.text))
    return None
