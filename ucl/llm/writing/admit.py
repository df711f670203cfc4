"""What may come out of a model, on whatever path it came: rules, constraints and properties about the one schema.

In: the text of an answer, and the base that it is to be added to. Out: an `Addition` that compiles with the base; or
what is wrong, as sentences for the model. A grammar may have held the model to all of this already; it is checked all
the same, since servers ignore grammars, and since nothing that was said may turn into more than a declaration:

- no other declaration: no import, `let`, schema, effect, action or alert, and so nothing that acts;
- no name that there is already: what stands in the program is never replaced;
- no comment, since `# allow …` would accept a finding;
- no provenance, status, priority or confidence of the model's own: these are filled in by us;
- no score beyond 1, so that no statement outweighs all others, and none of 0, which says nothing;
- no promise about a rule of others, which would bind whoever changes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ucl.diagnostics import Diagnostic, Report, Severity, Source
from ucl.driver import check_source
from ucl.frozen import frozen
from ucl.llm.declarations import Addable, rewritten
from ucl.llm.drafts.base import Addition, Base
from ucl.llm.drafts.promises import promise_of
from ucl.semantics import program as p
from ucl.semantics.parts import children
from ucl.semantics.program import Program
from ucl.syntax import ast
from ucl.syntax.layout.expressions import quote
from ucl.syntax.parse import parse

LONGEST_ANSWER = 12_000
MOST_DECLARATIONS = 8
_LONGEST_NAME = 60
_MOST_TOLD = 8
# Clauses that say where a declaration comes from and how much it counts: not for a model to say.
OURS = ("because", "from", "confidence", "priority", "status")
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)(?:```|\Z)", re.DOTALL)


@frozen
class Origin:
    """What a declaration stands for: the person's own words, and where they were said."""

    because: str | None
    kind: str | None = None
    id: str | None = None
    at: str | None = None

    def clauses(self) -> Iterator[str]:
        if self.because is not None:
            yield f"because {quote(self.because)}"
        if self.kind is not None and self.id is not None:
            yield f"from {self.kind} {quote(self.id)}" + (f" at {self.at}" if self.at else "")


@dataclass(frozen=True, eq=False)
class Admitted:
    """`program` is that of base and addition; `warnings` speak of the addition, and may be meant."""

    addition: Addition
    program: Program
    warnings: tuple[str, ...]


def admitted(text: str, base: Base, schema: str, origin: Origin) -> Admitted | tuple[str, ...]:
    """What an answer adds, or what is wrong with it, each in a line."""
    if len(text) > LONGEST_ANSWER:
        return (f"the answer has {len(text):,} characters; {LONGEST_ANSWER:,} are more than enough for a few rules",)
    source = Source("answer.ucl", _unfenced(text))
    report = Report()
    file = parse(source, report)
    if report.has_errors:
        return tuple(_told(report))
    nodes = [node for node in file.declarations if isinstance(node, Addable)]
    refused = tuple(_refused(file, nodes, base, schema))
    if refused:
        return refused
    return _compiled(file, nodes, base, origin)


def compiles(text: str, base: Base) -> bool:
    """Whether a text, as it is, compiles with the base: every sentence of the grammar does, admitted or not."""
    return check_source(base.with_text(text), base.folder)[0] is not None


def _unfenced(text: str) -> str:
    """What stands in the first fence, if prose is around it."""
    found = _FENCE.search(text)
    return text if found is None else found[1]


# --- what is not let in ---------------------------------------------------------------------------------------------


def _refused(file: ast.File, nodes: Sequence[Addable], base: Base, schema: str) -> Iterator[str]:
    for other in file.declarations:
        if not isinstance(other, Addable):
            word = file.source.text[other.span.start :].split(maxsplit=1)[0]
            yield f"line {other.span.line}: `{word}` can't be written here, only `rule`, `constraint` and `property`"
    if not any(isinstance(node, ast.Rule | ast.Constraint) for node in nodes):
        yield "there is no rule and no constraint in the answer"
    if len(nodes) > MOST_DECLARATIONS:
        yield f"there are {len(nodes)} declarations; write {MOST_DECLARATIONS} at most"
    names = [node.name.text for node in nodes]
    for node in nodes:
        name, line = node.name.text, node.span.line
        if name in base.module.table or names.count(name) > 1:
            yield f"line {line}: the name `{name}` is taken; choose another"
        if len(name) > _LONGEST_NAME:
            yield f"line {line}: a name has {_LONGEST_NAME} characters at most"
        if node.schema.text != schema:
            yield f"line {line}: `{name}` is on `{node.schema.text}`; write `on {schema}`"


