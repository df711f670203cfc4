"""From a statement to a draft of UCL, with evidence, or to a question.

    statement   what was said, as it was read
    thought     what a model thinks of it; whether it is for or against
    admit       what may come out of a model, whatever it was told
    grounding   whether what was written was said
    rounds      think, write, mend: one statement's way
    batch       many statements at once

In: a base, statements, a model. Out: a `Result` for each.
"""

from __future__ import annotations

from ucl.llm.writing.batch import drafts_of
from ucl.llm.writing.rounds import ROUNDS, Manner, draft_of
from ucl.llm.writing.statement import Read, Said, Statement, read_statement, statement_of

__all__ = [
    "ROUNDS",
    "Manner",
    "Read",
    "Said",
    "Statement",
    "draft_of",
    "drafts_of",
    "read_statement",
    "statement_of",
]
