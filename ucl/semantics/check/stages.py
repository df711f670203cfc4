"""The stages of a check, module by module, which a first check and one after an edit have in common.

In: modules whose names are known. Out: the same modules, filled in, and the `Program` of the last of them.
"""

from __future__ import annotations

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics.check.assemble import assemble
from ucl.semantics.check.declarations import check_declarations, check_dimensions
from ucl.semantics.check.modules import Module
from ucl.semantics.check.soundness import without_what_is_wrong
from ucl.semantics.check.unused import report_unused
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone
from ucl.syntax import ast

_DEFAULT_ZONE = "UTC"


def check_surroundings(module: Module, report: Report) -> None:
    """What the module's bodies can speak of."""
    check_dimensions(module, report)
    check_declarations(module, report)


def finish(modules: list[Module], report: Report) -> tuple[Program, Module]:
    """The program of the last module, all of them being checked, and that module."""
    timezones = [_timezone(module, report) for module in modules]
    program = assemble(modules, timezones[-1], report)
    for module in modules:
        # They lead back to their module: without them the tree goes when its module does, and waits for no collector.
        module.scopes.clear()
    if report.has_errors:
        # Nothing is called unused: what is wrong may be what uses it.
        return without_what_is_wrong(program), modules[-1]
    report_unused(modules[-1], report)
    return program, modules[-1]


def _timezone(module: Module, report: Report) -> str:
    """The zone in which the module's local times are read."""
    for declared in module.file.declarations:
        if isinstance(declared, ast.Timezone):
            if Zone.exists(declared.zone.value):
                return declared.zone.value
            report.add(errors.unknown_zone(declared.zone.span, declared.zone.value))
            break
    return _DEFAULT_ZONE
