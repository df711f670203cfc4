"""Results beside their rows, and files that appear whole or not at all."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.tables.cells import Cells
from ucl.tables.errors import TableError
from ucl.tables.files import read_table
from ucl.tables.formats.json_texts import json_texts
from ucl.tables.formats.plain import plain
from ucl.tables.frames import to_table
from ucl.tables.output import ResultColumns, append_results, write_table

ROWS = [{"n": 1, "mixed": 1, "tags": ["a", "b"]}, {"n": None, "mixed": "x", "tags": []}]


def results() -> ResultColumns:
    names = pa.array([["r1", "r2"], []], pa.list_(pa.string()))
    return ResultColumns(
        total=pa.array([-0.72, None]),
        feasible=pa.array([True, None]),
        contested=pa.array([False, None]),
        decision=pa.array(["suggest_alternative", None]),
        fired=names,
        violated=pa.array([[], []], pa.list_(pa.string())),
        shadow=pa.array([[], []], pa.list_(pa.string())),
        invalid=pa.array([None, {"field": "n", "reason": "unreadable", "value": '"x"'}]),
        contributions=pa.array([[("r1", -0.8), ("r2", 0.08)], None], pa.map_(pa.string(), pa.float64())),
        metadata={"now": "2026-03-04T09:00:00+00:00", "folds": "0"},
    )


def scored() -> pa.Table:
    return append_results(to_table(ROWS), results())


def test_results_stand_after_the_inputs_columns() -> None:
    table = scored()
    assert table.column_names[:3] == ["n", "mixed", "tags"]
    assert table.column_names[3:] == [
        "ucl_total", "ucl_feasible", "ucl_contested", "ucl_decision", "ucl_fired", "ucl_violated", "ucl_shadow",
        "ucl_invalid", "ucl_contributions",
    ]  # fmt: skip
    assert table["ucl_invalid"].to_pylist() == [None, {"field": "n", "reason": "unreadable", "value": '"x"'}]


def test_a_name_that_is_taken_is_an_error() -> None:
    with pytest.raises(TableError, match="the table already has `ucl_total`"):
        append_results(pa.table({"ucl_total": [1, 2]}), results())


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_what_holds_for_the_call_is_in_the_metadata(tmp_path: Path, format: str) -> None:
    path = str(tmp_path / "out")
    write_table(scored(), path, format)
    read = read_table(path)
    assert read.schema.metadata[b"ucl_now"] == b"2026-03-04T09:00:00+00:00"
    assert read.schema.metadata[b"ucl_folds"] == b"0"
    assert read["ucl_total"].to_pylist() == [-0.72, None]
    assert "ucl:cells" not in str(read.schema) + str(read.schema.metadata)
    sent = pa.ipc.open_file(path) if format == "arrow" else parquet.ParquetFile(path)
    assert "ucl:cells" not in str(sent.schema if format == "arrow" else sent.schema_arrow)


def test_csv_joins_lists_and_shows_mixed_cells_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_table(scored(), str(path), "csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1] == '1,1,a;b,-0.72,true,false,suggest_alternative,r1;r2,,,,"{""r1"": -0.8, ""r2"": 0.08}"'
    last = next(csv.reader([lines[2]]))
    assert last[:10] == ["", "x", *[""] * 8]
    assert json.loads(last[10]) == {"field": "n", "reason": "unreadable", "value": "x"}
    assert last[11] == ""


def test_json_is_an_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_table(scored(), str(path), "json")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["mixed"] for row in rows] == [1, "x"]
    assert rows[0]["ucl_fired"] == ["r1", "r2"]
    assert rows[1]["ucl_invalid"] == {"field": "n", "reason": "unreadable", "value": "x"}


def test_empty_tables_are_written(tmp_path: Path) -> None:
    for format in ("csv", "json", "jsonl", "parquet", "arrow"):
        path = str(tmp_path / f"empty.{format}")
        write_table(scored().slice(0, 0), path, format)
        assert read_table(path).num_rows == 0


ODD_WORDS = st.sampled_from(["", "a", '"', "\\", "\n", "\u2028", "\x00", "é", ";", "[", ",", "null"])
ODD_NUMBERS = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1e20, 1e-7, 10.0, 0.1]))
COLUMNS = {
    "text": (pa.string(), ODD_WORDS),
    "large text": (pa.large_string(), ODD_WORDS),
    "category": (pa.dictionary(pa.int8(), pa.string()), ODD_WORDS),
    "int": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float64(), ODD_NUMBERS),
    "bool": (pa.bool_(), st.booleans()),
    "nothing": (pa.null(), st.none()),
    "date": (pa.date32(), st.dates()),
    "moment": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    "length": (pa.duration("us"), st.timedeltas(dt.timedelta(-9), dt.timedelta(9))),
    "decimal": (pa.decimal128(10, 2), st.decimals(-9, 9, places=2)),
    "list": (pa.large_list(pa.float64()), st.lists(st.none() | ODD_NUMBERS, max_size=3)),
    "lists": (pa.list_(pa.list_(pa.string())), st.lists(st.none() | st.lists(st.none() | ODD_WORDS), max_size=3)),
    "record": (
        pa.struct([("k", pa.string()), ('"', pa.struct([("n", pa.float64())]))]),
        st.fixed_dictionaries({"k": ODD_WORDS, '"': st.none() | st.fixed_dictionaries({"n": ODD_NUMBERS})}),
    ),
    "map": (pa.map_(pa.string(), pa.float64()), st.dictionaries(ODD_WORDS, st.none() | ODD_NUMBERS, max_size=3)),
}


@pytest.mark.parametrize("name", COLUMNS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_text_of_whole_columns_is_that_of_each_cell(name: str, data: st.DataObject) -> None:
    type, cells = COLUMNS[name]
    rows = data.draw(st.lists(st.none() | cells, max_size=5))
    pairs = [list(row.items()) if isinstance(row, dict) and name == "map" else row for row in rows]
    column = pa.chunked_array([pa.array(pairs, type), pa.array([None, *pairs], type)]).slice(1)
    found = [json.loads(text) for text in json_texts(column, Cells.TYPED).to_pylist()]
    assert found == plain(column, Cells.TYPED)


# --- whole or not at all --------------------------------------------------------------------------------------------


class FullDisk(io.RawIOBase):
    def write(self, data: Any) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "arrow"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: FullDisk().write(b""))
    with pytest.raises(TableError, match="can't be written: no space left on device"):
        write_table(scored(), str(path), format)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize("format", ["csv", "json", "parquet", "arrow"])
def test_a_full_device_is_one_error(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    with pytest.raises(TableError, match="no space left"):
        write_table(scored(), "/dev/full", format)
    with open("/dev/full", "wb") as full:
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=full, flush=lambda: None))
        with pytest.raises(TableError, match="`standard output` can't be written"):
            write_table(scored(), None, format)
        monkeypatch.undo()
        full.raw.close()


def test_the_new_file_has_the_permissions_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    write_table(scored(), str(path), "csv")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_table(scored(), str(link), "csv")
    assert link.is_symlink()
    assert target.read_text().startswith("n,mixed")


def test_places_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file or directory"):
        write_table(scored(), str(tmp_path / "none" / "out.csv"), "csv")
    with pytest.raises(TableError, match="can't be written"):
        write_table(scored(), str(tmp_path), "csv")
    with pytest.raises(TableError, match="`xls` is not a format"):
        write_table(scored(), str(tmp_path / "out"), "xls")


def test_standard_output_gets_the_same_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=sink, flush=lambda: None))
    write_table(scored(), "-", "parquet")
    assert parquet.read_table(io.BytesIO(sink.getvalue())).num_rows == 2


def test_a_scored_table_can_be_scored_again(tmp_path: Path) -> None:
    path = str(tmp_path / "out.json")
    write_table(to_table(ROWS), path, "json")
    assert read_table(path)["mixed"].to_pylist() == to_table(ROWS)["mixed"].to_pylist()


# --- odd values -----------------------------------------------------------------------------------------------------

HALF = json.loads('"\\ud800"')
FORMATS = ["csv", "json", "parquet", "arrow"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "odd",
    [HALF, [HALF], {"k": HALF}, {HALF: 1}, b"bytes", object(), len, 10**5000, {"k": [1, "x"]}],
    ids=lambda value: type(value).__name__,
)
def test_an_odd_cell_stops_no_format(tmp_path: Path, odd: Any, format: str) -> None:
    path = str(tmp_path / "out")
    for rows in ([{"a": odd, "n": 1}, {"a": "x", "n": 2}], [{"a": odd, "n": 1}, {"a": None, "n": 2}]):
        write_table(to_table(rows), path, format)
        table = read_table(path)
        assert [int(n) for n in table["n"].to_pylist()] == [1, 2]
        assert table["a"].to_pylist()[1] in ("x", '"x"', None)
        assert "0x" not in str(table["a"].to_pylist())


def test_records_whose_rows_disagree_are_written_as_they_were(tmp_path: Path) -> None:
    rows = [{"h": {"k": 1, "m": "x"}}, {"h": {"k": "1", "m": None}}, {"h": None}]
    json_path, csv_path = str(tmp_path / "a.json"), str(tmp_path / "a.csv")
    write_table(to_table(rows), json_path, "json")
    assert [json.loads(line) for line in Path(json_path).read_text().splitlines()] == rows
    write_table(to_table(rows), csv_path, "csv")
    cells = read_table(csv_path)["h"].to_pylist()
    assert [cell and json.loads(cell) for cell in cells] == [row["h"] for row in rows]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("depth", [99, 101, 500, 3000])
def test_a_deep_cell_is_kept(tmp_path: Path, format: str, depth: int) -> None:
    deep: Any = []
    for _ in range(depth - 1):
        deep = [deep]
    path = str(tmp_path / "out")
    write_table(to_table([{"a": deep, "n": 1}, {"a": "x", "n": 2}]), path, format)
    assert [int(n) for n in read_table(path)["n"].to_pylist()] == [1, 2]
    if depth <= 500 and format == "csv":
        assert read_table(path)["a"][0].as_py() == "[" * depth + "]" * depth
