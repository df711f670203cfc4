"""Declarations in the order in which they need each other: schemas, context, memory, lets, defs, effects.

In: a module, those that it imports being done. Out: the same module, with what each of these means filled in, whatever
the order in which they were written: each is checked after what it mentions. What is defined by itself is `recursion`,
and `Wrong` from then on, so that its uses say nothing.
"""

from __future__ import annotations

from dataclasses import replace

from ucl.diagnostics import Diagnostic, Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.declarations.constants import check_constant, check_constant_range, has_errors_since
from ucl.semantics.check.declarations.extent import expanded_depth, extent_of, size_with_lets
from ucl.semantics.check.declarations.fields import check_context, check_fields, unknown_context
from ucl.semantics.check.declarations.order import CONTEXT, in_order, mentioned
from ucl.semantics.check.declarations.written_types import written_type
from ucl.semantics.check.expressions import check_expression, expanded_size
from ucl.semantics.check.modules import MOST_WRONG, WRONG, Imported, Module
from ucl.semantics.check.scope import Global, RangeLet
from ucl.syntax import ast

# With all calls written out. Analysis writes them out, and the evaluator's stack grows with the depth.
LARGEST_EXPANSION = 10_000
DEEPEST_EXPANSION = 100
# A let whose value depends on the zone is worked out wherever it is used.
LARGEST_LET = 200
# Of a schema, with the records in it written out: each leaf is a column.
DEEPEST_SCHEMA = 100
LARGEST_SCHEMA = 10_000


def check_declarations(module: Module, report: Report) -> None:
    """Fills in all but the bodies; the module's dimensions are done."""
    for name, entry in module.surroundings.items():
        if isinstance(entry, Imported) and isinstance(entry.declaration, ast.Memory):
            brought = entry.module.memory.get(entry.declaration.name.text)
            if brought is not None:
                module.memory[name] = brought
    wrong = 0
    for group in in_order(module):
        before = len(report.diagnostics)
        if wrong > MOST_WRONG:
            _give_up(module, group.names)
        elif group.is_cycle:
            _report_cycle(module, group.names, report)
        elif group.names[0] == CONTEXT:
            check_context(module, report)
        else:
            _check_declaration(module, group.names[0], report)
        wrong += has_errors_since(report, before)
        if wrong == MOST_WRONG:
            report.add(errors.too_many_mistakes(report.diagnostics[-1].span, MOST_WRONG))
            wrong += 1


def _report_cycle(module: Module, names: tuple[str, ...], report: Report) -> None:
    found = [(name, module.places[name]) for name in names if name != CONTEXT]
    places = sorted(found, key=lambda place: place[1].in_document.start)
    report.add(errors.recursion(places[0][1], [name for name, _ in places], places[1:]))
    _give_up(module, names)


def _give_up(module: Module, names: tuple[str, ...]) -> None:
    """Of these declarations no more can be told; their uses say nothing."""
    for name in names:
        declared = module.declared(name)
        if name == CONTEXT:
            unknown_context(module)
        elif isinstance(declared, ast.Memory):
            module.memory[name] = p.MemoryField(name, t.UNKNOWN, None, declared.doc, declared.name.span)
        else:
            module.globals[name] = WRONG


def _check_declaration(module: Module, name: str, report: Report) -> None:
    match module.declared(name):
        case ast.Schema() as schema:
            module.globals[name] = _schema(schema, module, report)
        case ast.Memory() as memory:
            module.memory[name] = _memory(memory, module, report)
        case ast.Let() as let:
            module.globals[name] = _let(let, module, report)
        case ast.Def() as definition:
            module.globals[name] = _definition(definition, module, report)
        case ast.Effect() as effect:
            parameters = check_parameters(effect.parameters, module, report)
            module.globals[name] = p.Effect(name, effect.many, parameters, effect.doc, effect.name.span)


def _schema(declared: ast.Schema, module: Module, report: Report) -> Global:
    fields = check_fields(declared.fields, module, report)
    name = declared.name
    schema = p.Schema(module.name, name.text, fields, declared.doc, name.span)
    extent = extent_of(schema)
    if extent.depth > DEEPEST_SCHEMA:
        report.add(errors.schema_too_deep(name.span, name.text, DEEPEST_SCHEMA))
    elif extent.leaves > LARGEST_SCHEMA:
        report.add(errors.schema_too_large(name.span, name.text, LARGEST_SCHEMA))
    elif module.endless.isdisjoint(mentioned(declared)):
        return schema
    module.endless.add(name.text)
    return WRONG


