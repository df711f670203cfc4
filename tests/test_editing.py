"""What is checked again after an edit is what a fresh check says, and nothing else is done again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ucl
from ucl import render
from ucl.build.store import encode
from ucl.diagnostics import Report, Source
from ucl.driver import check_module, check_source
from ucl.editing import Versions
from ucl.semantics.program import Program
from ucl.syntax.passages import cut

HEADER = """module m
import std.scheduling (Meeting)
import std.dayparts (after_lunch)
import std.units
"""
# Right ones, ones with warnings, wrong ones, and ones that make others wrong; some read the same and are told by place.
PIECES = (
    "rule a on Meeting { when start.time in after_lunch score -0.5 }",
    "rule a on Meeting { when start.time in after_lunch score -0.6 }",
    'rule b on Meeting overrides a { when priority >= 8 score 0.5 because "yes" }',
    "rule b on Meeting {\n  when priority >= few\n  score 1.5\n}",
    "rule few on Meeting { when duration <= 30min score 0.1 }",
    "let few = 3",
    "let few = 4",
    'let few = "three"',
    "let unused_one = 1",
    "constraint c on Meeting { forbid when start.time in 22:00..06:00 and start.weekday == fri }",
    "property p on Meeting { given priority >= 9  expect fires(b) or not applies(a) }",
    "prefer q on Meeting { better priority >= few  worse priority < few }",
    "# about d\n# allow conflict with a: so be it\nrule d on Meeting { when start.weekday == mon score 0.4 }",
    "rule wrong on Meeting { when start.weekday == 3 score 0.4 }",
    "rule broken on Meeting { when start.weekday == mon score }",
    'rule open on Meeting { when kind == "external" score 0.2',
    "}",
    "resolve Meeting by priority",
    'context {\n  mood: "calm" | "busy" = "calm"\n}',
    'rule moody on Meeting { when context.mood == "busy" score -0.2 }',
    "rule priority on Meeting { when duration > 2h score -0.1 }",
    "effect ping(at: datetime)",
    "action act on Meeting { when priority == 10 do ping(start) }",
    'timezone "Europe/Berlin"',
    "# only a comment",
    "  rule indented on Meeting { when start.time >= 18:00 score -0.3 } rule beside on Meeting { score 0.0 }",
    'rule 午饭 on Meeting { when start.time in 12:00..13:00 score -0.2 because "午饭" }',
)


def outcome(checked: tuple[Program, object] | None, report: Report) -> tuple[str, str | None]:
    said = render.to_json(list(report))
    return said, None if checked is None else encode(checked[0], lambda source: source.path).text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_an_edit_says_what_a_fresh_check_says(data: st.DataObject) -> None:
    versions = Versions()
    lines = data.draw(st.lists(st.sampled_from(PIECES), max_size=8), label="opened")
    for _ in range(data.draw(st.integers(1, 4), label="edits")):
        text = HEADER + "\n\n".join(lines) + data.draw(st.sampled_from(("", "\n")))
        fresh = outcome(*check_module(Source("m.ucl", text)))
        assert outcome(*versions.check(Source("m.ucl", text))) == fresh
        edit = data.draw(st.sampled_from(("add", "drop", "move", "change")), label="edit")
        if edit == "add" or not lines:
            lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(PIECES)))
            continue
        place = data.draw(st.integers(0, len(lines) - 1))
        if edit == "change":
            lines[place] = data.draw(st.sampled_from(PIECES))
        else:
            taken = lines.pop(place)
            if edit == "move":
                lines.insert(data.draw(st.integers(0, len(lines))), taken)


LINES = st.sampled_from(
    (
        "rule a on S { when x }",
        "rule b on S {",
        "  when y",
        "}",
        "",
        "# note",
        "  # inner",
        "\u2028# after a space of another kind",
        "let\u093e",
        "let k = 3",
        "ruler: x",
        "rule",
    )
)
TYPED = st.sampled_from(("", "\n", "#", "rule ", "\n# x\n", "r", " ", "}\nrule z on S { }\n"))


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 30), TYPED), max_size=6))
def test_a_text_is_cut_after_an_edit_as_it_is_cut_afresh(lines: list[str], edits: list[tuple[int, int, str]]) -> None:
    cuts = cut("\n".join(lines))
    for place, length, typed in edits:
        text = cuts.text[:place] + typed + cuts.text[place + length :]
        cuts = cut(text, cuts)
        assert cuts == cut(text)


RULES = [f"rule r{n} on Meeting {{ when priority >= {n % 10} score 0.{n % 9 + 1} }}" for n in range(50)]


def checked(versions: Versions, rules: list[str]) -> Program:
    found, report = versions.check(Source("m.ucl", "import std.scheduling (Meeting)\n" + "\n".join(rules) + "\n"))
    assert found is not None, list(report)
    return found[0]


def test_only_the_rule_that_changed_is_made_anew() -> None:
    versions = Versions()
    before = checked(versions, RULES)
    after = checked(versions, [*RULES[:7], RULES[7].replace("score 0.8", "score 0.85"), *RULES[8:]])
    changed = [new.name for old, new in zip(before.rules, after.rules, strict=True) if new is not old]
    assert changed == ["r7"]
    assert after.rules[0].schema is before.rules[0].schema


def test_a_mistake_in_between_costs_nothing_later() -> None:
    versions = Versions()
    before = checked(versions, RULES)
    found, report = versions.check(Source("m.ucl", "import std.scheduling (Meeting)\n" + "\n".join(RULES)[:-3]))
    assert found is None
    assert report.has_errors
    after = checked(versions, RULES)
    assert all(new is old for old, new in zip(before.rules, after.rules, strict=True))


def test_spans_move_with_their_rules() -> None:
    versions = Versions()
    last = checked(versions, RULES).rules[-1]
    assert last.span.line == 51
    again = checked(versions, ["# one", "# two", *RULES[:-1], "", RULES[-1], ""]).rules[-1]
    assert again is last
    assert (again.span.line, again.span.column) == (54, 6)
    assert again.span.source.line_text(54) == RULES[-1]


@pytest.mark.parametrize("space", ["  ", "\t", "\u2028", "\u00a0", "\f"])
def test_a_comment_above_documents_whatever_space_stands_before_it(space: str) -> None:
    text = f"let most = 3\n{space}# what a day holds\nschema S {{ n: int }}\nrule r on S {{ when n > most score 1 }}\n"
    assert outcome(*Versions().check(Source("m.ucl", text))) == outcome(*check_module(Source("m.ucl", text)))
    found, _ = check_source(Source("m.ucl", text))
    assert found is not None
    assert found.schemas["S"].doc == "what a day holds"


def test_a_circle_is_told_from_its_first_declaration_on() -> None:
    text = "# above\nmemory trips: list<Trip>\n\nschema Trip { place: trips }\n"
    fresh = outcome(*check_module(Source("m.ucl", text)))
    assert "`trips` and `Trip` are defined by each other" in fresh[0]
    assert outcome(*Versions().check(Source("m.ucl", text))) == fresh


@pytest.mark.parametrize("changed", ["let limit = 5", "let limit = 3\nlet other = limit"])
def test_an_imported_module_that_changes_is_read_again(tmp_path: Path, changed: str) -> None:
    (tmp_path / "shared.ucl").write_text("let limit = 3\n")
    text = (
        "import std.scheduling (Meeting)\nimport shared (limit)\nrule r on Meeting { when priority >= limit score 0.5 }"
    )
    versions = Versions(tmp_path)
    first, _ = versions.check(Source(str(tmp_path / "m.ucl"), text))
    assert first is not None
    (tmp_path / "shared.ucl").write_text(changed)
    second, report = versions.check(Source(str(tmp_path / "m.ucl"), text))
    fresh = check_module(Source(str(tmp_path / "m.ucl"), text), tmp_path)
    assert outcome(second, report) == outcome(*fresh)
    assert versions.looked_up == {tmp_path / "shared.ucl"}


def test_the_python_door_takes_version_after_version() -> None:
    edited = ucl.Editing(name="shop")
    text = "schema S { n: int }\nrule many on S { when n > 3 score 0.5 }\nrule few on S { when n < 2 score -0.5 }\n"
    first = edited.update(text)
    assert list(first.score([{"n": 1}, {"n": 4}]).total) == [-0.5, 0.5]
    with pytest.raises(ucl.CompileError, match=r"shop\.ucl:2:"):
        edited.update(text.replace("n > 3", "n > m"))
    second = edited.update(text.replace("n > 3", "n > 4"))
    assert list(second.score([{"n": 1}, {"n": 4}]).total) == [-0.5, 0.0]
    assert list(first.score([{"n": 1}, {"n": 4}]).total) == [-0.5, 0.5]
    with pytest.raises(TypeError, match="text of a program"):
        edited.update(b"schema S { n: int }")  # type: ignore[arg-type]
