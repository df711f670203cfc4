"""Holds `grammar/LANGUAGE.md` to the compiler: its programs check, its tables are the compiler's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from ucl.diagnostics import Severity, Source
from ucl.driver import check_source
from ucl.reference import CLOSING, OPENING, tables
from ucl.semantics.builtins import FUNCTIONS, SPECIAL_FORMS

TEXT = (Path(__file__).parent.parent / "grammar" / "LANGUAGE.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(ucl[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    mark: tuple[str, ...]
    text: str
    line: int

    def __str__(self) -> str:
        return f"line-{self.line}"


def blocks(kind: str) -> list[Block]:
    """The blocks marked `ucl KIND …`; those of kind "" are whole programs."""
    found = (Block(tuple(m[1].split()[1:]), m[2], TEXT.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(TEXT))
    return [block for block in found if "".join(block.mark[:1]) == kind]


# The program that `ucl more` and `ucl conditions` continue.
WORLD = next(block.text for block in blocks("") if "schema Draft" in block.text)


def found_in(program: str) -> list[tuple[str, str]]:
    """Code and message of each error and warning."""
    _, report = check_source(Source("reference.ucl", program))
    return [(d.code, d.message) for d in report if d.severity is not Severity.INFO]


def test_there_are_blocks_of_every_kind() -> None:
    marks = {"".join(m[1].split()[1:2]) for m in BLOCK.finditer(TEXT)}
    assert marks == {"", "more", "conditions", "error"}


@pytest.mark.parametrize("block", blocks(""), ids=str)
def test_whole_programs_check(block: Block) -> None:
    # Examples of one construct declare what they do not use; that alone is no mistake here.
    assert [finding for finding in found_in(block.text) if finding[0] != "unused"] == []


@pytest.mark.parametrize("block", blocks("more"), ids=str)
def test_continuations_check(block: Block) -> None:
    assert [finding for finding in found_in(WORLD + block.text) if finding[0] != "unused"] == []


CONDITIONS = [
    (block.line + 1 + i, line) for block in blocks("conditions") for i, line in enumerate(block.text.splitlines())
]


@pytest.mark.parametrize(("line", "condition"), CONDITIONS)
def test_conditions_check(line: int, condition: str) -> None:
    program = f"{WORLD}rule r on Offer {{ when {condition}\nscore 0.5 }}"
    assert [finding for finding in found_in(program) if finding[0] != "unused"] == [], f"line {line}"


@pytest.mark.parametrize("block", blocks("error"), ids=str)
def test_errors_are_given(block: Block) -> None:
    assert {code for code, _ in found_in(block.text)} == {block.mark[1]}


# --- tables ---------------------------------------------------------------------------------------------------------


def test_generated_tables_are_current() -> None:
    written = TEXT[TEXT.index(OPENING) + len(OPENING) : TEXT.index(CLOSING)].strip()
    assert written == tables().strip(), "run `python -m ucl.reference --write`"


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#{2,4} (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors
    numbers = {heading.split()[0].rstrip(".") for heading in headings}
    assert set(re.findall(r"§(\d+(?:\.\d+)?)", TEXT)) <= numbers


# --- the examples in the compiler's own table -----------------------------------------------------------------------

# What an example gives where that is no condition.
RESULTS = {
    "min": "usd",
    "max": "length",
    "clamp": "int",
    "floor": "int",
    "ceil": "int",
    "round": "int",
    "ramp": "float",
    "near": "float",
    "at": "datetime",
    "next_weekday": "date",
    "add_months": "date",
    "sum": "float",
    "mean": "float",
    "first": "text?",
    "last": "text?",
    "mode": "text?",
    "distinct": "set<text>",
}
EXAMPLES = {row.name: row.example for rows in (FUNCTIONS, SPECIAL_FORMS) for row in rows.values()}


@pytest.mark.parametrize(("name", "example"), EXAMPLES.items())
def test_examples_of_builtins_check(name: str, example: str) -> None:
    schema = "Draft" if name in ("present", "absent") else "Offer"
    if example.startswith("expect "):
        probe = f"property probe on {schema} {{ {example} }}"
    else:
        result = RESULTS.get(name, "bool")
        probe = f"effect note(value: {result})\naction probe on {schema} {{ do note({example}) }}"
    assert [finding for finding in found_in(WORLD + probe) if finding[0] != "unused"] == []
    assert name in example
