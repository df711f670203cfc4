"""Files scored in parts say what the same files say when they are read at once, to the bit, and whatever goes wrong."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from cli_runs import run_here
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.scoring.calls import start_call
from ucl.scoring.streaming.run import FileRun, Part, open_run
from ucl.spans import recorded
from ucl.tables.errors import TableError
from ucl.tables.files import read_table
from ucl.tables.formats.rows import table_from_rows
from ucl.tables.output import write_table
from ucl.tables.streams import opening, room, spooled
from ucl.tables.streams.agreement import Agreement, conformed
from ucl.tables.streams.ahead import ahead
from ucl.tables.streams.texts import pieces

PROGRAM = """\
timezone "Europe/Berlin"
schema Host { age: int  nice: bool = false }
schema S {
  n: int in -100..=100  kind: text  tags: set<text> = {}  at: datetime?  host: Host?  cost: float = 1.5
}
rule up on S { when n > 0 and kind != "x" score 0.5 because "more is better" }
rule tagged on S { when overlaps(tags, {"a", "ä"}) score -0.25 }
rule late on S { when present(at) and at.time in 20:00..06:00 score -0.125 * cost }
rule host on S { when present(host) and host.age > 30 score 0.3 status shadow }
constraint low on S { forbid when n < -50 }
"""
NOW = "2026-03-04T12:00"
ROWS = 8


@pytest.fixture(scope="module")
def program() -> ucl.CompiledProgram:
    return ucl.compile(PROGRAM)


def some_rows(count: int) -> list[dict[str, Any]]:
    kinds = ["x", "y", 'quoted "z", with\nline', "ü", "u\u0308"]
    return [
        {
            "n": (row * 37) % 211 - 105,
            "kind": kinds[row % 5],
            "tags": [["a"], ["b", "a", "a"], []][row % 3],
            "at": f"2026-{row % 12 + 1:02}-25T{row % 24:02}:30",
            "host": None if row % 4 == 0 else {"age": row % 60, "nice": row % 2 == 0},
            "more": row / 4,
        }
        for row in range(count)
    ]


def write_input(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    table = table_from_rows(rows or some_rows(1), "").slice(0, len(rows))
    match path.suffix:
        case ".parquet":
            parquet.write_table(table.cast(unmarked(table.schema)), path, row_group_size=5)
        case ".arrow":
            with pa.ipc.new_file(path, unmarked(table.schema)) as writer:
                writer.write_table(table.cast(unmarked(table.schema)), max_chunksize=3)
        case ".arrows":
            with pa.ipc.new_stream(path, unmarked(table.schema)) as writer:
                writer.write_table(table.cast(unmarked(table.schema)), max_chunksize=11)
        case _:
            ages = pa.array([(row.get("host") or {}).get("age") for row in rows], pa.int64())
            table = table.drop_columns("host") if "host" in table.column_names else table
            write_table(table.append_column("host.age", ages), str(path), "csv")
    return path


def unmarked(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in schema])


def run_over(program: ucl.CompiledProgram, path: Path, part: Part | None = None, **limits: Any) -> Any:
    call = start_call(program.semantic, now=NOW)
    schema = program.schemas["S"]
    return open_run(program.semantic, schema, call, str(path), part=part or Part(ROWS, 300), **limits)


ENDINGS = ["parquet", "arrow", "arrows", "csv", "jsonl"]
SIZES = [0, 1, ROWS - 1, ROWS, ROWS + 1, 45]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", SIZES)
def test_parts_say_what_the_whole_says(program: ucl.CompiledProgram, tmp_path: Path, ending: str, size: int) -> None:
    if size == 0 and ending == "jsonl":
        return  # no line is no table without columns: it is read at once
    path = write_input(tmp_path / f"in.{ending}", some_rows(size))
    whole = program.score(read_table(str(path)), now=NOW)
    for columns in ("all", "results", "scores"):
        expected = whole.to_arrow(columns=columns)
        for to in ("parquet", "arrow", "csv", "jsonl"):
            at_once, in_parts = tmp_path / f"whole.{to}", tmp_path / f"parts.{to}"
            write_table(expected, str(at_once), to)
            with run_over(program, path) as run:
                assert run.held is None
                run.write(str(in_parts), to, columns)
                assert run.counts == whole.counts
            same_file(at_once, in_parts, to)
    with run_over(program, path) as run:
        assert list(run.lines(False, lambda rows: None)) == list(whole.json_lines())
    with run_over(program, path) as run:
        assert list(run.lines(True, lambda rows: None)) == [
            json.dumps(row, ensure_ascii=False) for row in whole.rows(reasons=True)
        ]


def same_file(first: Path, second: Path, format: str) -> None:
    if format in ("csv", "jsonl"):
        assert first.read_bytes() == second.read_bytes()
        return
    a, b = read_table(str(first)), read_table(str(second))
    assert a.schema.equals(b.schema, check_metadata=format == "parquet")
    assert a.combine_chunks() == b.combine_chunks() or a.to_pylist() == b.to_pylist()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("top", [0, 1, 3, ROWS, 1000])
def test_the_best_rows_are_the_rankings_own(
    program: ucl.CompiledProgram, tmp_path: Path, ending: str, top: int
) -> None:
    path = write_input(tmp_path / f"in.{ending}", some_rows(90))
    whole = program.score(read_table(str(path)), now=NOW)
    rows = [place.row for place in whole.ranking(top)]
    with run_over(program, path) as run:
        best = run.best(top, lambda rows: None)
        assert best.numbers.tolist() == rows
        assert list(best.rows(reasons=True)) == list(whole.rows(rows, reasons=True))
        expected = whole.to_arrow(rows)
        assert best.to_arrow().to_pylist() == expected.to_pylist()
        assert best.to_arrow().schema == expected.schema


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_best_are_held_without_the_others(program: ucl.CompiledProgram, data: st.DataObject) -> None:
    from ucl.scoring.streaming.best import Best

    values = data.draw(st.lists(st.integers(-60, 4), max_size=60))
    top = data.draw(st.integers(0, 7))
    size = data.draw(st.integers(1, 9))
    table = pa.table({"n": pa.array(values, pa.int64()), "kind": pa.array(["y"] * len(values), pa.string())})
    whole = program.score(table, now=NOW)
    best = Best(top, lambda table: table)
    for first in range(0, max(len(values), 1), size):
        rows = np.arange(first, min(first + size, len(values)))
        best.add(whole.part(rows))
        assert sum(len(held.keys) for held in best._held) <= max(5 * top + size, 1)
    _, numbers = best.rows()
    assert numbers.tolist() == [place.row for place in whole.ranking(top)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("condition", ["n > 3", "lowest(n)"])
def test_rows_are_counted_where_no_column_is_read(tmp_path: Path, ending: str, condition: str) -> None:
    program = ucl.compile(f"schema S {{ n: int = 5 }} rule r on S {{ when {condition} score 0.5 }}")
    table = pa.table({"other": ["a", "b"] * 50})
    path, out = tmp_path / f"in.{ending}", tmp_path / "out.parquet"
    if ending == "parquet":
        parquet.write_table(table, path, row_group_size=ROWS + 3)
    else:
        write_table(table, str(path), "arrow" if ending == "arrows" else ending)
    whole = program.score(table, now=NOW)
    for columns in ("all", "results", "scores"):
        with run_over(program, path) as run:
            run.write(str(out), "parquet", columns)
            assert run.counts == whole.counts
        assert read_table(str(out)).equals(whole.to_arrow(columns=columns))
    with run_over(program, path) as run:
        assert [row for part in run.parts() for row in part.total.tolist()] == whole.total.tolist()


def test_a_column_with_a_name_like_a_results_keeps_its_type(tmp_path: Path) -> None:
    program = ucl.compile('schema S { kind: text from "ucl_kind" } rule r on S { when kind == "a" score 0.5 }')
    table = pa.table({"ucl_kind": ["a", "b", "a"]})
    path = tmp_path / "in.parquet"
    parquet.write_table(table, path)
    for to in ("parquet", "arrow"):
        with run_over(program, path) as run:
            run.write(str(tmp_path / f"out.{to}"), to, "all")
        assert read_table(str(tmp_path / f"out.{to}")).schema.field("ucl_kind").type == pa.string()


def test_only_the_columns_that_are_needed_are_read(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path = write_input(tmp_path / "in.parquet", some_rows(20))
    with run_over(program, path) as run:
        part = next(run.parts())
        assert part.table.column_names == ["n", "kind", "tags", "at", "host"]
        assert pa.types.is_dictionary(part.table["kind"].type)
        assert run.rows == 20
    with run_over(program, path, group_by="more") as run:
        assert "more" in next(run.parts()).table.column_names


def test_rows_that_are_compared_are_held_together(tmp_path: Path) -> None:
    program = ucl.compile(PROGRAM + "rule least on S { when lowest(n) score 0.01 }")
    path = write_input(tmp_path / "in.parquet", some_rows(30))
    for group_by in (None, "kind"):
        whole = program.score(read_table(str(path)), now=NOW, group_by=group_by)
        with run_over(program, path, group_by=group_by) as run:
            assert "compares" in (run.held or "")
            assert list(run.lines(False, lambda rows: None)) == list(whole.json_lines())
        with run_over(program, path, group_by=group_by) as run:
            best, places = run.best(5, lambda rows: None), [place.row for place in whole.ranking(5)]
            assert list(best.rows()) == list(whole.rows(places))
            assert best.to_arrow().equals(whole.to_arrow(places))
        with run_over(program, path, group_by=group_by) as run:
            run.write(str(tmp_path / "out.parquet"), "parquet", "all")
            assert read_table(str(tmp_path / "out.parquet")).equals(whole.to_arrow())


def test_what_memory_can_not_hold_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = ucl.compile(PROGRAM + "rule least on S { when lowest(n) score 0.01 }")
    for ending in ("parquet", "arrow", "csv", "json"):
        path, out = tmp_path / f"in.{ending}", tmp_path / "out.csv"
        if ending == "json":
            path.write_text(json.dumps(some_rows(20), indent=1), encoding="utf-8")
        else:
            write_input(path, some_rows(30))
        monkeypatch.setattr(room, "free_bytes", lambda: 100)
        with pytest.raises(TableError, match="memory"):
            program.score_file(path, out, now=NOW)
        monkeypatch.setattr(room, "free_bytes", lambda: 1_000_000)
        program.score_file(path, out, now=NOW)
        out.unlink()


def test_what_is_free_is_the_least_that_anybody_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MEMORY", "_GROUP_LIMIT", "_GROUP_USE"):
        monkeypatch.setattr(room, name, tmp_path / name)
    assert room.free_bytes() is None
    (tmp_path / "_MEMORY").write_text("MemTotal: 9 kB\nMemAvailable:   7 kB\nSwapFree: 1 kB\n")
    assert room.free_bytes() == 8192
    (tmp_path / "_GROUP_USE").write_text("1000\n")
    (tmp_path / "_GROUP_LIMIT").write_text("max\n")
    assert room.free_bytes() == 8192
    (tmp_path / "_GROUP_LIMIT").write_text("3000\n")
    assert room.free_bytes() == 2000


def test_a_json_array_is_read_at_once(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(some_rows(20), indent=1), encoding="utf-8")
    with run_over(program, path) as run:
        assert "JSON" in (run.held or "")
        assert len(list(run.lines(False, lambda rows: None))) == 20


# --- what goes wrong ------------------------------------------------------------------------------------------------


def test_what_is_wrong_is_said_with_its_line(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    header, row = "n,kind\n", "1,y\n"
    cases = {
        header + row * 500 + "1,y,z\n" + row: "line 502",
        header + row * 500 + '1,5" pipe\n' + row * 90: "line 502",
        header + row * 500 + '1,"open\n' + row * 90: "line 502",
        header + row * 40 + "1,\udcff\n" + row: "line 42",
    }
    path = tmp_path / "in.csv"
    for text, line in cases.items():
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(TableError, match=line), run_over(program, path) as run:
            list(run.parts())
        with pytest.raises(TableError, match=line):
            read_table(str(path))
    lines = tmp_path / "in.jsonl"
    for wrong in ("{", "[1]", '{"n": NaN}', '{"n": 1, "n": 2}'):
        lines.write_text('{"n": 1, "kind": "y"}\n' * 300 + wrong + "\n", encoding="utf-8")
        with pytest.raises(TableError, match="line 301"), run_over(program, lines):
            pass


def test_a_column_that_is_missing_is_said_before_anything_is_read(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    for ending in ENDINGS:
        path = write_input(tmp_path / f"in.{ending}", [{"n": row} for row in range(30)])
        with pytest.raises(TableError, match="kind"), run_over(program, path):
            pass


def test_a_file_that_was_cut_off_leaves_nothing(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    for ending in ("parquet", "arrow", "arrows"):
        path = write_input(tmp_path / f"in.{ending}", some_rows(400))
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(TableError, match="is not a whole"):
            program.score_file(path, out, now=NOW)
    damaged = write_input(tmp_path / "in.csv", some_rows(400))
    damaged.write_bytes(damaged.read_bytes() + b"1,2\n")
    out.write_text("as before")
    with pytest.raises(TableError, match="line"):
        program.score_file(damaged, out, now=NOW)
    assert out.read_text() == "as before"
    assert sorted(os.listdir(tmp_path)) == ["in.arrow", "in.arrows", "in.csv", "in.parquet", "out.csv"]


def test_a_name_that_is_taken_is_said_before(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    parquet.write_table(pa.table({"n": [1], "kind": ["y"], "ucl_total": [1.0]}), path)
    with pytest.raises(TableError, match="ucl_total"):
        program.score_file(path, tmp_path / "out.csv", now=NOW)
    assert len(program.score_file(path, tmp_path / "out.csv", now=NOW, columns="scores")) == 1


# --- the Python door ------------------------------------------------------------------------------------------------


def test_score_file(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path, out = write_input(tmp_path / "in.parquet", some_rows(50)), tmp_path / "out.parquet"
    whole = program.score(read_table(str(path)), now=NOW)
    done: list[int] = []
    scores = program.score_file(path, out, now=NOW, on_rows=done.append)
    assert (len(scores), sum(done), scores.best, scores.held) == (50, 50, None, None)
    assert scores.summary() == whole.summary()
    assert read_table(str(out)) == whole.to_arrow()
    scores = program.score_file(path, out, now=NOW, top=3, columns="scores")
    assert scores.best is not None
    assert scores.best.numbers.tolist() == [place.row for place in whole.ranking(3)]
    assert read_table(str(out))["ucl_row"].to_pylist() == scores.best.numbers.tolist()
    assert program.score_file(path, now=NOW).warnings == whole.warnings
    with pytest.raises(ucl.scoring.CallError, match="`top`"):
        program.score_file(path, now=NOW, top=-1)


# --- the command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LARGE", 0)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "words",
    [
        ["--format", "json"], ["--format", "csv"], ["--top", "3"], ["--top", "2", "--format", "json", "--explain"], [],
        ["--group-by", "kind", "--format", "csv"], ["--format", "csv", "--columns", "scores"],
        ["--top", "4", "--explain"],
    ],
)  # fmt: skip
def test_the_command_line_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, words: list[str]
) -> None:
    source = tmp_path / "p.ucl"
    source.write_text(PROGRAM, encoding="utf-8")
    for size in (30, 60):
        path = write_input(tmp_path / f"in{size}.{ending}", some_rows(size))
        out = tmp_path / "out"
        command = ["score", source, path, "--now", NOW, *words, "-o", out]
        at_once, said = run_here(*command), out.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(opening, "LARGE", 0)
            in_parts = run_here(*command)
        assert at_once == in_parts
        assert at_once.status == 0
        assert out.read_bytes() == said


@pytest.mark.usefixtures("small_is_large")
def test_standard_input_and_compressed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.ucl").write_text(PROGRAM, encoding="utf-8")
    path = write_input(tmp_path / "in.csv", some_rows(30))
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    expected = run_here("score", tmp_path / "p.ucl", path, "--now", NOW, "--format", "json")
    assert len(expected.lines) == 30
    packed = run_here("score", tmp_path / "p.ucl", tmp_path / "in.csv.gz", "--now", NOW, "--format", "json")
    assert packed == expected
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    assert run_here("score", tmp_path / "p.ucl", "-", "--now", NOW, "--format", "json") == expected
    (tmp_path / "bad.csv.gz").write_bytes((tmp_path / "in.csv.gz").read_bytes()[:-20])
    assert "is not a whole gzip file" in run_here("score", tmp_path / "p.ucl", tmp_path / "bad.csv.gz").err
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"n,kind\n1")))
    assert "`standard input` has" in run_here("score", tmp_path / "p.ucl", "-").err


def test_no_temporary_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"n\n1\n")))
    with spooled("-") as path:
        assert Path(path).read_bytes() == b"n\n1\n"
        assert os.listdir(tmp_path) == [Path(path).name]
    assert os.listdir(tmp_path) == []


def test_where_the_time_went(tmp_path: Path) -> None:
    (tmp_path / "p.ucl").write_text(PROGRAM, encoding="utf-8")
    path = write_input(tmp_path / "in.csv", some_rows(30))
    ran = run_here("score", tmp_path / "p.ucl", path, "--now", NOW, "--format", "json", "--profile")
    said = json.loads(ran.err.splitlines()[0])["profile"]
    assert {"checking the program", "reading", "lowering", "reading columns", "kernels", "writing"} <= set(
        said["spans"]
    )
    assert sum(said["spans"].values()) + said["other"] == pytest.approx(said["total"])
    words = run_here("score", tmp_path / "p.ucl", path, "--profile").err
    assert "in all" in words
    assert "kernels" in words


def test_spans_count_what_is_inside_once() -> None:
    from ucl.spans import span

    with recorded() as recording:
        with span("outer"), span("inner"):
            pass
        thread = threading.Thread(target=lambda: span("beside").__enter__())
        thread.start()
        thread.join()
    assert list(recording.own) == ["outer", "inner"]
    assert list(recording.beside) == ["beside"]
    assert sum(recording.own.values()) <= recording.total
    with span("nobody listens"):
        pass


def test_a_json_file_without_rows_is_json(tmp_path: Path) -> None:
    (tmp_path / "p.ucl").write_text(PROGRAM, encoding="utf-8")
    path = write_input(tmp_path / "in.csv", [])
    run_here("score", tmp_path / "p.ucl", path, "-o", tmp_path / "out.json")
    run_here("score", tmp_path / "p.ucl", path, "-o", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.json").read_text()) == []
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_each_part_may_have_dictionaries_of_its_own(tmp_path: Path) -> None:
    program = ucl.compile("schema S { n: int }\nrule a on S { when n > 2 score 0.5 }")
    chunks = [pa.array(words).dictionary_encode() for words in (["x", "y"], ["z", None], ["y", "陈静"])]
    table = pa.table({"n": [1, 2, 3, 4, 5, 6], "who": pa.chunked_array(chunks)})
    with pa.OSFile(str(tmp_path / "own.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for columns in ("all", "scores"):
        program.score_file(tmp_path / "own.arrow", tmp_path / "scored.arrow", columns=columns)
        scored = pa.ipc.open_file(tmp_path / "scored.arrow").read_all()
        assert scored["ucl_total"].to_pylist() == [0, 0, 0.5, 0.5, 0.5, 0.5]
        if columns == "all":
            assert scored["who"].to_pylist() == table["who"].to_pylist()
            assert scored["who"].type == table["who"].type


def test_a_dictionary_that_outgrows_its_codes_is_said(tmp_path: Path) -> None:
    program = ucl.compile("schema S { n: int = 0 }\nrule a on S { when n > 2 score 0.5 }")
    chunks = [pa.array([f"{part} {n}" for n in range(100)]).dictionary_encode() for part in range(2)]
    narrow = pa.chunked_array(chunks).cast(pa.dictionary(pa.int8(), pa.string()))
    table = pa.table({"who": narrow})
    with pa.OSFile(str(tmp_path / "own.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(TableError, match="Arrow"):
        program.score_file(tmp_path / "own.arrow", tmp_path / "scored.arrow")
    assert not (tmp_path / "scored.arrow").exists()


def test_a_name_that_is_set_may_be_spelled_in_parts(tmp_path: Path) -> None:
    (tmp_path / "p.ucl").write_text("context { grün: int }\nschema S { n: int }\nrule r on S { score grün }\n", "utf-8")
    (tmp_path / "in.csv").write_text("n\n1\n")
    name = unicodedata.normalize("NFD", "grün")
    (tmp_path / "c.json").write_text(json.dumps({"grün": 1}), "utf-8")
    words = ["--set", f"{name}=2", "--context", tmp_path / "c.json", "--format", "json"]
    ran = run_here("score", tmp_path / "p.ucl", tmp_path / "in.csv", *words)
    assert ran.lines[0]["total"] == 2.0


# --- the parts of streams -------------------------------------------------------------------------------------------


@given(data=st.text('a"\n,', max_size=80), size=st.integers(1, 9))
def test_pieces_are_whole_rows(data: str, size: int) -> None:
    raw = data.encode()
    found = list(pieces(io.BytesIO(raw), size, quotes=True))
    assert b"".join(found) == raw
    for piece in found[:-1]:
        assert piece.endswith(b"\n")
        assert piece.count(b'"') % 2 == 0
    assert b"".join(pieces(io.BytesIO(raw), size, quotes=False)) == raw


CELLS = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**60), 2**64 - 1), st.integers(-3, 3), st.sampled_from("ab"),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("kl"), inner, max_size=2)),
    max_leaves=4,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("xyz"), CELLS, max_size=3), min_size=1, max_size=8), data=st.data()
)
def test_rows_agree_in_parts_as_they_do_together(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    agreed = Agreement("rows")
    assert sum(map(agreed.add, parts)) == len(rows)
    whole = table_from_rows(rows, "rows")
    schema = agreed.schema()
    assert schema.equals(whole.schema, check_metadata=True)
    if len(schema):
        assert pa.concat_tables([conformed(part, schema) for part in parts]).to_pylist() == whole.to_pylist()


def test_ahead_hands_on_order_problems_and_stops() -> None:
    assert list(ahead(iter(range(20)))) == list(range(20))

    def failing() -> Any:
        yield 1
        raise ValueError("broken")

    found = ahead(failing())
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)
    closed = threading.Event()

    def endless() -> Any:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    stopped = ahead(endless())
    assert next(stopped) == 1
    stopped.close()
    assert closed.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "ucl-ahead"]


def test_memory_does_not_grow_with_the_file(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    """Arrow says what it holds; a file ten times as long takes no more."""
    most = []
    for size in (20_000, 200_000):
        path = tmp_path / f"{size}.parquet"
        table = pa.table({"n": np.arange(size) % 100, "kind": [f"kind {row % 1000}" for row in range(size)]})
        parquet.write_table(table, path, row_group_size=size)
        del table
        most.append(held_by_a_run(program, path))
    assert most[1] < 1.5 * most[0] + 1_000_000


def held_by_a_run(program: ucl.CompiledProgram, path: Path) -> int:
    held = []
    with run_over(program, path, Part(4096, 1)) as run:
        assert isinstance(run, FileRun)
        before = pa.total_allocated_bytes()
        run.write(os.devnull, "parquet", "scores", lambda rows: held.append(pa.total_allocated_bytes() - before))
    return max(held)
