"""The kernels by example: edges of every kind, any size of table, any number of threads, and what starting costs."""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import HEADER, MINUTE, columns_of
from test_kernels_equal import assert_equal, call_of, compiled

from ucl.kernels.columns import InvalidCell, Scalars
from ucl.kernels.engines import choice, kernel_cache, warming
from ucl.kernels.engines.portable import Portable
from ucl.kernels.lower import lower
from ucl.kernels.lowering.graph import Graph
from ucl.kernels.plan import FALSE, TRUE, HasValue
from ucl.kernels.run import Scores, details, score
from ucl.semantics.outcome import Invalid, Reason
from ucl.semantics.program import Program

ENGINES = ["portable", "numba"]
INNER = {"a": None, "label": "x", "at": None, "mild": "mid"}
OPTION: dict[str, Any] = {
    "n": 1,
    "m": None,
    "k": 1,
    "f": 0.5,
    "g": None,
    "b": True,
    "c": None,
    "title": "a",
    "place": None,
    "kind": "low",
    "wide": "v0",
    "day": 20_516,
    "day2": None,
    "t": 0,
    "t2": None,
    "start": 1_772_953_200_000_000,
    "end": None,
    "w": 0,
    "w2": None,
    "d": 0,
    "d2": None,
    "cost": 1.0,
    "fee": None,
    "tags": frozenset(),
    "more": None,
    "nums": frozenset(),
    "days": frozenset(),
    "inner": INNER,
    "host": None,
}


def program_of(rules: str) -> Program:
    program = compiled(HEADER + rules)
    assert program is not None
    return program


def options_with(field: str, values: Any) -> list[dict[str, Any]]:
    return [{**OPTION, field: value} for value in values]


