"""What a diagnostic looks like to a terminal, to SARIF readers and to GitHub."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucl import render
from ucl.diagnostics import SEVERITIES, Diagnostic, Note, Severity, Source, Span, Witness, diagnostic

TEXT = "rule lunch on Meeting {\n  when start in 13:00..14:00\n}\n"


def found(text: str = TEXT, part: str = "start", path: str = "meetings.ucl", **extra: object) -> Diagnostic:
    start = text.index(part)
    source = Source(path, text)
    made = diagnostic("type-mismatch", Span(source, start, start + len(part)), "`start` is a datetime")
    return Diagnostic(**{**{f: getattr(made, f) for f in made.__dataclass_fields__}, **extra})  # type: ignore[arg-type]


def test_text_shows_the_line_and_marks_the_place() -> None:
    assert render.to_text([found(help="write `start.time`")]) == (
        "error[type-mismatch]: `start` is a datetime\n"
        " --> meetings.ucl:2:8\n"
        "  |\n"
        "2 |   when start in 13:00..14:00\n"
        "  |        ^^^^^\n"
        "  = help: write `start.time`"
    )


def test_carets_stand_below_wide_characters() -> None:
    text = 'rule 太早 on S { when 名字 == "é" }'
    lines = render.to_text([found(text, "名字")]).splitlines()
    marked = lines[-1].partition("| ")[2]
    assert marked == " " * (len("rule 太早 on S { when ") + 2) + "^^^^"


def test_notes_follow_with_their_own_place() -> None:
    source = Source("a.ucl", "let x = 1\nlet x = 2\n")
    note = Note(Span(source, 4, 5), "first declared here")
    text = render.to_text([diagnostic("duplicate-name", Span(source, 14, 15), "`x` is declared twice", notes=[note])])
    assert "note: first declared here\n --> a.ucl:1:5\n" in text


def test_a_witness_and_its_certainty_are_shown() -> None:
    shown = render.to_text([found(witness=Witness({"n": 3}, {"mood": "calm"}, -0.5), certainty="possible")])
    assert '= shown by: n = 3 with mood = "calm", which scores -0.5' in shown
    assert "= possible:" in shown


def test_a_long_line_is_shown_around_the_place() -> None:
    text = "x" * 5000 + " here " + "y" * 5000
    lines = render.to_text([found(text, "here")]).splitlines()
    shown, marks = lines[3].partition("| ")[2], lines[4].partition("| ")[2]
    assert len(shown) < 200
    assert shown[marks.index("^") :].startswith("here")


def test_nothing_of_the_source_reaches_the_terminal_raw() -> None:
    text = "let a = \x1b[2J\u202e1\x07 bad"
    shown = render.to_text([found(text, "bad", path="\x1b]0;evil\x07.ucl", message="`\x1b[31m`\r")])
    assert not set(shown) & set("\x1b\u202e\x07\r")
    assert "\\x1b[2J" in shown


def test_colour_is_only_there_when_asked_for() -> None:
    assert "\x1b[1;31m" in render.to_text([found()], colour=True)
    assert "\x1b" not in render.to_text([found()])


@given(st.text(max_size=80), st.data())
def test_text_never_fails_and_always_marks_something(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = render.to_text([diagnostic("syntax", Span(Source("p.ucl", text), start, end), "wrong")])
    assert shown.startswith("error[syntax]: wrong\n")
    assert all(c == "\n" or c.isprintable() or ord(c) > 127 for c in shown)


def test_the_summary_counts_by_severity() -> None:
    warning = Diagnostic("unused", Severity.WARNING, "unused", found().span)
    assert render.summary([found(), found(), warning]) == "2 errors, 1 warning"
    assert render.summary([]) == "no problems"


def test_json_is_one_object_of_the_documented_keys() -> None:
    (item,) = json.loads(render.to_json([found()]))["diagnostics"]
    assert item == {
        "code": "type-mismatch", "severity": "error", "message": "`start` is a datetime", "file": "meetings.ucl",
        "line": 2, "column": 8, "end_line": 2, "end_column": 13, "help": None, "rules": [], "witness": None,
        "certainty": None,
    }  # fmt: skip


def test_sarif_has_the_structure_that_readers_need() -> None:
    note = Note(found().span, "here")
    items = [found(help="mend it", notes=(note,)), found(path="with space.ucl", code="unused", severity=Severity.INFO)]
    log = json.loads(render.to_sarif(items, "1.2"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "uclc"
    assert run["columnKind"] == "unicodeCodePoints"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region == {"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 13}
    first, second = run["results"]
    assert first["message"]["text"].endswith("Help: mend it")
    assert first["relatedLocations"][0]["message"]["text"] == "here"
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "with%20space.ucl"


# What the SARIF 2.1.0 schema requires of the objects that we write, by where they stand: the type of each property that
# there may be, `!` where there must be one. (The schema itself forbids others by `additionalProperties: false`.)
SARIF: dict[str, dict[str, str]] = {
    "log": {"$schema": "uri", "version!": "2.1.0", "runs!": "run*"},
    "run": {"tool!": "tool", "columnKind": "utf16CodeUnits|unicodeCodePoints", "results": "result*"},
    "tool": {"driver!": "driver"},
    "driver": {"name!": "text", "version": "text", "rules": "rule*"},
    "rule": {"id!": "text", "shortDescription": "message", "help": "message", "defaultConfiguration": "configuration"},
    "configuration": {"level": "none|note|warning|error"},
    "result": {
        "ruleId": "text", "ruleIndex": "from 0", "level": "none|note|warning|error", "message!": "message",
        "locations": "location*", "relatedLocations": "location*", "properties": "any",
    },
    "location": {"physicalLocation": "place", "message": "message"},
    "place": {"artifactLocation": "artifact", "region": "region"},
    "artifact": {"uri": "uri"},
    "region": {"startLine": "from 1", "startColumn": "from 1", "endLine": "from 1", "endColumn": "from 1"},
    "message": {"text!": "text"},
}  # fmt: skip


def held_to(kind: str, value: Any, where: str = "log") -> None:
    """Fails where a value is not what the schema has there."""
    if kind.endswith("*"):
        assert isinstance(value, list), where
        for number, item in enumerate(value):
            held_to(kind[:-1], item, f"{where}[{number}]")
    elif kind in SARIF:
        wanted = {name.rstrip("!"): inner for name, inner in SARIF[kind].items()}
        assert isinstance(value, dict), where
        assert set(value) <= set(wanted), where
        assert {name[:-1] for name in SARIF[kind] if name.endswith("!")} <= set(value), where
        for name, inner in value.items():
            held_to(wanted[name], inner, f"{where}.{name}")
    elif kind.startswith("from "):
        assert isinstance(value, int), where
        assert value >= int(kind[5:]), where
    elif kind == "uri":
        assert re.fullmatch(r"[!-~]+", value), where
        assert not re.search(r"[\\\"<>^`{|}\s]|%(?![0-9A-Fa-f]{2})", value), where
    elif kind == "text":
        assert isinstance(value, str), where
        assert value, where
    elif kind != "any":
        assert value in kind.split("|"), where


@given(st.sampled_from(sorted(SEVERITIES)), st.text(min_size=1, max_size=30), st.text(max_size=40), st.data())
def test_sarif_is_what_its_schema_says(code: str, path: str, text: str, data: st.DataObject) -> None:
    source = Source(path, text)
    start = data.draw(st.integers(0, len(text)))
    span = Span(source, start, data.draw(st.integers(start, len(text))))
    witness = Witness({"n": 3}, {}, -0.5)
    found = Diagnostic(
        code, SEVERITIES[code], "wrong", span, "mend it", (Note(span, "here"),), ("a",), witness, "certain"
    )
    log = json.loads(render.to_sarif([found, diagnostic("unused", span, "unused")], "0.1"))
    held_to("log", log)
    held_to("log", json.loads(render.to_sarif([], "0.1")))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in log["runs"][0]["results"]] == [code, "unused"]
    assert len({rule["id"] for rule in rules}) == len(rules)


@pytest.mark.parametrize(
    ("path", "uri"), [("/a/b.ucl", "file:///a/b.ucl"), ("a/b.ucl", "a/b.ucl"), ("\udcff.ucl", "%FF.ucl")]
)
def test_sarif_uris(path: str, uri: str) -> None:
    log = json.loads(render.to_sarif([found(path=path)], "1"))
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_github_commands_escape_what_would_end_them() -> None:
    line = render.to_github([found(path="a,b:c.ucl", message="50%\nof it", help="none")])
    assert line == (
        "::error file=a%2Cb%3Ac.ucl,line=2,endLine=2,col=8,endColumn=13,title=type-mismatch::50%25%0Aof it%0Ahelp: none"
    )


def test_github_shows_the_witness_too() -> None:
    shown = replace(found(message="clash", help="mend it"), witness=Witness({"n": 3}, {}, -0.5))
    assert render.to_github([shown]).endswith("::clash%0Ashown by: n = 3, which scores -0.5%0Ahelp: mend it")
