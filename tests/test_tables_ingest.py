"""Arrow's own types to columns: widths, encodings, edges, and errors of a whole table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
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

import ucl
from ucl.kernels.columns import Columns, InvalidCell, Presence, Scalars, Texts
from ucl.semantics import types as t
from ucl.semantics.program import LocalInstant, RangeDomain, SetDomain
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.zones import UTC, Zone
from ucl.tables.errors import TableError
from ucl.tables.formats.csv_text import read_csv
from ucl.tables.frames import to_table
from ucl.tables.ingest import ingest
from ucl.tables.ingest.readers.reading import distinct

NEW_YORK, LORD_HOWE = Zone.load("America/New_York"), Zone.load("Australia/Lord_Howe")
assert NEW_YORK is not None
assert LORD_HOWE is not None


def read(type: t.Type, array: pa.Array | pa.ChunkedArray, zone: Zone = UTC, **more: Any) -> Columns:
    return ingest(pa.table({"x": array}), schema(field("x", type, **more)), zone)


def reasons(columns: Columns) -> dict[int, str]:
    return {row: cell.reason for row, cell in columns.invalid.items()}


# --- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float16(), pa.float64()])
def test_an_int_is_read_from_every_width(type: pa.DataType) -> None:
    columns = read(t.INT, pa.array([1, None, 100], type))
    assert values(columns, "x") == [1, None, 100]
    assert reasons(columns) == {1: "absent"}


def test_the_ends_of_64_bits_are_exact() -> None:
    assert values(read(t.INT, pa.array([2**63 - 1, -(2**63)])), "x") == [2**63 - 1, -(2**63)]
    unsigned = read(t.INT, pa.array([2**63 - 1, 2**63, 2**64 - 1], pa.uint64()))
    assert unsigned.invalid == {1: InvalidCell("x", "unreadable", 2**63), 2: InvalidCell("x", "unreadable", 2**64 - 1)}
    doubles = read(t.INT, pa.array([5.0, 1.5, 2.0**63, -(2.0**63), float("inf"), float("nan")]))
    assert reasons(doubles) == {1: "unreadable", 2: "unreadable", 4: "unreadable", 5: "absent"}
    assert values(doubles, "x")[3] == -(2**63)


def test_an_int_column_of_64_bits_is_not_copied() -> None:
    array = pa.array(range(1000), pa.int64())
    column = read(t.INT, array).columns[("x",)]
    assert isinstance(column, Scalars)
    assert column.valid is None
    assert np.shares_memory(column.values, array.to_numpy())


def test_decimals_are_ints_exactly_and_floats_nearly() -> None:
    array = pa.array([Decimal("12345678901234567"), Decimal("0.50"), None], pa.decimal128(30, 2))
    assert reasons(read(t.INT, array)) == {1: "unreadable", 2: "absent"}
    assert values(read(t.INT, array), "x")[0] == 12345678901234567
    assert values(read(t.Optional(t.FLOAT), array), "x") == [1.2345678901234568e16, 0.5, None]


def test_a_number_in_a_unit_is_the_product_rounded_once() -> None:
    assert values(read(LENGTH, pa.array([1.1, 0.57, 2.0]), unit=KILOMETRES), "x") == [1100.0, 570.0, 2000.0]
    big = read(LENGTH, pa.array([2**53 + 1]), unit=KILOMETRES)
    assert values(big, "x") == [float((2**53 + 1) * 1000)]
    assert reasons(read(LENGTH, pa.array([1e308, 1.0]), unit=KILOMETRES)) == {0: "unreadable"}


def test_durations_are_numbers_of_their_unit_or_lengths_of_time() -> None:
    assert values(read(t.DURATION, pa.array([30, -1]), unit=MINUTES), "x") == [1800 * SECOND, -60 * SECOND]
    assert values(read(t.DURATION, pa.array([0.5]), unit=MINUTES), "x") == [30 * SECOND]
    assert reasons(read(t.DURATION, pa.array([2**60, 1]), unit=MINUTES)) == {0: "unreadable"}
    for unit in ("s", "ms", "us", "ns"):
        lengths = pa.array([dt.timedelta(minutes=-1)], pa.duration(unit))
        assert values(read(t.DURATION, lengths), "x") == [-60 * SECOND]
        assert values(read(t.DURATION, lengths, unit=MINUTES), "x") == [-60 * SECOND]
    assert reasons(read(t.DURATION, pa.array([2**62], pa.int64()).cast(pa.duration("s")))) == {0: "unreadable"}


# --- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint16(), pa.large_string()),
    ],
    ids=str,
)
def test_text_of_every_kind_is_normalised_and_distinct(type: pa.DataType) -> None:
    column = read(t.Optional(t.TEXT), pa.array(["e\u0301", "é", None, "", "é"]).cast(type)).columns[("x",)]
    assert isinstance(column, Texts)
    assert sorted(column.dictionary) == ["", "é"]
    assert [column.dictionary[code] for code in column.codes[[0, 1, 3, 4]]] == ["é", "é", "", "é"]
    assert column.valid is not None
    assert column.valid.tolist() == [True, True, False, True, True]


TEXTS_OF_EVERY_TYPE: list[tuple[t.Type, Any]] = [
    (t.TEXT, "a"), (URGENCY, "low"), (t.WEEKDAY, "mon"), (t.DATE, "1970-01-02"), (t.TIME, "00:00:01"),
    (t.DATETIME, "1970-01-01T00:00:01"), (t.DURATION, "PT1S"), (t.Set(t.TEXT), ["a"]), (t.Set(URGENCY), ["low"]),
    (t.Set(t.DATE), ["1970-01-02"]), (t.Set(t.WEEKDAY), ["mon"]),
]  # fmt: skip


@pytest.mark.parametrize(("type", "cell"), TEXTS_OF_EVERY_TYPE, ids=str)
def test_texts_of_a_polars_frame_are_read_for_every_type(type: t.Type, cell: Any) -> None:
    """Polars gives views, which many of Arrow's functions don't take."""
    cells = [cell, None, cell, ["\ud7ff"] if isinstance(cell, list) else "\ud7ff"]
    expected = ingest(to_table([{"x": each} for each in cells]), schema(field("x", t.Optional(type))), UTC)
    assert values(expected, "x")[0] is not None
    table = to_table(pl.DataFrame({"x": cells, "x.y": cells, "z": pl.Series([{"x": each} for each in cells])}))
    assert "view" not in str(table.schema)
    table.take([3, 0])
    for fields in (field("x", t.Optional(type)), field("x", t.Optional(type), column="x.y")):
        found = ingest(table, schema(fields), UTC)
        assert values(found, "x") == values(expected, "x")
        assert found.invalid == expected.invalid
    nested = schema(field("z", t.Record(schema(field("x", t.Optional(type)), name="Z"))))
    within = ingest(table, nested, UTC)
    assert [value_at(within, ("z", "x"), row) for row in range(4)] == values(expected, "x")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["1970-01-02", "x"])])
def test_categories_of_a_polars_frame_are_texts(kind: Any) -> None:
    table = to_table(pl.DataFrame({"x": pl.Series(["1970-01-02", None, "x"], dtype=kind)}))
    assert values(ingest(table, schema(field("x", t.Optional(t.DATE))), UTC), "x") == [1, None, None]


def test_views_of_every_shape_are_made_plain() -> None:
    view, views = pa.string_view(), pa.list_view(pa.string_view())
    shapes = [
        pa.array(["a", None], view),
        pa.array([["a"], None], views),
        pa.array([["a", "b"], None], pa.list_(view, 2)),
        pa.array([{"k": ["a"]}, None], pa.struct([("k", pa.large_list_view(view))])),
        pa.array([[("k", "a")], None], pa.map_(view, view)),
        pa.array([b"a", None], pa.binary_view()),
    ]
    table = pa.table({str(place): shape for place, shape in enumerate(shapes)})
    plain = to_table(table)
    assert "view" not in str(plain.schema)
    assert plain.to_pylist() == table.to_pylist()
    assert to_table(plain) is plain


def test_a_type_that_nests_too_deep_is_one_error() -> None:
    type: pa.DataType = pa.int64()
    for _ in range(150):
        type = pa.list_(type)
    with pytest.raises(TableError, match="the column `x` is nested too deep"):
        to_table(pa.table({"x": pa.nulls(1, type)}))


def test_a_dictionary_may_repeat_itself_and_hold_null() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None], pa.int32()), pa.array(["a", None, "a", "b"]))
    assert values(read(t.Optional(t.TEXT), array), "x") == ["a", None, "a", "b", None]


def test_dictionaries_with_null_come_in_chunks() -> None:
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["x", None]))
    second = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int64()), pa.array([None, "y"]))
    column = pa.chunked_array([first, second, second.slice(1)])
    admitted = to_table(pa.table({"k": column}))["k"]
    assert admitted.to_pylist() == ["x", None, None, "y", None, None]
    assert admitted.type == column.type
    assert not any(chunk.dictionary.null_count for chunk in admitted.chunks)
    found = distinct(column)
    words = found.words
    assert [None if code == len(words) else words[code].as_py() for code in found.codes] == column.to_pylist()
    assert found.has_null


LIST_VIEWS = pa.ListViewArray.from_arrays(
    pa.array([3, 0, 1, 0]),
    pa.array([1, 0, 2, 2]),
    pa.array(["a", "b", "c", "d"]),
    mask=pa.array([False, True, False, False]),
)


@pytest.mark.parametrize(
    "views",
    [LIST_VIEWS, LIST_VIEWS.slice(1), pa.concat_arrays([LIST_VIEWS, LIST_VIEWS]).slice(2, 4), LIST_VIEWS.slice(0, 0)],
)
def test_views_of_lists_may_stand_in_any_order(views: pa.Array) -> None:
    """Arrow's own cast reads beyond them."""
    nested = pa.StructArray.from_arrays([views], ["k"])
    table = to_table(pa.table({"plain": views, "nested": nested, "chunks": pa.chunked_array([views])}))
    table.validate(full=True)
    assert table["plain"].to_pylist() == table["chunks"].to_pylist() == views.to_pylist()
    assert table["nested"].to_pylist() == nested.to_pylist()


