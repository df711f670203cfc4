"""Many statements at once: models are asked side by side, decisions are made one after the other.

In: statements as they were read. Out: a `Result` for each, in their order. Each draft is judged once more with all
earlier drafts of the batch in force, so that two statements that contradict each other are noticed as if they had come
on different days. A draft whose names an earlier one has taken is written anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ucl.llm.client import Model
from ucl.llm.drafts.base import Base
from ucl.llm.drafts.judge import judged
from ucl.llm.drafts.results import Course, Draft, Question, Result
from ucl.llm.writing.rounds import Manner, aside, draft_of
from ucl.llm.writing.statement import Read


async def drafts_of(base: Base, schema: str, reads: Sequence[Read], model: Model, manner: Manner) -> list[Result]:
    results = await asyncio.gather(*(draft_of(base, schema, read, model, manner) for read in reads))
    grown, settled = base, []
    for read, result in zip(reads, results, strict=True):
        if isinstance(result, Draft) and grown is not base:
            result = await _settled(result, grown, read, model, manner)
        if isinstance(result, Draft):
            grown = grown.grown(result.confirmed)
        settled.append(result)
    return settled


async def _settled(draft: Draft, base: Base, read: Read, model: Model, manner: Manner) -> Result:
    """The draft on top of those before it."""
    addition = draft.addition
    if base.module.table.keys().isdisjoint(addition.names):
        found = await aside(lambda: judged(base, addition, manner.now, manner.samples))
        if not found.wrong:
            draft = replace(draft, base=base, evidence=found.evidence)
            return Question(draft.said, found.doubts, draft.course, draft) if found.doubts else draft
    again = await draft_of(base, draft.schema, read, model, manner)
    return _with_earlier(again, draft.course)


def _with_earlier(result: Result, earlier: Course) -> Result:
    """With what the first draft took."""
    later = result.course
    course = Course((*earlier.attempts, *later.attempts), earlier.usage + later.usage, later.notes)
    if isinstance(result, Question) and result.draft is not None:
        return replace(result, course=course, draft=replace(result.draft, course=course))
    return replace(result, course=course)
