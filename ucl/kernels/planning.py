"""Plans for the calls of a program, and for the versions of it that follow: what is the same is not lowered again.

In: a program, a schema, a call. Out: its `Plan`, as `lower` gives it. Of the call a plan depends on what the program
reads of it, so that most calls of a program share one plan. A version after an edit (`ucl.editing`) shares the
declarations that stayed, and their masks with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ucl.frozen import collector_paused, frozen
from ucl.kernels.lower import plan_of
from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.rules import Rulebook
from ucl.kernels.plan import Plan
from ucl.semantics import program as p
from ucl.semantics.evaluate.options import Ruleset
from ucl.semantics.expressions import Budget
from ucl.semantics.outcome import Call
from ucl.semantics.parts import evaluated, expressions_of
from ucl.semantics.program import Constraint, Program, Rule, Schema

# Of what was lowered once and is no longer used, so many times as much as is used may be kept.
_MOST_STALE = 2


@frozen
class _Reads:
    """What of a call the declarations of a schema look at: the moment, or only the day on which they are valid.

    `clocks` has the answer of each declaration by its identity, for the next version.
    """

    clock: bool
    day: bool
    clocks: Mapping[int, tuple[Rule | Constraint, bool]]

    @staticmethod
    def of(program: Program, schema: Schema, before: _Reads | None) -> _Reads:
        declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
        known = {} if before is None else before.clocks
        clocks = {id(d): known.get(id(d)) or (d, _reads_clock(d)) for d in declared}
        clock = any(reads for _, reads in clocks.values())
        return _Reads(clock, clock or any(d.meta.valid is not p.ALWAYS for d in declared), clocks)

    def surroundings(self, call: Call) -> tuple[Any, ...]:
        """What a plan depends on, but for the program and the memory."""
        return (
            call.zone,
            call.now if self.clock else None,
            call.today if self.day else None,
            dict(call.context),
            dict(call.recency),
            call.contested_from,
        )


@dataclass
class _Kept:
    """The last plan for a schema, what it depends on, and what the next one may use of it."""

    program: Program
    reads: _Reads
    surroundings: tuple[Any, ...]
    memory: Mapping[str, p.Value]
    lowering: Lowering
    known: Rulebook
    plan: Plan


@dataclass
class Planner:
    """Keeps one plan a schema. May be asked from several threads."""

    _kept: dict[Schema, _Kept] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def plan(self, program: Program, schema: Schema, call: Call) -> Plan:
        """Raises `Exhausted` where constants cost more steps than a call may."""
        with self._lock, collector_paused():
            kept = self._kept.get(schema)
            if kept is not None and kept.program is program:
                reads = kept.reads
            else:
                reads = _Reads.of(program, schema, None if kept is None else kept.reads)
            surroundings = reads.surroundings(call)
            if kept is not None and (kept.surroundings != surroundings or not _same(kept.memory, call.memory)):
                kept = None
            if kept is not None and kept.program is program:
                return kept.plan.for_call(call)
            ruleset = Ruleset.of(program, schema, call.today)
            lowering, known = _ground(kept, ruleset, schema, call)
            plan = plan_of(lowering, ruleset, known)
            self._kept[schema] = _Kept(program, reads, surroundings, call.memory, lowering, known, plan)
            return plan


def _ground(kept: _Kept | None, ruleset: Ruleset, schema: Schema, call: Call) -> tuple[Lowering, Rulebook]:
    """What to lower into: the last version's graph, or a new one where that holds too much that is stale.

    Columns that only the whole table gives are made for every one that was lowered, so that none may be stale.
    """
    size = len(ruleset.active) + len(ruleset.shadow)
    if kept is None or kept.lowering.wholes or len(kept.known.entries) > _MOST_STALE * size:
        return Lowering.of_options(schema, call), Rulebook()
    kept.lowering.call, kept.lowering.budget = call, Budget()
    return kept.lowering, kept.known


def _same(before: Mapping[str, p.Value], now: Mapping[str, p.Value]) -> bool:
    """Whether a memory holds the same objects: comparing what it holds could cost more than lowering."""
    return before.keys() == now.keys() and all(value is now[name] for name, value in before.items())


def _reads_clock(declared: Rule | Constraint) -> bool:
    """Whether it looks at `now` or `today`, by itself or through definitions."""
    found = evaluated(expressions_of(declared))
    return any(isinstance(expr, p.ContextValue) and expr.path[0] in ("now", "today") for expr in found)