def _compiled(file: ast.File, nodes: Sequence[Addable], base: Base, origin: Origin) -> Admitted | tuple[str, ...]:
    """The declarations as we would place them, checked at the end of the base."""
    clauses = list(origin.clauses())
    texts = tuple(rewritten(file, node, OURS, clauses) for node in nodes)
    addition = Addition(texts, tuple(node.name.text for node in nodes))
    source = base.with_text(addition.text(p.Status.ACTIVE))
    program, report = check_source(source, base.folder)
    own = [d for d in report if d.span.source is source and d.span.start >= source.text.rfind(texts[0])]
    if program is None:
        # The base compiled, so the mistake is in what was added, or comes from it.
        return tuple(_told(own or report, source))
    wrong = (*_out_of_scale(program, addition.names), *_of_others(program, addition.names))
    if wrong:
        return wrong
    warnings = [d for d in own if d.severity is Severity.WARNING]
    return Admitted(addition, program, tuple(_told(warnings, source)))


def with_promises(base: Base, found: Admitted, schema: str, origin: Origin) -> Addition:
    """The addition with a promise for each of its rules and constraints, behind what the model wrote."""
    addition = found.addition
    own = set(addition.names)
    declared: list[p.Rule | p.Constraint] = [*found.program.rules, *found.program.constraints]
    texts, names = list(addition.declarations), list(addition.names)
    clauses = list(origin.clauses())
    for each in declared:
        made = promise_of(each, schema, {*base.module.table, *names}) if each.name in own else None
        if made is not None:
            file = parse(Source("promise.ucl", made[1]), Report())
            nodes = [node for node in file.declarations if isinstance(node, ast.Property)]
            texts.append(rewritten(file, nodes[0], (), clauses))
            names.append(made[0])
    whole = Addition(tuple(texts), tuple(names))
    program, _ = check_source(base.with_text(whole.text(p.Status.ACTIVE)), base.folder)
    # A condition that can't stand in a `given` leaves the rule without a promise, not without a draft.
    return whole if program is not None else addition


def _told(found: Iterable[Diagnostic], source: Source | None = None) -> Iterator[str]:
    """As a model reads it: the line itself in place of its number, since it wrote another text than stands there."""
    for number, each in enumerate(found):
        if number == _MOST_TOLD:
            return
        line = each.span.source.line_text(each.span.line).strip()
        place = f"line {each.span.line}, `{line[:120]}`" if source is None else f"`{line[:120]}`"
        mend = f" ({each.help})" if each.help else ""
        yield f"{place}: {each.message}{mend} [{each.code}]"


def _of_others(program: Program, names: Iterable[str]) -> Iterator[str]:
    """A promise may speak of what comes of an option, and of the draft's own rules: not bind those of others."""
    own = set(names)
    for promise in program.properties:
        if promise.name in own and isinstance(promise, p.Property):
            work = [*promise.expect]
            while work:
                expr = work.pop()
                if isinstance(expr, p.RuleFact) and expr.rule not in own:
                    yield f"`{promise.name}`: `{expr.rule}` is not yours to promise; write `score` or `feasible`"
                work.extend(children(expr))


# --- how much a score may be ----------------------------------------------------------------------------------------


def _out_of_scale(program: Program, names: Iterable[str]) -> Iterator[str]:
    own = set(names)
    for rule in program.rules:
        if rule.name in own:
            sizes = [_magnitude(score) for score in (rule.score, *(case.score for case in rule.exceptions))]
            if not max(sizes) <= 1:
                yield f"`{rule.name}`: a score is a number from -1 to 1, or a `ramp` or `near` times such a number"
            elif max(sizes) == 0 and not rule.overrides:
                yield f"`{rule.name}`: a score of 0 changes nothing; say how much it speaks for or against"


def _magnitude(score: p.Expr) -> float:
    """The most that it can be away from 0; infinite where that is not plain to see."""
    match score:
        case p.Const(value=int() | float() as value):
            return abs(value)
        case p.Apply(signature=signature, arguments=(operand,)) if signature.op.startswith("neg"):
            return _magnitude(operand)
        case p.Apply(signature=signature, arguments=(left, right)) if signature.op.startswith("mul"):
            return _magnitude(left) * _magnitude(right)
        case p.Apply(signature=signature) if signature.op.startswith(("ramp", "near")):
            return 1.0
        case p.If(then=then, otherwise=otherwise):
            return max(_magnitude(then), _magnitude(otherwise))
        case _:
            return math.inf