EDGES = {
    "wrapping times": (
        "rule r on S { when t in 22:00..06:00 score 0.5 }",
        "t",
        [0, 359 * MINUTE, 360 * MINUTE, 1320 * MINUTE],
    ),
    "24:00": ("rule r on S { when t in 22:00..24:00 score 0.5 }", "t", [1319 * MINUTE, 1320 * MINUTE, 86_399_999_999]),
    "wrapping weekdays": ("rule r on S { when w in fri..=mon score 0.5 }", "w", range(7)),
    "computed wrapping": ("rule r on S { when w in (w2 ?? sat)..=tue score 0.5 }", "w", range(7)),
    "folds and gaps": (
        "rule r on S { when start.hour == 1 or start.time in 03:00..04:00 score 0.1 + start.minute / 10 }",
        "start",
        [base + k * 15 * MINUTE for base in (1_772_953_200_000_000, 1_793_509_200_000_000) for k in range(-12, 12)],
    ),
    "building instants": (
        "rule r on S { when at(day, 02:30).hour == 3 score 0.5 } rule q on S { when at(day, 01:30) >= start score 1 }",
        "day",
        [20_519, 20_520, 20_521, 20_757, 20_758],
    ),
    "leap days": (
        "rule r on S { when add_months(day, 12).month == 2 and day.day == 29 score day.year / 1000 }",
        "day",
        [19_782, 19_781, 11_016, 47_540, -719_162, 2_932_896],
    ),
    "ends of time": (
        "rule r on S { when start.date == day or start.year > 1 score 0.5 }",
        "start",
        [-62_135_596_800_000_000, 253_402_300_799_999_999],
    ),
    "absent": (
        "rule r on S { when present(m) and m <= 3 score 0.5 } rule q on S { when absent(m) score 1 }",
        "m",
        [None, 0, 3, 4],
    ),
    "absent bool": (
        "rule r on S { when c ?? true score 0.5 } rule q on S { when present(c) and not c score 1 }",
        "c",
        [None, True, False],
    ),
    "int64 edges": (
        "rule r on S { when n + 1 > n score 0.5 } rule q on S { when n in ..=9223372036854775807 score 0.25 } "
        "rule p on S { when -n > 0 or abs(n) > 5 score 0.125 }",
        "n",
        [2**63 - 1, -(2**63), -(2**63) + 1, 2**62, 0],
    ),
    "products": (
        "rule r on S { when n * n > 4 score 0.5 } rule q on S { when n * -1 < 5 score 1 }",
        "n",
        [3_037_000_499, 3_037_000_500, -(2**63), -3_037_000_500, 2**32],
    ),
    "int against float": (
        "rule r on S { when n == 9007199254740992.0 score 1 } "
        "rule q on S { when n > f score 0.5 } rule p on S { when n < 2.5 score 2 }",
        "n",
        [2**53, 2**53 + 1, 2, 3, -(2**63), 2**63 - 1],
    ),
    "float cuts": (
        "rule r on S { when f > 0 and f <= 2.5 score 1 } rule q on S { when f == 9007199254740993 score 2 }",
        "f",
        [0.0, -0.0, 5e-324, 2.5, 2.5000000000000004, 9007199254740992.0],
    ),
    "composed text": (
        'rule r on S { when title == "cafe\u0301" score 0.5 } rule q on S { when contains(title, "\u00e9") score 1 }',
        "title",
        ["caf\u00e9", "cafe", "é"],
    ),
    "wide enums": (
        'rule r on S { when wide in {"v299", "v43"} score 0.5 } rule q on S { when wide == "v256" score 1 }',
        "wide",
        ["v0", "v43", "v255", "v256", "v299"],
    ),
    "magnitude": (
        "rule r on S { score f } rule q on S { when f > 1 score 1 }",
        "f",
        [8192.0, 8192.5, -8192.0, -9000.0, 0.0000000005, 0.0000000015],
    ),
    "sets": (
        'rule r on S { when subset({"a", "b"}, tags) score 1 } '
        "rule q on S { when title in tags or subset(tags, {}) score 2 }",
        "tags",
        [frozenset(), frozenset("a"), frozenset("ab"), frozenset("bc")],
    ),
    "optional sets": (
        'rule r on S { when overlaps(more ?? {}, {"a"}) score 1 } '
        'rule q on S { when size(more ?? {"x", "y"}) == 2 score 2 }',
        "more",
        [None, frozenset(), frozenset("a"), frozenset("ab")],
    ),
    "nested": (
        "rule r on S { when present(host) and (host.a ?? 7) > 3 score 1 }",
        "host",
        [None, INNER, {**INNER, "a": 2}, {**INNER, "a": 9}],
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge: str, engine: str) -> None:
    rules, field, values = EDGES[edge]
    program = program_of(rules)
    assert_equal(program, options_with(field, values), call_of(program), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_decided_once_for_each_text_is_decided_for_an_absent_one_too(engine: str) -> None:
    program = program_of(
        """
        rule length on S { score length(place ?? "home") }
        rule longer on S { when length(title) > length(place ?? "") score 0.5 }
        rule met on S { when (first(v.cost for v in visits where v.place == (place ?? "a")) ?? 0) > 3 score 0.25 }
        rule any on S { when lower(place ?? "A") == "a" score 0.125 }
        """
    )
    visits = [{"place": "a", "cost": 4, "stars": None, "at": 0}]
    call = call_of(program, memory={"visits": visits})
    assert_equal(program, options_with("place", [None, "a", "b", "straße"]), call, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_table(engine: str) -> None:
    program = program_of("rule r on S { when lowest(n) or n > mean_of(f) score 0.5 }")
    assert_equal(program, [], call_of(program), engine=engine)


def test_only_invalid_rows() -> None:
    program = program_of("rule r on S { when lowest(n) or count(v in visits where v.cost > n) > 1 score mean_of(f) }")
    cell = InvalidCell("n", "unreadable", "x")
    scores = score(
        lower(program, program.schemas["S"], call_of(program)), columns_of(program.schemas["S"], [OPTION, cell])
    )
    assert scores.valid.tolist() == [True, False]
    assert scores.invalid == {1: Invalid("n", Reason.UNREADABLE, "x")}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("resolution", ["", "resolve S by priority"])
def test_sides_and_contests(engine: str, resolution: str) -> None:
    program = program_of(
        f"""{resolution}
        rule up on S {{ when n >= 1 score 0.5 priority 2 }}
        rule small on S {{ when n >= 2 score f priority 3 }}
        rule down on S {{ when n >= 3 score -0.25 priority 2 except when n == 5 score -2 }}
        rule never on S {{ when n >= 4 score 0 priority 10 }}
        rule quiet on S overrides up {{ when n == 6 score 1 status shadow }}
        constraint low on S {{ require n > 0 when n < 7 unless n == -1 }}
        constraint lift on S overrides low {{ forbid when n == -2 }}"""
    )
    options = [{**OPTION, "n": n, "f": f} for n in range(-3, 8) for f in (0.25, -0.25, 0.2499999999, 0.0)]
    assert_equal(program, options, call_of(program), engine=engine)
    assert_equal(program, options, call_of(program, contested_from=0.5), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_rule_silences_nothing_and_the_first_in_the_source_is_named(engine: str) -> None:
    program = program_of(
        """
        rule first on S { when k == 1 score 100000 }
        rule second on S overrides first { when n * n > 0 score 1 }
        rule third on S { when k == 2 score n * n }
        rule shadowed on S { when n * n * n > 0 score 1 status shadow }
        """
    )
    options = [{**OPTION, "n": n, "k": k} for n in (2, 2**62) for k in (1, 2, 3)]
    assert_equal(program, options, call_of(program), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_overflow_counts_only_where_its_value_is_needed(engine: str) -> None:
    program = program_of(
        """
        rule conjunction on S { when k == 1 and n * n > 0 score 1 }
        rule disjunction on S { when k != 1 or n * n > 0 score 2 }
        rule branch on S { when (if k == 1 then n * n else n) > 0 score 4 }
        rule default on S { when (m ?? n * n) > 0 score 0.25 }
        rule unless on S { when k == 2 unless k == 2 unless n * n > 0 score 8 }
        rule exception on S { when k == 3 score 16 except when k == 3 score 32 except when n * n > 0 score 64 }
        rule scored on S { when k == 4 score n * n }
        rule chosen on S { score if k == 6 then n * n else 0.5 }
        rule retired on S { when n * n > 0 score 0.5 status retired }
        constraint forbidden on S { forbid when k == 5 and n * n > 0 }
        constraint required on S { require n * n > 0 when k == 7 }
        """
    )
    options = [{**OPTION, "n": n, "k": k, "m": m} for n in (3, 3_037_000_500) for k in range(1, 10) for m in (None, 5)]
    assert_equal(program, options, call_of(program), engine=engine)


def test_batch_builtins_see_the_whole_table_when_few_rows_are_explained() -> None:
    program = program_of("rule r on S { when lowest(n) score 0.5 } rule q on S { when rank_of(n) == 3 score 1 }")
    schema, call = program.schemas["S"], call_of(program)
    plan, columns = lower(program, schema, call), columns_of(schema, options_with("n", [4, 2, 3]))
    shown = details(plan, columns, np.array([1, 0]))
    assert shown.rules == ("r", "q")
    assert shown.fired.tolist() == [[True, False], [False, True]]
    assert shown.contributions.tolist() == [[500_000_000, 0], [0, 1_000_000_000]]
    assert details(plan, columns, slice(0, 1), np.array([0, 1, 1])).fired.tolist() == [[True, False]]


# --- blocks and threads ---------------------------------------------------------------------------------------------

BROAD = """
rule a on S { when t in 22:00..06:00 and n > 3 score 0.5 }
rule b on S { when title in {"a", "你好"} or kind == "mid" score -0.25 }
rule c on S { when overlaps(tags, {"a"}) unless start.weekday in sat..=sun score 0.1 * n }
rule d on S { when any(x in tags where contains(x, "b")) score f }
rule e on S { when not b score 0.3 }
rule g on S { when n < 100 score 0.125 }
rule h on S { when n * n >= 0 and lowest(n) score 1 }
constraint z on S { forbid when n in {1, 2, 3, 50} }
"""


def broad_columns(program: Program, rows: int) -> Any:
    random = np.random.default_rng(rows)
    options = [
        {
            **OPTION,
            "n": int(n),
            "t": int(n) * 9 * MINUTE,
            "title": "a你b"[n % 3],
            "kind": ("low", "mid", "high")[n % 3],
            "tags": frozenset("abc"[: n % 4]),
            "b": bool(n % 2),
            "start": 1_772_953_200_000_000 + int(n) * 3_600_000_000,
            "f": float(n) / 7,
        }
        for n in random.integers(0, 150, rows)
    ]
    return columns_of(program.schemas["S"], options)


def same(a: Scores, b: Scores) -> bool:
    arrays = all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("total", "feasible", "contested", "valid")
    )
    return arrays and a.invalid == b.invalid


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 4095, 4096, 4097])
def test_any_size_block_and_number_of_threads_gives_the_same(rows: int) -> None:
    program = program_of(BROAD)
    plan = lower(program, program.schemas["S"], call_of(program))
    columns = broad_columns(program, rows)
    reference = score(plan, columns, engine="portable", block_rows=1 << 20)
    for engine in ENGINES:
        for block_rows in (None, 64, 1000):
            for threads in (1, 2):
                assert same(score(plan, columns, engine=engine, block_rows=block_rows, threads=threads), reference)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_ints_of_few_bytes_are_the_same_ints(dtype: Any, engine: str) -> None:
    """At the ends of what they can be, and against constants beyond them."""
    ends = np.iinfo(dtype)
    cuts = [-(2**40), ends.min, ends.min + 1, -1, 0, 1, 100, ends.max, ends.max + 1, 2**40]
    rules = "".join(f"rule r{i} on S {{ when n >= {cut} score 0.{i + 1} }}\n" for i, cut in enumerate(cuts))
    program = program_of(rules + "rule p on S { when n + n > 150 or n < m ?? 3 score 0.001 * n }")
    values = [ends.min, ends.min + 1, -2, -1, 0, 1, 99, 100, ends.max - 1, ends.max] * 9
    columns = columns_of(program.schemas["S"], options_with("n", values))
    plan = lower(program, program.schemas["S"], call_of(program))
    narrow = {**columns.columns, ("n",): Scalars(np.array(values, dtype), None)}
    reference = score(plan, columns, engine="portable")
    assert same(score(plan, replace(columns, columns=narrow), engine=engine), reference)


# --- what starting costs --------------------------------------------------------------------------------------------


def test_a_new_program_compiles_nothing() -> None:
    pytest.importorskip("numba")
    choice.warm_up()
    from ucl.kernels.engines.numba_engine import KERNELS

    before = {name: len(dispatcher.overloads) for name, (dispatcher, _) in KERNELS.items()}
    program = program_of(BROAD.replace("0.5", "0.75").replace("100", "77"))
    score(lower(program, program.schemas["S"], call_of(program)), broad_columns(program, 100), engine="numba")
    assert {name: len(dispatcher.overloads) for name, (dispatcher, _) in KERNELS.items()} == before
    assert all(before[name] == len(signatures) for name, (_, signatures) in KERNELS.items())


def test_small_tables_are_answered_without_numba() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_kernels import *
program = program_of(BROAD)
score(lower(program, program.schemas["S"], call_of(program)), broad_columns(program, 100))
print("numba" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_kernels_are_loaded_without_what_compiles_them() -> None:
    """In a process that finds them all: numba's implementations of NumPy, and the SciPy that they import, stay out."""
    pytest.importorskip("numba")
    choice.warm_up()
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_kernels import *
choice.warm_up(lambda: print("compiling"))
program = program_of(BROAD)
plan, columns = lower(program, program.schemas["S"], call_of(program)), broad_columns(program, 10_000)
found, expected = (score(plan, columns, engine=name) for name in ("numba", "portable"))
assert np.array_equal(found.total, expected.total) and found.total.any()
print({{"scipy.linalg", "numba.np.arraymath"}} & sys.modules.keys())
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_kernels_are_compiled_by_another_process_and_only_for_work_that_takes_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[object] = []
    helpers: list[bool] = []

    def start(on_compile: object) -> Portable:
        started.append(on_compile)
        return Portable()

    def start_helper() -> bool:
        helpers.append(True)
        return len(helpers) == 1

    monkeypatch.setattr(choice, "_process", choice.Process())
    monkeypatch.setattr(choice, "warm_up", start)
    monkeypatch.setattr(warming, "start", start_helper)
    monkeypatch.setattr(kernel_cache, "is_ready", lambda: False)
    choice.choose("auto", 1_000_000, 100)
    assert not helpers
    for _ in range(2):
        choice.choose("auto", 100_000_000, 100)
    assert (len(helpers), started) == (1, [])
    choice.choose("auto", 100_000_000, 100)
    assert len(started) == 1, "by then it should have been there"
    monkeypatch.setattr(choice, "_process", choice.Process())
    choice.choose("auto", 100_000_000, 100)
    assert len(started) == 2, "no other process can be started"


def test_many_small_tables_are_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_process", choice.Process())
    monkeypatch.setattr(choice, "warm_up", lambda on_compile: "compiled")
    monkeypatch.setattr(kernel_cache, "is_ready", lambda: True)
    chosen = [choice.choose("auto", 5, 4000) for _ in range(100)]
    assert isinstance(chosen[0], Portable)
    assert chosen[-1] == "compiled"


def test_the_other_process_compiles_into_the_cache(cache: Path) -> None:
    """Or leaves it to the one that is at it."""
    code = "from ucl.kernels.engines import choice, warming; choice.warm_up = lambda: print('at it'); "
    command = [sys.executable, "-P", "-c", code + "warming.compile_here()"]
    assert kernel_cache.is_writable()

    def said() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    mark = kernel_cache.kernel_folder() / "compiling"
    assert said() == "at it\n"
    assert not mark.exists()
    mark.touch()
    assert said() == ""
    os.utime(mark, (0, 0))
    assert said() == "at it\n"


def test_small_work_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One short answer is not worth a start; many of them are."""
    started: list[object] = []

    def start(on_compile: object) -> Portable:
        started.append(on_compile)
        return Portable()

    monkeypatch.setattr(choice, "_process", choice.Process())
    monkeypatch.setattr(choice, "warm_up", start)
    monkeypatch.setattr(kernel_cache, "is_ready", lambda: True)
    choice.choose("auto", 1_000_000, 100)
    assert not started
    for _ in range(5):
        choice.choose("auto", 1_000_000, 100)
    assert started


def test_without_numba_the_portable_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(on_compile: object) -> None:
        raise ImportError

    monkeypatch.setattr(choice, "_process", choice.Process())
    monkeypatch.setattr(choice, "warm_up", absent)
    assert choice.choose("auto", 100_000_000, 100).name == "portable"


class Runs:
    """What runs where it is unpickled."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a foreign file was unpickled",))


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("UCL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept() -> Path:
    """The file of the one kernel that was kept."""
    assert kernel_cache.write("k", "here", pickle.dumps((1, 2)))
    (file,) = kernel_cache.kernel_folder().glob("k-*")
    return file


def test_a_damaged_or_foreign_cache_is_not_read(cache: Path) -> None:
    file = kept()
    assert kernel_cache.read("k", "here") == (1, 2)
    assert kernel_cache.read("k", "elsewhere") is None
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", b"x" * 100):
        file.write_bytes(damaged)
        assert kernel_cache.read("k", "here") is None
    file.write_bytes(whole)
    file.chmod(0o666)
    assert kernel_cache.read("k", "here") is None


def test_what_was_compiled_while_its_sources_were_replaced_is_not_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "kernel.py").write_text("old")
    monkeypatch.setattr(kernel_cache, "SOURCES", (sources,))
    monkeypatch.setattr(kernel_cache, "_known_sources", functools.cache(kernel_cache.sources_digest))
    assert kernel_cache.write("k", "here", pickle.dumps("of the old"))
    folder = kernel_cache.kernel_folder()
    (sources / "kernel.py").write_text("new")
    assert kernel_cache.kernel_folder() == folder
    assert kernel_cache.read("k", "here") == "of the old"
    assert not kernel_cache.write("other", "here", pickle.dumps("of either"))
    monkeypatch.setattr(
        kernel_cache, "_known_sources", functools.cache(kernel_cache.sources_digest)
    )  # the next process
    assert kernel_cache.kernel_folder() != folder
    assert kernel_cache.read("k", "here") is None


def test_a_file_without_our_key_is_not_run(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a mere checksum nor another cache's digest makes a file ours, and no file passes for another."""
    file = kept()
    evil = pickle.dumps(Runs())
    file.write_bytes(hashlib.sha256(evil).digest() + evil)
    assert kernel_cache.read("k", "here") is None
    monkeypatch.setenv("UCL_CACHE_DIR", str(tmp_path / "other"))
    assert kernel_cache.write("k", "here", evil)
    assert kernel_cache.write("other", "here", evil)
    (copied,) = kernel_cache.kernel_folder().glob("k-*")
    (renamed,) = kernel_cache.kernel_folder().glob("other-*")
    renamed.replace(copied)
    assert kernel_cache.read("k", "here") is None
    monkeypatch.setenv("UCL_CACHE_DIR", str(cache))
    file.write_bytes(copied.read_bytes())
    assert kernel_cache.read("k", "here") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes")
def test_a_cache_that_others_can_reach_is_not_used(cache: Path) -> None:
    file = kept()
    key = next(path for path in cache.iterdir() if path.is_file())
    for place, mode, good in ((cache, 0o777, 0o700), (file.parent, 0o720, 0o700), (key, 0o640, 0o600)):
        place.chmod(mode)
        assert kernel_cache.read("k", "here") is None
        place.chmod(good)
        assert kernel_cache.read("k", "here") == (1, 2)
    cache.chmod(0o777)
    assert not kernel_cache.write("k", "here", b"")
    cache.chmod(0o700)
    away = cache / "away"
    file.rename(away)
    file.symlink_to(away)
    assert kernel_cache.read("k", "here") is None


def test_a_key_that_is_lost_is_made_anew(cache: Path) -> None:
    kept()
    kernel_cache.mark_ready()
    assert kernel_cache.is_ready()
    key = next(path for path in cache.iterdir() if path.is_file())
    for lost in (b"", b"short"):
        key.write_bytes(lost)
        assert not kernel_cache.is_ready()
        assert kernel_cache.read("k", "here") is None
        kept()
        assert kernel_cache.read("k", "here") == (1, 2)


def test_a_full_disk_keeps_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept().unlink()

    def full(source: object, target: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "replace", full)
    assert not kernel_cache.write("k", "here", b"data")
    kernel_cache.mark_ready()
    assert not kernel_cache.is_ready()
    assert list(kernel_cache.kernel_folder().iterdir()) == []


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("UCL_CACHE_DIR", str(blocked))
    kernel_cache.write("k", "here", b"data")
    kernel_cache.mark_ready()
    assert kernel_cache.read("k", "here") is None
    assert not kernel_cache.is_ready()


# --- lowering -------------------------------------------------------------------------------------------------------


def test_masks_simplify() -> None:
    graph = Graph()
    a, b, c = (graph.test(HasValue((name,))) for name in "abc")
    assert graph.all_of(a, TRUE) == a
    assert graph.all_of(a, FALSE) == FALSE
    assert graph.all_of(a, a ^ 1) == FALSE
    assert graph.any_of(a, a ^ 1) == TRUE
    assert graph.all_of(graph.all_of(a, b), c) == graph.all_of(c, b, a)
    assert graph.any_of(a, b) == graph.any_of(b, a)
    assert graph.test(HasValue(("a",))) == a


def test_cuts_are_shared_and_constants_decide() -> None:
    rules = " ".join(f"rule r{i} on S {{ when n in {i}..{i + 1} score 0.1 }}" for i in range(10))
    program = program_of(
        rules + " rule q on S { when k > 1000000000000000000000.0 or n >= -9.3e0 score 1 }".replace("-9.3e0", "0.5")
    )
    plan = lower(program, program.schemas["S"], call_of(program))
    (cuts,) = plan.scoring.stages[0].cuts
    assert cuts.constants.tolist() == list(range(11))
