"""Whether a draft says what a fact says: the fact's own claims, asked of the draft alone.

In: a base, an addition that compiles with it, the facts that it stands for. Out: which claims it keeps, and in
sentences which it breaks. A fact speaks of options inside and just outside of what it names, and was read by rules of
ours, not by the model that writes; so this is a check of meaning that the writer has no part in. Only signs are asked
for: how strong a wish is, the model may say. What the program's other rules add does not count here, since what was
said of one thing says nothing of all others; it counts where the draft is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ucl.driver import check_source
from ucl.facts import Fact
from ucl.facts.vocabulary import vocabulary
from ucl.llm.drafts.base import Addition, Base
from ucl.llm.drafts.promises import kept, shown_by
from ucl.llm.drafts.results import Held
from ucl.semantics.program import Program, Status
from ucl.testing.facts.claims import Claim, Expected
from ucl.testing.facts.promises import property_text
from ucl.testing.facts.statements import Statements, statements_of
from ucl.testing.verdicts import Outcome


def claims_kept(
    base: Base, addition: Addition, schema: str, facts: Sequence[Fact], now: int, samples: int
) -> tuple[tuple[Held, ...], tuple[str, ...]]:
    """The claims that are kept, and what is wrong, a sentence for each that is broken."""
    alone = _program(base, addition, schema, facts)
    if alone is None:
        return (), ()
    held, wrong = [], []
    for verdict in kept(alone, now, samples):
        name = verdict.promise.name
        if verdict.outcome is Outcome.BROKEN:
            wrong.append(f"it does not say what the fact says: {verdict.message}, {shown_by(verdict)}")
        elif not verdict.vacuous:
            held.append(Held(name, str(verdict.outcome), verdict.samples, verdict.message, own=True))
    return tuple(held), tuple(wrong)


def _program(base: Base, addition: Addition, schema: str, facts: Sequence[Fact]) -> Program | None:
    """The rules and constraints of the draft alone, with the claims as its properties; None where there are none."""
    text = addition.text(Status.ACTIVE)
    program, _ = check_source(base.with_text(text), base.folder)
    assert program is not None
    known = program.schemas.get(schema)
    if known is None or known.name != schema:
        return None
    statements = statements_of(program, facts, vocabulary(known, program.context))
    properties = _properties(statements)
    claimed, _ = check_source(base.with_text(f"{text}\n\n{properties}"), base.folder) if properties else (None, None)
    if claimed is None:
        return None
    own, before = set(addition.names), {each.name for each in program.properties}
    return replace(
        claimed,
        rules=tuple(rule for rule in claimed.rules if rule.name in own),
        constraints=tuple(constraint for constraint in claimed.constraints if constraint.name in own),
        properties=tuple(each for each in claimed.properties if each.name not in before),
    )


def _properties(statements: Statements) -> str:
    program = statements.program
    declared = [*program.rules, *program.constraints, *program.actions, *program.alerts, *program.properties]
    taken = {each.name for each in declared} | {*program.schemas, *program.lets, *program.definitions}
    signs = [replace(claim, expected=_sign_of(claim)) for claim in statements.claims]
    return property_text(signs, statements.names, statements.vocabulary, statements.zone, taken)


def _sign_of(claim: Claim) -> Expected:
    """Below 0, or above it, and no more; a limit and a score of 0 as they are."""
    expected = claim.expected
    if expected.high < 0:
        return Expected(high=0.0, high_in=False)
    if expected.low > 0:
        return Expected(low=0.0, low_in=False)
    return expected
