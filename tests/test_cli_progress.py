"""What a person sees who waits, and that nobody else sees any of it."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from cli_runs import folder, run_here

from ucl.cli import progress
from ucl.cli.progress import Progress
from ucl.kernels.engines import choice, kernel_cache, numba_engine

__all__ = ["folder"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """To stand in place of standard error, before a person without patience."""
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def wait_for(text: str, shown: Terminal) -> None:
    for _ in range(400):
        if text in shown.getvalue():
            return
        time.sleep(0.02)
    pytest.fail(f"never shown: {text}")


def test_a_phase_is_shown_while_one_call_takes_long(terminal: Terminal) -> None:
    with redirect_stderr(terminal), Progress() as shown:
        shown.phase("reading")
        wait_for("reading", terminal)
        shown.phase("writing", 1000)
        assert list(shown.over(range(1000))) == list(range(1000))
        wait_for("writing", terminal)
        shown.remark("[a] line that stays")
        wait_for("[a] line that stays", terminal)
    length = len(terminal.getvalue())
    time.sleep(0.2)
    assert len(terminal.getvalue()) == length, "nothing goes on after the end"


def test_nothing_is_shown_that_is_not_wanted(terminal: Terminal) -> None:
    with redirect_stderr(terminal), Progress(wanted=False) as shown:
        shown.phase("reading")
        time.sleep(0.05)
    assert terminal.getvalue() == ""
    plain = io.StringIO()
    with redirect_stderr(plain), Progress() as shown:
        shown.phase("reading")
        time.sleep(0.05)
        shown.remark("a line")
    assert plain.getvalue() == "a line\n"


def test_quick_work_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 60.0)
    with redirect_stderr(terminal), Progress() as shown:
        shown.phase("reading")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.jsonl"])
def test_every_format_counts_its_rows(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int | None, int]] = []

    class Noted(Progress):
        def phase(self, name: str, rows: int | None = None) -> None:
            seen.append((name, rows, 0))

        def rows_done(self, count: int) -> None:
            seen[-1] = (*seen[-1][:2], seen[-1][2] + count)

    monkeypatch.setattr("ucl.cli.scoring.score.Progress", Noted)
    assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name).status == 0
    assert [name for name, *_ in seen][:2] == ["reading", "scoring"]
    assert seen[-1] == ("writing", 4, 4)


def test_compiling_is_announced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_process", choice.Process(portable_seconds=100.0))
    monkeypatch.setattr(numba_engine, "load_kernels", lambda on_compile: on_compile())
    ran = run_here("score", "meetings.ucl", "rows.jsonl")
    assert ran.err.splitlines()[0] == "compiling the kernels, once for this machine"


def test_warmup_says_where_nothing_could_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numba_engine, "load_kernels", lambda on_compile: kernel_cache.mark_ready())
    for cache, status, said in ((tmp_path / "cache", 0, "are ready"), (Path("/dev/null"), 2, "could not be kept in")):
        monkeypatch.setenv("UCL_CACHE_DIR", str(cache))
        monkeypatch.setattr(choice, "_process", choice.Process())
        ran = run_here("warmup")
        assert (ran.status, said in ran.err) == (status, True)
