"""A memory of visits, counted and summed up for each of many trips.

In: how many trips and visits. Out: measurements beside polars' joins, whose totals are compared first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.meetings import MINUTE, START_OF_2026, ZONE, compiled
from ucl.bench.timing import interleaved, print_runs
from ucl.kernels.columns import Columns, Scalars, Texts
from ucl.kernels.lower import lower
from ucl.kernels.run import Scores, score
from ucl.semantics.outcome import NANO, Call
from ucl.semantics.zones import Zone

PLACES = tuple(f"place {number}" for number in range(6000))
REMEMBERED = f"""
timezone "{ZONE}"
schema Visit {{ place: text  cost: int  start: datetime  kind: "a" | "b" | "c" }}
memory visits: list<Visit>
schema Trip {{ place: text  start: datetime  kind: "a" | "b" | "c" }}
rule known on Trip {{ score 0.01 * count(v in visits where v.place == place and v.cost > 100) }}
rule dear on Trip {{ score 0.0001 * sum(v.cost for v in visits where v.place == place and v.kind == kind) }}
rule before on Trip {{ score 0.01 * count(v in visits where v.place == place and v.start < start) }}
"""


@dataclass(frozen=True)
class Trips:
    """Options and, as arrays and as the records that a call holds, a memory; each column of shape (rows,)."""

    place: NDArray[np.int32]
    start: NDArray[np.int64]
    kind: NDArray[np.int32]
    visit_place: NDArray[np.int32]
    visit_start: NDArray[np.int64]
    visit_kind: NDArray[np.int32]
    visit_cost: NDArray[np.int64]

    def columns(self) -> Columns:
        return Columns(
            len(self.place),
            {
                ("place",): Texts(self.place, None, PLACES),
                ("start",): Scalars(self.start, None),
                ("kind",): Texts(self.kind, None, ("a", "b", "c")),
            },
        )

    def records(self) -> tuple[dict[str, Any], ...]:
        parts = (self.visit_place, self.visit_cost, self.visit_start, self.visit_kind)
        rows = zip(*(part.tolist() for part in parts), strict=True)
        return tuple({"place": PLACES[p], "cost": c, "start": s, "kind": "abc"[k]} for p, c, s, k in rows)


def trips(rows: int, visits: int, seed: int = 7) -> Trips:
    generator = np.random.default_rng(seed)

    def some(most: int, count: int) -> NDArray[np.int32]:
        return generator.integers(0, most, count).astype(np.int32)

    def starts(count: int) -> NDArray[np.int64]:
        return START_OF_2026 + generator.integers(0, 365 * 24 * 60, count) * MINUTE

    return Trips(
        place=some(len(PLACES), rows),
        start=starts(rows),
        kind=some(3, rows),
        visit_place=some(len(PLACES) - 500, visits),
        visit_start=starts(visits),
        visit_kind=some(3, visits),
        visit_cost=generator.integers(0, 500, visits),
    )


def polars_memory(table: Trips) -> Callable[[], NDArray[Any]]:
    """The same totals by joins: with groups, and with the last visit before, where visits are numbered by place."""
    import polars as pl

    places, kinds = pl.Enum(PLACES), pl.Enum(("a", "b", "c"))
    names, letters = pl.Series(PLACES, dtype=places), pl.Series(("a", "b", "c"), dtype=kinds)
    options = {"place": names[table.place], "start": table.start, "kind": letters[table.kind]}
    memory = {"place": names[table.visit_place], "start": table.visit_start, "kind": letters[table.visit_kind]}
    frame = pl.DataFrame(options).with_row_index("row").lazy()
    visits = pl.DataFrame(memory | {"cost": table.visit_cost}).lazy()
    known = visits.filter(pl.col("cost") > 100).group_by("place").agg(pl.len().alias("known"))
    dear = visits.group_by("place", "kind").agg(pl.col("cost").sum().alias("dear"))
    numbered = visits.sort("start").with_columns(pl.int_range(1, pl.len() + 1).over("place").alias("before"))
    query = frame.join(known, on="place", how="left").join(dear, on=["place", "kind"], how="left").sort("start")
    query = query.join_asof(
        numbered.select("place", "start", "before"),
        on="start",
        by="place",
        allow_exact_matches=False,
        check_sortedness=False,
    )

    def nano(name: str, weight: float) -> pl.Expr:
        return (pl.col(name).fill_null(0) * weight * NANO).round(mode="half_to_even").cast(pl.Int64)

    total = nano("known", 0.01) + nano("dear", 0.0001) + nano("before", 0.01)
    query = query.select("row", total.alias("total")).sort("row")

    def run() -> NDArray[Any]:
        return query.collect()["total"].to_numpy()

    return run


def bench_memory(rows: int, visits: int, repeats: int) -> None:
    """Counts and sums of a memory, correlated with each option; a call's own reading of the memory is part of it."""
    table = trips(rows, visits)
    columns, records, program = table.columns(), table.records(), compiled(REMEMBERED)
    zone = Zone.load(ZONE)
    assert zone is not None
    call = Call(zone, START_OF_2026, 20_454, memory={"visits": records})

    def ours() -> Scores:
        return score(lower(program, program.schemas["Trip"], call), columns, engine="numba")

    runs: dict[str, Callable[[], object]] = {"ucl, memory read and scored": ours}
    baseline = None
    total = ours().total
    try:
        theirs = polars_memory(table)
    except ImportError:
        print("polars is not installed: there is nothing to compare with")
    else:
        print(f"polars finds {'the same totals' if np.array_equal(theirs(), total) else 'OTHER TOTALS'}")
        baseline = "polars, joins"
        runs[baseline] = theirs
    seconds = interleaved(runs, repeats)
    print(f"three aggregates of {visits:,} records for each of {rows:,} rows")
    print_runs(seconds, rows, baseline)
