"""What is found again after an edit is what a fresh analysis finds, and nothing else is asked again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ucl.analysis.boxes import meetings
from ucl.analysis.findings import analyse
from ucl.analysis.recheck import Recheck
from ucl.analysis.scene.study import Study
from ucl.diagnostics import Diagnostic, Source
from ucl.driver import compile_program
from ucl.editing import Versions
from ucl.semantics.program import Program

NOW = 1_780_000_000_000_000
SCHEMAS = (
    'schema S { n: int in 0..=9  k: "a" | "b" | "c"  at: datetime  who: set<text>  t: time  p: float  q: float? }',
    'schema S { n: int in 0..=5  k: "a" | "b" | "c"  at: datetime  who: set<text>  t: time  p: float  q: float? }',
)
SURROUNDINGS = (
    "",
    "let few = 3\n",
    "let few = 4\n",
    'let few = 3\ntimezone "Europe/Berlin"\n',
    'let few = 3\ncontext { mood: "calm" | "busy" = "calm" }\n',
    "let few = 3\nresolve S by priority\n",
    "let few = 3\nresolve S by priority\n",
)
CONDITIONS = (
    "n > few",
    "n < few",
    "n > 3 and n < 2",
    "n in 2..5",
    'k == "a"',
    'k in {"a", "b"}',
    "at.time in 22:00..06:00",
    "at.weekday == fri",
    "at.date > 2026-07-01",
    "overlaps(who, few_people)",
    'overlaps(who, {"ann"})',
    '"cy" in who',
    "t in 09:00..12:00",
    "p + (q ?? 0.0) > 1.0",
    "p * p > 4.0",
    "present(q)",
    "lowest(p)",
)
SCORES = ("0.5", "-0.5", "0.25", "-0.75", "0.0", "0.1 * p", "if n > 4 then 0.5 else -0.5")
CLAUSES = ("", "priority 3", "unless n == 7", "except when n == 4 score -0.2", "valid 2027-01-01..", "status shadow")


@st.composite
def declarations(draw: st.DrawFn) -> str:
    """What follows a declaration's name; overriding is left to the program."""
    condition = " and ".join(draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=2, unique=True)))
    match draw(st.sampled_from(["rule"] * 6 + ["constraint", "action"])):
        case "constraint":
            return f"constraint NAME on S {{ forbid when {condition} }}"
        case "action":
            effect = draw(st.sampled_from(('tag("x")', 'tag("y")')))
            return f"action NAME on S {{ when {condition} do {effect} }}"
        case _:
            clause = draw(st.sampled_from(CLAUSES))
            return f"rule NAME on S OVER {{ when {condition} score {draw(st.sampled_from(SCORES))} {clause} }}"


def written(schema: str, around: str, named: list[tuple[str, str]], overridden: dict[str, str]) -> str:
    """A program of declarations by name, each of which may override one that is there and of its kind."""
    rules = {name for name, body in named if body.startswith("rule")}
    lines = []
    for name, body in named:
        other = overridden.get(name)
        over = f"overrides {other}" if other in rules and other < name else ""
        lines.append(body.replace("NAME", name).replace("OVER", over))
    head = 'let few_people = {"ann", "bo"}\neffect tag(label: text)\n' + (
        around if "few =" in around else "let few = 2\n"
    )
    return "\n".join([head + schema, *lines]) + "\n"


def said(found: list[Diagnostic]) -> list[Any]:
    return [(d.as_json(), [(note.message, note.span.in_document.start) for note in d.notes]) for d in found]


