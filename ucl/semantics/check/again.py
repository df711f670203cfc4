"""Checking a module again after an edit: only bodies that changed, or that speak of what changed.

In: the trees of one version of a file after another, unchanged declarations being the same nodes (`syntax.passages`).
Out: the same program and the same report as `check_module` gives. What bodies speak of (schemas, lets, imports, …) is
kept as long as none of it changed and it was right; so are bodies that were right, with what was said of them and the
names that they use. No name of a body means a value, so that none that is right depends on which others there are: but
for properties, which speak of rules, and overriding, and both are checked anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ucl.diagnostics import Diagnostic, Report, Source
from ucl.frozen import frozen
from ucl.semantics.check.bodies import AnyBody, check_bodies, check_body
from ucl.semantics.check.declarations.constants import has_errors_since
from ucl.semantics.check.modules import BODIES, Body, FindModule, Module, load_modules, refill
from ucl.semantics.check.stages import check_surroundings, finish
from ucl.semantics.program import Program
from ucl.syntax import ast


@dataclass
class Usage:
    """What a stretch of the check looked up, so that what is unused is known without doing it again."""

    names: set[str] = field(default_factory=set)
    memory: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)
    helpers: dict[Module, None] = field(default_factory=dict)

    @staticmethod
    def of(module: Module) -> Usage:
        return Usage(module.used, module.memory_asked.keys_used, module.units.keys_used, module.helpers)

    def stand_in(self, module: Module) -> None:
        """What is looked up from now on is noted here."""
        module.used, module.helpers = self.names, self.helpers
        module.memory_asked.keys_used, module.units.keys_used = self.memory, self.units

    def add_to(self, module: Module) -> None:
        module.used |= self.names
        module.memory_asked.keys_used |= self.memory
        module.units.keys_used |= self.units
        module.helpers |= self.helpers


@contextmanager
def _noted(module: Module) -> Iterator[Usage]:
    """What is looked up inside, apart from what was before; afterwards the module has both."""
    before, usage = Usage.of(module), Usage()
    usage.stand_in(module)
    try:
        yield usage
    finally:
        # The table of units is another one once the dimensions are known.
        usage.units = module.units.keys_used
        before.stand_in(module)
        usage.add_to(module)


@frozen
class _Known:
    """A body that was right: what it was made from, what was said of it, and what it used."""

    declaration: Body
    overrides: tuple[str, ...]
    body: AnyBody
    said: tuple[Diagnostic, ...]
    usage: Usage


@frozen
class _Version:
    """The last version whose surroundings were right. `said` and `usage` are of the surroundings."""

    modules: list[Module]
    surroundings: tuple[ast.Declaration, ...]
    said: tuple[Diagnostic, ...]
    usage: Usage
    bodies: dict[int, _Known] = field(default_factory=dict)

    @property
    def root(self) -> Module:
        return self.modules[-1]


class Rechecker:
    """Checks one version of a file after another."""

    def __init__(self) -> None:
        self._last: _Version | None = None

    def check(self, file: ast.File, report: Report, find_module: FindModule) -> tuple[Program, Module]:
        """As `check_module`, for a file that declares something and has no mistake of syntax."""
        last, start = self._last, len(report.diagnostics)
        edited = None if last is None else _edited(last, file, report, find_module)
        if edited is None:
            del report.diagnostics[start:]  # of imports that were looked at in vain
        version = edited or _opened(file, report, find_module)
        known = last.bodies if edited and last else {}
        self._last = None if report.has_errors else version

        def check_one(declared: Body, overrides: tuple[str, ...], module: Module, report: Report) -> AnyBody | None:
            again = known.get(id(declared))
            if again is None or again.overrides != overrides:
                body, again = _checked(declared, overrides, module, report)
            else:
                body = again.body
                report.diagnostics.extend(again.said)
                again.usage.add_to(module)
            if again is not None:
                version.bodies[id(declared)] = again
            return body

        check_bodies(version.root, report, check_one)
        return finish(version.modules, report)


def _checked(
    declared: Body, overrides: tuple[str, ...], module: Module, report: Report
) -> tuple[AnyBody | None, _Known | None]:
    """A body, and what is worth keeping of its check where it is right."""
    start = len(report.diagnostics)
    with _noted(module) as usage:
        body = check_body(declared, overrides, module, report)
    if body is None or isinstance(declared, ast.Property | ast.Prefer) or has_errors_since(report, start):
        return body, None
    return body, _Known(declared, overrides, body, tuple(report.diagnostics[start:]), usage)


def _opened(file: ast.File, report: Report, find_module: FindModule) -> _Version:
    """A version of which nothing is known."""
    start = len(report.diagnostics)
    modules = load_modules(file, report, find_module)
    for module in modules[:-1]:
        check_surroundings(module, report)
        check_bodies(module, report)
    with _noted(modules[-1]) as usage:
        check_surroundings(modules[-1], report)
    return _Version(modules, _surroundings(file), tuple(report.diagnostics[start:]), usage)


def _edited(last: _Version, file: ast.File, report: Report, find_module: FindModule) -> _Version | None:
    """A version whose bodies alone changed; None where more did, or a name is taken twice."""
    surroundings = _surroundings(file)
    if len(surroundings) != len(last.surroundings):
        return None
    if any(now is not before for now, before in zip(surroundings, last.surroundings, strict=True)):
        return None
    if any(not _same(find_module(module.name), module.source) for module in last.modules[:-1]):
        return None
    trial = Report()
    root = refill(last.root, file, trial)
    if trial.diagnostics or last.root.name != root.name:
        return None
    report.diagnostics.extend(last.said)
    last.usage.add_to(root)
    return _Version([*last.modules[:-1], root], surroundings, last.said, last.usage)


def _same(now: Source | None, before: Source) -> bool:
    return now is not None and now.text == before.text


def _surroundings(file: ast.File) -> tuple[ast.Declaration, ...]:
    return tuple(d for d in file.declarations if not isinstance(d, BODIES))
