"""The command `diff`: what an edit changed in meaning, with options that show it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli import inputs
from ucl.cli.output import print_json, remark
from ucl.cli.source import checked_program
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.analysis.diff import Comparison, Difference
    from ucl.semantics.outcome import Outcome


def add_diff(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("old", metavar="OLD", type=Path, help="the program before the edit")
    add("new", metavar="NEW", type=Path, help="the program after it")
    add("--now", metavar="DT", help="compare from that moment on, in place of the clock's")
    add("--format", choices=["text", "json"], default="text", help="words, or one JSON object")


def diff(old: Path, new: Path, now: str | None, format: str) -> int:
    """Prints the differences; the status is 1 where there is one, or where equivalence could not be decided."""
    from ucl.analysis.diff import compare

    programs = [checked_program(path) for path in (old, new)]
    before, after = programs
    if before is None or after is None:
        return 1
    found = compare(before, after, inputs.since(before, now))
    if format == "json":
        print_json(_to_json(found))
    else:
        for line in _words(found):
            print(printable(line))
    return int(not found.equivalent)


# --- JSON -----------------------------------------------------------------------------------------------------------


def _to_json(found: Comparison) -> dict[str, Any]:
    differences = [
        {
            "schema": difference.schema,
            "rules": list(difference.rules),
            "option": dict(difference.option),
            "context": dict(difference.context),
            "old": _row(difference.old),
            "new": _row(difference.new),
        }
        for difference in found.differences
    ]
    return {"equivalent": found.equivalent, "undecided": found.undecided, "differences": differences}


def _row(outcome: Outcome | None) -> dict[str, Any] | None:
    from ucl.scoring.results.lines import row_json

    return None if outcome is None else row_json(0, outcome)


# --- words ----------------------------------------------------------------------------------------------------------


def _words(found: Comparison) -> Iterator[str]:
    for difference in found.differences:
        yield from difference_words(difference)
        yield ""
    if found.equivalent:
        yield "equivalent: the two programs say the same of every option"
        return
    count = len(found.differences)
    remark(f"{count} {'difference' if count == 1 else 'differences'} of meaning")
    if found.undecided:
        yield f"undecided: {found.undecided}"


def difference_words(difference: Difference) -> Iterator[str]:
    """The rules that make it, the option and its context, and what the two programs say of them."""
    by = ", ".join(difference.rules) or "what the schema allows"
    yield f"{difference.schema}: {by}"
    yield f"  option  {data_words(difference.option)}"
    if difference.context:
        yield f"  context {data_words(difference.context)}"
    yield f"  old     {outcome_words(difference.old)}"
    yield f"  new     {outcome_words(difference.new)}"


def data_words(data: Mapping[str, Any]) -> str:
    """The fields of an option or a context, on one line."""
    return ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in data.items()) or "any"


def outcome_words(outcome: Outcome | None) -> str:
    """The score, what it is made of, and the decision."""
    from ucl.scoring.words import DECISIONS, total_words, why_invalid

    if outcome is None:
        return "knows no such schema"
    if outcome.invalid is not None:
        return f"invalid: {why_invalid(outcome.invalid)}"
    assert outcome.decision is not None
    return f"{total_words(outcome)}, {DECISIONS[outcome.decision]}"
