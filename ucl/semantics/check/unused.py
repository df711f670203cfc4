"""What is declared and not used: imports, and the lets and defs of a module with rules.

In: the root of a program, all of it checked, so that every name that was looked up is known. Out: a warning for each
name that was not. A module without rules is a library: what it declares is there for others. A def that reads the
context or the memory is a query: it is there for callers.
"""

from __future__ import annotations

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.modules import Alias, Imported, Module, Own
from ucl.semantics.parts import children
from ucl.semantics.types import Dimension
from ucl.syntax import ast


def report_unused(root: Module, report: Report) -> None:
    """For a program without errors."""
    used = root.used | root.memory_asked.keys_used
    has_bodies = len(root.surroundings) < len(root.table)
    for name, entry in root.surroundings.items():
        if name in used:
            continue
        place = root.places.get(name)
        if place is None:
            continue
        match entry:
            case Imported(_, declaration) if isinstance(declaration, ast.Dimension):
                if not _has_used_unit(root, {name}, entry.module):
                    report.add(errors.unused(place, "import", name))
            case Imported():
                report.add(errors.unused(place, "import", name))
            case Alias(module):
                if not _has_used_unit(root, {d.name.text for d in module.own(ast.Dimension)}, module):
                    report.add(errors.unused(place, "import", name))
            case Own(ast.Let()) if has_bodies:
                report.add(errors.unused(place, "let", name))
            case Own(ast.Def()) if has_bodies and not _is_query(root.globals.get(name)):
                report.add(errors.unused(place, "def", name))


def _is_query(meaning: object) -> bool:
    """Whether a def's answer depends on the context or the memory, by itself or through defs that it calls."""
    if not isinstance(meaning, p.Definition):
        return False
    met, waiting = {meaning}, [meaning.body]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, p.ContextValue | p.MemoryValue):
            return True
        if isinstance(expr, p.DefCall) and expr.definition not in met:
            met.add(expr.definition)
            waiting.append(expr.definition.body)
        waiting += children(expr)
    return False


def _has_used_unit(root: Module, names: set[str], module: Module) -> bool:
    """Whether a unit of one of a module's dimensions stands in the root."""
    for name in names:
        dimension = module.globals.get(name)
        if isinstance(dimension, Dimension) and any(u.name in root.units.keys_used for u in dimension.units):
            return True
    return False
