"""Modules to the program of one of them.

In: checked modules, the root last. Out: its `Program`. The root's own bodies take part, and those that its import lists
name, the imported ones first, in the order of the imports and then of their files. With them comes what they need of
the context and the memory of their modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

from ucl.diagnostics import Report, Span
from ucl.frozen import frozen
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics.check.bodies import AnyBody, rules_spoken_of
from ucl.semantics.check.modules import ALWAYS_IN_CONTEXT, BODIES, Imported, Module, path_span
from ucl.semantics.program import Resolution
from ucl.semantics.types import Dimension

B = TypeVar("B", p.Rule, p.Constraint, p.Action)
F = TypeVar("F", p.Field, p.MemoryField)
G = TypeVar("G")


def assemble(modules: list[Module], timezone: str, report: Report) -> p.Program:
    root = modules[-1]
    bodies = _taking_part(root)
    _check_companions(root, bodies, report)
    needed = _needed(root)
    rules = _kept_overrides([b for b in bodies if isinstance(b, p.Rule)])
    constraints = _kept_overrides([b for b in bodies if isinstance(b, p.Constraint)])
    actions = _kept_overrides([b for b in bodies if isinstance(b, p.Action)])
    schemas = _schemas(root, bodies)
    return p.Program(
        module=root.name,
        timezone=timezone,
        schemas=schemas,
        dimensions=_usable(root, Dimension),
        context=_merged(root, needed, "context", report),
        memory=_merged(root, needed, "memory", report),
        lets=_usable(root, p.Let),
        definitions=_usable(root, p.Definition),
        resolutions=_resolutions(modules, schemas),
        rules=rules,
        constraints=constraints,
        effects=_effects(root, actions),
        actions=actions,
        alerts=tuple(b for b in bodies if isinstance(b, p.Alert)),
        properties=tuple(b for b in bodies if isinstance(b, p.Property | p.Prefer)),
        order=tuple(b.name for b in bodies if isinstance(b, p.Rule | p.Constraint | p.Action)),
        sources=(root.source, *(module.source for module in modules[:-1])),
    )


def _imported_bodies(root: Module) -> Iterator[tuple[Module, str]]:
    """The bodies that the import lists name, by module and name, in the order in which they stand in the program."""
    listed: dict[Module, set[str]] = {}
    for entry in root.surroundings.values():
        if isinstance(entry, Imported) and isinstance(entry.declaration, BODIES):
            listed.setdefault(entry.module, set()).add(entry.declaration.name.text)
    for module, names in listed.items():
        for name in module.table:
            if name in names and module.declared(name) is not None:
                yield module, name


def _taking_part(root: Module) -> list[AnyBody]:
    found: list[AnyBody] = []
    for module, name in _imported_bodies(root):
        root.used.add(name)
        if name in module.bodies:
            found.append(module.bodies[name])
    return [*found, *root.bodies.values()]


def _check_companions(root: Module, bodies: list[AnyBody], report: Report) -> None:
    """An imported property speaks of rules that must be imported with it."""
    for module, name in _imported_bodies(root):
        body = module.bodies.get(name)
        if not isinstance(body, p.Property):
            continue
        for fact in (fact for condition in body.expect for fact in rules_spoken_of(condition)):
            owner = module.origin(fact.rule)
            if owner is not None and root.origin(fact.rule) != owner:
                report.add(errors.missing_companion(root.places[name], name, fact.rule, owner[0].name))
                bodies[:] = [b for b in bodies if b is not body]
                break


def _kept_overrides(bodies: list[B]) -> tuple[B, ...]:
    """Of what a body overrides, what takes part too."""
    names = {body.name for body in bodies}
    return tuple(
        body
        if all(target in names for target in body.overrides)
        else replace(body, overrides=tuple(target for target in body.overrides if target in names))
        for body in bodies
    )


def _usable(root: Module, kind: type[G]) -> dict[str, G]:
    """What the module declares or imports by name, of one kind."""
    found: dict[str, G] = {}
    for name, entry in root.surroundings.items():
        owner = entry.module if isinstance(entry, Imported) else root
        meaning = owner.globals.get(name)
        if isinstance(meaning, kind) and (isinstance(entry, Imported) or root.declared(name) is not None):
            found[name] = meaning
    return found


def _schemas(root: Module, bodies: list[AnyBody]) -> dict[str, p.Schema]:
    """Those that can be named, and those that bodies are on without their being imported by name."""
    schemas = _usable(root, p.Schema)
    known = set(schemas.values())
    for body in bodies:
        if not isinstance(body, p.Alert) and body.schema not in known:
            known.add(body.schema)
            schema = body.schema
            schemas[schema.name if schema.name not in schemas else f"{schema.module}.{schema.name}"] = schema
    return schemas


def _resolutions(modules: list[Module], schemas: dict[str, p.Schema]) -> dict[str, Resolution]:
    """As the root says; where it says nothing, as the module says that declares the schema."""
    root = modules[-1]
    by_name = {module.name: module for module in modules}
    found = {}
    for name, schema in schemas.items():
        owner = by_name.get(schema.module)
        said = root.resolutions.get(schema) or (owner.resolutions.get(schema) if owner is not None else None)
        if said is not None:
            found[name] = said
    return found


def _effects(root: Module, actions: tuple[p.Action, ...]) -> dict[str, p.Effect]:
    effects = _usable(root, p.Effect)
    for action in actions:
        for call in (*action.calls, *(call for e in action.exceptions for call in e.calls)):
            effects.setdefault(call.effect.name, call.effect)
    return effects


# --- context and memory ---------------------------------------------------------------------------------------------


@frozen
class _Need:
    """A module whose context and memory are needed, and the import in the root that led to it."""

    module: Module
    place: Span


def _needed(root: Module) -> list[_Need]:
    """The modules of imported bodies and of the definitions that are called, directly or by others."""
    places = {target: path_span(declared.path) for declared, target in root.imports if target is not None}
    work = [*dict.fromkeys(module for module, _ in _imported_bodies(root)), *root.helpers]
    found: dict[Module, Span] = {}
    for first in work:
        reached = [first]
        while reached:
            module = reached.pop()
            if module not in found and module is not root:
                found[module] = places[first]
                reached.extend(module.helpers)
    return [_Need(module, place) for module, place in found.items()]


def _merged(root: Module, needed: list[_Need], what: str, report: Report) -> tuple[Any, ...]:
    """The root's fields, then those of the other modules; what two declare alike is one field."""
    fields: dict[str, Any] = {n: f for n, f in getattr(root, what).items() if n not in ALWAYS_IN_CONTEXT}
    if what == "memory":
        fields = dict(root.memory)
    for need in needed:
        for name, field in getattr(need.module, what).items():
            known = fields.get(name)
            if what == "context" and name in ALWAYS_IN_CONTEXT:
                continue
            if known is None:
                fields[name] = field
            elif replace(known, doc=None) != replace(field, doc=None):
                report.add(errors.clashing_needs(need.place, what, name, need.module.name, field.span, known.span))
    return tuple(fields.values())
