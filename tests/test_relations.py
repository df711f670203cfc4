"""Relations that hold for any program: they hold for every example, and a scorer that is wrong breaks each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ucl
from ucl.kernels.lower import lower
from ucl.kernels.run import score
from ucl.semantics.program import Status
from ucl.syntax.format import format_source
from ucl.tables.files import read_table
from ucl.testing import broken_relations
from ucl.testing.relations import RELATIONS

EXAMPLES = Path(__file__).parent.parent / "examples"
NOW = "2026-11-30T09:00"
ROWS = 300

TABLES = {
    "meetings/meetings.ucl": "meetings/meetings.csv",
    "cambridge/restaurants.ucl": "cambridge/restaurants.csv",
    "cambridge/hotels.ucl": "cambridge/hotels.csv",
    "cambridge/sights.ucl": "cambridge/sights.csv",
    "flights/flights.ucl": "flights/flights.csv",
}


@pytest.mark.parametrize("program", TABLES)
def test_they_hold_for_the_examples(program: str) -> None:
    path = EXAMPLES / program
    visits = path.parent / "visits.json"
    memory = json.loads(visits.read_text(encoding="utf-8")) if program.endswith("restaurants.ucl") else None
    table = read_table(str(EXAMPLES / TABLES[program])).slice(0, ROWS)
    assert broken_relations(ucl.load(path), table, memory=memory, now=NOW) == []


SOURCE = """schema S { n: int in 0..=9 }
rule up on S { when n > 2 score 0.5 }
rule down on S overrides up { when n > 6 score -0.5 }
rule watched on S { when n > 1 score 0.25 status shadow }
constraint c on S { forbid when n == 5 }
"""
TABLE = [{"n": n % 10} for n in range(200)]


def broken() -> list[str]:
    """The relations that are broken, each by the first words of its sentence."""
    told = broken_relations(ucl.compile(SOURCE), TABLE)
    return list(dict.fromkeys(said.split(",")[0].split(" `")[0] for said in told))


def test_they_hold_for_the_program_that_they_are_tried_on() -> None:
    assert broken() == []


def lowered(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A scorer that reads each rule otherwise."""

    def wrong(program: Any, schema: Any, call: Any) -> Any:
        return lower(replace(program, rules=tuple(map(change, program.rules))), schema, call)

    return wrong


def active(rule: Any) -> Any:
    return replace(rule, meta=replace(rule.meta, status=Status.ACTIVE))


def with_shadows(rule: Any) -> Any:
    return active(rule) if rule.meta.status is Status.SHADOW else rule


def with_retired(rule: Any) -> Any:
    return active(rule) if rule.meta.status is Status.RETIRED else rule


def always(rule: Any) -> Any:
    return replace(rule, when=None)


def turned(rule: Any) -> Any:
    """The more a rule weighs, the less it counts."""
    return replace(rule, meta=replace(rule.meta, priority=1 / rule.meta.priority))


@pytest.mark.parametrize(
    ("change", "relation"),
    [
        (with_shadows, "shadow rules change nothing"),
        (with_retired, "retiring"),
        (always, "a rule that never applies changes nothing"),
        (turned, "more weight for"),
    ],
)
def test_a_scorer_that_reads_rules_wrongly_is_caught(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any], relation: str
) -> None:
    monkeypatch.setattr("ucl.testing.relations.lower", lowered(change))
    assert relation in broken()


def first_row_wrong(plan: Any, columns: Any, **how: Any) -> Any:
    found = score(plan, columns, **how)
    found.total[0] += 1
    return found


def small_blocks_wrong(plan: Any, columns: Any, **how: Any) -> Any:
    """As if the last row of each block were lost."""
    found = score(plan, columns, **how)
    if "block_rows" in how:
        found.feasible[how["block_rows"] - 1 :: how["block_rows"]] ^= True
    return found


@pytest.mark.parametrize(
    ("wrong", "relations"),
    [
        (first_row_wrong, ["the order of rows changes nothing", "duplicates change nothing"]),
        (small_blocks_wrong, ["the size of batches changes nothing"]),
    ],
)
def test_a_scorer_that_depends_on_where_rows_stand_is_caught(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any], relations: list[str]
) -> None:
    monkeypatch.setattr("ucl.testing.relations.score", wrong)
    assert broken() == relations


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda text: text.replace("n > 6", "n > 7"), "row 7 scores differently"),
        (lambda text: text.replace("overrides up", ""), "row 7 scores differently"),
        (lambda text: text.replace("}", ""), "does not compile any more"),
    ],
)
def test_a_formatter_that_changes_the_meaning_is_caught(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[str], str], said: str
) -> None:
    monkeypatch.setattr("ucl.testing.relations.format_source", lambda file: wrong(format_source(file)))
    (told,) = broken_relations(ucl.compile(SOURCE), TABLE)
    assert told.startswith("formatting changes nothing")
    assert told.endswith(said)


def test_there_is_a_test_here_for_each() -> None:
    assert list(RELATIONS) == [
        "shadow_rules_change_nothing",
        "a_rule_that_never_applies_changes_nothing",
        "a_retired_rule_is_not_there",
        "the_order_of_rows_changes_nothing",
        "duplicates_change_nothing",
        "the_size_of_batches_changes_nothing",
        "more_weight_never_lowers_what_a_rule_favours",
        "formatting_changes_nothing",
    ]
