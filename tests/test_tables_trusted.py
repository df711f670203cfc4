"""Columns taken at their word: whatever they hold, scores are those of a table that was read with care."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.kernels.columns import Bounds
from ucl.kernels.run import BoundsError, score
from ucl.scoring.results import making
from ucl.tables.ingest import ingest

PROGRAM = """
timezone "Europe/Berlin"
schema Meeting {
  start: datetime  count: int in 0..=10  cost: float in 0.5..  rate: float in 0.0..1.0  free: int
  turn: weekday  note: int?
}
rule early on Meeting { when start.time in ..09:00 score -0.5 }
rule many on Meeting { when count >= 3 score 0.25 * count }
rule dear on Meeting { when cost > 100.0 score -0.001 * cost }
rule rated on Meeting { when rate < 0.5 and free > 7 score 0.125 }
rule turned on Meeting { when turn == fri or (note ?? 0) == 1 score 0.0625 }
"""
NOW = "2026-01-01T00:00:00Z"
ROWS = making._WORTH_TRUSTING
INT64 = 2**63


def some_table(rows: int = ROWS, **changed: Any) -> pa.Table:
    random = np.random.default_rng(4)
    start = 1_767_225_600_000_000 + random.integers(0, 10**13, rows)
    columns = {
        "start": start,
        "count": random.integers(0, 11, rows),
        "cost": random.exponential(80, rows) + 0.5,
        "rate": random.random(rows),
        "free": random.integers(0, 20, rows),
        "turn": random.choice(["mon", "fri"], rows),
        "note": random.integers(0, 3, rows),
    }
    for name, (row, value) in changed.items():
        columns[name][row] = value
    arrays = {name: pa.array(values) for name, values in columns.items()}
    arrays["start"] = arrays["start"].cast(pa.timestamp("us", "UTC"))
    return pa.table(arrays)


def same(first: Any, second: Any) -> None:
    for name in ("total", "feasible", "contested"):
        assert np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True), name
    assert first.invalid == second.invalid


def both_ways(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    program = ucl.compile(PROGRAM)
    trusting = program.score(table, now=NOW)
    with monkeypatch.context() as patch:
        patch.setattr(making, "_WORTH_TRUSTING", 10**9)
        return trusting, program.score(table, now=NOW)


def test_a_table_within_its_bounds_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ucl.compile(PROGRAM)
    zone = program._planner.plan(program.semantic, program.semantic.schemas["Meeting"], _call(program)).call.zone
    columns = ingest(some_table(), program.semantic.schemas["Meeting"], zone, trusting=True)
    assert len(columns.bounds) == 6  # all but the weekday
    assert all(bounds.hold() for bounds in columns.bounds)
    same(*both_ways(some_table(), monkeypatch))


def _call(program: Any) -> Any:
    from ucl.scoring.calls import start_call

    return start_call(program.semantic, now=NOW)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("start", -(2**62)),
        ("start", 2**62),
        ("count", -1),
        ("count", 11),
        ("count", INT64 - 1),
        ("cost", 0.4999999999999999),
        ("cost", math.nan),
        ("cost", math.inf),
        ("cost", -math.inf),
        ("rate", 1.0),
        ("rate", -5e-324),
    ],
)
@pytest.mark.parametrize("row", [0, ROWS // 2, ROWS - 1])
@pytest.mark.parametrize("rows", [ROWS, ROWS + 37])
def test_one_value_outside_is_found(
    name: str, value: float, row: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting, careful = both_ways(some_table(rows, **{name: (row, value)}), monkeypatch)
    same(trusting, careful)
    assert list(trusting.invalid) == [row]


@pytest.mark.parametrize(
    ("name", "value"),
    [("rate", math.nextafter(1.0, 0.0)), ("rate", -0.0), ("count", 10), ("cost", 0.5), ("free", -INT64)],
)
def test_the_ends_are_within(name: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    trusting, careful = both_ways(some_table(**{name: (5, value)}), monkeypatch)
    same(trusting, careful)
    assert trusting.invalid == {}


def test_both_engines_find_out() -> None:
    program = ucl.compile(PROGRAM)
    schema, call = program.semantic.schemas["Meeting"], _call(program)
    plan = program._planner.plan(program.semantic, schema, call)
    for row in (None, 0, ROWS - 1):
        table = some_table() if row is None else some_table(count=(row, 11))
        columns = ingest(table, schema, call.zone, trusting=True)
        for engine in ("portable", "numba"):
            for threads in (1, 2):
                if row is None:
                    score(plan, columns, engine=engine, threads=threads)
                    continue
                with pytest.raises(BoundsError):
                    score(plan, columns, engine=engine, threads=threads)


def test_columns_in_parts_or_with_nulls_are_read_with_care(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = some_table()
    parts = pa.concat_tables([whole.slice(0, 100), whole.slice(100)])
    sliced = pa.concat_tables([whole, whole]).combine_chunks().slice(77, ROWS)
    nulls = whole.set_column(1, "count", pa.array([None, *whole["count"].to_pylist()[1:]], pa.int64()))
    for table in (parts, sliced, nulls):
        same(*both_ways(table, monkeypatch))


def test_whole_columns_never_see_what_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PROGRAM", PROGRAM + "\nrule cheap on Meeting { when lowest(cost) score 1 }")
    for cost in (math.nan, 1.0):
        same(*both_ways(some_table(cost=(9, cost)), monkeypatch))


@given(st.lists(st.floats(allow_nan=True), max_size=5), st.floats(-10, 10), st.floats(-10, 10))
@settings(max_examples=100)
def test_bounds_hold_as_each_value_does(values: list[float], least: float, greatest: float) -> None:
    held = all(least <= value <= greatest for value in values)
    assert Bounds(np.array(values, np.float64), least, greatest).hold() == held
