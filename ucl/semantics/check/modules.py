"""Modules: what a file declares, what it imports, and what a name means in it.

In: the tree of the file that is checked, and a way to find others. Out: a `Module` for each file that takes part, after
those that it imports. Its table of names is complete; what the names stand for is filled in by the passes that follow
(`declarations`, `rules`), each of which works on this one object.

An import brings in what the other file declares itself, never what that one imports. A module that is missing, or that
imports this one, has been reported once: every name of it is then `Wrong`, and its uses say nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeVar, get_args, overload

from ucl.diagnostics import Diagnostic, Report, Severity, Source, Span
from ucl.frozen import frozen
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program
from ucl.semantics.check.scope import Global, ModuleName, RuleName, Scope, Wrong
from ucl.semantics.program import Field, MemoryField
from ucl.semantics.types import DATE, DATETIME, Dimension, Type, Unit
from ucl.syntax import ast

FindModule = Callable[[str], Source | None]

Named = (
    ast.Dimension
    | ast.Schema
    | ast.Memory
    | ast.Let
    | ast.Def
    | ast.Rule
    | ast.Constraint
    | ast.Effect
    | ast.Action
    | ast.Alert
    | ast.Property
    | ast.Prefer
)
_NAMED = get_args(Named)
# What takes part in the program of a file that imports it by name.
Body = ast.Body
BODIES = (ast.Rule, ast.Constraint, ast.Action, ast.Alert, ast.Property, ast.Prefer)
_BODY_KINDS = frozenset(BODIES)

WRONG = Wrong()
ALWAYS_IN_CONTEXT: Mapping[str, Type] = {"now": DATETIME, "today": DATE}
STANDARD_MODULES = tuple(
    f"std.{name}" for name in ("dayparts", "dining", "mail", "money", "scheduling", "travel", "units")
)
# A suggestion costs a look at every name, so mistakes can't be as many as names are.
MOST_WRONG = 200

TYPE_WORDS = frozenset(
    ("bool", "int", "float", "text", "weekday", "date", "time", "datetime", "duration", "set", "list")
)

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Asked(Mapping[K, V]):
    """A mapping that remembers which of its keys were asked for, so that unused imports are known at no cost."""

    def __init__(self, items: Mapping[K, V]) -> None:
        self._items = items
        self.keys_used: set[K] = set()

    def afresh(self) -> Asked[K, V]:
        """The same mapping, of which nothing was asked yet."""
        return Asked(self._items)

    def __getitem__(self, key: K) -> V:
        value = self._items[key]
        self.keys_used.add(key)
        return value

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...
    def get(self, key: K, /, default: V | D | None = None) -> V | D | None:
        # Most bare names are asked for here and are not found; `Mapping.get` would raise and catch for each.
        return self[key] if key in self._items else default

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@frozen
class Own:
    """Declared in this file."""

    declaration: Named


@frozen
class Imported:
    """`import module (name)`."""

    module: Module
    declaration: Named


@frozen
class Alias:
    """`import a.b`, usable as `b.x`."""

    module: Module
    meaning: ModuleName


@frozen
class Broken:
    """Imported or declared, but not readable; that has been said. It may have units, of which nothing is known then."""

    has_units: bool = False


Entry = Own | Imported | Alias | Broken


@dataclass(eq=False)
class Module:
    """One file, as it is known so far.

    `table` has all names that can be used in it, `places` where each of them was introduced; `surroundings` is the part
    of the table that bodies speak of, all but they themselves, who are most of it. `globals`, `context` and
    `bodies` hold what its own declarations mean, `memory` also what it imports, once they have been checked; a body is
    missing where it is wrong. `used` are the names that were looked up, `endless` the schemas that reach too far,
    `helpers` the modules whose definitions it calls, `taken_twice` the names that two declarations claim.
    """

    name: str
    file: ast.File
    imports: list[tuple[ast.Import, Module | None]] = field(default_factory=list)
    unreadable: frozenset[str] = frozenset()
    table: dict[str, Entry] = field(default_factory=dict)
    surroundings: dict[str, Entry] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    globals: dict[str, Global] = field(default_factory=dict)
    memory: dict[str, MemoryField] = field(default_factory=dict)
    context: dict[str, Field] = field(default_factory=dict)
    memory_asked: Asked[str, MemoryField] = field(init=False)
    resolutions: dict[program.Schema, program.Resolution] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    endless: set[str] = field(default_factory=set)
    taken_twice: set[str] = field(default_factory=set)
    helpers: dict[Module, None] = field(default_factory=dict)
    units: Asked[str, tuple[tuple[Dimension | None, Unit], ...]] = field(default_factory=lambda: Asked({}))
    scopes: dict[program.Schema | None, Scope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory_asked = Asked(self.memory)
        nowhere = Span(self.source, 0, 0)
        for name, type in ALWAYS_IN_CONTEXT.items():
            self.context[name] = Field(name, type, None, name, None, None, None, nowhere)

    @property
    def source(self) -> Source:
        return self.file.source

    def own(self, *kinds: type[Named]) -> list[Any]:
        """The declarations of these kinds that have a name of their own, in source order."""
        entries = self.surroundings if _BODY_KINDS.isdisjoint(kinds) else self.table
        return [e.declaration for e in entries.values() if isinstance(e, Own) and isinstance(e.declaration, kinds)]

    def declared(self, name: str) -> Named | None:
        """What this file itself calls so."""
        entry = self.table.get(name)
        return entry.declaration if isinstance(entry, Own) else None

    def origin(self, name: str) -> tuple[Module, Named] | None:
        """The module and the declaration that a name means here, written as `x` or `b.x`; marks it as used."""
        prefix, _, rest = name.rpartition(".")
        entry = self.table.get(prefix or name)
        found: tuple[Module, Named] | None = None
        match entry:
            case Own(declaration) if not prefix:
                found = self, declaration
            case Imported(module, declaration) if not prefix:
                found = module, declaration
            case Alias(module) if prefix:
                declared = module.declared(rest)
                found = None if declared is None else (module, declared)
        if found is not None:
            self.used.add(prefix or name)
        return found

    def is_wrong(self, name: str) -> bool:
        """Whether a mistake that has been said already explains why this name means nothing, or something else."""
        prefix, _, rest = name.rpartition(".")
        entry = self.table.get(prefix or name)
        if name in self.taken_twice:
            return True
        return isinstance(entry, Broken) or (isinstance(entry, Alias) and rest in entry.module.unreadable)

    def find(self, name: str) -> Global | None:
        """What a bare name means as a global."""
        entry = self.table.get(name)
        match entry:
            case None:
                return None
            case Own():
                found = self.globals.get(name)
            case Imported(module, declaration):
                found = self._brought(module, declaration.name.text)
            case Alias(_, meaning):
                found = meaning
            case Broken():
                found = WRONG
        if found is not None:
            self.used.add(name)
        return found

    def find_path(self, path: str) -> Global | None:
        """What `x` or `b.x` means."""
        prefix, _, name = path.rpartition(".")
        if not prefix:
            return self.find(name)
        owner = self.find(prefix)
        return owner.member(name) if isinstance(owner, ModuleName) else owner if isinstance(owner, Wrong) else None

    def scope(self, option: program.Schema | None = None) -> Scope:
        """What names mean in a body on `option`, or where there is no option; from the units being known on.

        There is one object for each, which is filled in as the module is.
        """
        known = self.scopes.get(option)
        if known is None:
            known = Scope(
                self.name,
                option,
                self.context,
                self.memory_asked,
                self.find,
                lambda: list(self.table),
                self.units,
                units_missing=any(
                    isinstance(entry, Broken) and entry.has_units for entry in self.surroundings.values()
                ),
                taken_twice=self.taken_twice,
                plain={} if option is None else self._plain(option),
            )
            self.scopes[option] = known
        return known

    def _plain(self, option: program.Schema) -> dict[str, Field]:
        taken = (self.table, self.context, self.memory)
        return {f.name: f for f in reversed(option.fields) if not any(f.name in names for names in taken)}

    def alias(self, module: Module) -> Alias:
        meaning = ModuleName(module.name, lambda name: self._brought(module, name), lambda: list(module.globals))
        return Alias(module, meaning)

    def _brought(self, module: Module, name: str) -> Global | None:
        found = module.globals.get(name)
        if isinstance(found, program.Definition):
            self.helpers[module] = None
        return WRONG if found is None and name in module.unreadable else found


def load_modules(root: ast.File, report: Report, find_module: FindModule) -> list[Module]:
    """Every module that takes part, each after those that it imports, the root last; tables of names are filled."""
    loader = _Loader(report, find_module)
    loader.load(root)
    for module in loader.loaded:
        _fill_table(module, report)
    return loader.loaded


def refill(known: Module, file: ast.File, report: Report) -> Module:
    """A module of the same surroundings with the bodies of `file`, which are yet to be checked."""
    module = Module(_module_name(file), file, known.imports)
    _fill_table(module, report)
    module.globals |= {name: g for name, g in known.globals.items() if not isinstance(g, RuleName)}
    module.memory.update(known.memory)
    module.context.update(known.context)
    module.units = known.units.afresh()
    return module


class _Loader:
    """Walks the imports depth first, with a stack of its own: a chain of imports may be as long as a folder is big."""

    def __init__(self, report: Report, find_module: FindModule) -> None:
        self.loaded: list[Module] = []
        self._report = report
        self._find_module = find_module
        self._known: dict[str, Module | None] = {}
        self._open: dict[str, Iterator[ast.Import]] = {}

    def load(self, root: ast.File) -> None:
        failed = any(_is_error_in(d.severity, d.span, root.source) for d in self._report.diagnostics)
        self._enter(Module(_module_name(root), root, unreadable=_unreadable(root) if failed else frozenset()))
        while self._open:
            name, imports = next(reversed(self._open.items()))
            module = self._known[name]
            assert module is not None
            declared = next(imports, None)
            if declared is None:
                del self._open[name]
                self.loaded.append(module)
            else:
                module.imports.append((declared, self._imported(declared)))

    def _enter(self, module: Module) -> None:
        self._known[module.name] = module
        self._open[module.name] = iter([d for d in module.file.declarations if isinstance(d, ast.Import)])

    def _imported(self, declared: ast.Import) -> Module | None:
        name = path_text(declared.path)
        place = path_span(declared.path)
        if name in self._open:
            names = list(self._open)
            self._report.add(errors.import_cycle(place, (*names[names.index(name) :], name)))
            return None
        if name not in self._known:
            self._read(name)
        module = self._known[name]
        if module is None:
            known = (*STANDARD_MODULES, *(n for n, m in self._known.items() if m is not None))
            self._report.add(errors.unknown_module(place, name, known))
        return module

    def _read(self, name: str) -> None:
        # The parser's tables are not needed by a program that imports nothing.
        from ucl.syntax.parse import parse

        source = self._find_module(name)
        if source is None:
            self._known[name] = None
            return
        before = len(self._report.diagnostics)
        file = parse(source, self._report)
        failed = any(d.severity is Severity.ERROR for d in self._report.diagnostics[before:])
        self._enter(Module(name, file, unreadable=_unreadable(file) if failed else frozenset()))


def _is_error_in(severity: Severity, span: Span, source: Source) -> bool:
    return severity is Severity.ERROR and span.source is source


def _module_name(file: ast.File) -> str:
    """As the file says, else after the file's own name."""
    declared = next((d for d in file.declarations if isinstance(d, ast.ModuleDeclaration)), None)
    return PurePath(file.source.path).stem if declared is None else path_text(declared.path)


