"""Relations that hold for any program, whatever it says: what scoring must not depend on, and what it must do.

In: a program and a table. Out: a sentence for each relation that does not hold, none for a sound engine. They need no
expected results, so that every program and every table is a test of the compiler (metamorphic testing: Chen, Cheung
and Yiu 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.analysis.properties.blame import without
from ucl.diagnostics import Report, Source
from ucl.driver import check_source
from ucl.frozen import frozen
from ucl.kernels.columns import Columns
from ucl.kernels.execution.subset import rows_of
from ucl.kernels.lower import lower
from ucl.kernels.run import Scores, details, score
from ucl.scoring import CompiledProgram
from ucl.scoring.calls import Moment, choose_schema, scored_schemas, start_call
from ucl.semantics import program as p
from ucl.semantics.evaluate.options import resolution_of
from ucl.semantics.outcome import Call
from ucl.semantics.program import Constraint, Program, Resolution, Rule, Schema, Status
from ucl.semantics.types import BOOL, FLOAT
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse

Rows = NDArray[np.int64]
_MOST_PRIORITY = 10.0


def broken_relations(
    program: CompiledProgram,
    table: Any,
    schema: str | None = None,
    *,
    context: Any = None,
    memory: Any = None,
    now: Moment | None = None,
) -> list[str]:
    """The relations that scoring this table with this program breaks; arguments as those of `program.score`."""
    from ucl.tables.frames import to_table
    from ucl.tables.ingest import ingest

    semantic = program.semantic
    chosen = choose_schema(semantic, schema, scored_schemas(semantic), "rules")
    call = start_call(semantic, context, memory, now)
    trial = Trial(semantic, chosen, call, ingest(to_table(table), chosen, call.zone))
    return [said for relation in RELATIONS.values() for said in relation(trial)]


@frozen
class Trial:
    """A program, a table, and the call in which the one scores the other. Each row is a choice set by itself."""

    program: Program
    schema: Schema
    call: Call
    columns: Columns

    def scores(self, program: Program | None = None, columns: Columns | None = None, **how: Any) -> Scores:
        table = self.columns if columns is None else columns
        alone = np.arange(table.rows, dtype=np.int64)
        return score(lower(program or self.program, self.schema, self.call), table, groups=alone, **how)

    def taken(self, rows: Rows) -> Columns:
        """Some rows, in that order, those that are invalid among them."""
        known = self.columns.invalid
        invalid = {place: known[row] for place, row in enumerate(rows.tolist()) if row in known}
        return replace(rows_of(self.columns, rows), invalid=invalid)


def _unlike(one: Scores, other: Scores, rows: Rows | None = None) -> int | None:
    """The first row of which the two say something different; `rows` are those of the one that the other has."""
    places: Any = slice(None) if rows is None else rows
    differs = (
        (one.total[places] != other.total)
        | (one.feasible[places] != other.feasible)
        | (one.contested[places] != other.contested)
        | (one.valid[places] != other.valid)
    )
    found = np.flatnonzero(differs)
    return int(found[0]) if len(found) else None


def _same(trial: Trial, changed: Program, sentence: str) -> Iterator[str]:
    row = _unlike(trial.scores(), trial.scores(changed))
    if row is not None:
        yield f"{sentence}, but row {row} scores differently"


# --- relations ------------------------------------------------------------------------------------------------------


def shadow_rules_change_nothing(trial: Trial) -> Iterator[str]:
    """Every rule and constraint, once more as a shadow of itself."""
    rules = [_renamed(rule) for rule in trial.program.rules_on(trial.schema)]
    constraints = [_renamed(constraint) for constraint in trial.program.constraints_on(trial.schema)]
    program = replace(
        trial.program,
        rules=(*trial.program.rules, *rules),
        constraints=(*trial.program.constraints, *constraints),
    )
    yield from _same(trial, program, "shadow rules change nothing")


def _renamed(declared: Any) -> Any:
    return replace(declared, name=f"shadow of {declared.name}", meta=replace(declared.meta, status=Status.SHADOW))


def a_rule_that_never_applies_changes_nothing(trial: Trial) -> Iterator[str]:
    span = trial.schema.span
    never, one = p.Const(BOOL, span, False), p.Const(FLOAT, span, 1.0)
    names = tuple(rule.name for rule in trial.program.rules_on(trial.schema))
    silent = Rule("never", trial.schema, names, never, (), one, (), p.Meta(), None, span)
    program = replace(trial.program, rules=(*trial.program.rules, silent))
    yield from _same(trial, program, "a rule that never applies changes nothing")


def a_retired_rule_is_not_there(trial: Trial) -> Iterator[str]:
    for declared in _active(trial):
        retired = _with(trial.program, declared, status=Status.RETIRED)
        row = _unlike(trial.scores(retired), trial.scores(without(trial.program, declared.name)))
        if row is not None:
            yield f"retiring `{declared.name}` is removing it, but row {row} scores differently"


def the_order_of_rows_changes_nothing(trial: Trial) -> Iterator[str]:
    rows = np.arange(trial.columns.rows, dtype=np.int64)[::-1].copy()
    row = _unlike(trial.scores(), trial.scores(columns=trial.taken(rows)), rows)
    if row is not None:
        yield f"the order of rows changes nothing, but row {rows[row]} scores differently"


def duplicates_change_nothing(trial: Trial) -> Iterator[str]:
    rows = np.repeat(np.arange(trial.columns.rows, dtype=np.int64), 2)
    row = _unlike(trial.scores(), trial.scores(columns=trial.taken(rows)), rows)
    if row is not None:
        yield f"duplicates change nothing, but row {rows[row]} scores differently"


def the_size_of_batches_changes_nothing(trial: Trial) -> Iterator[str]:
    row = _unlike(trial.scores(), trial.scores(engine="portable", block_rows=64))
    if row is not None:
        yield f"the size of batches changes nothing, but row {row} scores differently"


def more_weight_never_lowers_what_a_rule_favours(trial: Trial) -> Iterator[str]:
    """Under `weighted`; and options for which the rule does not fire stay as they are."""
    if resolution_of(trial.program, trial.schema) is not Resolution.WEIGHTED:
        return
    before = trial.scores()
    plan = lower(trial.program, trial.schema, trial.call)
    told = details(plan, trial.columns, slice(None), np.arange(trial.columns.rows, dtype=np.int64))
    for rule in _active(trial):
        if not isinstance(rule, Rule) or rule.meta.priority >= _MOST_PRIORITY or rule.name not in told.rules:
            continue
        after = trial.scores(_with(trial.program, rule, priority=min(rule.meta.priority * 2, _MOST_PRIORITY)))
        signs = np.sign(told.contributions[:, told.rules.index(rule.name)])
        lowered = (after.total - before.total) * signs < 0
        moved = (signs == 0) & (after.total != before.total)
        rows = np.flatnonzero((lowered | moved) & before.valid & after.valid)
        if len(rows):
            yield f"more weight for `{rule.name}` never lowers what it favours, but row {rows[0]} says otherwise"


def formatting_changes_nothing(trial: Trial) -> Iterator[str]:
    """The text of the program against the same text as `fmt` lays it out; nothing for a text whose imports are gone."""
    source = trial.program.sources[0]
    written, laid_out = (_read_again(source, text) for text in (source.text, _formatted(source)))
    if written is None:
        return
    if laid_out is None:
        yield "formatting changes nothing, but the program does not compile any more"
        return
    one, other = (_scored_anew(trial, program) for program in (written, laid_out))
    row = _unlike(one, other)
    if row is not None:
        yield f"formatting changes nothing, but row {row} scores differently"


def _formatted(source: Source) -> str:
    file = parse(source, Report())
    return format_source(file)


def _read_again(source: Source, text: str) -> Program | None:
    program, _ = check_source(Source(source.path, text), Path(source.path).parent)
    return program


def _scored_anew(trial: Trial, program: Program) -> Scores:
    """A program that was read again has schemas of its own; what it has no rules for scores nothing."""
    declared: list[Rule | Constraint] = [*program.rules, *program.constraints]
    named = (each.schema for each in declared if each.schema.name == trial.schema.name)
    alone = np.arange(trial.columns.rows, dtype=np.int64)
    return score(lower(program, next(named, trial.schema), trial.call), trial.columns, groups=alone)


def _active(trial: Trial) -> list[Rule | Constraint]:
    declared: list[Rule | Constraint] = [
        *trial.program.rules_on(trial.schema),
        *trial.program.constraints_on(trial.schema),
    ]
    return [d for d in declared if d.meta.status is Status.ACTIVE]


def _with(program: Program, declared: Rule | Constraint, **meta: Any) -> Program:
    """The program with another status or weight of one declaration."""
    changed: Any = replace(declared, meta=replace(declared.meta, **meta))
    rules = tuple(changed if rule is declared else rule for rule in program.rules)
    constraints = tuple(changed if each is declared else each for each in program.constraints)
    return replace(program, rules=rules, constraints=constraints)


RELATIONS: Mapping[str, Callable[[Trial], Iterator[str]]] = {
    relation.__name__: relation
    for relation in (
        shadow_rules_change_nothing,
        a_rule_that_never_applies_changes_nothing,
        a_retired_rule_is_not_there,
        the_order_of_rows_changes_nothing,
        duplicates_change_nothing,
        the_size_of_batches_changes_nothing,
        more_weight_never_lowers_what_a_rule_favours,
        formatting_changes_nothing,
    )
}
