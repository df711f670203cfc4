"""What `uclc bench` says of its arguments, before it measures anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import run_here

from ucl.bench import WORKS
from ucl.cli.app import parser_of


@pytest.mark.parametrize("option", ["--rows", "--rules", "--repeats", "--threads", "--megabytes"])
@pytest.mark.parametrize(("given", "said"), [("0", "`0` is less than 1"), ("-1", "`-1` is not a whole number")])
def test_of_everything_there_is_one_at_least(option: str, given: str, said: str) -> None:
    run = run_here("bench", "option", option, given)
    assert run.status == 2
    assert f"argument {option}: {said}" in run.err


def test_a_folder_that_is_not_there_is_said_before_measuring(tmp_path: Path) -> None:
    run = run_here("bench", "option", "--picture", str(tmp_path / "none" / "x.svg"))
    assert (run.status, run.out) == (2, "")
    assert f"there is no folder `{tmp_path / 'none'}` for the picture" in run.err


def test_the_help_names_every_work() -> None:
    named = parser_of("bench").format_help().partition("WORK")[2]
    assert [work for work in WORKS if work not in named] == []
