"""From trees to a `Program`: names resolved, types known, imports followed.

In: the tree of a file, a report, and a way to find the modules that it imports. Out: the `Program` of what is right;
everything wrong is in the report, once. The check is total, does no I/O of its own, and goes through the modules, each
after those that it imports:

    modules        which names there are, and where they come from
    declarations   what they mean: dimensions, schemas, context, memory, lets, defs, effects, in the order of need
    bodies         rules, constraints, actions, alerts, properties, with `expressions` typing what stands in them
    stages         one after the other; `again` has them once more after an edit, for what changed
    assemble       what of all modules takes part in the program of the root
"""

from __future__ import annotations

from ucl.diagnostics import Report, Span
from ucl.semantics import declaration_errors as errors
from ucl.semantics.check.bodies import check_bodies
from ucl.semantics.check.modules import FindModule, Module, load_modules
from ucl.semantics.check.stages import check_surroundings, finish
from ucl.semantics.program import Program
from ucl.syntax import ast

__all__ = ["Module", "check", "check_module"]


def check(file: ast.File, report: Report, find_module: FindModule) -> Program | None:
    """The program of a file; `find_module("a.b")` gives the source of that module, or None where there is none.

    With errors in the report the program holds what is right, so that other passes can go on; rules that are wrong, or
    that depend on what is, are left out. None where the file declares nothing, or nothing of it could be read.
    """
    checked = check_module(file, report, find_module)
    return None if checked is None else checked[0]


def check_module(file: ast.File, report: Report, find_module: FindModule) -> tuple[Program, Module] | None:
    """As `check`, with the module itself, which knows every name that its text can speak of."""
    if not file.declarations:
        if not report.has_errors:
            report.add(errors.nothing_declared(Span(file.source, 0, 0)))
        return None
    modules = load_modules(file, report, find_module)
    for module in modules:
        check_surroundings(module, report)
        check_bodies(module, report)
    return finish(modules, report)
