"""The Python door: `ucl.load`, `ucl.compile`, tables of every kind, errors, the import hook."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import math
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cli_runs import run_here

import ucl
from ucl.scoring import CallError
from ucl.scoring.compiled import AroundTable
from ucl.tables.errors import TableError

PROGRAM = """\
context { mood: "calm" | "busy" = "calm"  day: date? }
schema Trip { place: text  cost: int }
schema S { n: int in 0..=10  start: datetime = 2026-03-04T12:00 }
memory trips: list<Trip>
memory home: text = "oslo"
timezone "Europe/Oslo"
rule a on S { when n > 3 and mood == "busy" score 0.5 priority 2 }
rule b on S { when count(t in trips where t.place == home) > n score -1 }
rule c on S { when start.time == 12:00 score 0.25 }
def spent(least: int) -> int = sum(t.cost for t in trips where t.cost >= least)
def last_place() -> text? = last(t.place for t in trips)
def free_days(from_day: date, days: set<weekday>) -> duration = if from_day.weekday in days then 2d else 90min
def dearest() -> Trip? = first(t for t in trips by t.cost desc)
def tomorrow() -> datetime = now + 1d
"""


@pytest.fixture(scope="module")
def program() -> ucl.CompiledProgram:
    return ucl.compile(PROGRAM, "trips")


def test_compile_raises_with_every_diagnostic() -> None:
    with pytest.raises(ucl.CompileError) as raised:
        ucl.compile("schema S { n: int }\nrule a on S { when m score 1 }\nrule b on S { when n score 1 }")
    assert [d.code for d in raised.value.diagnostics] == ["unknown-name", "type-mismatch"]
    assert "program.ucl:2:20" in str(raised.value)


def test_load_reads_a_file_and_its_imports(tmp_path: Path) -> None:
    (tmp_path / "shared.ucl").write_text("let least = 3\n")
    (tmp_path / "p.ucl").write_text(
        "import shared (least)\nschema S { n: int }\nrule a on S { when n > least score 1 }"
    )
    assert ucl.load(tmp_path / "p.ucl").score([{"n": 4}, {"n": 3}]).total.tolist() == [1.0, 0.0]
    with pytest.raises(FileNotFoundError):
        ucl.load(tmp_path / "missing.ucl")


def test_a_text_can_not_import_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shared.ucl").write_text("let least = 3\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ucl.CompileError):
        ucl.compile("import shared (least)\nlet x = least")


@pytest.mark.parametrize(
    "table",
    [
        [{"n": 4}, {"n": 1}],
        {"n": [4, 1]},
        {"n": np.array([4, 1])},
        pd.DataFrame({"n": [4, 1]}),
        pl.DataFrame({"n": [4, 1]}),
        pa.table({"n": [4, 1]}),
    ],
    ids=["dicts", "columns", "numpy", "pandas", "polars", "pyarrow"],
)
def test_every_kind_of_table_scores_the_same(program: ucl.CompiledProgram, table: object) -> None:
    result = program.score(table, "S", context={"mood": "busy"})
    assert result.total.tolist() == [1.25, 0.25]
    assert result.total.dtype == np.float64


def test_a_schema_needs_no_name_where_only_one_has_rules(program: ucl.CompiledProgram) -> None:
    assert len(program.score([{"n": 4}])) == 1


def test_which_schema_is_asked_for_where_several_have_rules() -> None:
    several = ucl.compile("schema A { n: int }\nschema B { n: int }\nrule a on A { score 1 }\nrule b on B { score 1 }")
    with pytest.raises(CallError, match="`A`, `B`"):
        several.score([{"n": 1}])
    assert several.score([{"n": 1}], schema="B").fired(0) == ["b"]
    with pytest.raises(CallError, match="no schema `C`"):
        several.score([{"n": 1}], "C")


def test_what_surrounds_a_call(program: ucl.CompiledProgram) -> None:
    memory = {"trips": [{"place": "oslo", "cost": 1}, {"place": "rome", "cost": 2}]}
    now = dt.datetime(2026, 3, 4, 23, 30, tzinfo=dt.UTC)
    result = program.score([{"n": 0}], memory=memory, now=now, weights={"b": 0.5})
    assert result.total.tolist() == [-0.25]
    assert result.now == now
    assert (result.timezone, str(result.now.tzinfo)) == ("Europe/Oslo", "Europe/Oslo")
    elsewhere = program.score([{"n": 0}], now="2026-03-04T23:30", timezone="America/New_York")
    assert elsewhere.now.utcoffset() == dt.timedelta(hours=-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"context": {"mood": "sad"}}, "mood"),
        ({"context": {"moods": "calm"}}, "did you mean `mood`"),
        ({"context": [1]}, "not an object"),
        ({"memory": {"trips": [{"place": 3, "cost": 1}]}}, "trips"),
        ({"now": "tomorrow"}, "tomorrow"),
        ({"timezone": "Mars/Base"}, "Mars/Base"),
        ({"weights": {"z": 1.0}}, "`z`"),
        ({"weights": {"a": -1.0}}, "`a`"),
        ({"group_by": "m"}, "`m`"),
    ],
)
def test_a_bad_call_is_one_error(program: ucl.CompiledProgram, call: dict[str, object], said: str) -> None:
    with pytest.raises(CallError, match=said):
        program.score([{"n": 1}], **call)  # type: ignore[arg-type]


# --- in an event loop, in parts -------------------------------------------------------------------------------------


def test_scoring_goes_on_beside_an_event_loop(program: ucl.CompiledProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is read when the loop says so: with a loop that is blocked, this would never end."""
    asked, go_on = threading.Event(), threading.Event()

    def rows() -> Iterator[dict[str, int]]:
        asked.set()
        assert go_on.wait(20)
        yield {"n": 4}

    async def main() -> list[float]:
        scoring = asyncio.create_task(program.score_async(rows(), "S", context={"mood": "busy"}))
        while not asked.is_set():
            await asyncio.sleep(0.001)
        go_on.set()
        totals: list[float] = (await scoring).total.tolist()
        return totals

    assert asyncio.run(main()) == [1.25]


