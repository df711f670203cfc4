"""The promise that stands for a statement, so that whatever is added later is held to it too; and whether promises
are kept.

In: the declarations of a draft, checked. Out: the text of a `property`: of a rule, that it keeps its sign wherever it
applies; of a constraint, that what it forbids is not feasible. So a later rule that silences or turns it around is
noticed, and named with the person's own words.
"""

from __future__ import annotations

import json
from collections.abc import Container

from ucl.analysis.properties import witness_of
from ucl.llm.declarations import formatted
from ucl.semantics import program as p
from ucl.semantics.trace import written
from ucl.testing.verdicts import Outcome, Verdict, verdicts


def promise_of(declared: p.Rule | p.Constraint, schema: str, taken: Container[str]) -> tuple[str, str] | None:
    """The name and the text of the promise; None where a score has no sign, so that nothing can be promised."""
    given = _applies(declared)
    if isinstance(declared, p.Constraint):
        if declared.require is not None:
            given.append(f"not ({written(declared.require)})")
        expect = "not feasible"
    else:
        sign = sign_of(declared.score)
        if sign is None:
            return None
        given += [f"not ({written(case.condition)})" for case in declared.exceptions]
        expect = f"contribution({declared.name}) {'>=' if sign > 0 else '<='} 0"
    name = free_name(f"{declared.name}_holds", taken)
    clause = f"given {' and '.join(given)}\n" if given else ""
    return name, formatted(f"property {name} on {schema} {{\n{clause}expect {expect}\n}}")


def kept(program: p.Program, now: int, samples: int) -> list[Verdict]:
    """Verdicts on all promises of a program. Samples cost seconds, and are for what no proof decides."""
    proved = verdicts(program, now, samples=0)
    return proved if all(verdict.outcome is not Outcome.HELD for verdict in proved) else verdicts(program, now, samples)


def shown_by(verdict: Verdict) -> str:
    """The option at which a promise is broken."""
    assert verdict.found is not None
    option = witness_of(verdict.prover, verdict.found).option
    return "at " + ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in option.items())


def _applies(declared: p.Rule | p.Constraint) -> list[str]:
    """That it applies, as tests to be joined by `and`. A `when` goes first: it says what may be absent."""
    tests = [] if declared.when is None else [f"({written(declared.when)})"]
    return tests + [f"not ({written(expr)})" for expr in declared.unless]


def sign_of(score: p.Expr) -> int | None:
    """1 for a score that is never below 0, -1 for one that is never above; None where neither is clear, or it is 0."""
    match score:
        case p.Const(value=int() | float() as value):
            return (value > 0) - (value < 0) or None
        case p.Apply(signature=signature, arguments=(operand,)) if signature.op.startswith("neg"):
            inner = sign_of(operand)
            return None if inner is None else -inner
        case p.Apply(signature=signature, arguments=(left, right)) if signature.op.startswith("mul"):
            signs = sign_of(left), sign_of(right)
            return None if signs[0] is None or signs[1] is None else signs[0] * signs[1]
        case p.Apply(signature=signature) if signature.op.startswith(("ramp", "near")):
            return 1
        case _:
            return None


def free_name(wanted: str, taken: Container[str]) -> str:
    """The name, or the first with a number behind it that nothing has."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}" in taken:
        number += 1
    return f"{wanted}_{number}"