def test_runs_are_made_cells() -> None:
    """Rows can't be chosen among runs."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3]), pa.array(["a", None]))
    table = to_table(pa.table({"k": runs}))
    assert table.take([2, 0])["k"].to_pylist() == [None, "a"]


def test_a_dictionary_of_many_words() -> None:
    words = [f"w{number}" for number in range(70_000)]
    array = pa.DictionaryArray.from_arrays(pa.array([69_999, 0, 40_000], pa.int32()), pa.array(words))
    assert values(read(t.TEXT, array), "x") == ["w69999", "w0", "w40000"]


def test_closed_text_has_the_codes_of_its_type() -> None:
    columns = read(URGENCY, pa.array(["high", "e\u0301", "low", "High", None]).dictionary_encode())
    column = columns.columns[("x",)]
    assert isinstance(column, Texts)
    assert column.dictionary == ("low", "high", "é")
    assert column.codes[:3].tolist() == [1, 2, 0]
    assert columns.invalid == {3: InvalidCell("x", "domain", "High"), 4: InvalidCell("x", "absent", None)}


def test_absent_texts_have_an_entry_for_their_code() -> None:
    column = read(t.Optional(t.TEXT), pa.nulls(3)).columns[("x",)]
    assert isinstance(column, Texts)
    assert len(column.dictionary) > int(column.codes.max())


# --- time -----------------------------------------------------------------------------------------------------------


def test_dates_of_both_widths_and_midnights() -> None:
    day = dt.date(2026, 3, 4)
    for type in (pa.date32(), pa.date64()):
        assert values(read(t.DATE, pa.array([day], type)), "x") == [20516]
    midnights = read(t.DATE, pa.array([dt.datetime(2026, 3, 4), dt.datetime(1969, 12, 31, 0, 0, 1)]))
    assert values(midnights, "x") == [20516, None]
    assert reasons(midnights) == {1: "unreadable"}
    assert reasons(read(t.DATE, pa.array([2932896, 2932897], pa.int32()).cast(pa.date32()))) == {1: "unreadable"}


@pytest.mark.parametrize("type", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str)
def test_times_of_every_width(type: pa.DataType) -> None:
    assert values(read(t.TIME, pa.array([dt.time(9, 30), None], type)), "x") == [34_200 * SECOND, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_clock_without_a_zone_is_local(unit: str) -> None:
    clocks = pa.array([dt.datetime(2026, 11, 1, 1, 30), dt.datetime(2026, 3, 8, 2, 30), None], pa.timestamp(unit))
    columns = read(t.Optional(t.DATETIME), clocks, NEW_YORK)
    first, moved = 1793511000 * SECOND, 1772955000 * SECOND
    assert values(columns, "x") == [first, moved, None]
    assert (columns.folds, columns.gaps) == (1, 1)
    instants = read(t.Optional(t.DATETIME), clocks.cast(pa.timestamp(unit, "Asia/Tokyo")), NEW_YORK)
    assert values(instants, "x")[0] == 1793496600 * SECOND
    assert (instants.folds, instants.gaps) == (0, 0)


@pytest.mark.parametrize("zone", [UTC, NEW_YORK, LORD_HOWE], ids=lambda zone: zone.name)
def test_local_columns_are_resolved_as_single_clocks_are(zone: Zone) -> None:
    step = 7 * 3600 * SECOND + 900 * SECOND
    clocks = np.arange(-200 * 365 * DAY, 200 * 365 * DAY, step, np.int64)[::97]
    around = [t + o + d for t, o in zip(zone.transitions[-60:], zone.offsets[-60:]) for d in (-1, 0, 1, 1800 * SECOND)]
    clocks = np.concatenate((clocks, np.array(around, np.int64)))
    columns = read(t.DATETIME, pa.array(clocks).cast(pa.timestamp("us")), zone)
    expected = [zone.instant(clock) for clock in clocks.tolist()]
    assert values(columns, "x") == [each.instant for each in expected]
    assert columns.folds == sum(each.kind == "fold" for each in expected)
    assert columns.gaps == sum(each.kind == "gap" for each in expected)


def test_below_a_microsecond_is_cut_off_and_beyond_the_years_is_unreadable() -> None:
    assert values(read(t.DATETIME, pa.array([-1], pa.int64()).cast(pa.timestamp("ns"))), "x") == [-1]
    columns = read(t.DATETIME, pa.array([2**62, 0], pa.int64()).cast(pa.timestamp("s")))
    assert reasons(columns) == {0: "unreadable"}
    assert isinstance(columns.invalid[0].value, str)


def test_a_datetime_text_counts_its_folds() -> None:
    columns = read(
        t.DATETIME, pa.array(["2026-11-01T01:30", "2026-11-01 01:30:00", "2026-11-01T01:30-05:00"]), NEW_YORK
    )
    assert values(columns, "x") == [1793511000 * SECOND, 1793511000 * SECOND, 1793514600 * SECOND]
    assert (columns.folds, columns.gaps) == (2, 0)


# --- sets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type",
    [
        pa.list_(pa.int64()),
        pa.large_list(pa.int32()),
        pa.list_(pa.int64(), 3),
        pa.list_view(pa.int64()),
        pa.large_list(pa.dictionary(pa.int8(), pa.int64())),
    ],
    ids=str,
)
def test_sets_from_lists_of_every_kind(type: pa.DataType) -> None:
    array = pa.array([[3, 1, 3], None, [2, 2, 2]], type)
    assert values(read(t.Optional(t.Set(t.INT)), array), "x") == [{1, 3}, None, {2}]


def test_far_apart_elements_stay_distinct() -> None:
    array = pa.array([[2**62, -(2**62), 2**62], [0]])
    assert values(read(t.Set(t.INT), array), "x") == [{2**62, -(2**62)}, {0}]


def test_a_set_with_a_wrong_element_is_wrong() -> None:
    columns = read(t.Set(URGENCY), pa.array([["low"], ["never"], ["low", None], ["never", None], []]))
    assert reasons(columns) == {1: "domain", 2: "unreadable", 3: "unreadable"}
    assert columns.invalid[1].value == ["never"]
    assert [value_at(columns, ("x",), row) for row in (0, 4)] == [{"low"}, frozenset()]


def test_a_default_set_fills_absent_rows() -> None:
    default = const(frozenset({"z", "a"}), t.Set(t.TEXT))
    columns = read(t.Set(t.TEXT), pa.array([["a"], None, [], None]), default=default)
    assert values(columns, "x") == [{"a"}, {"a", "z"}, frozenset(), {"a", "z"}]


# --- encodings ------------------------------------------------------------------------------------------------------


def test_chunks_slices_and_run_lengths_change_nothing() -> None:
    rows = [{"n": n if n % 3 else None, "w": f"w{n % 4}", "s": [n, n, n % 2], "h": {"k": n}} for n in range(20)]
    plain = to_table(rows).cast(
        pa.schema({"n": pa.int64(), "w": pa.string(), "s": pa.list_(pa.int64()), "h": pa.struct({"k": pa.int64()})})
    )
    inner = schema(field("k", t.INT))
    of = schema(
        field("n", t.Optional(t.INT)), field("w", t.TEXT), field("s", t.Set(t.INT)), field("h", t.Record(inner))
    )
    expected = [record_at(ingest(plain, of, UTC), of, row) for row in range(20)]
    chunked = pa.concat_tables([plain.slice(0, 7), plain.slice(7, 0), plain.slice(7, 13)])
    sliced = pa.concat_tables([plain.slice(5, 3), plain]).slice(3)
    words = plain["w"].combine_chunks()
    encoded = plain.set_column(
        1, "w", pa.chunked_array([words.slice(0, 3).dictionary_encode(), words.slice(3).dictionary_encode()])
    )
    run_lengths = plain.set_column(1, "w", pa.compute.run_end_encode(words))
    for table in (chunked, sliced, encoded, run_lengths):
        columns = ingest(table, of, UTC)
        assert [record_at(columns, of, row) for row in range(20)] == expected


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_row_and_one(rows: int) -> None:
    fields = [
        field("b", t.BOOL), field("i", t.INT), field("x", t.TEXT), field("u", URGENCY), field("s", t.Set(t.TEXT)),
        field("a", t.DATETIME), field("q", LENGTH, unit=KILOMETRES),
    ]  # fmt: skip
    array = {"b": [True], "i": [1], "x": ["a"], "u": ["low"], "s": [["a"]], "a": [dt.datetime(2026, 1, 1)], "q": [1.5]}
    table = pa.table(array).slice(0, rows)
    columns = ingest(table, schema(*fields), NEW_YORK)
    assert columns.rows == rows
    assert columns.invalid == {}
    assert len(columns.columns) == len(fields)


def test_no_rows_and_no_columns_miss_nothing() -> None:
    assert ingest(to_table([]), schema(field("i", t.INT)), UTC).rows == 0


# --- defaults and domains -------------------------------------------------------------------------------------------


def test_a_missing_column_has_its_default() -> None:
    table = pa.table({"other": [1, 2]})
    of = schema(field("i", t.INT, default=const(7, t.INT)), field("x", t.Optional(t.TEXT)))
    columns = ingest(table, of, UTC)
    assert values(columns, "i") == [7, 7]
    assert values(columns, "x") == [None, None]


def test_a_default_without_an_offset_is_in_the_zone() -> None:
    default = LocalInstant(t.DATETIME, const(0, t.INT).span, 0)
    assert values(read(t.DATETIME, pa.nulls(1), NEW_YORK, default=default), "x") == [5 * 3600 * SECOND]


def test_domains_of_instants_are_in_the_zone() -> None:
    low = LocalInstant(t.DATETIME, const(0, t.INT).span, 0)
    columns = read(
        t.DATETIME,
        pa.array([4 * 3600, 5 * 3600]).cast(pa.timestamp("s", "UTC")),
        NEW_YORK,
        domain=RangeDomain(low, None, False, False),
    )
    assert reasons(columns) == {0: "domain"}


@pytest.mark.parametrize(
    ("inclusive", "wraps", "low", "high", "inside"),
    [
        (False, False, 1, 3, [1, 2]),
        (True, False, 1, 3, [1, 2, 3]),
        (False, True, 5, 1, [0, 5, 6]),
        (True, True, 5, 1, [0, 1, 5, 6]),
        (False, False, None, 2, [0, 1]),
        (False, False, 5, None, [5, 6]),
    ],
)
def test_ranges(inclusive: bool, wraps: bool, low: int | None, high: int | None, inside: list[int]) -> None:
    domain = between(low, high, t.INT, inclusive=inclusive, wraps=wraps)
    columns = read(t.INT, pa.array(range(7)), domain=domain)
    assert sorted(set(range(7)) - set(columns.invalid)) == inside


def test_bounds_are_compared_exactly() -> None:
    domain = between(2**53 + 1, None, t.INT)
    assert reasons(read(t.FLOAT, pa.array([2.0**53, 2.0**53 + 2]), domain=domain)) == {0: "domain"}
    assert reasons(read(t.INT, pa.array([2**53, 2**53 + 1]), domain=between(2.0**53 + 2, None, t.FLOAT))) == {
        0: "domain",
        1: "domain",
    }
    assert reasons(read(t.INT, pa.array([1, 2]), domain=between(1.5, None, t.FLOAT))) == {0: "domain"}


def test_domains_that_are_sets() -> None:
    assert reasons(read(t.INT, pa.array([1, 2, 3]), domain=SetDomain(frozenset({1, 3})))) == {1: "domain"}
    columns = read(t.TEXT, pa.array(["a", "b"]), domain=SetDomain(frozenset({"a"})))
    assert columns.invalid == {1: InvalidCell("x", "domain", "b")}


# --- records --------------------------------------------------------------------------------------------------------

PERSON = schema(field("name", t.TEXT), field("age", t.INT, default=const(40, t.INT), column="years"), name="Person")


def test_a_record_is_a_struct_or_flat_columns() -> None:
    of = schema(field("host", t.Record(PERSON), column="Host"), field("guest", t.Optional(t.Record(PERSON))))
    nested = pa.table(
        {"Host": [{"name": "a", "years": 1}, {"name": "b", "years": None}], "guest": [None, {"name": "c"}]}
    )
    flat = pa.table({"Host.name": ["a", "b"], "Host.years": [1, None], "guest.name": [None, "c"]})
    for table in (nested, flat):
        columns = ingest(table, of, UTC)
        assert columns.invalid == {}
        presence = columns.columns[("guest",)]
        assert isinstance(presence, Presence)
        assert presence.valid.tolist() == [False, True]
        assert value_at(columns, ("host", "age"), 1) == 40
        assert value_at(columns, ("guest", "age"), 0) is None
        assert value_at(columns, ("guest", "age"), 1) == 40


def test_a_child_of_a_null_struct_is_not_read() -> None:
    child = pa.array(["ghost", "a"])
    array = pa.StructArray.from_arrays([child], ["name"], mask=pa.array([True, False]))
    columns = ingest(pa.table({"host": array}), schema(field("host", t.Record(PERSON))), UTC)
    assert columns.invalid == {0: InvalidCell("host.name", "absent", None)}


def test_records_within_optional_records() -> None:
    inner = schema(field("owner", t.Optional(t.Record(PERSON))), name="Car")
    of = schema(field("car", t.Optional(t.Record(inner))))
    columns = ingest(to_table([{"car": {"owner": {"name": "a"}}}, {"car": {}}, {}]), of, UTC)
    records = [record_at(columns, of, row) for row in range(3)]
    assert records == [{"car": {"owner": {"name": "a", "age": 40}}}, {"car": {"owner": None}}, {"car": None}]


# --- whole tables ---------------------------------------------------------------------------------------------------


def error(table: pa.Table, *fields: Any) -> TableError:
    with pytest.raises(TableError) as caught:
        ingest(table, schema(*fields), UTC)
    return caught.value


def test_a_missing_column_is_one_error_that_suggests() -> None:
    found = error(pa.table({"prioritty": [1], "b": [2]}), field("priority", t.INT), field("b", t.INT))
    assert found.message == "the table has no column `priority`; it has `prioritty`, `b`"
    assert found.help == "did you mean `prioritty`?"
    flat = error(pa.table({"host.years": [1]}), field("host", t.Record(PERSON)))
    assert flat.message == "the table has no column `host.name`; it has `host.years`"


@pytest.mark.parametrize(
    ("type", "array", "holds", "wants"),
    [
        (t.INT, pa.array([[1]]), "lists of whole numbers", "`int`"),
        (t.INT, pa.array(["1"]), "text", "`int`"),
        (t.TEXT, pa.array([1]), "whole numbers", "`text`"),
        (t.BOOL, pa.array([1]), "whole numbers", "`bool`"),
        (t.DATE, pa.array([0], pa.timestamp("s", "UTC")), "points in time", "`date`"),
        (t.DATETIME, pa.array([0], pa.date32()), "dates", "`datetime`"),
        (t.DURATION, pa.array([1.5]), "numbers", "`duration`"),
        (t.Set(t.INT), pa.array([["a"]]), "lists of text", "`set<int>`"),
        (t.Record(PERSON), pa.array([1]), "whole numbers", "`Person`"),
        (t.TEXT, pa.array([b"a"]), "bytes", "`text`"),
        (t.Optional(URGENCY), pa.array([True]), "true and false", '`("low" | "high" | "é")?`'),
    ],
)
def test_a_mistyped_column_is_one_error(type: t.Type, array: pa.Array, holds: str, wants: str) -> None:
    found = error(pa.table({"x": array}), field("y", type, column="x"))
    assert found.message == f"the column `x` holds {holds}, and the field `y` is {wants}"


@pytest.mark.parametrize("format", ["typed", "json", "csv"])
def test_a_duration_with_a_unit_is_iso_text_as_well(format: str) -> None:
    """A unit is that of numbers."""
    of = schema(field("x", t.DURATION, unit=MINUTES), field("y", t.INT))
    if format == "typed":
        table = pa.table({"x": ["PT1H", "-PT90S", "1h", None], "y": [1, 1, 1, 1]})
    elif format == "json":
        table = to_table([{"x": x, "y": 1} for x in ("PT1H", -1.5, "1h", None)])
    else:
        table = read_csv(b"x,y\nPT1H,1\n-1.5,1\n1h,1\n,1\n", "a.csv")
    columns = ingest(table, of, UTC)
    assert values(columns, "x")[:2] == [3600 * SECOND, -90 * SECOND]
    assert reasons(columns) == {2: "unreadable", 3: "absent"}


def test_a_number_is_no_duration_without_a_unit() -> None:
    found = error(pa.table({"x": [1]}), field("x", t.DURATION))
    assert found.message == "the column `x` holds whole numbers, and the field `x` is `duration`"


def test_nothing_but_nan_is_an_absent_column_of_any_type() -> None:
    assert values(read(t.Optional(t.TEXT), pa.array([float("nan"), None])), "x") == [None, None]


def test_repeated_columns_are_an_error_and_other_columns_are_not_read() -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    assert error(table, field("x", t.INT)).message == "the table has more than one column `x`"
    ingest(pa.table({"x": [1], "junk": [b"\xff"]}), schema(field("x", t.INT)), UTC)


def test_names_of_columns_are_composed() -> None:
    decomposed = "cafe\u0301"
    of = schema(field("café", t.INT), field("h", t.Record(schema(field("é", t.INT), name="H"))))
    for table in (
        to_table([{decomposed: 1, "h": {"e\u0301": 2}}]),
        to_table({decomposed: [1], "h.e\u0301": [2]}),
        pa.table({decomposed: [1], "h": [{"e\u0301": 2}]}),
    ):
        columns = ingest(table, of, UTC)
        assert record_at(columns, of, 0) == {"café": 1, "h": {"é": 2}}
        assert decomposed in table.column_names


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (pa.table({"café": [1], "cafe\u0301": [2]}), "café"),
        (pa.table({"h": [{"é": 1, "e\u0301": 2}]}), "h.é"),
        (pa.table({"h": [{"é": 1}], "h.é": [2]}), "h.é"),
        (pa.table({"h": [{"é": 1}], "h.e\u0301": [2]}), "h.é"),
        (to_table([{"h": {"é": 1}, "h.é": 2}, {"h": 5}]), "h.é"),
    ],
    ids=["columns", "children", "both", "both-decomposed", "both-json"],
)
def test_one_place_given_twice_is_an_error(table: pa.Table, name: str) -> None:
    of = schema(field("café", t.Optional(t.INT)), field("h", t.Record(schema(field("é", t.INT), name="H"))))
    with pytest.raises(TableError, match=f"more than one column `{name}`"):
        ingest(table, of, UTC)


def test_forged_marks_say_nothing() -> None:
    for mark, type in ((b"json", pa.int64()), (b"csv", pa.int64()), (b"what", pa.int64()), (b"\xff", pa.int64())):
        table = pa.table([pa.array([1], type)], schema=pa.schema([pa.field("x", type, metadata={b"ucl:cells": mark})]))
        assert values(ingest(table, schema(field("x", t.INT)), UTC), "x") == [1]
    broken = pa.schema([pa.field("x", pa.string(), metadata={b"ucl:cells": b"json"})])
    assert reasons(ingest(pa.table([pa.array(["{"])], schema=broken), schema(field("x", t.INT)), UTC)) == {
        0: "unreadable"
    }


def test_who_counts_elements_counts_each_once() -> None:
    program = ucl.compile(
        "schema S { tags: set<text>  few: set<int>  other: set<int> }\n"
        "rule two on S { when size(tags) == 2 score 0.5 }\n"
        "rule threes on S { when count(n in few where n > 2) == 1 score 0.25 }\n"
        "rule held on S { when subset({1, 3}, few) and subset(few, other) score 0.125 }\n"
    )
    table = pa.table({"tags": [["a", "b", "a"], ["a", "a"]], "few": [[3, 3, 1, 1], [3, 3]], "other": [[1, 1, 3], [3]]})
    assert program.score(table).total.tolist() == [0.875, 0.25]
