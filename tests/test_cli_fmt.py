"""`uclc fmt`: files in place, standard input to standard output, and what `--check` and `--diff` say."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from cli_runs import folder, run_here, run_process

__all__ = ["folder"]

MESSY = "schema S {n:int}   # a\nrule a on S{score 1 when n>1}\n"


@pytest.fixture
def messy(folder: Path) -> Path:
    path = folder / "messy.ucl"
    path.write_text(MESSY, encoding="utf-8")
    return path


def test_a_file_is_laid_out_in_place_and_once_is_enough(messy: Path) -> None:
    first = run_here("fmt", "messy.ucl")
    assert (first.status, first.out) == (0, "formatted messy.ucl\n")
    neat = messy.read_text(encoding="utf-8")
    assert neat != MESSY
    assert "# a" in neat
    assert (run_here("fmt", "messy.ucl").out, messy.read_text(encoding="utf-8")) == ("", neat)
    assert run_here("check", "--fast", "messy.ucl").status == 0


def test_check_writes_nothing_and_fails_where_a_file_would_change(messy: Path) -> None:
    ran = run_here("fmt", "--check", "messy.ucl")
    assert (ran.status, ran.out) == (1, "would change messy.ucl\n")
    assert messy.read_text(encoding="utf-8") == MESSY
    run_here("fmt", "messy.ucl")
    assert run_here("fmt", "--check", "messy.ucl").status == 0


def test_diff_shows_what_would_change(messy: Path) -> None:
    ran = run_here("fmt", "--diff", "messy.ucl")
    assert ran.status == 1
    assert "-schema S {n:int}   # a\n" in ran.out
    assert messy.read_text(encoding="utf-8") == MESSY


def test_standard_input_goes_to_standard_output(messy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MESSY.encode())))
    ran = run_here("fmt", "-")
    run_here("fmt", "messy.ucl")
    assert ran.out == messy.read_text(encoding="utf-8")


def test_a_file_with_mistakes_is_left_alone(messy: Path) -> None:
    messy.write_text("rule {", encoding="utf-8")
    ran = run_here("fmt", "messy.ucl")
    assert ran.status == 1
    assert "error[syntax]" in ran.err
    assert messy.read_text(encoding="utf-8") == "rule {"


def test_a_link_stays_a_link_and_a_mode_stays(messy: Path, folder: Path) -> None:
    messy.chmod(0o640)
    (folder / "link.ucl").symlink_to(messy)
    run_here("fmt", "link.ucl")
    assert (folder / "link.ucl").is_symlink()
    assert messy.stat().st_mode & 0o777 == 0o640
    assert messy.read_text(encoding="utf-8") != MESSY


def test_a_missing_file_gives_status_2(folder: Path) -> None:
    assert run_here("fmt", "missing.ucl").status == 2


def test_input_that_is_no_text(folder: Path) -> None:
    ran = run_process("fmt", "-", input="\udcff", errors="surrogateescape")
    assert ran.status == 1
    assert "not UTF-8" in ran.err