_DECLARES = re.compile(
    r"\b(?:dimension|schema|memory|let|def|rule|constraint|effect(?:\s+many)?|action|alert|property|prefer)\s+(\w+)"
)


_DIMENSIONS = re.compile(r"\bdimension\s+(\w+)")


def _unreadable(file: ast.File) -> frozenset[str]:
    """Names of declarations that the parser had to leave out: their uses are no further mistake."""
    read = {d.name.text for d in file.declarations if isinstance(d, Named)}
    return frozenset(_DECLARES.findall(file.source.text)) - read


def path_text(path: Iterable[ast.Identifier]) -> str:
    return ".".join(part.text for part in path)


def path_span(path: tuple[ast.Identifier, ...]) -> Span:
    return path[0].span.to(path[-1].span)


def _fill_table(module: Module, report: Report) -> None:
    """Every name of the module, in source order; of two that are equal the first counts."""
    imports = {id(declared): target for declared, target in module.imports}
    for declaration in module.file.declarations:
        match declaration:
            case ast.Import(names=None):
                target = imports[id(declaration)]
                last = declaration.path[-1]
                _introduce(module, last.text, last.span, module.alias(target) if target else Broken(True), report)
            case ast.Import():
                _bring(module, declaration, imports[id(declaration)], report)
            case ast.Schema(name=name) | ast.Dimension(name=name) if name.text in TYPE_WORDS:
                report.add(errors.type_word_taken(name.span, name.text))
            case _ if isinstance(declaration, _NAMED):
                name = declaration.name
                if _introduce(module, name.text, name.span, Own(declaration), report):
                    _announce(module, declaration)
    dimensions = set(_DIMENSIONS.findall(module.source.text)) if module.unreadable else set()
    for unreadable in module.unreadable:
        if unreadable not in module.table:
            module.table[unreadable] = module.surroundings[unreadable] = Broken(unreadable in dimensions)


