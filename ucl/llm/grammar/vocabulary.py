"""What a text that is added to a program may name, and which types that has.

In: a checked program, its module (which knows every name that can stand in it) and the schema's name there. Out: a
`Vocabulary`. Each value is spelled as it has to be: bare where that is clear, else `option.x`, `context.x`, `memory.x`;
what can't be spelled is left out. Imports count: `dayparts.night` where `std.dayparts` is imported as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from ucl.frozen import frozen
from ucl.scoring.errors import CallError
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import FUNCTIONS, PARTS, SPECIAL_FORMS
from ucl.semantics.check.modules import Alias, Module
from ucl.semantics.check.scope import Global, RangeLet, Scope
from ucl.semantics.types import Type

# Beyond these a program's values and records are left out: the first ones are its own, those that follow are within.
MOST_SUBJECTS = 2000
_DEEPEST_RECORD = 4
# A literal of any other unit could leave the doubles.
_SMALLEST_UNIT, _LARGEST_UNIT = Fraction(1, 10**100), 10**100
_QUALIFIERS = frozenset(("option", "context", "memory"))


@frozen
class Subject:
    """A value that tests can be about: a path such as `start.time`, or a call without arguments.

    `type` is that of the value where it is there: once every path in `guards` is known to be present, the outermost
    first. `optional` where the value itself may be absent, so that it can have a default; a call that may be absent has
    no guard, since what is known of one call is not known of the next.
    """

    text: str
    type: Type
    guards: tuple[str, ...] = ()
    optional: bool = False


@frozen
class Function:
    """A def with parameters; its result may be absent."""

    name: str
    parameters: tuple[Type, ...]
    result: Type


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`schema` is spelled as in `on S`. `rules` and `constraints` are those on it; `taken` is what nothing new may be
    called; `builtins` are the functions that no def hides. `lets` are constants and `ranges` named ranges, by their
    type. `units` maps a dimension (None for durations) to the units that a literal can have, `sure_units` to those
    that no other dimension has too. `sources` are the words of `from chat`."""

    schema: str
    taken: frozenset[str]
    subjects: tuple[Subject, ...]
    functions: tuple[Function, ...]
    lets: Mapping[Type, tuple[str, ...]]
    ranges: Mapping[Type, tuple[str, ...]]
    units: Mapping[t.Dimension | None, tuple[t.Unit, ...]]
    sure_units: Mapping[t.Dimension | None, tuple[t.Unit, ...]]
    builtins: frozenset[str]
    rules: tuple[str, ...]
    constraints: tuple[str, ...]
    sources: tuple[str, ...]
    values_named: frozenset[str]


def schema_names(module: Module) -> Mapping[str, p.Schema]:
    """The schemas that the module's text can name, as it has to name them."""
    return {name: found for name, found in _globals(module) if isinstance(found, p.Schema)}


def schema_of(program: p.Program, module: Module, wanted: str | None) -> str:
    """The schema named, else the only one that rules are on, else the only one; raises `CallError` where it is none."""
    known = schema_names(module)
    listed = ", ".join(f"`{name}`" for name in known)
    if wanted is not None:
        if wanted in known:
            return wanted
        raise CallError(f"the program has no schema `{wanted}`", f"it has {listed}" if known else None)
    used = [name for name, schema in known.items() if any(rule.schema is schema for rule in program.rules)]
    candidates = used or list(known)
    if len(candidates) == 1:
        return candidates[0]
    if not known:
        raise CallError("the program has no schema", "declare one, or import one by name")
    raise CallError("the program has several schemas", f"name one of {listed} (`--schema` on the command line)")


def vocabulary_of(program: p.Program, module: Module, name: str) -> Vocabulary:
    """What can be said of the schema called `name`, which is one of `schema_names`."""
    schema = schema_names(module)[name]
    scope = module.scope(schema)
    known = dict(_globals(module))
    functions = [Function(n, _types(d), d.result) for n, d in known.items() if isinstance(d, p.Definition)]
    calls = (s for f in functions if not f.parameters for s in _subject(f"{f.name}()", f.result, is_path=False))
    units, sure = _units(scope)
    meanings = _Meanings(scope, known)
    lets = ((let.type, n) for n, let in known.items() if isinstance(let, p.Let) and meanings.is_clear(n))
    ranges = ((r.element, n) for n, r in known.items() if isinstance(r, RangeLet) and meanings.is_clear(n))
    return Vocabulary(
        schema=name,
        taken=frozenset(module.table),
        subjects=tuple(islice((*calls, *_paths(scope, meanings)), MOST_SUBJECTS)),
        functions=tuple(f for f in functions if f.parameters),
        lets=_by_type(lets),
        ranges=_by_type(ranges),
        units=units,
        sure_units=sure,
        builtins=frozenset({*FUNCTIONS, *SPECIAL_FORMS} - {n for n, d in known.items() if isinstance(d, p.Definition)}),
        rules=tuple(r.name for r in program.rules if r.schema is schema and r.name in module.table),
        constraints=tuple(c.name for c in program.constraints if c.schema is schema and c.name in module.table),
        sources=_sources(program),
        values_named=frozenset(meanings.counts),
    )


