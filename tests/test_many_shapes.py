"""Many people at once, where shapes are odd: each one's options are told what the own program says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.kernels.columns import Columns, Scalars
from ucl.kernels.crowd.run import load, score_people
from ucl.scoring.calls import start_call

NOW = "2026-03-04T12:00"
SCHEMA = """\
timezone "America/New_York"
schema S {
  n: int = 0  small: int in -5..=5 = 0  cost: float?  at: datetime?  who: text = ""  tags: set<text> = {}
}
"""


@cache
def program_of(*rules: str) -> ucl.CompiledProgram:
    """Each given as its body; scores tell them apart."""
    numbered = (f"rule r{place} on S {{ {body} score {0.3 - 0.07 * place:.2f} }}" for place, body in enumerate(rules))
    return ucl.compile(SCHEMA + "\n".join(numbered))


def check(
    programs: Mapping[Any, ucl.CompiledProgram], table: pa.Table, owners: Sequence[Any], threads: int = 1
) -> None:
    crowd = ucl.Crowd(programs)
    result = crowd.score(table, list(owners), now=NOW, threads=threads)
    for owner in dict.fromkeys(owners):
        mine = [row for row, who in enumerate(owners) if who == owner]
        alone = programs[owner].score(table.take(mine), now=NOW)
        for name in ("total", "feasible", "contested", "valid"):
            there, expected = getattr(result.scores, name)[mine], getattr(alone.scores, name)
            np.testing.assert_array_equal(there, expected, f"{owner}: {name}")
        invalid = {place: result.invalid[row] for place, row in enumerate(mine) if row in result.invalid}
        assert invalid == alone.invalid
    elsewhere = [rules for rules in crowd._shelf.rules if rules is not None and rules.plan is not None]
    assert not elsewhere, "every program stands in the tables"


# --- how many options somebody has ----------------------------------------------------------------------------------

SIZES = (0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 200, 2047, 2049, 5000)


@pytest.mark.parametrize("threads", [1, 2])
def test_people_may_have_any_number_of_options(threads: int) -> None:
    generator = np.random.default_rng(3)
    people = [number for number, size in enumerate(SIZES) for _ in range(size)]
    rows = len(people)
    words = np.array([f"w{number}" for number in range(9)])
    tags = [words[generator.integers(0, 9, size)].tolist() for size in generator.integers(0, 5, rows)]
    table = pa.table(
        {
            "n": generator.integers(-50, 50, rows),
            "who": words[generator.integers(0, 9, rows)],
            "tags": pa.array(tags, pa.list_(pa.string())),
            "at": pa.array(generator.integers(1_750_000_000, 1_800_000_000, rows), pa.timestamp("s", "UTC")),
        }
    )
    bodies = [
        "when n > 3",
        'when who in {"w1", "w2", "unknown"}',
        'when overlaps(tags, {"w0", "w3"})',
        'when subset(tags, {"w0", "w3", "w4", "w5"})',
        "when present(at) and at.time in 13:15..17:45",
        "when present(at) and at.weekday in {sat, sun} and n < 20",
    ]
    programs = {number: program_of(*(bodies[number % 6 :] + bodies[: number % 5])) for number in range(len(SIZES))}
    check(programs, table, people, threads)


def test_people_between_others_may_stand_elsewhere() -> None:
    """Whose scores vary is scored by the ordinary kernels; rows of those who are walked don't stand together then."""
    varying = ucl.compile(SCHEMA + "rule a on S { when n > 2 score 0.01 * n }")
    walked = program_of("when n > 2", 'when who == "x"')
    owners = [place // 700 for place in range(7000)]
    crowd = ucl.Crowd({number: varying if number % 3 else walked for number in range(10)})
    table = pa.table({"n": np.arange(7000) % 31, "who": ["x" if row % 4 else "y" for row in range(7000)]})
    result = crowd.score(table, owners, now=NOW)
    for owner in range(10):
        rows = slice(owner * 700, (owner + 1) * 700)
        assert result.total[rows].tolist() == crowd[owner].score(table.slice(owner * 700, 700), now=NOW).total.tolist()


def test_nobody_has_options() -> None:
    assert len(ucl.score_many({"ann": program_of("when n > 0")}, pa.table({"n": pa.array([], pa.int64())}), [])) == 0


# --- what ints are compared with ------------------------------------------------------------------------------------

LEAST, MOST = -(2**63), 2**63 - 1
AROUND = (LEAST, LEAST + 1, -(2**50), -129, -128, -1, 0, 1, 2, 127, 128, 2**31, 2**50, MOST - 1, MOST)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_constants_may_lie_anywhere(data: st.DataObject) -> None:
    """Near each other or far apart, in steps or without, at the ends of what an int can be."""
    step = data.draw(st.sampled_from([1, 2, 3, 900, 10**9, 2**40]))
    base = data.draw(st.sampled_from([*AROUND, 7, -13]))
    many = st.lists(st.integers(-300, 300), min_size=1, max_size=6)
    near = [base + step * times for times in data.draw(many)]
    constants = [c for c in near if LEAST < c <= MOST] or [5]
    constants += data.draw(st.lists(st.sampled_from([c for c in AROUND if c > LEAST]), max_size=2))
    values = {value for c in constants for value in (c - step, c - 1, c, c + 1, c + step)} | set(AROUND)
    table = pa.table({"n": [value for value in sorted(values) if LEAST <= value <= MOST]})
    programs = {number: program_of(f"when n >= {constant}") for number, constant in enumerate(constants)}
    for owner in programs:
        check({owner: programs[owner]} | programs, table, [owner] * table.num_rows)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_columns_may_have_fewer_bytes(dtype: str) -> None:
    values = np.array([0, 1, 2, 3, 100, 120, 127], dtype)
    programs = {0: program_of("when n > 1", "when n in 3..120"), 1: program_of("when n >= 127")}
    check(programs, pa.table({"n": np.tile(values, 20)}), [0] * 70 + [1] * 70)


def test_doubles_are_compared_as_they_are() -> None:
    bounds = [0.0, 0.1, 1e-300, -2.5, 1e300]
    cells = [None, float("nan"), -0.0, 0.0, 5e-324, *bounds, *(float(np.nextafter(bound, -np.inf)) for bound in bounds)]
    table = pa.table({"cost": pa.array(cells, pa.float64())})
    bodies = ["when present(cost) and cost >= 0.0", "when present(cost) and cost < 0.1", "when absent(cost)"]
    check({0: program_of(*bodies), 1: program_of(bodies[1])}, table, [0] * 7 + [1] * (len(cells) - 7))


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [1, 127, 128, 129, 32_767, 32_769])
def test_dictionaries_may_have_any_number_of_words(many: int) -> None:
    """Codes have as few bytes as they need; what no row has is no word's code."""
    words = [f"w{number}" for number in range(many)]
    shown = [words[0], words[-1], words[many // 2], words[0], *words]
    tags = [[word, words[0]] if place % 3 else [] for place, word in enumerate(shown)]
    table = pa.table({"who": shown, "tags": pa.array(tags, pa.list_(pa.string()))})
    last = words[-1]
    programs = {
        "ann": program_of(f'when who == "{last}"', f'when overlaps(tags, {{"{last}", "unknown"}})'),
        "bo": program_of(
            'when who not in {"w0", "w126", "w127", "w128"}', f'when not subset(tags, {{"w0", "{last}"}})'
        ),
    }
    check(programs, table, ["ann" if row % 200 < 90 else "bo" for row in range(table.num_rows)])


def test_a_set_may_have_many_elements() -> None:
    words = [f"w{number}" for number in range(300)]
    tags = [words[: size % 301] for size in (0, 1, 15, 16, 17, 64, 65, 300, 0, 0, 128)] * 40
    sliced = pa.table({"tags": pa.array([["x"], *tags, ["x"]], pa.list_(pa.string()))}).slice(1, len(tags))
    bodies = [f'when overlaps(tags, {{"{word}"}})' for word in ("w0", "w16", "w63", "w64", "w299")]
    programs = {0: program_of(*bodies), 1: program_of(*bodies[:2], 'when subset(tags, {"w0"})')}
    check(programs, sliced, [row // 100 % 2 for row in range(len(tags))])


def test_columns_may_come_in_chunks() -> None:
    chunks = [pa.table({"n": [1, 5, 9], "who": ["x", "y", "x"]}), pa.table({"n": [7] * 99, "who": ["z"] * 99})]
    check({0: program_of("when n > 4", 'when who == "z"')}, pa.concat_tables(chunks), [0] * 102)


# --- the end of a column --------------------------------------------------------------------------------------------


def test_rows_beyond_the_last_are_not_looked_at() -> None:
    """Whatever stands behind the last row."""
    assert load()
    program = program_of("when small > 2", "when small < 0")
    crowd = ucl.Crowd({0: program})
    crowd.score([{"small": 1}], [0], now=NOW)
    rules = crowd._shelf.rules[0]
    assert rules is not None
    call = start_call(program.semantic, now=NOW)
    values = np.random.default_rng(1).integers(-5, 6, 4096)
    for rows in (1, 63, 64, 65, 4095):
        columns = Columns(rows, {("small",): Scalars(values[:rows], None)})
        people = np.array([[rules.place, 0, rows]], np.int64)
        sums = score_people(rules.layout.tables, columns, call, people)
        expected = np.where(values > 2, 300_000_000, 0) + np.where(values < 0, 230_000_000, 0)
        assert sums.total.tolist() == expected[:rows].tolist()


def test_what_stands_in_the_room_before_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of("when n > 3", 'when who == "x"', 'when overlaps(tags, {"a"})')
    table = pa.table({"n": [1, 5] * 50, "who": ["x", "y"] * 50, "tags": [["a"], []] * 50})
    crowd = ucl.Crowd({0: program})
    expected = crowd.score(table, [0] * 100, now=NOW).total.tolist()
    usual = np.empty

    def garbage(*arguments: Any, **named: Any) -> Any:
        made = usual(*arguments, **named)
        if made.dtype == np.uint8:
            made.fill(0xA5)
        return made

    monkeypatch.setattr(np, "empty", garbage)
    assert crowd.score(table, [0] * 100, now=NOW).total.tolist() == expected
