"""Parquet files of results: beside columns that are copied, and by settings of our own. pyarrow reads them back."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucl
from ucl.tables.errors import TableError
from ucl.tables.files import read_table
from ucl.tables.output import write_table
from ucl.tables.parquet import beside
from ucl.tables.parquet.compact import (
    BINARY,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    SET,
    STRUCT,
    TAIL,
    TRUE,
    Items,
    decode,
    encode,
    footer_size,
    framed,
)

NOW = "2026-03-04T12:00:00Z"
PROGRAM = """
schema Trip { km: int in 0..=1000  kind: text = "walk"  tags: set<text> = {}  cost: float? }
rule near on Trip { when km < 300 score 0.5 }
rule bus on Trip { when kind == "bus" score -0.25 }
rule dear on Trip { when present(cost) and cost > 2.0 score -0.125 * cost }
rule liked on Trip { when "a" in tags score 0.3  status shadow }
constraint far on Trip { forbid when km > 900 }
"""


@pytest.fixture(scope="module")
def program() -> ucl.CompiledProgram:
    return ucl.compile(PROGRAM)


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_LEAST_ROWS", 1)


def trips(rows: int, first: int = 0) -> pa.Table:
    numbers = np.arange(first, first + rows)
    return pa.table(
        {
            "km": pa.array(numbers * 37 % 1050),  # some beyond the domain
            "kind": [None if n % 11 == 0 else ("bus", "train", "陈静")[n % 3] for n in numbers.tolist()],
            "tags": pa.array([[["a"], ["b", "a"], [], None][n % 4] for n in numbers.tolist()], pa.list_(pa.string())),
            "cost": pa.array([None if n % 5 == 0 else n / 7 for n in numbers.tolist()], pa.float64()),
            "other": pa.array([{"x": n, "y": [str(n)]} for n in numbers.tolist()]),
            "day": pa.array(numbers.astype(np.int32), pa.date32()),
        }
    ).replace_schema_metadata({"said": "by somebody"})


def scored(program: ucl.CompiledProgram, path: Path, out: Path) -> pa.Table:
    program.score_file(path, out, now=NOW)
    return read_table(str(out))


# --- beside the columns of a file -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False, "store_schema": False},
        {"write_page_index": True, "write_page_checksum": True, "version": "1.0"},
    ],
)
@pytest.mark.parametrize("group", [1000, 400, 7])
def test_results_beside_copied_columns(
    program: ucl.CompiledProgram, tmp_path: Path, how: dict[str, Any], group: int
) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(1000), path, row_group_size=group, **how)
    whole = program.score(read_table(str(path)), now=NOW).to_arrow()
    found = scored(program, path, out)
    assert found.equals(whole)
    assert found.schema.equals(whole.schema)
    assert dict(parquet.read_schema(out).metadata)[b"ucl_invalid_rows"] != b"0"
    assert dict(parquet.read_schema(out).metadata)[b"ucl_now"]
    assert_copied(path, out)


def assert_copied(path: Path, out: Path) -> None:
    """The columns of the first file stand in the second, byte for byte, and all row groups are where they say."""
    before, after = parquet.ParquetFile(path).metadata, parquet.ParquetFile(out).metadata
    assert (after.num_rows, after.num_row_groups) == (before.num_rows, before.num_row_groups)
    first, second = path.read_bytes(), out.read_bytes()
    for group in range(before.num_row_groups):
        for column in range(before.num_columns):
            a, b = before.row_group(group).column(column), after.row_group(group).column(column)
            assert pages(a, first) == pages(b, second)
            assert (a.encodings, a.compression, a.statistics) == (b.encodings, b.compression, b.statistics)
        own = after.row_group(group)
        assert own.total_byte_size == sum(own.column(n).total_uncompressed_size for n in range(own.num_columns))


def pages(column: Any, data: bytes) -> bytes:
    start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
    return data[start : start + column.total_compressed_size]


def test_what_others_say_of_the_file_is_kept(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(20), path)
    scored(program, path, out)
    metadata = parquet.ParquetFile(out).metadata
    assert metadata.metadata[b"said"] == b"by somebody"
    assert metadata.created_by == parquet.ParquetFile(path).metadata.created_by


@pytest.mark.parametrize("name", ["duckdb", "polars"])
def test_other_readers_read_it(program: ucl.CompiledProgram, tmp_path: Path, name: str) -> None:
    reader = pytest.importorskip(name)
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(500), path, row_group_size=200)
    expected = scored(program, path, out)
    if name == "duckdb":
        found = reader.sql(f"select km, kind, ucl_total, ucl_decision, ucl_fired from '{out}'").to_arrow_table()
    else:
        found = reader.read_parquet(out).to_arrow()
    for column in ("km", "kind", "ucl_total", "ucl_decision", "ucl_fired"):
        assert found[column].to_pylist() == expected[column].to_pylist()


def test_onto_itself(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    parquet.write_table(trips(100), path, row_group_size=30)
    whole = program.score(read_table(str(path)), now=NOW).to_arrow()
    assert scored(program, path, path).equals(whole)
    with pytest.raises(TableError, match="ucl_total"):
        scored(program, path, path)


def test_a_file_that_shrinks_leaves_nothing(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(100), path)
    standing = beside.standing(str(path), "in.parquet", parquet.read_schema(path))
    assert standing is not None
    results = program.score(trips(100), now=NOW).to_arrow(columns="results", coded=True)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(TableError, match="not a whole"):
        beside.write_beside(standing, [results], out.open("wb"), lambda rows: None, dict)


@pytest.mark.parametrize("promised", [90, 110])
def test_a_footer_that_promises_other_rows(program: ucl.CompiledProgram, tmp_path: Path, promised: int) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(100), path)
    standing = beside.standing(str(path), "in.parquet", parquet.read_schema(path))
    assert standing is not None
    results = program.score(trips(promised), now=NOW).to_arrow(columns="results", coded=True)
    with out.open("wb") as sink, pytest.raises(TableError, match="not a whole"):
        beside.write_beside(standing, [results], sink, lambda rows: None, dict)


@pytest.mark.parametrize("kind", [BINARY, I16, STRUCT])
def test_fields_of_another_kind_are_no_footers(tmp_path: Path, kind: int) -> None:
    """pyarrow passes over them, so that files which it opens may have them."""
    value = {BINARY: b"x", I16: 5, STRUCT: {}}[kind]
    path = tmp_path / "in.parquet"
    parquet.write_table(trips(100).replace_schema_metadata({"said": "so"}), path)
    data = path.read_bytes()
    size = footer_size(data[-TAIL:]) or 0
    footer = decode(data[-TAIL - size : -TAIL])
    group = footer[4][1].values[0]
    chunk = group[1][1].values[0]
    places = [(footer, number) for number in (2, 3, 4, 5, 7)]
    places += [(footer[2][1].values[0], 5), (footer[5][1].values[0], 1)]
    places += [
        *((group, number) for number in (1, 2, 3)),
        (chunk, 3),
        *((chunk[3][1], number) for number in (7, 9, 11)),
    ]
    for fields, number in places:
        before = fields[number]
        if before[0] == kind:
            continue
        fields[number] = kind, value
        path.write_bytes(data[: -TAIL - size] + framed(footer))
        assert beside.standing(str(path), "", pa.schema([])) is None, number
        fields[number] = before
    path.write_bytes(data[: -TAIL - size] + framed(footer))
    assert beside.standing(str(path), "", pa.schema([])) is not None


def test_names_that_are_no_text(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    table = pa.table({"km": [1, 400], "zzzz": [1, 2]})
    parquet.write_table(table, tmp_path / "in.parquet", store_schema=False)
    write_table(table, str(tmp_path / "in.arrow"), "arrow")
    for path in (tmp_path / "in.parquet", tmp_path / "in.arrow"):
        path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xffzz"))
        with pytest.raises(TableError, match="not a whole"):
            read_table(str(path))
        with pytest.raises(TableError, match="not a whole"):
            program.score_file(path, now=NOW)


def test_files_whose_columns_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def standing() -> object:
        return beside.standing(str(path), "", pa.schema([]))

    path = tmp_path / "in.parquet"
    parquet.write_table(trips(0), path)
    assert standing() is None  # without row groups
    parquet.write_table(trips(100), path, row_group_size=10)
    assert standing() is not None
    monkeypatch.setattr(beside, "_LEAST_ROWS", 20)
    assert standing() is None
    monkeypatch.setattr(beside, "_LEAST_ROWS", 1)
    monkeypatch.setattr(beside, "_MOST_ROWS", 9)
    assert standing() is None
    monkeypatch.setattr(beside, "_MOST_ROWS", 1000)
    parquet.write_table(trips(100), path)
    for number, value in ((7, 1 << 40), (7, -1), (9, 1 << 40), (9, -5)):
        assert standing() is not None
        data = path.read_bytes()
        size = footer_size(data[-TAIL:]) or 0
        footer = decode(data[-TAIL - size : -TAIL])
        chunk = footer[4][1].values[0][1][1].values[-1]
        chunk[3][1][number] = I64, value
        chunk[3][1].pop(11, None)
        (tmp_path / "wrong.parquet").write_bytes(data[: -TAIL - size] + framed(footer))
        assert beside.standing(str(tmp_path / "wrong.parquet"), "", pa.schema([])) is None
    path.write_bytes(b"PAR1 and something else")
    assert standing() is None
    path.write_bytes(b"")
    assert standing() is None
    path.write_bytes(b"PAR1" + b"\xff" * 20 + (16).to_bytes(4, "little") + b"PAR1")
    assert standing() is None


def test_a_file_that_is_not_copied_says_the_same(
    program: ucl.CompiledProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(trips(300), path, row_group_size=70)
    copied = scored(program, path, out)
    monkeypatch.setattr(beside, "_MOST_ROWS", 0)
    encoded = scored(program, path, out)
    assert encoded.equals(copied)
    assert encoded.schema.equals(copied.schema, check_metadata=True)


# --- settings -------------------------------------------------------------------------------------------------------


def test_numbers_of_rows_are_differences_and_lists_have_no_bounds(program: ucl.CompiledProgram, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    result = program.score(trips(1000), now=NOW)
    write_table(result.to_arrow(columns="results", coded=True), str(out), "parquet")
    assert read_table(str(out)).equals(result.to_arrow(columns="results"))
    group = parquet.ParquetFile(out).metadata.row_group(0)
    columns = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in columns["ucl_row"].encodings
    assert columns["ucl_row"].total_compressed_size < 200
    assert columns["ucl_total"].statistics.has_min_max
    assert not columns["ucl_fired.list.element"].is_stats_set
    assert columns["ucl_fired.list.element"].has_dictionary_page


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["a", "b"]),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([0.5, 1.5]),
        pa.array([True, False]),
        pa.array([b"a", b"b"]),
        pa.array([7, 3]),
        pa.array([{"ucl_row": "a"}, None]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_a_column_of_ones_own_may_be_called_as_the_rows_numbers(
    program: ucl.CompiledProgram, tmp_path: Path, cells: pa.Array
) -> None:
    table, out = pa.table({"km": [100, 400], "ucl_row": cells}), tmp_path / "out.parquet"
    write_table(program.score(table, now=NOW).to_arrow(), str(out), "parquet")
    assert read_table(str(out))["ucl_row"].to_pylist() == cells.to_pylist()


# --- the footer's protocol ------------------------------------------------------------------------------------------

NUMBERS = st.integers(-(2**63), 2**63 - 1)
SCALARS = st.one_of(
    st.tuples(st.sampled_from([I16, I32, I64]), NUMBERS),
    st.tuples(st.just(BINARY), st.binary(max_size=20)),
    st.tuples(st.just(DOUBLE), st.binary(min_size=8, max_size=8)),
    st.tuples(st.just(BYTE), st.integers(0, 255)),
    st.booleans().map(lambda value: (TRUE if value else TRUE + 1, value)),
)


def structs(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    structs = st.dictionaries(st.integers(1, 400), inner, max_size=5)
    lists = st.one_of(
        st.lists(NUMBERS, max_size=20).map(lambda values: Items(I64, values)),
        st.lists(structs, max_size=3).map(lambda values: Items(STRUCT, values)),
    )
    return st.one_of(st.tuples(st.just(STRUCT), structs), st.tuples(st.sampled_from([LIST, SET]), lists))


FIELDS = st.dictionaries(st.integers(1, 400), st.recursive(SCALARS, structs, max_leaves=8), max_size=6)


@given(FIELDS)
def test_what_is_encoded_is_decoded(fields: Any) -> None:
    assert decode(encode(fields)) == fields


@given(st.binary(max_size=60))
def test_other_bytes_are_no_struct(data: bytes) -> None:
    with suppress(ValueError):
        decode(data)


def test_nesting_has_an_end() -> None:
    with pytest.raises(ValueError, match="deep"):
        decode(b"\x1c" * 10_000)


def footers() -> Iterator[bytes]:
    for how in ({}, {"write_page_index": True}, {"sorting_columns": [parquet.SortingColumn(5)]}):
        sink = io.BytesIO()
        parquet.write_table(trips(50), sink, row_group_size=20, **how)
        data = sink.getvalue()
        yield data[-TAIL - (footer_size(data[-TAIL:]) or 0) : -TAIL]


def test_a_footer_is_encoded_as_it_was() -> None:
    for footer in footers():
        assert encode(decode(footer)) == footer
