"""Calls: builtins, the user's functions, presence, the batch, and what only `expect` can ask.

In: `Call` nodes and their place. Out: `Apply` by the signature that fits, `DefCall`, `Present`, `BatchValue`,
`RuleFact`.
A user's function comes before a builtin of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ucl.diagnostics import Diagnostic
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import FUNCTIONS, SPECIAL_FORMS, Builtin, SetOf, Signature, Var
from ucl.semantics.check.expressions.conditions import infer_present
from ucl.semantics.check.expressions.constants import applied
from ucl.semantics.check.expressions.facts import NO_FACTS
from ucl.semantics.check.expressions.fitting import instead_of
from ucl.semantics.check.expressions.measure import loops_of_definition
from ucl.semantics.check.expressions.names import find, kind_of, usage_of, values_of
from ucl.semantics.check.expressions.operators import ORDERED, overload, plain
from ucl.semantics.check.expressions.place import Place, is_wrong, wrong
from ucl.semantics.check.scope import Global, ModuleName, RuleName, Wrong
from ucl.semantics.foreign import function_meant, standard_import
from ucl.semantics.types import BOOL, FLOAT, INT, Type
from ucl.syntax import ast

# Comprehensions within comprehensions, those of the defs that they call included.
MOST_LOOPS = 3
_BATCH: dict[str, Type] = {"lowest": BOOL, "highest": BOOL, "rank_of": INT}
_NUMERIC = (t.Int, t.Float, t.Quantity, t.Duration)
# The special forms that are called like functions; the others are comprehensions.
_OF_ONE_VALUE = ("present", "absent", *_BATCH, "mean_of", "fires", "applies", "contribution")


def infer_call(node: ast.Call, place: Place, hint: Type | None) -> p.Expr:
    function = node.function
    if isinstance(function, ast.Name):
        return _call_by_name(node, function, place)
    if isinstance(function, ast.Attribute):
        return _call_by_attribute(node, function, place)
    for argument in node.arguments:
        place.infer(argument)
    return place.refuse(errors.not_a_function(function.span, errors.quote(function.span), "no name of a function"))


def _call_by_name(node: ast.Call, function: ast.Name, place: Place) -> p.Expr:
    name = function.text
    found = place.scope.find_global(name)
    if isinstance(found, (p.Definition, Wrong)):
        return _call_found(found, node, name, place)
    if name in FUNCTIONS:
        return _call_builtin(FUNCTIONS[name], node, place)
    if name in SPECIAL_FORMS:
        return _call_special(name, node, place)
    if found is not None:
        return _call_found(found, node, name, place)
    arguments = [place.infer(argument) for argument in node.arguments]
    if values_of(name, function.span, place.scope):
        if name in place.scope.taken_twice:
            return wrong(node.span)
        return place.refuse(errors.not_a_function(function.span, name, "a value", _without_call(node)))
    instead = _call_instead(name, arguments) or standard_import(name)
    help = None if instead is None else f"write `{instead}`"
    return place.refuse(errors.unknown_name(function.span, name, place.near(_known_functions(place)), help))


def _call_instead(name: str, arguments: Sequence[p.Expr]) -> str | None:
    """`length(t)` for `len(t)`, and for a set `size(t)`."""
    meant = function_meant(name)
    if meant is None:
        return None
    written = ", ".join(errors.quote(argument.span) for argument in arguments)
    first = arguments[0].type if arguments else None
    if meant == "length" and isinstance(first, t.List):
        meant = "count"
    if meant in SPECIAL_FORMS and meant not in _OF_ONE_VALUE:
        return SPECIAL_FORMS[meant].usage
    return f"{'size' if meant == 'length' and isinstance(first, t.Set) else meant}({written})"


def _without_call(node: ast.Call) -> str | None:
    """`start.date()` is `start.date`."""
    return None if node.arguments else f"write `{errors.quote(node.function.span)}`"


def _known_functions(place: Place) -> Iterator[str]:
    yield from FUNCTIONS
    yield from SPECIAL_FORMS
    yield from place.scope.global_names()


def _call_by_attribute(node: ast.Call, function: ast.Attribute, place: Place) -> p.Expr:
    """`base.f(x)` of a module; `name.contains("x")`, which is `contains(name, "x")`."""
    if isinstance(function.value, ast.Name):
        module = place.scope.find_global(function.value.text)
        if isinstance(module, ModuleName):
            found = find(function, place)
            if isinstance(found, p.Typed):
                return wrong(node.span)
            return _call_found(found, node, errors.quote(function.span), place)
    if function.name in FUNCTIONS or function.name in _OF_ONE_VALUE or _is_definition(function.name, place):
        written = ", ".join(errors.quote(part.span) for part in (function.value, *node.arguments))
        return place.refuse(errors.method_call(function.name_span, function.name, f"{function.name}({written})"))
    if function_meant(function.name) is not None:
        parts = [place.infer(part) for part in (function.value, *node.arguments)]
        call = _call_instead(function.name, parts)
        if isinstance(parts[0].type, t.Unknown) or call is None:
            return wrong(node.span)
        return place.refuse(errors.method_call(function.name_span, function.name, call))
    found = find(function, place)
    if isinstance(found, p.Typed) and isinstance(found.type, t.Unknown):
        return wrong(node.span)
    name = errors.quote(function.span)
    return place.refuse(errors.not_a_function(function.span, name, "a value", _without_call(node)))


def _is_definition(name: str, place: Place) -> bool:
    return isinstance(place.scope.find_global(name), p.Definition)


def _call_found(found: Global, node: ast.Call, name: str, place: Place) -> p.Expr:
    if isinstance(found, p.Definition):
        return _call_definition(found, node, name, place)
    for argument in node.arguments:
        place.infer(argument)
    if isinstance(found, Wrong):
        return wrong(node.span)
    if name in place.scope.taken_twice:
        return wrong(node.span)
    return place.refuse(errors.not_a_function(node.function.span, name, kind_of(found)))


def _call_definition(definition: p.Definition, node: ast.Call, name: str, place: Place) -> p.Expr:
    parameters = definition.parameters
    if len(parameters) != len(node.arguments):
        for argument in node.arguments:
            place.infer(argument)
        usage = f"it is `{usage_of(definition)}`"
        return place.refuse(errors.wrong_arguments(node.span, name, len(parameters), len(node.arguments), usage))
    if place.loops + loops_of_definition(definition) > MOST_LOOPS:
        return place.refuse(errors.nested_too_deep(node.span, MOST_LOOPS))
    arguments = tuple(place.check(a, parameter.type) for a, parameter in zip(node.arguments, parameters, strict=True))
    if any(isinstance(a.type, t.Unknown) for a in arguments):
        return wrong(node.span)
    return p.DefCall(definition.result, node.span, definition, arguments)


# --- builtins -------------------------------------------------------------------------------------------------------


def _call_builtin(builtin: Builtin, node: ast.Call, place: Place) -> p.Expr:
    wanted = len(builtin.signatures[0].parameters)
    if len(node.arguments) != wanted:
        for argument in node.arguments:
            place.infer(argument)
        usage = f"as in `{builtin.example}`"
        return place.refuse(errors.wrong_arguments(node.span, builtin.name, wanted, len(node.arguments), usage))
    arguments = _arguments(node.arguments, builtin, place)
    if is_wrong(*arguments):
        return wrong(node.span)
    found = overload(builtin.signatures, arguments)
    if found is None:
        return place.refuse(_misfit(builtin, arguments))
    type, signature, arguments = found
    if builtin.name == "near" and _not_positive(arguments[2]):
        return place.refuse(errors.tolerance_not_positive(arguments[2].span))
    result = applied(type, node.span, signature, arguments)
    if isinstance(result, p.Apply) and not signature.zoned and all(isinstance(a, p.Const) for a in arguments):
        return place.refuse(errors.constant_out_of_range(node.span))
    return result


def _arguments(nodes: Sequence[ast.Expr], builtin: Builtin, place: Place) -> tuple[p.Expr, ...]:
    """The arguments, each present; what adapts does so to what it stands beside, or to what is wanted there."""
    arguments: list[p.Expr] = []
    beside: Type | None = None
    for i, node in enumerate(nodes):
        argument = place.present(node, _ONLY_TYPES[builtin.name][i] or beside)
        arguments.append(argument)
        if beside is None and not isinstance(argument.type, t.Unknown):
            beside = argument.type
    first = arguments[0].type
    if isinstance(first, t.Set) and isinstance(beside, t.Set) and len(arguments) == 2:
        second = arguments[1].type
        if isinstance(nodes[0], ast.SetLiteral) and isinstance(second, t.Set) and second != first:
            arguments[0] = place.present(nodes[0], second)
    return tuple(arguments)


def _only_type(signatures: Sequence[Signature], index: int) -> Type | None:
    """The type that an argument has in every overload, if it is one."""
    patterns = {signature.parameters[index] for signature in signatures}
    only = patterns.pop()
    return None if patterns or isinstance(only, Var | SetOf) else only


_ONLY_TYPES = {
    name: tuple(_only_type(builtin.signatures, i) for i in range(len(builtin.signatures[0].parameters)))
    for name, builtin in FUNCTIONS.items()
}


def _misfit(builtin: Builtin, arguments: Sequence[p.Expr]) -> Diagnostic:
    """The first argument that no overload takes after those before it."""
    possible = list(builtin.signatures)
    for i, argument in enumerate(arguments):
        still = [s for s in possible if overload([_first(s, i + 1)], arguments[: i + 1]) is not None]
        if not still:
            wanted = _wanted(possible, i, arguments)
            if isinstance(wanted, str):
                return errors.wrong_kind(argument.span, argument.type, wanted)
            return errors.mismatch(argument.span, argument.type, wanted, instead_of(argument, wanted))
        possible = still
    return errors.wrong_kind(arguments[-1].span, arguments[-1].type, "another type")


def _first(signature: Signature, count: int) -> Signature:
    """The signature of the first few arguments alone."""
    return Signature(signature.op, signature.parameters[:count], BOOL, signature.run)


def _wanted(signatures: Sequence[Signature], index: int, arguments: Sequence[p.Expr]) -> Type | str:
    """The type wanted of an argument, or in words, where several would do."""
    pattern = signatures[0].parameters[index]
    for i, parameter in enumerate(signatures[0].parameters[:index]):
        if parameter == pattern and isinstance(pattern, Var | SetOf):
            return plain(arguments[i].type)
    if len(signatures) == 1:
        match pattern:
            case SetOf():
                return "a set"
            case Var():
                return "a number, a quantity, a duration, a date or a time"
            case _:
                return pattern
    names = [str(s.parameters[index]) for s in signatures if not isinstance(s.parameters[index], Var | SetOf)]
    return " or ".join(f"`{name}`" for name in dict.fromkeys(names)) + " or a quantity"


def _not_positive(tolerance: p.Expr) -> bool:
    return isinstance(tolerance, p.Const) and isinstance(tolerance.value, int | float) and tolerance.value <= 0


# --- special forms --------------------------------------------------------------------------------------------------


def _call_special(name: str, node: ast.Call, place: Place) -> p.Expr:
    form = SPECIAL_FORMS[name]
    if name in ("fires", "applies", "contribution"):
        return _rule_fact(name, node, place)
    if name not in (*_BATCH, "mean_of", "present", "absent"):  # a comprehension's word
        return place.refuse(errors.wrong_form(node.span, name, form.usage))
    if len(node.arguments) != 1:
        usage = f"it is `{form.usage}`"
        return place.refuse(errors.wrong_arguments(node.span, name, 1, len(node.arguments), usage))
    if name in ("present", "absent"):
        return infer_present(node, name == "absent", place)
    return _batch_value(name, node, place)


def _batch_value(name: str, node: ast.Call, place: Place) -> p.Expr:
    if place.scope.option is None:
        return place.refuse(errors.batch_in_function(node.span, name))
    if place.loops:
        return place.refuse(errors.batch_in_loop(node.span, name))
    argument = place.knowing(NO_FACTS).present(node.arguments[0])
    if isinstance(argument.type, t.Unknown):
        return wrong(node.span)
    if not isinstance(argument.type, _NUMERIC if name == "mean_of" else ORDERED):
        kinds = "a number, a quantity or a duration" if name == "mean_of" else "a number, a quantity or a time"
        return place.refuse(errors.wrong_kind(argument.span, argument.type, kinds))
    mean = FLOAT if isinstance(argument.type, t.Int) else argument.type
    return p.BatchValue(_BATCH.get(name, mean), node.span, name, argument)


def _rule_fact(name: str, node: ast.Call, place: Place) -> p.Expr:
    if not place.scope.in_expect:
        return place.refuse(errors.expect_only(node.span, name))
    if len(node.arguments) != 1:
        usage = f"it is `{SPECIAL_FORMS[name].usage}`"
        return place.refuse(errors.wrong_arguments(node.span, name, 1, len(node.arguments), usage))
    rule = node.arguments[0]
    if not isinstance(rule, ast.Name):
        return place.refuse(errors.not_a_rule(rule.span, errors.quote(rule.span)))
    found = place.scope.find_global(rule.text)
    if isinstance(found, Wrong) or rule.text in place.scope.taken_twice:
        return wrong(node.span)
    if found is None:
        return place.refuse(errors.unknown_rule(rule.span, rule.text, place.near(_known_rules(place))))
    if not isinstance(found, RuleName):
        return place.refuse(errors.not_a_rule(rule.span, rule.text))
    if name != "applies" and found.kind != "rule":
        return place.refuse(errors.only_applies(rule.span, rule.text, name))
    return p.RuleFact(FLOAT if name == "contribution" else BOOL, node.span, name, found.name)


def _known_rules(place: Place) -> Iterator[str]:
    for name in place.scope.global_names():
        if isinstance(place.scope.find_global(name), RuleName):
            yield name
