"""`uclc check` with the analysis: statuses, JSON, and witnesses that the command line itself scores."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ucl.cli import main

CONFLICT = """\
schema S { n: int in 0..=10 }
rule liked on S { when n > 3 score 0.5 valid 2030-01-01.. }
rule disliked on S { when n > 5 score -0.25 }
rule far on S { score 0.1 }
"""
DEAD = "schema S { n: int in 0..=10 }\nrule dead on S { when n > 5 and n < 3 score 0.5 }\n"


def run(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with redirect_stdout(out):
        status = main(list(arguments))
    return status, out.getvalue()


def diagnostics(path: Path, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("check", str(path), "--format", "json", *options)[1])["diagnostics"]
    return found


def written(folder: Path, text: str) -> Path:
    path = folder / "p.ucl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_conflict_is_a_warning_and_its_witness_scores(tmp_path: Path) -> None:
    path = written(tmp_path, CONFLICT)
    assert run("check", str(path))[0] == 0
    assert run("check", "--strict", str(path))[0] == 1
    (found,) = (d for d in diagnostics(path) if d["code"] == "conflict")
    assert found["rules"] == ["disliked", "liked"]
    assert found["certainty"] == "certain"
    option, context = tmp_path / "w.jsonl", tmp_path / "c.json"
    option.write_text(json.dumps(found["witness"]["option"]))
    context.write_text(json.dumps(found["witness"]["context"]))
    status, printed = run("score", str(path), str(option), "--context", str(context), "--format", "json")
    row = json.loads(printed)
    assert status == 0
    assert row["total"] == found["witness"]["total"]
    assert {"liked", "disliked"} <= set(row["fired"])


def test_what_only_the_analysis_finds_fails_the_check(tmp_path: Path) -> None:
    path = written(tmp_path, DEAD)
    assert run("check", str(path))[0] == 1
    assert run("check", "--fast", str(path))[0] == 0
    (found,) = diagnostics(path)
    assert (found["code"], found["severity"], found["line"]) == ("never-applies", "error", 2)
    assert found["witness"] is None
    assert diagnostics(path, "--fast") == []


def test_now_says_from_which_day_on(tmp_path: Path) -> None:
    path = written(tmp_path, CONFLICT.replace("2030-01-01..", "..2030-01-01"))
    assert "conflict" in {d["code"] for d in diagnostics(path, "--now", "2029-01-01")}
    assert "conflict" not in {d["code"] for d in diagnostics(path, "--now", "2031-01-01")}


def test_tensions_are_listed_on_request(tmp_path: Path) -> None:
    path = written(tmp_path, CONFLICT)
    assert [d["rules"] for d in diagnostics(path) if d["code"] == "tension"] == [[]]
    assert ["far", "disliked"] in [d["rules"] for d in diagnostics(path, "--tensions") if d["code"] == "tension"]


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_every_format_names_the_rules(tmp_path: Path, format: str) -> None:
    printed = run("check", str(written(tmp_path, CONFLICT)), "--format", format)[1]
    assert "conflict" in printed
    assert "disliked" in printed
