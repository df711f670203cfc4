"""Declarations and bodies: what a right one means, and what is said of a wrong one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from checking import check_text
from hypothesis import given
from hypothesis import strategies as st

from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.graph import components, cycles
from ucl.semantics.program import Resolution, Status, Validity

BAD = sorted((Path(__file__).parent / "golden" / "bad").glob("declarations*.ucl"))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_each_mistake_is_said_once_where_it_stands(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wanted = [
        (number, *line.split("### ", 1)[1].partition(": ")[::2])
        for number, line in enumerate(text.splitlines(), 1)
        if "### " in line
    ]
    found = [(d.span.line, d.code, d.message) for d in check_text(text, str(path)).report]
    assert [(line, code) for line, code, _ in found] == [(line, code) for line, code, _ in wanted]
    for (_, _, message), (line, _, part) in zip(found, wanted):
        assert part in message, line


# --- order and recursion --------------------------------------------------------------------------------------------


def test_declarations_stand_in_any_order() -> None:
    program = check_text("""
        rule r on S { when twice(n) > b score 0.5 }
        def twice(x: int) -> int = double(x)
        let b = a + 1
        schema S { n: int = b  inner: Inner }
        schema Inner { k: int }
        def double(x: int) -> int = x * a
        let a = 2
    """).right
    assert isinstance(program.lets["b"].value, p.Const)
    assert program.lets["b"].value.value == 3
    default = program.schemas["S"].fields[0].default
    assert isinstance(default, p.Const)
    assert default.value == 3


def test_long_chains_of_lets_need_no_stack() -> None:
    chain = "\n".join(f"let a{i} = a{i + 1} + 1" for i in range(3000))
    program = check_text(chain + "\nlet a3000 = 0").right
    assert isinstance(program.lets["a0"].value, p.Const)
    assert program.lets["a0"].value.value == 3000


@pytest.mark.parametrize(
    "text",
    [
        "let a = a + 1",
        "def f(n: int) -> int = f(n)",
        "def f() -> int = g()\ndef g() -> int = f()",
        "schema S { inner: S? }",
        "schema S { inner: T }\nschema T { inner: S }",
        "let a = b\nlet b = c\nlet c = a",
        "let a = n context { n: int = a }",
        "memory m: int = f()\ndef f() -> int = m",
        "def f(n: int) -> int = f(n) + unknown",
    ],
)
def test_what_needs_itself_is_one_message(text: str) -> None:
    assert check_text(text + "\nlet z = 1").errors == [("recursion", 1)]


@pytest.mark.parametrize("default", ["n", "context.n", "now", "m", "f()"])
def test_a_default_of_the_context_is_constant(default: str) -> None:
    text = f"context {{ a: int  n: int = {default} }}\nmemory m: int\ndef f() -> int = m"
    assert check_text(text.replace("n: int = now", "n: datetime = now")).errors == [("not-constant", 1)]


def test_recursion_names_all_and_silences_uses() -> None:
    result = check_text("let a = b\nlet b = a\nschema S { n: int }\nrule r on S { when n > a score 0.5 }")
    assert "`a` and `b` are defined by each other" in result.only.message
    assert [note.message for note in result.only.notes] == ["`b` takes part"]
    assert result.program is not None
    assert result.program.rules == ()


def test_a_parameter_hides_no_recursion_and_makes_none() -> None:
    assert check_text("def f(g: int) -> int = g\ndef g(f: int) -> int = f").found == []


def test_defs_that_double_are_too_large() -> None:
    defs = "\n".join(f"def f{i}(x: int) -> int = f{i + 1}(x) + f{i + 1}(x)" for i in range(20))
    result = check_text(defs + "\ndef f20(x: int) -> int = x")
    assert [code for code, _ in result.errors] == ["too-large"]


def test_a_long_chain_of_defs_is_too_deep() -> None:
    defs = "\n".join(f"def f{i}(x: int) -> int = f{i + 1}(x)" for i in range(400))
    result = check_text(defs + "\ndef f400(x: int) -> int = x")
    assert [code for code, _ in result.errors] == ["too-deep"]


def test_a_def_cannot_read_the_option() -> None:
    found = check_text("schema S { n: int }\ndef f() -> bool = n > 3").only
    assert found.code == "unknown-name"
    assert found.help is not None
    assert "give it a parameter" in found.help


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4)))
def test_components_come_after_what_they_need(graph: dict[int, list[int]]) -> None:
    def needs(node: int) -> list[int]:
        return graph.get(node, [])

    def reached(node: int) -> set[int]:
        seen: set[int] = set()
        work = [node]
        while work:
            for other in needs(work.pop()):
                if other not in seen:
                    seen.add(other)
                    work.append(other)
        return seen

    found = components(graph, needs)
    members = [node for component in found for node in component]
    assert len(members) == len(set(members))
    assert set(members) == set(graph).union(*(reached(node) for node in graph))
    place = {node: index for index, component in enumerate(found) for node in component}
    for node in members:
        assert all(place[other] <= place[node] for other in needs(node))
        assert {o for o in reached(node) if node in reached(o)} | {node} == set(found[place[node]])
    assert {frozenset(c) for c in cycles(graph, needs)} == {
        frozenset(found[place[n]]) for n in members if n in reached(n)
    }


# --- dimensions and types -------------------------------------------------------------------------------------------


def test_units_are_exact_and_go_through_each_other() -> None:
    program = check_text("dimension effort { sprint = 10task, task, epic = 2.5sprint1task, tick = 0.001task }").right
    units = {unit.name: unit.factor for unit in program.dimensions["effort"].units}
    assert list(units) == ["task", "sprint", "epic", "tick"]
    assert units == {"task": 1, "sprint": 10, "epic": 26, "tick": Fraction(1, 1000)}


def test_a_chain_of_units_cannot_grow_without_end() -> None:
    units = ", ".join(f"u{chr(97 + i)} = 1.{'0' * 30}1u{chr(96 + i)}" for i in range(1, 25))
    result = check_text(f"dimension d {{ ua, {units} }}")
    assert [code for code, _ in result.errors] == ["too-large"]


def test_types_as_written() -> None:
    program = check_text("""
        dimension length { m }
        schema Inner { n: int }
        schema S {
          a: "x" | "y"  b: set<"x" | "y">  c: length?  d: Inner?  e: set<weekday> = {mon}  f: weekday
        }
        memory rows: list<Inner>
        memory tags: set<text> = {}
    """).right
    inner = program.schemas["Inner"]
    closed = t.Closed(("x", "y"))
    assert [field.type for field in program.schemas["S"].fields] == [
        closed,
        t.Set(closed),
        t.Optional(t.Quantity(program.dimensions["length"])),
        t.Optional(t.Record(inner)),
        t.Set(t.WEEKDAY),
        t.WEEKDAY,
    ]
    assert [memory.type for memory in program.memory] == [t.List(t.Record(inner)), t.Set(t.TEXT)]


def test_fields_as_written() -> None:
    program = check_text("""
        import std.units (length)
        schema S {
          far: length in 0m..10km from "Distance (km)" unit km
          # How long.
          lasts: duration unit min = 30min
          late: time in 22:00..24:00 = 23:00
          day: weekday in fri..=mon = sun
          when_: datetime in 2026-01-01T00:00.. = 2026-03-01T12:00
          kind: "a" | "b" | "c" in {"a", "b"} = "a"
          share: float in 0..=1 = 1
        }
    """).right
    far, lasts, late, day, when, kind, share = program.schemas["S"].fields
    assert (far.column, far.unit) == ("Distance (km)", t.Unit("km", Fraction(1000)))
    assert isinstance(far.domain, p.RangeDomain)
    assert [end.value for end in (far.domain.low, far.domain.high) if isinstance(end, p.Const)] == [0.0, 10000.0]
    assert (lasts.doc, lasts.column) == ("How long.", "lasts")
    assert lasts.unit is not None
    assert lasts.unit.factor == 60 * t.SECOND
    assert isinstance(late.domain, p.RangeDomain)
    assert isinstance(late.domain.high, p.Const)
    assert late.domain.high.value == t.DAY
    assert isinstance(day.domain, p.RangeDomain)
    assert day.domain.wraps
    assert isinstance(when.default, p.LocalInstant)
    assert kind.domain == p.SetDomain(frozenset({"a", "b"}))
    assert isinstance(share.default, p.Const)
    assert isinstance(share.default.value, float)


def test_a_domain_of_dates_is_no_condition() -> None:
    assert check_text("schema S { day: date in 2026-01-01..2027-01-01 }").found == []


def test_lets_that_depend_on_the_zone_stay_lets() -> None:
    program = check_text("let start = 2026-03-04T13:00\nlet later = start + 1h\nlet days = 1d * 2").right
    assert isinstance(program.lets["start"].value, p.LocalInstant)
    assert not isinstance(program.lets["later"].value, p.Const)
    assert isinstance(program.lets["days"].value, p.Const)


def test_range_lets_are_constant_and_of_one_type() -> None:
    assert check_text("let a = 1..limit\nmemory limit: int").errors == [("not-constant", 1)]
    for type in ("int", "time", "text", "Nothing"):
        found = check_text(f"let b: {type} = 1..3\nmemory m: int = 1\ndef f() -> bool = m in b").only
        assert (found.code, found.help) == ("type-mismatch", f"leave `: {type}` out")


def test_a_let_may_name_another_that_is_a_range() -> None:
    lets = "let b = a\nlet a = 1..3\nimport std.dayparts\nlet late = dayparts.night\nmemory m: int = 1\n"
    assert check_text(lets + "def f() -> bool = m in b and now.time in late").found == []
    assert check_text("let a = 3..\nlet b: int = a").only.help == "leave `: int` out"
    assert check_text("let a = b\nlet b = a").errors == [("recursion", 1)]


def test_a_range_is_no_value() -> None:
    result = check_text("memory m: int = 1\nlet a = 1..3\nlet b = a + 1\ndef f() -> bool = m in a")
    assert result.errors == [("type-mismatch", 3)]


# --- bodies ---------------------------------------------------------------------------------------------------------

SCHEMA = "schema S { n: int  k: int  m: int?  start: datetime }\n"


def test_a_rule_as_written() -> None:
    program = check_text(
        SCHEMA
        + """let sure = 0.5
        # What it is for.
        rule r on S {
          when n > 3 unless k == 4 unless k == 5 score n
          except when k > 9 score 0.25
          because "x" from chat "c1" at 2026-03-04 from email "e1" at 2026-03-04T13:00Z
          confidence sure priority 3 valid 2026-03-04..=2026-03-31 status shadow
        }"""
    ).right
    (rule,) = program.rules
    assert rule.meta == p.Meta(
        because="x",
        sources=(p.Provenance("chat", "c1", "2026-03-04"), p.Provenance("email", "e1", "2026-03-04T13:00Z")),
        confidence=0.5,
        priority=3.0,
        valid=Validity(20516, 20544),
        status=Status.SHADOW,
    )
    assert rule.score.type == t.FLOAT
    assert (rule.doc, len(rule.unless), len(rule.exceptions)) == ("What it is for.", 2, 1)


@pytest.mark.parametrize(
    ("written", "first", "end"),
    [
        ("2026-03-04..2026-03-05", 20516, 20517),
        ("2026-03-04..=2026-03-04", 20516, 20517),
        ("2026-03-04..", 20516, None),
        ("..2026-03-04", None, 20516),
        ("..=2026-03-04", None, 20517),
        ("march", 20513, 20544),
    ],
)
def test_the_end_of_valid_is_left_out(written: str, first: int | None, end: int | None) -> None:
    text = f"let march = 2026-03-01..2026-04-01\n{SCHEMA}rule r on S {{ score 1 valid {written} }}"
    program = check_text(text).program
    assert program is not None
    assert program.rules[0].meta.valid == Validity(first, end)


@pytest.mark.parametrize(
    "clauses",
    [
        "when present(m) score m",
        "score m when present(m)",
        "score m unless absent(m)",
        "unless m > 3 when present(m) score 0.5",
        "unless absent(m) unless m > 3 score 0.5",
        "when present(m) score 0.5 except when m > 3 score 0.25",
        "score 0.5 except when present(m) score m",
        "score m except when k > 3 score 0.5 when present(m)",
    ],
)
def test_what_is_known_holds_in_the_other_clauses(clauses: str) -> None:
    assert check_text(f"{SCHEMA}rule r on S {{ {clauses} }}").errors == []


@pytest.mark.parametrize(
    "clauses",
    [
        "score m",
        "when absent(m) score m",
        "score m except when present(m) score 0.5",
        "unless present(m) score m",
        "score 0.5 unless m > 3 unless absent(m)",
        "when present(m) or k > 3 score m",
    ],
)
def test_what_is_not_known_may_be_absent(clauses: str) -> None:
    assert check_text(f"{SCHEMA}rule r on S {{ {clauses} }}").errors == [("absent-unhandled", 2)]


def test_constraints_and_actions_and_alerts_know_their_when() -> None:
    text = (
        SCHEMA
        + """effect e(n: int)
        memory rows: list<S>
        constraint c on S { require m > 3 when present(m) unless m == 9 }
        constraint d on S { forbid when present(m) and m > 3 unless m == 5 }
        action a on S { do e(m) when present(m) except when m > 3 do nothing unless m == 4 }
        alert w for p in rows { say "{p.m} {{m}} }" when present(p.m) unless p.m == 3 }
        property q on S { expect m > 3 given present(m) }
    """
    )
    program = check_text(text).right
    forbid, require = program.constraints[1], program.constraints[0]
    assert forbid.require is None
    assert require.require is not None
    assert program.actions[0].exceptions[0].calls == ()
    (alert,) = program.alerts
    assert [part if isinstance(part, str) else type(part) for part in alert.say] == [p.Member, " {m} }"]
    assert (alert.memory, alert.variable, alert.severity) == ("rows", "p", "warning")


@pytest.mark.parametrize(
    "say",
    ["{p.n", "{}", "{p.}", "{p.n + 1}", "{f(p)}", "{1}", "{p..n}", "{p.n:>10}", "{" + "p." * 150 + "n}"],
)
def test_only_paths_stand_between_braces(say: str) -> None:
    text = f'{SCHEMA}memory rows: list<S>\nalert w for p in rows {{ say "{say}" }}'
    assert check_text(text).errors == [("syntax", 3)]


def test_a_path_in_a_text_is_pointed_at() -> None:
    text = 'schema S { n: int }\nmemory rows: list<S>\nalert w for p in rows { say "x {p.z}" }'
    found = check_text(text).only
    assert found.span.source.text[found.span.start : found.span.end] == "{p.z}"


def test_overrides_form_a_graph_without_cycles() -> None:
    text = (
        SCHEMA
        + """
        rule a on S { score 1 }
        rule b on S overrides a { score 1 }
        rule c on S overrides a, b, d { score 1 }
        rule d on S { score 1 }
        constraint k on S overrides l { forbid when n > 3 }
        constraint l on S { forbid when n > 2 }
    """
    )
    program = check_text(text).right
    assert {rule.name: rule.overrides for rule in program.rules} == {
        "a": (),
        "b": ("a",),
        "c": ("a", "b", "d"),
        "d": (),
    }
    assert program.constraints[0].overrides == ("l",)


def test_each_circle_of_overrides_is_one_message() -> None:
    text = SCHEMA + "\n".join(
        f"rule {name} on S overrides {other} {{ score 1 }}"
        for name, other in [("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("f", "a")]
    )
    result = check_text(text)
    assert result.errors == [("override-cycle", 2), ("override-cycle", 4)]
    assert result.program is not None
    assert result.program.rules[-1].overrides == ("a",)


def test_many_rules_in_long_chains_and_many_circles() -> None:
    chain = "".join(f"rule a{i} on S overrides a{i + 1} {{ score 0.5 }}\n" for i in range(3000))
    circles = "".join(
        f"rule b{i} on S overrides c{i} {{ score 0.5 }}\nrule c{i} on S overrides b{i} {{ score 0.5 }}\n"
        for i in range(300)
    )
    result = check_text(SCHEMA + chain + "rule a3000 on S { score 0.5 }\n" + circles)
    assert [code for code, _ in result.errors] == ["override-cycle"] * 300


def test_only_constant_scores_beyond_one_are_ill_scaled() -> None:
    text = SCHEMA + "\n".join(
        f"rule r{i} on S {{ score {score} }}"
        for i, score in enumerate(["1", "-1", "1.0", "n", "1.01", "-5", "0.5 + 1"])
    )
    assert check_text(text).found == [("score-scale", 6), ("score-scale", 7), ("score-scale", 8)]


def test_resolutions_by_schema() -> None:
    text = "schema S { n: int }\nschema T { n: int }\nresolve S by priority\nresolve T by weighted"
    assert check_text(text).right.resolutions == {"S": Resolution.PRIORITY, "T": Resolution.WEIGHTED}


def test_a_program_with_errors_holds_what_is_right() -> None:
    text = """schema S { n: int  bad: strin }
