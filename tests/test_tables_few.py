"""A few rows of Python values are scored without Arrow: which ones are, that nothing else is said, and when not."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from typing import Any

import pytest
from table_schemas import KILOMETRES, LENGTH, MINUTES, URGENCY, between, const, field, record_at, schema
from test_tables_agree import BERLIN

import ucl
from ucl.kernels.columns import Columns
from ucl.semantics import types as t
from ucl.semantics.program import Field, Schema
from ucl.semantics.zones import Zone
from ucl.tables.frames import to_table
from ucl.tables.ingest import FewRows, ingest, ingest_few

ZONE: Zone = BERLIN
PROGRAM = """
schema S { n: int in 0..100 = 7  kind: "a" | "b"  at: datetime?  tags: set<text> = {} }
rule small on S { when n < 10 and kind == "a" score 0.5 }
rule tagged on S { when "x" in tags and present(at) score 0.25 }
"""
HOUR = dt.timezone(dt.timedelta(hours=1))
LATEST = dt.datetime.max.replace(tzinfo=dt.UTC)


def few_columns(cells: list[Any], of: Schema) -> Columns | None:
    few = FewRows.of([{of.fields[0].column: cell} for cell in cells])
    return None if few is None else ingest_few(few, of, ZONE)


ANSWERED: list[tuple[Field, list[Any]]] = [
    (field("b", t.BOOL), [True, False]),
    (field("i", t.INT, domain=between(0, 10, t.INT)), [0, 9]),
    (field("i", t.INT, default=const(3, t.INT)), [2**63 - 1, None, -(2**63)]),
    (field("i", t.Optional(t.INT)), [None, None]),
    (field("f", t.FLOAT), [1, 2.5, -0.0, 2**53]),
    (field("f", t.Optional(t.FLOAT)), [float("nan"), 1.5, None]),
    (field("q", LENGTH, unit=KILOMETRES), [0.1, 3]),
    (field("x", t.TEXT), ["", "e\u0301", "é", "a"]),
    (field("u", URGENCY, default=const("low", URGENCY)), ["high", None, "e\u0301"]),
    (field("w", t.WEEKDAY), ["mon", "sun"]),
    (field("d", t.DATE), ["2026-03-04", "0001-01-01"]),
    (field("d", t.DATE), [dt.date(2026, 3, 4)]),
    (field("c", t.TIME), ["09:30", "23:59:59.999999"]),
    (field("c", t.TIME), [dt.time(9, 30)]),
    (field("a", t.DATETIME), ["2026-03-29T02:30", "2026-10-25 02:30:00", "2026-06-01T12:00"]),
    (field("a", t.DATETIME), ["2026-03-29T02:30Z", "2026-10-25T02:30+02:00"]),
    (field("a", t.DATETIME), [dt.datetime(2026, 10, 25, 2, 30), dt.datetime(2026, 10, 25, 2, 30, fold=1)]),
    (
        field("a", t.Optional(t.DATETIME)),
        [dt.datetime(2026, 1, 1, tzinfo=HOUR), None, dt.datetime.max.replace(tzinfo=dt.UTC)],
    ),
    (field("l", t.DURATION), ["PT90M", "P1D"]),
    (field("l", t.DURATION), [dt.timedelta(minutes=3, microseconds=1)]),
    (field("l", t.DURATION, unit=MINUTES), [30, 1.5]),
    (field("s", t.Set(t.TEXT)), [["a", "a"], (), {"b"}, frozenset({"e\u0301"})]),
    (field("s", t.Set(t.INT), default=const(frozenset({4}), t.Set(t.INT))), [[1, 2], None]),
    (field("s", t.Set(URGENCY)), [["low"], ["high", "low"]]),
    (field("s", t.Optional(t.Set(t.DATE))), [["2026-03-04"], None, []]),
]


@pytest.mark.parametrize("place", range(len(ANSWERED)))
def test_right_rows_need_no_arrow(place: int) -> None:
    of, cells = schema(ANSWERED[place][0]), ANSWERED[place][1]
    found = few_columns(cells, of)
    expected = ingest(to_table([{of.fields[0].column: cell} for cell in cells]), of, ZONE)
    assert found is not None
    assert not expected.invalid
    assert (found.folds, found.gaps) == (expected.folds, expected.gaps)
    for row in range(len(cells)):
        assert repr(record_at(found, of, row)) == repr(record_at(expected, of, row))


@pytest.mark.parametrize(
    "cells",
    [[1, None], [11], [1, "1"], [True, 1], [1.5], [2**63], [[1]], [{"a": 1}], [1, object()]],
    ids=["absent", "domain", "text", "bool", "fraction", "too large", "a list", "a dict", "an object"],
)
def test_rows_that_are_wrong_are_left_to_arrow(cells: list[Any]) -> None:
    assert few_columns(cells, schema(field("i", t.INT, domain=between(0, 10, t.INT)))) is None


@pytest.mark.parametrize(
    "data",
    [[], [{}], [{1: 2}], [{"é": 2}], [{"n": "\ud800"}], ({"n": 1},), [{"n": 1}] * 5000, {"n": [1]}, [{"n": 1}, None]],
)
def test_what_may_be_more_than_a_few_plain_rows_is_left_to_arrow(data: Any) -> None:
    assert FewRows.of(data) is None


def test_where_arrow_is_there_already_it_reads_more_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.compute", sys)
    assert FewRows.of([{"n": 1}] * 256) is not None
    assert FewRows.of([{"n": 1}] * 257) is None
    monkeypatch.delitem(sys.modules, "pyarrow.compute")
    assert FewRows.of([{"n": 1}] * 4096) is not None
    assert FewRows.of([{"n": 1}] * 4097) is None


def test_absent_columns_and_nested_records_are_left_to_arrow() -> None:
    few = FewRows.of([{"n": 1}])
    assert few is not None
    assert ingest_few(few, schema(field("other", t.INT)), ZONE) is None
    inner = schema(field("n", t.INT), name="Inner")
    assert ingest_few(few, schema(field("r", t.Optional(t.Record(inner)))), ZONE) is None


def rows() -> list[dict[str, Any]]:
    return [
        {"n": 3, "kind": "a", "at": "2026-03-04T10:00", "tags": ["x", "y"], "extra": 1.5},
        {"kind": "a", "tags": []},
        {"n": 50, "kind": "b", "at": None, "tags": ["x"]},
    ]


def test_a_result_of_a_few_rows_says_what_one_of_a_table_says() -> None:
    program = ucl.compile(PROGRAM)
    around: dict[str, Any] = {"now": "2026-03-04T00:00Z"}
    few, whole = program.score(rows(), **around), program.score(to_table(rows()), **around)
    assert list(few.json_lines()) == list(whole.json_lines())
    assert few.to_arrow().equals(whole.to_arrow(), check_metadata=True)
    assert few.table.equals(whole.table, check_metadata=True)
    assert [few.explain(row).to_json() for row in range(3)] == [whole.explain(row).to_json() for row in range(3)]
    assert few.total.tolist() == [0.75, 0.5, 0]


def test_a_result_keeps_what_was_scored() -> None:
    data = rows()
    result = ucl.compile(PROGRAM).score(data)
    data[0]["tags"].clear()
    data[1]["n"] = 99
    data.clear()
    assert result.table.column("tags").to_pylist() == [["x", "y"], [], ["x"]]
    assert result.table.column("n").to_pylist() == [3, None, 50]


def test_one_wrong_row_spoils_itself_alone() -> None:
    result = ucl.compile(PROGRAM).score([*rows(), {"n": 101, "kind": "a"}, {"n": 1, "kind": "c"}])
    assert {row: (wrong.field, str(wrong.reason)) for row, wrong in result.invalid.items()} == {
        3: ("n", "domain"),
        4: ("kind", "domain"),
    }
    assert result.total[:3].tolist() == [0.75, 0.5, 0]


def test_a_first_score_imports_neither_arrow_nor_what_compiles() -> None:
    code = f"""
import sys, ucl
result = ucl.compile({PROGRAM!r}).score({rows()!r})
assert result.total.tolist() == [0.75, 0.5, 0] and result.ranking()[0].row == 0
print(*{{name.partition(".")[0] for name in sys.modules}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "numpy" in loaded
    assert loaded & {"pyarrow", "pandas", "numba", "pydantic", "subprocess", "logging", "email"} == set()