def check_versions(data: st.DataObject) -> None:
    versions, recheck = Versions(), Recheck()
    schema, around = SCHEMAS[0], SURROUNDINGS[1]
    names = [f"r{number}" for number in range(30)]
    named = [
        (names.pop(0), body) for body in data.draw(st.lists(declarations(), min_size=2, max_size=7), label="first")
    ]
    overridden: dict[str, str] = {}
    for _ in range(data.draw(st.integers(2, 5), label="edits")):
        text = written(schema, around, named, overridden)
        checked, report = versions.check(Source("p.ucl", text))
        assert checked is not None, list(report)
        tensions = data.draw(st.booleans(), label="tensions")
        fresh = analyse(compile_program(Source("p.ucl", text)), NOW, tensions)
        assert said(recheck.findings(checked[0], NOW, tensions)) == said(fresh)
        place = data.draw(st.integers(0, len(named) - 1), label="place")
        match data.draw(st.sampled_from(("add", "drop", "change", "swap", "override", "schema", "around", "lines"))):
            case "add":
                named.insert(place, (names.pop(0), data.draw(declarations())))
            case "drop" if len(named) > 1:
                named.pop(place)
            case "change":
                named[place] = named[place][0], data.draw(declarations())
            case "swap":
                named[place], named[0] = named[0], named[place]
            case "override":
                overridden[named[place][0]] = data.draw(st.sampled_from([name for name, _ in named]))
            case "schema":
                schema = data.draw(st.sampled_from(SCHEMAS))
            case "around":
                around = data.draw(st.sampled_from(SURROUNDINGS))
            case _:
                schema = "\n# moved\n" + schema.removeprefix("\n# moved\n")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_is_found_again_is_what_a_fresh_analysis_finds(data: st.DataObject) -> None:
    check_versions(data)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_so_it_is_where_boxes_are_met_by_words(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meetings, "FEW", 0)
        check_versions(data)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_so_it_is_for_many_more(data: st.DataObject) -> None:
    check_versions(data)


# --- what is asked again --------------------------------------------------------------------------------------------

HEADER = "schema S { n: int in 0..=99  m: int in 0..=99 }\n"
RULES = [
    f"rule r{i} on S {{ when n in {i % 3 * 10}..{i % 5 * 10 + 30} and m >= {i % 9 * 10} score {(-1) ** i * 0.1} }}"
    for i in range(200)
]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that are put to regions from now on."""
    asked: list[str] = []

    def noting(name: str) -> None:
        ask = getattr(Study, name)

        def ask_noted(self: Study, *arguments: Any) -> Any:
            asked.append(name)
            return ask(self, *arguments)

        monkeypatch.setattr(Study, name, ask_noted)

    for name in ("left_of", "is_empty"):
        noting(name)
    return asked


def version(versions: Versions, rules: list[str]) -> Program:
    checked, report = versions.check(Source("p.ucl", HEADER + "\n".join(rules) + "\n"))
    assert checked is not None, list(report)
    return checked[0]


def test_an_edit_asks_of_the_rule_that_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    versions, recheck = Versions(), Recheck()
    program = version(versions, RULES)
    recheck.findings(program, NOW)
    asked = counted(monkeypatch)
    recheck.findings(program, NOW)
    assert asked == []
    changed = [*RULES[:150], RULES[150].replace("score 0.1", "score 0.2"), *RULES[151:]]
    recheck.findings(version(versions, changed), NOW)
    again = len(asked)
    analyse(version(Versions(), changed), NOW)
    assert again * 20 < len(asked) - again


def test_a_program_of_other_objects_is_analysed_afresh() -> None:
    recheck = Recheck()
    text = HEADER + "\n".join(RULES[:40]) + "\n"
    first, second = (compile_program(Source("p.ucl", text)) for _ in range(2))
    assert said(recheck.findings(first, NOW)) == said(recheck.findings(second, NOW)) == said(analyse(second, NOW))


def test_another_moment_is_another_question() -> None:
    rules = "rule a on S { when n > 1 score 0.5 valid ..2026-07-01 }\nrule b on S { when n > 2 score -0.5 }\n"
    text = "schema S { n: int }\n" + rules
    program, recheck, later = compile_program(Source("p.ucl", text)), Recheck(), NOW + 400 * 86_400_000_000
    for moment in (NOW, later, NOW):
        assert said(recheck.findings(program, moment)) == said(analyse(program, moment))
    assert said(analyse(program, NOW)) != said(analyse(program, later))


def test_spent_budgets_leave_the_same_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucl.analysis.scene.study.Study._left", 400)
    versions, recheck = Versions(), Recheck()
    for rules in (RULES[:60], [*RULES[:30], *RULES[31:60]], RULES[:60]):
        program = version(versions, rules)
        assert said(recheck.findings(program, NOW)) == said(analyse(program, NOW))
