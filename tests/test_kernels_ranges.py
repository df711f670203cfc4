"""What domains decide: tests that are none, flags that nobody needs; and never another answer."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.kernels.execution.vector import OPERATIONS
from ucl.kernels.lowering.ranges import Range, of_value, stays_within
from ucl.kernels.plan import Constant, Operation, Plan
from ucl.scoring.calls import start_call
from ucl.scoring.results.records import all_records
from ucl.semantics.evaluate import score_options
from ucl.tables.ingest import ingest

NOW = "2026-03-01T12:00:00Z"
SCHEMA = """
timezone "Europe/Berlin"
schema S {
  n: int in 0..=10  m: int in -5..7  x: float in 0.5..2.5  y: float  t: time  w: weekday  at: datetime
  o: int? in 3..=4  p: int in {2, 4, 6} = 4
}
"""


def plan_of(rules: str) -> Plan:
    program = ucl.compile(SCHEMA + rules)
    call = start_call(program.semantic, now=NOW)
    return program._planner.plan(program.semantic, program.semantic.schemas["S"], call)


def rows_of(rules: str) -> int:
    return plan_of(rules).scoring.rows


@pytest.mark.parametrize(
    ("decided", "left"),
    [
        ("n >= 0 and x > 1.0", "x > 1.0"),
        ("n in 0..=10 and x > 1.0", "x > 1.0"),
        ("m < 8 and x > 1.0", "x > 1.0"),
        ("x >= 0.5 and x <= 2.5 and n > 1", "n > 1"),
        ("p in 1..=7 and n > 1", "n > 1"),
        ("n + m <= 17 and n > 1", "n > 1"),
        ("n * n >= 0 and n > 1", "n > 1"),
        ("at.time in 00:00.. and n > 1", "n > 1"),
        ("present(o) and (o ?? 3) >= 3", "present(o)"),
    ],
)
def test_a_test_that_a_domain_decides_is_none(decided: str, left: str) -> None:
    assert rows_of(f"rule r on S {{ when {decided} score 1 }}") == rows_of(f"rule r on S {{ when {left} score 1 }}")


def test_a_rule_that_a_domain_rules_out_is_dropped() -> None:
    plan = plan_of("rule r on S { when n * 2 > 20 and x > 1.0 score 1 }")
    assert plan.scoring.rows == 1
    assert len(plan.constant_literals) == 0


def test_what_stays_within_its_type_has_no_flags() -> None:
    assert not plan_of("rule r on S { when n > 2 score 0.5 * n * x }").outcomes.failures
    assert not plan_of("rule r on S { when n - m > 2 score 1 }").outcomes.failures
    assert rows_of("rule r on S { when n / x > 2.0 score 1 }") == rows_of("rule r on S { when x > 2.0 score 1 }")
    assert plan_of("rule r on S { when n > 2 score 0.5 * y }").outcomes.failures
    assert plan_of("rule r on S { when n > 2 score 1000.0 * n }").outcomes.failures


# --- never another answer -------------------------------------------------------------------------------------------

TESTS = st.sampled_from(
    [
        "n >= {i}", "n == {i}", "n < {i}", "m in {i}..{j}", "m in {i}..={j}", "n + m > {i}", "n - m == {i}",
        "n * m <= {j}", "((n / x) ?? 1.0) > {f}", "((x / n) ?? 1.0) > {f}",
        "-n <= {i}", "x > {f}", "x in {f}..{g}", "x * 2.0 >= {f}", "x - 1.0 < {f}", "x * x > {f}", "min(n, m) >= {i}",
        "(o ?? {i}) >= {j}", "present(o) and o! >= {i}", "p >= {i}", "p == {i}", "n > x", "at.time in {h}:00..{k}:30",
        "t < {h}:00", "w in tue..=fri", "w == sun", "w == mon", "at.weekday == mon", "at.hour >= {i}",
        "y >= {f}", "n * 2.5 < {f}",
    ]
)  # fmt: skip
SCORES = st.sampled_from(
    ["0.5", "0.25 * n", "-0.125 * m", "x", "x * n - 3.0", "1000.0 * n", "y", "-y * x", "0.001 * (n * m)"]
)
INTS, FLOATS = st.integers(-8, 14), st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 2.5, 2.4999999999999996, 3.0, 6.25])


@st.composite
def programs(draw: st.DrawFn) -> str:
    rules = []
    for number in range(draw(st.integers(1, 4))):
        texts = []
        for test in draw(st.lists(TESTS, min_size=1, max_size=3)):
            i, f = sorted((draw(INTS), draw(INTS))), sorted((draw(FLOATS), draw(FLOATS)))
            h = sorted((draw(st.integers(0, 23)), draw(st.integers(0, 23))))
            filled = test.format(i=i[0], j=i[1] + 1, f=f[0], g=f[1] + 0.25, h=f"{h[0]:02}", k=f"{h[1]:02}")
            texts.append(f"not ({filled})" if draw(st.booleans()) else f"({filled})")
        when = f" {draw(st.sampled_from(['and', 'or']))} ".join(texts)
        rules.append(f"rule r{number} on S {{ when {when.replace('o!', '(o ?? 0)')} score {draw(SCORES)} }}")
    return SCHEMA + "\n".join(rules)


def some_rows() -> pa.Table:
    """Every end of every domain, within and without."""
    random = np.random.default_rng(3)
    count = 300

    def of(*values: Any) -> list[Any]:
        return [values[place] for place in random.integers(0, len(values), count)]

    day = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    return pa.table(
        {
            "n": of(0, 1, 5, 9, 10, 10, 0, 3, -1, 11, 2**63 - 1, 4, 6, 7, 8, 2),
            "m": of(-5, -4, 0, 6, 6, -5, 3, 2, 7, -(2**63), 1, 1, 2, 4),
            "x": of(0.5, 2.4999999999999996, 1.0, 1.5, 0.75, 2.0, 2.5, float("nan"), 0.49, 1.25),
            "y": of(0.0, 1.5, -2.0, 1e308, -1e308, 8192.0, -8192.5, 3.25),
            "t": pa.array(of(*[dt.time(hour) for hour in range(24)]), pa.time64("us")),
            "w": of("mon", "tue", "sun", "fri"),
            "at": pa.array([day + dt.timedelta(hours=7 * row) for row in range(count)], pa.timestamp("us", "UTC")),
            "o": of(3, 4, None, None, 3, 5, 4),
            "p": of(2, 4, 6, None, 3, 4),
        }
    )


ROWS = some_rows()


@given(programs())
@settings(max_examples=120, deadline=None)
def test_kernels_say_what_evaluate_says(text: str) -> None:
    try:
        program = ucl.compile(text)
    except ucl.CompileError:
        return
    semantic, schema = program.semantic, program.semantic.schemas["S"]
    call = start_call(semantic, now=NOW)
    expected = score_options(semantic, schema, all_records(ingest(ROWS, schema, call.zone), schema), call)
    found = program.score(ROWS, now=NOW)
    for row, outcome in enumerate(expected):
        mine = found.outcome(row)
        assert (mine.total, mine.feasible, mine.contested, mine.fired) == (
            outcome.total,
            outcome.feasible,
            outcome.contested,
            outcome.fired,
        ), (row, text)
        assert (mine.invalid is None) == (outcome.invalid is None)


@given(
    st.sampled_from(["add_int", "sub_int", "mul_int", "neg_int", "min", "max"]),
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)), min_size=2, max_size=2),
    st.floats(0, 1),
)
@settings(max_examples=300)
def test_ints_lie_in_their_range(op: str, ends: list[tuple[int, int]], share: float) -> None:
    _lies_within(op, [tuple(sorted(pair)) for pair in ends], share, np.int64)


@given(
    st.sampled_from(["add_float", "sub_float", "mul_float", "neg_float", "div_float", "contribution", "min", "max"]),
    st.lists(st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)), min_size=2, max_size=2),
    st.floats(0, 1),
)
@settings(max_examples=300)
def test_doubles_lie_in_their_range(op: str, ends: list[tuple[float, float]], share: float) -> None:
    _lies_within(op, [tuple(sorted(pair)) for pair in ends], share, np.float64)


def _lies_within(op: str, ends: list[Any], share: float, dtype: Any) -> None:
    operation = OPERATIONS[op]
    arity = 1 if op.startswith("neg") else 2
    ends = ends[:arity]
    node = Operation(op, tuple(range(arity)))
    found = of_value(node, lambda path: None, [Range(*pair) for pair in ends])
    if found is None:
        return
    low = np.array([pair[0] for pair in ends], dtype)
    high = np.array([pair[1] for pair in ends], dtype)
    between = np.clip((low.astype(np.float64) * (1 - share) + high.astype(np.float64) * share), low, high)
    if dtype is np.int64:
        between = np.array(
            [min(max(int(value), int(a)), int(b)) for value, a, b in zip(between, low, high, strict=True)]
        )
    corners = [(a, b) for a in range(3) for b in range(3)] if arity == 2 else [(a,) for a in range(3)]
    for corner in corners:
        arguments = [np.array([(low, between, high)[which][place]], dtype) for place, which in enumerate(corner)]
        with np.errstate(all="ignore"):
            vector = operation.run(*arguments)
        over = vector.over is not None and bool(vector.over[0])
        if stays_within(node, found):
            assert not over, (op, ends, arguments)
        if not over and (vector.missing is None or not vector.missing[0]):
            assert found.low <= vector.values[0].item() <= found.high, (op, ends, arguments)


def test_constants_are_their_range() -> None:
    assert of_value(Constant(3, floating=False), lambda path: None, []) == Range(3, 3)


def test_products_of_products_end() -> None:
    """Of ranges, too: they would double their digits with each."""
    squares = "\n".join(f"def d{n}(a: int) -> int = d{n - 1}(a) * d{n - 1}(a)" for n in range(1, 9))
    text = f"{SCHEMA}def d0(a: int) -> int = a * a * a * a\n{squares}\nrule r on S {{ when d8(n + 2) > 7 score 1 }}"
    result = ucl.compile(text).score(ROWS.slice(0, 5), now=NOW)
    assert set(result.invalid) == set(range(5))
