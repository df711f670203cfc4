"""What findings say: one function for each, from what was found to a `Diagnostic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ucl.analysis.scene.study import Point, Study
from ucl.analysis.scene.subjects import Branch, Subject
from ucl.diagnostics import SEVERITIES, Diagnostic, Note, Severity, Span, Witness
from ucl.semantics.evaluate import Effected
from ucl.semantics.outcome import as_score
from ucl.semantics.program import Action, Constraint, Resolution, Rule

if TYPE_CHECKING:
    from ucl.analysis.witness.replay import Replayed


def _finding(
    code: str,
    about: Subject,
    message: str,
    help: str | None,
    others: Sequence[Subject] = (),
    witness: Witness | None = None,
    possible: bool = False,
    severity: Severity | None = None,
    span: Span | None = None,
) -> Diagnostic:
    named = sorted(others, key=lambda other: other.name)
    return Diagnostic(
        code,
        severity or SEVERITIES[code],
        message,
        span or heading(about),
        help,
        tuple(Note(heading(other), f"`{other.name}` stands here") for other in named),
        (about.name, *(other.name for other in named)),
        witness,
        "possible" if possible else "certain",
    )


def heading(subject: Subject) -> Span:
    """From the declaration's first word to its name."""
    span = subject.declaration.span
    end = span.source.text.find(subject.name, span.start, span.end)
    return span if end < 0 else Span(span.source, span.start, end + len(subject.name))


def _witness(replayed: Replayed) -> Witness:
    assert replayed.outcome.total is not None
    return Witness(replayed.example.option, replayed.example.context, as_score(replayed.outcome.total))


