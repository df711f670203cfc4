"""Who broke a promise: the rules without which it would hold at the counterexample, and the sentence that says so.

In: a prover, a promise, its counterexample. Out: names, the likeliest first; a `Diagnostic` with the witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ucl.analysis.cells.inputs import NOW
from ucl.analysis.points import call_of, context_json, memory_json, option_json, option_of
from ucl.analysis.properties.prove import Counterexample, Prover
from ucl.analysis.properties.spoken import Promise
from ucl.diagnostics import SEVERITIES, Diagnostic, Note, Witness
from ucl.semantics.evaluate import judge, score_option
from ucl.semantics.evaluate.options import Ruleset, frames
from ucl.semantics.outcome import Outcome, as_score
from ucl.semantics.program import Prefer, Program, Provenance


def outcome_at(prover: Prover, found: Counterexample, worse: bool = False) -> Outcome:
    """What is said of the counterexample's option, or of the `worse` one, which is scored in the same context."""
    point = found.worse if worse and found.worse is not None else found.point
    option = option_of(prover.side, point)
    return score_option(prover.program, prover.side.schema, option, call_of(prover.side, found.point))


def to_blame(prover: Prover, promise: Promise, found: Counterexample) -> tuple[str, ...]:
    """Those whose removal alone mends it, the later ones and those of other statements first. Where there is none, the
    rules that the promise names and that are silent, else all that fired and are violated."""
    applying = _applying(prover, found)
    named = prover.named_by(promise)
    mending = [
        name
        for name in reversed(applying)
        if name not in named and not prover.fails_at(promise, found, without(prover.program, name))
    ]
    if mending:
        sources = {name: _sources(prover, name) for name in mending}
        mine = set(promise.meta.sources)
        return tuple(sorted(mending, key=lambda name: bool(mine & set(sources[name]))))
    outcomes = [outcome_at(prover, found, worse) for worse in (False, True)[: 1 if found.worse is None else 2]]
    active = [name for outcome in outcomes for name in (*outcome.fired, *outcome.violated)]
    silent = [name for name in sorted(named) if name not in active]
    return tuple(dict.fromkeys(silent or active))


def _applying(prover: Prover, found: Counterexample) -> list[str]:
    """In source order, at the option or at either of two."""
    call = call_of(prover.side, found.point)
    rules = Ruleset.of(prover.program, prover.side.schema, call.today)
    points = [point for point in (found.point, found.worse) if point is not None]
    applying: set[str] = set()
    for point in points:
        (frame,) = frames([option_of(prover.side, point)], call, None, 1_000_000)
        applying |= judge(rules, frame).applying
    return [declared.name for declared in rules.active if declared.name in applying]


def _sources(prover: Prover, name: str) -> Sequence[Provenance]:
    return prover.declarations.declared[name].meta.sources


def without(program: Program, name: str) -> Program:
    """The program as if the rule or constraint were not there."""
    rules = tuple(rule for rule in program.rules if rule.name != name)
    return replace(program, rules=rules, constraints=tuple(c for c in program.constraints if c.name != name))


# --- in words -------------------------------------------------------------------------------------------------------


def sentence(prover: Prover, promise: Promise, found: Counterexample, blamed: Sequence[str]) -> str:
    """What is broken, by what, what is said of the option, and the statement that the promise stands for."""
    said = statement(promise)
    broken = _broken(prover, promise, found, blamed)
    return broken if said is None else f"{broken}; it stands for {said}"


def _broken(prover: Prover, promise: Promise, found: Counterexample, blamed: Sequence[str]) -> str:
    by = f" by {_listed(blamed)}" if blamed else ""
    if isinstance(promise, Prefer):
        scores = [_number(outcome_at(prover, found, worse)) for worse in (False, True)]
        return f"`{promise.name}` is broken{by}: a better option scores {scores[0]}, a worse one {scores[1]}"
    outcome = outcome_at(prover, found)
    assert outcome.decision is not None
    fired = f" where {_listed(outcome.fired)} {'fires' if len(outcome.fired) == 1 else 'fire'}" if outcome.fired else ""
    return f"`{promise.name}` is broken{by}: the option scores {_number(outcome)} and is `{outcome.decision}`{fired}"


def statement(promise: Promise) -> str | None:
    """The user's own words and where they come from: `"I like it hot" (chat "c1", 2026-01-05)`."""
    sources = [f'{s.kind} "{s.id}"' + (f", {s.at}" if s.at else "") for s in promise.meta.sources]
    because = promise.meta.because
    said = [f'"{because}"'] if because is not None else []
    said += [f"({'; '.join(sources)})"] if sources else []
    return " ".join(said) or None


def broken_property(prover: Prover, promise: Promise, found: Counterexample) -> Diagnostic:
    """The finding `broken-property`, with the counterexample as its witness."""
    blamed = to_blame(prover, promise, found)
    notes = [
        Note(prover.declarations.declared[name].span, f"`{name}` takes part")
        for name in blamed[:3]
        if name in prover.declarations.declared
    ]
    return Diagnostic(
        "broken-property",
        SEVERITIES["broken-property"],
        sentence(prover, promise, found, blamed),
        promise.span,
        "let the rule leave these options out with `unless` or `when`, or change what the property promises",
        tuple(notes),
        (promise.name, *blamed),
        witness_of(prover, found),
        "certain",
    )


def witness_of(prover: Prover, found: Counterexample) -> Witness:
    """The option and its context; of a `prefer` both options, as `better` and `worse`."""
    side = prover.side
    option = option_json(side, found.point)
    if found.worse is not None:
        option = {"better": option, "worse": option_json(side, found.worse)}
    context = context_json(side, found.point, NOW in prover.space.numbers)
    if memory := memory_json(side, found.point):
        context = {**context, "memory": memory}
    total = outcome_at(prover, found).total
    return Witness(option, context, None if total is None else as_score(total))


def _number(outcome: Outcome) -> str:
    assert outcome.total is not None
    return repr(as_score(outcome.total) + 0.0).removesuffix(".0")


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
