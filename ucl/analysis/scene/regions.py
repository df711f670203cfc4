"""Where declarations apply, which way they pull, and what silences or forbids them: regions as unions of boxes.

In: a program, one of its schemas, the day of the check, and the scene of the version before, if there is one. Out: a
`Scene` with the space of that schema's options and contexts, and for each active rule, constraint and action its
regions. Days on which a declaration isn't valid lie outside of its region, since `today` is one more axis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from ucl.analysis.boxes.space import Box, Space, TooMany
from ucl.analysis.formulas.formula import Atom, Formula, Relation, Unknown, every, negated, some
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import Terms
from ucl.analysis.scene.calls import differences
from ucl.analysis.scene.subjects import Declaration, Subject, read
from ucl.analysis.scene.translation import Translation, translation
from ucl.frozen import frozen
from ucl.semantics.evaluate.options import in_source_order
from ucl.semantics.program import Action, Constraint, Program, Rule, Schema, Status
from ucl.semantics.zones import Zone

# A constraint's region may be cut into so many boxes by those that silence it.
_MOST_PIECES = 1024


@frozen
class Step:
    """What changed from the scene before: who came and went. Boxes of all others are what they were where `is_kept`,
    put into the terms of the new space by `translation` if it is another one."""

    came: Sequence[Subject]
    gone: Sequence[Subject]
    is_kept: bool
    translation: Translation | None = None

    @property
    def may_forbid(self) -> bool:
        """Whether what came or went has a part in what is forbidden."""
        return any(isinstance(s.declaration, Constraint) or s.declaration.overrides for s in (*self.came, *self.gone))


@dataclass
class Scene:
    """Everything about one schema. `subjects` are by name and in source order; `silencers` name the active
    declarations that override one directly; `forbidden` has the boxes in which a constraint is violated, and `unboxed`
    the constraints for which there are too many. `asked` counts the declarations that ask each atom, by identity."""

    program: Program
    schema: Schema
    zone: Zone
    now: int
    today: int
    reader: Reader
    subjects: dict[str, Subject]
    silencers: dict[str, tuple[str, ...]]
    space: Space
    step: Step
    asked: Counter[int]
    forbidden: list[tuple[str, Box]] = field(default_factory=list)
    unboxed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        everything = self.subjects.values()
        self.rules = [s for s in everything if isinstance(s.declaration, Rule)]
        only_rules = len(self.rules) == len(everything)
        others = [] if only_rules else [s for s in everything if not isinstance(s.declaration, Rule)]
        self.constraints = [s for s in others if isinstance(s.declaration, Constraint)]
        self.actions = [s for s in others if isinstance(s.declaration, Action)]

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
        return every(negated(every((c.violated, self.heard(c)))) for c in self.constraints)

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
    subjects, came, gone = _subjects(_active(program, schema), reader, before)
    asked = Counter[int]() if before is None else before.asked.copy()
    asked.update(chain.from_iterable(map(id, subject.atoms) for subject in came))
    asked -= Counter(chain.from_iterable(map(id, subject.atoms) for subject in gone))
    space, kept, translated = _space(subjects, reader, today, asked, before)
    scene = Scene(
        program,
        schema,
        zone,
        now,
        today,
        reader,
        dict(zip(map(attrgetter("name"), subjects), subjects, strict=True)),
        _silencers(subjects),
        space,
        Step(came, gone, kept, translated),
        asked,
    )
    if translated is not None:
        assert before is not None
        forbidden = () if scene.step.may_forbid else before.forbidden
        translated.renew(_regions(subjects), (box for _, box in forbidden))
    for subject in came if kept else subjects:
        _fill(subject, scene)
    _forbid(scene)
    return scene


def _active(program: Program, schema: Schema) -> list[Declaration]:
    """In source order."""
    declared: list[Declaration] = [
        d
        for d in chain[Declaration](program.rules, program.constraints, program.actions)
        if d.schema is schema and d.meta.status is Status.ACTIVE
    ]
    # Rules alone are in order.
    return in_source_order(program, declared) if program.constraints or program.actions else declared  # type: ignore[type-var]


def _subjects(
    declared: Sequence[Declaration], reader: Reader, before: Scene | None
) -> tuple[list[Subject], list[Subject], list[Subject]]:
    """A subject for each declaration, those that came among them, and those that went."""
    known = {} if before is None else {id(s.declaration): s for s in before.subjects.values()}
    found, came = [], []
    for number, declaration in enumerate(declared):
        subject = known.get(id(declaration))
        if subject is None:
            subject = read(declaration, number, reader)
            came.append(subject)
        subject.number = number
        found.append(subject)
    if len(known) == len(found) - len(came):
        return found, came, []
    staying = set(map(id, declared))
    return found, came, [subject for key, subject in known.items() if key not in staying]


def _silencers(subjects: Iterable[Subject]) -> dict[str, tuple[str, ...]]:
    overriding = [subject for subject in subjects if subject.declaration.overrides]
    names = {subject.name for subject in subjects} if overriding else set()
    found: dict[str, tuple[str, ...]] = {}
    for subject in overriding:
        for overridden in subject.declaration.overrides:
            if overridden in names:
                found[overridden] = (*found.get(overridden, ()), subject.name)
    return found


# --- the space of a version -----------------------------------------------------------------------------------------


def _space(
    subjects: Sequence[Subject], reader: Reader, today: int, asked: Mapping[int, int], before: Scene | None
) -> tuple[Space, bool, Translation | None]:
    """The space of all that is asked, whether the boxes that are there are kept, and what puts them into its terms."""
    actions = [s for s in subjects if isinstance(s.declaration, Action)]
    extra = reader.atoms(differences(actions, reader)) if actions else ()
    atoms = chain(chain.from_iterable(map(attrgetter("atoms"), subjects)), extra)
    if before is None:
        return Space(reader, _each_once(atoms), today), False, None
    same = actions == before.actions and asked.keys() == before.asked.keys()
    if same and _is_ordered_as(before.space, atoms):
        return before.space, True, None
    atoms = chain(chain.from_iterable(map(attrgetter("atoms"), subjects)), extra)
    space = Space(reader, _each_once(atoms), today, before.space)
    if before.space.renewed(space):
        return before.space, True, None
    translated = translation(before.space, space)
    return space, translated is not None, translated


def _each_once(atoms: Iterable[Atom]) -> Iterable[Atom]:
    """Equal atoms are one object, and comparing them is slow."""
    found = list(atoms)
    return dict(zip(map(id, found), found, strict=True)).values()


def _is_ordered_as(space: Space, atoms: Iterable[Atom]) -> bool:
    """Whether fields and relations are first asked in the order in which the space has them."""
    wanted = len(space.places) + len(space.free)
    found: dict[object, None] = {}
    for atom in atoms:
        found[atom if isinstance(atom, Relation | Unknown) else atom.place] = None
        if len(found) == wanted:
            break
    free = [key for key in found if isinstance(key, Relation | Unknown)]
    places = [key for key in found if not isinstance(key, Relation | Unknown)]
    return places == list(space.places) and free == list(space.free.values())


# --- regions --------------------------------------------------------------------------------------------------------


def _regions(subjects: Sequence[Subject]) -> Iterator[Box]:
    """All boxes of declarations. Most often a rule rises or falls wherever it applies, with the same list."""
    regions: list[list[Box] | None] = [subject.boxes for subject in subjects]
    for subject in subjects:
        if subject.up_boxes and subject.up_boxes is not subject.boxes:
            regions.append(subject.up_boxes)
        if subject.down_boxes and subject.down_boxes is not subject.boxes:
            regions.append(subject.down_boxes)
        if subject.violated_boxes:
            regions.append(subject.violated_boxes)
    return chain.from_iterable(filter(None, regions))


def _fill(subject: Subject, scene: Scene) -> None:
    """The boxes of a declaration: all of them, or none where one of its regions has too many."""
    subject.boxes = scene.boxes(subject.active)
    match subject.declaration:
        case Rule():
            up = subject.boxes if subject.up == subject.active else scene.boxes(subject.up)
            down = subject.boxes if subject.down == subject.active else scene.boxes(subject.down)
            if up is None or down is None:
                subject.boxes, up, down = None, [], []
            subject.up_boxes, subject.down_boxes = up, down
            subject.ups = [(subject, box) for box in up]
            subject.downs = [(subject, box) for box in down]
        case Constraint():
            subject.violated_boxes = scene.boxes(subject.violated)
        case Action():
            pass


def _forbid(scene: Scene) -> None:
    """Where constraints are violated: their own regions, without those in which another one silences them."""
    for subject in scene.constraints:
        boxes = subject.violated_boxes
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
