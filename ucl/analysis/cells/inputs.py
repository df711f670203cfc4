"""What a condition reads: inputs, and conditions written out until nothing but inputs is left in them.

In: a program, a schema, typed expressions. Out: `Inputs`, every field of the option and of the context and every part
of the memory, known by the columns that lead to it (so that two programs' inputs can be told to be one); expressions
without definitions and lets; the inputs that an expression reads.

An optional nested record is one input, since its fields are there or not together. `today` is read from `now`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.parts import children
from ucl.semantics.program import Expr, Field, Program, Schema

Path = tuple[str, ...]


class Place(StrEnum):
    OPTION = "option"
    CONTEXT = "context"
    MEMORY = "memory"
    CHOICES = "choices"  # what batch builtins look at


Key = tuple[Place, Path]
NOW: Key = (Place.CONTEXT, ("now",))
CHOICES: Key = (Place.CHOICES, ())


@frozen
class Input:
    """A field that holds a value, or an optional record with all of its fields. `path` is by names."""

    key: Key
    path: Path
    field: Field


class Inputs:
    """Everything that conditions on a schema can read."""

    def __init__(self, program: Program, schema: Schema) -> None:
        self.by_key: dict[Key, Input] = {}
        self._by_path: dict[tuple[Place, Path], list[Input]] = {}
        self._add(Place.OPTION, schema.fields, (), ())
        self._add(Place.CONTEXT, program.context, (), ())
        self._note(Input(NOW, ("now",), _undeclared("now", t.DATETIME, schema)))
        self._by_path[Place.CONTEXT, ("today",)] = [self.by_key[NOW]]
        for m in program.memory:
            field = Field(m.name, m.type, None, m.name, None, m.default, m.doc, m.span)
            self._note(Input((Place.MEMORY, (m.name,)), (m.name,), field))
        self._note(Input(CHOICES, (), _undeclared("", t.UNKNOWN, schema)))

    def _add(self, place: Place, declared: Sequence[Field], path: Path, columns: Path) -> None:
        for field in declared:
            here, column = (*path, field.name), (*columns, field.column)
            if isinstance(field.type, t.Record):
                self._add(place, field.type.schema.fields, here, column)
            else:
                self._note(Input((place, column), here, field))

    def _note(self, input: Input) -> None:
        self.by_key[input.key] = input
        for length in range(1, len(input.path) + 1):
            self._by_path.setdefault((input.key[0], input.path[:length]), []).append(input)

    def read_by(self, expr: Expr) -> frozenset[Key]:
        """The keys of all inputs that the expression, definitions included, can look at."""
        match expr:
            case p.OptionValue(path=path):
                return self._at(Place.OPTION, path)
            case p.ContextValue(path=path):
                return self._at(Place.CONTEXT, path)
            case p.MemoryValue(name=name):
                return self._at(Place.MEMORY, (name,))
            case p.BatchValue(argument=argument):
                return self.read_by(argument) | {CHOICES}
            case p.DefCall(definition=definition):
                inner = [definition.body, *expr.arguments]
            case p.LetValue(let=let):
                inner = [let.value]
            case _:
                inner = list(children(expr))
        return frozenset().union(*(self.read_by(part) for part in inner))

    def key_of(self, expr: Expr) -> object:
        """What equal expressions of two programs share: all that they say, and the columns that they read."""
        return (canonical(expr), tuple(sorted((self.by_key[key].path, key) for key in self.read_by(expr))))

    def _at(self, place: Place, path: Path) -> frozenset[Key]:
        """The inputs at a path, below it, or the record around it."""
        for length in range(len(path), 0, -1):
            found = self._by_path.get((place, path[:length]))
            if found is not None:
                return frozenset(input.key for input in found)
        raise AssertionError(path)


def _undeclared(name: str, type: t.Type, schema: Schema) -> Field:
    return Field(name, type, None, name, None, None, None, schema.span)


# --- written out ----------------------------------------------------------------------------------------------------

N = TypeVar("N")


def written_out(expr: Expr, names: Mapping[str, Expr] | None = None) -> Expr:
    """Without definitions and lets, but for those inside comprehensions; `names` are the parameters in force.

    How large that may become, the checker has bounded.
    """
    names = names or {}
    match expr:
        case p.Variable(name=name):
            return names.get(name, expr)
        case p.DefCall(definition=definition, arguments=arguments):
            given = [written_out(argument, names) for argument in arguments]
            return written_out(definition.body, {p.name: g for p, g in zip(definition.parameters, given, strict=True)})
        case p.LetValue(let=let):
            return written_out(let.value)
        case p.Comprehension(variable=variable, source=source):
            inside = {name: value for name, value in names.items() if name != variable}
            return replace(_changed(expr, lambda part: _bound(part, inside)), source=written_out(source, names))
        case p.Member(record=record, name=name):
            outer = written_out(record, names)
            if isinstance(outer, p.OptionValue | p.ContextValue):
                return replace(outer, type=expr.type, path=(*outer.path, name))
            return replace(expr, record=outer)
        case _:
            return _changed(expr, lambda part: written_out(part, names))


def _bound(expr: Expr, names: Mapping[str, Expr]) -> Expr:
    """Inside a comprehension: parameters are written out, definitions stay."""
    match expr:
        case p.Variable(name=name):
            return names.get(name, expr)
        case p.Comprehension(variable=variable):
            names = {name: value for name, value in names.items() if name != variable}
        case _:
            pass
    return _changed(expr, lambda part: _bound(part, names))


def _changed(expr: N, change: Callable[[Expr], Expr]) -> N:
    """The same node with the expressions that stand in it directly changed."""
    new: dict[str, Any] = {}
    for field in fields(expr):  # type: ignore[arg-type]
        value = getattr(expr, field.name)
        changed = _change_value(value, change)
        if changed is not value:
            new[field.name] = changed
    return replace(expr, **new) if new else expr  # type: ignore[type-var]


def _change_value(value: Any, change: Callable[[Expr], Expr]) -> Any:
    match value:
        case p.Typed():
            return change(value)  # type: ignore[arg-type]
        case p.SortKey():
            return _changed(value, change)
        case tuple() if value and isinstance(value[0], p.Typed | p.SortKey):
            return tuple(_change_value(item, change) for item in value)
        case _:
            return value


# --- the same in two programs ---------------------------------------------------------------------------------------


def canonical(expr: Expr) -> object:
    """A key that equal expressions of two programs share, whatever their definitions, lets and schemas are called."""
    match expr:
        case p.LetValue(let=let):
            return canonical(let.value)
        case p.DefCall(definition=definition, arguments=arguments):
            names = tuple(parameter.name for parameter in definition.parameters)
            return ("call", names, canonical(definition.body), tuple(map(canonical, arguments)))
        case p.Const(value=value):
            return ("constant", type(value).__name__, value, _kind(expr.type))
        case p.Apply(signature=signature, arguments=arguments):
            return (signature.op, tuple(map(canonical, arguments)))
        case _:
            parts = tuple(
                _canonical_value(getattr(expr, field.name))
                for field in fields(expr)
                if field.name not in ("type", "span")
            )
            return (type(expr).__name__, *parts)


def _canonical_value(value: Any) -> object:
    match value:
        case p.Typed():
            return canonical(value)  # type: ignore[arg-type]
        case p.SortKey():
            return (canonical(value.value), value.descending)
        case tuple():
            return tuple(map(_canonical_value, value))
        case _:
            return value


def _kind(type: t.Type) -> str:
    return str(t.present(type))
