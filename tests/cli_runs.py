"""Runs the real command line: in this process where only what it prints matters, in its own where how it ends does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ucl.cli import main

ROOT = Path(__file__).parent.parent

MEETINGS = """\
module meetings
import std.scheduling (Meeting)
timezone "America/New_York"
rule avoid_after_lunch on Meeting {
  when start.time in 13:00..14:00 and kind != "external"
  unless priority >= 8
  score -0.8
  because "not right after lunch"
  from chat "c42" at 2026-03-04
  confidence 0.9
}
rule vip_is_fine on Meeting overrides avoid_after_lunch { when "ann@example.com" in attendees score 0.6 }
rule maybe on Meeting { when remote score 1 status shadow }
constraint nothing_late on Meeting { forbid when start.time in 22:00..06:00 because "no calls at night" }
"""
ROWS = """\
{"start": "2026-03-04T13:00"}
{"start": "2026-03-04T13:30", "attendees": ["ann@example.com"]}
{"start": "2026-03-04T23:00", "remote": true}
{"start": "lunch"}
"""


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def run_here(*words: str | Path) -> Ran:
    """In this process: fast, and blind to start-up, signals and full disks."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(word) for word in words])
    return Ran(status, out.getvalue(), err.getvalue())


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-c", "import sys; from ucl.cli import main; sys.exit(main())", *map(str, words)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def run_process(*words: str | Path, **options: Any) -> Ran:
    """In its own process, as a shell would run it."""
    settings: dict[str, Any] = {"capture_output": True, "text": True, "env": environment(), "timeout": 120, **options}
    done = subprocess.run(command(*words), check=False, **settings)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and a table in it, the current one of the test."""
    (tmp_path / "meetings.ucl").write_text(MEETINGS, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(ROWS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
