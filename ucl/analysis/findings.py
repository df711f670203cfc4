"""Everything that LANGUAGE §10 finds in a program, each claim replayed before it is made.

In: a checked `Program` and the moment of the check. Out: diagnostics, by kind and then by place, the same on every run.

    scene (axes, regions) ─▶ dead rules ─▶ nothing feasible ─▶ overridden, never feasible ─▶ conflicts, double counting
                                                                                          └▶ actions, branches
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ucl.analysis import words
from ucl.analysis.kinds.acting import clashing_actions
from ucl.analysis.kinds.dead import always_overridden, never_applies, never_feasible, nothing_feasible
from ucl.analysis.kinds.pairs import conflicts, double_counting
from ucl.analysis.kinds.unreachable import unreachable
from ucl.analysis.kinds.wide import wide_findings
from ucl.analysis.recheck import Recheck
from ucl.analysis.scene.study import Study
from ucl.analysis.suppress import without_accepted
from ucl.diagnostics import Diagnostic
from ucl.frozen import collector_paused
from ucl.semantics.program import Action, Constraint, Program, Rule, Schema


def analyse(
    program: Program, now_us: int, list_tensions: bool = False, recheck: Recheck | None = None
) -> list[Diagnostic]:
    """The findings of a program without errors, checked at `now_us` (microseconds since 1970-01-01T00:00Z).

    Active declarations alone take part, in the module's zone, on every day from that of the check on. Tensions are
    counted, and listed one by one where asked for. `recheck` has what was found out of an earlier version.
    """
    found: list[Diagnostic] = []
    recheck = recheck or Recheck()
    with collector_paused():
        for schema in recheck.begin(program, now_us, _schemas(program)):
            found += _of_schema(recheck, schema, list_tensions)
    if program.properties:
        from ucl.analysis.properties import analyse_properties

        found += analyse_properties(program, now_us)
    return _in_order(program, without_accepted(program, found))


def _schemas(program: Program) -> list[Schema]:
    """Those that anything is on, in source order."""
    declared: list[Rule | Constraint | Action] = [*program.rules, *program.constraints, *program.actions]
    return list(dict.fromkeys(d.schema for d in declared))


def _of_schema(recheck: Recheck, schema: Schema, list_tensions: bool) -> list[Diagnostic]:
    """Found again from nothing where budgets were spent, since what they leave undecided must not depend on edits."""
    study = recheck.study(schema)
    found = list(_found(study, list_tensions))
    if study.spent and recheck.forget(schema):
        return list(_found(recheck.study(schema), list_tensions))
    return found


def _found(study: Study, list_tensions: bool) -> Iterator[Diagnostic]:
    if not study.scene.subjects:
        return
    yield from never_applies(study)
    yield from nothing_feasible(study)
    yield from always_overridden(study)
    yield from never_feasible(study)
    yield from conflicts(study, list_tensions)
    yield from double_counting(study)
    yield from clashing_actions(study)
    yield from unreachable(study)
    yield from wide_findings(study)
    if study.undecided:
        yield words.undecided(next(iter(study.scene.subjects.values())), sorted(study.undecided))


def _in_order(program: Program, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, the program's own first, and by place in it; those of one place as they were found."""
    files = {id(source): place for place, source in enumerate(program.sources)}

    def place(finding: Diagnostic) -> tuple[int, int]:
        span = finding.span.in_document
        return files.get(id(span.source), len(files)), span.start

    return sorted(found, key=place)
