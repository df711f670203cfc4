"""Comprehensions over a memory in kernels: looked up and never gone over for each row, equal to `evaluate`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from strategies import HEADER, columns_of, table_of
from test_kernels_equal import assert_equal, call_of, compiled

from ucl.kernels import queries
from ucl.kernels.execution.whole import compares_rows
from ucl.kernels.lower import lower
from ucl.kernels.memory import remembered
from ucl.kernels.plan import Plan, Residual
from ucl.kernels.run import details
from ucl.semantics import evaluate
from ucl.semantics.expressions import STEPS
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program

TABLE = table_of(7, 70, 0.02)
VISITS = [visit for seed in range(40) for visit in table_of(seed, 0, 0.0).visits][:160]

# Each is looked up, whatever it makes of the items.
LOOKED_UP = [
    "count(v in visits where v.place == title) > 3",
    "count(v in visits where title == v.place and v.kind == kind and v.cost > 10) > 1",
    "any(v in visits where v.kind == inner.mild and b)",
    "all(v in visits where v.place != title or v.cost < 100)",
    "all(v in visits where v.place == title)",
    "sum(v.cost for v in visits where v.at.weekday == w and v.at.hour == start.hour) > n",
    "sum(v.stars ?? 0.1 for v in visits where v.cost == n) > f",
    "(mean(v.cost for v in visits where v.place == title) ?? 0.5) > f",
    "(mean(v.took for v in visits where v.place == title and v.at < start) ?? 1h) > d",
    "(min(v.at for v in visits where v.place == title and v.at >= start) ?? now) > start",
    "(max(v.cost for v in visits where v.cost <= n and v.kind == kind) ?? 3) > k",
    "(first(v.cost for v in visits where v.place == title) ?? 3) > k",
    "(last(v.cost for v in visits where v.place == title by v.at desc, v.cost) ?? 3) > k",
    "(mode(v.cost for v in visits where v.kind == kind and b) ?? 3) > k",
    "(first(v.cost > 20 for v in visits where v.kind == kind by v.at) ?? b)",
    "count(v in visits where v.at in start - 30d..=start + 30d) > 3",
    "count(v in visits where v.cost >= k and v.cost < n) > 3",
    "count(v in visits where n in v.cost..) > 3",
    "count(v in visits where not (v.cost < k or v.place != title)) > 3",
    "sum(v.cost for v in visits where v.paid > cost) > n",
    "sum(v.cost for v in visits where n > 3 and b) > n",
    "(sum(v.cost for v in visits where present(v.good) and v.good == b) > n)",
    "n * n > 4 and count(v in visits where n * n == v.cost) == 0",
    "title in distinct(v.place for v in visits where v.kind == kind)",
    "title in frequent(v.place for v in visits where v.kind == kind, 20%)",
    "w in distinct(v.at.weekday for v in visits where v.place == title)",
    '(mode(v.kind for v in visits where v.place == title) ?? "low") == kind',
    '(first(v.place for v in visits where v.kind == kind and b by v.at desc) ?? "none") == title',
    '(last(v.place for v in visits where v.cost == n) ?? "none") in {"none", "a", "b"}',
    "present(mode(v.place for v in visits where v.cost == n))",
    "often(title, kind)",
    "seen(title) > 2",
    "present(place) and count(v in visits where v.place == place) > 1",
    "count(v in visits where v.place == title and count(o in visits where o.place == v.place and o.at < v.at) > 1) > 1",
]
# Of the call alone.
ANSWERS = {
    "count(v in visits where v.cost > 20 and v.at < now)": "int",
    "any(v in visits where v.cost * v.cost > 30_000)": "bool",
    "any(v in visits where v.cost * 80_000_000_000_000_000 > 9_000_000_000_000_000_000)": "bool",
    "all(v in visits where v.stars ?? 0.0 < 1000000.0)": "bool",
    "sum(v.cost for v in visits)": "int",
    'sum(v.stars ?? 0.1 for v in visits where v.kind == "mid")': "float",
    "sum(v.took for v in visits where v.took < 10d and v.took > -10d)": "duration",
    "sum(v.took for v in visits)": "duration",
    "mean(v.took for v in visits where v.cost > 3 and v.took < 10d and v.took > -10d)": "duration?",
    "mean(v.paid for v in visits where v.paid < 100USD and v.paid > -100USD)": "money?",
    "min(v.at for v in visits)": "datetime?",
    "max(v.paid for v in visits where v.cost > 1000)": "money?",
    'first(v.place for v in visits where contains(v.place, "a") by v.cost desc, v.at)': "text?",
    "last(v.kind for v in visits by v.stars ?? 0.0)": "text?",
    "first(v.cost for v in visits where v.cost > 9)": "int?",
    "mode(v.at.weekday for v in visits)": "weekday?",
    'mode(lower(v.place) for v in visits) ?? "none"': "text",
    "distinct(v.place for v in visits where v.place in v.with)": "set<text>",
    "frequent(v.at.hour for v in visits, 5%)": "set<int>",
    "first(p for p in known() by sum(v.cost for v in visits where v.place == p) desc)": "text?",
    "count(v in visits where count(o in visits where o.place == v.place and o.cost > v.cost) > 3)": "int",
    'count(v in visits where present(v.who) and (v.who.a ?? 3) > 2 and v.who.label == "a")': "int",
    "if count(v in visits) > 3 then sum(v.cost for v in visits) / count(v in visits) else 0.5": "float?",
}


def program_with(condition: str) -> Program:
    program = compiled(f"{HEADER}\nrule r on S {{ when {condition} score 0.5 }}")
    assert program is not None, condition
    return program


def remembering(program: Program, visits: list[dict[str, Any]]) -> Call:
    return call_of(program, memory={"visits": tuple(visits)})


def residuals(plan: Plan) -> list[Residual]:
    return [whole for whole in plan.wholes if isinstance(whole, Residual)]


@pytest.mark.parametrize("condition", LOOKED_UP)
def test_rows_are_looked_up(condition: str) -> None:
    program = program_with(condition)
    call = remembering(program, VISITS)
    assert not residuals(lower(program, program.schemas["S"], call))
    assert_equal(program, TABLE.options, call)


@pytest.mark.parametrize("condition", LOOKED_UP)
def test_a_short_memory_and_none(condition: str) -> None:
    program = program_with(condition)
    for visits in ([], VISITS[:1], VISITS[:3]):
        assert_equal(program, TABLE.options, remembering(program, visits))


@pytest.mark.parametrize(
    "kind", ["count(v in visits where {}) > 1", "any(v in visits where {})", "all(v in visits where {})"]
)
@pytest.mark.parametrize(
    "where",
    [
        "v.cost * 300_000_000_000_000_000 > n",
        "v.place == title and v.cost * 300_000_000_000_000_000 > 3",
        "v.cost * 300_000_000_000_000_000 > 3 and v.place == title",
        "n * n * n == v.cost",
        "v.place == title and n * n * n > v.cost",
        "v.cost > 100 and n * n * n == v.cost",
    ],
)
def test_what_overflows_counts_where_it_is_needed(kind: str, where: str) -> None:
    program = program_with(kind.format(where))
    for visits in (VISITS, VISITS[:2], []):
        assert_equal(program, table_of(3, 70, 0.3).options, remembering(program, visits))


def test_a_sum_beyond_64_bits_is_of_its_own_group_alone() -> None:
    visits = [{**VISITS[0], "place": place, "cost": cost} for place, cost in [("a", 2**62), ("a", 2**62), ("b", 3)]]
    program = program_with("sum(v.cost for v in visits where v.place == title) > 1")
    call = remembering(program, visits)
    assert not residuals(lower(program, program.schemas["S"], call))
    assert_equal(program, TABLE.options, call)
    assert_equal(program_with("sum(v.cost for v in visits where v.cost > n) > 1"), TABLE.options, call)


@pytest.mark.parametrize("few", [1, 40])
@pytest.mark.parametrize(("body", "type"), ANSWERS.items())
def test_answers_are_the_definitions_own(body: str, type: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "FEW_ITEMS", few)
    program = compiled(f"{HEADER}\ndef asked() -> {type} = {body}")
    assert program is not None
    for visits in (VISITS, VISITS[:5], []):
        call = remembering(program, visits)
        assert queries.query(program, "asked", [], call) == evaluate.query(program, "asked", [], call)


def test_answers_to_arguments() -> None:
    program = program_with("b")
    call = remembering(program, VISITS)
    asked: list[tuple[str, list[Any]]] = [
        ("seen", ["a"]),
        ("seen", ["nowhere"]),
        ("often", ["b", "low"]),
        ("twice", [2**62]),
    ]
    for name, arguments in asked:
        assert queries.query(program, name, arguments, call) == evaluate.query(program, name, arguments, call)


def test_alerts_are_the_definitions_own() -> None:
    program = compiled(
        HEADER
        + """
        alert again for v in visits {
          when any(o in visits where o.place == v.place and o.at < v.at) unless v.cost > 100 unless v.kind == "low"
          say "{v.place} again" severity info
        }
        alert huge for v in visits {
          when v.cost * 150_000_000_000_000_000 > 9 and v.cost > 3 say "{v.place} took {v.took}" severity critical
        }
        alert every for v in visits { say "{v.cost}" severity warning }
        alert old for v in visits { say "{v.cost}" severity warning valid ..2020-01-01 }
        """
    )
    assert program is not None
    for visits in (VISITS, VISITS[:2], []):
        call = remembering(program, visits)
        meant = evaluate.alerts(program, call)
        assert queries.alerts(program, call) == meant
        assert any(alerted.invalid for alerted in meant) == bool(visits)


def test_details_of_some_rows() -> None:
    program = program_with('(mode(v.kind for v in visits where v.place == title) ?? "low") == kind and seen(title) > 1')
    plan = lower(program, program.schemas["S"], remembering(program, VISITS))
    columns = columns_of(program.schemas["S"], TABLE.options)
    everywhere, some = details(plan, columns, slice(None)), details(plan, columns, np.array([50, 3, 4]))
    assert everywhere.fired.any()
    assert np.array_equal(everywhere.fired[[50, 3, 4]], some.fired)


def test_a_large_memory_takes_no_steps_for_each_pair() -> None:
    """Gone over one by one, each of these takes more steps than a call may."""
    visits = [{**VISITS[number % 100], "place": f"place {number % 3000}"} for number in range(6000)]
    program = program_with("seen(title) > 1 and count(v in visits where v.at < start and v.kind == kind) > 3")
    nested = "count(v in visits where count(o in visits where o.place == v.place) > 1)"
    asking = compiled(f"{HEADER}\ndef asked() -> int = {nested}")
    assert asking is not None
    assert len(visits) ** 2 > STEPS
    assert queries.query(asking, "asked", [], remembering(asking, visits)).value == 6000
    plan = lower(program, program.schemas["S"], remembering(program, visits))
    assert not residuals(plan)


def test_one_list_is_read_once() -> None:
    """Rules that ask the same of the memory share the look-up."""
    condition = "count(v in visits where v.place == title) > 3 or count(v in visits where v.place == title) < 1"
    program = program_with(condition)
    plan = lower(program, program.schemas["S"], remembering(program, VISITS))
    kinds = {name: sum(type(value).__name__ == name for value in plan.values) for name in ("Group", "Entry")}
    assert kinds == {"Group": 1, "Entry": 1}


@pytest.mark.parametrize(
    ("condition", "compares"),
    [
        ("lowest(n)", True),
        ("(if lowest(n) then title else inner.label) == lower(title)", True),
        ('(mode(v.kind for v in visits where v.place == title) ?? "low") == kind', False),
        ("any(v in visits where v.place in tags)", False),
    ],
)
def test_what_compares_rows_needs_the_whole_table(condition: str, compares: bool) -> None:
    program = program_with(condition)
    plan = lower(program, program.schemas["S"], remembering(program, VISITS))
    assert plan.wholes
    assert compares_rows(plan) == compares
