"""Where declarations apply, which way they pull, and what silences or forbids them: regions as unions of boxes.

In: a program, one of its schemas, the day of the check. Out: a `Scene` with the space of that schema's options and
contexts, and for each active rule, constraint and action its regions. Days on which a declaration isn't valid lie
outside of its region, since `today` is one more axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ucl.analysis.boxes.space import Box, Space, TooMany
from ucl.analysis.formulas.formula import (
    FALSE,
    TRUE,
    Atom,
    Formula,
    every,
    negated,
    some,
)
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import Terms, fields_read
from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.evaluate.options import in_source_order
from ucl.semantics.outcome import NANO
from ucl.semantics.parts import children
from ucl.semantics.program import ALWAYS, Action, Constraint, EffectCall, Expr, Program, Rule, Schema, Status
from ucl.semantics.zones import Zone

# A constraint's region may be cut into so many boxes by those that silence it.
_MOST_PIECES = 1024

FieldPath = tuple[str, tuple[str, ...]]


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

    declaration: Rule | Constraint | Action
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
    dead: bool = False

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def holds(self) -> Formula:
        return every((self.when, *(negated(u) for u in self.unless)))

    def branch(self, number: int) -> Formula:
        """Where the exception of that number is the one taken; past the last one, the declaration's own part."""
        earlier = (negated(e) for e in self.exceptions[:number])
        own = self.exceptions[number : number + 1]
        return every((self.active, *earlier, *own))


@dataclass
class Scene:
    """Everything about one schema. `subjects` are by name and in source order; `silencers` name the active
    declarations that override one directly; `forbidden` has the boxes in which a constraint is violated, and `unboxed`
    the constraints for which there are too many."""

    program: Program
    schema: Schema
    zone: Zone
    now: int
    today: int
    reader: Reader
    subjects: dict[str, Subject]
    silencers: dict[str, tuple[str, ...]]
    space: Space
    forbidden: list[tuple[str, Box]] = field(default_factory=list)
    unboxed: list[str] = field(default_factory=list)

    def of_kind(self, kind: type) -> list[Subject]:
        return [s for s in self.subjects.values() if isinstance(s.declaration, kind)]

    def boxes(self, formula: Formula) -> list[Box] | None:
        """The formula's boxes; None where there are too many."""
        try:
            return self.space.boxes(formula)
        except TooMany:
            return None

    def heard(self, subject: Subject) -> Formula:
        """Where nothing silences it."""
        return negated(some(self.subjects[name].active for name in self.silencers.get(subject.name, ())))

    def feasible(self) -> Formula:
        """Where no constraint forbids the option."""
        constraints = self.of_kind(Constraint)
        return every(negated(every((c.violated, self.heard(c)))) for c in constraints)

    def silencing(self, name: str) -> list[tuple[str, Box]]:
        """The boxes in which another declaration silences this one."""
        found = []
        for other in self.silencers.get(name, ()):
            found += [(other, box) for box in self.subjects[other].boxes or ()]
        return found


def scene_of(program: Program, schema: Schema, zone: Zone, now: int, today: int, before: Scene | None = None) -> Scene:
    """`before` is the scene of a version of the program with the same surroundings, moment and zone: what the two
    share is taken from there, and given up by it."""
    reader = Reader(Terms(program, schema, zone)) if before is None else before.reader
    known = {} if before is None else {id(s.declaration): s for s in before.subjects.values()}
    declared: list[Rule | Constraint | Action] = [
        *program.rules_on(schema),
        *program.constraints_on(schema),
        *(action for action in program.actions if action.schema is schema),
    ]
    active = [d for d in in_source_order(program, declared) if d.meta.status is Status.ACTIVE]  # type: ignore[type-var]
    subjects: dict[str, Subject] = {}
    unfilled = []
    for number, declaration in enumerate(active):
        subject = known.get(id(declaration))
        if subject is None:
            subject = _read(declaration, number, reader)
            unfilled.append(subject)
        subject.number, subject.dead = number, False
        subjects[declaration.name] = subject
    space = _space(subjects, reader, today, None if before is None else before.space)
    scene = Scene(program, schema, zone, now, today, reader, subjects, _silencers(subjects), space)
    renewed = before is not None and space is before.space
    for subject in unfilled if renewed else subjects.values():
        _fill(subject, scene)
    _forbid(scene)
    return scene


def _space(subjects: Mapping[str, Subject], reader: Reader, today: int, before: Space | None) -> Space:
    """The space of all that is asked; the one before where boxes mean the same in it."""
    extra = reader.atoms(_differences(subjects.values(), reader))
    atoms = {id(atom): atom for subject in subjects.values() for atom in subject.atoms}
    atoms |= {id(atom): atom for atom in extra}
    space = Space(reader, atoms.values(), today, before)
    return before if before is not None and before.renewed(space) else space


