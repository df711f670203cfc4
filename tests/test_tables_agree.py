"""Whole columns are read as the definition reads one record: same values, same invalid rows, whatever the cells are."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from table_schemas import (
    CENTIMETRES,
    KILOMETRES,
    LENGTH,
    MILES,
    MINUTES,
    URGENCY,
    between,
    const,
    field,
    record_at,
    schema,
)

from ucl.kernels.columns import Columns
from ucl.semantics import types as t
from ucl.semantics.outcome import Invalid
from ucl.semantics.program import Schema
from ucl.semantics.values import read_record
from ucl.semantics.zones import Zone
from ucl.tables.cells import Cells, marked
from ucl.tables.formats.plain import encodable
from ucl.tables.frames import to_table
from ucl.tables.ingest import FewRows, ingest, ingest_few
from ucl.tables.ingest.readers.numbers import exact_microseconds, exact_product

BERLIN = Zone.load("Europe/Berlin")
assert BERLIN is not None

PERSON = schema(
    field("name", t.TEXT),
    field("age", t.INT, domain=between(0, None, t.INT), default=const(40, t.INT), column="years"),
    field("mail", t.Optional(t.TEXT)),
    name="Person",
)
FIELDS = [
    field("b", t.BOOL),
    field("i", t.INT),
    field("bounded", t.INT, domain=between(0, 10, t.INT, inclusive=True), default=const(5, t.INT)),
    field("f", t.FLOAT, domain=between(-1.5, None, t.FLOAT)),
    field("x", t.Optional(t.TEXT)),
    field("x", t.TEXT, default=const("none", t.TEXT)),
    field("u", URGENCY, default=const("low", URGENCY)),
    field("w", t.WEEKDAY, domain=between(4, 0, t.WEEKDAY, inclusive=True, wraps=True)),
    field("d", t.DATE),
    field("c", t.TIME, domain=between(22 * 3_600_000_000, 6 * 3_600_000_000, t.TIME, wraps=True)),
    field("a", t.DATETIME),
    field("l", t.DURATION),
    field("l", t.Optional(t.DURATION), unit=MINUTES),
    field("q", LENGTH, unit=KILOMETRES),
    field("q", LENGTH, unit=MILES),
    field("q", LENGTH, unit=CENTIMETRES, domain=between(0.0, 5.0, LENGTH)),
    field("s", t.Set(t.TEXT), default=const(frozenset({"z"}), t.Set(t.TEXT))),
    field("s", t.Set(t.INT)),
    field("s", t.Set(URGENCY), default=const(frozenset(), t.Set(URGENCY))),
    field("s", t.Optional(t.Set(t.WEEKDAY))),
    field("s", t.Set(t.DATE)),
    field("p", t.Record(PERSON)),
    field("p", t.Optional(t.Record(PERSON))),
]

numbers = st.one_of(
    st.integers(-3, 12),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 10**400]),
    st.floats(),
    st.floats(-20, 20).map(lambda x: round(x, 2)),
)
texts = st.one_of(
    st.sampled_from(["", "low", "high", "e\u0301", "é", "mon", "Mon", "2026-03-04", "09:00", "24:00", "5"]),
    st.sampled_from(["2026-02-29", "2026-03-29T02:30", "2026-10-25 02:30:00", "2026-10-25T02:30+01:00", "PT90M"]),
    st.sampled_from(
        ["9999-12-31T23:59:59.9999999Z", "-P1DT0.0000005S", "P1M", "0001-01-01T00:00", "\ud800", "yes", "a;b"]
    ),
    st.text(max_size=4),
)
moments = st.one_of(
    st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31)),
    st.datetimes(timezones=st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=-7))])),
    st.dates(),
    st.times(),
    st.timedeltas(),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, moments)
lists = st.lists(st.one_of(texts, st.integers(-3, 3), scalars), max_size=4)
people = st.fixed_dictionaries({}, optional={"name": scalars, "years": scalars, "mail": scalars, "other": scalars})
cells = st.one_of(scalars, lists, lists.map(tuple), st.sets(texts, max_size=3), people)
# Rows of one kind take the ways of whole columns, mixed rows that of single cells.
kinds = [scalars, numbers, texts, moments, lists, st.lists(texts), st.lists(st.integers(-3, 3)), people, cells]
columns_of_cells = st.sampled_from(kinds).flatmap(
    lambda kind: st.lists(st.one_of(kind, kind, kind, st.none()), min_size=1, max_size=6)
)


@pytest.mark.parametrize("at", range(len(FIELDS)), ids=lambda at: f"{FIELDS[at].name}-{FIELDS[at].type}-{at}")
@settings(max_examples=60, deadline=None)
@given(columns_of_cells)
@example([None, None])
@example([math.nan])
@example([math.nan, "x"])
@example([9223372036854775807, 9223372036854775806])
@example([0.1, 0.29, 0.57])
def test_a_column_is_read_as_its_cells_are(at: int, raw: list[Any]) -> None:
    check([{FIELDS[at].column: cell} for cell in raw], schema(FIELDS[at]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries({"b": scalars, "i": scalars, "x": scalars, "p": cells}), min_size=1, max_size=5))
def test_the_first_wrong_field_in_schema_order_is_named(rows: list[dict[str, Any]]) -> None:
    named = {f.name: f for f in FIELDS}
    check(rows, schema(named["i"], named["p"], named["b"], named["x"]))


def check(rows: list[dict[str, Any]], of: Schema) -> None:
    assert BERLIN is not None
    columns = ingest(to_table(rows), of, BERLIN)
    assert columns.rows == len(rows)
    for number, row in enumerate(rows):
        expected = read_record(row, of.fields, BERLIN)
        if isinstance(expected, Invalid):
            found = columns.invalid[number]
            assert (found.field, found.reason) == (expected.field, expected.reason)
            if isinstance(expected.value, str):
                assert found.value == encodable(expected.value)
            elif isinstance(expected.value, int | float):
                assert same(found.value, expected.value)
        else:
            assert number not in columns.invalid, columns.invalid[number]
            assert same(record_at(columns, of, number), expected)
    check_few(rows, of, columns)


def check_few(rows: list[dict[str, Any]], of: Schema, columns: Columns) -> None:
    """A few rows that need no Arrow say the same without it, and become the same table later."""
    few = FewRows.of(rows)
    if few is None:
        return
    table = to_table(rows)
    assert few.table.schema.equals(table.schema, check_metadata=True)
    assert repr(few.table.to_pylist()) == repr(table.to_pylist())
    found = ingest_few(few, of, BERLIN)
    if found is None:
        return
    assert (found.rows, found.folds, found.gaps) == (columns.rows, columns.folds, columns.gaps)
    assert not columns.invalid
    for number in range(columns.rows):
        assert record_at(found, of, number) == record_at(columns, of, number)


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, Mapping):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, float) and not math.isfinite(expected):
        return found is None or str(found) == str(expected)
    return bool(found == expected)


spelled = st.from_regex(
    r"(20(26|24)|0001|9999|0000)-(0[0-9]|1[0-3])-(0[0-9]|[123][0-9])[T ][0-2][0-9]:[0-6][05]"
    r"(:[0-6][05](\.([05]{3}|[05]{6}|5))?)?(Z|[+-][01][0-9]:[0-6]0)?",
    fullmatch=True,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(spelled, min_size=1, max_size=8))
@example(["2024-02-29T00:00", "2026-02-29T00:00", "2026-12-31 23:59:60", "2026-01-01T00:00:00.000005+01:00"])
def test_usual_spellings_of_datetimes_are_read_as_others_are(texts: list[str]) -> None:
    check([{"a": text} for text in texts], schema(field("a", t.DATETIME)))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{0,20})?(e[+-]?[0-9]{1,3})?", fullmatch=True), max_size=5))
def test_usual_spellings_of_numbers_are_read_as_others_are(texts: list[str]) -> None:
    table = pa.table({"n": pa.array(texts, pa.string())})
    table = table.cast(pa.schema([marked(table.schema.field(0), Cells.CSV)]))
    for kind, unit in ((t.INT, None), (t.FLOAT, None), (LENGTH, MILES), (t.DURATION, MINUTES)):
        of = schema(field("n", kind, unit=unit))
        columns = ingest(table, of, BERLIN)
        for row, text in enumerate(texts):
            number = int(text) if text.lstrip("-").isdigit() else float(text)
            expected = read_record({"n": number}, of.fields, BERLIN)
            assert (row in columns.invalid) == isinstance(expected, Invalid)
            assert isinstance(expected, Invalid) or record_at(columns, of, row) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**6), 10**6).map(float))),
    st.sampled_from([Fraction(1000), Fraction(1, 100), Fraction("1609.344"), Fraction("0.3048"), Fraction(1, 3)]),
)
def test_products_are_rounded_once(numbers: list[float], factor: Fraction) -> None:
    found = exact_product(np.array(numbers, np.float64), factor).tolist()
    for product, number in zip(found, numbers):
        exact = Fraction(number) * factor
        if math.isfinite(product):
            assert product == float(exact)
        else:
            assert abs(exact) > Fraction(1.7e308)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.floats(-1e13, 1e13), st.floats(-1, 1), st.integers(-(10**6), 10**6).map(lambda n: n / 2000))),
    st.sampled_from([Fraction(1000), Fraction(60_000_000), Fraction(86_400_000_000), Fraction(1, 1000)]),
)
@example([0.0005, 0.0015, 0.0025, 0.00049999999999999998], Fraction(1000))
def test_microseconds_are_rounded_half_even(numbers: list[float], factor: Fraction) -> None:
    found, beyond = exact_microseconds(np.array(numbers, np.float64), factor)
    for microseconds, out, number in zip(found.tolist(), beyond.tolist(), numbers):
        exact = round(Fraction(number) * factor)
        assert out == (not -(2**63) <= exact < 2**63)
        assert out or microseconds == exact