schema T { n: int }
rule on_wrong_schema on S { when n > 3 score 0.5 }
rule wrong on T { score 0.5 confidence 7 }
rule right on T overrides wrong { when n > 3 score 0.5 }
def broken() -> int = "x"
rule needs_broken on T { when n > broken() score 0.5 }
property of_wrong on T { expect fires(wrong) }
property of_right on T { expect applies(right) }
"""
    result = check_text(text)
    assert [line for _, line in result.errors] == [1, 4, 6]
    program = result.program
    assert program is not None
    assert list(program.schemas) == ["T"]
    assert [(rule.name, rule.overrides) for rule in program.rules] == [("right", ())]
    assert [promise.name for promise in program.properties] == ["of_right"]


def test_names_of_what_could_not_be_read_are_known() -> None:
    result = check_text("schema S { n: int\n  sat: bool }\nlet a = = 3\nrule r on S { when a > 3 score 0.5 }")
    assert [line for _, line in result.errors] == [2, 3]


def test_unused_lets_and_defs_only_beside_rules() -> None:
    library = "let a = 1\ndef f() -> int = 2\n"
    assert check_text(library).found == []
    assert check_text(library + "schema S { n: int }\nrule r on S { score 0.5 }").found == [
        ("unused", 1),
        ("unused", 2),
    ]
    used = "schema S { n: int }\nrule r on S { when n > a and n < f() score 0.5 }"
    assert check_text(library + used).found == []


QUERIES = """\
schema Trip { cost: int }
memory trips: list<Trip>
context { mood: text = "" }
schema S { n: int }
rule r on S { score 0.5 }
"""


@pytest.mark.parametrize(
    ("defs", "unused"),
    [
        ("def spent() -> int = sum(t.cost for t in trips)", []),
        ("def spent(least: int) -> int = sum(t.cost for t in trips where t.cost > least)", []),
        ('def calm() -> bool = mood == "calm"', []),
        ("def tomorrow() -> date = today + 1d", []),
        ("def later() -> date = tomorrow() + 1d\ndef tomorrow() -> date = today + 1d", []),
        ("def twice(n: int) -> int = n + n", [6]),
        ("def two() -> int = one() + one()\ndef one() -> int = 1", [6]),
    ],
)
def test_defs_that_read_memory_or_context_are_there_for_callers(defs: str, unused: list[int]) -> None:
    assert check_text(QUERIES + defs).found == [("unused", line) for line in unused]


def test_nothing_is_unused_beside_an_error() -> None:
    assert check_text("let a = 1\nschema S { n: int }\nrule r on U { when n > a score 1 }").found == [
        ("unknown-name", 3)
    ]


def test_too_many_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucl.semantics.check.bodies.MOST_RULES", 3)
    text = "schema S { n: int }\n" + "\n".join(f"rule r{i} on S {{ score 0.5 }}" for i in range(5))
    assert check_text(text).errors == [("too-large", 5)]
    constraints = "\n".join(f"constraint c{i} on S {{ forbid when n > {i} }}" for i in range(3))
    assert check_text(f"schema S {{ n: int }}\n{constraints}").errors == []
    assert check_text(f"schema S {{ n: int }}\n{constraints}\nrule r on S {{ score 0.5 }}").errors == [("too-large", 5)]


def test_schemas_that_double_are_too_large_and_chains_too_deep() -> None:
    double = "\n".join(f"schema S{i} {{ a: S{i + 1}  b: S{i + 1} }}" for i in range(60))
    assert [code for code, _ in check_text(double + "\nschema S60 { n: int }").errors] == ["too-large"]
    chain = "\n".join(f"schema S{i} {{ a: S{i + 1} }}" for i in range(2000))
    assert [code for code, _ in check_text(chain + "\nschema S2000 { n: int }").errors] == ["too-deep"]


def test_lets_that_double_are_too_large() -> None:
    lets = "\n".join(f"let a{i + 1} = a{i} + (a{i} - a{i})" for i in range(60))
    assert [code for code, _ in check_text("let a0 = 2026-03-04T13:00\n" + lets).errors] == ["too-large"]


def test_the_check_stops_after_very_many_mistakes() -> None:
    lets = "\n".join(f"let a{i} = nowhere{i}" for i in range(600))
    uses = "\n".join(f"let b{i} = a{i}" for i in range(600))
    stopped = {"unknown-name": 200, "too-large": 1}
    assert Counter(code for code, _ in check_text(f"{lets}\n{uses}").errors) == stopped
    rules = "\n".join(f"rule r{i} on S {{ when z{i} > 3 score 0.5 }}" for i in range(600))
    result = check_text("schema S { n: int }\n" + rules)
    assert Counter(code for code, _ in result.errors) == stopped
    rules = "\n".join(f"rule r{i} on S overrides z{i} {{ score 0.5 }}" for i in range(600))
    assert Counter(code for code, _ in check_text("schema S { n: int }\n" + rules).errors) == stopped


def test_declared_names_are_unique() -> None:
    text = "let x = 1\nmemory x: int\nschema y { n: int }\neffect y()\nproperty y on y { expect true }"
    assert check_text(text).errors == [("duplicate-name", 2), ("duplicate-name", 4), ("duplicate-name", 5)]
    assert [note.span.line for d in check_text(text).report for note in d.notes] == [1, 3, 3]
