"""Strategies, probes and coverage against the definition; relations that hold for any program, and catch faults."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, find, given, settings
from hypothesis import strategies as st
from promises import NOW, compiled, random_source
from strategies import PROGRAMS, TABLES, Table, columns_of

import ucl
from ucl.analysis.properties import Prover
from ucl.diagnostics import Source
from ucl.driver import check_source
from ucl.kernels import run
from ucl.semantics.evaluate import property_holds
from ucl.semantics.outcome import Call
from ucl.semantics.program import Property
from ucl.semantics.zones import UTC, Zone
from ucl.testing import broken_relations, options
from ucl.testing.coverage import over_samples
from ucl.testing.readings import Reader, Reading
from ucl.testing.relations import RELATIONS, Trial
from ucl.testing.samples import batches, draw, draw_rows
from ucl.testing.verdicts import point_of

patient = settings(deadline=None, suppress_health_check=list(HealthCheck))

WIDE = """
timezone "America/New_York"
dimension money { USD, CENT = 0.01USD }
schema Inner { a: int? in 0..=3  label: text = "x"  at: datetime? }
schema S {
  n: int  k: int in 1..=9  f: float in -1.0..1.0  g: float?  b: bool  c: bool?
  title: text  place: text? in {"home", "work"}  kind: "low" | "mid" | "high" = "mid"
  day: date in 2026-01-01..=2026-12-31  night: time in 22:00..06:00  start: datetime
  soon: datetime? in 2026-01-01T00:00..
  w: weekday  d: duration unit min in 15min..=8h  cost: money unit CENT = 5USD  sender: text from "from"
  tags: set<text> = {}  days: set<weekday> = {}  inner: Inner  host: Inner?
}
rule r on S { when n > k score 1 }
"""


# --- strategies -----------------------------------------------------------------------------------------------------


@settings(parent=patient, max_examples=25)
@given(data=st.data())
def test_every_option_is_valid(data: st.DataObject) -> None:
    program = ucl.compile(WIDE)
    rows = data.draw(st.lists(options(program.schemas["S"], "America/New_York"), min_size=1, max_size=3))
    assert program.score(rows).invalid == {}


def smallest(strategy: st.SearchStrategy[Any], holds: Any) -> Any:
    return find(strategy, holds, settings=settings(patient, database=None, max_examples=300))


def test_options_shrink_to_what_people_write() -> None:
    schema = ucl.compile(WIDE).schemas["S"]
    found = smallest(options(schema, "America/New_York"), lambda _: True)
    assert found == {
        "n": 0,
        "k": 1,
        "f": 0.0,
        "b": False,
        "title": "a",
        "day": "2026-03-03",
        "night": "05:00:00",
        "start": "2026-03-03T10:00:00-05:00",
        "w": "mon",
        "d": 30,
        "from": "a",
        "inner": {},
    }


def test_a_field_that_matters_shrinks_alone() -> None:
    program = ucl.compile('schema S { k: int in 1..=9  kind: "low" | "high" = "low"  tags: set<text> = {}  n: int? }')
    found = smallest(options(program.schemas["S"]), lambda row: row.get("kind") == "high" and row["k"] > 3)
    assert found == {"k": 4, "kind": "high"}


def test_values_worth_trying_are_tried() -> None:
    schema = ucl.compile(WIDE).schemas["S"]
    drawn = draw(options(schema, worth={("n",): [123_456_789]}), 60, 1)
    assert sum(row["n"] == 123_456_789 for row in drawn) > 5


@settings(parent=patient, max_examples=10)
@given(data=st.data())
def test_models_are_options_too(data: st.DataObject) -> None:
    program = ucl.compile(WIDE)
    model = program.models["S"]
    option = data.draw(options(model, "America/New_York"))
    assert isinstance(option, model)
    assert program.score([option]).invalid == {}


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="not a time zone"):
        options(ucl.compile(WIDE).schemas["S"], "Mars/Olympus")


# --- what the kernels tell of promises ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_readings_are_what_the_definition_says(seed: int) -> None:
    program = compiled(random_source(seed))
    prover = Prover(program, program.schemas["S"], NOW)
    reader = Reader(prover)
    seen = 0
    for batch in batches(prover, 40, seed):
        for promise, reading in reader.read(batch):
            if not isinstance(promise, Property) or reader.row_by_row(promise):
                continue
            assert isinstance(reading, Reading)
            for row in range(batch.columns.rows):
                point = point_of(prover, batch, row)
                assert point is not None
                option = {key[1][0]: value for key, value in point.values.items() if key[0] == "option"}
                told = bool(reading.holds[row]) if reading.says[row] else None
                assert told == property_holds(program, promise, option, batch.call)
                seen += 1
    assert seen > 100


def test_coverage_over_samples_counts_them_all() -> None:
    source = """schema S { n: int in 0..=9 }
      rule a on S { when n > 4 score 1 }
      rule never on S { when n > 4 and n < 3 score 1 }"""
    a, never = over_samples(compiled(source), NOW, 200, 0)
    assert a.rows == 200
    assert 50 < a.applied == a.fired < 150
    assert (never.applied, never.fired) == (0, 0)


# --- relations ------------------------------------------------------------------------------------------------------


def trial_of(source: str, table: Table) -> Trial | None:
    program, _ = check_source(Source("p.ucl", source))
    if program is None:
        return None
    zone = Zone.load(program.timezone)
    assert zone is not None
    call = Call(zone, NOW, NOW // 86_400_000_000, {"mood": "calm", "level": 2}, {"visits": table.visits})
    schema = program.schemas["S"]
    return Trial(program, schema, call, columns_of(schema, table.options))


@pytest.mark.parametrize("name", RELATIONS)
@settings(parent=patient, max_examples=12)
@given(source=PROGRAMS, table=TABLES)
def test_relations_hold_for_any_program(name: str, source: str, table: Table) -> None:
    trial = trial_of(source, table)
    assume(trial is not None)
    assert trial is not None
    assert list(RELATIONS[name](trial)) == []


MEETINGS = """schema S { n: int in 0..=9 }
rule up on S { when n > 2 score 0.5 }
rule down on S overrides up { when n > 6 score -0.5 }
constraint c on S { forbid when n == 5 }
"""


def test_relations_of_a_program_and_a_table() -> None:
    assert broken_relations(ucl.compile(MEETINGS), [{"n": n} for n in range(10)] + [{"n": 99}]) == []


def test_an_engine_that_looks_at_the_place_of_a_row_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = run.score

    def biased(plan: Any, columns: Any, **how: Any) -> Any:
        found = honest(plan, columns, **how)
        found.total[0] += 1
        return found

    monkeypatch.setattr("ucl.testing.relations.score", biased)
    broken = broken_relations(ucl.compile(MEETINGS), [{"n": n} for n in range(10)])
    assert [said.split(",")[0] for said in broken] == [
        "the order of rows changes nothing",
        "duplicates change nothing",
    ]


def test_an_engine_that_turns_weights_round_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = run.score

    def inverted(plan: Any, columns: Any, **how: Any) -> Any:
        found = honest(plan, columns, **how)
        np.negative(found.total, out=found.total)
        return found

    monkeypatch.setattr("ucl.testing.relations.score", inverted)
    broken = broken_relations(ucl.compile(MEETINGS), [{"n": n} for n in range(10)])
    assert [said.split("`")[1] for said in broken] == ["up", "down"]


# --- samples --------------------------------------------------------------------------------------------------------


def test_samples_are_valid_and_the_same_for_a_seed() -> None:
    program = compiled(WIDE + "property p on S { given k > 3 and f > 0.5 and n > k expect fires(r) }")
    prover = Prover(program, program.schemas["S"], NOW)
    first, again, other = (list(shown(prover, seed)) for seed in (1, 1, 2))
    assert first == again != other


def shown(prover: Prover, seed: int) -> Iterator[Any]:
    for batch in batches(prover, 30, seed):
        assert not batch.columns.invalid
        for row in range(batch.columns.rows):
            point = point_of(prover, batch, row)
            assert point is not None
            yield point.values


def test_samples_do_not_hang_on_what_else_is_loaded(tmp_path: Path) -> None:
    """A shell and pytest have other modules; Hypothesis left to itself draws their constants too."""
    told = ", ".join(str(number) for number in range(400_000, 400_400))
    (tmp_path / "rates.py").write_text(f"RATES = [{told}]\n", encoding="utf-8")
    code = "from hypothesis import strategies as st\nfrom ucl.testing.samples import draw\n"
    code += "print(draw(st.lists(st.integers(0, 10**6), min_size=5, max_size=5), 200, 3))"
    found = [
        subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for text in (code, f"import rates\n{code}")
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 5000


def test_draws_are_as_many_as_asked_and_begin_with_the_simplest() -> None:
    strategies = {
        0: st.integers(0, 9).filter(lambda n: n % 5 == 0),
        (0,) * 600: st.tuples(*[st.integers(0, 2**48 - 1)] * 600),
    }
    for simplest, strategy in strategies.items():
        found = draw(strategy, 20, 1)
        assert len(found) == 20
        assert found[0] == simplest
        assert found != draw(strategy, 20, 2)


def test_a_schema_may_be_wide() -> None:
    fields = "  ".join(f"f{number}: float" for number in range(1500))
    program = compiled(f"schema S {{ {fields} }} rule r on S {{ when f0 > f1499 score 1 }}")
    told = draw_rows(program.schemas["S"].fields, UTC, {}, 5, 0)
    assert [len(row) for row in told] == [1500] * 5
    assert told != draw_rows(program.schemas["S"].fields, UTC, {}, 5, 1)


def test_samples_speak_of_every_promise() -> None:
    source = (
        WIDE
        + """property narrow on S { given k == 7 and f in 0.5..0.6 and kind == "high" and w == sat
      and start.time in 03:00..03:05 and title == "x" expect score <= 1 }"""
    )
    program = compiled(source)
    prover = Prover(program, program.schemas["S"], NOW)
    reader = Reader(prover)
    told = [reading.says.sum() for batch in batches(prover, 50, 0) for _, reading in reader.read(batch)]
    assert sum(told) >= 50
