"""Golden programs give their answers at every stage: the command line, laid out anew, `evaluate`, both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import run_here
from golden_cases import Case, cases

from ucl.diagnostics import Report, Source
from ucl.driver import check_path
from ucl.kernels.lower import lower
from ucl.kernels.run import EngineName, score
from ucl.scoring.calls import choose_schema, scored_schemas, start_call
from ucl.scoring.results.choice_sets import choice_sets
from ucl.semantics.evaluate import score_options
from ucl.semantics.outcome import Call, as_score
from ucl.semantics.program import Program, Schema
from ucl.semantics.values import read_record
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse
from ucl.tables.files import read_table
from ucl.tables.ingest import ingest

CASES = [pytest.param(case, id=case.name) for case in cases()]
CALLED = [pytest.param(case, id=case.name) for case in cases() if case.status == 0]


def misses(wanted: Any, got: Any, place: str = "") -> str | None:
    """Where `got` lacks a key of `wanted` or has another value; objects may have more keys."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        found = (misses(value, got.get(key, "(missing)"), f"{place}.{key}") for key, value in wanted.items())
        return next((miss for miss in found if miss), None)
    return None if wanted == got and type(wanted) is type(got) else f"{place}: wanted {wanted!r}, got {got!r}"


def scored(case: Case, folder: Path) -> list[dict[str, Any]]:
    ran = run_here("score", folder / "program.ucl", folder / "rows.jsonl", *words(case, folder), "--format", "json")
    assert ran.status == case.status, ran.err
    return ran.lines


def words(case: Case, folder: Path) -> list[str]:
    return [str(folder / word) if word.endswith(".json") else word for word in case.arguments]


def assert_expected(case: Case, lines: list[dict[str, Any]]) -> None:
    assert len(lines) == len(case.expected)
    for wanted, got in zip(case.expected, lines, strict=True):
        assert not (miss := misses(wanted, got)), f"row {got['row']}{miss}"


@pytest.mark.parametrize("case", CASES)
def test_on_the_command_line(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    assert_expected(case, scored(case, tmp_path))


@pytest.mark.parametrize("case", CALLED)
def test_laid_out_anew(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    for path in tmp_path.rglob("*.ucl"):
        report = Report()
        path.write_text(format_source(parse(Source(str(path), path.read_text("utf-8")), report)), "utf-8")
        assert not report.has_errors
    assert_expected(case, scored(case, tmp_path))


def called(case: Case, folder: Path) -> tuple[Program, Schema, Call]:
    case.write(folder)
    program, report = check_path(folder / "program.ucl")
    assert program is not None, list(report)
    schema = choose_schema(program, None, scored_schemas(program), "rules")
    call = start_call(program, case.json("context.json"), case.json("memory.json"), case.argument("--now"), None, None)
    return program, schema, call


@pytest.mark.parametrize("case", CALLED)
@pytest.mark.parametrize("engine", ["portable", "numba"])
def test_in_an_engine(case: Case, engine: EngineName, tmp_path: Path) -> None:
    program, schema, call = called(case, tmp_path)
    table = read_table(str(tmp_path / "rows.jsonl"))
    column = case.argument("--group-by")
    groups = None if column is None else choice_sets(table, column, schema)
    scores = score(lower(program, schema, call), ingest(table, schema, call.zone), groups=groups, engine=engine)
    for row, wanted in enumerate(case.expected):
        assert scores.valid[row] == (wanted.get("total", 0) is not None)
        if wanted.get("total") is not None:
            assert as_score(int(scores.total[row])) == wanted["total"]
        if wanted.get("feasible") is not None:
            assert scores.feasible[row] == wanted["feasible"]
        if wanted.get("contested") is not None:
            assert scores.contested[row] == wanted["contested"]


@pytest.mark.parametrize("case", CALLED)
def test_in_evaluate(case: Case, tmp_path: Path) -> None:
    program, schema, call = called(case, tmp_path)
    options = [read_record(row, schema.fields, call.zone) for row in case.rows]
    column = case.argument("--group-by")
    groups = None if column is None else [row[column] for row in case.rows]
    for wanted, outcome in zip(case.expected, score_options(program, schema, options, call, groups), strict=True):
        total = None if outcome.total is None else as_score(outcome.total)
        assert "total" not in wanted or total == wanted["total"]
        assert list(outcome.fired) == wanted.get("fired", list(outcome.fired))
        assert list(outcome.violated) == wanted.get("violated", list(outcome.violated))


def test_the_comparison_can_fail() -> None:
    assert misses({"total": 0.5}, {"total": 0.25}) == ".total: wanted 0.5, got 0.25"
    assert misses({"total": 1.0}, json.loads('{"total": 1}'))
    assert misses({"row": 0}, {})
    assert not misses({"row": 0}, {"row": 0, "more": np.inf})