def test_many_tables_at_once_score_as_one_by_one(program: ucl.CompiledProgram) -> None:
    tables = [{"n": np.arange(11)[: k + 1].repeat(50)} for k in range(11)]

    async def main() -> list[ucl.Result]:
        return await asyncio.gather(*(program.score_async(table, context={"mood": "busy"}) for table in tables))

    for table, result in zip(tables, asyncio.run(main()), strict=True):
        assert result.total.tolist() == program.score(table, context={"mood": "busy"}).total.tolist()


def test_errors_come_out_of_an_event_loop(program: ucl.CompiledProgram) -> None:
    with pytest.raises(CallError, match="mood"):
        asyncio.run(program.score_async([{"n": 1}], context={"mood": "sad"}))


def test_score_async_takes_what_score_takes() -> None:
    keywords = [
        p.name for p in inspect.signature(ucl.CompiledProgram.score).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    assert set(keywords) == set(AroundTable.__annotations__)


def test_batches_score_as_the_whole_table_does(program: ucl.CompiledProgram) -> None:
    table = pa.table(
        {"id": ["a", "b", "c", "d"], "n": [4, 1, 11, 9], "start": ["2026-03-29T02:30", None, None, "noon"]}
    )
    call = {"context": {"mood": "busy"}, "now": "2026-03-04T12:00"}
    batches = list(program.score_batches(table.to_batches(max_chunksize=3), **call))  # type: ignore[arg-type]
    assert [type(batch) for batch in batches] == [pa.RecordBatch, pa.RecordBatch]
    assert [batch.num_rows for batch in batches] == [3, 1]
    whole = program.score(table, **call).to_arrow()  # type: ignore[arg-type]
    assert pa.Table.from_batches(batches).equals(whole.combine_chunks())
    assert batches[0].schema.equals(batches[1].schema, check_metadata=True)
    assert batches[0].schema.metadata[b"ucl_timezone"] == b"Europe/Oslo"


def test_batches_come_one_at_a_time_and_at_one_moment(program: ucl.CompiledProgram) -> None:
    taken: list[int] = []

    def parts() -> Iterator[dict[str, list[int]]]:
        for number in range(1000):
            taken.append(number)
            yield {"n": [number % 10]}

    scored = program.score_batches(parts(), "S")
    assert taken == []
    first, second = next(scored), next(scored)
    assert taken == [0, 1]
    assert first.schema.metadata == second.schema.metadata


def test_an_empty_batch_keeps_its_columns(program: ucl.CompiledProgram) -> None:
    (batch,) = program.score_batches([pa.table({"n": pa.array([], pa.int64())})])
    assert (batch.num_rows, batch.column_names[:2]) == (0, ["n", "ucl_total"])


def test_what_is_wrong_with_batches_is_said(program: ucl.CompiledProgram) -> None:
    with pytest.raises(CallError, match="mood"):
        program.score_batches([], context={"mood": "sad"})
    whole = ucl.compile("schema S { n: int }\nrule a on S { when lowest(n) score 1 }")
    with pytest.raises(CallError, match="comes in parts"):
        whole.score_batches([])


# --- queries --------------------------------------------------------------------------------------------------------


def test_queries_answer_with_python_values(program: ucl.CompiledProgram) -> None:
    memory = {"trips": [{"place": "oslo", "cost": 3}, {"place": "rome", "cost": 9}]}
    assert program.query("spent", 4, memory=memory) == 9
    assert program.query("last_place", memory=memory) == "rome"
    assert program.query("last_place") is None
    assert program.query("free_days", dt.date(2026, 3, 4), {"wed"}) == dt.timedelta(days=2)
    assert program.query("free_days", "2026-03-04", ["thu"]) == dt.timedelta(minutes=90)
    assert program.query("dearest", memory=memory) == {"place": "rome", "cost": 9}
    tomorrow = program.query("tomorrow", now="2026-03-28T12:00")
    assert tomorrow == dt.datetime(2026, 3, 29, 11, tzinfo=dt.UTC)
    assert tomorrow.utcoffset() == dt.timedelta(hours=2)
    with pytest.raises(CallError, match="did you mean `spent`"):
        program.query("spend")
    with pytest.raises(CallError):
        program.query("spent", "many")


def test_an_answer_out_of_range_is_an_overflow() -> None:
    program = ucl.compile("def more(n: int) -> int = n + 1")
    with pytest.raises(OverflowError, match="`more` has no answer"):
        program.query("more", 2**63 - 1)


def test_invalid_rows_keep_their_place(program: ucl.CompiledProgram) -> None:
    result = program.score([{"n": 11}, {"n": 1}, {}])
    assert [math.isnan(total) for total in result.total] == [True, False, True]
    assert result.decision.tolist() == [None, "accept", None]
    assert {row: str(why.reason) for row, why in result.invalid.items()} == {0: "domain", 2: "absent"}
    assert result.warnings == ["2 rows are invalid"]


def test_no_rows(program: ucl.CompiledProgram) -> None:
    result = program.score([])
    assert (len(result), result.total.tolist(), result.ranking(), list(result.rows())) == (0, [], [], [])


def test_the_module_lists_what_it_has() -> None:
    assert {"load", "compile", "CompileError", "CompiledProgram", "Result"} <= set(dir(ucl))
    with pytest.raises(AttributeError):
        ucl.nothing  # noqa: B018


# --- the import hook ------------------------------------------------------------------------------------------------


def test_programs_can_be_imported(tmp_path: Path) -> None:
    folder = tmp_path / "rules" / "travel"
    folder.mkdir(parents=True)
    (folder / "trips.ucl").write_text(f"module rules.travel.trips\n{PROGRAM}")
    (folder / "ways.ucl").write_text(
        'schema W { n: int }\nmemory ws: list<W>\neffect e()\naction a on W { do e() }\nalert b for w in ws { say "x" }'
    )
    assert run_here("stubs", folder).status == 0
    (folder / "broken.ucl").write_text("rule a on S { score 1 }")
    code = """
import ucl, ucl.importer
from rules.travel import trips, ways
print(trips.score([trips.S(n=4)], "S", context={"mood": "busy"}).total.tolist())
print(trips.spent(1, memory={"trips": [trips.Trip(place="oslo", cost=3)]}))
print(trips.__file__.endswith("trips.ucl"), trips.program.module)
try:
    from rules.travel import broken
except ucl.CompileError as error:
    print("broken", error.diagnostics[0].code)
try:
    import rules.travel.missing
except ModuleNotFoundError:
    print("missing")
import ast, asyncio, pathlib
around = trips.Context(mood="busy")
print(asyncio.run(trips.score_async([trips.S(n=4)], "S", context=around)).total.tolist())
for module in (trips, ways):
    stub = ast.parse(pathlib.Path(module.__file__).with_suffix(".pyi").read_text())
    named = {node.name for node in stub.body if hasattr(node, "name")} | {"program"}
    print(sorted(named ^ {name for name in vars(module) if not name.startswith("__")}), "alerts" in named)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[1.25]", "3", "True rules.travel.trips", "broken unknown-name", "missing", "[1.25]", "[] False", "[] True",
    ]  # fmt: skip


# --- choice sets and contests ---------------------------------------------------------------------------------------


def test_a_column_splits_the_table_into_choice_sets() -> None:
    program = ucl.compile("schema S { n: int }\nrule a on S { when lowest(n) score 1 }")
    table = {"n": [3, 2, 1, 5], "g": ["x", "x", None, None], "l": [[1], [2], [3], [4]]}
    assert program.score(table).total.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert program.score(table, group_by="g").total.tolist() == [0.0, 1.0, 1.0, 0.0]
    coded = pd.DataFrame({"n": [3, 2, 1, 5], "g": pd.Categorical(["x", "x", "y", None])})
    assert program.score(coded, group_by="g").total.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert program.score({"n": [2, 1], "g": [None, None]}, group_by="g").total.tolist() == [0.0, 1.0]
    with pytest.raises(CallError, match="lists or records"):
        program.score(table, group_by="l")


def test_what_counts_as_contested_can_be_set() -> None:
    program = ucl.compile("schema S { n: int }\nrule a on S { score 0.1 }\nrule b on S { score -0.2 }")
    assert program.score({"n": [1]}).decision.tolist() == ["suggest_alternative"]
    assert program.score({"n": [1]}, contested_from=0.1).decision.tolist() == ["ask_user"]


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ({"now": pd.NaT}, "`NaT` is not a time"),
        ({"now": 5}, "`5` is not a time"),
        ({"weights": [1]}, "`weights` is a number for each rule"),
        ({"timezone": 5}, "`timezone` is the name"),
        ({"threads": "x"}, "`threads` is a whole number"),
        ({"threads": -1}, "`threads` is a whole number"),
        ({"schema": 5}, "`schema` is the name"),
        ({"group_by": ["n"]}, "`group_by` is the name"),
        ({"context": [1]}, "not an object"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_said(around: dict[str, Any], said: str) -> None:
    program = ucl.compile("schema S { n: int }\nrule a on S { score 1 }\ndef one() -> int = 1\n")
    with pytest.raises(CallError, match=re.escape(said)):
        program.score([{"n": 1}], **around)


def test_a_row_that_is_none_is_said() -> None:
    result = ucl.compile("schema S { n: int }\nrule a on S { score 1 }\n").score([{"n": 1}])
    wrong_rows: list[Any] = ["x", None, 1.5, True, 1, -1]
    for wrong in wrong_rows:
        for ask in (
            result.explain,
            result.fired,
            lambda row: result.to_arrow([row]),
            lambda row: [*result.rows([row])],
        ):
            with pytest.raises(CallError, match="row"):
                ask(wrong)
    with pytest.raises(CallError, match="`top` is a whole number"):
        result.ranking("x")  # type: ignore[arg-type]
    first: Any = np.int64(0)
    assert result.explain(first).row == 0


@pytest.mark.parametrize("door", [ucl.compile, ucl.load])
@pytest.mark.parametrize("wrong", [None, 5])
def test_a_program_that_is_no_text_and_no_path(door: Any, wrong: object) -> None:
    with pytest.raises(TypeError, match=f"takes the (text|path) of a program, not `{wrong}`"):
        door(wrong)


def test_a_table_that_is_none_or_has_a_column_that_can_not_be_read() -> None:
    program = ucl.compile("schema S { n: int }\nrule a on S { score 1 }\n")
    with pytest.raises(TableError, match=r"^a value of the kind `Series` is not a table"):
        program.score(pl.Series([1]))
    with pytest.raises(TableError, match="the column `wide` can't be read"):
        program.score(pl.DataFrame({"n": [1], "wide": pl.Series([1], dtype=pl.Int128)}))


def test_a_context_takes_what_pandas_has_for_an_absent_time() -> None:
    program = ucl.compile("context { d: datetime? }\nschema S { n: int }\nrule a on S { when absent(d) score 1 }\n")
    assert program.score([{"n": 1}], context={"d": pd.NaT}).total.tolist() == [1.0]


def test_grouping_by_a_field_names_its_column() -> None:
    program = ucl.compile('schema S { day: text from "Day" }\nrule a on S { score 1 }\n')
    with pytest.raises(CallError, match="the field `day` is the column `Day`"):
        program.score([{"Day": "mon"}], group_by="day")
