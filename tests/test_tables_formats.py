"""One small table through every format and every kind of frame: the same columns come out."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import io
import uuid
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
from table_schemas import (
    KILOMETRES,
    LENGTH,
    MINUTES,
    URGENCY,
    between,
    const,
    field,
    record_at,
    schema,
    value_at,
    values,
)

from ucl.semantics import types as t
from ucl.semantics.zones import UTC, Zone
from ucl.tables.errors import TableError
from ucl.tables.files import read_table
from ucl.tables.formats.json_text import read_json
from ucl.tables.frames import to_table
from ucl.tables.ingest import ingest
from ucl.tables.output import write_table

BERLIN = Zone.load("Europe/Berlin")
assert BERLIN is not None

ROWS: list[dict[str, Any]] = [
    {
        "start": dt.datetime(2026, 10, 25, 2, 30), "seen": dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC), "minutes": 30,
        "note": "e\u0301, \"x\"\n", "kind": "high", "tags": ["b", "a"], "numbers": [3, 1], "day": dt.date(2026, 3, 4),
        "at": dt.time(9, 30, 0, 5), "far": 1.5, "big": 2**63 - 1, "ok": True, "weekday": "fri",
        "length": dt.timedelta(minutes=90), "host": {"name": "Ann", "age": 30},
    },
    {
        "start": dt.datetime(2026, 3, 29, 2, 30), "seen": dt.datetime(2026, 7, 1, 8, 0, 0, 1, dt.UTC), "minutes": None,
        "note": None, "kind": "é", "tags": ["x;y"], "numbers": [2], "day": dt.date(1, 1, 1), "at": dt.time(0),
        "far": None, "big": -(2**63), "ok": False, "weekday": "mon", "length": dt.timedelta(days=-1, microseconds=1),
        "host": {"name": "Bo", "age": None},
    },
    {
        "start": dt.datetime(2026, 7, 1), "seen": dt.datetime(9999, 12, 31, tzinfo=dt.UTC), "minutes": 11,
        "note": "007", "kind": "low", "tags": None, "numbers": [1, 1], "day": dt.date(9999, 12, 31),
        "at": dt.time(23, 59, 59),
        "far": -0.1, "big": 0, "ok": True, "weekday": "sun", "length": dt.timedelta(0),
        "host": {"name": "Cy", "age": 200},
    },
]  # fmt: skip
PERSON = schema(field("name", t.TEXT), field("age", t.Optional(t.INT)), name="Person")
SCHEMA = schema(
    field("start", t.DATETIME),
    field("seen", t.DATETIME),
    field("minutes", t.DURATION, unit=MINUTES, default=const(0, t.DURATION)),
    field("note", t.Optional(t.TEXT)),
    field("kind", URGENCY),
    field("tags", t.Set(t.TEXT), default=const(frozenset(), t.Set(t.TEXT))),
    field("numbers", t.Set(t.INT)),
    field("day", t.DATE),
    field("at", t.TIME),
    field("far", t.Optional(LENGTH), unit=KILOMETRES, domain=between(0.0, None, LENGTH)),
    field("big", t.INT),
    field("ok", t.BOOL),
    field("weekday", t.WEEKDAY),
    field("length", t.DURATION),
    field("host", t.Record(PERSON)),
)


def summary(table: pa.Table) -> Any:
    assert BERLIN is not None
    columns = ingest(table, SCHEMA, BERLIN)
    records = [record_at(columns, SCHEMA, row) for row in range(columns.rows)]
    invalid = {row: (cell.field, cell.reason, cell.value) for row, cell in columns.invalid.items()}
    return records, invalid, columns.folds, columns.gaps


EXPECTED = summary(to_table(ROWS))


def test_the_table_is_read_as_it_should_be() -> None:
    records, invalid, folds, gaps = EXPECTED
    assert (folds, gaps) == (1, 1)
    assert invalid == {2: ("far", "domain", -0.1)}
    assert records[0]["note"] == 'é, "x"\n'
    assert records[0]["minutes"] == 1_800_000_000
    assert records[1]["tags"] == {"x;y"}
    assert records[1]["length"] == -86_400_000_000 + 1
    assert records[2]["tags"] == frozenset()


def flat(table: pa.Table) -> pa.Table:
    return table.flatten()


@pytest.mark.parametrize("format", ["json", "jsonl", "parquet", "arrow"])
def test_files_give_the_same_columns(tmp_path: Path, format: str) -> None:
    path = str(tmp_path / f"t.{format}")
    write_table(to_table(ROWS), path, format)
    assert summary(read_table(path)) == EXPECTED


def test_csv_gives_the_same_columns(tmp_path: Path) -> None:
    path = str(tmp_path / "t.csv")
    write_table(flat(to_table(ROWS)), path, "csv")
    records, invalid, folds, gaps = summary(read_table(path))
    assert (records, folds, gaps) == (EXPECTED[0], EXPECTED[2], EXPECTED[3])
    assert invalid == {2: ("far", "domain", "-0.1")}


def test_arrow_of_every_make_gives_the_same_columns() -> None:
    table = to_table(ROWS)
    batch = table.combine_chunks().to_batches()[0]
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 1), batch.slice(1)])
    for data in (table, batch, reader, flat(table)):
        assert summary(to_table(data)) == EXPECTED


def test_pandas_gives_the_same_columns() -> None:
    frame = to_table(ROWS).to_pandas(date_as_object=True)
    assert summary(to_table(frame)) == EXPECTED
    shifted = frame.set_axis([7, 8, 9], axis=0)
    assert summary(to_table(shifted)) == EXPECTED
    assert summary(to_table(frame.convert_dtypes(dtype_backend="pyarrow"))) == EXPECTED


def test_polars_gives_the_same_columns() -> None:
    frame = pl.from_arrow(to_table(ROWS))
    assert summary(to_table(frame)) == EXPECTED
    assert isinstance(frame, pl.DataFrame)
    assert summary(to_table(frame.lazy())) == EXPECTED
    assert summary(to_table(frame.with_columns(pl.col("kind").cast(pl.Categorical)))) == EXPECTED


def test_dicts_of_columns_give_the_same_columns() -> None:
    table = to_table(ROWS)
    lists = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    assert summary(to_table(lists)) == EXPECTED
    arrays = {**lists, "big": np.array(lists["big"]), "ok": np.array(lists["ok"]), "far": np.array([1.5, np.nan, -0.1])}
    arrays |= {"start": np.array(lists["start"], "datetime64[us]"), "day": np.array(lists["day"], "datetime64[D]")}
    arrays |= {"kind": np.array(lists["kind"]), "weekday": np.array(lists["weekday"], object), "note": table["note"]}
    assert summary(to_table(arrays)) == EXPECTED
    series = {**lists, "big": pd.Series(lists["big"]), "at": pl.Series(lists["at"])}
    assert summary(to_table(series)) == EXPECTED


def test_rows_of_every_kind_give_the_same_columns() -> None:
    names = list(ROWS[0])
    model = pydantic.create_model("Row", **dict.fromkeys(names, (Any, None)))
    data_class = dataclasses.make_dataclass("Row", names)
    named_tuple = namedtuple("Row", names)
    for make in (model, data_class, named_tuple):
        assert summary(to_table([make(**row) for row in ROWS])) == EXPECTED
        assert summary(to_table(make(**row) for row in ROWS)) == EXPECTED


def test_models_give_their_columns_names() -> None:
    class Row(pydantic.BaseModel):
        far: float = pydantic.Field(alias="Distance (km)")

    table = to_table([Row(**{"Distance (km)": 2.5})])
    assert values(ingest(table, schema(field("far", t.FLOAT, column="Distance (km)")), UTC), "far") == [2.5]


# --- rows of Python values ------------------------------------------------------------------------------------------


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.Enum):
    BIG = 7


@pytest.mark.parametrize(
    ("type", "cells", "expected"),
    [
        (t.TEXT, [Colour.RED, "blue"], ["red", "blue"]),
        (t.INT, [Size.BIG, 1, np.int32(5), np.uint64(2**63 - 1)], [7, 1, 5, 2**63 - 1]),
        (t.INT, [Decimal("3"), Decimal("4.0")], [3, 4]),
        (t.FLOAT, [Decimal("0.1"), 1, 2.5, np.float32(0.5)], [0.1, 1.0, 2.5, 0.5]),
        (t.Optional(t.FLOAT), [pd.NA, float("nan"), Decimal("NaN"), 1], [None, None, None, 1.0]),
        (t.Optional(t.DATETIME), [pd.NaT, pd.Timestamp("1970-01-01T00:00:01Z"), None], [None, 1_000_000, None]),
        (t.DATETIME, [np.datetime64("1970-01-01T00:00:01", "ns"), dt.datetime(1970, 1, 1)], [1_000_000, 0]),
        (
            t.DATETIME,
            [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "1970-01-02T00:00"],
            [0, 0, t.DAY],
        ),
        (t.DATE, [np.datetime64("1970-01-02"), dt.date(1970, 1, 1), "1970-01-03"], [1, 0, 2]),
        (t.DURATION, [dt.timedelta(seconds=-1), "PT1S", np.timedelta64(1, "s")], [-1_000_000, 1_000_000, 1_000_000]),
        (t.Set(t.TEXT), [{"a"}, ["b", "b"], ("c",), frozenset(), np.array(["d"])], [{"a"}, {"b"}, {"c"}, set(), {"d"}]),
        (t.Set(t.DATE), [{dt.date(1970, 1, 2)}, ["1970-01-03"]], [{1}, {2}]),
        (t.BOOL, [np.True_, False], [True, False]),
    ],
    ids=str,
)
def test_values_of_rows_are_kept_as_given(type: t.Type, cells: list[Any], expected: list[Any]) -> None:
    columns = ingest(to_table([{"x": cell} for cell in cells]), schema(field("x", type)), UTC)
    assert columns.invalid == {}
    assert values(columns, "x") == expected


class Plain:
    pass


class Address:
    def __str__(self) -> str:
        return "somewhere"


@pytest.mark.parametrize(
    "odd",
    [b"x", bytearray(b"x"), memoryview(b"x"), object(), Plain(), Address(), Plain, pydantic.BaseModel, len, 1j,
     Fraction(1, 2), range(2), np.bytes_(b"x"), np.complex128(1), {object(): 1}, {(1, 2): 3}],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_no_object_is_taken_for_its_text(odd: Any) -> None:
    for cells in ([odd, "a"], [odd, None], [[odd], ["a"]]):
        for type in (t.TEXT, t.Set(t.TEXT), t.FLOAT):
            columns = ingest(to_table([{"x": cell} for cell in cells]), schema(field("x", t.Optional(type))), UTC)
            assert columns.invalid[0].reason == "unreadable"
            assert "0x" not in str(columns.invalid[0].value)


def test_texts_of_richer_kinds_are_texts() -> None:
    number = uuid.UUID(int=5)
    columns = ingest(
        to_table([{"x": number}, {"x": PurePosixPath("a/b")}, {"x": Colour.RED}, {"x": np.str_("n")}]),
        schema(field("x", t.TEXT)),
        UTC,
    )
    assert values(columns, "x") == [str(number), "a/b", "red", "n"]


@pytest.mark.parametrize("number", ["1E+40", "1E+5000", "1E+999999", "-1E-999999", "NaN", "Infinity", "1E+20"])
def test_decimals_of_any_size_are_read_or_refused(number: str) -> None:
    of = schema(field("f", t.Optional(t.FLOAT)), field("i", t.Optional(t.INT), column="f"))
    columns = ingest(to_table([{"f": Decimal(number)}, {"f": "x"}]), of, UTC)
    assert columns.invalid[1].reason == "unreadable"
    if 0 not in columns.invalid:
        assert values(columns, "f")[0] == (None if number == "NaN" else float(number))


def test_half_of_a_surrogate_pair_spoils_its_row_alone() -> None:
    table = read_json(b'{"x": "\\ud800", "n": 1}\n{"x": "a", "n": 2}\n', "a.json")
    columns = ingest(table, schema(field("x", t.TEXT), field("n", t.INT)), UTC)
    assert {row: (cell.reason, cell.value) for row, cell in columns.invalid.items()} == {0: ("unreadable", "\\ud800")}
    assert value_at(columns, ("x",), 1) == "a"
    with pytest.raises(TableError, match="a key that is no text"):
        to_table({"\ud800": [1]})


@pytest.mark.parametrize("depth", [50, 101, 500, 700])
def test_a_nest_is_no_value_and_no_failure(depth: int) -> None:
    text = "[" * depth + "]" * depth
    table = read_json(f'{{"x": {text}, "n": 1}}\n{{"x": "[", "n": 2}}\n'.encode(), "a.json")
    for type in (t.TEXT, t.Set(t.TEXT), t.INT):
        columns = ingest(table, schema(field("x", t.Optional(type)), field("n", t.INT)), UTC)
        assert columns.invalid[0].reason == "unreadable"
    record = schema(field("x", t.Record(schema(field("y", t.Optional(t.INT)), name="X"))))
    assert list(ingest(table, record, UTC).invalid) == [0, 1]


def test_what_one_row_says_does_not_change_another() -> None:
    of = schema(field("x", t.TEXT))
    for odd in (dt.date(2026, 1, 1), 5, ["a"], {"k": 1}, object(), 2**70, b"bytes"):
        columns = ingest(to_table([{"x": odd}, {"x": "a"}]), of, UTC)
        alone = ingest(to_table([{"x": odd}]), of, UTC)
        assert values(columns, "x")[1] == "a"
        assert (0 in columns.invalid) == (0 in alone.invalid), odd


def test_values_that_json_can_not_say_are_wrong_by_themselves() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = {}
    for _ in range(5000):
        deep = {"k": deep}
    for odd in (10**5000, circle, deep, {(1, 2): 3}, [[10**5000]]):
        for type in (t.INT, t.TEXT, t.Set(t.TEXT)):
            columns = ingest(to_table([{"x": odd}, {"x": None}]), schema(field("x", t.Optional(type))), UTC)
            assert list(columns.invalid) == [0]


def test_keys_that_are_no_text_are_named_as_text() -> None:
    columns = ingest(to_table([{1: 5, "h": {2: "x"}}]), schema(field("n", t.INT, column="1")), UTC)
    assert values(columns, "n") == [5]


# --- what is no table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "a value of the kind `int` is not a table"),
        (None, "nothing is not a table"),
        ("rows.csv", "a value of the kind `str` is not a table"),
        ([1, 2], "has `1` for a row in element 0"),
        ([10**5000], "has a value of the kind `int` for a row in element 0"),
        ([object()], "has a value of the kind `object` for a row in element 0"),
        ({"a": [1], "b": [1, 2]}, "the column `b` has 2 values, and the others 1"),
        ({"a": "text"}, "the column `a` can't be read"),
        ({"a": 1}, "the column `a` can't be read"),
        ({"a": np.zeros((2, 2))}, "the column `a` can't be read"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column `a`"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_table(data: Any, message: str) -> None:
    with pytest.raises(TableError) as caught:
        to_table(data)
    assert message in caught.value.message


def test_a_table_without_rows_keeps_its_columns() -> None:
    for data in ({"x": []}, pd.DataFrame({"x": []}), pl.DataFrame({"x": []}), pa.table({"x": []})):
        assert ingest(to_table(data), schema(field("x", t.INT)), UTC).rows == 0


def test_written_csv_of_odd_text_is_read_back() -> None:
    from ucl.tables.formats.csv_lines import write_csv
    from ucl.tables.formats.csv_text import read_csv

    words = ["a", 'a"b', "a,b", "a\nb", "\r", '"', " a ", "[1]", "é"]
    table = pa.table({"w": words, "s": [[word, word + word] for word in words], 'odd "name", yes': range(len(words))})
    sink = io.BytesIO()
    write_csv([table], sink)
    read = read_csv(sink.getvalue(), "x")
    assert read.column_names == table.column_names
    columns = ingest(read, schema(field("w", t.TEXT), field("s", t.Set(t.TEXT))), UTC)
    assert values(columns, "w") == words
    assert values(columns, "s") == [{word, word + word} for word in words]
