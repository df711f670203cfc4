"""Names and the parts of values: what `x`, `option.x`, `base.limit` and `start.date` mean.

In: a name or an attribute and its place. Out: a path, a constant, a part; or, where the caller asks with `find`, the
thing itself, which may be no value (a range, a function, a schema).

A bare name is looked up in all places at once. Two meanings are an error, never a matter of which comes first; only
what can be a value counts, so a rule may be called like a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ucl.diagnostics import Diagnostic, Span
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import FUNCTIONS, PARTS, SPECIAL_FORMS
from ucl.semantics.check.expressions.constants import applied
from ucl.semantics.check.expressions.facts import path_of
from ucl.semantics.check.expressions.place import Place, wrong
from ucl.semantics.check.scope import Global, ModuleName, RangeLet, RuleName, Scope, Wrong
from ucl.semantics.foreign import NULLS, function_meant, standard_import, weekday_meant
from ucl.semantics.outcome import Decision
from ucl.semantics.types import BOOL, FLOAT, Type
from ucl.syntax import ast

# What `expect` can ask of an option, next to its fields.
OUTCOMES: dict[str, Type] = {
    "score": FLOAT,
    "feasible": BOOL,
    "contested": BOOL,
    "decision": t.Closed(tuple(str(decision) for decision in Decision)),
}
# The local parts with the types that they have.
_PARTS = {
    (type(owner), name): (signature, signature.result_for((owner,)) or t.UNKNOWN)
    for (owner, name), signature in PARTS.items()
}
_NAMED_VALUES = (p.Let, RangeLet)
_PREFIXES = ("option", "context", "memory")
_MEANINGS = {
    p.OptionValue: "a field of the option",
    p.ContextValue: "a field of the context",
    p.MemoryValue: "a memory",
    p.OutcomeValue: "what is said of the option",
    p.Variable: "a parameter or variable",
}


def infer_name(node: ast.Name, place: Place, hint: Type | None) -> p.Expr:
    return as_value(_find_name(node, place, hint), node, place, hint)


def infer_attribute(node: ast.Attribute, place: Place, hint: Type | None) -> p.Expr:
    return as_value(find(node, place), node, place)


def find(node: ast.Name | ast.Attribute, place: Place) -> p.Expr | Global:
    """What a name or an attribute stands for; Unknown, with a message, where it stands for nothing."""
    return _find_name(node, place) if isinstance(node, ast.Name) else _find_attribute(node, place)


def as_value(found: p.Expr | Global, node: ast.Expr, place: Place, hint: Type | None = None) -> p.Expr:
    """What was found, where it is a value; a message and Unknown where it is none."""
    if isinstance(found, p.Typed):
        return found
    name = errors.quote(node.span)
    match found:
        case Wrong():
            return wrong(node.span)
        case p.Let():
            return let_value(found, node.span)
        case RangeLet():
            return place.refuse(errors.range_misplaced(node.span, name))
        case _ if name in place.scope.taken_twice:
            return wrong(node.span)
        case p.Definition():
            return place.refuse(errors.not_called(node.span, name, usage_of(found)))
        case _:
            meant = _unquoted(name, hint)
            help = None if meant is None else f"write `{meant}`"
            return place.refuse(errors.not_a_value(node.span, name, kind_of(found), help))


def let_value(let: p.Let, span: Span) -> p.Expr:
    """A use of a let: its value, or where only a call can tell, the let."""
    if isinstance(let.value, p.Const):
        return p.Const(let.type, span, let.value.value)
    return p.LetValue(let.type, span, let)


def usage_of(definition: p.Definition) -> str:
    parameters = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in definition.parameters)
    return f"{definition.name}({parameters})"


def kind_of(found: Global) -> str:
    match found:
        case p.Let():
            return "a constant"
        case RangeLet():
            return "a range"
        case p.Definition():
            return "a function"
        case p.Schema():
            return "a schema"
        case t.Dimension():
            return "a dimension"
        case p.Effect():
            return "an effect"
        case ModuleName():
            return "a module"
        case RuleName(kind=kind):
            return f"a {kind}"
        case Wrong():
            return "wrong"


# --- bare names -----------------------------------------------------------------------------------------------------


def _find_name(node: ast.Name, place: Place, hint: Type | None = None) -> p.Expr | Global:
    name, scope = node.text, place.scope
    field = scope.plain.get(name)
    if field is not None and name not in scope.locals and not scope.in_expect:
        return _narrowed(p.OptionValue(field.type, node.span, (name,)), place)
    values = values_of(name, node.span, scope)
    found = scope.find_global(name)
    if isinstance(found, _NAMED_VALUES):
        values.append(found)
    if len(values) == 1:
        value = values[0]
        return _narrowed(value, place) if isinstance(value, p.Typed) else value
    if values:
        return place.refuse(_ambiguous(node, values))
    if found is not None:
        return found
    if name in FUNCTIONS or name in SPECIAL_FORMS:
        usage = SPECIAL_FORMS[name].usage if name in SPECIAL_FORMS else FUNCTIONS[name].example
        return place.refuse(errors.not_called(node.span, name, usage))
    if name in OUTCOMES:
        return place.refuse(errors.expect_only(node.span, name))
    help = _instead_of_name(name, hint)
    return place.refuse(errors.unknown_name(node.span, name, place.near(known_names(scope)), help))


def _instead_of_name(name: str, hint: Type | None) -> str | None:
    """What an unknown name was meant to be: a value without its quotes, a weekday, a name of the library."""
    meant = _unquoted(name, hint) or weekday_meant(name) or standard_import(name)
    if meant is None and name in NULLS:
        return "what may be missing has a type such as `int?`, and is tested by `present` and `absent`"
    return None if meant is None else f"write `{meant}`"


def _unquoted(name: str, hint: Type | None) -> str | None:
    """The value of the closed text that is wanted, which a name without quotes was meant to be."""
    wanted = None if hint is None else t.present(hint)
    return f'"{name}"' if isinstance(wanted, t.Closed) and name in wanted.values else None


def values_of(name: str, span: Span, scope: Scope) -> list[p.Expr | p.Let | RangeLet]:
    """All the values that a bare name could mean, lets left out."""
    found: list[p.Expr | p.Let | RangeLet] = []
    if name in scope.locals:
        found.append(p.Variable(scope.locals[name], span, name))
    field = None if scope.option is None else scope.option.field(name)
    if field is not None:
        found.append(p.OptionValue(field.type, span, (name,)))
    field = scope.context.get(name)
    if field is not None:
        found.append(p.ContextValue(field.type, span, (name,)))
    memory = scope.memory.get(name)
    if memory is not None:
        found.append(p.MemoryValue(memory.type, span, name))
    if scope.in_expect and name in OUTCOMES:
        found.append(p.OutcomeValue(OUTCOMES[name], span, name))
    return found


def _narrowed(found: p.Expr, place: Place) -> p.Expr:
    """A path that is known to be present has the type of what is there."""
    if isinstance(found.type, t.Optional) and place.facts.knows_present(path_of(found)):
        return replace(found, type=found.type.inner)
    return found


def _ambiguous(node: ast.Name, values: Sequence[p.Expr | p.Let | RangeLet]) -> Diagnostic:
    meanings: list[str] = []
    replacements: list[str] = []
    for value in values:
        meanings.append(_MEANINGS.get(type(value), "a constant"))
        match value:
            case p.OptionValue():
                replacements.append(f"option.{node.text}")
            case p.ContextValue():
                replacements.append(f"context.{node.text}")
            case p.MemoryValue():
                replacements.append(f"memory.{node.text}")
            case _:
                pass
    can_be_renamed = any(isinstance(value, p.Variable | p.Let | RangeLet) for value in values)
    return errors.ambiguous_name(node.span, node.text, meanings, replacements, can_be_renamed)


def known_names(scope: Scope) -> Iterator[str]:
    """All that could have been meant, the nearest first."""
    yield from scope.locals
    if scope.option is not None:
        yield from (field.name for field in scope.option.fields)
    yield from scope.context
    yield from scope.memory
    yield from ("true", "false")
    yield from scope.global_names()


# --- after a dot ----------------------------------------------------------------------------------------------------


def _find_attribute(node: ast.Attribute, place: Place) -> p.Expr | Global:
    if isinstance(node.value, ast.Name):
        found = _prefixed(node.value.text, node, place)
        if found is not None:
            return found
    owner = find(node.value, place) if isinstance(node.value, (ast.Name, ast.Attribute)) else place.infer(node.value)
    if isinstance(owner, ModuleName):
        member = owner.member(node.name)
        if member is None:
            return place.refuse(
                errors.unknown_member(node.name_span, owner.module, node.name, place.near(owner.names()))
            )
        return member
    return _part(as_value(owner, node.value, place), node, place)


def _prefixed(prefix: str, node: ast.Attribute, place: Place) -> p.Expr | None:
    """`option.x`, `context.x`, `memory.x`; None where the prefix is something else here."""
    if prefix not in _PREFIXES:
        return None
    name, scope = node.name, place.scope
    value: p.Expr | None = None
    if prefix == "option" and scope.option is not None:
        field = scope.option.field(name)
        value = None if field is None else p.OptionValue(field.type, node.span, (name,))
    elif prefix == "context":
        field = scope.context.get(name)
        value = None if field is None else p.ContextValue(field.type, node.span, (name,))
    elif prefix == "memory":
        memory = scope.memory.get(name)
        value = None if memory is None else p.MemoryValue(memory.type, node.span, name)
    if value is not None:
        return _narrowed(value, place)
    if values_of(prefix, node.span, scope) or scope.find_global(prefix) is not None:
        return None
    return place.refuse(_no_such_prefixed(prefix, node, place))


def _no_such_prefixed(prefix: str, node: ast.Attribute, place: Place) -> Diagnostic:
    scope = place.scope
    if prefix == "option" and scope.option is None:
        return errors.nothing_scored_here(node.span, node.name)
    known: Iterable[str]
    if prefix == "option" and scope.option is not None:
        known = (field.name for field in scope.option.fields)
    else:
        known = scope.context if prefix == "context" else scope.memory
    return errors.unknown_prefixed(node.span, prefix, node.name, place.near(known))


def _part(owner: p.Expr, node: ast.Attribute, place: Place) -> p.Expr:
    """A field of a record, or a local part of a time."""
    match owner.type:
        case t.Unknown():
            return wrong(node.span)
        case t.Optional(inner):
            test = function_meant(node.name)
            is_field = isinstance(inner, t.Record) and inner.schema.field(node.name) is not None
            if test in ("present", "absent") and not is_field:
                call = f"{test}({errors.quote(node.value.span)})"
                return place.refuse(errors.method_call(node.name_span, node.name, call))
            return place.absent(owner)
        case t.Record(schema):
            field = schema.field(node.name)
            if field is None:
                names = place.near([f.name for f in schema.fields])
                return place.refuse(errors.unknown_field(node.name_span, node.value.span, owner.type, node.name, names))
            return _narrowed(_field(owner, field, node.span), place)
        case owning:
            part = _PARTS.get((type(owning), node.name))
            if part is None:
                return place.refuse(_no_part(owning, node))
            return applied(part[1], node.span, part[0], (owner,))


def _field(owner: p.Expr, field: p.Field, span: Span) -> p.Expr:
    match owner:
        case p.OptionValue(path=path):
            return p.OptionValue(field.type, span, (*path, field.name))
        case p.ContextValue(path=path):
            return p.ContextValue(field.type, span, (*path, field.name))
        case _:
            return p.Member(field.type, span, owner, field.name)


def _no_part(type: Type, node: ast.Attribute) -> Diagnostic:
    function = node.name if node.name in FUNCTIONS else function_meant(node.name)
    if function is not None and function in SPECIAL_FORMS and function not in ("present", "absent"):
        return errors.method_call(node.name_span, node.name, SPECIAL_FORMS[function].usage)
    if function is not None:
        return errors.method_call(node.name_span, node.name, f"{function}({errors.quote(node.value.span)})")
    known = [name for owner, name in PARTS if owner == type]
    return errors.unknown_field(node.name_span, node.value.span, type, node.name, known)
