"""Findings that the source accepts, with a reason: `# allow conflict: lunch with clients is rare` above a declaration.

In: what was found, and the program's sources. Out: what is left, with a finding for each acceptance that accepts
nothing or gives no reason.

An acceptance names a kind of finding, after it the other declarations if only they are meant (`# allow conflict late,
early: …`), and after a colon the reason. It stands among the comments right above a declaration. A finding about
several rules is accepted above any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ucl.diagnostics import Diagnostic, Source, Span, diagnostic
from ucl.frozen import frozen
from ucl.semantics.program import Action, Constraint, Program, Rule, Status
from ucl.semantics.suggest import nearest

_CODES = (
    "conflict",
    "tension",
    "never-applies",
    "always-overridden",
    "never-feasible",
    "double-counting",
    "nothing-feasible",
    "clashing-actions",
    "unreachable",
)
# Messages of other kinds, which whoever wants them allowed is told that they can't be.
_NEVER = (
    "unused",
    "broken-property",
    "undecided",
    "ambiguous-night",
    "exclusive-end",
    "empty-range",
    "float-equality",
    "score-scale",
)
# Where a finding is as much about the others as about the first.
_MUTUAL = frozenset({"conflict", "tension", "double-counting", "clashing-actions", "nothing-feasible"})
_FORM = re.compile(r"#+\s*allow\s+(?P<code>[a-z]+(?:-[a-z]+)*)\s*(?P<names>[\w\s,]*?)\s*(?::\s*(?P<reason>.*?)\s*)?$")
# What every such comment begins with, for texts in which there is none.
_ALLOWING = re.compile(r"#\s*allow\s")


@frozen
class Acceptance:
    """One such comment, above the declaration `name`. `others` are empty where every other is meant."""

    name: str
    code: str
    others: frozenset[str]
    reason: str
    span: Span


def without_accepted(program: Program, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    acceptances = list(_acceptances(program))
    used: set[Acceptance] = set()
    left = []
    for finding in found:
        accepting = [a for a in acceptances if a.reason and _accepts(a, finding)]
        used.update(accepting)
        if not accepting:
            left.append(finding)
    own = program.sources[0]
    for acceptance in acceptances:
        if acceptance.span.source is own and acceptance not in used and not _is_open(acceptance, found):
            left.append(_unneeded(acceptance))
    return left


def _accepts(acceptance: Acceptance, finding: Diagnostic) -> bool:
    if acceptance.code != finding.code or not finding.rules:
        return False
    about = finding.rules if finding.code in _MUTUAL else finding.rules[:1]
    others = {name for name in finding.rules if name != acceptance.name}
    return acceptance.name in about and (not acceptance.others or others <= acceptance.others)


def _is_open(acceptance: Acceptance, found: Iterable[Diagnostic]) -> bool:
    """Whether what it accepts may yet be so: not everything was listed or decided."""
    if not acceptance.reason or acceptance.code not in _CODES:
        return False
    return any(d.code == "undecided" or (d.code == acceptance.code and not d.rules) for d in found)


def _unneeded(acceptance: Acceptance) -> Diagnostic:
    if acceptance.code not in _CODES:
        near = None if acceptance.code in _NEVER else nearest(acceptance.code, _CODES)
        help = None if near is None else f"did you mean `{near}`?"
        return diagnostic("unused", acceptance.span, f"`{acceptance.code}` is nothing that can be allowed", help)
    if not acceptance.reason:
        message = f"nothing says why `{acceptance.code}` is allowed here, so it is not"
        return diagnostic("unused", acceptance.span, message, f"write `# allow {acceptance.code}: the reason`")
    others = " and ".join(f"`{name}`" for name in sorted(acceptance.others - {"with", "and"}))
    kind = f"`{acceptance.code}` with {others}" if others else f"`{acceptance.code}`"
    message = f"`{acceptance.name}` has no {kind} that would have to be allowed"
    return diagnostic("unused", acceptance.span, message, "take the comment out")


# --- comments -------------------------------------------------------------------------------------------------------


def _acceptances(program: Program) -> Iterator[Acceptance]:
    accepting = {id(source) for source in program.sources if _ALLOWING.search(source.text)}
    if not accepting:
        return
    declared: list[Rule | Constraint | Action] = [*program.rules, *program.constraints, *program.actions]
    for declaration in declared:
        if id(declaration.span.source.document) in accepting and declaration.meta.status is Status.ACTIVE:
            source = declaration.span.source.document
            for start, text in _comments_above(source, declaration.span.line):
                acceptance = _read(text, declaration.name, Span(source, start, start + len(text)))
                if acceptance is not None:
                    yield acceptance


def _comments_above(source: Source, line: int) -> Iterator[tuple[int, str]]:
    """The comments of the lines right above one, with where each starts. Texts end on their line, so a line that
    begins with `#` is a comment."""
    while line > 1:
        line -= 1
        text = source.line_text(line)
        bare = text.strip()
        if not bare.startswith("#"):
            return
        yield source.line_starts[line - 1] + text.index("#"), bare


def _read(text: str, name: str, span: Span) -> Acceptance | None:
    """None for a comment that says something else."""
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    code, reason = form["code"], form["reason"] or ""
    if code not in (*_CODES, *_NEVER) and nearest(code, _CODES) is None:
        return None
    others = frozenset(form["names"].replace(",", " ").split())
    return Acceptance(name, code, others, reason, span)
