"""A checked program to a plan: LANGUAGE §9 as masks, for one schema and one call.

In: a `Program`, the schema of the options, a `Call`. Out: a frozen `Plan`, in which everything of the call is bound:
context and memory as constants, the day's rules, recency, the zone.
"""

from __future__ import annotations

from ucl.frozen import collector_paused
from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.rules import Rulebook, outcomes
from ucl.kernels.plan import Plan, Wanted
from ucl.semantics.evaluate.options import Ruleset
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema


def lower(program: Program, schema: Schema, call: Call) -> Plan:
    """The plan that scores options. Raises `Exhausted` where constants cost more steps than a call may."""
    with collector_paused():
        return plan_of(Lowering.of_options(schema, call), Ruleset.of(program, schema, call.today))


def plan_of(lowering: Lowering, ruleset: Ruleset, known: Rulebook | None = None) -> Plan:
    """The plan of a day's rules in a graph that may hold others; what is `known` is in it already."""
    known = Rulebook() if known is None else known
    found = outcomes(lowering, ruleset, known)
    graph = lowering.graph
    added = [c for c in found.contributions if c.amount != 0]
    masks = [c.mask for c in added]
    masks += [found.infeasible, found.contested, found.failed, *(failure.mask for failure in found.failures)]
    wanted = Wanted(graph, masks, [c.varying for c in added if c.varying is not None])
    if known.wanted != wanted:
        known.wanted = wanted
    return Plan(lowering.call, tuple(graph.values), tuple(lowering.wholes), found, known.wanted, graph)
