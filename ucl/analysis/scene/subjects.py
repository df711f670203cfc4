"""One declaration as an analysis sees it: when it applies, which way it pulls, what its branches are.

In: a rule, constraint or action. Out: a `Subject` with its formulas; its boxes are filled in by the scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ucl.analysis.boxes.space import Box
from ucl.analysis.formulas.formula import FALSE, TRUE, Atom, Formula, every, negated, some
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import FieldPath
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.outcome import NANO
from ucl.semantics.parts import children
from ucl.semantics.program import ALWAYS, Action, Constraint, Expr, Rule

Declaration = Rule | Constraint | Action


@frozen
class Branch:
    """A part of a body that is there for some options: `reached` is where it is come to and holds."""

    kind: str
    expr: Expr
    reached: Formula


@dataclass(eq=False)
class Subject:
    """A declaration that takes part, with its formulas, and its regions once they are asked for.

    `holds` is `when` and no `unless`; `active` is that on days on which it is valid. `branches` are what it does, by
    the first exception that holds: a formula and an index into `exceptions` (None: its own score or calls).
    """

    declaration: Declaration
    number: int
    fields: frozenset[FieldPath]
    when: Formula
    unless: tuple[Formula, ...]
    exceptions: tuple[Formula, ...]
    valid: Formula
    atoms: tuple[Atom, ...] = ()
    active: Formula = TRUE
    up: Formula = FALSE
    down: Formula = FALSE
    violated: Formula = FALSE
    branches: list[Branch] = field(default_factory=list)
    boxes: list[Box] | None = None  # of `active`; None where there are too many
    up_boxes: list[Box] = field(default_factory=list)
    down_boxes: list[Box] = field(default_factory=list)
    violated_boxes: list[Box] | None = None
    ups: list[tuple[Subject, Box]] = field(default_factory=list)  # its boxes as members of a side
    downs: list[tuple[Subject, Box]] = field(default_factory=list)
    dead: bool = False

    def __post_init__(self) -> None:
        self.name = self.declaration.name

    @property
    def holds(self) -> Formula:
        return every((self.when, *(negated(u) for u in self.unless)))

    def branch(self, number: int) -> Formula:
        """Where the exception of that number is the one taken; past the last one, the declaration's own part."""
        earlier = (negated(e) for e in self.exceptions[:number])
        own = self.exceptions[number : number + 1]
        return every((self.active, *earlier, *own))


def read(declaration: Declaration, number: int, reader: Reader) -> Subject:
    exceptions: Sequence[p.ScoreException | p.DoException] = getattr(declaration, "exceptions", ())
    subject = Subject(
        declaration,
        number,
        reader.fields(_conditions(declaration)),
        reader.condition(declaration.when),
        tuple(reader.condition(u) for u in declaration.unless),
        tuple(reader.condition(e.condition) for e in exceptions),
        _valid(declaration, reader),
    )
    subject.active = subject.holds if subject.valid == TRUE else every((subject.valid, subject.holds))
    match declaration:
        case Rule():
            scores = [*(e.score for e in declaration.exceptions), declaration.score]
            subject.up = some(
                every((subject.branch(i), sign(declaration, score, reader, 1))) for i, score in enumerate(scores)
            )
            subject.down = some(
                every((subject.branch(i), sign(declaration, score, reader, -1))) for i, score in enumerate(scores)
            )
        case Constraint(require=require):
            kept = FALSE if require is None else reader.condition(require)
            subject.violated = every((subject.active, negated(kept)))
        case Action():
            pass
    subject.branches = list(_branches(subject, reader))
    subject.atoms = reader.atoms(_formulas(subject))
    return subject


def _branches(subject: Subject, reader: Reader) -> Iterator[Branch]:
    """Every `unless`, `except when` and side of an `if`, with all that must hold for it to count."""
    declaration = subject.declaration
    known = subject.when
    if declaration.when is not None:
        yield from _sides(declaration.when, TRUE, reader)
    for expr, unless in zip(declaration.unless, subject.unless, strict=True):
        yield Branch("unless", expr, every((known, unless)))
        yield from _sides(expr, known, reader)
        known = every((known, negated(unless)))
    exceptions: Sequence[p.ScoreException | p.DoException] = getattr(declaration, "exceptions", ())
    for exception, holds in zip(exceptions, subject.exceptions, strict=True):
        yield Branch("except when", exception.condition, every((known, holds)))
        yield from _sides(exception.condition, known, reader)
        if isinstance(exception, p.ScoreException):
            yield from _sides(exception.score, every((known, holds)), reader)
        known = every((known, negated(holds)))
    if isinstance(declaration, Rule):
        yield from _sides(declaration.score, known, reader)
    elif isinstance(declaration, Constraint) and declaration.require is not None:
        yield from _sides(declaration.require, known, reader)


