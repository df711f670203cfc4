"""Cells miss nothing: answers of texts, stretches of numbers, ends of scores, each held to values drawn at random."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from promises import NOW, compiled

from ucl.analysis.cells.bounds import ends_of
from ucl.analysis.cells.inputs import Place, written_out
from ucl.analysis.cells.phantoms import possible_answers
from ucl.analysis.cells.space import PHANTOM
from ucl.analysis.properties import Prover
from ucl.semantics import program as p
from ucl.semantics.expressions import Budget, Frame, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.program import Expr, Program
from ucl.semantics.types import DAY
from ucl.semantics.zones import UTC

CALL = Call(UTC, NOW, NOW // DAY)


def value_of(expr: Expr, option: dict[str, Any]) -> Any:
    return evaluate(expr, Frame(CALL, Budget(), option))


def conditions_of(program: Program) -> list[Expr]:
    return [written_out(rule.when) for rule in program.rules if rule.when is not None]


# --- texts ----------------------------------------------------------------------------------------------------------

PIECES = ["seat", "window seat", "Retro", "retro", "RETRO", "ẞ", "ss", "H", "h̲", "复盘", "Fwd:", "!!!", "a", ""]
TESTS = [
    'contains(title, "seat")',
    'contains(title, "window seat")',
    'contains(casefold(title), "retro")',
    'contains(title, "retro")',
    'starts_with(title, "Fwd:")',
    'starts_with(lower(title), "fwd: re")',
    'ends_with(title, "seat")',
    'ends_with(casefold(title), "ss")',
    'title == "Retro"',
    'title != "window seat"',
    'title in {"RETRO", "Fwd:", "a"}',
    'casefold(title) == "ss"',
    'like(title, "*!!!*")',
    'like(title, "Fwd:*seat")',
    "length(title) > 3",
    "length(title) <= 5",
    "length(title) < 4",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=4).map("".join)


@settings(max_examples=150, deadline=None)
@given(chosen=st.lists(st.sampled_from(TESTS), min_size=1, max_size=5), shape=st.integers(0, 2), drawn=st.lists(texts))
def test_no_text_answers_as_none_is_said_to(chosen: list[str], shape: int, drawn: list[str]) -> None:
    """Tests by themselves, joined by `and`, or one of them turned round in an `or`."""
    if shape == 1:
        chosen = [*chosen, " and ".join(chosen)]
    elif shape == 2:
        chosen = [f"{chosen[0]} or not ({chosen[-1]})", *chosen]
    rules = "\n".join(f"rule r{n} on S {{ when {test} score 1 }}" for n, test in enumerate(chosen))
    program = compiled(f"schema S {{ title: text }}\n{rules}")
    conditions = conditions_of(program)
    possible = possible_answers(conditions)
    assert possible is not None
    for text in [*PIECES, *drawn]:
        told = {"title": normalize("NFC", text)}
        assert tuple(bool(value_of(condition, told)) for condition in conditions) in possible


def test_what_one_text_cannot_say_is_left_out() -> None:
    program = compiled(
        """schema S { title: text  n: int }
        rule a on S { when contains(title, "window seat") score 1 }
        rule b on S { when contains(title, "seat") score 1 }
        rule c on S { when starts_with(title, "x") score 1 }
        rule d on S { when title == "y seat" score 1 }"""
    )
    possible = possible_answers(conditions_of(program))
    assert possible is not None
    assert not any(answer[0] and not answer[1] for answer in possible)
    assert not any(answer[2] and answer[3] for answer in possible)
    assert all(answer[1] for answer in possible if answer[3])


@pytest.mark.parametrize(
    ("rules", "given", "proved"),
    [
        ('contains(title, "复盘") or contains(casefold(title), "retro")', 'contains(title, "复盘")', True),
        ('contains(title, "复盘") or contains(casefold(title), "retro")', 'contains(title, "retro")', False),
        ('starts_with(title, "Board") and not contains(casefold(title), "x")', 'title == "Boarding"', True),
        ("size(tags) > 40", "size(tags) > 50", True),
        ("size(tags) > 50", "size(tags) > 40", False),
        ('size(tags) > 40 or any(t in tags where contains(t, "x"))', "size(tags) > 50", True),
    ],
)
def test_what_no_value_was_found_for_is_proved_all_the_same(rules: str, given: str, proved: bool) -> None:
    program = compiled(
        f"""schema S {{ title: text  tags: set<text> }}
        rule r on S {{ when {rules} score 1 }}
        property p on S {{ given {given} expect fires(r) }}"""
    )
    prover = Prover(program, program.schemas["S"], NOW)
    assert (type(prover.prove(prover.promises[0])).__name__ == "Proved") is proved


# --- numbers --------------------------------------------------------------------------------------------------------

FIELDS = """schema S {
  n: int  small: int in 0..=200  x: float  price: float in 0.0..=100.0  at_: time  wait: duration  m: int?
}"""
NUMBERS = [
    "n > 3",
    "n in -5..=9",
    "n * 2 >= 7",
    "small - 3 < 20",
    "small in {3, 5, 190}",
    "x < 0.1 or x >= 7.5",
    "x * 3 > 0.3",
    "price == 50",
    "price / 3 <= 10.0",
    "at_ in 22:00..06:00",
    "at_.hour == 13",
    "at_.minute < 30",
    "wait > 90min",
    "wait.hours >= 1.5",
    "present(m) and m > 4",
]
OPTIONS = st.fixed_dictionaries(
    {
        "n": st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1),
        "small": st.integers(0, 200),
        "x": st.floats(-10, 10) | st.floats(allow_nan=False, allow_infinity=False),
        "price": st.floats(0, 100),
        "at_": st.integers(0, DAY - 1),
        "wait": st.integers(-DAY, DAY),
        "m": st.none() | st.integers(-10, 10),
    }
)


@example(  # minutes begin anew with each hour
    chosen=["at_.minute < 30"],
    option={"n": 0, "small": 0, "x": 0.0, "price": 0.0, "at_": 1_860_000_002, "wait": 0, "m": None},
)
@settings(max_examples=100, deadline=None)
@given(chosen=st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4, unique=True), option=OPTIONS)
def test_a_number_answers_as_the_place_in_whose_stretch_it_lies(chosen: list[str], option: dict[str, Any]) -> None:
    rules = "\n".join(f"rule r{n} on S {{ when {test} score 1 }}" for n, test in enumerate(chosen))
    program = compiled(f"{FIELDS}\n{rules}\nproperty p on S {{ expect score >= 0 }}")
    prover = Prover(program, program.schemas["S"], NOW)
    space = prover.space
    for (place, path), number in space.numbers.items():
        if place is not Place.OPTION or number not in space.stretches or option[path[0]] is None:
            continue
        value = option[path[0]]
        stretches = space.stretches[number]
        (home,) = [i for i, runs in enumerate(stretches) if any(low <= value <= high for low, high in runs)]
        assert space.axes[number].values[home] != (PHANTOM,)
        for _, expr, kind in space.survey.atoms:
            if kind.keys == ((place, path),):
                holds, over = space.tables[id(expr)]
                if not over.values[home]:
                    assert bool(holds.values[home]) == bool(value_of(expr, option))


SCORES = [
    "x * 0.5 - price",
    "-0.6 * ramp(price, 20, 80)",
    "ramp(price, 80, 20) + 0.1",
    "near(price, 50, 25) * -0.3",
    "near(at_, 23:00, 2h)",
    "near(wait, 1h, 30min) - 0.2",
    "abs(x) / 3",
    "clamp(x, -0.5, 0.5)",
    "min(x, price) + max(x, 0.25)",
    "if n > 3 then x else -price",
    "(m ?? 2) * 0.1",
    "floor(price) * 0.01",
    "wait.hours * 0.25",
    "price * x",
    "(wait / 1h) - 1.5",
]


@settings(max_examples=200, deadline=None)
@given(score=st.sampled_from(SCORES), one=OPTIONS, other=OPTIONS)
def test_a_score_lies_between_its_ends(score: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    """At both ends of every field, and at one and the other mixed."""
    program = compiled(f"{FIELDS}\nrule r on S {{ score {score} }}")
    expr = written_out(program.rules[0].score)
    present = {name: [v for v in (one[name], other[name]) if v is not None] or [0] for name in one}

    def known(field: Expr) -> Any:
        assert isinstance(field, p.OptionValue)
        values = present[field.path[0]]
        return min(values), max(values)

    ends = ends_of(expr, known)
    for options in (one, other, {**one, "x": other["x"]}, {**one, "price": other["price"], "wait": other["wait"]}):
        if options["m"] is None and "m" in score:
            continue
        try:
            value = value_of(expr, options)
        except Overflow:
            continue
        assert ends is None or ends[0] <= value <= ends[1]
