"""`uclc check --watch`: it looks again when a file changes, imported files too, and ends when it is interrupted."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import command, environment

from ucl.analysis.findings import analyse
from ucl.cli.checking import watch
from ucl.cli.checking.again import Again
from ucl.cli.output import CommandError
from ucl.driver import check_path

PATIENCE = 30.0
NOW = 1_780_000_000_000_000


class Watching:
    """A process that watches, and the lines that it writes."""

    def __init__(self, *words: str | Path, folder: Path) -> None:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(
            command("check", "--fast", "--watch", *words), cwd=folder, env=environment(), **streams  # type: ignore[call-overload]
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)

    def run(self) -> str:
        """What the next run says."""
        said = ""
        while "watching" not in said:
            said += self._lines.get(timeout=PATIENCE)
        return said


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    (tmp_path / "shared.ucl").write_text("let least = 3\n")
    (tmp_path / "p.ucl").write_text(
        "import shared (least)\nschema S { n: int }\nrule a on S { when n > least score 1 }"
    )
    watched = Watching("p.ucl", folder=tmp_path)
    yield watched
    watched.process.kill()
    watched.process.wait()


def test_a_change_of_a_file_or_of_an_import_is_seen(watching: Watching, tmp_path: Path) -> None:
    first = watching.run()
    assert "no problems in 1 file" in first
    assert "watching 2 files" in first
    (tmp_path / "shared.ucl").write_text("let least = 1 +\n")
    assert "error[syntax]" in watching.run()
    (tmp_path / "shared.ucl").unlink()
    assert "unknown-import" in watching.run()
    (tmp_path / "new").write_text("let least = 4\n")
    (tmp_path / "new").replace(tmp_path / "shared.ucl")
    assert "no problems" in watching.run()
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(PATIENCE) == 0


# --- without a clock ------------------------------------------------------------------------------------------------


class Script:
    """Stands in for sleep: each pause does the next step, and an interrupt ends the last."""

    def __init__(self, *steps: object) -> None:
        self.steps = list(steps)

    def __call__(self, seconds: float) -> None:
        if seconds == watch._SETTLING:
            return
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if callable(step):
            step()


def runs(monkeypatch: pytest.MonkeyPatch, paths: list[Path], imports: set[Path], *steps: object) -> int:
    """How often a run takes place while these things happen, one a pause."""
    count = 0

    def run(looked_up: set[Path]) -> None:
        nonlocal count
        count += 1
        looked_up |= imports

    monkeypatch.setattr(watch.time, "sleep", Script(*steps))
    assert watch.repeat(paths, run) == 0
    return count


def test_nothing_happens_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.ucl").write_text("")
    assert runs(monkeypatch, [tmp_path], {tmp_path / "not_there.ucl"}, None, None, None) == 1


def test_new_files_and_missing_imports_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = tmp_path / "elsewhere" / "b.ucl"
    imported.parent.mkdir()
    (tmp_path / "main").mkdir()
    steps = [
        lambda: (tmp_path / "main" / "a.ucl").write_text("let x = 1"),
        None,
        lambda: imported.write_text("let y = 1"),
        lambda: (tmp_path / "main" / "a.txt").write_text("no program"),
        lambda: os.utime(imported, ns=(1, 1)),
        (tmp_path / "main" / "a.ucl").unlink,
    ]
    assert runs(monkeypatch, [tmp_path / "main"], {imported}, *steps) == 5


def test_a_change_during_a_run_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.ucl"
    path.write_text("let x = 1")
    lengths = []

    def run(looked_up: set[Path]) -> None:
        lengths.append(path.stat().st_size)
        if len(lengths) == 1:
            path.write_text("let x = 1 + 1")

    monkeypatch.setattr(watch.time, "sleep", Script(None))
    assert watch.repeat([path], run) == 0
    assert lengths == [9, 13]


def test_wrong_use_is_said_and_waited_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(looked_up: set[Path]) -> None:
        raise CommandError("no programs here")

    monkeypatch.setattr(watch.time, "sleep", Script(lambda: (tmp_path / "p.ucl").write_text("")))
    assert watch.repeat([tmp_path], run) == 0
    assert capsys.readouterr().err.count("no programs here") == 2
    assert "\x1b" not in capsys.readouterr().out


def test_what_is_found_of_the_next_version_is_what_a_check_finds(tmp_path: Path) -> None:
    path, again = tmp_path / "p.ucl", Again()
    rule = "rule {} on S {{ when n > {} score {} }}"
    schema = "schema S { n: int in 0..=9 }"
    versions = (
        [schema, rule.format("a", 3, 0.5), rule.format("b", 5, -0.5)],
        [schema, rule.format("a", 3, 0.5), rule.format("b", 7, -0.5)],
        [schema, rule.format("a", 3, 0.5), "rule b on S {"],
        [schema, rule.format("b", 7, -0.5)],
    )
    for lines in versions:
        path.write_text("\n".join(lines) + "\n")
        fresh, report = check_path(path)
        program, said = again.check(path, set())
        assert [d.as_json() for d in said] == [d.as_json() for d in report]
        assert (program is None) == (fresh is None)
        if program is not None and fresh is not None:
            found = again.findings(path, program, NOW, False)
            assert [d.as_json() for d in found] == [d.as_json() for d in analyse(fresh, NOW)]
