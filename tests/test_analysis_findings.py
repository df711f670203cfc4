"""Findings on golden programs: what is expected stands on the line where it is found, and nothing else may be.

    rule late on Meeting {  # finds: conflict early; double-counting night?

`?` marks what is only possible. Each witness is scored by the public way, from its JSON, and must show what is claimed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ucl
from ucl.analysis.findings import analyse
from ucl.diagnostics import Diagnostic, Severity, Source, Span
from ucl.driver import check_path, check_source
from ucl.scoring import CompiledProgram
from ucl.semantics.program import Program

GOLDEN = sorted((Path(__file__).parent / "golden" / "findings").glob("*.ucl"))
NOW = 1_780_000_000_000_000  # 2026-05-28T20:26:40Z
MARK = "  # finds: "


def program_at(path: Path) -> Program:
    program, report = check_path(path)
    assert program is not None, [d.message for d in report]
    return program


def compiled(text: str) -> Program:
    program, report = check_source(Source("p.ucl", text))
    assert program is not None, [d.message for d in report]
    return program


def found_in(text: str, now: int = NOW, tensions: bool = False) -> list[Diagnostic]:
    return analyse(compiled(text), now, tensions)


def codes(found: list[Diagnostic]) -> list[tuple[str, tuple[str, ...]]]:
    return [(d.code, d.rules) for d in found if d.code != "tension"]


def expected(path: Path) -> set[str]:
    found = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if MARK in line:
            found |= {f"{number} {each}" for each in line.split(MARK)[1].split("; ")}
    return found


def said(d: Diagnostic) -> str:
    return f"{d.span.line} {' '.join([d.code, *d.rules[1:]])}{'?' if d.certainty == 'possible' else ''}"


def is_about_rules(d: Diagnostic) -> bool:
    return bool(d.rules) or d.code == "unused"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_is_found_is_what_the_program_says(path: Path) -> None:
    assert {said(d) for d in analyse(program_at(path), NOW) if is_about_rules(d)} == expected(path)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_witness_scores_as_it_says(path: Path) -> None:
    program = program_at(path)
    checked = [replayed(program, d) for d in analyse(program, NOW, list_tensions=True) if d.witness is not None]
    assert checked


def replayed(program: Program, d: Diagnostic) -> Any:
    """Scores (or acts on) the witness by its JSON, and holds the finding to the row."""
    assert d.witness is not None
    door = CompiledProgram(program)
    option, context = (json.loads(json.dumps(dict(part))) for part in (d.witness.option, d.witness.context))
    if d.code == "clashing-actions":
        asked = {row["action"] for row in door.act([option], context=context)}
        assert set(d.rules) <= asked, said(d)
        return asked
    moment = None if "now" in context else "2026-05-28T20:26:40Z"
    (row,) = door.score([option], context=context, now=moment).rows()
    assert row["total"] == d.witness.total, said(d)
    match d.code:
        case "conflict" | "tension" | "double-counting":
            assert set(d.rules) <= set(row["fired"]), said(d)
            if d.code != "double-counting":
                assert row["feasible"], said(d)
        case "always-overridden":
            assert d.rules[0] not in row["fired"], said(d)
        case "never-feasible" | "nothing-feasible":
            assert not row["feasible"], said(d)
    return row


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_two_runs_say_the_same(path: Path) -> None:
    first, second = ([d.as_json() for d in analyse(program_at(path), NOW, list_tensions=True)] for _ in range(2))
    assert first == second


# --- single points --------------------------------------------------------------------------------------------------


def test_a_witness_is_humane_and_no_longer_than_needed() -> None:
    (finding,) = found_in(
        'schema M { start: datetime  kind: "a" | "b" = "a"  n: int in 0..=10 = 5  who: text?  note: text = "" }\n'
        "rule r on M { when start.time >= 09:00 score 0.5 }\n"
        "rule s on M { when start.time < 20:00 and n > 3 score -0.3 }"
    )
    assert finding.witness is not None
    assert finding.witness.option == {"start": "2026-03-03T13:30:00+00:00", "n": 5}
    assert finding.witness.context == {}
    assert finding.witness.total == 0.2


def test_who_wins_is_said_and_how_to_settle_it() -> None:
    (finding,) = found_in(
        "schema S { n: int in 0..=10 }\nrule a on S { when n > 1 score 0.5 }\nrule b on S { when n > 2 score -0.75 }"
    )
    assert finding.rules == ("b", "a")
    assert "`b` wins" in finding.message
    assert finding.help is not None
    assert "rule b on S overrides a" in finding.help
    assert "unless" in finding.help
    assert "priority" in finding.help
    assert finding.severity is Severity.WARNING
    assert finding.notes[0].span.line == 2


def test_a_priority_that_settles_makes_it_an_info() -> None:
    text = (
        "schema S {{ n: int in 0..=10 }}\nresolve S by priority\nrule a on S {{ when n > 1 score 0.5 priority {} }}\n"
        "rule b on S {{ when n > 2 score -0.75 }}"
    )
    assert [d.severity for d in found_in(text.format(2))] == [Severity.INFO]
    assert [d.severity for d in found_in(text.format(1))] == [Severity.WARNING]


def test_tensions_are_counted_and_listed_on_request() -> None:
    text = (
        "schema S { n: int in 0..=10  far: bool }\nrule a on S { when n > 1 score 0.5 }\n"
        "rule b on S { when far score -0.75 }"
    )
    (counted,) = found_in(text)
    assert (counted.code, counted.severity, counted.rules) == ("tension", Severity.INFO, ())
    assert "1 pair" in counted.message
    (listed,) = found_in(text, tensions=True)
    assert listed.rules == ("b", "a")
    assert listed.witness is not None


def test_days_before_the_check_do_not_count() -> None:
    text = (
        "schema S { n: int in 0..=10 }\nrule a on S { when n > 1 score 0.5 valid ..2026-05-28 }\n"
        "rule b on S { when n > 2 score -0.75 }"
    )
    assert codes(found_in(text)) == []
    assert codes(found_in(text, now=NOW - 86_400_000_000)) == [("conflict", ("b", "a"))]


def test_a_witness_carries_now_where_days_matter() -> None:
    text = (
        "schema S { n: int in 0..=10 }\nrule a on S { when n > 1 score 0.5 valid 2027-01-01.. }\n"
        "rule b on S { when n > 2 score -0.75 }"
    )
    (finding,) = found_in(text)
    assert finding.witness is not None
    assert finding.witness.context["now"] >= "2027-01-01"


def test_required_context_is_part_of_a_witness() -> None:
    program = compiled(
        "context { level: int  mood: text? }\nschema S { n: int in 0..=10 }\n"
        "rule a on S { when n > 1 score 0.5 }\nrule b on S { when n > 2 score -0.75 }"
    )
    (finding,) = analyse(program, NOW)
    assert finding.witness is not None
    assert set(finding.witness.context) == {"level"}
    replayed(program, finding)


def test_shadow_and_retired_rules_take_no_part() -> None:
    text = (
        "schema S { n: int in 0..=10 }\nrule a on S { when n > 1 score 0.5 }\n"
        "rule b on S { when n > 2 score -0.75 status shadow }\n"
        "rule c on S { when n > 3 and n < 2 score 1.0 status retired }"
    )
    assert found_in(text) == []


def test_a_rule_that_never_applies_takes_part_in_nothing_else() -> None:
    found = found_in(
        "schema S { n: int in 0..=10 }\nrule dead on S { when n > 5 and n < 5 score 0.5 }\n"
        "rule b on S overrides dead { when n > 2 score -0.75 }"
    )
    assert codes(found) == [("never-applies", ("dead",))]
    assert found[0].severity is Severity.ERROR


def test_what_outgrows_boxes_is_left_to_the_solver() -> None:
    fields = " ".join(f"a{i}: bool b{i}: bool" for i in range(10))
    condition = " and ".join(f"(a{i} or b{i} and x > {i})" for i in range(10))
    found = found_in(
        f"schema S {{ {fields} x: int in 0..=100 y: int in 0..=100 }}\n"
        f"rule wide on S {{ when {condition} and x + y > 20 score 0.5 }}\n"
        f"rule dead on S {{ when {condition} and not a3 and not b3 score 0.5 }}\n"
        "rule simple on S { when a1 and y < 3 score -0.5 }"
    )
    assert codes(found) == [("never-applies", ("dead",)), ("conflict", ("simple", "wide"))]


def test_what_stays_undecided_is_said() -> None:
    found = found_in(
        "schema S { a: float in 0.0..=20.0  b: float in 0.0..=10.0 }\n"
        "rule narrow on S { when a < 19.0 and b >= 0.0 score 0.3 }\nrule wide on S { when a * b < 200.0 score 0.2 }"
    )
    assert [d.code for d in found] == ["undecided"]
    assert "undecided: 1 pair" in found[0].message
    assert "`narrow`" in found[0].message


def test_a_schema_that_is_imported_has_its_findings_too() -> None:
    found = found_in(
        "import std.scheduling (Meeting)\nimport std.dayparts (after_lunch)\n"
        "rule a on Meeting { when start.time in after_lunch score -0.5 }\n"
        'rule b on Meeting { when start.time in 13:30..15:00 and overlaps(attendees, {"ann"}) score 0.4 }'
    )
    assert codes(found) == [("conflict", ("b", "a"))]
    assert found[0].witness is not None
    assert found[0].witness.option == {"start": "2026-03-03T13:30:00+00:00", "attendees": ["ann"]}


def test_findings_span_the_name_of_what_they_are_about() -> None:
    (finding,) = found_in("schema S { n: int in 0..=10 }\nrule dead on S { when n > 5 and n < 5 score 0.5 }")
    assert marked(finding.span) == "dead"


def marked(span: Span) -> str:
    return span.source.text[span.start : span.end]


# --- what the source accepts ----------------------------------------------------------------------------------------

TWO = "schema S { n: int in 0..=10 }\n{}rule a on S { when n > 1 score 0.5 }\n{}rule b on S { when n > 2 score -0.75 }"


def accepted(above_a: str = "", above_b: str = "") -> list[Diagnostic]:
    before, between, after = TWO.split("{}")
    return found_in(f"{before}{above_a}{between}{above_b}{after}")


@pytest.mark.parametrize(
    ("above_a", "above_b"),
    [
        ("# allow conflict: it is meant\n", ""),
        ("", "# allow conflict: it is meant\n"),
        ("", "# Something else.\n# allow conflict a: it is meant\n# And more.\n"),
    ],
)
def test_a_reason_above_either_rule_accepts_their_conflict(above_a: str, above_b: str) -> None:
    assert accepted(above_a, above_b) == []


def test_without_a_reason_nothing_is_accepted() -> None:
    unused, conflict = accepted("", "# allow conflict\n")
    assert conflict.code == "conflict"
    assert (unused.code, marked(unused.span)) == ("unused", "# allow conflict")
    assert unused.help == "write `# allow conflict: the reason`"


@pytest.mark.parametrize(
    "comment",
    [
        "# allow conflict c: why",
        "# allow double-counting: why",
        "# allow conflcit: why",
        "# allow unused: why",
        "# allow float-equality",
    ],
)
def test_what_accepts_nothing_is_unused(comment: str) -> None:
    found = accepted("", f"{comment}\n")
    assert sorted(d.code for d in found) == ["conflict", "unused"]
    unused = next(d for d in found if d.code == "unused")
    assert marked(unused.span) == comment


def test_who_was_named_in_vain_is_said() -> None:
    unused = next(d for d in accepted("", "# allow conflict c, d: why\n") if d.code == "unused")
    assert unused.message == "`b` has no `conflict` with `c` and `d` that would have to be allowed"


def test_other_comments_say_nothing() -> None:
    assert [d.code for d in accepted("", "# allow me to explain: this is prose\n# conflict: no\n")] == ["conflict"]


def test_a_comment_that_does_not_touch_the_declaration_is_not_its() -> None:
    assert [d.code for d in accepted("# allow conflict: far off\n\n", "")] == ["conflict"]


def test_what_cancels_out_of_reals_may_be_left_of_doubles() -> None:
    """(x + y) * 3 and x * 3 + y * 3 differ by more than 0.1 for large numbers, so the rule can apply."""
    text = "schema S { x: float  y: float }\nrule r on S { when (x + y) * 3 <= x * 3 + y * 3 - 0.1 score 0.5 }\n"
    assert "never-applies" not in {found.code for found in ucl.compile(text).findings()}
    exact = text.replace("float", "int in 0..=9").replace("- 0.1", "- 1")
    assert "never-applies" in {found.code for found in ucl.compile(exact).findings()}


# --- what has no value, and what is listed --------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", ["10 / n", "10 / size(s)", "10 / length(x)", "10 / none", "(n - 4) / n"])
@pytest.mark.parametrize("test", ["({} ?? 0) > 3", "min({} ?? 5, 3) > 2", "not (ramp({} ?? 1, 0, 2) > 0.5)"])
def test_a_ratio_may_have_no_value(ratio: str, test: str) -> None:
    """What stands for it then is another case, in which nobody asks for the ratio."""
    condition = test.format(ratio)
    found = found_in(
        f"""let none = 0
        schema S {{ n: int in 0..=3  k: int in 0..=3  x: text  s: set<text> }}
        rule r on S {{ when {condition} or k > 1 score 0.5 }}
        rule t on S {{ when not ({condition}) or k > 1 score -0.5 }}"""
    )
    assert ("conflict", ("t", "r")) in codes(found)
    assert not [d for d in found if d.code == "never-applies"]


def test_every_value_of_a_listed_text_is_looked_at() -> None:
    """Also where the tests name parts of it only."""
    text = """schema S { heating: text in {"natural gas", "oil", "none"} }
        rule gas on S { when contains(heating, "gas") score 0.5 }
        rule short on S { when length(heating) < 4 and not ends_with(heating, "s") score 0.5 }
        rule coal on S { when starts_with(heating, "co") score 0.5 }"""
    assert codes(found_in(text)) == [("never-applies", ("coal",))]


@pytest.mark.parametrize(
    "condition",
    [
        "size(tags) > 100",
        "size(tags) / 2 > 30",
        "size(tags) + 1 > 70",
        "size(tags) > 2000",
        "length(x) > 2.5 and length(x) < 3.5",
        "length(x) * length(x) == 49",
        "ramp(length(x), 3, 300) > 0.5",
        'contains("gas and oil", x) and contains(x, "nd")',
        "length(x) != length(casefold(x))",
        "lower(x) == x and casefold(x) != x",
        'casefold(x) == "ss" and lower(x) != "ss"',
        'ends_with(lower(x), "as") and not ends_with(lower(casefold(x)), "xas")',
    ],
)
def test_nothing_is_impossible_because_no_sample_shows_it(condition: str) -> None:
    found = found_in(
        f"schema S {{ x: text  tags: set<text> }}\nrule r on S {{ when {condition} score 0.5 }}\n"
        f"rule t on S {{ when not ({condition}) score 0.5 }}"
    )
    assert not [d for d in found if d.code == "never-applies"]


def test_a_score_by_the_size_of_a_set_pulls_both_ways() -> None:
    text = """schema S { tags: set<text> }
        rule few on S { when size(tags) >= 0 score 0.55 - 0.1 * size(tags) }
        rule many on S { when size(tags) in 9..=12 score 0.3 }
        rule none on S { when size(tags) / 2 < 1 and size(tags) > 1.5 score 0.3 }"""
    assert codes(found_in(text)) == [("conflict", ("many", "few")), ("never-applies", ("none",))]


@pytest.mark.parametrize(
    "condition",
    ["abs(n - 2) == 1", "abs(n + 5) > 10", "near(n - 20, 3, 2) > 0.5", "(n - 4_611_686_018_427_387_904) * 4 == 8"],
)
def test_a_function_that_overflows_far_out_is_whole_where_it_has_values(condition: str) -> None:
    found = found_in(
        f"schema S {{ n: int }}\nrule r on S {{ when {condition} and n > -3 score 0.5 }}\n"
        f"rule t on S {{ when not ({condition}) and n in -3..=23 score -0.5 }}"
    )
    assert not codes(found) or [d.code for d in found] == ["undecided"]


def test_what_is_one_comparison_of_reals_may_be_two_of_doubles() -> None:
    """With price 0.1, fee 0.2 and limit 0.3 both comparisons of `moved` hold."""
    text = """schema S {
          p: int in 0..=3  n: int in 0..=3
          price: float in 0.0..=500.0  fee: float in 0.0..=500.0  limit: float in 0.0..=500.0
        }
        rule moved on S { when price + fee > limit and price <= limit - fee score 0.5 }
        rule apart on S { when price + fee > 100 and fee + price < 90 score 0.5 }
        rule turned on S { when price + fee > limit and not (limit < fee + price) score 0.5 }
        rule beyond on S { when n <= 1 and p + n + 0.5 > 6 score 0.5 }
        rule far on S { when price * 1.1 + fee > 33 and price < 10 and fee < 2 score 0.5 }"""
    found = found_in(text)
    dead = [d.rules[0] for d in found if d.code == "never-applies"]
    assert dead == ["apart", "turned", "beyond", "far"]
    (open_,) = (d for d in found if d.code == "undecided")
    assert "`moved`" in open_.message
