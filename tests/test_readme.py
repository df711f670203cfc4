"""The first page is true: its programs check, its commands print what it shows, its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cli_runs import ROOT, run_here

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(after: str, language: str) -> str:
    """The first block of a language after some text."""
    place = README.index(after)
    found = re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S).search(README, place)
    assert found, after
    return found[1]


def test_the_first_program_is_right(tmp_path: Path) -> None:
    path = tmp_path / "meetings.ucl"
    path.write_text(block("# UCL", "ucl"), encoding="utf-8")
    ran = run_here("check", path)
    assert ran.status == 0, ran.out


def test_the_main_command_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    command = block("<!-- main-command -->", "sh")
    assert command.count("\n") == 1, "it can be pasted as one line"
    monkeypatch.chdir(ROOT)
    _, _, words = command.partition(".venv/bin/uclc ")
    ran = run_here(*shlex.split(words))
    assert ran.status == 0
    assert ran.out == block("<!-- main-command -->", "text")


def test_the_compiler_says_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = block("<!-- check-program -->", "ucl")
    Path("calls.ucl").write_text(program, encoding="utf-8")
    assert run_here("check", "calls.ucl").out == block("<!-- check-output -->", "text")
    Path("calls.ucl").write_text(program.replace("15min", "15"), encoding="utf-8")
    assert "write `duration <= 15min`" in run_here("check", "calls.ucl").out


def test_what_is_said_of_the_tests_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = block("<!-- mutate-program -->", "ucl")
    Path("calls.ucl").write_text(program, encoding="utf-8")
    words = ("test", "calls.ucl", "--mutate", "--now", "2026-11-30")
    assert block("<!-- mutate-output -->", "text") in run_here(*words).out
    more = 'property days on Meeting { given start.time in 06:00..22:00 or kind == "external" expect score == 0 }\n'
    Path("calls.ucl").write_text(program + more, encoding="utf-8")
    assert "9 of 11 mutants killed" in run_here(*words).out


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    # Our own page, not a user's text.
    exec(compile(block("## Three lines", "python"), "README.md", "exec"), {})
    assert "avoid_after_lunch" in capsys.readouterr().out


def test_the_tests_command_can_be_pasted() -> None:
    assert block("<!-- test-command -->", "sh").count("\n") == 1


def test_every_command_is_listed() -> None:
    listed = block_of_table("## Commands")
    for line in run_here("--help").out.splitlines():
        if found := re.match(r"  ([a-z][a-z0-9-]*)  ", line):
            assert re.search(rf"[`]{found[1]}\b", listed), found[1]


def block_of_table(heading: str) -> str:
    _, _, rest = README.partition(heading)
    return rest.partition("\n## ")[0]
