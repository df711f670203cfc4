"""Files of every format to tables, and what is said of files that are broken."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_schemas import field, schema, values

from ucl.semantics import types as t
from ucl.semantics.zones import UTC
from ucl.tables import compression
from ucl.tables.errors import TableError
from ucl.tables.files import read_sql, read_table
from ucl.tables.ingest import ingest


def written(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def parquet_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def arrow_bytes(table: pa.Table, *, stream: bool = False) -> bytes:
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


# --- CSV ------------------------------------------------------------------------------------------------------------


def test_csv_cells_are_text_and_empty_ones_absent(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "a.csv", 'code,n\n007,1\n"",2\n,"3"\n"a\nb","x,""y"\n'))
    assert table.to_pydict() == {"code": ["007", None, None, "a\nb"], "n": ["1", "2", "3", 'x,"y']}


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "\ufeffa,b\r\n1,2\r\n"), ("a.csv", "a;b\n1;2"), ("a.tsv", "a\tb\n1\t2\n"), ("a.txt", "\na,b\n1,2")],
)
def test_csv_dialects(tmp_path: Path, name: str, text: str) -> None:
    assert read_table(written(tmp_path, name, text)).to_pydict() == {"a": ["1"], "b": ["2"]}


def test_csv_of_one_column_keeps_its_empty_rows(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "a.csv", "a\n1\n\n2\n")).to_pydict() == {"a": ["1", None, "2"]}


def test_csv_header_alone_is_no_rows(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "a.csv", "a,b")).to_pydict() == {"a": [], "b": []}


def test_csv_cells_are_read_by_the_fields_type(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "a.csv",
        'b,i,f,s,e,l,w\nYes, 5 ,1e3,b; a;;b,PT1H,30,mon\n0,5.0,nan,"[1, 2]",,0.5,tue\nmaybe,0x10,inf,;,1,PT1H,Mo\n',
    )
    minutes = t.DURATION_UNITS[3]
    fields = [
        field("b", t.BOOL), field("i", t.INT), field("f", t.Optional(t.FLOAT)), field("s", t.Set(t.TEXT)),
        field("e", t.Optional(t.DURATION)), field("l", t.DURATION, unit=minutes), field("w", t.WEEKDAY),
    ]  # fmt: skip
    table = read_table(path)
    assert values(ingest(table, schema(fields[0]), UTC), "b") == [True, False, None]
    assert values(ingest(table, schema(fields[1]), UTC), "i") == [5, 5, None]
    assert values(ingest(table, schema(fields[2]), UTC), "f") == [1000.0, None, None]
    assert values(ingest(table, schema(fields[3]), UTC), "s") == [{"a", "b"}, None, frozenset()]
    assert values(ingest(table, schema(field("s", t.Set(t.INT))), UTC), "s") == [None, {1, 2}, frozenset()]
    assert values(ingest(table, schema(fields[4]), UTC), "e") == [3_600_000_000, None, None]
    assert values(ingest(table, schema(fields[5]), UTC), "l") == [1_800_000_000, 30_000_000, 3_600_000_000]
    assert values(ingest(table, schema(fields[6]), UTC), "w") == [0, 1, None]
    assert ingest(table, schema(fields[1]), UTC).invalid[2].value == "0x10"


def test_a_csv_cell_that_begins_as_an_array_is_one_or_nothing(tmp_path: Path) -> None:
    cells = ['["a",]', "[a;b]", "[", ' ["a"] ', "[]", "a;[b", '["a"];b', "[null]", "[1]"]
    rows = "".join(f'"{cell.replace(chr(34), chr(34) * 2)}",1\n' for cell in cells)
    table = read_table(written(tmp_path, "a.csv", "s,n\n" + rows))
    columns = ingest(table, schema(field("s", t.Set(t.TEXT))), UTC)
    assert list(columns.invalid) == [0, 1, 2, 6, 7, 8]
    assert [values(columns, "s")[row] for row in (3, 4, 5)] == [{"a"}, frozenset(), {"a", "[b"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n1,2\n3\n", "has 1 cell in line 3, where its header has 2 columns"),
        ("a,b\n1,2,3\n", "has 3 cells in line 2, where its header has 2 columns"),
        ('a,b\n"x\ny",2\n1,2,3\n', "has 3 cells in line 4, where its header has 2 columns"),
        ('a,b\n1,5" pipe\n', 'has a stray quote `"` in line 2'),
        ('a,b\n1,"2"x\n', 'has a stray quote `"` in line 2'),
        ('a,b\n1,2\n3,"4\n5,6\n', 'has a stray quote `"` in line 3'),
        ("a,b,a\n1,2,3\n", "the table has more than one column `a`"),
        (b"a\nx\n\xe9t\xe9\n", "is not UTF-8 in line 3"),
        (b"\xe9,a\n1,2\n", "is not UTF-8 in line 1"),
        ("a\n1".encode("utf-16"), "is UTF-16"),
        ("a\n1".encode("utf-16-le"), "is binary, and neither Parquet nor Arrow"),
    ],
)
def test_broken_csv(tmp_path: Path, text: bytes | str, message: str) -> None:
    with pytest.raises(TableError) as caught:
        read_table(written(tmp_path, "a.csv", text))
    assert message in caught.value.message


@given(st.lists(st.lists(st.sampled_from(["", "1", '""', '"a"', '"b,c"', '"d""e"', '"\n"']), min_size=2, max_size=2)))
def test_well_quoted_csv_has_no_stray_quotes(rows: list[list[str]]) -> None:
    from ucl.tables.formats.csv_text import read_csv

    text = "a,b\n" + "".join(",".join(row) + "\n" for row in rows)
    assert read_csv(text.encode(), "x").num_rows == len(rows)


# --- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": "x"}\n{"a": 2}\n',
        '\ufeff{"a": 1, "b": "x"}\r\n\r\n{"a": 2, "b": null}',
        '[{"a": 1, "b": "x"},\n {"a": 2}]',
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a"])
def test_json_by_name_and_by_content(tmp_path: Path, name: str, text: str) -> None:
    assert read_table(written(tmp_path, name, text)).to_pydict() == {"a": [1, 2], "b": ["x", None]}


def test_one_object_over_several_lines_is_one_row(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "a.json", '{\n "a": 1\n}\n')).to_pydict() == {"a": [1]}


def test_json_keeps_what_each_row_said(tmp_path: Path) -> None:
    rows = [
        '{"n": 9223372036854775807, "t": "1"}',
        '{"n": "x", "t": "2026-03-04T09:00:00"}',
        '{"n": 0.5, "t": "\u2028"}',
    ]
    table = read_table(written(tmp_path, "a.jsonl", "\n".join(rows)))
    of = schema(field("n", t.INT), field("t", t.TEXT))
    columns = ingest(table, of, UTC)
    assert values(columns, "t") == ["1", "2026-03-04T09:00:00", "\u2028"]
    assert values(columns, "n")[0] == 2**63 - 1
    assert {row: cell.value for row, cell in columns.invalid.items()} == {1: "x", 2: 0.5}


def test_json_without_rows_or_keys(tmp_path: Path) -> None:
    optional = schema(field("x", t.Optional(t.TEXT)))
    for text, rows in (("", 0), ("\n", 0), ("[]", 0), ("{}\n{}", 2)):
        table = read_table(written(tmp_path, "a.jsonl", text))
        assert ingest(table, optional, UTC).rows == rows
    assert ingest(read_table(written(tmp_path, "a.jsonl", "")), schema(field("x", t.INT)), UTC).rows == 0


def test_rows_without_common_keys_do_not_fill_the_memory(tmp_path: Path) -> None:
    text = "\n".join(f'{{"k{number}": 1}}' for number in range(5000))
    with pytest.raises(TableError, match="different keys"):
        read_table(written(tmp_path, "a.jsonl", text))
    nested = "\n".join(f'{{"a": {{"k{number}": 1}}}}' for number in range(5000))
    assert read_table(written(tmp_path, "b.jsonl", nested)).num_rows == 5000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "is not JSON in line 1: `NaN` is no JSON number; write null"),
        ('{"a": 1}\n{"a": Infinity}', "is not JSON in line 2: `Infinity` is no JSON number; write null"),
        ('{"a": 1}\n{"a": 2', "is not JSON in line 2"),
        ('{"a": 1}\n7', "has a number for a row in line 2"),
        ('[{"a": 1}, "x"]', "has a text for a row in element 1"),
        ('[{"a": 1},\n{"a"}]', "is not JSON in line 2"),
        ('{"a": 1, "a": 2}', "gives `a` twice for one object in line 1"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' + "1" * 5000 + "}", "a number of more than 4,300 digits"),
        (b'{"a": "\xff"}', "is not UTF-8 in line 1"),
        ('{"\\ud800": 1}', "has a key that is no text"),
        ('{"a": "half', "unterminated string starting at column 7"),
        ('{"a": 1}'.encode("utf-16"), "is UTF-16"),
    ],
)
def test_broken_json(tmp_path: Path, text: bytes | str, message: str) -> None:
    with pytest.raises(TableError) as caught:
        read_table(written(tmp_path, "a.jsonl", text))
    assert message in caught.value.message


@pytest.mark.parametrize("text", ["", "\ufeff", " \n"])
def test_no_byte_is_no_json_and_no_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(TableError, match=r"a.json` is empty, and no JSON"):
        read_table(written(tmp_path, "a.json", text))
    assert read_table(written(tmp_path, "a.jsonl", text)).num_rows == 0


# --- Parquet and Arrow ----------------------------------------------------------------------------------------------

TABLE = pa.table({"a": [1, 2, None], "s": [["x"], [], None]})


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a"])
def test_parquet(tmp_path: Path, name: str) -> None:
    assert read_table(written(tmp_path, name, parquet_bytes(TABLE))).equals(TABLE)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["a.arrow", "a.feather", "a"])
def test_arrow(tmp_path: Path, name: str, stream: bool) -> None:
    assert read_table(written(tmp_path, name, arrow_bytes(TABLE, stream=stream))).equals(TABLE)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", parquet_bytes(TABLE)[:200]),
        ("a.parquet", b"PAR1" + b"\0" * 500 + b"PAR1"),
        ("a.parquet", b""),
        ("a", parquet_bytes(TABLE)[:-3]),
        ("a.arrow", arrow_bytes(TABLE)[:200]),
        ("a", arrow_bytes(TABLE, stream=True)[:100]),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9]),
    ],
    ids=["cut", "hollow", "empty", "cut-unnamed", "cut-arrow", "cut-stream", "cut-gzip"],
)
def test_damaged_files(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(TableError, match="is not a whole"):
        read_table(written(tmp_path, name, data))


@pytest.mark.parametrize("make", [parquet_bytes, arrow_bytes], ids=["parquet", "arrow"])
def test_texts_that_are_no_utf_8_are_found_on_reading(tmp_path: Path, make: Any) -> None:
    offsets, bytes_ = pa.array([0, 2, 4], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfeab")
    table = pa.table({"a": [1, 2], "s": pa.StringArray.from_buffers(2, offsets, bytes_)})
    with pytest.raises(TableError, match="is not a whole"):
        read_table(written(tmp_path, "a", make(table)))


@pytest.mark.parametrize(
    ("name", "kind"), [("a.parquet", "Parquet"), ("a.arrow", "Arrow"), ("a.csv.gz", "gzip"), ("a.jsonl.zst", "zstd")]
)
def test_a_file_of_another_kind_is_not_called_cut_off(tmp_path: Path, name: str, kind: str) -> None:
    with pytest.raises(TableError) as caught:
        read_table(written(tmp_path, name, "a,b\n1,2\n"))
    assert f"is no {kind} file" in caught.value.message


def test_repeated_columns_of_any_format(tmp_path: Path) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(TableError, match="more than one column `a`"):
        read_table(written(tmp_path, "a.arrow", arrow_bytes(twice)))


def test_marks_in_files_of_others_are_dropped(tmp_path: Path) -> None:
    marked = pa.schema([pa.field("a", pa.string(), metadata={b"ucl:cells": b"json", b"note": b"kept"})])
    read = read_table(written(tmp_path, "a.arrow", arrow_bytes(pa.table([pa.array(["{"])], schema=marked))))
    assert read.schema.field("a").metadata == {b"note": b"kept"}


# --- opening --------------------------------------------------------------------------------------------------------


def test_compressed_text(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "a.csv.gz", gzip.compress(b"a\n1\n"))).to_pydict() == {"a": ["1"]}
    zst = pa.compress(b'{"a": 1}', codec="zstd", asbytes=True)
    assert read_table(written(tmp_path, "a.jsonl.zst", zst)).to_pydict() == {"a": [1]}


@pytest.mark.parametrize(
    "data", [b"a\n1\n", b'{"a": "1"}', parquet_bytes(pa.table({"a": ["1"]})), arrow_bytes(pa.table({"a": ["1"]}))]
)
def test_standard_input_is_told_by_its_first_bytes(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read_table("-").to_pydict() == {"a": ["1"]}


CSV = b"a\n1\n"


@pytest.mark.parametrize(
    "data",
    [gzip.compress(CSV), bz2.compress(CSV), pa.compress(CSV, codec="zstd", asbytes=True)],
    ids=["gz", "bz2", "zst"],
)
def test_compression_is_told_by_the_first_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read_table("-").to_pydict() == {"a": ["1"]}
    for name in ("a", "a.csv"):
        assert read_table(written(tmp_path, name, data)).to_pydict() == {"a": ["1"]}


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [("a.csv.xz", lzma.compress(CSV), "xz"), ("a", lzma.compress(CSV), "xz"), ("a.xlsx", b"PK\x03\x04rest", "zip")],
)
def test_compressions_that_are_not_read_are_named(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    with pytest.raises(TableError, match=f"is compressed as {kind}, which is not read"):
        read_table(written(tmp_path, name, data))


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.csv.gz", gzip.compress(b"a\n" + b"1" * (9 << 20)))
    assert read_table(path).num_rows == 1
    monkeypatch.setattr(compression, "_ALWAYS_ALLOWED", 8 << 20)
    with pytest.raises(TableError, match="unpacks to more than 8 MiB"):
        read_table(path)
    monkeypatch.setattr(compression, "_MOST_TIMES", 2000)
    assert read_table(path).num_rows == 1
    monkeypatch.setattr(compression, "_MOST_BYTES", 1 << 20)
    with pytest.raises(TableError, match="unpacks to more than 1 MiB"):
        read_table(path)


def test_a_format_may_be_named(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "a.txt", '{"a": 1}'), format="jsonl").to_pydict() == {"a": [1]}
    with pytest.raises(TableError, match="`xls` is not a format"):
        read_table(written(tmp_path, "a.txt", ""), format="xls")


def test_files_that_can_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no file"):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(TableError, match="is a folder"):
        read_table(str(tmp_path))
    with pytest.raises(TableError, match="can't be read"):
        read_table("a\0b")


@pytest.mark.parametrize("seed", range(40))
def test_junk_is_never_a_crash(tmp_path: Path, seed: int) -> None:
    import random

    noise = random.Random(seed)
    whole = [parquet_bytes(TABLE), arrow_bytes(TABLE), b'{"a": [1, {"b": "c"}]}\n' * 3, b'a,b\n"1",2\n' * 3][seed % 4]
    data = bytearray(whole)
    for _ in range(3):
        data[noise.randrange(len(data))] = noise.randrange(256)
    for name in ("a", "a.csv", "a.jsonl", "a.parquet", "a.arrow"):
        with suppress(TableError):
            read_table(written(tmp_path, name, bytes(data)))


# --- SQL ------------------------------------------------------------------------------------------------------------


def test_a_query_is_a_table(tmp_path: Path) -> None:
    path = written(tmp_path, "a.parquet", parquet_bytes(TABLE))
    table = read_sql(f"select a, sum(a)::hugeint as n from '{path}' where a is not null group by a order by a")
    columns = ingest(table, schema(field("a", t.INT), field("n", t.INT)), UTC)
    assert values(columns, "n") == [1, 2]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select nothing", "the query fails"),
        ("selekt 1", "the query fails"),
        ("", "is not one `select`"),
        ("select 1; select 2", "is not one `select`"),
        ("copy (select 1) to 'x.csv'", "is not one `select`"),
        ("select * from 'no_such_file.parquet'", "the query fails"),
    ],
)
def test_queries_that_give_no_table(query: str, message: str) -> None:
    with pytest.raises(TableError, match=message) as caught:
        read_sql(query)
    assert "\n" not in caught.value.message


def test_without_duckdb_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(TableError) as caught:
        read_sql("select 1")
    assert caught.value.help == "pip install 'ucl[sql]'"
