"""Engines of tables: polars and DuckDB, from the same Arrow table that we read.

In: a `Work`. Out: a function that computes totals (whole numbers of 10^-9) and what is feasible, local times included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.meetings import KINDS, PEOPLE, ZONE, Meetings
from ucl.bench.peers.work import All, Between, Condition, Holds, Line, Not, OneOf, Overlap, Some, Work
from ucl.semantics.outcome import NANO

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Answer = tuple[NDArray[np.int64], NDArray[np.bool_]]


def arrow_table(table: Meetings) -> pa.Table:
    """The table as data people store it: instants, dictionary-encoded texts, lists of people, durations in minutes."""
    import pyarrow as pa

    def encoded(indices: NDArray[Any], words: tuple[str, ...]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), pa.array(words))

    attendees = pa.ListArray.from_arrays(pa.array(table.offsets.astype(np.int32)), encoded(table.attendees, PEOPLE))
    return pa.table(
        {
            "start": pa.array(table.start, pa.timestamp("us", "UTC")),
            "duration": table.minutes,
            "kind": encoded(table.kind, KINDS),
            "organizer": encoded(table.organizer, PEOPLE),
            "count": table.count,
            "remote": table.remote,
            "priority": table.priority,
            "attendees": attendees,
            "cost": table.cost,
        }
    )


# --- polars ---------------------------------------------------------------------------------------------------------


def polars_frame(table: Meetings) -> pl.DataFrame:
    """Texts as Enum, which is polars' fastest."""
    import polars as pl

    frame = pl.from_arrow(arrow_table(table))
    assert isinstance(frame, pl.DataFrame)
    people = pl.Enum(PEOPLE)
    return frame.with_columns(
        pl.col("kind").cast(pl.Enum(KINDS)),
        pl.col("organizer").cast(people),
        pl.col("attendees").cast(pl.List(people)),
    )


def polars_query(work: Work, frame: pl.DataFrame) -> Callable[[], Answer]:
    """Builds the query, as who has a new program must, and returns what runs it."""
    import polars as pl

    local = pl.col("start").dt.convert_time_zone(ZONE)
    clock = (local.dt.hour().cast(pl.Int16) * 60 + local.dt.minute()).alias("clock")
    day = (local.dt.weekday() - 1).alias("day")
    total = pl.sum_horizontal(pl.when(_polars(line.when)).then(_polars_score(line)).otherwise(0) for line in work.lines)
    feasible = _polars(work.feasible).alias("feasible")
    query = frame.lazy().with_columns(clock, day).select(total.alias("total"), feasible)

    def run() -> Answer:
        found = query.collect()
        return found["total"].to_numpy(), found["feasible"].to_numpy()

    return run


def _polars_score(line: Line) -> pl.Expr:
    import polars as pl

    if line.times is None:
        return pl.lit(line.nano, dtype=pl.Int64)
    return (line.score * pl.col(line.times) * NANO).round(mode="half_to_even").cast(pl.Int64)


def _polars(condition: Condition) -> pl.Expr:
    import polars as pl

    match condition:
        case Between(column, low, high):
            ends = [] if low is None else [pl.col(column) >= low]
            ends += [] if high is None else [pl.col(column) < high]
            return pl.all_horizontal(ends) if len(ends) != 1 else ends[0]
        case OneOf(column, (value,)):
            return pl.col(column) == value
        case OneOf(column, values):
            return pl.col(column).is_in(list(values))
        case Overlap(people):
            names = (pl.lit(name, dtype=pl.Enum(PEOPLE)) for name in people)
            return pl.any_horizontal(pl.col("attendees").list.contains(name) for name in names)
        case Holds(column):
            return pl.col(column)
        case Not(part):
            return ~_polars(part)
        case All(parts):
            return pl.all_horizontal(map(_polars, parts)) if parts else pl.lit(True)
        case Some(parts):
            return pl.any_horizontal(map(_polars, parts))


# --- DuckDB ---------------------------------------------------------------------------------------------------------


def duckdb_query(work: Work, table: pa.Table, threads: int) -> Callable[[], Answer]:
    """A sum of CASE over the Arrow table, which DuckDB reads as it is."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.register("meetings", table)
    total = " + ".join(f"CASE WHEN {_sql(line.when)} THEN {_sql_score(line)} ELSE 0 END" for line in work.lines)
    local = f"timezone('{ZONE}', start)"
    query = (
        f"SELECT {total} AS total, {_sql(work.feasible)} AS feasible FROM (SELECT *, "
        f"hour({local}) * 60 + minute({local}) AS clock, isodow({local}) - 1 AS day FROM meetings)"
    )

    def run() -> Answer:
        found = connection.execute(query).fetchnumpy()
        return found["total"], found["feasible"]

    return run


def _sql_score(line: Line) -> str:
    if line.times is None:
        return f"{line.nano}::BIGINT"
    return f"round_even({line.score!r}::DOUBLE * {line.times} * 1e9, 0)::BIGINT"


def _sql(condition: Condition) -> str:
    match condition:
        case Between(column, low, high):
            ends = [] if low is None else [f"{column} >= {low!r}"]
            ends += [] if high is None else [f"{column} < {high!r}"]
            return f"({' AND '.join(ends)})"
        case OneOf(column, values):
            return f"{column} IN ({', '.join(map(_sql_value, values))})"
        case Overlap(people):
            # `list_has_any` misses people in dictionary-encoded lists (DuckDB 2.0), and takes six times as long.
            return f"({' OR '.join(f'list_contains(attendees, {_sql_value(name)})' for name in people)})"
        case Holds(column):
            return column
        case Not(part):
            return f"(NOT {_sql(part)})"
        case All(parts):
            return f"({' AND '.join(map(_sql, parts))})" if parts else "true"
        case Some(parts):
            return f"({' OR '.join(map(_sql, parts))})"


def _sql_value(value: str | int) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