def _sides(expr: Expr, known: Formula, reader: Reader) -> Iterator[Branch]:
    """The sides of each `if` in an expression, given what is known where it is evaluated."""
    if not _has_if(expr):
        return
    match expr:
        case p.If(condition=condition, then=then, otherwise=otherwise):
            yield from _sides(condition, known, reader)
            holds = reader.condition(condition)
            for side, reached in ((then, every((known, holds))), (otherwise, every((known, negated(holds))))):
                yield Branch("branch", side, reached)
                yield from _sides(side, reached, reader)
        case p.And(operands=operands) | p.Or(operands=operands):
            for operand in operands:
                yield from _sides(operand, known, reader)
                holds = reader.condition(operand)
                known = every((known, holds if isinstance(expr, p.And) else negated(holds)))
        case p.Comprehension() | p.BatchValue():
            return
        case _:
            for child in children(expr):
                yield from _sides(child, known, reader)


def _has_if(expr: Expr) -> bool:
    return isinstance(expr, p.If) or any(_has_if(child) for child in children(expr))


def _conditions(declaration: Declaration) -> list[Expr | None]:
    """What says where it holds; not its scores."""
    exceptions: Sequence[p.ScoreException | p.DoException] = getattr(declaration, "exceptions", ())
    conditions: list[Expr | None] = [declaration.when, *declaration.unless, *(e.condition for e in exceptions)]
    return [*conditions, declaration.require] if isinstance(declaration, Constraint) else conditions


def _valid(declaration: Declaration, reader: Reader) -> Formula:
    valid = declaration.meta.valid
    return TRUE if valid == ALWAYS else reader.day_in(valid.first, valid.end)


def sign(rule: Rule, score: Expr, reader: Reader, way: int) -> Formula:
    """Where the score's contribution lies above (`way` 1) or below (-1) zero."""
    if isinstance(score, p.If):
        condition = reader.condition(score.condition)
        yes, no = sign(rule, score.then, reader, way), sign(rule, score.otherwise, reader, way)
        return some((every((condition, yes)), every((negated(condition), no))))
    weight = rule.meta.priority * rule.meta.confidence
    if weight == 0:
        return FALSE
    if isinstance(score, p.Const):
        assert isinstance(score.value, int | float)
        contribution = round(weight * score.value * NANO)
        return TRUE if contribution * way > 0 else FALSE
    return _sign_of(score, reader, way)


def _sign_of(score: Expr, reader: Reader, way: int) -> Formula:
    """Through factors that are constant, so that scores that differ by these alone ask one question."""
    match score:
        case (
            p.Apply(signature=signature, arguments=(p.Const(value=float() | int() as factor), inner))
            | p.Apply(signature=signature, arguments=(inner, p.Const(value=float() | int() as factor)))
        ) if signature.op == "mul_float" and abs(factor) > 1e-6:
            return _sign_of(inner, reader, way if factor > 0 else -way)
        case p.Apply(signature=signature, arguments=(inner,)) if signature.op in ("neg_float", "neg_int"):
            return _sign_of(inner, reader, -way)
        case p.Apply(signature=signature, arguments=(inner,)) if signature.op == "to_float":
            return _sign_of(inner, reader, way)
        case p.Const(value=int() | float() as value):
            return TRUE if value * way > 0 else FALSE
        case p.Apply(signature=signature) if way < 0 and signature.op.startswith(("ramp_", "near_")):
            return FALSE
        case _:
            return reader.comparison(score, ">" if way > 0 else "<", 0.0)


def _formulas(subject: Subject) -> list[Formula]:
    return [
        subject.when,
        *subject.unless,
        *subject.exceptions,
        subject.valid,
        subject.up,
        subject.down,
        subject.violated,
        *(branch.reached for branch in subject.branches),
    ]
