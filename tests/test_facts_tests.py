"""Facts to properties and to a test file: what they claim, that the right program keeps it, and that others don't."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cli_runs import ROOT, run_here
from hypothesis import given, settings
from hypothesis import strategies as st
from test_facts_objects import compiled

from ucl.diagnostics import Report, Severity, Source
from ucl.driver import check_source
from ucl.facts import Fact, parse_facts, read_fact
from ucl.facts.vocabulary import vocabulary
from ucl.semantics.zones import Zone
from ucl.testing.facts import Statements, statements_of
from ucl.testing.facts.pytest_file import test_file as file_of
from ucl.testing.verdicts import Outcome, verdicts

PROGRAM = """\
module small.rules
import std.scheduling (Meeting)
timezone "America/New_York"
context { energy: "low" | "normal" = "normal" }
rule lunch on Meeting {
  when start.time in 13:00..14:00
  unless kind == "external"
  score -0.8
}
rule ann on Meeting overrides lunch { when "ann" in attendees score 0.5 }
rule tired on Meeting { when energy == "low" and not remote score -0.3 }
rule fridays on Meeting { when start.weekday == fri score 0.25 valid ..2026-05-01 }
constraint nights on Meeting { forbid when start.time in 22:00..06:00 unless title == "Board" }
"""
FACTS: list[dict[str, Any]] = [
    {"id": "f1", "object": "after_lunch", "sentiment": -0.8, "context": {"utterance": 'Not "right" after lunch \\ '}},
    {"id": "f2", "object": "after_lunch", "sentiment": 0, "context": {"kind": "external"}},
    {"id": "f3", "extracted_relation": "prefers_meeting_with_person", "object": "ann", "sentiment": 0.5},
    {"id": "f4", "object": "午饭后", "sentiment": 0.5, "context": {"with_person": "ann"}},
    {"id": "f5", "extracted_relation": "avoids_meeting_remote", "object": "no", "context": {"energy": "low"}},
    {"id": "f6", "extracted_relation": "prefers_meeting_day", "object": "周五", "sentiment": 0.25},
    {
        "id": "f7",
        "extracted_relation": "prefers_meeting_day",
        "object": "friday",
        "sentiment": 0,
        "timestamp": "2026-05-01",
    },
    {"id": "f8", "object": "night", "sentiment": -1, "context": {"hard": True}},
    {"id": "f9", "object": "night", "sentiment": 0, "context": {"hard": True, "title": "Board"}},
    {"id": "u1", "object": "soonish"},
]
COMMON = {
    "source_type": "chat",
    "extracted_relation": "avoids_meeting_time",
    "subject": "lena",
    "timestamp": "2026-03-04",
}


def facts_text(facts: list[dict[str, Any]] = FACTS) -> str:
    return "\n".join(json.dumps({**COMMON, "source_id": fact["id"], **fact}, ensure_ascii=False) for fact in facts)


def stated(program: str = PROGRAM, facts: str | None = None) -> Statements:
    checked, report = check_source(Source("rules.ucl", program))
    assert checked is not None, [d.message for d in report]
    zone = Zone.load(checked.timezone)
    assert zone is not None
    read = parse_facts(Source("facts.jsonl", facts or facts_text()), Report(), zone)
    return statements_of(checked, read.facts, vocabulary(checked.schemas["Meeting"], checked.context))


def broken(program: str) -> set[str]:
    """The facts whose properties the program breaks."""
    statements = stated()
    checked, report = check_source(Source("rules.ucl", f"{program}\n{statements.properties()}"))
    assert checked is not None, [d.message for d in report]
    assert statements.since is not None
    found = verdicts(checked, statements.since, samples=0)
    return {verdict.promise.name[:2] for verdict in found if verdict.outcome is Outcome.BROKEN}


def test_the_right_program_keeps_what_was_said() -> None:
    assert broken(PROGRAM) == set()


@pytest.mark.parametrize(
    ("old", "new", "by"),
    [
        ("13:00..14:00", "13:01..14:00", {"f1"}),
        ("13:00..14:00", "12:59..14:00", {"f1"}),
        ("13:00..14:00", "13:00..14:01", {"f1"}),
        ("13:00..14:00", "13:00..13:59", {"f1"}),
        ("score -0.8", "score 0.8", {"f1"}),
        ("score -0.8", "score -0.8 priority 2", {"f1"}),
        ("score -0.8", "score -0.8 confidence 0.5", {"f1"}),
        ('  unless kind == "external"\n', "", {"f2"}),
        (" overrides lunch", "", {"f4"}),
        ('"low" and not', '"low" or not', {"f5"}),
        ("..2026-05-01", "..2026-05-02", {"f7"}),
        ("..2026-05-01", "..2026-04-30", {"f6"}),
        ("22:00..06:00", "22:00..05:59", {"f8"}),
        ("22:00..06:00", "21:59..06:00", {"f8"}),
        (' unless title == "Board"', "", {"f9"}),
    ],
)
def test_small_mistakes_in_the_program_break_a_statement(old: str, new: str, by: set[str]) -> None:
    assert PROGRAM.count(old) == 1
    assert by <= broken(PROGRAM.replace(old, new))


def test_properties_are_as_fmt_prints_them_and_hold_the_words() -> None:
    text = stated().properties()
    assert text.startswith(
        """\
