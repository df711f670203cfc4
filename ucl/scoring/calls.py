"""What holds around a call, from what a caller says: the zone, the moment, context, memory and weights.

In: Python values or ISO texts. Out: a `Call`; or `CallError`, where the whole call can't be.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ucl.models.values import plain
from ucl.scoring import errors
from ucl.semantics import types as t
from ucl.semantics.outcome import CONTESTED_FROM, Call
from ucl.semantics.program import Program, Schema
from ucl.semantics.values import Problem, ReadMemory, Unreadable, make_call, parse_value, read_memory, to_json
from ucl.semantics.zones import Zone

Moment = dt.datetime | dt.date | str
"""An instant; without an offset it is local to the call's zone, and a date is its midnight."""


def start_call(
    program: Program,
    context: Any = None,
    memory: Any = None,
    now: Moment | None = None,
    timezone: str | None = None,
    weights: Mapping[str, float] | None = None,
    contested_from: float = CONTESTED_FROM,
) -> Call:
    """`context` and `memory` are mappings or models, and a memory may have been read before (`remember`).

    `now` None is what the context says under that name, else the clock's; `weights` is recency by rule.
    """
    zone = find_zone(program.timezone if timezone is None else timezone)
    given = _object(context, "context")
    remembered = memory if isinstance(memory, ReadMemory) else _object(memory, "memory")
    if given is not None and "now" in given:
        now = given["now"] if now is None else now
        given = {name: value for name, value in given.items() if name != "now"}
    moment = time.time_ns() // 1000 if now is None else instant(now, zone)
    if weights is not None and not isinstance(weights, Mapping):
        raise errors.wrong_argument("weights", 'a number for each rule: {"rule": 0.5}', weights)
    call = make_call(program, moment, zone, given, remembered, weights, contested_from)
    if isinstance(call, Problem):
        raise errors.bad_call(call)
    return call


def remember(program: Program, memory: Any, timezone: str | None = None) -> ReadMemory:
    """A memory read once for many calls. Raises `CallError` for one that doesn't fit the program."""
    zone = find_zone(program.timezone if timezone is None else timezone)
    read = read_memory(program, _object(memory, "memory") or {}, zone)
    if isinstance(read, Problem):
        raise errors.bad_call(read)
    return read


def find_zone(name: str) -> Zone:
    if not isinstance(name, str):
        raise errors.wrong_argument("timezone", "the name of a time zone", name)
    zone = Zone.load(name)
    if zone is None:
        raise errors.unknown_zone(name)
    return zone


def instant(moment: Moment, zone: Zone) -> int:
    """Microseconds since 1970-01-01T00:00Z."""
    given = moment
    if isinstance(moment, dt.date) and not isinstance(moment, dt.datetime):
        moment = moment.isoformat()
    if isinstance(moment, str) and len(moment) == len("2026-03-04"):
        moment = f"{moment}T00:00"
    try:
        # What is absent (NaT) is a datetime to Python, though not one that equals itself.
        parsed = parse_value(moment if moment == moment else None, t.DATETIME, None, zone)
    except Unreadable:
        raise errors.bad_now(str(given)) from None
    assert isinstance(parsed, int)
    return parsed


def instant_text(call: Call) -> str:
    """The moment of a call, in its zone."""
    text: str = to_json(call.now, t.DATETIME, call.zone)
    return text


def _object(given: Any, what: str) -> Mapping[str, Any] | None:
    value = plain(given)
    if value is None or isinstance(value, Mapping):
        return value
    raise errors.CallError(f"the {what} is not an object", 'give one key for each name: {"name": value}')


def scored_schemas(program: Program) -> list[Schema]:
    """Those that rules or constraints are on, in source order."""
    found = dict.fromkeys(rule.schema for rule in program.rules)
    return list(found | dict.fromkeys(constraint.schema for constraint in program.constraints))


def choose_schema(program: Program, name: str | None, used: Iterable[Schema], what: str) -> Schema:
    """The schema of the table: the one named, else the only one that `used` has; `what` names what they are used by.

    A program in which nothing uses a schema may be asked about its only one.
    """
    if name is not None and not isinstance(name, str):
        raise errors.wrong_argument("schema", "the name of a schema", name)
    schemas = {schema.name: schema for schema in [*used, *program.schemas.values()]}
    if name is not None:
        if name not in schemas:
            raise errors.no_such_schema(name, schemas)
        return schemas[name]
    candidates = {schema.name: schema for schema in used} or schemas
    if not candidates:
        raise errors.nothing_to_do(what)
    if len(candidates) > 1:
        raise errors.which_schema(candidates)
    return next(iter(candidates.values()))


def checked_threads(threads: int | None) -> int | None:
    """None, or 0, for as many as suit the table."""
    if threads is None or (isinstance(threads, int) and not isinstance(threads, bool) and threads >= 0):
        return threads
    raise errors.wrong_argument("threads", "a whole number of cores", threads)
