"""A claim is replayed before it is printed: by the definition, and by the kernel that scores tables.

In: examples, as data. Out: what `evaluate` says of them, once the kernel has said the same; None where they can't be
scored or the two disagree, which the caller counts as undecided.

The definition judges an example in full while that is cheap. In a program of very many rules it judges the rules that
the kernel says fired, what the finding is about, and everything that could silence it: whatever the finding claims is
checked by both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucl.analysis.scene.regions import Scene
from ucl.analysis.witness.carried import Edit
from ucl.analysis.witness.example import Example
from ucl.kernels.columns import Column, Columns, Path, Presence, Scalars, Sets, Texts
from ucl.kernels.lower import lower
from ucl.kernels.plan import Plan
from ucl.kernels.run import details, score
from ucl.semantics import types as t
from ucl.semantics.evaluate import Effected, Judgement, Ruleset, act, judge, outcome_of
from ucl.semantics.evaluate.options import frames
from ucl.semantics.expressions import STEPS, Exhausted
from ucl.semantics.outcome import Call, Invalid, Outcome
from ucl.semantics.program import Field
from ucl.semantics.values import make_call, read_record

# So many rules are judged in full, over all examples; what is beyond is judged where it matters.
_IN_FULL = 12_000


@dataclass(frozen=True)
class Replayed:
    """What the definition says of one example. `option` and `context` are the data that `score` reads."""

    example: Example
    outcome: Outcome
    judgement: Judgement


@dataclass(frozen=True)
class _Kernel:
    total: int
    feasible: bool
    fired: frozenset[str]

    def agrees(self, outcome: Outcome) -> bool:
        return (
            self.total == outcome.total and self.feasible == outcome.feasible and self.fired == frozenset(outcome.fired)
        )


class Replayer:
    """Replays examples of one scene, each once."""

    def __init__(self, scene: Scene, memory: Mapping[str, Any]) -> None:
        """`memory` is what every call is given of it."""
        self.scene, self.memory = scene, memory
        # The version whose plans and rulesets are kept, and what came of it since.
        self._base = scene.program
        self._since: Edit | None = None
        self._calls: dict[str, Call | None] = {}
        self._plans: dict[str, Plan] = {}
        self._rulesets: dict[int, Ruleset] = {}
        self._known: dict[str, Replayed | None] = {}
        self._kernel: dict[str, _Kernel | None] = {}
        self._records: dict[str, dict[str, Any] | None] = {}
        self._places: tuple[Ruleset, dict[str, int], frozenset[str]] | None = None
        self._spent = 0

    def prepare(self, examples: Iterable[Example]) -> None:
        """Scores examples with the kernel, those of one call together."""
        groups: dict[str, list[Example]] = {}
        for example in examples:
            if example.key not in self._kernel:
                self._kernel[example.key] = None
                groups.setdefault(_call_key(example), []).append(example)
        for members in groups.values():
            call = self.call(members[0])
            if call is not None:
                self._score(members, call)

    def replay(self, example: Example, about: Sequence[str]) -> Replayed | None:
        """`about` names what the finding speaks of; it is judged in any case."""
        if example.key in self._known:
            return self._known[example.key]
        key = example.key if self._spent <= _IN_FULL else f"{example.key} {about}"
        if key not in self._known:
            self._known[key] = self._replayed(example, about)
        return self._known[key]

    def call(self, example: Example) -> Call | None:
        key = _call_key(example)
        if key not in self._calls:
            context = {name: value for name, value in example.context.items() if name != "now"}
            found = make_call(self.scene.program, example.now, self.scene.zone, context, self.memory)
            self._calls[key] = found if isinstance(found, Call) else None
        return self._calls[key]

    def record(self, example: Example) -> dict[str, Any] | None:
        if example.key not in self._records:
            found = read_record(example.option, self.scene.schema.fields, self.scene.zone)
            self._records[example.key] = None if isinstance(found, Invalid) else found
        return self._records[example.key]

    def acted(self, example: Example) -> tuple[Effected, ...] | None:
        """What the actions ask for."""
        call, record = self.call(example), self.record(example)
        if call is None or record is None:
            return None
        try:
            (found,) = act(self.scene.program, self.scene.schema, [record], call)
        except Exhausted:
            return None
        return None if isinstance(found, Invalid) else found

    # --- the definition ---------------------------------------------------------------------------------------------

    def _replayed(self, example: Example, about: Sequence[str]) -> Replayed | None:
        """By the version whose plan is there, and what changed since; by this one where that can't be said."""
        found = self._by_base(example, about)
        if found is None and self._since is not None:
            self._rest_on(self.scene)
            found = self._by_base(example, about)
        return found

    def _by_base(self, example: Example, about: Sequence[str]) -> Replayed | None:
        call, record = self.call(example), self.record(example)
        if call is None or record is None:
            return None
        self.prepare([example])
        kernel = self._kernel[example.key]
        rules = self._ruleset(call)
        self._spent += len(rules.active)
        if self._spent > _IN_FULL and kernel is not None:
            rules = self._restricted(rules, {*about, *kernel.fired})
        try:
            (frame,) = frames([record], call, None, STEPS)
            judgement = judge(rules, frame)
        except Exhausted:
            return None
        outcome = outcome_of(rules, judgement, call)
        if outcome.total is None or kernel is None or not kernel.agrees(outcome):
            return None
        replayed = Replayed(example, outcome, judgement)
        if self._since is None or not self._since.touches(record, call):
            return replayed
        (found,) = self._carried(self._since, [(replayed, record, call)])
        return found

    def _ruleset(self, call: Call) -> Ruleset:
        if call.today not in self._rulesets:
            self._rulesets[call.today] = Ruleset.of(self._base, self.scene.schema, call.today)
        return self._rulesets[call.today]

    def _restricted(self, rules: Ruleset, names: set[str]) -> Ruleset:
        """Those rules with what silences them, and every constraint."""
        if self._places is None or self._places[0] is not rules:
            places = {d.name: place for place, d in enumerate(rules.active)}
            self._places = rules, places, frozenset(constraint.name for constraint in rules.constraints)
        _, places, constraints = self._places
        wanted = names | constraints
        wanted |= {silencer for name in names for silencer in rules.silencers.get(name, ())}
        active = tuple(rules.active[place] for place in sorted(places[name] for name in wanted if name in places))
        return replace(rules, active=active, shadow=())

    # --- the kernel -------------------------------------------------------------------------------------------------

    def _score(self, examples: Sequence[Example], call: Call) -> None:
        scene = self.scene
        records = [(example, self.record(example)) for example in examples]
        valid = [(example, record) for example, record in records if record is not None]
        if not valid:
            return
        key = _call_key(valid[0][0])
        if key not in self._plans:
            self._plans[key] = lower(self._base, scene.schema, call)
        found = _by_kernel(self._plans[key], [record for _, record in valid], scene.schema.fields)
        self._kernel |= {example.key: kernel for (example, _), kernel in zip(valid, found, strict=True)}

    # --- versions ---------------------------------------------------------------------------------------------------

    def next_version(self, scene: Scene) -> None:
        """Goes on in a version with the same surroundings, and with what the edit leaves of the replays."""
        edit, since = Edit.of(self.scene, scene), self._since
        self.scene = scene
        if edit.is_none:
            return
        known, self._known = self._known, {}
        since = edit if since is None else since.then(scene)
        if not edit.is_small or not since.is_small:
            self._rest_on(scene)
        else:
            self._since = None if since.is_none else since
        if not edit.is_small:
            return
        touched: dict[str, list[tuple[str, Replayed, dict[str, Any], Call]]] = {}
        for key, replayed in known.items():
            if replayed is None:
                continue
            call, record = self.call(replayed.example), self.record(replayed.example)
            assert call is not None
            assert record is not None
            if edit.touches(record, call):
                touched.setdefault(_call_key(replayed.example), []).append((key, replayed, record, call))
            else:
                self._known[key] = replayed
        for members in touched.values():
            found = self._carried(edit, [(replayed, record, call) for _, replayed, record, call in members])
            for (key, *_), replayed in zip(members, found, strict=True):
                if replayed is not None:
                    self._known[key] = replayed

    def _rest_on(self, scene: Scene) -> None:
        """Replays by the program of this version from now on."""
        self._base, self._since = scene.program, None
        self._plans, self._rulesets, self._kernel = {}, {}, {}

    def _carried(self, edit: Edit, members: Sequence[tuple[Replayed, dict[str, Any], Call]]) -> list[Replayed | None]:
        """Replays the changed part of examples of one call, and puts it in the place of what it was."""
        call, fields = members[0][2], self.scene.schema.fields
        kernels = _by_kernel(lower(edit.part, self.scene.schema, call), [record for _, record, _ in members], fields)
        carried: list[Replayed | None] = []
        for (replayed, record, _), kernel in zip(members, kernels, strict=True):
            found = edit.judged(replayed.judgement, record, call)
            if found is None or kernel is None or found[1].total is None or not kernel.agrees(found[2]):
                carried.append(None)
            else:
                carried.append(Replayed(replayed.example, found[1], found[0]))
        return carried