property f1_avoids_meeting_time_after_lunch on Meeting {
  given start.time in 13:00..14:00
    and kind != "external"
    and not overlaps(attendees, {"ann"})
    and not (not remote and energy == "low")
    and start.weekday != fri
  expect score >= -1.131 and score <= -0.566
  because "Not \\"right\\" after lunch \\\\"
  from chat "f1" at 2026-03-04
  valid 2026-03-04..
}
"""
    )
    assert "property f1_avoids_meeting_time_after_lunch_outside_start_time on" in text
    assert "valid 2026-03-04..2026-05-01" in text


def test_names_of_the_program_are_not_taken_again() -> None:
    name = "f1_avoids_meeting_time_after_lunch"
    text = stated(f"{PROGRAM}property {name} on Meeting {{ expect feasible or not feasible }}\n").properties()
    assert f"property {name}_2 on" in text


def test_no_facts_ask_for_nothing() -> None:
    assert stated(facts=facts_text([FACTS[-1]])).properties() == ""


@pytest.mark.parametrize(
    ("sentiment", "expected"),
    [
        (-0.8, "score >= -1.131 and score <= -0.566"),
        (0.004, "score >= 0.00283 and score <= 0.00566"),
        (1e-6, "score >= 0.00000071 and score <= 0.00000141"),
        (1e-12, "score > 0"),
        (-1e-300, "score < 0"),
        (0, "score >= 0 and score <= 0"),
    ],
)
def test_however_weak_a_feeling_is_it_is_no_indifference(sentiment: float, expected: str) -> None:
    text = stated(facts=facts_text([{**FACTS[0], "sentiment": sentiment}])).properties()
    assert f"  expect {expected}\n" in text


# --- the file -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("facts")
    (folder / "rules.ucl").write_text(PROGRAM, encoding="utf-8")
    (folder / "facts.jsonl").write_text(facts_text(), encoding="utf-8")
    ran = run_here("facts2tests", folder / "facts.jsonl", "-o", folder / "out")
    assert ran.status == 0, ran.err
    return folder


def failures(folder: Path, package: str) -> dict[str, str]:
    """What the tests of the file say that fail; run in this process, since starting another takes far longer."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        names: dict[str, Any] = {"__name__": "test_facts"}
        (target,) = folder.glob("test_*.py")
        sys.modules["test_facts"] = ModuleType("test_facts")
        exec(compile(target.read_text(encoding="utf-8"), str(target), "exec"), names)
    finally:
        sys.path.remove(str(folder))
        del sys.modules["test_facts"]
    found = {}
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    assert tests
    for name, test in tests.items():
        try:
            test()
        except pytest.fail.Exception as failed:
            found[name] = str(failed)
    return found


def test_the_file_passes_on_the_right_program_and_names_the_statement_otherwise(written: Path) -> None:
    assert failures(written / "out", "small") == {}
    broken_ = PROGRAM + 'rule reviews on Meeting { when kind == "review" and start.time in 13:00..15:00 score 0.9 }\n'
    (written / "broken.ucl").write_text(broken_, encoding="utf-8")
    assert run_here("build", written / "broken.ucl", "-o", written / "out").status == 0
    first, second, *rest = failures(written / "out", "small")["test_f1_avoids_meeting_time_after_lunch"].splitlines()
    assert first == '“Not "right" after lunch \\” (chat f1, 2026-03-04)'
    assert "must be at least -1.131 and at most -0.566" in second
    assert "lunch (-0.8), reviews (+0.9)" in second
    assert {"  kind   review", "  now    2026-03-04"} <= set(rest)
    assert run_here("build", written / "rules.ucl", "-o", written / "out").status == 0


