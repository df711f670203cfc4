"""What the analysis keeps of one version of a program for the next, so that an edit of one rule costs that rule.

In: versions as `ucl.editing` gives them, in which a declaration that did not change is the very object that it was.
Out: for each schema a study that already knows what does not depend on what changed. What is found is what a fresh
analysis finds, always:

- Formulas, regions and verdicts belong to a declaration, as long as its schema, the context, the memory, the zone and
  the moment are the same. A changed `let`, `def` or schema makes new declarations of those that read it.
- Boxes are numbers of cells. Where an edit cuts a field where it was not cut before, all of them are made anew, and
  everything that was decided by them; what was replayed is still kept.
- An answer about several declarations is known by these, and by whoever silences them; all answers by what is
  forbidden.
- A replay is kept where nothing that changed applies; elsewhere its changed part is replayed (`witness.carried`).
- Where a budget was spent, nothing is kept, since what a budget leaves undecided depends on the order of questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ucl.analysis.scene.regions import Scene, scene_of
from ucl.analysis.scene.study import Study
from ucl.semantics.operations import date_of
from ucl.semantics.program import Program, Schema
from ucl.semantics.zones import Zone

if TYPE_CHECKING:
    from ucl.diagnostics import Diagnostic

# Of what was read once and is no longer asked, so many times as much as is asked may be kept.
_MOST_STALE = 4


@dataclass
class Recheck:
    """The findings of a program while somebody writes it.

        versions, recheck = ucl.editing.Versions(), Recheck()
        checked, report = versions.check(source)  # at each change
        found = [] if checked is None else recheck.findings(checked[0], now)

    `findings` is `findings.analyse` for the next version, and as right for any other program, only not as quick. The
    moment belongs to what is kept: a caller who checks at every keystroke asks with that of the first, until a day
    later. Not for several threads at once.
    """

    _studies: dict[Schema, Study] = field(default_factory=dict)
    _surroundings: tuple[Any, ...] | None = None
    _carried: set[Schema] = field(default_factory=set)
    _program: Program | None = None
    _now: int = 0

    def findings(self, program: Program, now_us: int, list_tensions: bool = False) -> list[Diagnostic]:
        """As `analyse`: what is found in a program without errors at `now_us`."""
        from ucl.analysis.findings import analyse

        return analyse(program, now_us, list_tensions, self)

    def begin(self, program: Program, now_us: int, schemas: list[Schema]) -> Iterable[Schema]:
        """Lets a version in. The schemas to study, one after the other."""
        surroundings = (program.context, program.memory, program.timezone, now_us)
        if surroundings != self._surroundings:
            self._studies = {}
        self._program, self._now, self._surroundings = program, now_us, surroundings
        self._studies = {schema: study for schema, study in self._studies.items() if schema in schemas}
        self._carried = set()
        return schemas

    def study(self, schema: Schema) -> Study:
        """The study of this version of a schema: once a version, unless it was forgotten."""
        before = self._studies.get(schema)
        if before is not None and (before.spent or _is_stale(before)):
            before = None
        scene = self._scene(schema, before)
        if before is None:
            study = Study(scene)
        else:
            study = before.next_version(scene)
            self._carried.add(schema)
        self._studies[schema] = study
        return study

    def forget(self, schema: Schema) -> bool:
        """Drops what is kept of a schema; whether anything of an earlier version was in it."""
        self._studies.pop(schema, None)
        was = schema in self._carried
        self._carried.discard(schema)
        return was

    def _scene(self, schema: Schema, before: Study | None) -> Scene:
        assert self._program is not None
        zone = Zone.load(self._program.timezone)
        assert zone is not None
        known = None if before is None else before.scene
        return scene_of(self._program, schema, zone, self._now, date_of(zone, self._now), known)


def _is_stale(study: Study) -> bool:
    """Whether most of what the reader holds is of versions long gone."""
    return len(study.scene.reader.interned) > 1000 + _MOST_STALE * study.scene.asked.total()