def _globals(module: Module) -> Iterator[tuple[str, Global]]:
    """Everything with a name in the module, and what can be reached through modules that are imported as a whole."""
    for name, entry in module.table.items():
        found = module.find(name)
        if isinstance(entry, Alias):
            members = ((member, entry.meaning.member(member)) for member in entry.meaning.names())
            if name not in _QUALIFIERS:
                yield from ((f"{name}.{member}", meaning) for member, meaning in members if meaning is not None)
        elif found is not None:
            yield name, found


def _types(definition: p.Definition) -> tuple[Type, ...]:
    return tuple(parameter.type for parameter in definition.parameters)


def _by_type(pairs: Iterable[tuple[Type, str]]) -> Mapping[Type, tuple[str, ...]]:
    found: dict[Type, list[str]] = {}
    for type_, name in pairs:
        found.setdefault(type_, []).append(name)
    return {type_: tuple(names) for type_, names in found.items()}


def _sources(program: p.Program) -> tuple[str, ...]:
    """The usual words, and those that the program's rules have."""
    meta = (*(r.meta for r in program.rules), *(c.meta for c in program.constraints))
    used = (source.kind for m in meta for source in m.sources)
    return tuple(dict.fromkeys(("chat", "calendar", "email", "behaviour", "manual", *used)))


def _units(
    scope: Scope,
) -> tuple[Mapping[t.Dimension | None, tuple[t.Unit, ...]], Mapping[t.Dimension | None, tuple[t.Unit, ...]]]:
    """The units that literals can have, and of these the ones that are clear where nothing else says the dimension."""
    units: dict[t.Dimension | None, list[t.Unit]] = {}
    sure: dict[t.Dimension | None, list[t.Unit]] = {}
    for name, meanings in scope.units.items():
        # A literal's unit is letters.
        if not name.isalpha():
            continue
        for dimension, unit in meanings:
            if not _SMALLEST_UNIT < unit.factor < _LARGEST_UNIT:
                continue
            units.setdefault(dimension, []).append(unit)
            if len(meanings) == 1:
                sure.setdefault(dimension, []).append(unit)
    return {d: tuple(u) for d, u in units.items()}, {d: tuple(u) for d, u in sure.items()}


# --- values ---------------------------------------------------------------------------------------------------------


class _Meanings:
    """How many values each bare name could mean: where more than one, it can't stand alone."""

    def __init__(self, scope: Scope, known: Mapping[str, Global]) -> None:
        self.counts: dict[str, int] = {}
        lets = (name for name, found in known.items() if isinstance(found, p.Let | RangeLet))
        fields = () if scope.option is None else (field.name for field in scope.option.fields)
        for name in (*lets, *fields, *scope.context, *scope.memory):
            self.counts[name] = self.counts.get(name, 0) + 1

    def is_clear(self, name: str) -> bool:
        return self.counts[name] == 1

    def spelled(self, prefix: str, name: str) -> str:
        return name if self.is_clear(name) else f"{prefix}.{name}"


def _paths(scope: Scope, meanings: _Meanings) -> Iterator[Subject]:
    """Those at the top first, then those within records, level by level."""
    fields = () if scope.option is None else scope.option.fields
    level: list[tuple[str, Type, tuple[str, ...]]] = [
        *((meanings.spelled("option", field.name), field.type, ()) for field in fields),
        *((meanings.spelled("context", field.name), field.type, ()) for field in scope.context.values()),
        *((meanings.spelled("memory", field.name), field.type, ()) for field in scope.memory.values()),
    ]
    for _ in range(_DEEPEST_RECORD):
        inner: list[tuple[str, Type, tuple[str, ...]]] = []
        for text, type_, guards in level:
            record = t.present(type_)
            if isinstance(record, t.Record):
                within = (*guards, text) if isinstance(type_, t.Optional) else guards
                if text.rpartition(".")[2] not in _QUALIFIERS and len(inner) < MOST_SUBJECTS:
                    inner += ((f"{text}.{field.name}", field.type, within) for field in record.schema.fields)
            elif not isinstance(record, t.List):
                yield from _subject(text, type_, guards)
        level = inner


def _subject(text: str, type_: Type, guards: tuple[str, ...] = (), is_path: bool = True) -> Iterator[Subject]:
    """A value and its local parts."""
    optional = isinstance(type_, t.Optional)
    value = t.present(type_)
    if optional and not is_path:
        yield Subject(text, value, guards, optional)
        return
    guards = (*guards, text) if optional else guards
    yield Subject(text, value, guards, optional)
    if text.rpartition(".")[2] not in _QUALIFIERS:
        for (owner, part), signature in PARTS.items():
            if owner == value:
                result = signature.result_for((value,))
                assert result is not None
                yield Subject(f"{text}.{part}", result, guards)
