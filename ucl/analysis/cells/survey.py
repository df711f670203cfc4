"""What conditions are: decided by their inputs, made of other conditions, or a value that may be anything.

In: sides (a program and a schema; two where programs are compared) and conditions, written out. Out: a `Survey`, which
has noted the kind of each and what is asked of every input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ucl.analysis.cells.inputs import CHOICES, NOW, Inputs, Key, Path, Place
from ucl.analysis.cells.questions import Asked, Questions, merged
from ucl.analysis.cells.values import few_values
from ucl.frozen import frozen
from ucl.kernels.lowering.reads import may_overflow
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.expressions import Budget, Frame
from ucl.semantics.outcome import Call
from ucl.semantics.parts import children
from ucl.semantics.program import Expr, Program, Schema
from ucl.semantics.types import BOOL, DAY
from ucl.semantics.zones import Zone

_MOST_TOGETHER = 4096


# --- sides ----------------------------------------------------------------------------------------------------------


class Side:
    """A program on one schema, in its own zone."""

    def __init__(self, program: Program, schema: Schema) -> None:
        zone = Zone.load(program.timezone)
        assert zone is not None
        self.program, self.schema, self.zone = program, schema, zone
        self.inputs = Inputs(program, schema)

    def frame(self, assignment: Mapping[Key, Any]) -> Frame:
        """What an expression sees that reads no other inputs than these."""
        records: dict[Place, dict[str, Any]] = {place: {} for place in Place}
        now = 0
        for key, value in assignment.items():
            if key == NOW:
                now = value
            elif key != CHOICES:
                _put(records[key[0]], self.inputs.by_key[key].path, value)
        call = Call(self.zone, now, self.zone.local(now) // DAY, records[Place.CONTEXT], records[Place.MEMORY])
        return Frame(call, Budget(), records[Place.OPTION])


def _put(record: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        record = record.setdefault(name, {})
    record[path[-1]] = value


# --- what conditions are --------------------------------------------------------------------------------------------


@frozen
class Atom:
    """Decided by the inputs that it reads, each by the values of its axis."""

    keys: tuple[Key, ...]


@frozen
class Free:
    """May be true or false (or overflow) whatever else is so; equal ones (of two programs too) are one."""

    key: object
    overflows: bool


@frozen
class Branch:
    """`and`, `or`, `not`, `if`: by its parts."""


@frozen
class Spoken:
    """Speaks of outcomes (`score`, `fires(r)`), as an `expect` may: for who knows them."""


@frozen
class Same:
    """As another expression, in which a choice stands outside of a comparison."""

    expr: Expr


Kind = Atom | Free | Branch | Same | Spoken


class Survey:
    """Gathers conditions, and says what each one is. `apart` are inputs that the sides may read as different values."""

    def __init__(self, sides: Sequence[Side], since: int, apart: frozenset[Key] = frozenset()) -> None:
        self.sides, self.since, self.apart = sides, since, apart
        self.kinds: dict[int, Kind] = {}
        self.atoms: list[tuple[int, Expr, Atom]] = []
        self.asked: dict[Key, dict[Path, Asked]] = {}
        self.every: set[Key] = set()
        self.free: dict[object, bool] = {}
        # One expression of each free value, as the side has it that asked first.
        self.written: dict[object, Expr] = {}
        self._seen: list[Expr] = []  # kept, since kinds are by identity

    def add(self, expr: Expr, side: int = 0) -> None:
        """Notes a condition, written out, and all that it is made of."""
        if id(expr) in self.kinds:
            return
        self._seen.append(expr)
        kind = self.kinds[id(expr)] = self._kind(expr, side)
        match kind:
            case Atom():
                self.atoms.append((side, expr, kind))
            case Free(key, overflows):
                self.free[key] = overflows
                self.written.setdefault(key, expr)
            case Same(other):
                self.add(other, side)
            case Branch():
                for part in children(expr):
                    self.add(part, side)

    def add_value(self, expr: Expr, side: int = 0) -> bool:
        """Notes a number, written out; whether its values can be listed."""
        keys = self.sides[side].inputs.read_by(expr)
        if keys and not self._few(keys, side):
            return False
        self.every |= keys
        for key in keys:
            self.asked.setdefault(key, {})
        return True

    def _kind(self, expr: Expr, side: int) -> Kind:
        connective = isinstance(expr, p.And | p.Or | p.Not | p.If)
        if speaks(expr):
            return Branch() if connective else Spoken()
        here = self.sides[side].inputs
        keys = here.read_by(expr)
        if not keys or (len(keys) == 1 and self._asks(expr, next(iter(keys)), side)):
            return Atom(tuple(keys))
        if connective or (isinstance(expr, p.Compare) and expr.left.type == BOOL):
            return Branch()
        other = hoisted(expr)
        if other is not None:
            return Same(other)
        if self._few(keys, side):
            self.every |= keys
            for key in keys:
                self.asked.setdefault(key, {})
            return Atom(tuple(sorted(keys)))
        return Free(self.shared_key(expr, side), may_overflow(expr))

    def shared_key(self, expr: Expr, side: int) -> object:
        """What an expression shares with one of the other side that has the same value wherever both are asked."""
        inputs = self.sides[side].inputs
        shared = len({other.zone for other in self.sides}) == 1 and not inputs.read_by(expr) & self.apart
        return (inputs.key_of(expr), None if shared else side)

    def _few(self, keys: Iterable[Key], side: int) -> bool:
        """Whether all of these inputs have few values, and few together."""
        counts = []
        for key in keys:
            field = self.sides[side].inputs.by_key[key].field
            few = few_values(field, self.sides[side].zone) if key not in (NOW, CHOICES) else None
            if few is None:
                return False
            counts.append(len(few) + isinstance(field.type, t.Optional))
        return prod(counts) <= _MOST_TOGETHER

    def _asks(self, expr: Expr, key: Key, side: int) -> bool:
        """Whether the questions about one input are all known; notes them."""
        if key == CHOICES:
            return False
        here = self.sides[side]
        depth = len(here.inputs.by_key[key].path)
        questions = Questions(here.zone, _path_of)
        known = questions.ask(expr)
        asked = self.asked.setdefault(key, {})
        for path, found in questions.asked.items():
            asked[path[depth:]] = merged(asked.get(path[depth:]), found)
        return known


def speaks(expr: Expr) -> bool:
    """Whether it speaks of outcomes."""
    return isinstance(expr, p.RuleFact | p.OutcomeValue) or any(speaks(part) for part in children(expr))


def _path_of(expr: Expr) -> Path | None:
    match expr:
        case p.OptionValue(path=path):
            return path
        case p.ContextValue(path=path):
            return ("now",) if path == ("today",) else path
        case p.MemoryValue(name=name):
            return (name,)
        case _:
            return None


def hoisted(expr: Expr) -> Expr | None:
    """The same with the first choice in it outside: `(if c then a else b) < d` is `if c then a < d else b < d`."""
    if isinstance(expr, p.Coalesce):
        return p.If(expr.type, expr.span, p.Present(BOOL, expr.span, expr.value), expr.value, expr.default)
    if not isinstance(expr, p.Compare | p.InRange | p.InSet | p.Apply):
        return None
    for name in ("left", "right", "value", "container", "low", "high"):
        match getattr(expr, name, None):
            case p.If(condition=condition, then=then, otherwise=otherwise):
                return p.If(expr.type, expr.span, condition, _with(expr, name, then), _with(expr, name, otherwise))
            case p.Coalesce(value=value, default=default):
                there = p.Present(BOOL, expr.span, value)
                return p.If(expr.type, expr.span, there, _with(expr, name, value), _with(expr, name, default))
            case _:
                continue
    return None


def _with(expr: Expr, name: str, part: Expr) -> Expr:
    new: dict[str, Any] = {name: part}
    return replace(expr, **new)