def _memory(declared: ast.Memory, module: Module, report: Report) -> p.MemoryField:
    type = written_type(declared.type, module, report, lists=True)
    default = None
    if isinstance(type, t.List) and declared.default is not None:
        report.add(errors.default_of_list(declared.default.span))
    elif declared.default is not None:
        default = check_constant(declared.default, module.scope(), report, type)
    return p.MemoryField(declared.name.text, type, default, declared.doc, declared.name.span)


def _let(declared: ast.Let, module: Module, report: Report) -> Global:
    found = _range(declared.name.text, declared.value, module, report)
    if found is not None:
        if declared.type is not None:
            span = declared.type.span
            report.add(errors.range_has_no_type(span, span.source.text[span.start : span.end]))
        return found
    type = None if declared.type is None else written_type(declared.type, module, report)
    value = check_constant(declared.value, module.scope(), report, type, in_let=True)
    if value is None or isinstance(type, t.Unknown):
        return WRONG
    name = declared.name
    if size_with_lets(value) > LARGEST_LET:
        report.add(errors.too_large(name.span, name.text, LARGEST_LET))
        return WRONG
    return p.Let(module.name, name.text, type or value.type, value, declared.doc, name.span)


def _range(name: str, value: ast.Expr, module: Module, report: Report) -> Global | None:
    """The range that a let is, written out or by another let's name; None where it is a value."""
    match value:
        case ast.Range():
            found = check_constant_range(value, module.scope(), report)
            return WRONG if found is None else RangeLet(name, found.element, found.low, found.high, found.inclusive)
        case ast.Name(text=path):
            other = module.find(path)
        case ast.Attribute(value=ast.Name(text=prefix), name=part):
            other = module.find_path(f"{prefix}.{part}")
        case _:
            return None
    return replace(other, name=name) if isinstance(other, RangeLet) else None


def check_parameters(declared: tuple[ast.Parameter, ...], module: Module, report: Report) -> tuple[p.Parameter, ...]:
    """Of a def or an effect; of two with one name the first counts, but both take an argument."""
    first: dict[str, ast.Identifier] = {}
    for parameter in declared:
        name = parameter.name.text
        if name in first:
            report.add(errors.duplicate_name(parameter.name.span, name, first[name].span, "parameter"))
        first.setdefault(name, parameter.name)
    return tuple(p.Parameter(d.name.text, written_type(d.type, module, report)) for d in declared)


def _definition(declared: ast.Def, module: Module, report: Report) -> Global:
    before = len(report.diagnostics)
    name = declared.name.text
    parameters = check_parameters(declared.parameters, module, report)
    result = written_type(declared.result, module, report)
    scope = module.scope()
    for parameter in parameters:
        scope = scope.with_local(parameter.name, parameter.type)
    at_body = len(report.diagnostics)
    body = check_expression(declared.body, scope, report, wanted=result)
    _point_at_option(module, report, at_body)
    if has_errors_since(report, before) or isinstance(body.type, t.Unknown):
        return WRONG
    if expanded_size(body) > LARGEST_EXPANSION:
        report.add(errors.too_large(declared.name.span, name, LARGEST_EXPANSION))
        return WRONG
    if expanded_depth(body) > DEEPEST_EXPANSION:
        report.add(errors.expansion_too_deep(declared.name.span, name, DEEPEST_EXPANSION))
        return WRONG
    return p.Definition(module.name, name, parameters, result, body, declared.doc, declared.name.span)


def _point_at_option(module: Module, report: Report, before: int) -> None:
    """A def that names a field of a schema was meant to read the option."""

    def explained(found: Diagnostic) -> Diagnostic:
        name = found.span.source.text[found.span.start : found.span.end]
        schemas = (g for g in module.globals.values() if isinstance(g, p.Schema))
        if found.code != "unknown-name" or all(schema.field(name) is None for schema in schemas):
            return found
        return errors.option_in_def(found, name)

    report.diagnostics[before:] = [explained(d) for d in report.diagnostics[before:]]
