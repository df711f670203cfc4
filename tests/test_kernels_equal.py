"""Kernels are equal to `evaluate`, bit for bit: for every program and table, engine, block size, number of threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from strategies import PROGRAMS, TABLES, Table, columns_of

from ucl.bench.meetings import TWELVE, plan_of, some_meetings
from ucl.bench.meetings import columns_of as columns_of_meetings
from ucl.bench.meetings import compiled as meetings
from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.kernels import run
from ucl.kernels.columns import InvalidCell
from ucl.kernels.lower import lower
from ucl.kernels.planning import Planner
from ucl.kernels.run import Details, EngineName, Told, details, score, tell, whole_columns
from ucl.semantics.evaluate import score_options
from ucl.semantics.outcome import Call, Invalid, Outcome, Reason
from ucl.semantics.program import Program
from ucl.semantics.zones import Zone

Option = Mapping[str, Any] | InvalidCell
NOW = 1_780_000_000_000_000  # 2026-05-28T20:26:40Z


def compiled(source: str) -> Program | None:
    program, _ = check_source(Source("p.ucl", source))
    return program


def call_of(program: Program, **given: Any) -> Call:
    zone = Zone.load(program.timezone)
    assert zone is not None
    context = {"mood": "calm", "level": None}
    return Call(zone, NOW, zone.local(NOW) // 86_400_000_000, **{"context": context, "memory": {"visits": []}, **given})


def expected(program: Program, options: Sequence[Option], call: Call, groups: Sequence[int] | None) -> list[Outcome]:
    rows = [Invalid(o.field, Reason(o.reason), o.value) if isinstance(o, InvalidCell) else o for o in options]
    return score_options(program, program.schemas["S"], rows, call, groups)


def computed(
    program: Program,
    options: Sequence[Option],
    call: Call,
    groups: Sequence[int] | None,
    engine: EngineName = "portable",
    threads: int = 1,
    block_rows: int | None = None,
    planner: Planner | None = None,
) -> list[Outcome]:
    """Outcomes put together from scores and details."""
    schema = program.schemas["S"]
    plan = lower(program, schema, call) if planner is None else planner.plan(program, schema, call)
    columns = columns_of(schema, options)
    sets = None if groups is None else np.array(groups, np.int64)
    scores = score(plan, columns, groups=sets, threads=threads, engine=engine, block_rows=block_rows)
    shown = details(plan, columns, slice(None), sets)
    ranges = list(tell(plan, columns, whole_columns(plan, columns, sets), scores.valid, engine))
    assert [told.rows for told in ranges] == [columns.rows]
    assert_told(ranges[0], shown)
    outcomes = []
    for row in range(columns.rows):
        if not scores.valid[row]:
            outcomes.append(Outcome(None, None, None, None, invalid=scores.invalid[row]))
            continue
        assert row not in scores.invalid
        outcome = Outcome(
            int(scores.total[row]),
            bool(scores.feasible[row]),
            bool(scores.contested[row]),
            None,
            names(shown.rules, shown.fired[row]),
            names(shown.constraints, shown.violated[row]),
            names(shown.shadows, shown.shadow[row]),
            {name: int(shown.contributions[row, i]) for i, name in enumerate(shown.rules) if shown.counted[row, i]},
        )
        outcomes.append(outcome)
    return outcomes


def assert_told(told: Told, shown: Details) -> None:
    """Lists say what matrices do."""
    pairs = (
        (told.fired, shown.rules, shown.fired),
        (told.violated, shown.constraints, shown.violated),
        (told.shadow, shown.shadows, shown.shadow),
        (told.counted, shown.rules, shown.counted),
    )
    for lists, all_names, matrix in pairs:
        assert lists.names == all_names
        assert np.diff(lists.ends).tolist() == matrix.sum(axis=1).tolist()
        assert lists.numbers.tolist() == np.nonzero(matrix)[1].tolist()
    assert told.amounts.tolist() == shown.contributions[shown.counted].tolist()


def names(all_names: Sequence[str], flags: Sequence[bool]) -> tuple[str, ...]:
    return tuple(name for name, flag in zip(all_names, flags, strict=True) if flag)


def without_decision(outcome: Outcome) -> Outcome:
    return Outcome(
        outcome.total,
        outcome.feasible,
        outcome.contested,
        None,
        outcome.fired,
        outcome.violated,
        outcome.shadow,
        outcome.contributions,
        outcome.invalid,
    )


def assert_equal(
    program: Program, options: Sequence[Option], call: Call, groups: Sequence[int] | None = None, **how: Any
) -> None:
    meant = [without_decision(outcome) for outcome in expected(program, options, call, groups)]
    assert computed(program, options, call, groups, **how) == meant


How = tuple[EngineName, int, int | None]


def check_equality(source: str, table: Table, mood: str, level: int | None, groups: bool, how: How) -> None:
    program = compiled(source)
    assume(program is not None)
    assert program is not None
    call = call_of(
        program, context={"mood": mood, "level": level}, memory={"visits": table.visits}, recency={"r0": 0.5}
    )
    sets = [row % 3 for row in range(len(table.options))] if groups else None
    engine, threads, block_rows = how
    assert_equal(program, table.options, call, sets, engine=engine, threads=threads, block_rows=block_rows)


arguments = {
    "source": PROGRAMS,
    "table": TABLES,
    "mood": st.sampled_from(["calm", "busy"]),
    "level": st.sampled_from([None, 3, 2**62]),
    "groups": st.booleans(),
    "how": st.tuples(
        st.sampled_from(["portable", "numba"]), st.sampled_from([1, 2]), st.sampled_from([None, None, 1, 3, 64])
    ),
}
# Without shrinking: a program is smaller after a look at it than after minutes of search.
patient = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
}


@settings(max_examples=100, **patient)
@given(**arguments)
def test_equal_to_evaluate(**given: Any) -> None:
    check_equality(**given)


@pytest.mark.slow
@settings(max_examples=10000, **patient)
@given(**arguments)
def test_equal_to_evaluate_in_a_long_campaign(**given: Any) -> None:
    check_equality(**given)


@pytest.mark.parametrize("engine", ["portable", "numba"])
@pytest.mark.parametrize("rows", [0, 1, 64, 300, 6400])
def test_ranges_of_rows_tell_what_all_rows_do(engine: EngineName, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_TOLD_BYTES", 40_000)
    plan, columns = plan_of(meetings(TWELVE)), columns_of_meetings(some_meetings(rows))
    valid = score(plan, columns, engine=engine).valid.copy()
    valid[3:70:5] = False
    ranges = list(tell(plan, columns, (), valid, engine))
    assert sum(told.rows for told in ranges) == rows
    assert len(ranges) == 1 or rows > 300
    shown = details(plan, columns, slice(None))
    first = 0
    for told in ranges:
        here = slice(first, first + told.rows)
        names = ("fired", "violated", "shadow", "counted")
        cut = {name: getattr(shown, name)[here] & valid[here, None] for name in names}
        assert_told(told, replace(shown, **cut, contributions=shown.contributions[here]))
        first += told.rows