def _by_kernel(plan: Plan, records: Sequence[dict[str, Any]], fields: Iterable[Field]) -> list[_Kernel | None]:
    """What the kernel says of each record by itself; None where it is not valid."""
    columns, groups = columns_of(records, fields), np.arange(len(records))
    scores = score(plan, columns, groups=groups, engine="portable")
    shown = details(plan, columns, slice(None), groups)
    names = np.array(shown.rules, dtype=object)
    return [
        _Kernel(int(scores.total[row]), bool(scores.feasible[row]), frozenset(names[shown.fired[row]].tolist()))
        if scores.valid[row]
        else None
        for row in range(len(records))
    ]


def _call_key(example: Example) -> str:
    return repr((example.context, example.now))


# --- records to columns ---------------------------------------------------------------------------------------------


def columns_of(records: Sequence[dict[str, Any]], fields: Iterable[Field]) -> Columns:
    """Valid records as the columns that kernels read."""
    columns: dict[Path, Column] = {}
    _add_columns(columns, records, fields, ())
    return Columns(len(records), columns)


def _add_columns(columns: dict[Path, Column], records: Sequence[Any], fields: Iterable[Field], path: Path) -> None:
    for field in fields:
        values = [None if record is None else record[field.name] for record in records]
        type, here = t.present(field.type), (*path, field.name)
        if isinstance(type, t.Record):
            if isinstance(field.type, t.Optional):
                columns[here] = Presence(np.array([value is not None for value in values], np.bool_))
            _add_columns(columns, values, type.schema.fields, here)
        else:
            columns[here] = _column(values, type)