def _silencers(subjects: dict[str, Subject]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for subject in subjects.values():
        for overridden in subject.declaration.overrides:
            if overridden in subjects:
                found[overridden] = (*found.get(overridden, ()), subject.name)
    return found


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


# --- one declaration ------------------------------------------------------------------------------------------------


def _read(declaration: Rule | Constraint | Action, number: int, reader: Reader) -> Subject:
    exceptions: Sequence[p.ScoreException | p.DoException] = getattr(declaration, "exceptions", ())
    subject = Subject(
        declaration,
        number,
        _fields(declaration),
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


def _fields(declaration: Rule | Constraint | Action) -> frozenset[FieldPath]:
    """What the conditions speak of, not the scores."""
    exceptions: Sequence[p.ScoreException | p.DoException] = getattr(declaration, "exceptions", ())
    conditions = [declaration.when, *declaration.unless, *(e.condition for e in exceptions)]
    if isinstance(declaration, Constraint):
        conditions.append(declaration.require)
    return frozenset(f for condition in conditions if condition is not None for f in fields_read(condition))


def _valid(declaration: Rule | Constraint | Action, reader: Reader) -> Formula:
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


def _fill(subject: Subject, scene: Scene) -> None:
    """The boxes of a declaration: all of them, or none where one of its regions has too many."""
    subject.boxes = scene.boxes(subject.active)
    subject.up_boxes, subject.down_boxes = [], []
    if not isinstance(subject.declaration, Rule):
        return
    up = subject.boxes if subject.up == subject.active else scene.boxes(subject.up)
    down = subject.boxes if subject.down == subject.active else scene.boxes(subject.down)
    if up is None or down is None:
        subject.boxes = None
    else:
        subject.up_boxes, subject.down_boxes = up, down


def _forbid(scene: Scene) -> None:
    """Where constraints are violated: their own regions, without those in which another one silences them."""
    for subject in scene.of_kind(Constraint):
        boxes = scene.boxes(subject.violated)
        silencers = [scene.subjects[name] for name in scene.silencers.get(subject.name, ())]
        for silencer in silencers:
            if boxes is None or silencer.boxes is None or len(boxes) > _MOST_PIECES:
                boxes = None
                break
            boxes = [piece for box in boxes for piece in _without(box, silencer.boxes, scene.space)]
        if boxes is None:
            scene.unboxed.append(subject.name)
        else:
            scene.forbidden += [(subject.name, box) for box in boxes]


def _without(box: Box, others: Sequence[Box], space: Space) -> list[Box]:
    pieces = [box]
    for other in others:
        pieces = [part for piece in pieces for part in space.subtract(piece, other)]
    return pieces


# --- actions --------------------------------------------------------------------------------------------------------


def calls_of(action: Action, branch: int) -> tuple[EffectCall, ...]:
    return action.exceptions[branch].calls if branch < len(action.exceptions) else action.calls


def difference(a: EffectCall, b: EffectCall, reader: Reader) -> Formula:
    """Where two calls of one effect have different arguments."""
    pairs = zip(a.arguments, b.arguments, strict=True)
    return some(_unequal(left, right, reader) for left, right in pairs)


def _unequal(left: Expr, right: Expr, reader: Reader) -> Formula:
    if isinstance(left.type, t.Closed) or isinstance(right.type, t.Closed):
        same = isinstance(left, p.Const) and isinstance(right, p.Const)
        if same:
            assert isinstance(left, p.Const)
            assert isinstance(right, p.Const)
            return FALSE if left.value == right.value else TRUE
    return reader.different(left, right)


def pairs_of_calls(a: Subject, b: Subject) -> list[tuple[int, int, EffectCall, EffectCall]]:
    """What two actions may ask for of the same effect, by branch."""
    assert isinstance(a.declaration, Action)
    assert isinstance(b.declaration, Action)
    found = []
    for i in range(len(a.exceptions) + 1):
        for j in range(len(b.exceptions) + 1):
            for x in calls_of(a.declaration, i):
                for y in calls_of(b.declaration, j):
                    if x.effect.name == y.effect.name and not x.effect.many:
                        found.append((i, j, x, y))
    return found


def _differences(subjects: Iterable[Subject], reader: Reader) -> list[Formula]:
    actions = [s for s in subjects if isinstance(s.declaration, Action)]
    found = []
    for place, a in enumerate(actions):
        for b in actions[place + 1 :]:
            found += [difference(x, y, reader) for _, _, x, y in pairs_of_calls(a, b)]
    return found
