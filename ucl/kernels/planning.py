"""Plans for the calls of a program, and for the versions of it that follow: what is the same is not lowered again.

In: a program, a schema, a call. Out: its `Plan`, as `lower` gives it. Of the call a plan depends on what the program
reads of it, so that most calls of a program share one plan. A version after an edit (`ucl.editing`) shares the
declarations that stayed, and their masks with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from ucl.frozen import collector_paused
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


@dataclass
class _Kept:
    """The last plan for a schema, what it depends on, and what the next one may use of it."""

    program: Program
    surroundings: tuple[Any, ...]
    memory: Mapping[str, p.Value]
    lowering: Lowering
    known: Rulebook
    plan: Plan


@dataclass
class Planner:
    """Keeps one plan a schema. May be asked from several threads."""

    _kept: dict[Schema, _Kept] = field(default_factory=dict)
    _clocks: dict[int, tuple[Rule | Constraint, bool]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def plan(self, program: Program, schema: Schema, call: Call) -> Plan:
        """Raises `Exhausted` where constants cost more steps than a call may."""
        with self._lock, collector_paused():
            surroundings = self._surroundings(program, schema, call)
            kept = self._kept.get(schema)
            if kept is not None and (kept.surroundings != surroundings or not _same(kept.memory, call.memory)):
                kept = None
            if kept is not None and kept.program is program:
                return replace(kept.plan, call=call)
            return self._lowered(kept, program, schema, call, surroundings)

    def _lowered(
        self, kept: _Kept | None, program: Program, schema: Schema, call: Call, surroundings: tuple[Any, ...]
    ) -> Plan:
        ruleset = Ruleset.of(program, schema, call.today)
        size = len(ruleset.active) + len(ruleset.shadow)
        if kept is None or kept.lowering.wholes or len(kept.known.conditions) > _MOST_STALE * size:
            # Columns that only the whole table gives are made for every one that was lowered: none may be stale.
            lowering, known = Lowering(schema, call), Rulebook()
        else:
            lowering, known = kept.lowering, kept.known
            lowering.call, lowering.budget = call, Budget()
        plan = plan_of(lowering, ruleset, known)
        self._kept[schema] = _Kept(program, surroundings, call.memory, lowering, known, plan)
        return plan

    def _surroundings(self, program: Program, schema: Schema, call: Call) -> tuple[Any, ...]:
        """What a plan depends on, but for the program and the memory."""
        declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
        reads_clock = any(self._reads_clock(d) for d in declared)
        changes_by_day = any(d.meta.valid != p.ALWAYS for d in declared)
        return (
            call.zone,
            call.now if reads_clock else None,
            call.today if reads_clock or changes_by_day else None,
            dict(call.context),
            dict(call.recency),
            call.contested_from,
        )

    def _reads_clock(self, declared: Rule | Constraint) -> bool:
        known = self._clocks.get(id(declared))
        if known is None:
            if len(self._clocks) > _MOST_STALE * 100_000:
                self._clocks.clear()
            known = self._clocks[id(declared)] = declared, _reads_clock(declared)
        return known[1]


def _same(before: Mapping[str, p.Value], now: Mapping[str, p.Value]) -> bool:
    """Whether a memory holds the same objects: comparing what it holds could cost more than lowering."""
    return before.keys() == now.keys() and all(value is now[name] for name, value in before.items())


def _reads_clock(declared: Rule | Constraint) -> bool:
    """Whether it looks at `now` or `today`, by itself or through definitions."""
    found = evaluated(expressions_of(declared))
    return any(isinstance(expr, p.ContextValue) and expr.path[0] in ("now", "today") for expr in found)