def _column(values: list[Any], type: t.Type) -> Column:
    there = [value is not None for value in values]
    valid = None if all(there) else np.array(there, np.bool_)
    match type:
        case t.Closed(listed):
            codes = [0 if value is None else listed.index(value) for value in values]
            return Texts(np.array(codes, np.int32), valid, listed)
        case t.Text():
            dictionary = tuple(dict.fromkeys(value for value in values if value is not None)) or ("",)
            codes = [0 if value is None else dictionary.index(value) for value in values]
            return Texts(np.array(codes, np.int32), valid, dictionary)
        case t.Set(element):
            return _sets(values, valid, isinstance(element, t.Text | t.Closed))
        case t.Float() | t.Quantity():
            return Scalars(np.array([value or 0.0 for value in values], np.float64), valid)
        case t.Bool():
            return Scalars(np.array([bool(value) for value in values], np.bool_), valid)
        case _:
            return Scalars(np.array([value or 0 for value in values], np.int64), valid)


def _sets(values: list[Any], valid: Any, of_text: bool) -> Sets:
    members = [sorted(value or ()) for value in values]
    offsets = np.cumsum([0, *map(len, members)]).astype(np.int64)
    flat = [member for each in members for member in each]
    if not of_text:
        return Sets(offsets, np.array(flat, np.int64), valid, None)
    dictionary = tuple(dict.fromkeys(flat))
    codes = np.array([dictionary.index(member) for member in flat], np.int64)
    return Sets(offsets, codes, valid, dictionary)
