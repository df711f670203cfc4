"""The terminals of the typed sub-grammar: literals that exist, ranges that hold something, names that are new."""

from __future__ import annotations

import re
from datetime import date
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_programs import MEETINGS, PROGRAMS, large
from typed_walks import accepts, errors_in, grammar_text, matcher, rule

from ucl.llm.grammar import Target, written
from ucl.llm.grammar.forms import Grammar
from ucl.llm.grammar.names import new_names
from ucl.syntax.reading.lexer import RESERVED

# --- literals -------------------------------------------------------------------------------------------------------


@cache
def terminal(name: str, program: str = "nested") -> re.Pattern[str]:
    """A terminal as Lark's text of the grammar has it."""
    (pattern,) = re.findall(rf"^{name}: /(.*)/$", grammar_text(*PROGRAMS[program], Target.LARK), re.MULTILINE)
    return re.compile(pattern)


def test_dates_are_the_days_there_are() -> None:
    def exists(year: int, month: int, day: int) -> bool:
        try:
            date(year, month, day)
        except ValueError:
            return False
        return True

    days = ((y, m, d) for y in range(1900, 2200) for m in range(14) for d in range(33))
    wrong = [d for d in days if bool(terminal("DATE").fullmatch("{:04}-{:02}-{:02}".format(*d))) != exists(*d)]
    assert wrong == []


def test_times_are_those_of_a_day() -> None:
    for hour in range(30):
        for minute in range(70):
            found = terminal("TIME").fullmatch(f"{hour:02}:{minute:02}")
            assert bool(found) == (hour < 24 and minute < 60)


@settings(deadline=None)
@given(st.integers(0, 1439), st.integers(0, 1439))
def test_ranges_of_times_have_two_ends(a: int, b: int) -> None:
    text = f"{a // 60:02}:{a % 60:02}..{b // 60:02}:{b % 60:02}"
    found = bool(terminal("TIME_RANGE").fullmatch(text))
    assert found == (a != b)


@settings(deadline=None)
@given(st.integers(-2000, 20000), st.integers(-2000, 20000), st.sampled_from(["..", "..="]))
def test_ranges_of_ints_are_not_empty(a: int, b: int, dots: str) -> None:
    found = bool(terminal("INT_RANGE").fullmatch(f"{a}{dots}{b}"))
    assert not found or a < b
    if 0 <= a < b and (b < 100 or len(str(a)) < len(str(b))):
        assert found


@settings(deadline=None)
@given(st.decimals(-50, 2000, places=2), st.decimals(-50, 2000, places=2))
def test_ranges_of_floats_are_not_empty(a: object, b: object) -> None:
    if terminal("FLOAT_RANGE").fullmatch(f"{a}..{b}"):
        assert float(str(a)) < float(str(b))


MINUTES = {"min": 1, "h": 60, "d": 1440}


@settings(deadline=None)
@given(st.integers(0, 2000), st.integers(0, 2000), st.sampled_from([*MINUTES]), st.sampled_from([*MINUTES]))
def test_ranges_of_durations_are_not_empty(a: int, b: int, low: str, high: str) -> None:
    found = bool(terminal("DURATION_RANGE").fullmatch(f"{a}{low}..{b}{high}"))
    assert not found or a * MINUTES[low] < b * MINUTES[high]


@settings(deadline=None)
@given(st.from_regex(r"-?[0-2]\.?[0-9]{0,4}%?", fullmatch=True))
def test_scores_are_within_one(text: str) -> None:
    if terminal("SCORE", "meetings").fullmatch(text):
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        assert -1 <= value <= 1


@pytest.mark.parametrize("name", ["meetings", "nested", "large"])
def test_a_terminal_takes_its_longest_form_first(name: str) -> None:
    """Lark matches terminals with Python's regular expressions, which take the first alternative that fits."""
    grammar = grammar_text(*PROGRAMS[name], Target.LARK)
    samples = [
        "13:00..14:00",
        "3..=12",
        "1h30min",
        "100..",
        "10",
        "1_000",
        "0.25",
        "<=",
        "2026-03-04T13:00:30Z",
        "..=5",
    ]
    for pattern in re.findall(r"^[A-Z_0-9]+: /(.*)/$", grammar, re.MULTILINE):
        for text in samples:
            if re.fullmatch(pattern, text):
                found = re.match(pattern, text)
                assert found is not None
                assert found[0] == text, pattern[:80]


# --- names ----------------------------------------------------------------------------------------------------------


def allowed_as_name(start: object, name: str) -> bool:
    return accepts(start, f"rule {name} on S {{\n  score 0.5\n}}")


NAMES = st.text("aelnrtuv_", min_size=1, max_size=9).filter(lambda n: not n.startswith(("new", "second_")))


@settings(deadline=None)
@given(st.sets(NAMES, max_size=6), NAMES)
def test_all_names_are_new_ones_but_those_that_are_taken(taken: set[str], name: str) -> None:
    pattern = _as_pattern(frozenset(taken))
    assert bool(pattern.fullmatch(name)) == (name not in taken | RESERVED)


@cache
def _as_pattern(taken: frozenset[str]) -> re.Pattern[str]:
    text = written(Grammar({}, {"NAME": new_names(taken)[0]}), Target.LARK)
    return re.compile(text.removeprefix("NAME: /").removesuffix("/\n"))


def test_with_very_many_rules_there_is_a_prefix_for_names_that_begin_like_theirs() -> None:
    start = matcher("large")
    taken = re.findall(r"rule (\w+) on", large())
    assert len(taken) == 200
    assert not any(allowed_as_name(start, name) for name in taken)
    assert allowed_as_name(start, "r")
    assert all(allowed_as_name(start, f"new_{name}") for name in taken)
    assert errors_in(large(), f"rule new_{taken[0]} on S {{ score 0.5 }}") == []


@pytest.mark.parametrize("name", ["remote", "contains", "decision", "when", "now", "count", "score", "kind"])
def test_a_rule_may_be_called_like_anything_else(name: str) -> None:
    """Only what is in the module's own table of names is taken."""
    text = rule("remote").replace("rule r ", f"rule {name} ")
    assert accepts(matcher("meetings"), text)
    assert errors_in(MEETINGS, text) == []
    others = rule('remote and contains(title, kind) and size(attendees) > 1 and option.kind == "other"')
    assert errors_in(MEETINGS, f"{text}\n{others.replace('rule r ', 'rule s ')}") == []


@pytest.mark.parametrize("name", ["避开早会", "Über_mittag", "_x", "R2"])
def test_names_may_be_of_any_script(name: str) -> None:
    text = rule("远程", on="会议").replace("rule r ", f"rule {name} ")
    assert accepts(matcher("chinese"), text)
    assert errors_in(PROGRAMS["chinese"][0], text) == []


def test_taken_names_of_any_script_are_taken() -> None:
    for name in ("避开", "避开午饭", "贵宾"):
        assert not accepts(matcher("chinese"), rule("远程", on="会议").replace("rule r ", f"rule {name} "))
    assert accepts(matcher("chinese"), rule("远程", on="会议").replace("rule r ", "rule 避开午 "))
