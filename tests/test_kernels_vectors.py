"""What loops over blocks are made of: as LLVM's vectors and as plain loops they do the same to the bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")
import numba

from ucl.kernels.engines.blocks import tests, values
from ucl.kernels.engines.blocks.loop_forms import LOOPS
from ucl.kernels.engines.blocks.vector_forms import RUN, VECTORS
from ucl.kernels.execution.members import meanings
from ucl.kernels.plan import OneOf
from ucl.semantics.outcome import Call
from ucl.semantics.zones import UTC

ROWS = 64
EDGES = {
    np.int64: [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1],
    np.int32: [-(2**31), -1, 0, 1, 2**31 - 1],
    np.int16: [-(2**15), -1, 0, 1, 2**15 - 1],
    np.uint8: [0, 1, 128, 255],
    np.int8: [-128, -1, 0, 1, 127],
    np.uint64: [0, 1, 2**63, 2**64 - 1],
    np.float64: [-np.inf, -1.5, -0.0, 0.0, 5e-324, np.inf, np.nan],
}
LANES = {"64": np.int64, "32": np.int32, "16": np.int16, "8": np.uint8, "float": np.float64}


def some(dtype: Any, seed: int = 1) -> Any:
    random = np.random.default_rng(seed)
    rows = random.choice(np.array(EDGES[dtype], dtype), ROWS)
    plain = random.integers(0, 100, ROWS).astype(dtype)
    return np.ascontiguousarray(np.where(random.random(ROWS) < 0.5, rows, plain))


def both(name: str, arity: int) -> list[Any]:
    """The vector form and the loop, callable from Python."""
    made = []
    for table in (VECTORS, LOOPS):
        function = table[name]
        names = ", ".join("abcdefg"[:arity])
        scope: dict[str, Any] = {"function": function}
        exec(f"def call({names}):\n    return function({names})", scope)
        made.append(numba.njit(scope["call"]))
    return made


def at(array: Any) -> int:
    address: int = array.ctypes.data
    return address


@pytest.mark.parametrize("name", [name for name in VECTORS if name.startswith(("at_least", "any_bit"))])
def test_tests_of_a_constant(name: str) -> None:
    kind = name.rsplit("_", 1)[1]
    dtype: Any = {"any_bit_64": np.uint64, "at_least_8": np.int8}.get(name, LANES[kind])
    rows = some(dtype)
    for constant in EDGES[dtype]:
        masks = []
        for call in both(name, 3):
            mask = np.zeros(1, np.uint64)
            call(at(rows), dtype(constant), at(mask))
            masks.append(int(mask[0]))
        holds = rows >= dtype(constant) if name.startswith("at_least") else (rows & dtype(constant)) != 0
        expected = sum(1 << row for row in np.flatnonzero(holds).tolist())
        assert masks == [expected, expected]


@pytest.mark.parametrize("name", ["equals_32", "equals_16"])
def test_codes_that_equal_one(name: str) -> None:
    dtype: Any = LANES[name.rsplit("_", 1)[1]]
    rows = some(dtype)
    for constant in EDGES[dtype]:
        expected = sum(1 << row for row in np.flatnonzero(rows == constant).tolist())
        assert [int(call(at(rows), dtype(constant))) for call in both(name, 2)] == [expected, expected]


@pytest.mark.parametrize("name", ["less_64", "less_float", "equal_64", "equal_float"])
def test_tests_of_two_columns(name: str) -> None:
    dtype: Any = LANES[name.rsplit("_", 1)[1]]
    left, right = some(dtype, 1), some(dtype, 2)
    holds = left < right if name.startswith("less") else left == right
    for call in both(name, 3):
        mask = np.zeros(1, np.uint64)
        call(at(left), at(right), at(mask))
        assert int(mask[0]) == sum(1 << row for row in np.flatnonzero(holds).tolist())


def test_adding_wraps_nothing_else() -> None:
    bits = np.uint64(0xF0F0_1234_5678_9ABC)
    held = np.array([bool(int(bits) >> row & 1) for row in range(ROWS)])
    rows = some(np.int64, 3) // 4
    for call in both("add_amount", 3):
        totals = rows.copy()
        call(at(totals), bits, np.int64(-17))
        assert np.array_equal(totals, np.where(held, rows - 17, rows))
    added = some(np.int64, 4) // 4
    for call in both("add_rows", 3):
        totals = rows.copy()
        call(at(totals), bits, at(added))
        assert np.array_equal(totals, np.where(held, rows + added, rows))
    for call in both("spread", 2):
        bools = np.full(ROWS, 7, np.uint8)
        call(bits, at(bools))
        assert np.array_equal(bools, held.astype(np.uint8))


def test_masks_of_masks() -> None:
    words = [some(np.uint64, seed) for seed in range(3)]
    none, flip = np.uint64(0), ~np.uint64(0)
    for call in both("conjoin", 5):
        out = np.zeros(8, np.uint64)
        call(at(out), at(words[0]), none, at(words[1]), flip)
        assert np.array_equal(out, (words[0] & ~words[1])[:8])
    for call in both("conjoin_three", 7):
        out = np.zeros(8, np.uint64)
        call(at(out), at(words[0]), flip, at(words[1]), none, at(words[2]), flip)
        assert np.array_equal(out, (~words[0] & words[1] & ~words[2])[:8])
    for call in both("which_words", 2):
        assert int(call(at(words[0]), none)) == sum(1 << n for n in np.flatnonzero(words[0]).tolist())
        assert int(call(at(words[0]), flip)) == sum(1 << n for n in np.flatnonzero(~words[0]).tolist())


def test_turning_rows_into_masks() -> None:
    square = np.random.default_rng(5).integers(0, 2**63, ROWS).astype(np.uint64) * np.uint64(3)
    for call in both("transpose", 1):
        turned = square.copy()
        call(at(turned))
        bits = np.unpackbits(square.view(np.uint8).reshape(ROWS, 8), axis=1, bitorder="little")
        words = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
        assert np.array_equal(np.ascontiguousarray(words).view(np.uint64).ravel(), turned)
    for call in both("fill_run", 2):
        run = np.zeros(RUN + 1, np.uint8)
        call(at(run), np.uint8(9))
        assert run.tolist() == [9] * RUN + [0]


def test_days_of_the_ends_of_the_calendar() -> None:
    """A quotient of doubles is no floor of its own accord."""
    day = 86_400_000_000
    near = [base * day + step for base in (-719_162, -1, 0, 1, 20_454, 2_932_896) for step in (-1, 0, 1, day - 1)]
    walls = np.resize(np.array(near, np.int64), 128)
    out = np.zeros(128, np.int64)
    for back in (0, day // 2):
        values.day_of(at(walls), back, at(out), 128)
        assert np.array_equal(out, (walls - back) // day)
    values.time_of(at(walls), at(out), 128)
    assert np.array_equal(out, walls % day)
    parts = np.zeros((3, 128), np.int64)
    values.split(at(walls), at(parts[0]), at(parts[1]), at(parts[2]), 128)
    assert np.array_equal(parts, [walls // day, walls % day, (walls // day + 3) % 7])


@pytest.mark.parametrize("changes", [0, 1, 2, 3, 8, 9, 30])
def test_any_number_of_changes_of_offset(changes: int) -> None:
    """Within the rows at once; a few are added up, many searched for."""
    random = np.random.default_rng(changes)
    transitions = np.sort(random.choice(10**6, changes, replace=False)).astype(np.int64)
    offsets = random.integers(-(10**5), 10**5, changes + 1)
    instants = random.integers(-(10**5), 11 * 10**5, 3 * 1024)
    walls = np.zeros_like(instants)
    values.to_wall(at(instants), transitions, offsets, at(walls), len(instants))
    assert np.array_equal(walls, instants + offsets[np.searchsorted(transitions, instants, side="right")])


@pytest.mark.parametrize("longest", [3, 40, 300])
@pytest.mark.parametrize("count", [1, 16, 17, 70, 150])
def test_sets_of_any_size(longest: int, count: int) -> None:
    random = np.random.default_rng(longest + count)
    words, size = 3, 90
    lengths = random.integers(0, longest, words * 64)
    ends = np.concatenate(([5], 5 + np.cumsum(lengths)))
    elements = random.integers(0, size, int(ends[-1])).astype(np.int32)
    table = random.random((size, count)) < 0.05
    padded = np.zeros((size, -(-count // 64) * 64), np.bool_)
    padded[:, :count] = table
    by_word = np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view(np.uint64).T)
    means = np.logical_or.reduce(table, axis=1)
    expected = np.array([table[elements[a:b]].any(axis=0) for a, b in pairwise(ends.tolist())])
    room = np.zeros(2000, np.uint64)
    for way in ("few", "codes", "any"):
        masks = np.zeros((count, words + 1), np.uint64)
        if way == "codes":
            wanted = np.flatnonzero(means)
            rest = (at(by_word), size, count, at(masks), masks.strides[0], words, at(room))
            tests.any_of_codes(at(ends), at(elements), wanted, *rest)
        elif way == "few":
            rest = (at(by_word), at(means), size, count, at(masks), masks.strides[0], words, at(room))
            tests.any_of_few(at(ends), elements, *rest)
        else:
            rest = (at(by_word), size, count, at(masks), masks.strides[0], words, at(room), at(room) + 512)
            tests.any_element(at(ends), elements, *rest)
        bits = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, : words * 64]
        assert np.array_equal(bits.T.astype(np.bool_), expected), way


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
@pytest.mark.parametrize("size", [0, 1, 40])
def test_meanings_are_those_of_each_test(count: int, size: int) -> None:
    random = np.random.default_rng(count)
    dictionary = tuple(f"w{code}" for code in range(size))
    words = [f"w{code}" for code in range(size + 5)]
    asked = [
        OneOf(frozenset(random.choice(words, random.integers(0, 4))), bool(random.integers(2))) for _ in range(count)
    ]
    found = meanings(Call(UTC, 0, 0), ("k",), dictionary, asked)
    expected = [[(word in test.values) != test.inverted for word in dictionary or ("",)] for test in asked]
    assert (found.tests, found.codes) == (count, max(1, size))
    assert [row.tolist() for row in found.each()] == expected
    assert found.some.tolist() == [any(row[code] for row in expected) for code in range(found.codes)]
    assert [[bits >> code & 1 == 1 for code in range(found.codes)] for bits in found.by_test().tolist()] == expected
