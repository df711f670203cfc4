"""Replays of one version of a program, carried over to the next: of an edit only what it changed is asked again.

In: what was replayed, and two scenes. Out: what holds of the new one. Whether a declaration applies depends on itself
alone, and whether it is heard on those that override it directly. So where neither what came nor what went applies, a
replay stands as it is. Elsewhere the declarations that changed, those that they override and whoever silences these are
judged again, by the definition and by the kernel, and take their places in what was judged before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ucl.analysis.scene.regions import Scene
from ucl.semantics.evaluate import Judgement, Ruleset, judge, outcome_of
from ucl.semantics.evaluate.options import applies, frames, resolution_of, silencers
from ucl.semantics.expressions import STEPS, Exhausted
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, Outcome
from ucl.semantics.program import Action, Constraint, Program, Resolution, Rule

_MOST = 40  # declarations that may change before it is cheaper to replay everything

Declaration = Rule | Constraint | Action


class Edit:
    """What an edit changed in a scene."""

    def __init__(self, before: Program, now: Scene, came: Sequence[Declaration], gone: Sequence[Declaration]) -> None:
        """What came into the scene since the program of a version before, and what went."""
        self.came, self.gone, self._now = came, gone, now
        self._before = before
        self._rulesets: dict[int, Ruleset] = {}
        same_rule = resolution_of(before, now.schema) is resolution_of(now.program, now.schema)
        self._weighted = same_rule and resolution_of(now.program, now.schema) is Resolution.WEIGHTED
        self._same_rule = same_rule

    @staticmethod
    def of(before: Scene, now: Scene) -> Edit:
        """From the version right before."""
        came, gone = ([subject.declaration for subject in each] for each in (now.step.came, now.step.gone))
        return Edit(before.program, now, came, gone)

    def then(self, now: Scene) -> Edit:
        """This edit and the one that led from its version to the next, as one."""
        came, gone = ({id(d): d for d in each} for each in (self.came, self.gone))
        for subject in now.step.gone:
            if came.pop(id(subject.declaration), None) is None:
                gone[id(subject.declaration)] = subject.declaration
        for subject in now.step.came:
            if gone.pop(id(subject.declaration), None) is None:
                came[id(subject.declaration)] = subject.declaration
        return Edit(self._before, now, [*came.values()], [*gone.values()])

    @property
    def is_none(self) -> bool:
        return self._same_rule and not self.came and not self.gone

    @property
    def is_small(self) -> bool:
        """Whether replays can be carried over it at all. By priority, one rule may drop any other."""
        return self.is_none or (self._weighted and len(self.came) + len(self.gone) <= _MOST)

    def touches(self, record: Mapping[str, Any], call: Call) -> bool:
        """Whether anything that came or went has a part in an option."""
        (frame,) = frames([record], call, None, STEPS)
        try:
            return any(applies(d, frame) for d in (*self.came, *self.gone))
        except (Overflow, Exhausted):
            return True

    @cached_property
    def names(self) -> frozenset[str]:
        """Those of which something else may be so: what changed, and what that overrides."""
        changed = [*self.came, *self.gone]
        return frozenset([*(d.name for d in changed), *(name for d in changed for name in d.overrides)])

    @cached_property
    def part(self) -> Program:
        """The new program, cut down to these names and to whoever silences them."""
        scene = self._now
        wanted = {*self.names, *(s for name in self.names for s in scene.silencers.get(name, ()))}
        subjects = [scene.subjects[name].declaration for name in wanted if name in scene.subjects]
        kept = {id(d) for d in subjects}
        program = scene.program
        return replace(
            program,
            rules=tuple(rule for rule in program.rules if id(rule) in kept),
            constraints=tuple(c for c in program.constraints if id(c) in kept),
        )

    def ruleset(self, call: Call) -> Ruleset:
        known = self._rulesets.get(call.today)
        if known is None:
            known = self._rulesets[call.today] = Ruleset.of(self.part, self._now.schema, call.today)
        return known

    def judged(
        self, before: Judgement, record: Mapping[str, Any], call: Call
    ) -> tuple[Judgement, Outcome, Outcome] | None:
        """What holds of the option now: its judgement and outcome, and the outcome of the changed part alone. None
        where that part can't be judged."""
        (frame,) = frames([record], call, None, STEPS)
        rules = self.ruleset(call)
        try:
            part = judge(rules, frame)
        except Exhausted:
            return None
        if part.failed:
            return None
        names = self.names
        judgement = replace(
            before,
            applying=_renewed(before.applying, part.applying, names),
            fired=_renewed(before.fired, part.fired, names),
            contributions={
                **{name: nano for name, nano in before.contributions.items() if name not in names},
                **{name: nano for name, nano in part.contributions.items() if name in names},
            },
            violated=tuple(sorted(_renewed(before.violated, part.violated, names))),
        )
        nothing = replace(rules, active=(), shadow=(), silencers=silencers(()))
        return judgement, outcome_of(nothing, judgement, call), outcome_of(rules, part, call)


def _renewed(before: Iterable[str], part: Iterable[str], names: frozenset[str]) -> frozenset[str]:
    return frozenset([*(n for n in before if n not in names), *(n for n in part if n in names)])
