"""Fields: what stands in a schema and in the context.

In: field declarations and their module. Out: `program.Field`s; one with a mistake has the type Unknown where its type
can't be told, and no domain or default where that is wrong.

A field's domain means what `field in domain` means in a condition, so it is checked as that very test.
"""

from __future__ import annotations

from ucl.diagnostics import Report, Span
from ucl.frozen import frozen
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.declarations.constants import check_constant
from ucl.semantics.check.declarations.written_types import written_type
from ucl.semantics.check.expressions import check_expression
from ucl.semantics.check.modules import ALWAYS_IN_CONTEXT, Module
from ucl.semantics.check.scope import Scope
from ucl.semantics.foreign import NULLS
from ucl.semantics.types import BOOL, DURATION_UNITS, UNKNOWN, Type, Unit
from ucl.syntax import ast


def check_fields(declared: tuple[ast.FieldDeclaration, ...], module: Module, report: Report) -> tuple[p.Field, ...]:
    """The fields in order; of two with one name the first counts, and each reads a column of its own."""
    found: dict[str, p.Field] = {}
    columns: dict[str, Span] = {}
    for node in declared:
        name = node.name.text
        first = found.get(name)
        if first is not None:
            report.add(errors.duplicate_name(node.name.span, name, first.span, "field"))
            continue
        checked = _field(node, module, report)
        found[name] = checked
        place = node.name.span if node.column is None else node.column.span
        if checked.column in columns:
            report.add(errors.shared_column(place, checked.column, columns[checked.column]))
        columns.setdefault(checked.column, place)
    return tuple(found.values())


def check_context(module: Module, report: Report) -> None:
    """Fills in the module's context, without the `now` and `today` that every context has."""
    unknown_context(module)
    declared = []
    for node in _context_fields(module):
        if node.name.text in ALWAYS_IN_CONTEXT:
            report.add(errors.reserved_context_field(node.name.span, node.name.text))
        else:
            declared.append(node)
    module.context.update({field.name: field for field in check_fields(tuple(declared), module, report)})


def unknown_context(module: Module) -> None:
    """The context of a module in which it can't be told: its fields are there, and say nothing."""
    for node in _context_fields(module):
        name = node.name.text
        unknown = p.Field(name, UNKNOWN, None, name, None, None, node.doc, node.name.span)
        module.context.setdefault(name, unknown)


def _context_fields(module: Module) -> list[ast.FieldDeclaration]:
    """Of all `context` blocks together."""
    return [field for d in module.file.declarations if isinstance(d, ast.Context) for field in d.fields]


def _field(node: ast.FieldDeclaration, module: Module, report: Report) -> p.Field:
    name = node.name.text
    type = written_type(node.type, module, report)
    domain = None if node.domain is None else _domain(node.name, node.domain, type, module, report)
    unit = None if node.unit is None else _unit(node.unit, type, module, report)
    default = None
    if isinstance(node.default, ast.Name) and node.default.text in NULLS and module.find(node.default.text) is None:
        report.add(errors.null_default(node.default.span, node.default.text, isinstance(type, t.Optional)))
    elif node.default is not None:
        default = check_constant(node.default, module.scope(), report, type)
        if default is not None and node.domain is not None and domain is not None and _outside(default, domain):
            report.add(errors.default_outside(node.default.span, name, node.domain.span))
    column = name if node.column is None else node.column.value
    return p.Field(name, type, domain, column, unit, default, node.doc, node.name.span)


def _unit(unit: ast.Identifier, type: Type, module: Module, report: Report) -> Unit | None:
    """The unit that the field's numbers are given in."""
    match t.present(type):
        case t.Unknown():
            return None
        case t.Quantity(dimension):
            possible = dimension.units
        case t.Duration():
            possible = DURATION_UNITS
        case _:
            possible = ()
    found = next((u for u in possible if u.name == unit.text), None)
    if found is None and module.units.get(unit.text) != ():
        report.add(errors.field_unit(unit.span, unit.text, str(t.present(type)), [u.name for u in possible]))
    return found


def _domain(name: ast.Identifier, node: ast.Expr, type: Type, module: Module, report: Report) -> p.Domain | None:
    """What the field's value must lie in, or None where that is wrong."""
    match membership(name, node, t.present(type), module, report):
        case p.InRange(low=low, high=high, inclusive=inclusive, wraps=wraps):
            return p.RangeDomain(low, high, inclusive, wraps)
        case p.InSet(container=p.Const(value=frozenset() as values)):
            return p.SetDomain(values)
        case _:
            return None


def membership(name: ast.Identifier, container: ast.Expr, type: Type, module: Module, report: Report) -> p.Expr | None:
    """The test `name in container` for a value of the type; None where it is wrong.

    What is only to be minded in conditions (that `..` leaves the last day out) is not said of a declaration.
    """
    if isinstance(type, t.Unknown):
        return None
    field = p.Field(name.text, type, None, name.text, None, None, None, name.span)
    subject = p.Schema(module.name, name.text, (field,), None, name.span)
    scope = Scope(module.name, subject, {}, {}, module.find, lambda: (), module.units)
    value = ast.Attribute(name.span, ast.Name(name.span, "option"), name.text, name.span)
    test = ast.In(container.span, value, container, False)
    found = Report()
    checked = check_expression(test, scope, found, wanted=BOOL)
    report.diagnostics.extend(d for d in found.diagnostics if d.code != "exclusive-end")
    return None if found.has_errors else checked


@frozen
class _Moment:
    """The wall clock or the instant of a datetime: only two of one kind can be compared before the zone is known."""

    local: bool
    value: int


def _outside(default: p.Expr, domain: p.Domain) -> bool:
    """Whether a constant certainly lies outside the domain."""
    value = _known(default)
    if isinstance(domain, p.SetDomain):
        return isinstance(value, int | str) and value not in domain.values
    low, high = (None if end is None else _known(end) for end in (domain.low, domain.high))
    from_low = domain.low is None or _compare(low, value)
    to_high = domain.high is None or _compare(value, high, strictly=not domain.inclusive)
    if from_low is None or to_high is None:
        return False
    if domain.wraps and domain.low is not None and domain.high is not None and not _compare(low, high):
        return not (from_low or to_high)
    return not (from_low and to_high)


def _known(expr: p.Expr) -> int | float | str | _Moment | None:
    match expr:
        case p.LocalInstant(local=local):
            return _Moment(True, local)
        case p.Const(type=t.DateTime(), value=int(value)):
            return _Moment(False, value)
        case p.Const(value=int() | float() | str() as value):
            return value
        case _:
            return None


def _compare(low: object, high: object, strictly: bool = False) -> bool | None:
    """Whether low <= high (or low < high); None where that can't be told."""
    match low, high:
        case _Moment(a, x), _Moment(b, y) if a is b:
            return x < y if strictly else x <= y
        case (int() | float()) as x, (int() | float()) as y:
            return x < y if strictly else x <= y
        case _:
            return None
