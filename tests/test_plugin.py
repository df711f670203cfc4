"""The pytest plugin: what is collected when, and what a failure shows. Each test runs pytest on a folder of its own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from cli_runs import ROOT

# Runs inside this process put back what was loaded before them, and NumPy can be loaded only once.
import ucl.analysis.findings
import ucl.testing.collecting
import ucl.testing.stated
import ucl.testing.words  # noqa: F401

pytest_plugins = "pytester"

# An environment into which this package was installed knows the plugin by its entry point, and takes it once only.
_PLUGIN = () if list(entry_points(group="pytest11", name="ucl")) else ("-p", "ucl.testing.plugin")

GOOD = """
schema S { n: int in 0..=9 }
rule warm on S { when n > 4 score 1 }
property keeps_warm on S {
  given n > 4
  expect score > 0
  because "I like it hot"
  from chat "c1" at 2026-01-05
}
prefer big on S { better n == 5 worse n == 1 }
"""
LATER = "rule cold on S { when n > 7 score -2 }\n"
WRONG = "schema S { n: int }\nrule x on S { when nn > 3 score 1 }\n"


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    """A program, one that is wrong on purpose, and a test in Python."""
    write(pytester, "rules.ucl", GOOD)
    write(pytester, "wrong/bad.ucl", WRONG)
    pytester.makepyfile(test_plain="def test_plain():\n    pass\n")
    return pytester


def write(pytester: pytest.Pytester, name: str, text: str) -> None:
    path = pytester.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def ran(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*_PLUGIN, "-p", "no:cacheprovider", *words)


# --- what is collected ----------------------------------------------------------------------------------------------


def test_nothing_is_collected_unasked(folder: pytest.Pytester) -> None:
    ran(folder).assert_outcomes(passed=1)


def test_a_flag_collects_them(folder: pytest.Pytester) -> None:
    ran(folder, "--ucl").assert_outcomes(passed=4, failed=1)


def test_a_setting_collects_them(folder: pytest.Pytester) -> None:
    folder.makeini("[pytest]\nucl = true\n")
    ran(folder).assert_outcomes(passed=4, failed=1)


def test_naming_a_file_collects_it(folder: pytest.Pytester) -> None:
    ran(folder, "rules.ucl").assert_outcomes(passed=3)
    ran(folder, "rules.ucl::big").assert_outcomes(passed=1)


def test_items_can_be_listed_and_chosen(folder: pytest.Pytester) -> None:
    listed = ran(folder, "rules.ucl", "--collect-only", "-q")
    assert [line for line in listed.outlines if "::" in line] == [
        "rules.ucl::keeps_warm",
        "rules.ucl::big",
        "rules.ucl::check-program",
    ]
    ran(folder, "rules.ucl", "-k", "big").assert_outcomes(passed=1, deselected=2)
    ran(folder, "--ucl", "-m", "ucl", "--strict-markers").assert_outcomes(passed=3, failed=1, deselected=1)


def test_a_program_without_promises_has_nothing_to_test(pytester: pytest.Pytester) -> None:
    write(pytester, "plain.ucl", "schema S { n: int }\nrule r on S { when n > 1 score 1 }\n")
    assert ran(pytester, "plain.ucl").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_workers_share_the_items(folder: pytest.Pytester) -> None:
    write(folder, "rules.ucl", GOOD + LATER)
    found = folder.runpytest_subprocess(*_PLUGIN, "-n", "2", "rules.ucl")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(['*it stands for "I like it hot"*', "FAILED rules.ucl::keeps_warm - *"])


# --- what a failure shows -------------------------------------------------------------------------------------------


def failure(found: pytest.RunResult, name: str) -> Sequence[str]:
    """The lines below the head of one failure."""
    heads = [place for place, line in enumerate(found.outlines) if line.strip("_ ") == name and line.startswith("__")]
    (head,) = heads
    return found.outlines[head + 1 :]


def test_a_failure_says_the_statement_the_blame_and_the_counterexample(folder: pytest.Pytester) -> None:
    write(folder, "rules.ucl", GOOD + LATER)
    found = ran(folder, "rules.ucl")
    assert list(failure(found, "keeps_warm")[:8]) == [
        "broken  keeps_warm, by cold",
        '  it stands for "I like it hot" (chat "c1", 2026-01-05)',
        "  given n > 4",
        "  expect score > 0",
        "  at rules.ucl:4:10",
        "  but for",
        "    n  8",
        "    score -1 (+1 warm, -2 cold), decision: ask the user",
    ]
    assert "Traceback" not in found.stdout.str()
    found.stdout.fnmatch_lines(["FAILED rules.ucl::keeps_warm - `keeps_warm` is broken by `cold`*"])


def test_a_program_that_is_wrong_is_one_failure(folder: pytest.Pytester) -> None:
    found = ran(folder, "wrong/bad.ucl")
    found.assert_outcomes(failed=1)
    assert failure(found, "check-program")[0].startswith("error[unknown-name]: ")
    assert "Traceback" not in found.stdout.str()


def test_what_only_the_analysis_finds_fails_too(pytester: pytest.Pytester) -> None:
    never = "rule never on S { when n > 4 and n < 3 score 1 }\n"
    write(pytester, "rules.ucl", GOOD + never)
    found = ran(pytester, "rules.ucl")
    found.assert_outcomes(passed=2, failed=1)
    assert failure(found, "check-program")[0].startswith("error[never-applies]: ")


def test_what_is_watched_or_retired_fails_nothing(pytester: pytest.Pytester) -> None:
    more = "property watched on S { expect score == 1 status shadow }\n"
    more += "property gone on S { expect score == 1 status retired }\n"
    write(pytester, "rules.ucl", GOOD + more)
    ran(pytester, "rules.ucl").assert_outcomes(passed=3, xfailed=1, skipped=1)


def test_a_file_that_is_gone_is_an_error(folder: pytest.Pytester) -> None:
    (folder.path / "rules.ucl").unlink()
    (folder.path / "rules.ucl").symlink_to(folder.path / "nowhere")
    assert ran(folder, "rules.ucl").ret != pytest.ExitCode.OK


# --- facts ----------------------------------------------------------------------------------------------------------

MEETING = """import std.scheduling (Meeting)
import std.dayparts (after_lunch)
rule avoid_after_lunch on Meeting { when start.time in after_lunch score -0.8 }
"""
FACT = """{"id": "f1", "source_type": "chat", "source_id": "c42", "extracted_relation": "avoids_meeting_time", \
"subject": "lena", "object": "immediately_after_lunch", "sentiment": -0.8, \
"context": {"utterance": "Not right after lunch"}, "timestamp": "2026-03-04T12:00:00Z"}
"""


def test_facts_beside_a_program_are_tested_too(pytester: pytest.Pytester) -> None:
    write(pytester, "rules.ucl", MEETING)
    write(pytester, "facts.jsonl", FACT)
    assert ran(pytester, "rules.ucl").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    pytester.makeini("[pytest]\nucl_facts = facts.jsonl\n")
    found = ran(pytester, "rules.ucl")
    assert found.ret == pytest.ExitCode.OK
    assert found.parseoutcomes()["passed"] > 1
    write(pytester, "rules.ucl", MEETING + "rule later on Meeting { when duration > 5min score 2 }\n")
    found = ran(pytester, "rules.ucl")
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert '  it stands for "Not right after lunch" (chat "c42", 2026-03-04)' in found.outlines
    assert "Traceback" not in found.stdout.str()


def test_a_vocabulary_says_what_facts_are_about(pytester: pytest.Pytester) -> None:
    write(pytester, "rules.ucl", MEETING)
    write(pytester, "facts.jsonl", FACT.replace("avoids_meeting_time", "avoids_calls"))
    write(pytester, "words.toml", '[topics]\ncalls = "start"\n')
    pytester.makeini("[pytest]\nucl_facts = facts.jsonl\n")
    assert ran(pytester, "rules.ucl").parseoutcomes() == {"passed": 1}
    pytester.makeini("[pytest]\nucl_facts = facts.jsonl\nucl_vocabulary = words.toml\n")
    assert ran(pytester, "rules.ucl").parseoutcomes()["passed"] > 2
    pytester.makeini("[pytest]\nucl_facts = facts.jsonl\nucl_vocabulary = none.toml\n")
    found = ran(pytester, "rules.ucl")
    assert found.ret == pytest.ExitCode.INTERRUPTED
    assert "none.toml: No such file or directory" in found.stdout.str()
    assert "Traceback" not in found.stdout.str()


def test_facts_that_cannot_be_read_fail_by_themselves(pytester: pytest.Pytester) -> None:
    write(pytester, "rules.ucl", MEETING)
    write(pytester, "facts.jsonl", FACT + "{}\n")
    pytester.makeini("[pytest]\nucl_facts = facts.jsonl\n")
    found = ran(pytester, "rules.ucl")
    assert found.parseoutcomes()["failed"] == 1
    assert failure(found, "read-facts")[0].startswith("error[")


# --- settings -------------------------------------------------------------------------------------------------------

DATED = """
schema S { n: int in 0..=9 }
rule warm on S { when n > 4 score 1 valid ..2026-02-01 }
property keeps_warm on S { given n > 4 expect score > 0 }
"""


@pytest.mark.parametrize(("setting", "passed", "failed"), [("", 1, 1), ("valid 2026-01-01..2026-02-01", 2, 0)])
def test_days_count_from_now_on(pytester: pytest.Pytester, setting: str, passed: int, failed: int) -> None:
    write(pytester, "rules.ucl", DATED.replace("score > 0", f"score > 0 {setting}"))
    pytester.makeini("[pytest]\nucl_now = 2026-01-10T09:00\nucl_samples = 50\nucl_seed = 3\n")
    ran(pytester, "rules.ucl").assert_outcomes(passed=passed, failed=failed)


@pytest.mark.parametrize(
    ("setting", "said"),
    [("ucl_samples = many", "*ucl_samples = many: not a whole number*"), ("ucl_now = soon", "*ucl_now = soon: *")],
)
def test_a_setting_that_cannot_be_read_is_said(folder: pytest.Pytester, setting: str, said: str) -> None:
    folder.makeini(f"[pytest]\n{setting}\n")
    found = ran(folder, "rules.ucl")
    assert found.ret != pytest.ExitCode.OK
    (found.stderr if "samples" in setting else found.stdout).fnmatch_lines([said])


# --- what it costs others -------------------------------------------------------------------------------------------


def test_loading_it_loads_nothing_else() -> None:
    code = "import pytest, sys\nbefore = set(sys.modules)\nimport ucl.testing.plugin\n"
    code += "print(*sorted(set(sys.modules) - before))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {"ucl", "ucl.testing", "ucl.testing.plugin"}
    assert {name for name in out.stdout.split() if name.startswith("ucl")} == ours
    assert len(set(out.stdout.split()) - ours) < 5


def test_the_entry_point_names_it() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module = declared["project"]["entry-points"]["pytest11"]["ucl"]
    assert hasattr(import_module(module), "pytest_collect_file")


def test_programs_of_our_own_are_not_collected(request: pytest.FixtureRequest) -> None:
    """Many in `tests/golden` are wrong on purpose."""
    assert not any(Path(item.path).suffix == ".ucl" for item in request.session.items)
