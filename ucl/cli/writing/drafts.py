"""What a person is shown of a draft, a question, a fact or a failure: UCL, plain words, what it changes, what it cost.

In: a result. Out: lines, none of which a terminal obeys. What a model or a person wrote is shown, never acted on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

from ucl import render
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.llm.client import Usage
    from ucl.llm.drafts import Course, Doubt, Draft, FactOnly, Question, Result

_MOST_DIFFERENCES = 5


def result_lines(result: Result, text: str | None) -> Iterator[str]:
    """`text` is the draft as it is to be placed, where there is one."""
    from ucl.llm.drafts import Draft, FactOnly, Failure, Question

    match result:
        case Draft():
            yield from _draft(result, text or result.text)
        case Question():
            yield from _question(result, text)
        case FactOnly():
            yield from _fact(result)
        case Failure():
            yield from _attempts(result.course)
        case _:
            assert_never(result)


def cost_line(usage: Usage) -> str:
    """What was asked and spent, as far as servers say."""
    calls = "1 call" if usage.calls == 1 else f"{usage.calls} calls"
    if usage.calls == 0:
        return "no model was asked"
    tokens = [
        "tokens in are not known" if usage.input is None else f"{usage.input:,} tokens in",
        "" if not usage.cached else f"{usage.cached:,} of them kept by the server",
        "tokens out are not known" if usage.output is None else f"{usage.output:,} out",
    ]
    money = "" if not usage.money else f"; {usage.money.normalize():f} in money"
    return f"{calls}: {', '.join(part for part in tokens if part)}{money}"


# --- drafts ---------------------------------------------------------------------------------------------------------


def _draft(draft: Draft, text: str) -> Iterator[str]:
    yield from _lines(text)
    yield ""
    yield "in plain words"
    yield from (f"  {printable(line)}" for line in draft.words)
    yield ""
    yield from _evidence(draft)


def _evidence(draft: Draft) -> Iterator[str]:
    """What it changes, once it is in force, shown by options; promises; findings."""
    from ucl.cli.testing.diff import difference_words

    evidence = draft.evidence
    yield "what it changes, once it is in force"
    if not evidence.differences:
        undecided = " that was found" if evidence.undecided else ""
        yield f"  nothing{undecided}: the program says the same of every option"
    for found in evidence.differences[:_MOST_DIFFERENCES]:
        yield from (f"  {printable(line)}" for line in difference_words(found))
    if len(evidence.differences) > _MOST_DIFFERENCES:
        yield f"  and {len(evidence.differences) - _MOST_DIFFERENCES} more"
    if evidence.undecided:
        yield f"  undecided: {evidence.undecided}"
    promises = [f"{held.name} ({held.status})" for held in evidence.held]
    if promises:
        yield ""
        yield f"promises kept: {printable(', '.join(promises))}"
    if evidence.findings:
        yield ""
        yield from _lines(render.to_text(evidence.findings))


def _lines(text: str) -> Iterator[str]:
    yield from (printable(line) for line in text.split("\n"))


# --- questions, facts, failures -------------------------------------------------------------------------------------


def _question(question: Question, text: str | None) -> Iterator[str]:
    if question.draft is not None and text is not None:
        yield from _draft(question.draft, text)
        yield ""
    for doubt in question.doubts:
        yield from _doubt(doubt, question.said)
    yield from _attempts(question.course)


def _doubt(doubt: Doubt, said: str) -> Iterator[str]:
    yield f"question[{doubt.asking}]: {printable(doubt.text)}"
    if doubt.earlier is not None:
        yield f"  earlier  {_quoted(doubt.earlier)}"
        yield f"  now      {_quoted(said)}"
    if doubt.witness is not None:
        option = ", ".join(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in doubt.witness.option.items())
        total = "" if doubt.witness.total is None else f", which scores {doubt.witness.total:g}"
        yield f"  shown by {printable(option)}{total}"


def _quoted(text: str) -> str:
    from ucl.scoring.words import quoted

    return printable(quoted(text if len(text) <= 200 else text[:199] + "…"))


def _fact(found: FactOnly) -> Iterator[str]:
    yield f"a fact, and no rule: {found.why}"
    yield from (f"  {printable(json.dumps(fact.to_json(), ensure_ascii=False))}" for fact in found.facts)


def _attempts(course: Course) -> Iterator[str]:
    """What was sent back to the model."""
    for number, attempt in enumerate(course.attempts, 1):
        if attempt.told:
            yield f"round {number} was sent back:"
            yield from (f"  {line}" for line in _lines(attempt.told))