def _quoted(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _kind(subject: Subject) -> str:
    match subject.declaration:
        case Rule():
            return "rule"
        case Constraint():
            return "constraint"
        case Action():
            return "action"


def _number(nano: int) -> str:
    return f"{as_score(nano) + 0.0:.9f}".rstrip("0").rstrip(".")


# --- what never takes effect ----------------------------------------------------------------------------------------


def never_applies(subject: Subject) -> Diagnostic:
    unless = " … unless …" if subject.unless else ""
    return _finding(
        "never-applies",
        subject,
        f"`{subject.name}` never applies: there is nothing for which its `when …{unless}` holds",
        "mend the condition, or take the declaration out (`status retired` keeps it on record)",
    )


def always_overridden(subject: Subject, overriders: Sequence[Subject], replayed: Replayed) -> Diagnostic:
    by = _quoted([o.name for o in overriders])
    joint = "between them always override it" if len(overriders) > 1 else "always overrides it"
    return _finding(
        "always-overridden",
        subject,
        f"`{subject.name}` never has a say: wherever it applies, {by} applies too and {joint}"
        if len(overriders) == 1
        else f"`{subject.name}` never has a say: wherever it applies, one of {by} does too, and {joint}",
        f"take `{subject.name}` out, or narrow what overrides it",
        overriders,
        _witness(replayed),
    )


def never_feasible(subject: Subject, constraints: Sequence[Subject], replayed: Replayed, possible: bool) -> Diagnostic:
    by = _quoted([c.name for c in constraints])
    verb = "forbids" if len(constraints) == 1 else "forbid"
    return _finding(
        "never-feasible",
        subject,
        f"`{subject.name}` likes only what is forbidden: wherever it applies, {by} {verb} the option",
        "add an `unless` to the constraint, or take the rule out",
        constraints,
        _witness(replayed),
        possible,
    )


def nothing_feasible(constraints: Sequence[Subject], replayed: Replayed) -> Diagnostic:
    by = _quoted([c.name for c in constraints])
    about, *others = constraints
    verb = "forbids every option" if not others else "together forbid every option"
    return _finding(
        "nothing-feasible",
        about,
        f"{by} {verb} of `{about.declaration.schema.name}`" if not others else f"{by} {verb}",
        "narrow one of them, or add an `unless`",
        others,
        _witness(replayed),
    )


def unreachable(subject: Subject, branch: Branch) -> Diagnostic:
    what = {"branch": "this side of the `if`", "unless": "this `unless`", "except when": "this `except when`"}
    return _finding(
        "unreachable",
        subject,
        f"{what[branch.kind]} of `{subject.name}` is never reached: what stands around or before it leaves nothing",
        "take it out, or put it before what covers it",
        span=branch.expr.span,
    )


# --- pairs ----------------------------------------------------------------------------------------------------------


def conflict(study: Study, about: Subject, other: Subject, replayed: Replayed, possible: bool) -> Diagnostic:
    shared = sorted(".".join(path) for _, path in about.fields & other.fields)
    settled = _settled(study, about, other)
    contributions = replayed.judgement.contributions
    mine, theirs = contributions[about.name], contributions[other.name]
    message = (
        f"`{other.name}` ({_number(theirs)}) and `{about.name}` ({_number(mine)}) pull opposite ways over "
        f"{_quoted(shared)}; {_winner(about, other, mine, theirs, settled)}"
    )
    help = (
        f"if one is an exception, say so: `rule {about.name} on {study.scene.schema.name} overrides {other.name}`, "
        f"or an `unless` in `{other.name}`; or weigh them with `priority`"
    )
    severity = Severity.INFO if settled is not None else Severity.WARNING
    return _finding("conflict", about, message, help, [other], _witness(replayed), possible, severity)


def _settled(study: Study, a: Subject, b: Subject) -> Subject | None:
    """The one that wins by its priority, where that decides."""
    scene = study.scene
    if resolution_of_scene(study) is not Resolution.PRIORITY:
        return None
    own, other = a.declaration.meta.priority, b.declaration.meta.priority
    assert scene.subjects
    return None if own == other else a if own > other else b


def resolution_of_scene(study: Study) -> Resolution:
    program, schema = study.scene.program, study.scene.schema
    names = (name for name, known in program.schemas.items() if known is schema)
    return next((program.resolutions[name] for name in names if name in program.resolutions), Resolution.WEIGHTED)


def _winner(about: Subject, other: Subject, mine: int, theirs: int, settled: Subject | None) -> str:
    if settled is not None:
        return f"`{settled.name}` wins by its priority"
    if mine + theirs == 0:
        return "neither wins"
    winner = about if abs(mine) > abs(theirs) else other
    return f"together they add {_number(mine + theirs)}, so `{winner.name}` wins"


def more_conflicts(study: Study, first: Subject, more: int) -> Diagnostic:
    return _more("conflict", first, f"about {more} more pairs of rules meet with opposite signs and are not listed")


def more_double_counting(first: Subject, more: int) -> Diagnostic:
    return _more(
        "double-counting", first, f"about {more} more pairs of rules may count the same twice and are not listed"
    )


def _more(code: str, first: Subject, message: str) -> Diagnostic:
    help = "settle those that are listed first"
    return Diagnostic(code, Severity.INFO, message, heading(first), help)


def tension(about: Subject, other: Subject, replayed: Replayed, possible: bool) -> Diagnostic:
    contributions = replayed.judgement.contributions
    message = (
        f"`{other.name}` ({_number(contributions[other.name])}) and `{about.name}` "
        f"({_number(contributions[about.name])}) pull opposite ways about different things: a trade-off"
    )
    return _finding("tension", about, message, None, [other], _witness(replayed), possible)


def tensions(first: Subject, count: int, more: bool) -> Diagnostic:
    pairs = "1 pair of rules pulls" if count == 1 and not more else f"{count} pairs of rules pull"
    message = f"{'at least ' if more else ''}{pairs} opposite ways about different fields: trade-offs, not mistakes"
    return Diagnostic("tension", Severity.INFO, message, heading(first))


def double_counting(about: Subject, other: Subject, replayed: Replayed, possible: bool) -> Diagnostic:
    both = as_score(replayed.judgement.contributions[about.name] + replayed.judgement.contributions[other.name])
    fields = _quoted(sorted(".".join(path) for _, path in about.fields)) if about.fields else "no field"
    message = (
        f"`{other.name}` applies wherever `{about.name}` does and says the same of {fields}, "
        f"so it counts twice: {both + 0.0:g} in all"
    )
    help = (
        f"if `{about.name}` is meant to stand in its place, say "
        f"`rule {about.name} on {about.declaration.schema.name} overrides {other.name}`; else take one of them out"
    )
    return _finding("double-counting", about, message, help, [other], _witness(replayed), possible)


# --- actions --------------------------------------------------------------------------------------------------------


def clashing_actions(about: Subject, other: Subject, first: Effected, second: Effected, point: Point) -> Diagnostic:
    message = f"`{other.name}` and `{about.name}` can both act, and ask for `{first.effect}` with different arguments"
    help = (
        f"say which one holds: `action {about.name} on {about.declaration.schema.name} overrides {other.name}`, "
        f"an `unless`, or `effect many {first.effect}` if both may"
    )
    witness = Witness(point.example.option, point.example.context, None)
    return _finding("clashing-actions", about, message, help, [other], witness, point.possible)


# --- what stays open ------------------------------------------------------------------------------------------------


def undecided(first: Subject, open_: Sequence[tuple[str, ...]]) -> Diagnostic:
    pairs = sum(len(names) > 1 for names in open_)
    alone = len(open_) - pairs
    said = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((pairs, "pair"), (alone, "declaration")) if n]
    names = sorted({name for each in open_ for name in each})
    shown = ", ".join(f"`{name}`" for name in names[:6]) + (", …" if len(names) > 6 else "")
    return Diagnostic(
        "undecided",
        Severity.INFO,
        f"undecided: {' and '.join(said)}, about {shown}",
        heading(first),
        "no finding is claimed of these, and none is ruled out: they lie outside of what can be decided",
    )
