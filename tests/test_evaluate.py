"""Scores by small programs whose outcomes are worked out by hand."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import (
    BIG,
    NOON,
    call_of,
    compiled,
    schema_of,
    scored,
    totals,
    zone_named,
)

from ucl.semantics.evaluate import (
    score_option,
)
from ucl.semantics.evaluate.options import is_contested
from ucl.semantics.outcome import NANO, Decision, Invalid, Outcome, Reason


def test_an_outcome_whole() -> None:
    program = """
    schema S { n: int }
    rule up on S {
      when n > 0 score 0.5 priority 2 confidence 0.9
      except when n > 8 score -0.25 except when n > 9 score 1
    }
    rule down on S { when n > 3 unless n == 5 score -0.5 }
    rule seen on S { when n > 3 score -1 status shadow }
    constraint small on S { require n < 7 }
    constraint watched on S { forbid when n > 3 status shadow }
    """
    plain, both, spared, large, exceptional = scored(program, *({"n": n} for n in (1, 4, 5, 7, 10)))
    assert plain == Outcome(900_000_000, True, False, Decision.ACCEPT, ("up",), (), (), {"up": 900_000_000})
    assert both == Outcome(
        400_000_000,
        True,
        True,
        Decision.ASK_USER,
        ("up", "down"),
        (),
        ("seen", "watched"),
        {"up": 900_000_000, "down": -500_000_000},
    )
    assert (spared.total, spared.contested, spared.fired) == (900_000_000, False, ("up",))
    assert (large.feasible, large.violated, large.decision) == (False, ("small",), Decision.INFEASIBLE)
    assert exceptional.contributions == {"up": -450_000_000, "down": -500_000_000}


def test_decimals_add_up_as_on_paper() -> None:
    rules = [f"rule r{i} on S {{ score {score} }}" for i, score in enumerate(("-0.6", "-0.1", "0.7", "0.3", "-0.3"))]
    (outcome,) = scored("schema S { n: int }\n" + "\n".join(rules), {"n": 1})
    assert outcome.total == 0
    (outcome,) = scored("schema S { n: int }\nrule r on S { score -0.8 confidence 0.9 }", {"n": 1})
    assert outcome.total == -720_000_000


def test_recency_weighs() -> None:
    program = "schema S { n: int }\nrule r on S { score 0.5 }"
    assert totals(scored(program, {"n": 1}, recency={"r": 0.5})) == [0.25]


@pytest.mark.parametrize(
    ("score", "reason"), [("8192.0", None), ("8192.001", Reason.MAGNITUDE), ("-9000.0", Reason.MAGNITUDE)]
)
def test_magnitude(score: str, reason: Reason | None) -> None:
    (outcome,) = scored("schema S { f: float }\nrule a on S { score 1 }\nrule r on S { score f }", {"f": float(score)})
    if reason is None:
        assert outcome.total == 8193 * NANO
    else:
        assert outcome == Outcome(None, None, None, None, invalid=Invalid("r", reason))


def test_the_first_failure_in_the_order_of_the_source_is_named() -> None:
    program = """
    schema S { n: int }
    constraint first on S { forbid when n == 1 and n * BIG * BIG > 0 }
    rule second on S { when n == 2 or n == 1 score 1 + n * BIG * BIG }
    constraint third on S { require n * BIG * BIG > 0 when n > 0 }
    rule fourth on S { when n == 9 and n * BIG * BIG > 0 score 9000.0 status shadow }
    rule fifth on S { when n == 0 score 9000 }
    """.replace("BIG", str(BIG))
    outcomes = scored(program, *({"n": n} for n in (1, 2, 3, 9, 0)))
    named = [None if o.invalid is None else (o.invalid.field, o.invalid.reason) for o in outcomes]
    overflow = Reason.OVERFLOW
    assert named == [
        ("first", overflow),
        ("second", overflow),
        ("third", overflow),
        ("third", overflow),
        ("fifth", Reason.MAGNITUDE),
    ]


def test_a_shadow_rule_never_makes_a_row_invalid() -> None:
    program = f"schema S {{ n: int }}\nrule s on S {{ when n * {BIG} > 0 score 9000 status shadow }}\n" \
              "rule r on S { score 1 }"  # fmt: skip
    overflowing, large = scored(program, {"n": BIG}, {"n": 1})
    assert (overflowing.total, overflowing.shadow) == (NANO, ())
    assert (large.total, large.shadow) == (NANO, ("s",))


def test_what_overflows_does_not_silence() -> None:
    program = f"""
    schema S {{ n: int }}
    rule a on S {{ score n * {BIG} }}
    rule b on S overrides a {{ when n * {BIG} > 0 score 1 }}
    """
    (outcome,) = scored(program, {"n": BIG})
    assert outcome.invalid == Invalid("a", Reason.OVERFLOW)


def test_overriding_is_direct_and_active_only() -> None:
    program = """
    schema S { a_: bool  b_: bool  c_: bool }
    rule a on S { when a_ score 1 }
    rule b on S overrides a { when b_ score 2 }
    rule c on S overrides b { when c_ score 4 }
    rule d on S overrides c { score 8 status shadow }
    rule e on S overrides c { score 8 valid 2027-01-01.. }
    rule f on S { score 16 status retired }
    """
    rows = [{"a_": a, "b_": b, "c_": c} for a, b, c in ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1))]
    rows = [{key: bool(value) for key, value in row.items()} for row in rows]
    outcomes = scored(program, *rows)
    assert [o.fired for o in outcomes] == [("c",), ("b",), ("a", "c"), ("c",)]
    assert [o.shadow for o in outcomes] == [("d",)] * 4


def test_a_constraint_silences_where_it_applies_violated_or_not() -> None:
    program = """
    schema S { n: int }
    constraint q on S { require n > 0 }
    constraint o on S overrides q { require n > -5 when n < 0 }
    """
    assert [o.violated for o in scored(program, *({"n": n} for n in (0, -1, -6)))] == [("q",), (), ("o",)]


def test_priority_drops_the_side_that_has_the_lower_one() -> None:
    program = """
    schema S { n: int }
    resolve S by priority
    rule up on S { score 0.5 priority 2 }
    rule small on S { score 0.25 priority 1 }
    rule down on S { when n >= 1 score -0.5 priority 1 }
    rule even on S { when n >= 2 score -0.25 priority 2 }
    rule zero on S { score 0 priority 10 }
    """
    alone, dropped, equal = scored(program, *({"n": n} for n in (0, 1, 2)))
    assert totals([alone, dropped, equal]) == [1.25, 1.25, 0.25]
    assert dropped.fired == ("up", "small", "down", "zero")
    assert set(dropped.contributions) == {"up", "small", "zero"}
    assert [o.contested for o in (alone, dropped, equal)] == [False, False, True]


def test_contested_from() -> None:
    program = "schema S { n: int }\nrule a on S { score 0.25 }\nrule b on S { score -0.25 }"
    assert [scored(program, {"n": 1}, contested_from=least)[0].contested for least in (0.25, 0.250000001)] == [
        True,
        False,
    ]
    assert not is_contested([0, 0], 0.0)
    assert is_contested([1, -1], 0.0)


def test_valid_is_measured_by_the_calls_today() -> None:
    program = compiled("""
    timezone "America/New_York"
    schema S { n: int }
    rule a on S { score 1 valid 2026-03-01..2026-03-04 }
    rule b on S { score 2 valid 2026-03-01..=2026-03-04 }
    rule c on S { score 4 valid 2026-03-05.. }
    """)
    three_in_the_morning = NOON + 15 * 3600 * 10**6  # the 5th in UTC, the 4th in New York
    assert totals(scored(program, {"n": 1}, now=three_in_the_morning)) == [2.0]
    assert totals(scored(program, {"n": 1}, now=three_in_the_morning, zone=zone_named("UTC"))) == [4.0]


BATCH = """
schema S { price: int }
rule low on S { when lowest(price) score 1 }
rule high on S { when highest(price) score 2 }
rule place on S { score 10 * rank_of(price) }
rule mean on S { score 100 * mean_of(price) }
"""


def test_the_choice_set_is_the_group_without_its_invalid_rows() -> None:
    rows = [{"price": 2}, {"price": "?"}, {"price": 4}, {"price": 2}, {"price": 10}]
    assert totals(scored(BATCH, *rows)) == [461.0, None, 480.0, 461.0, 492.0]
    groups: list[Hashable] = ["a", "a", "a", "b", "b"]
    assert totals(scored(BATCH, *rows, groups=groups)) == [311.0, None, 322.0, 611.0, 622.0]


def test_a_row_whose_argument_overflows_is_left_out_of_that_builtin() -> None:
    program = f"""
    schema S {{ n: int }}
    rule square on S {{ when n < {BIG} and lowest(-(n * n)) score 1 }}
    rule plain on S {{ when highest(n) score 2 }}
    """
    assert totals(scored(program, {"n": 2}, {"n": 3}, {"n": BIG})) == [0.0, 1.0, 2.0]


def test_one_option_is_a_choice_set_by_itself() -> None:
    program = compiled(BATCH)
    outcome = score_option(program, schema_of(program), {"price": 7}, call_of(program))
    assert outcome.total == 713 * NANO


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-20, 20), st.sampled_from("ab")), min_size=1, max_size=8), st.randoms())
def test_outcomes_do_not_depend_on_the_order_of_the_rows(rows: list[tuple[int, str]], chance: Any) -> None:
    program = BATCH_PROGRAM
    places = list(range(len(rows)))
    chance.shuffle(places)
    straight = scored(program, *[{"price": n} for n, _ in rows], groups=[group for _, group in rows])
    shuffled = scored(program, *[{"price": rows[i][0]} for i in places], groups=[rows[i][1] for i in places])
    assert [straight[i] for i in places] == shuffled


BATCH_PROGRAM = compiled(BATCH)


def test_imported_rules_come_first_in_the_order_of_the_imports(tmp_path: Path) -> None:
    (tmp_path / "base.ucl").write_text("schema S { n: int }\nconstraint base on S { forbid when n > 9 status shadow }")
    (tmp_path / "early.ucl").write_text("import base (S)\nrule early on S { score 1 status shadow }")
    program = compiled(
        "import early (early)\nimport base (S, base)\n"
        "constraint own on S { forbid when n > 9 status shadow }\nrule mine on S { score 2 status shadow }",
        tmp_path,
    )
    (outcome,) = scored(program, {"n": 10})
    assert outcome.shadow == ("early", "base", "own", "mine")


def test_a_bound_at_the_end_of_time_holds_in_every_zone() -> None:
    program = 'timezone "America/New_York"\nschema S { d: datetime in 2020-01-01T00:00..=9999-12-31T23:59 }\n'
    program += "rule r on S { when d < 9999-12-31T23:59 score 1 }"
    assert totals(scored(program, {"d": "2026-03-04T12:00"})) == [1.0]
