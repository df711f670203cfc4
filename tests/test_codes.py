"""Holds `grammar/CODES.md` to the compiler, and `uclc explain-code` to the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import run_here

from ucl.codes import Code, Example, documented
from ucl.diagnostics import SEVERITIES
from ucl.resources import codes_text

CODES = documented()
# `check` may leave promises to `uclc test`. The program is held to its code as soon as `check` looks at them: no edit
# is needed here for that.
PROMISES = "broken-property"


def check(examples: tuple[Example, ...], folder: Path) -> set[str]:
    """The codes that `uclc check` gives for the first of these files."""
    for example in examples:
        (folder / example.name).write_text(example.text, encoding="utf-8")
    ran = run_here("check", "--format", "json", folder / examples[0].name)
    return {d["code"] for d in json.loads(ran.out)["diagnostics"]}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_the_bad_program_gives_exactly_the_code(code: Code, tmp_path: Path) -> None:
    found = check(code.bad, tmp_path)
    if code.code == PROMISES and not found:
        pytest.skip("`check` does not look at promises")
    assert found == {code.code}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_the_good_program_gives_nothing(code: Code, tmp_path: Path) -> None:
    assert check(code.good, tmp_path) == set()


def test_every_code_is_documented_with_both() -> None:
    assert {code.code: code.severity for code in CODES.values()} == SEVERITIES
    assert [code.code for code in CODES.values() if not (code.bad and code.good)] == []
    assert codes_text().count("\n## ") == len(CODES), "a section that can't be read"
    assert codes_text().count("```ucl ") == sum(len(code.bad) + len(code.good) for code in CODES.values())


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_meanings_are_one_sentence(code: Code) -> None:
    assert code.meaning.endswith(".")
    assert ". " not in code.meaning
    assert code.meaning[0].islower() or code.meaning[0] == "`"


# --- the command ----------------------------------------------------------------------------------------------------


def test_a_code_is_explained_with_both_programs() -> None:
    ran = run_here("explain-code", "chained-comparison")
    assert ran.status == 0
    assert ran.out.startswith("error[chained-comparison]: comparisons are chained")
    assert "    rule r on S { when 1 < n < 5 score 0.5 }\n" in ran.out
    assert "    rule r on S { when 1 < n and n < 5 score 0.5 }\n" in ran.out
    assert run_here("explain-code", "[chained-comparison]").out == ran.out


def test_several_files_and_repetitions_are_told_apart() -> None:
    cycle = run_here("explain-code", "import-cycle").out
    assert cycle.count("# a.ucl") == cycle.count("# b.ucl") == 2
    deep = run_here("explain-code", "too-deep").out
    assert "⟨(⟩n > 3⟨)⟩" in deep
    assert "101 times" in deep
    (told,) = run_here("explain-code", "too-deep", "--format", "json").lines
    assert "(" * 101 + "n > 3" in told["bad"]["program.ucl"]


def test_all_codes_are_listed() -> None:
    lines = run_here("explain-code", "--list").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[c.code, str(c.severity)] for c in CODES.values()]
    assert [line["code"] for line in run_here("explain-code", "--list", "--format", "json").lines] == [*CODES]


@pytest.mark.parametrize(
    ("words", "said"),
    [(["unknwon-name"], "did you mean `unknown-name`?"), (["x"], "--list"), ([], "--list"), (["unused", "--list"], "")],
)
def test_an_unknown_code_is_wrong_use(words: list[str], said: str) -> None:
    ran = run_here("explain-code", *words)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
