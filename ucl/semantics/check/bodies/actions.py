"""Actions and alerts: what to ask for when something happens, and what to say of a memory.

In: their declarations and module. Out: `program.Action`, `program.Alert`, or None where one is wrong.
"""

from __future__ import annotations

from ucl.diagnostics import Report, Span
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.bodies.meta import check_meta
from ucl.semantics.check.bodies.say import check_say
from ucl.semantics.check.bodies.surroundings import check_applicability
from ucl.semantics.check.expressions import Known, check_condition, check_expression
from ucl.semantics.check.modules import Imported, Module, Own
from ucl.semantics.check.scope import Scope, Wrong
from ucl.syntax import ast

SEVERITIES = ("info", "warning", "critical")
_SEVERITY_IF_UNSAID = "warning"


def check_action(
    declared: ast.Action, schema: p.Schema, overrides: tuple[str, ...], module: Module, report: Report
) -> p.Action | None:
    scope = module.scope(schema)
    name = declared.name
    applies = check_applicability(declared.when, declared.unless, scope, report)
    exceptions = []
    for exception in declared.exceptions:
        condition = check_condition(exception.condition, scope, report, applies.facts)
        calls = _calls(exception.calls, name.text, module, scope, condition.when_true, report)
        exceptions.append(p.DoException(condition.expr, calls))
    meta = check_meta(declared.meta, module, scope, report)
    if declared.calls is None:
        report.add(errors.missing_clause(name.span, "action", name.text, "a `do`", "add an effect, or `do nothing`"))
        return None
    calls = _calls(declared.calls, name.text, module, scope, applies.facts, report)
    return p.Action(
        name.text,
        schema,
        overrides,
        applies.when,
        applies.unless,
        calls,
        tuple(exceptions),
        meta,
        declared.doc,
        name.span,
    )


def _calls(
    declared: tuple[ast.EffectCall, ...], action: str, module: Module, scope: Scope, facts: Known, report: Report
) -> tuple[p.EffectCall, ...]:
    calls: list[p.EffectCall] = []
    first: dict[str, tuple[p.EffectCall, Span]] = {}
    for node in declared:
        effect = _effect(node.effect, module, report)
        if effect is None:
            continue
        if len(node.arguments) != len(effect.parameters):
            wanted = [parameter.name for parameter in effect.parameters]
            report.add(errors.argument_count(node.span, effect.name, wanted, len(node.arguments)))
            continue
        arguments = tuple(
            check_expression(argument, scope, report, facts, parameter.type)
            for argument, parameter in zip(node.arguments, effect.parameters)
        )
        call = p.EffectCall(effect, arguments)
        before, place = first.setdefault(effect.name, (call, node.span))
        if not effect.many and before.arguments != arguments and not _is_wrong(before, call):
            report.add(errors.asked_twice(node.span, action, effect.name, place))
        calls.append(call)
    return tuple(calls)


def _is_wrong(*calls: p.EffectCall) -> bool:
    return any(isinstance(argument.type, t.Unknown) for call in calls for argument in call.arguments)


def _effect(name: ast.Identifier, module: Module, report: Report) -> p.Effect | None:
    found = module.find_path(name.text)
    if isinstance(found, p.Effect):
        return found
    if isinstance(found, Wrong) or module.is_wrong(name.text):
        return None
    if found is None and module.origin(name.text) is None:
        report.add(errors.unknown_reference(name.span, "effect", name.text, _known(module, ast.Effect)))
    else:
        report.add(errors.not_an_effect(name.span, name.text))
    return None


def _known(module: Module, kind: type) -> list[str]:
    return [n for n, e in module.table.items() if isinstance(e, Own | Imported) and isinstance(e.declaration, kind)]


def check_alert(declared: ast.Alert, module: Module, report: Report) -> p.Alert | None:
    memory = _memory(declared.memory, module, report)
    if memory is None:
        return None
    if not isinstance(memory.type, t.List):
        if not isinstance(memory.type, t.Unknown):
            report.add(errors.not_a_list(declared.memory.span, declared.memory.text))
        return None
    record = memory.type.element
    scope = module.scope().with_local(declared.variable.text, record)
    applies = check_applicability(declared.when, declared.unless, scope, report)
    say = () if declared.say is None else check_say(declared.say, scope, applies.facts, report)
    return p.Alert(
        declared.name.text,
        declared.variable.text,
        memory.name,
        record,
        applies.when,
        applies.unless,
        say,
        _severity(declared.severity, report),
        check_meta(declared.meta, module, scope, report),
        declared.doc,
        declared.name.span,
    )


def _memory(name: ast.Identifier, module: Module, report: Report) -> p.MemoryField | None:
    found = module.origin(name.text)
    if found is None:
        if not module.is_wrong(name.text):
            report.add(errors.unknown_reference(name.span, "memory", name.text, module.memory))
        return None
    owner, declared = found
    memory = owner.memory.get(declared.name.text)
    if memory is None:
        if not module.is_wrong(name.text):
            report.add(errors.not_a_list(name.span, name.text))
        return None
    if owner is not module:
        module.helpers[owner] = None
    return memory


def _severity(word: ast.Identifier | None, report: Report) -> str:
    if word is None:
        return _SEVERITY_IF_UNSAID
    if word.text not in SEVERITIES:
        report.add(errors.bad_word(word.span, "severity", word.text, SEVERITIES))
        return _SEVERITY_IF_UNSAID
    return word.text
