"""What conditions let others know: presence and zero, through and, or, not and if."""

from __future__ import annotations

import itertools

import pytest
from expression_places import NOWHERE, condition, constant
from hypothesis import given
from hypothesis import strategies as st

from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions.constants import COMPARISONS
from ucl.semantics.check.expressions.facts import IMPOSSIBLE, NO_FACTS, Facts, outlook, path_of
from ucl.semantics.types import BOOL, INT

NAMES = ("a", "b", "c")


def value(name: str) -> p.OptionValue:
    return p.OptionValue(t.Optional(INT), NOWHERE, (name,))


def present(name: str) -> p.Present:
    return p.Present(BOOL, NOWHERE, value(name))


def conditions() -> st.SearchStrategy[p.Expr]:
    leaves: st.SearchStrategy[p.Expr] = st.one_of(
        st.sampled_from(NAMES).map(present), st.booleans().map(lambda b: constant(BOOL, b))
    )

    def deeper(inner: st.SearchStrategy[p.Expr]) -> st.SearchStrategy[p.Expr]:
        operands = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            inner.map(lambda e: p.Not(BOOL, NOWHERE, e)),
            operands.map(lambda es: p.And(BOOL, NOWHERE, es)),
            operands.map(lambda es: p.Or(BOOL, NOWHERE, es)),
            st.tuples(inner, inner, inner).map(lambda es: p.If(BOOL, NOWHERE, *es)),
        )

    return st.recursive(leaves, deeper, max_leaves=8)


def holds(expr: p.Expr, there: frozenset[str]) -> bool:
    match expr:
        case p.Present(value=p.OptionValue(path=(name,))):
            return name in there
        case p.Const(value=bool(known)):
            return known
        case p.Not(operand=operand):
            return not holds(operand, there)
        case p.And(operands=operands):
            return all(holds(operand, there) for operand in operands)
        case p.Or(operands=operands):
            return any(holds(operand, there) for operand in operands)
        case p.If(condition=test, then=then, otherwise=otherwise):
            return holds(then if holds(test, there) else otherwise, there)
        case _:
            raise AssertionError(expr)


def known_if(expr: p.Expr, wanted: bool) -> Facts:
    found = outlook(expr)
    return found.when_true if wanted else found.when_false


WORLDS = [frozenset(some) for size in range(4) for some in itertools.combinations(NAMES, size)]


@given(conditions(), st.booleans())
def test_what_is_known_is_so_wherever_the_condition_holds(expr: p.Expr, wanted: bool) -> None:
    facts = known_if(expr, wanted)
    for there in WORLDS:
        if holds(expr, there) is wanted:
            assert not facts.impossible
            assert {path[1] for path in facts.present} <= there


@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4))
def test_a_conjunction_says_all_and_its_negation_nothing(names: list[str]) -> None:
    both = p.And(BOOL, NOWHERE, tuple(present(name) for name in names))
    assert known_if(both, True) == Facts(present=frozenset(("option", name) for name in names))
    if len(set(names)) > 1:
        assert not known_if(both, False).present


@pytest.mark.parametrize(
    ("text", "where_true", "where_false"),
    [
        ("present(rating)", {"rating"}, set()),
        ("absent(rating)", set(), {"rating"}),
        ("not absent(rating)", {"rating"}, set()),
        ("present(rating) and n > 3", {"rating"}, set()),
        ("absent(rating) or absent(note)", set(), {"rating", "note"}),
        ("present(rating) and n > 3 or present(rating) and n < 2", {"rating"}, set()),
        ("present(rating) or present(note)", set(), set()),
        ("if present(rating) then n > 3 else false", {"rating"}, set()),
        ("if b then present(rating) else present(rating) and c", {"rating"}, set()),
        ("(present(rating) or b) and (present(rating) or not b)", set(), set()),
        ("present(rating) == true", set(), set()),
        ("present(n / m)", set(), set()),
    ],
)
def test_presence(text: str, where_true: set[str], where_false: set[str]) -> None:
    checked, _ = condition(text)
    assert {path[1] for path in checked.when_true.facts.present} == where_true
    assert {path[1] for path in checked.when_false.facts.present} == where_false


@pytest.mark.parametrize("operator", list(COMPARISONS))
@pytest.mark.parametrize("bound", [-1, 0, 1])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_a_comparison_with_a_constant_says_not_zero_exactly_where_zero_is_out(
    operator: str, bound: int, turned: bool, wanted: bool
) -> None:
    checked, _ = condition(f"{bound} {operator} n" if turned else f"n {operator} {bound}")
    at_zero = COMPARISONS[operator](bound, 0) if turned else COMPARISONS[operator](0, bound)
    facts = (checked.when_true if wanted else checked.when_false).facts
    assert facts.knows_nonzero(("option", "n")) is (at_zero is not wanted)


