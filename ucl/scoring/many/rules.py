"""The rules of many people, each distinct program once, ready to be run.

In: programs with the schema that they are on. Out: `Rules` by meaning, and the tables of `kernels.crowd` that they
stand in, or a plan of their own where they say more than those can. What does not read a call is lowered once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import collector_paused
from ucl.kernels.crowd.passages import Writer
from ucl.kernels.crowd.tables import Tables
from ucl.kernels.lower import lower
from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.rules import Rulebook, outcomes
from ucl.kernels.plan import Plan
from ucl.scoring import errors
from ucl.scoring.calls import choose_schema, scored_schemas
from ucl.scoring.compiled import CompiledProgram
from ucl.scoring.many.layouts import Meanings, shape
from ucl.semantics.evaluate.options import Ruleset
from ucl.semantics.expressions import Budget
from ucl.semantics.outcome import Call
from ucl.semantics.program import Program, Schema

Ints = NDArray[np.int64]


# Masks of a graph that rules are lowered into one after another, before a new one is begun.
_MOST_MASKS = 1 << 17


@dataclass
class _Book:
    """Lowers programs one after another into the tables, with what they have in common: a rule that was met is not
    lowered again. What the graph holds of others is in nobody's way. For programs that don't read the call."""

    _tables: Tables
    _call: Hashable = None
    _lowering: Lowering | None = None
    _known: Rulebook = field(default_factory=Rulebook)
    _writer: Writer | None = None

    def add(self, program: Program, schema: Schema, call: Call) -> int | None:
        """The program's place; None where the tables can't say it."""
        around = (call.zone.name, call.contested_from)
        lowering, writer = self._lowering, self._writer
        if lowering is None or writer is None or around != self._call or len(lowering.graph.masks) > _MOST_MASKS:
            self._call, self._known = around, Rulebook()
            lowering = self._lowering = Lowering.of_options(schema, call)
            writer = self._writer = Writer(self._tables, lowering.graph)
        lowering.budget = Budget()
        with collector_paused():
            found = outcomes(lowering, Ruleset.of(program, schema, call.today), self._known)
            if lowering.wholes:
                self._lowering = None
                return None
            return writer.add(found)


@dataclass(eq=False)
class Layout:
    """Programs whose options are read in one way, in one zone."""

    number: int
    schema: Schema
    zone: str
    tables: Tables = field(default_factory=Tables)

    def __post_init__(self) -> None:
        self.book = _Book(self.tables)


@dataclass(eq=False)
class Rules:
    """One program as many as `people` share. `place` is its number in the layout's tables; where it has none, `plan` is
    how it is scored. `programs` are the keys of the objects that say it."""

    number: int
    key: Hashable
    program: CompiledProgram
    schema: Schema
    layout: Layout
    reads_call: bool
    people: int = 0
    programs: list[int] = field(default_factory=list)
    place: int | None = None
    plan: Plan | None = None


@dataclass
class Shelf:
    """All rules by number, and layouts by number; a number may have nothing. `schema` says what an option is, where
    programs have rules on several."""

    schema: str | None = None
    layouts: list[Layout] = field(default_factory=list)
    rules: list[Rules | None] = field(default_factory=list)
    _by_meaning: dict[Hashable, Rules] = field(default_factory=dict)
    _by_program: dict[int, tuple[CompiledProgram, Rules]] = field(default_factory=dict)
    _meanings: Meanings = field(default_factory=Meanings)
    _layout_of: dict[Hashable, Layout] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _waiting: set[int] = field(default_factory=set)
    _every_call: set[int] = field(default_factory=set)
    _ready_for: Hashable = None
    places: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """By rules, their place in their layout's tables; -1 for those that are in none."""
    layout_numbers: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def take(self, program: CompiledProgram) -> Rules:
        """The rules of one more person. Raises `CallError` where it isn't clear what the program's options are."""
        known = self._by_program.get(id(program))
        found = self._rules_of(program) if known is None else known[1]
        found.people += 1
        return found

    def _rules_of(self, program: CompiledProgram) -> Rules:
        semantic = program.semantic
        schema = choose_schema(semantic, self.schema, scored_schemas(semantic), "rules")
        layout = self._layout(schema, program.timezone)
        says, reads_call = self._meanings.of(semantic, schema)
        key = (layout.number, says)
        found = self._by_meaning.get(key)
        if found is None:
            number = self._free.pop() if self._free else len(self.rules)
            found = Rules(number, key, program, schema, layout, reads_call)
            if number == len(self.rules):
                self.rules.append(found)
            self.rules[number] = self._by_meaning[key] = found
            self._enter(found)
        # The program is held, so that no other one can have its id.
        self._by_program[id(program)] = program, found
        found.programs.append(id(program))
        return found

    def give_back(self, rules: Rules) -> None:
        """One person fewer has them."""
        rules.people -= 1
        if rules.people:
            return
        if rules.place is not None:
            rules.layout.tables.remove(rules.place)
        self.rules[rules.number] = None
        self._free.append(rules.number)
        self._waiting.discard(rules.number)
        self._every_call.discard(rules.number)
        del self._by_meaning[rules.key]
        for key in rules.programs:
            del self._by_program[key]

    def _enter(self, rules: Rules) -> None:
        """Takes note of new rules, which are lowered when a call first needs them."""
        if rules.number >= len(self.places):
            more = np.full(max(64, len(self.places)), -1, np.int64)
            self.places = np.concatenate([self.places, more])
            self.layout_numbers = np.concatenate([self.layout_numbers, more])
        self.places[rules.number] = -1
        self.layout_numbers[rules.number] = rules.layout.number
        self._waiting.add(rules.number)
        if rules.reads_call:
            self._every_call.add(rules.number)

    def prepare(self, used: Ints, key: Hashable, call_of: Callable[[CompiledProgram], Call], compiled: bool) -> None:
        """Makes the rules of these numbers ready for a call; `compiled` is whether there are loops to walk tables with.

        Only those are looked at that are new, or that read the call; all are where `key`, which holds for everybody, is
        another than before.
        """
        if key != self._ready_for:
            self._waiting = {rules.number for rules in self.rules if rules is not None}
            self._ready_for = key
        if not self._waiting and not self._every_call:
            return
        is_used = np.zeros(len(self.rules), np.bool_)
        is_used[used] = True
        for number in sorted(self._waiting | self._every_call):
            rules = self.rules[number]
            if rules is not None and is_used[number]:
                self._lower(rules, call_of(rules.program), compiled)
                self._waiting.discard(number)

    def _lower(self, rules: Rules, call: Call, compiled: bool) -> None:
        if rules.place is not None:
            rules.layout.tables.remove(rules.place)
            rules.place = None
        layout, program = rules.layout, rules.program.semantic
        with errors.bounded():
            if compiled and not rules.reads_call:
                rules.place = layout.book.add(program, rules.schema, call)
            rules.plan = lower(program, rules.schema, call) if rules.place is None else None
        if compiled and rules.reads_call and rules.plan is not None and not rules.plan.wholes:
            rules.place = Writer(layout.tables, rules.plan.graph).add(rules.plan.outcomes)
        self.places[rules.number] = -1 if rules.place is None else rules.place

    def _layout(self, schema: Schema, zone: str) -> Layout:
        key = (shape(schema), zone)
        found = self._layout_of.get(key)
        if found is None:
            found = self._layout_of[key] = Layout(len(self.layouts), schema, zone)
            self.layouts.append(found)
        return found
