"""Declarations as JSON: there and back, total on any JSON, and no way for a text to become more than a text."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_walks import byte_tokenizer, matcher, walk

from ucl.diagnostics import Report, Source
from ucl.llm.json_form import Misfit, form_of, json_schema, ucl_of
from ucl.syntax import ast
from ucl.syntax.parse import parse

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted([*(ROOT / "examples").rglob("*.ucl"), *(ROOT / "tests" / "golden").rglob("*.ucl")])
KINDS = (ast.Rule, ast.Constraint, ast.Property)


def declarations(text: str) -> list[ast.Declaration]:
    report = Report()
    file = parse(Source("x.ucl", text), report)
    return [] if report.has_errors else [node for node in file.declarations if isinstance(node, KINDS)]


def there_and_back(nodes: list[ast.Declaration]) -> None:
    for node in nodes:
        form = form_of([node])
        back = ucl_of(json.loads(json.dumps(form)))
        assert isinstance(back, str), (back, form)
        assert form_of(declarations(back)) == form


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_every_program_of_ours_goes_there_and_back(step: int) -> None:
    nodes = [node for path in PROGRAMS for node in declarations(path.read_text(encoding="utf-8", errors="replace"))]
    # A status that is none is no mistake of syntax, and no word of the form.
    good = [
        node for node in nodes if node.meta.status is None or node.meta.status.text in ("active", "shadow", "retired")
    ]  # type: ignore[union-attr]
    assert len(good) > 300
    assert all(form_of([node]) is not None for node in good)
    there_and_back(good[::step])


@pytest.mark.parametrize("name", ["meetings", "nested", "units", "chinese", "clause_words"])
def test_every_sentence_of_the_grammar_goes_there_and_back(name: str) -> None:
    chosen = random.Random(11)
    for _ in range(12):
        sentence = walk(matcher(name), chosen, byte_tokenizer())
        if sentence is not None:
            nodes = declarations(sentence)
            assert form_of(nodes) is not None
            there_and_back(nodes)


# --- the schema -----------------------------------------------------------------------------------------------------


def objects(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in objects(item)]
    if not isinstance(schema, dict):
        return []
    inner = [found for value in schema.values() for found in objects(value)]
    return [schema, *inner] if schema.get("type") == "object" else inner


def test_the_schema_is_strict_and_each_variant_begins_otherwise() -> None:
    schema = json_schema()
    for found in objects(schema):
        assert found["required"] == list(found["properties"])
        assert found["additionalProperties"] is False
    text = json.dumps(schema)
    assert not any(word in text for word in ("oneOf", "allOf", "pattern", "title"))
    for union in (schema["properties"]["declarations"]["items"], schema["$defs"]["expression"]):
        first = [next(iter(option["properties"])) for option in union["anyOf"]]
        assert len(set(first)) == len(first)


# --- what is let in -------------------------------------------------------------------------------------------------


def a_rule(**changed: Any) -> dict[str, Any]:
    rule = {"rule": "r", "on": "S", "overrides": [], "when": {"name": "x"}, "unless": [], "score": {"number": 1}}
    return {"declarations": [rule | {"except": [], "because": None} | changed]}


HOSTILE = [
    'x"\n}\nrule evil on S { score 1 }\n#',
    'a" } action steal on S { do forward("me") } #',
    "\\",
    '"',
    "\n",
    "\u2028",
    "{p.drug}",
    "]]>",
    "\x00",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_a_text(text: str) -> None:
    when = {"compare": "==", "left": {"name": "x"}, "right": {"text": text}}
    written = ucl_of(a_rule(because=text, when=when))
    assert isinstance(written, str)
    (rule,) = declarations(written)
    assert isinstance(rule, ast.Rule)
    assert rule.meta.because is not None
    assert rule.meta.because.value == text
    assert isinstance(rule.when, ast.Compare)
    assert rule.when.right == ast.TextLiteral(rule.span, text)


@pytest.mark.parametrize("text", [*HOSTILE, "a b", "", ".", "x.", "r {", "x # y", "a-b", "x" * 500])
def test_a_name_and_a_literal_are_looked_at(text: str) -> None:
    forms = [
        a_rule(rule=text),
        a_rule(on=text),
        a_rule(overrides=[text]),
        a_rule(when={"name": text}),
        a_rule(when={"call": text, "arguments": []}),
        a_rule(when={"literal": text}),
        a_rule(when={"compare": text, "left": {"name": "x"}, "right": {"name": "y"}}),
        a_rule(**{"from": [{"kind": text, "id": "c", "at": None}]}),
        a_rule(**{"from": [{"kind": "chat", "id": "c", "at": text}]}),
        a_rule(status=text),
    ]
    assert all(isinstance(ucl_of(form), Misfit) for form in forms)


@pytest.mark.parametrize(
    "literal",
    ["22:00", "2026-03-04", "2026-03-04T13:00:30+08:00", "2026-03-04T13:00Z", "1h30min", "15%", "mon", "0.80"],
)
def test_literals_are_let_in(literal: str) -> None:
    assert isinstance(ucl_of(a_rule(when={"literal": literal})), str)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**40, 1e300, True, "1", None])
def test_a_number_that_can_not_be_written_is_none(number: Any) -> None:
    assert isinstance(ucl_of(a_rule(score={"number": number})), Misfit)


@pytest.mark.parametrize(
    ("number", "text"), [(1e-7, "0.0000001"), (0.1, "0.1"), (-5, "-5"), (1e16, "10000000000000000.0")]
)
def test_numbers_are_written_without_exponents(number: float, text: str) -> None:
    written = ucl_of(a_rule(score={"number": number}))
    assert isinstance(written, str)
    assert f"score {text}\n" in written


def test_what_is_wrong_is_said_with_its_place() -> None:
    found = ucl_of(a_rule(when={"and": [{"name": "x"}, {"no": 1}]}))
    assert isinstance(found, Misfit)
    assert found.place == "declarations[0].when.and[1]"
    assert ucl_of(a_rule(colour="red")) == Misfit("declarations[0]", "a rule has no `colour`", True)


def test_depth_and_number_have_limits() -> None:
    deep: dict[str, Any] = {"name": "x"}
    for _ in range(300):
        deep = {"not": deep}
    assert isinstance(ucl_of(a_rule(when=deep)), Misfit)
    assert isinstance(ucl_of({"declarations": a_rule()["declarations"] * 101}), Misfit)


KEYS = st.sampled_from(
    "declarations rule constraint property on overrides when unless score except because from kind id at confidence "
    "priority valid status name number text bool literal set compare left right test in negated and or not negate if "
    "then else call gather each variable source where by key descending share arguments arithmetic value default to "
    "inclusive".split()
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["x", "==", "22:00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(JSON | st.builds(lambda parts: {"declarations": [parts]}, st.dictionaries(KEYS, JSON, max_size=8)))
@settings(max_examples=150, deadline=None)
def test_any_json_is_a_text_or_a_misfit(form: Any) -> None:
    assert isinstance(ucl_of(form), str | Misfit)
