"""What overrides what: names to a graph without cycles.

In: the rules, constraints and actions of a module. Out: for each of them the names that it overrides, where they are
right: of one kind, on one schema, each once, and in no circle. Only a module's own can form a circle, since what is
imported can't name what imports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.graph import cycles
from ucl.semantics.check.modules import MOST_WRONG, Imported, Module, Named, Own
from ucl.semantics.check.scope import Global
from ucl.syntax import ast

Overriding = ast.Rule | ast.Constraint | ast.Action

_KINDS: Mapping[type, str] = {
    ast.Dimension: "dimension",
    ast.Schema: "schema",
    ast.Memory: "memory",
    ast.Let: "let",
    ast.Def: "def",
    ast.Rule: "rule",
    ast.Constraint: "constraint",
    ast.Effect: "effect",
    ast.Action: "action",
    ast.Alert: "alert",
    ast.Property: "property",
    ast.Prefer: "prefer",
}


def kind_of(declaration: Named) -> str:
    """The word that declares it."""
    return _KINDS[type(declaration)]


def check_overrides(module: Module, report: Report) -> dict[str, tuple[str, ...]]:
    """By the name of what overrides."""
    declared: dict[str, Overriding] = {
        d.name.text: d for d in module.own(ast.Rule, ast.Constraint, ast.Action) if d.overrides
    }
    found: dict[str, tuple[str, ...]] = {}
    start = len(report.diagnostics)
    for name, declaration in declared.items():
        if len(report.diagnostics) - start >= MOST_WRONG:
            report.add(errors.too_many_mistakes(declaration.name.span, MOST_WRONG))
            break
        found[name] = _targets(declaration, module, report)
    for cycle in cycles(found, lambda name: found.get(name, ())):
        circle = frozenset(cycle)
        members = sorted(cycle, key=lambda name: declared[name].span.in_document.start)
        first = declared[members[0]]
        place = next(target.span for target in first.overrides if target.text in circle)
        report.add(errors.override_cycle(place, members, [(n, declared[n].name.span) for n in members[1:]]))
        for name in members:
            found[name] = tuple(target for target in found[name] if target not in circle)
    return found


def _targets(declared: Overriding, module: Module, report: Report) -> tuple[str, ...]:
    schema = module.find_path(declared.schema.text)
    first: dict[str, ast.Identifier] = {}
    for target in declared.overrides:
        if target.text in first:
            report.add(errors.overridden_twice(target.span, target.text, first[target.text].span))
        elif _is_right(target, declared, schema, module, report):
            first[target.text] = target
    return tuple(first)


def _is_right(
    target: ast.Identifier, declared: Overriding, schema: Global | None, module: Module, report: Report
) -> bool:
    kind, name = kind_of(declared), target.text
    found = module.origin(name)
    if found is None:
        if not module.is_wrong(name):
            report.add(errors.unknown_reference(target.span, kind, name, _known(declared, module)))
        return False
    owner, other = found
    if type(other) is not type(declared):
        if not module.is_wrong(name):
            report.add(errors.bad_override(target.span, name, kind, kind_of(other), other.name.span))
        return False
    assert isinstance(other, ast.Rule | ast.Constraint | ast.Action)
    theirs = owner.find_path(other.schema.text)
    if not isinstance(schema, p.Schema) or not isinstance(theirs, p.Schema):
        return False
    if schema is not theirs:
        report.add(errors.other_schema(target.span, name, schema.name, theirs.name, other.name.span))
        return False
    return True


def _known(declared: Overriding, module: Module) -> Iterator[str]:
    return (
        name
        for name, entry in module.table.items()
        if isinstance(entry, Own | Imported) and type(entry.declaration) is type(declared)
    )
