"""What surrounds a call, read from what a caller gives: context, memory, arguments.

In: a program and JSON. Out: a `Call` with a value for everything that the program declares, or a `Problem`, which is
an error of the whole call.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from dataclasses import field as attribute
from types import MappingProxyType
from typing import Any

from ucl.diagnostics import Span
from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow, date_of
from ucl.semantics.outcome import CONTESTED_FROM, Call, Invalid, Reason
from ucl.semantics.program import Definition, Expr, Field, MemoryField, Program, Schema, Value
from ucl.semantics.suggest import nearest
from ucl.semantics.types import Type
from ucl.semantics.values.keys import BadKey, Keys, keys_by_type, keys_of, nfc, spelled
from ucl.semantics.values.read import is_absent, read_field, record_reader
from ucl.semantics.zones import Zone

_LONGEST_SHOWN = 60


@frozen
class Problem:
    """Why a call can't start: one sentence in the caller's terms, and what to do instead where that is known."""

    message: str
    help: str | None = None


@dataclass(frozen=True, eq=False)
class ReadMemory:
    """A memory that was read once, for any number of calls in one zone. It stays as it is, whatever becomes of what it
    was read from."""

    declared: tuple[MemoryField, ...] = attribute(repr=False)
    zone: str
    values: Mapping[str, Value] = attribute(repr=False)


def read_memory(program: Program, memory: Mapping[str, Any], zone: Zone) -> ReadMemory | Problem:
    """What a program remembers, from a JSON object by name."""
    values = _memory(program, memory, zone)
    if isinstance(values, Problem):
        return values
    return ReadMemory(program.memory, zone.name, MappingProxyType(values))


def make_call(
    program: Program,
    now: int,
    zone: Zone,
    context: Mapping[str, Any] | None = None,
    memory: Mapping[str, Any] | ReadMemory | None = None,
    recency: Mapping[str, float] | None = None,
    contested_from: float = CONTESTED_FROM,
) -> Call | Problem:
    """`now` in microseconds since 1970-01-01T00:00Z; `context` and `memory` are JSON objects by name."""
    try:
        today = date_of(zone, now)
    except Overflow:
        return Problem("`now` lies outside the years 1 to 9999")
    given = _context(program, {} if context is None else context, zone)
    if isinstance(given, Problem):
        return given
    remembered = _remembered(program, {} if memory is None else memory, zone)
    if isinstance(remembered, Problem):
        return remembered
    weights = _weights(program, recency or {}, contested_from)
    if isinstance(weights, Problem):
        return weights
    return Call(zone, now, today, given, remembered, weights, contested_from)


def read_arguments(definition: Definition, arguments: Sequence[Any], zone: Zone) -> list[Value] | Problem:
    """A value for each parameter, from JSON or from words of a command line, where numbers and sets are JSON text."""
    wanted = len(definition.parameters)
    if len(arguments) != wanted:
        names = ", ".join(f"`{parameter.name}`" for parameter in definition.parameters)
        takes = f"takes {wanted} argument{'' if wanted == 1 else 's'}" + (f" ({names})" if names else "")
        return Problem(f"`{definition.name}` {takes}, not {len(arguments)}")
    values: list[Value] = []
    for parameter, raw in zip(definition.parameters, arguments, strict=True):
        word = _from_word(raw, parameter.type)
        kind = t.present(parameter.type)
        if isinstance(kind, t.Record) and isinstance(word, Mapping):
            known = spelled(word, keys_of(kind.schema.fields))
            if isinstance(known, BadKey):
                return _bad_key(known, f"the argument `{parameter.name}` of `{definition.name}`")
            word = known
        value = _named_value(parameter.name, word, parameter.type, None, definition.span, zone)
        if isinstance(value, Invalid):
            return _wrong(value, f"the argument `{value.field}` of `{definition.name}`")
        values.append(value)
    return values


# --- context and memory ---------------------------------------------------------------------------------------------


def _context(program: Program, given: Mapping[str, Any], zone: Zone) -> dict[str, Value] | Problem:
    given_by_name = _spelled(given, "context", keys_of(program.context))
    if isinstance(given_by_name, Problem):
        return given_by_name
    context: dict[str, Value] = {}
    for field in program.context:
        value = read_field(given_by_name.get(field.column), field, zone, (field.name,))
        if isinstance(value, Invalid):
            return _wrong(value, f"the context's `{value.field}`")
        context[field.name] = value
    return context


def _remembered(program: Program, given: Mapping[str, Any] | ReadMemory, zone: Zone) -> Mapping[str, Value] | Problem:
    """The very values of a memory that was read, so that what was made of them can be used again."""
    if not isinstance(given, ReadMemory):
        return _memory(program, given, zone)
    if given.declared != program.memory:
        return Problem("the memory was read for a program that remembers something else", "read it with this one")
    if given.zone != zone.name:
        return Problem(f"the memory was read in the zone {given.zone}, and the call is in {zone.name}", "read it again")
    return given.values


def _memory(program: Program, given: Mapping[str, Any], zone: Zone) -> dict[str, Value] | Problem:
    given_by_name = _spelled(given, "memory", keys_by_type((field.name, field.type) for field in program.memory))
    if isinstance(given_by_name, Problem):
        return given_by_name
    memory: dict[str, Value] = {}
    for field in program.memory:
        raw = given_by_name.get(field.name)
        if isinstance(field.type, t.List):
            value = _records(raw, field.name, field.type.element.schema, zone)
            if isinstance(value, Problem):
                return value
        else:
            value = _named_value(field.name, raw, field.type, field.default, field.span, zone)
            if isinstance(value, Invalid):
                return _wrong(value, f"the memory's `{value.field}`")
        memory[field.name] = value
    return memory


def _records(raw: Any, name: str, schema: Schema, zone: Zone) -> Any:
    """A list that is not given is empty."""
    if is_absent(raw):
        return ()
    if not isinstance(raw, list | tuple):
        return Problem(f"the memory's `{name}` is a list of records, not {_shown(raw)}")
    keys, read = keys_of(schema.fields), record_reader(schema.fields, zone)
    records = []
    for number, data in enumerate(raw, 1):
        if not isinstance(data, Mapping):
            return Problem(f"{_where(number, name)} is an object of `{schema.name}`, not {_shown(data)}")
        known = spelled(data, keys)
        if isinstance(known, BadKey):
            return _bad_key(known, _where(number, name))
        record = read(known)
        if isinstance(record, Invalid):
            return _wrong(record, f"`{record.field}` in {_where(number, name)}")
        records.append(record)
    return tuple(records)


def _where(number: int, name: str) -> str:
    return f"record {number} of the memory's `{name}`"


def _named_value(name: str, raw: Any, type: Type, default: Expr | None, span: Span, zone: Zone) -> Any:
    return read_field(raw, Field(name, type, None, name, None, default, None, span), zone, (name,))


def _from_word(raw: Any, type: Type) -> Any:
    """Text from a command line where the type is not one that JSON writes as text."""
    if not isinstance(raw, str) or not isinstance(
        t.present(type), t.Bool | t.Int | t.Float | t.Quantity | t.Set | t.Record
    ):
        return raw
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


# --- what is wrong, in words ----------------------------------------------------------------------------------------


def _spelled(given: Mapping[str, Any], kind: str, keys: Keys) -> Mapping[str, Any] | Problem:
    if not isinstance(given, Mapping):
        return Problem(f"the {kind} is a JSON object, not {_shown(given)}")
    known = spelled(given, keys)
    if not isinstance(known, BadKey):
        return known
    if known.path or known.repeated:
        return _bad_key(known, f"the {kind}")
    if kind == "context" and known.key in ("now", "today"):
        return Problem(
            f"`{known.key}` is no field that a context gives", "give the call its own `now`; `today` is its date"
        )
    return Problem(f"the program declares no {kind} `{known.key}`", _nearest(known.key, known.known))


def _bad_key(bad: BadKey, where: str) -> Problem:
    place = f"`{'.'.join(bad.path)}` in {where}" if bad.path else where
    if bad.repeated:
        return Problem(f"{place} gives `{bad.key}` twice", "keep one of the two")
    return Problem(f"{place} has no field `{bad.key}`", _nearest(bad.key, bad.known))


def _nearest(name: str, known: Iterable[str]) -> str | None:
    near = nearest(name, sorted(known))
    return None if near is None else f"did you mean `{near}`?"


def _wrong(invalid: Invalid, what: str) -> Problem:
    match invalid.reason:
        case Reason.ABSENT:
            return Problem(f"{what} is not given and has no default")
        case Reason.DOMAIN:
            return Problem(f"{what} may not be {_shown(invalid.value)}", "give a value of its domain")
        case Reason.OVERFLOW:
            return Problem(f"{what} has a default that leaves the range of its type in this zone")
        case _:
            return Problem(f"{what} can't be read from {_shown(invalid.value)}")


def _weights(program: Program, recency: Mapping[str, float], contested_from: float) -> dict[str, float] | Problem:
    names = {rule.name for rule in program.rules}
    weights: dict[str, float] = {}
    for given, weight in recency.items():
        name = nfc(given)
        if name not in names:
            return Problem(f"there is no rule `{name}` to weigh", _nearest(name, names))
        if name in weights:
            return Problem(f"`{name}` is weighed twice", "keep one of the two")
        if not _is_weight(weight):
            return Problem(f"the recency of `{name}` is a number of 0 or more, not {_shown(weight)}")
        weights[name] = weight
    if not _is_weight(contested_from):
        return Problem(f"what counts as contested is a number of 0 or more, not {_shown(contested_from)}")
    return weights


def _is_weight(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number) and number >= 0


def _shown(raw: Any) -> str:
    try:
        text = json.dumps(raw, ensure_ascii=False, default=_kind)
    except (TypeError, ValueError, RecursionError):
        # A circle, a nest of thousands, a number of thousands of digits.
        text = _kind(raw)
    return f"`{text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + '…'}`"


def _kind(raw: object) -> str:
    """Python's own text of an object may be its place in memory, which says nothing and differs from run to run."""
    if isinstance(raw, dt.date | dt.time | dt.timedelta):
        return str(raw)
    if isinstance(raw, Set):
        return f"a set of {len(raw)}"
    return f"a value of the kind {type(raw).__name__}"
