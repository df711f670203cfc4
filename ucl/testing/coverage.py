"""How often each rule fired, was overridden or did not apply, over a table or over samples.

In: a program and options. Out: a `Coverage` for each rule and constraint, in source order, with a count for each of its
`except when` clauses. The counts are read off the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ucl.analysis.cells.survey import Side
from ucl.analysis.points import Point, call_of, point_at
from ucl.analysis.properties import Prover
from ucl.frozen import frozen
from ucl.scoring.calls import scored_schemas
from ucl.semantics import program as p
from ucl.semantics.evaluate import in_source_order
from ucl.semantics.program import Constraint, Program, Rule, Schema, Status
from ucl.testing.readings import Probes, Told, told
from ucl.testing.samples import Batch, batches

if TYPE_CHECKING:
    import pyarrow as pa

Declared = Rule | Constraint


@frozen
class Coverage:
    """Counts of rows; `cases` has one for the rule's own score and for each exception, where it fired."""

    name: str
    kind: str
    rows: int
    applied: int
    fired: int
    violated: int
    cases: tuple[tuple[str, int], ...]

    @property
    def overridden(self) -> int:
        return self.applied - self.fired

    def cells(self) -> list[Any]:
        violated = self.violated if self.kind == "constraint" else ""
        return [self.name, self.rows, self.applied, self.fired, self.overridden, violated]

    def to_json(self) -> dict[str, Any]:
        counts = {"rows": self.rows, "applied": self.applied, "fired": self.fired, "overridden": self.overridden}
        if self.kind == "constraint":
            return {self.kind: self.name, **counts, "violated": self.violated}
        return {self.kind: self.name, **counts, "exceptions": [count for _, count in self.cases[1:]]}


def over_samples(program: Program, since: int, samples: int, seed: int) -> list[Coverage]:
    """Over the samples of `verdicts`, and as many of schemas about which nothing is promised."""
    found: list[Coverage] = []
    for schema in scored_schemas(program):
        promises = [promise for promise in program.properties if promise.schema is schema]
        prover = Prover(program, schema, since, promises)
        found += _counted(program, schema, batches(prover, samples, seed))
    return found


def over_table(program: Program, since: int, table: pa.Table) -> list[Coverage]:
    """Over the rows of a table, which are options of the schema that its columns fit; context and memory are plain."""
    from ucl.tables.errors import TableError
    from ucl.tables.ingest import ingest

    problem: TableError | None = None
    for schema in scored_schemas(program):
        side = Side(program, schema)
        point = point_at(side, {}, since)
        around = Point({key: value for key, value in point.values.items() if key[0] != "option"})
        try:
            columns = ingest(table, schema, side.zone)
        except TableError as error:
            problem = problem or error
            continue
        return _counted(program, schema, [Batch(around, call_of(side, point), columns)])
    if problem is not None:
        raise problem
    return []


def _counted(program: Program, schema: Schema, tables: Iterable[Batch]) -> list[Coverage]:
    declared: list[Declared] = [*program.rules_on(schema), *program.constraints_on(schema)]
    active = [d for d in in_source_order(program, declared) if d.meta.status is Status.ACTIVE]
    counter = _Counter(program, active)
    results = [told(counter.program, schema, batch) for batch in tables]
    return [counter.count(d, results) for d in active]


class _Counter:
    """Probes for what applies, fires and takes each case."""

    def __init__(self, program: Program, active: Sequence[Declared]) -> None:
        probes = Probes(program)
        self._applies = {d.name: probes.condition(d.schema, d.when, d.unless, d.meta.valid) for d in active}
        self._fires = {d.name: probes.fires(d) for d in active}
        self._cases = {d.name: [probes.condition(d.schema, c) for c in _cases(d)] for d in active}
        self.program = probes.program()

    def count(self, declared: Declared, results: Sequence[Told]) -> Coverage:
        name = declared.name
        rows = sum(int(result.scores.valid.sum()) for result in results)
        applied = sum(int(result.probe(self._applies[name]).sum()) for result in results)
        fired = sum(int(result.probe(self._fires[name]).sum()) for result in results)
        if isinstance(declared, Constraint):
            violated = sum(int(_violated(result, name).sum()) for result in results)
            return Coverage(name, "constraint", rows, applied, fired, violated, ())
        counts = [self._taken(name, result) for result in results]
        each = [sum(count[i] for count in counts) for i in range(len(declared.exceptions) + 1)]
        titles = ["score", *(f"except {number}" for number in range(1, len(each)))]
        cases = zip(titles, [each[-1], *each[:-1]], strict=True)
        return Coverage(name, "rule", rows, applied, fired, 0, tuple(cases) if declared.exceptions else ())

    def _taken(self, name: str, result: Told) -> list[int]:
        """How often each exception was the first that held, and none did."""
        left = result.probe(self._fires[name])
        counts = []
        for probe in self._cases[name]:
            here = left & result.probe(probe)
            counts.append(int(here.sum()))
            left = left & ~here
        return [*counts, int(left.sum())]


def _cases(declared: Declared) -> list[p.Expr]:
    return [exception.condition for exception in declared.exceptions] if isinstance(declared, Rule) else []


def _violated(result: Told, name: str) -> Any:
    names = result.details.constraints
    return result.details.violated[:, names.index(name)] if name in names else np.zeros(1, np.bool_)
