"""How well a model writes UCL: what share of statements becomes rules that parse, type-check and keep what was said.

In: a model that answers. Out: counts by path (grammar, JSON, text), printed as shares beside the model's name. The
statements are the preferences of MultiSessionCollab about an assistant's replies (`said/preferences.jsonl`, every
sentence as it stands there), and, where the examples are beside the package, the facts of `examples/meetings`. What
was said is kept where the draft alone scores the better of two replies higher than the worse (both written by hand, and
never shown to a model), or keeps the claims that are made of the fact. A rule's own promise counts for nothing here.

Nothing is scored here but what a model wrote in this very run: without a model there is no score, and answers that were
recorded, or that no model gave (`plumbing`), are counted under a line that says so.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ucl
from ucl.diagnostics import Report, Source
from ucl.facts import read_facts
from ucl.llm.client import Model, Settings, Usage, connect, total
from ucl.llm.drafts import Asking, Base, Draft, FactOnly, Failure, Question, Result, opened
from ucl.llm.writing import Manner, Statement, draft_of, read_statement, statement_of
from ucl.llm.writing.admit import compiles
from ucl.semantics.zones import UTC, Zone
from ucl.syntax import ast
from ucl.syntax.parse import parse

_SAID = Path(__file__).parent / "said"
_EXAMPLES = Path(__file__).parent.parent.parent / "examples"
_NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
NOTHING_WRITTEN = "none"
PLUMBING = "a plumbing test: no model wrote this, and the shares say nothing of any model"


@dataclass(frozen=True)
class Work:
    """Statements about one schema of one program without rules. `pairs` has two options for a statement by its words,
    of which the person likes the first."""

    name: str
    base: Base
    schema: str
    statements: tuple[Statement, ...]
    pairs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)


@dataclass
class Counts:
    """Of the statements of one path: of how many the first answer parses and type-checks, how many end in declarations
    that keep what was said, and how all of them end."""

    statements: int = 0
    parses: int = 0
    type_checks: int = 0
    keeps: int = 0
    ends: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("draft", "question", "fact", "failure"), 0))


@dataclass(frozen=True)
class Written:
    """What came of the work, by path; `none` is the path of what was not written at all (facts, vague statements)."""

    work: str
    counts: dict[str, Counts]
    usage: Usage

    def to_json(self) -> dict[str, Any]:
        paths = {
            path: {
                "statements": c.statements,
                "parses": c.parses,
                "type_checks": c.type_checks,
                "keeps": c.keeps,
                **c.ends,
            }
            for path, c in self.counts.items()
        }
        return {"work": self.work, "paths": paths, "calls": self.usage.calls}


# --- the work -------------------------------------------------------------------------------------------------------


def works(limit: int | None = None) -> list[Work]:
    """Those that are here, each with so many statements at most."""
    found = [_preferences(), *_example_facts()]
    return [replace(work, statements=work.statements[:limit]) for work in found]


def _preferences() -> Work:
    rows = [json.loads(line) for line in (_SAID / "preferences.jsonl").read_text(encoding="utf-8").splitlines()]
    statements = tuple(
        Statement(row["said"], "manual", f"multisessioncollab {number}", _NOW) for number, row in enumerate(rows, 1)
    )
    pairs = {row["said"]: (row["better"], row["worse"]) for row in rows}
    return Work("preferences", _base(_SAID / "replies.ucl"), "Reply", statements, pairs)


def _example_facts() -> Iterator[Work]:
    """The facts with a person's words; the program is the example's without its rules, which were made of them."""
    folder = _EXAMPLES / "meetings"
    if not (folder / "facts.jsonl").is_file():
        return
    base = _base(folder / "meetings.ucl")
    zone = Zone.load(base.program.timezone) or UTC
    facts = read_facts(folder / "facts.jsonl", Report(), zone).facts
    said = tuple(statement_of(fact) for fact in facts if fact.utterance is not None)
    yield Work("example facts", base, "Meeting", said)


def _base(path: Path) -> Base:
    """The program without its rules, constraints, properties and the like."""
    file = parse(Source(path.name, path.read_text(encoding="utf-8")), Report())
    kept = [d for d in file.declarations if not isinstance(d, ast.Body)]
    text = "\n".join(file.source.text[d.span.start : d.span.end] for d in kept) + "\n"
    base, report = opened(Source(path.name, text), None)
    assert base is not None, [d.message for d in report]
    return base


# --- the run --------------------------------------------------------------------------------------------------------


def measured(settings: Settings, limit: int | None = None, rounds: int = 3) -> list[Written]:
    """Asks the model for every statement, as many at once as the settings let. Raises `ModelError` where there is no
    way to ask at all; what goes wrong with one statement is its failure."""
    return asyncio.run(_measured(settings, works(limit), rounds))


async def _measured(settings: Settings, every: Sequence[Work], rounds: int) -> list[Written]:
    model = connect(settings)
    try:
        return [await written(work, model, rounds) for work in every]
    finally:
        await model.close()


async def written(work: Work, model: Model, rounds: int = 3) -> Written:
    zone = Zone.load(work.base.program.timezone) or UTC
    manner = Manner(now=int(_NOW.timestamp() * 1_000_000), rounds=rounds)
    reads = [read_statement(statement, zone, _NOW) for statement in work.statements]
    results = await asyncio.gather(*(draft_of(work.base, work.schema, read, model, manner) for read in reads))
    counts: dict[str, Counts] = {}
    for result in results:
        _count(result, work, counts)
    return Written(work.name, counts, total(result.course.usage for result in results))


def _count(result: Result, work: Work, counts: dict[str, Counts]) -> None:
    attempts = result.course.attempts
    path = str(attempts[0].path) if attempts else NOTHING_WRITTEN
    count = counts.setdefault(path, Counts())
    count.statements += 1
    if attempts:
        count.parses += parses(attempts[0].text)
        count.type_checks += type_checks(attempts[0].text, work.base)
        count.keeps += keeps(result, work)
    match result:
        case Draft():
            count.ends["draft"] += 1
        case Question():
            count.ends["question"] += 1
        case FactOnly():
            count.ends["fact"] += 1
        case Failure():
            count.ends["failure"] += 1


def parses(text: str) -> bool:
    report = Report()
    return bool(parse(Source("answer.ucl", text), report).declarations) and not report.has_errors


def type_checks(text: str, base: Base) -> bool:
    """At the end of the program, without an error."""
    return parses(text) and compiles(text, base)


def keeps(result: Result, work: Work) -> bool:
    """Whether declarations came out that keep what was said."""
    draft = result.draft if isinstance(result, Question) else result if isinstance(result, Draft) else None
    if draft is None or (isinstance(result, Question) and any(d.asking is Asking.UNLIKE for d in result.doubts)):
        return False
    pair = work.pairs.get(draft.said)
    if pair is None:
        # Claims are asked and not placed, so they have none of the draft's own names.
        return any(held.own and held.name not in draft.addition.names for held in draft.evidence.held)
    scored = ucl.compile(work.base.with_text(draft.confirmed).text).score(list(pair), schema=work.schema, now=_NOW)
    better, worse = (None if not feasible else total for feasible, total in zip(scored.feasible, scored.total))
    return better is not None and (worse is None or bool(better > worse))


# --- in lines -------------------------------------------------------------------------------------------------------


def lines_of(found: Sequence[Written], about: str) -> Iterator[str]:
    """A table for each work; `about` says who was asked."""
    yield about
    for each in found:
        every = sum(count.statements for count in each.counts.values())
        yield ""
        yield f"{each.work}: {every} statements"
        yield f"  {'path':<8} {'statements':>10} {'parse':>8} {'type-check':>11} {'keep':>8}   they end in"
        for path, count in each.counts.items():
            shares = [_share(n, count.statements) for n in (count.parses, count.type_checks, count.keeps)]
            if path == NOTHING_WRITTEN:
                shares = ["-"] * 3
            ends = ", ".join(
                f"{number} {end}{'' if number == 1 else 's'}" for end, number in count.ends.items() if number
            )
            yield f"  {path:<8} {count.statements:>10} {shares[0]:>8} {shares[1]:>11} {shares[2]:>8}   {ends}"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}"