def _announce(module: Module, declaration: Named) -> None:
    """Rules can be spoken of before they are checked."""
    if isinstance(declaration, (ast.Rule, ast.Constraint)):
        name = declaration.name.text
        module.globals[name] = RuleName(name, "rule" if isinstance(declaration, ast.Rule) else "constraint")


def _bring(module: Module, declared: ast.Import, target: Module | None, report: Report) -> None:
    unknown = 0
    for name in declared.names or ():
        entry: Entry = Broken(True)
        if target is not None:
            declaration = target.declared(name.text)
            if declaration is not None:
                entry = Imported(target, declaration)
            elif not target.is_wrong(name.text) and unknown < MOST_WRONG:
                unknown += 1
                report.add(_unknown_import(target, name))
                entry = _meant_from_elsewhere(target, name.text) or entry
        _introduce(module, name.text, name.span, entry, report)


def _meant_from_elsewhere(target: Module, name: str) -> Entry | None:
    """What the module only imports itself, or the dimension that has a unit of that name: said, and taken for it."""
    entry = target.table.get(name)
    dimension = _dimension_with(target, name)
    return entry if isinstance(entry, Imported) else None if dimension is None else Imported(target, dimension)


def _dimension_with(module: Module, unit: str) -> ast.Dimension | None:
    return next((d for d in module.own(ast.Dimension) if any(u.name.text == unit for u in d.units)), None)


def _unknown_import(target: Module, name: ast.Identifier) -> Diagnostic:
    entry = target.table.get(name.text)
    dimension = _dimension_with(target, name.text)
    if dimension is not None:
        return errors.imported_unit(name.span, name.text, dimension.name.text, target.name)
    known = [n for n, e in target.table.items() if isinstance(e, Own)]
    owner = entry.module.name if isinstance(entry, Imported) else None
    return errors.unknown_import(name.span, name.text, target.name, known, owner)


def _introduce(module: Module, name: str, place: Span, entry: Entry, report: Report) -> bool:
    first = module.places.get(name)
    if first is not None and isinstance(module.table[name], Broken):
        first = None  # an import that is wrong claims nothing
    elif first is not None and isinstance(entry, Broken):
        return False
    if first is not None:
        report.add(errors.duplicate_name(place, name, first))
        module.taken_twice.add(name)
        return False
    module.table[name] = entry
    module.places[name] = place
    if isinstance(entry, Own) and isinstance(entry.declaration, BODIES):
        module.surroundings.pop(name, None)
    else:
        module.surroundings[name] = entry
    return True
