"""One option after another says what a table of one row says, whatever the option is made of and whatever is wrong."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pydantic import field_serializer

import ucl
from ucl.tables.errors import TableError

PROGRAM = """
timezone "America/New_York"
context { mood: "calm" | "busy" = "calm" }
schema Meeting { start: datetime  kind: "standup" | "external"  priority: int in 0..=10 = 5  attendees: set<text> = {} }
rule lunch on Meeting { when start.time in 12:00..13:00 unless priority >= 8 score -0.8 }
rule friends on Meeting { when overlaps(attendees, {"ann"}) score 0.1 * priority }
rule busy on Meeting { when context.mood == "busy" score -0.3 }
rule new_year on Meeting { when start.date > today score 0.25 }
constraint night on Meeting { forbid when start.time in 22:00..06:00 unless kind == "external" }
"""
AROUND: dict[str, Any] = {"now": "2026-05-28T12:00", "context": {"mood": "busy"}}
LUNCH = {"start": "2026-05-29T12:30", "kind": "standup", "attendees": ["ann", "bo"]}


def said(program: Any, option: Any) -> tuple[Any, ...]:
    result = program.score([option], **AROUND)
    return result.total[0], result.feasible[0], result.contested[0], result.decision[0], result.invalid.get(0)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"priority": 9},
        {"start": "2026-05-29T23:00"},
        {"start": "2026-05-29T23:00", "kind": "external"},
        {"attendees": []},
        {"attendees": {"ann"}, "priority": None},
        {"priority": 4.0, "note": "left alone"},
    ],
)
def test_a_valid_option(change: dict[str, Any]) -> None:
    program = ucl.compile(PROGRAM)
    scorer = program.scorer(**AROUND)
    for _ in range(2):
        assert scorer.score({**LUNCH, **change}) == said(program, {**LUNCH, **change})


@pytest.mark.parametrize("change", [{"priority": 11}, {"start": None}, {"kind": "party"}])
def test_an_invalid_option(change: dict[str, Any]) -> None:
    program = ucl.compile(PROGRAM)
    found = program.scorer(**AROUND).score({**LUNCH, **change})
    assert found.total != found.total
    assert found[1:] == said(program, {**LUNCH, **change})[1:]
    assert found.invalid is not None


def test_what_is_wrong_with_a_table_is_wrong_with_an_option() -> None:
    scorer = ucl.compile(PROGRAM).scorer(**AROUND)
    with pytest.raises(TableError, match="start"):
        scorer.score({"kind": "standup"})
    with pytest.raises(TableError):
        scorer.score(3)


def test_a_model_is_an_option() -> None:
    program = ucl.compile(PROGRAM)
    scorer = program.scorer(**AROUND)
    option = program.models["Meeting"](**LUNCH)
    assert scorer.score(option) == scorer.score(LUNCH)


def test_a_model_says_what_it_dumps() -> None:
    """Without what was not given; a caller's own class may dump something else, a record within it is dumped too."""
    program = ucl.compile("""
        schema Inner { a: int = 3 }
        schema S { n: int  class: int = 7  length: duration unit min = 30min  inner: Inner? }
        rule r on S { when class == 7 and length > 20min score 0.5 }
        rule q on S { when present(inner) and inner.a == 4 score 0.25 }
        schema Plain { n: int  class: int = 7  tags: set<text> = {} }
        rule p on Plain { when class == 7 and not overlaps(tags, {"x"}) score 0.1 * n }
    """)
    inner, model, plain = (program.models[name] for name in ("Inner", "S", "Plain"))

    class Doubled(plain):  # type: ignore[valid-type, misc]
        @field_serializer("n")
        def twice(self, n: int) -> int:
            return 2 * n

    for schema, option in (
        ("S", model(n=1)),
        ("S", model(n=1, inner=inner(a=4))),
        ("Plain", plain(n=1)),
        ("Plain", plain(**{"n": 2, "class": 8})),
        ("Plain", plain(n=3, tags={"x", "y"})),
        ("Plain", Doubled(n=4)),
    ):
        assert option.__ucl_row__() == option.model_dump(by_alias=True)
        found = program.scorer(schema).score(option)
        assert found.total == program.score([option], schema).total[0]


def test_what_compares_rows_sees_one() -> None:
    program = ucl.compile(PROGRAM + "rule best on Meeting { when lowest(priority) score 1 }")
    assert program.scorer(**AROUND).score(LUNCH) == said(program, LUNCH)


def test_reasons_are_had_from_a_table_of_one() -> None:
    result = ucl.compile(PROGRAM).scorer(**AROUND).explained(LUNCH)
    assert result.fired(0) == ["lunch", "friends", "busy", "new_year"]


def test_masks_of_many_rules_have_more_digits_than_python_reads() -> None:
    rules = "\n".join(f"rule r{n} on S {{ when n > {n} score 0.001 }}" for n in range(2500))
    program = ucl.compile(f"schema S {{ n: int }}\n{rules}")
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    try:
        assert program.scorer().score({"n": 2400}).total == 2.4
    finally:
        sys.set_int_max_str_digits(most)


@pytest.mark.parametrize("turned", [1, -1])
def test_a_mean_does_not_depend_on_the_order_in_which_it_is_summed(turned: int) -> None:
    """Of sorted values, a part of the sum may be more than a double holds, though the whole is not."""
    program = ucl.compile("schema S { f: float }\nrule a on S { when mean_of(f) > 0.5 score 0.5 }")
    rows = [{"f": f * turned} for f in (-1e308, 1e308, -1e308, 1e308, 4.0 * turned)]
    result = program.score(rows)
    assert not result.invalid
    assert result.total.tolist() == [0.5] * 5
    assert program.score([{"f": 1.7e308}] * 2).invalid