def clean(folder: Path, name: str) -> None:
    """As linters and type checkers see the file."""
    for words in (
        ["ruff", "check", "--isolated", "--extend-select", "COM819", name],
        ["ruff", "check", "--config", str(ROOT / "pyproject.toml"), name],
        ["mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), name],
    ):
        ran = subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_file_is_clean(written: Path) -> None:
    clean(written / "out", "test_facts.py")


def test_the_same_facts_give_the_same_file_and_edits_are_left_alone(written: Path) -> None:
    target = written / "out" / "test_facts.py"
    before = target.read_text(encoding="utf-8")
    again = run_here("facts2tests", written / "facts.jsonl", "-o", written / "out", "--program", written / "rules.ucl")
    assert (again.status, target.read_text(encoding="utf-8")) == (0, before)
    for text, said in ((before + "# mine\n", "was edited"), ("print()\n", "not one of our")):
        target.write_text(text, encoding="utf-8")
        ran = run_here(
            "facts2tests", written / "facts.jsonl", "-o", written / "out", "--program", written / "rules.ucl"
        )
        assert (ran.status, said in ran.err, target.read_text(encoding="utf-8")) == (2, True, text)
    words = ["--program", written / "rules.ucl", "--force"]
    assert run_here("facts2tests", written / "facts.jsonl", "-o", written / "out", *words).status == 0
    assert target.read_text(encoding="utf-8") == before


def test_hostile_words_stay_words(written: Path) -> None:
    hostile = '"""\n__import__("os").system("false")\n\'\'\' \\N{x} {} {0} %s \u2028 # \x00'
    fact = {**FACTS[0], "id": hostile[:60], "context": {"utterance": hostile, "title": hostile}}
    (written / "hostile.jsonl").write_text(facts_text([fact]), encoding="utf-8")
    words = ["-o", written / "hostile", "--program", written / "rules.ucl", "--no-build"]
    assert run_here("facts2tests", written / "hostile.jsonl", *words).status == 0
    (target,) = (written / "hostile").iterdir()
    compile(target.read_text(encoding="utf-8"), str(target), "exec")


def test_what_became_of_the_facts_is_said(written: Path) -> None:
    words = ["-o", written / "told", "--program", written / "rules.ucl", "--format", "json"]
    (told,) = run_here("facts2tests", written / "facts.jsonl", *words).lines
    assert len(told["tests"]) == 9
    assert told["untested"][0]["ids"] == ["u1"]
    assert [(c["earlier"]["id"], c["later"]["id"], c["from"]) for c in told["contradictions"]] == [
        ("f6", "f7", "2026-05-01")
    ]
    text = run_here("facts2tests", written / "facts.jsonl", "-o", written / "told", "--program", written / "rules.ucl")
    assert "names nothing that `start` can be" in text.out


def test_bad_facts_fail_and_the_others_are_tested(written: Path) -> None:
    (written / "bad.jsonl").write_text(f"{facts_text()}\n{{\n", encoding="utf-8")
    ran = run_here("facts2tests", written / "bad.jsonl", "-o", written / "bad", "--program", written / "rules.ucl")
    assert ran.status == 1
    assert "bad.jsonl:11:1" in ran.err
    assert (written / "bad" / "test_bad.py").exists()


@pytest.mark.parametrize("data", [b"\xff{}", b"{}", b'{"id": '])
def test_where_nothing_can_be_read_what_was_written_stays(written: Path, data: bytes) -> None:
    facts, words = written / "kept.jsonl", ["-o", written / "kept", "--program", written / "rules.ucl", "--no-build"]
    facts.write_text(facts_text(), encoding="utf-8")
    assert run_here("facts2tests", facts, *words).status == 0
    before = (written / "kept" / "test_kept.py").read_text(encoding="utf-8")
    facts.write_bytes(data)
    ran = run_here("facts2tests", facts, *words)
    assert (ran.status, ran.out) == (1, "")
    assert "no tests are written" in ran.err
    assert (written / "kept" / "test_kept.py").read_text(encoding="utf-8") == before


def test_properties_go_to_standard_output(written: Path) -> None:
    ran = run_here("facts2tests", written / "facts.jsonl", "--properties", "--program", written / "rules.ucl")
    assert (ran.status, ran.out) == (0, stated().properties())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.jsonl", "-o", "x", "--program", "rules.ucl"], "there is no file `none.jsonl`"),
        (["facts.jsonl", "--program", "rules.ucl"], "name a folder"),
        (["facts.jsonl", "-o", "x", "--program", "rules.ucl", "--schema", "Mail"], "Mail"),
        (["facts.jsonl", "-o", "x", "--program", "rules.ucl", "--vocabulary", "none.toml"], "no file `none.toml`"),
        (["alone/facts.jsonl", "-o", "x"], "there is no program beside"),
    ],
)
def test_wrong_use(written: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(written)
    ran = run_here("facts2tests", *words)
    assert (ran.status, said in ran.err) == (2, True), ran.err


def test_a_program_without_a_context_and_with_its_own_schema(tmp_path: Path) -> None:
    program = """\
module trips
schema Trip { leaves: datetime?  nights: int in 0..=30  price: float = 1.0  tags: set<text> = {}  near: bool = true }
rule long on Trip { when nights > 7 score -0.5 }
rule early on Trip { when present(leaves) and leaves.time < 07:00 score -0.25 }
rule dear on Trip { when price > 100.5 score -0.5 }
"""
    (tmp_path / "trips.ucl").write_text(program)
    (tmp_path / "words.toml").write_text('[topics]\nhour = "leaves"\n')
    facts = [
        {"id": "1", "extracted_relation": "avoids_nights", "object": "more than 7", "sentiment": -0.5},
        {"id": "2", "extracted_relation": "avoids_hour", "object": "before 7am", "sentiment": -0.25},
        {"id": "3", "extracted_relation": "avoids_trip_price", "object": "over 100.5", "sentiment": -0.5},
    ]
    (tmp_path / "facts.jsonl").write_text(facts_text(facts))
    words = ["-o", tmp_path / "out", "--vocabulary", tmp_path / "words.toml"]
    ran = run_here("facts2tests", tmp_path / "facts.jsonl", *words)
    assert ran.status == 0, ran.err
    assert failures(tmp_path / "out", "trips") == {}
    near = program.replace("07:00", "07:01").replace("100.5", "99.5").replace("> 7", ">= 7")
    (tmp_path / "trips.ucl").write_text(near)
    assert run_here("build", tmp_path / "trips.ucl", "-o", tmp_path / "out").status == 0
    assert len(failures(tmp_path / "out", "trips")) == 3


@pytest.mark.slow
def test_the_files_of_other_schemas_and_of_the_example_are_clean_and_pass(tmp_path: Path) -> None:
    meetings = ROOT / "examples" / "meetings"
    words = ["--program", meetings / "meetings.ucl", "-o", tmp_path]
    ran = run_here("facts2tests", meetings / "facts.jsonl", *words)
    assert ran.status == 0, ran.err
    clean(tmp_path, "test_facts.py")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert "40 passed" in done.stdout


def test_the_example_has_contradictions_and_what_can_not_be_tested() -> None:
    meetings = ROOT / "examples" / "meetings"
    source = Source("meetings.ucl", (meetings / "meetings.ucl").read_text(encoding="utf-8"))
    statements = stated(source.text, (meetings / "facts.jsonl").read_text(encoding="utf-8"))
    assert len(statements.tested) >= 40
    assert len(statements.history.contradictions) >= 3
    assert len(statements.untested) >= 5


# --- any facts ------------------------------------------------------------------------------------------------------

OBJECTS = (
    "13:00-14:00|night|not_after_23:59|after 23:59|0:00-0:01|00:00-24:00|周五下午|not weekend|2026-03-04|9999-12-31|8|"
    "0|-5|more than 99999999999999999|over 999999999 weeks|at most 0|30-60 minutes|over an hour|true|not first|"
    "second|a;b|Board*|{}|100USD|over 0.0001 usd|standup or review|not external|low|\x00|\"|\\|'''|é|1e5"
).split("|")
ANY = compiled()
ANY_WORDS = {name: vocabulary(ANY.schemas[name], ANY.context) for name in ("Meeting", "Trip")}


@st.composite
def any_facts(draw: st.DrawFn, topics: Sequence[str]) -> list[Fact]:
    found = []
    for number in range(draw(st.integers(1, 6))):
        values = st.sampled_from([*OBJECTS, None, True, 3, ["a", "b"]])
        read = read_fact(
            {
                "id": f"{draw(st.sampled_from(['x', 'é', '1', 'class', '_']))}{number}",
                "source_type": draw(st.sampled_from(["chat", "calendar"])),
                "extracted_relation": draw(st.sampled_from(["avoids_", "prefers_"])) + draw(st.sampled_from(topics)),
                "subject": "u",
                "object": draw(st.sampled_from(OBJECTS)),
                "sentiment": draw(st.sampled_from([None, -1, -0.5, 0, 1e-9, 1])),
                "context": draw(
                    st.dictionaries(st.sampled_from([*topics, "hard", "since", "until"]), values, max_size=2)
                ),
                "timestamp": draw(st.sampled_from([None, "2026-01-01", "2026-05-05T10:00:00Z", "1900-01-01"])),
            }
        )
        if isinstance(read, Fact):
            found.append(read)
    return found


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(sorted(ANY_WORDS)))
def test_whatever_facts_ask_is_a_right_program_and_right_python(data: st.DataObject, schema: str) -> None:
    words = ANY_WORDS[schema]
    statements = statements_of(ANY, data.draw(any_facts(sorted(words.topics))), words, habits=True)
    _, report = check_source(Source("trips.ucl", f"{ANY.sources[0].text}\n{statements.properties()}"))
    assert [d.message for d in report if d.severity is Severity.ERROR] == []
    compile(file_of(statements, "facts.jsonl"), "test_facts.py", "exec")
