"""How the command line starts and ends: imports, pipes, full disks, signals. Each test runs a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import command, environment, folder, run_process

__all__ = ["folder"]

HEAVY = {"numpy", "pyarrow", "numba", "pydantic", "rich", "pandas", "duckdb", "lark", "z3"}
needs_full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


def loaded_by(*words: str) -> set[str]:
    """The modules that are loaded when a command has run."""
    code = (
        "import sys; from ucl.cli import main; status = main(); print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment(), check=True
    )
    return set(done.stderr.split())


def test_check_loads_nothing_heavy(folder: Path) -> None:
    assert loaded_by("check", "--fast", "meetings.ucl") & HEAVY == set()


def test_a_small_table_is_scored_without_numba(folder: Path) -> None:
    assert loaded_by("score", "meetings.ucl", "rows.jsonl") & HEAVY - {"numpy", "pyarrow"} == set()


def test_queries_and_alerts_load_no_table_library(folder: Path) -> None:
    (folder / "p.ucl").write_text("memory n: int = 3\ndef twice() -> int = n * 2\n")
    assert loaded_by("query", "p.ucl", "twice") & HEAVY == set()


def test_standard_input_and_output_are_utf8_whatever_the_locale(folder: Path) -> None:
    (folder / "p.ucl").write_text('schema S { 名: text }\nrule 好 on S { when 名 == "é" score 1 }\n', encoding="utf-8")
    words = command("score", "p.ucl", "-", "--format", "json")
    rows = '{"名": "é"}\n'.encode()
    done = subprocess.run(
        words, input=rows, capture_output=True, env=environment(LC_ALL="C", PYTHONUTF8="0"), check=True
    )
    assert json.loads(done.stdout.decode())["fired"] == ["好"]


@needs_full_disk
@pytest.mark.parametrize("format", ["json", "csv", "table"])
def test_a_full_disk_is_said(folder: Path, format: str) -> None:
    with open("/dev/full", "wb") as full:
        words = command("score", "meetings.ucl", "rows.jsonl", "--format", format)
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False)
    assert done.returncode == 2
    assert "no space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@needs_full_disk
def test_help_on_a_full_disk_is_said(folder: Path) -> None:
    for words in (["--help"], ["score", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                command(*words), stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False
            )
        assert (done.returncode, "no space left" in done.stderr) == (2, True)


@needs_full_disk
def test_a_full_disk_under_an_output_file_is_said(folder: Path) -> None:
    for format in ("json", "parquet"):
        ran = run_process("score", "meetings.ucl", "rows.jsonl", "-o", "/dev/full", "--format", format)
        assert ran.status == 2
        assert "no space left" in ran.err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_with_130_and_one_line(folder: Path) -> None:
    process = subprocess.Popen(
        command("score", "meetings.ucl", "-"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.splitlines() == ["error: interrupted"]


@pytest.mark.skipif(os.name != "posix", reason="a shell closes it")
@pytest.mark.parametrize(
    "words",
    [
        ["score", "meetings.ucl", "-"],
        ["score", "meetings.ucl", "rows.jsonl", "--memory", "-"],
        ["score", "meetings.ucl", "rows.jsonl", "--context", "-"],
        ["fmt", "-"],
    ],
)
def test_a_closed_input_is_said(folder: Path, words: list[str]) -> None:
    closing = ["sh", "-c", '"$@" <&-', "sh", *command(*words)]
    done = subprocess.run(closing, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 2
    assert "standard input" in done.stderr
    assert "closed" in done.stderr
    assert "uclc itself failed" not in done.stderr


def wait_until_reading(pid: int) -> None:
    """Until the process sleeps in a read of its standard input, with the program checked."""
    wchan = Path(f"/proc/{pid}/syscall")
    for _ in range(600):
        time.sleep(0.05)
        try:
            if wchan.read_text().startswith("0 0x0 "):
                return
        except OSError:
            time.sleep(2)
            return


@pytest.mark.parametrize("format", ["json", "csv"])
def test_a_reader_that_goes_away_is_met_in_silence(folder: Path, format: str) -> None:
    (folder / "many.jsonl").write_text('{"start": "2026-03-04T13:00"}\n' * 5000)
    process = subprocess.Popen(
        command("score", "meetings.ucl", "many.jsonl", "--format", format),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read().decode()
    process.wait(timeout=60)
    assert process.returncode == 141
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_a_closed_output_does_no_harm(folder: Path) -> None:
    words = command("score", "meetings.ucl", "rows.jsonl")
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *words], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_bug_of_ours_is_two_lines(folder: Path) -> None:
    code = (
        "import sys, ucl.driver\n"
        "def broken(path): raise ZeroDivisionError('boom')\n"
        "ucl.driver.check_path = broken\n"
        "from ucl.cli import main\n"
        "sys.exit(main(['check', 'meetings.ucl']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 2
    assert "uclc itself failed" in done.stderr
    assert "report this" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_version_and_help() -> None:
    assert run_process("--version").out.startswith("uclc ")
    helped = run_process("--help")
    assert helped.status == 0
    assert "check" in helped.out
    assert run_process("score", "--help").out.startswith("usage: uclc score")
