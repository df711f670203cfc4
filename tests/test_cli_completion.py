"""`uclc completion`: the scripts complete what the commands take, in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cli_runs import run_here

from ucl.cli.app import COMMANDS, parser_of
from ucl.diagnostics import SEVERITIES

FLAGS = {
    name: {flag for action in parser_of(name)._actions for flag in action.option_strings}
    for name in COMMANDS
}  # fmt: skip


def has(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


def ask(shell: str, code: str, folder: Path, before: str = "") -> list[str]:
    """The lines that the shell prints for code that follows the script."""
    script = f"{before}\n{run_here('completion', shell).out}"
    done = subprocess.run([shell, "-c", f"{script}\n{code}"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def bash(line: str, folder: Path) -> list[str]:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    code = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _uclc; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return sorted(filter(None, ask("bash", code, folder)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "meetings.ucl").write_text("")
    (tmp_path / "my rows.csv").write_text("")
    return tmp_path


@has("bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("uclc al", ["alerts"]),
        ("uclc me", ["meetings.ucl"]),
        ("uclc check --form", ["--format"]),
        ("uclc check --format s", ["sarif"]),
        ("uclc check m", ["meetings.ucl", "my rows.csv"]),
        ("uclc score meetings.ucl my", ["my rows.csv"]),
        ("uclc score --now m", []),
        ("uclc score -o m", ["meetings.ucl", "my rows.csv"]),
        ("uclc explain-code chained", ["chained-comparison"]),
        ("uclc completion ", ["bash", "fish", "zsh"]),
        ("uclc nonsense --", []),
    ],
)
def test_bash_completes(line: str, expected: list[str], folder: Path) -> None:
    assert bash(line, folder) == expected


@has("bash")
def test_bash_knows_every_command_and_option(folder: Path) -> None:
    assert set(bash("uclc ", folder)) >= set(COMMANDS)
    for name, flags in FLAGS.items():
        assert set(bash(f"uclc {name} -", folder)) == flags, name
    assert set(bash("uclc explain-code ", folder)) == set(SEVERITIES)


@has("zsh")
def test_zsh_completes(folder: Path) -> None:
    """What it hands to zsh's own functions, which need a terminal."""
    before = "compdef() {}; _arguments() { print -rl -- $words[1] $@ }"
    told = ask("zsh", "words=(uclc score -o x); CURRENT=4; _uclc", folder, before)
    assert told[0] == "score"
    assert {line.partition("[")[0] for line in told[1:]} == FLAGS["score"] | {"*:file:_files"}
    assert "--format[a table for reading, or FILE’s own, by default]:word:(table json csv parquet arrow)" in told
    before = "compdef() {}; _files() {}; _describe() { print -rl -- ${(P)2} }"
    told = ask("zsh", "words=(uclc ''); CURRENT=2; _uclc", folder, before)
    assert [line.partition(":")[0] for line in told] == list(COMMANDS)


@has("fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("uclc che", ["check"]),
        ("uclc check --format s", ["sarif"]),
        ("uclc explain-code chained", ["chained-comparison"]),
    ],
)
def test_fish_completes(line: str, expected: list[str], folder: Path) -> None:
    told = ask("fish", f'complete -C"{line}"', folder)
    assert [found.partition("\t")[0] for found in told] == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_names_every_command_and_option(shell: str) -> None:
    script = run_here("completion", shell).out
    for name, flags in FLAGS.items():
        assert name in script
        assert all(flag[2:] in script for flag in flags)


def test_an_unknown_shell_is_wrong_use() -> None:
    ran = run_here("completion", "tcsh")
    assert ran.status == 2
    assert "bash" in ran.err
