"""Many people's rules in polars: rules are rows of a table, too, and are joined with the options of who has them.

In: the lines of each person's program, in terms of `work`; everybody's options. Out: a function that computes totals
(whole numbers of 10^-9), local times included. Written as who knows polars would: a rule that names kinds, organisers
or guests stands once for each of them, so that a join finds the options that have one, and not all pairs of rule and
option are looked at; ranges are filtered afterwards, an open end being as far as numbers go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.meetings import KINDS, PEOPLE, ZONE
from ucl.bench.peers.work import All, Between, Line, OneOf, Overlap

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

_RANGES = ("clock", "priority", "count", "cost")
_FAR = 1e12


def polars_join(lines: Mapping[int, Sequence[Line]], table: pa.Table) -> Callable[[], NDArray[np.int64]]:
    """`table` has a column `person`. Makes the tables of rules and the query, and returns what runs that."""
    import polars as pl

    options = _options(table)
    local = pl.col("start").dt.convert_time_zone(ZONE)
    clock = (local.dt.hour().cast(pl.Int16) * 60 + local.dt.minute()).alias("clock")
    rows = options.lazy().with_row_index("row").with_columns(clock)
    plain = rows.select("row", "person", "kind", "organizer", *_RANGES)
    guests = rows.select("row", "person", "attendees", *_RANGES).explode("attendees")
    added = [
        _joined(plain, _rules(lines, "kind", options), "kind"),
        _joined(plain, _rules(lines, "organizer", options), "organizer"),
        # An option may have several guests whom one rule names.
        _joined(guests, _rules(lines, "attendees", options), "attendees").unique(["row", "rule"]),
    ]
    totals = pl.concat([each.select("row", "nano") for each in added]).group_by("row").agg(pl.col("nano").sum())
    whole = rows.select("row").join(totals, on="row", how="left", maintain_order="left")
    query = whole.select(pl.col("nano").fill_null(0))

    def run() -> NDArray[np.int64]:
        return query.collect()["nano"].to_numpy()

    return run


def _options(table: pa.Table) -> pl.DataFrame:
    """Texts as Enum, which is polars' fastest."""
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    people = pl.Enum(PEOPLE)
    return frame.with_columns(
        pl.col("person").cast(pl.Int32),
        pl.col("kind").cast(pl.Enum(KINDS)),
        pl.col("organizer").cast(people),
        pl.col("attendees").cast(pl.List(people)),
    )


def _joined(options: pl.LazyFrame, rules: pl.DataFrame, named: str) -> pl.LazyFrame:
    """The pairs of an option and a rule that holds for it."""
    import polars as pl

    ranges = [
        pl.col(column).is_between(pl.col(f"{column}_low"), pl.col(f"{column}_high"), closed="left")
        for column in _RANGES
    ]
    return options.join(rules.lazy(), on=["person", named]).filter(*ranges)


def _rules(lines: Mapping[int, Sequence[Line]], named: str, options: pl.DataFrame) -> pl.DataFrame:
    """A row for each value of the column that a rule names."""
    import polars as pl

    records: list[dict[str, Any]] = []
    for person, mine in lines.items():
        for number, line in enumerate(mine):
            column, values, ranges = _parts(line)
            if column == named:
                record = {"person": person, "rule": number, "nano": line.nano, **ranges}
                records += ({**record, named: value} for value in values)
    ends = {f"{column}_{end}": pl.Float64 for column in _RANGES for end in ("low", "high")}
    kind = options.schema[named]
    word = kind.inner if isinstance(kind, pl.List) else kind
    schema = {"person": options.schema["person"], "rule": pl.UInt32, "nano": pl.Int64, **ends, named: word}
    return pl.DataFrame(records, schema=schema)


def _parts(line: Line) -> tuple[str, Sequence[Any], dict[str, float]]:
    """The column that a line names values of, the values, and the ends of its ranges."""
    assert isinstance(line.when, All)
    ranges = {f"{column}_{end}": far for column in _RANGES for end, far in (("low", -_FAR), ("high", _FAR))}
    named: tuple[str, Sequence[Any]] | None = None
    for condition in line.when.parts:
        match condition:
            case Between(column, low, high):
                ranges[f"{column}_low"] = -_FAR if low is None else low
                ranges[f"{column}_high"] = _FAR if high is None else high
            case OneOf(column, values):
                named = column, values
            case Overlap(people):
                named = "attendees", people
            case _:
                raise AssertionError(condition)
    assert named is not None
    return *named, ranges