@pytest.mark.parametrize(
    ("guard", "divides"),
    [
        ("m != 0", True),
        ("not m == 0", True),
        ("0 < m", True),
        ("m in 1..5", True),
        ("m in 1..", True),
        ("m in ..0", True),
        ("m not in {0}", True),
        ("m in {1, 2}", True),
        ("m not in -1..=1", True),
        ("m == five", True),
        ("m != 0 and n > 3", True),
        ("n > 3 and m > 0", True),
        ("m >= 0", False),
        ("m in ..=0", False),
        ("m in 0..5", False),
        ("m in {0, 1}", False),
        ("m > n and n > 0", False),
        ("m + 1 > 1", False),
        ("m in 1..n", False),
        ("m != 0 or n > 3", False),
        ("-m != 0", False),
    ],
)
def test_guards_of_a_divisor(guard: str, divides: bool) -> None:
    checked, found = condition(f"({guard}) and n / m > 2")
    assert [d.code for d in found] == ([] if divides else ["absent-unhandled"])
    assert isinstance(checked.expr.type, t.Unknown) is not divides


@pytest.mark.parametrize(
    ("divisor", "type"),
    [("m", "float?"), ("k", "float"), ("4", "float"), ("0", "float?"), ("five", "float"), ("(k + 1)", "float?")],
)
def test_a_quotient_is_there_where_the_divisor_is_seen_not_to_be_zero(divisor: str, type: str) -> None:
    checked, _ = condition(f"present(n / {divisor})")
    (test,) = [checked.expr]
    assert isinstance(test, p.Present)
    assert str(test.value.type) == type


def test_the_or_of_a_zero_test_guards_what_follows() -> None:
    assert condition("m == 0 or n / m > 2")[1] == []
    assert [d.code for d in condition("m == 0 and n / m > 2")[1]] == ["absent-unhandled"]


def test_facts_come_in_from_around_and_go_out() -> None:
    checked, _ = condition("present(rating)")
    assert checked.when_true.facts.knows_present(("option", "rating"))
    assert not checked.when_false.facts.knows_present(("option", "rating"))


def test_a_wrong_test_of_presence_silences_what_hangs_on_it() -> None:
    checked, found = condition("present(ratingg) and rating > 3")
    assert [d.code for d in found] == ["unknown-name"]
    assert checked.when_true.facts is IMPOSSIBLE


def test_a_mistake_elsewhere_silences_nothing() -> None:
    _, found = condition('n < "x" and rating > 3')
    assert [d.code for d in found] == ["type-mismatch", "absent-unhandled"]


def test_nothing_is_known_of_a_variable_outside_its_comprehension() -> None:
    text = "any(v in trips where present(v.stars)) and any(v in trips where v.stars > 3)"
    assert [d.code for d in condition(text)[1]] == ["absent-unhandled"]


def test_where_tells_the_value_and_the_keys() -> None:
    text = "(first(v.stars for v in trips where present(v.stars) by v.stars) ?? 0) > 3"
    assert condition(text)[1] == []


def test_a_batch_builtin_knows_nothing_from_around() -> None:
    assert [d.code for d in condition("present(rating) and lowest(rating)")[1]] == ["absent-unhandled"]


def test_paths_are_what_they_mean_not_where_they_stand() -> None:
    member = p.Member(INT, NOWHERE, p.Variable(INT, NOWHERE, "v"), "stars")
    assert path_of(member) == ("variable", "v", "stars")
    assert path_of(p.Not(BOOL, NOWHERE, present("a"))) is None
    assert condition("present(option.rating) and rating > 3")[1] == []


@given(conditions(), st.booleans())
def test_the_algebra(expr: p.Expr, wanted: bool) -> None:
    facts = known_if(expr, wanted)
    assert facts | NO_FACTS == facts == NO_FACTS | facts
    assert facts & IMPOSSIBLE == facts == IMPOSSIBLE & facts
    assert facts | IMPOSSIBLE == IMPOSSIBLE
    assert not (facts & NO_FACTS).present


def test_a_deep_nest_of_conditions_costs_no_more_than_its_length() -> None:
    expr: p.Expr = present("a")
    for level in range(90):
        parts = (present("b"), expr)
        match level % 3:
            case 0:
                expr = p.And(BOOL, NOWHERE, parts)
            case 1:
                expr = p.Or(BOOL, NOWHERE, parts)
            case _:
                expr = p.If(BOOL, NOWHERE, expr, present("c"), expr)
    assert not outlook(expr).when_true.impossible


def test_the_number_of_facts_at_a_place_is_bounded() -> None:
    many = p.And(BOOL, NOWHERE, tuple(present(f"x{i}") for i in range(8000)))
    assert len(outlook(many).when_true.present) == 5001


def test_a_long_and_is_followed_without_recursion() -> None:
    """Each operand knows what all before it say, and only the last asks."""
    operands = [*(f"n > {i}" for i in range(3000)), "present(rating)", "1 / n > 0.0", "rating > 1"]
    assert condition(" and ".join(operands))[1] == []
    assert [found.code for found in condition(" and ".join(["rating > 1", *operands]))[1]] == ["absent-unhandled"]
