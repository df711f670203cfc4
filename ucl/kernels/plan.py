"""The plan: what a program becomes for one schema and one call, in tables that one set of kernels reads.

In: `lower` builds it. Out: `run` scores columns with it. Nothing of a plan depends on the table that is scored.

A plan has *values*, one array a block each (columns, arithmetic, local parts of instants), *tests* on them, each a bit
mask over the block's rows, and *conjunctions* of masks. A mask is named by a literal: twice its row, plus one where it
is negated, so that `or` needs no row of its own. Logic is two-valued (LANGUAGE §6), so masks are exact. What may
overflow or be absent has further masks that say where. The idea is that of bit-sliced scans (BitWeaving, Li and Patel
2013) and of QuickScorer (Lucchese et al. 2015): compare once for each distinct constant, then work on 64 rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import collector_paused, frozen
from ucl.kernels.columns import Path
from ucl.kernels.memory.index import Grouping, Ladder
from ucl.semantics.outcome import Call, Reason
from ucl.semantics.program import Expr
from ucl.semantics.types import Type

if TYPE_CHECKING:
    from ucl.kernels.execution.members import Meanings
    from ucl.kernels.execution.vector import Vector
    from ucl.kernels.lowering.graph import Graph

TRUE, FALSE = 0, 1
"""Literals of row 0, which holds every row."""

Literal = int


def negated(literal: Literal) -> Literal:
    return literal ^ 1


# --- values: one array for each block of rows -----------------------------------------------------------------------


@frozen
class Read:
    """A column's own values, or its codes where it is text."""

    path: Path


@frozen
class Constant:
    """`floating` tells 1.0 from 1, which are equal in Python."""

    value: int | float
    floating: bool


@frozen
class Operation:
    """`op` is a row of `vector.OPERATIONS`; `arguments` are values."""

    op: str
    arguments: tuple[int, ...]


@frozen
class Local:
    """The wall clock in the call's zone at an instant."""

    instant: int


@frozen
class FromWall:
    """The instant at which the call's zone shows a wall clock: a `fold` means the first, a gap moves on."""

    wall: int


@frozen
class Select:
    """`then` where the mask holds, else `otherwise`."""

    condition: Literal
    then: int
    otherwise: int


@frozen
class OfText:
    """An expression that reads one text column: evaluated once for each distinct text."""

    path: Path
    expression: Expr = field(compare=False, repr=False)
    key: int


@frozen
class Whole:
    """A column that only the whole table gives: `plan.wholes[index]`."""

    index: int


@frozen
class SameText:
    """Whether two text columns hold the same text, whatever their dictionaries are."""

    left: Path
    right: Path


@frozen
class SetSize:
    path: Path


@frozen
class CountHits:
    """How many elements of a set column are in the `members` that the test describes."""

    path: Path
    members: Members


@frozen
class HasElement:
    """Whether a row's set contains the row's own value of another column."""

    container: Path
    element: int | Path


@frozen
class SetsMeet:
    """`overlaps` or `subset` of two set columns."""

    op: str
    left: Path
    right: Path


@frozen
class Group:
    """The row's group in `grouping`: of each key a value, or a text column's path. `key` stands for the grouping."""

    keys: tuple[int | Path, ...]
    grouping: Grouping = field(compare=False, repr=False)
    key: int


@frozen
class Below:
    """How many items come before a bound on `ladder`, by the row's group; those that equal it, too, where `equal`."""

    group: int
    bound: int
    equal: bool
    ladder: Ladder = field(compare=False, repr=False)
    key: int


@frozen
class Entry:
    """What `table` holds at a place that a value gives. `key` stands for the table."""

    place: int
    table: Vector = field(compare=False, repr=False)
    key: int


ValueNode = (
    Read
    | Constant
    | Operation
    | Local
    | FromWall
    | Select
    | OfText
    | Whole
    | SameText
    | SetSize
    | CountHits
    | HasElement
    | SetsMeet
    | Group
    | Below
    | Entry
)


# --- which texts, or elements of a set, a test means ----------------------------------------------------------------


@frozen
class OneOf:
    """The listed values; all others where `inverted`."""

    values: frozenset[int] | frozenset[str]
    inverted: bool = False


@frozen
class Where:
    """Those for which a test holds or, asked for its `overflow`, can't be evaluated.

    `variable` is the comprehension's; None where the test reads the column itself. Compared by `key`, which stands for
    the expression.
    """

    expression: Expr = field(compare=False, repr=False)
    variable: str | None
    key: int
    overflow: bool = False


Members = OneOf | Where


# --- tests: one mask each -------------------------------------------------------------------------------------------


@frozen
class AtLeast:
    """`value >= constant`."""

    value: int
    constant: int | float


@frozen
class Among:
    """A text column's value is one of the members."""

    path: Path
    members: Members


@frozen
class AnyElement:
    """A set column has an element among the members."""

    path: Path
    members: Members


@frozen
class Flag:
    """A bit of a value: `holds` (it is a bool), `over` (it overflows) or `missing` (a partial operation has none)."""

    value: int
    kind: str


@frozen
class HasValue:
    """A column has a value in the row; a nested record is there."""

    path: Path


Test = AtLeast | Among | AnyElement | Flag | HasValue


# --- what runs ------------------------------------------------------------------------------------------------------


@frozen
class Cuts:
    """`masks[first + k] = value >= constants[k]`."""

    value: int
    constants: NDArray[np.int64] | NDArray[np.float64]
    first: int


@frozen
class Lookups:
    """`masks[first + k]`: the text is one of `members[k]`, or the set has an element among them."""

    path: Path
    members: tuple[Members, ...]
    first: int


@frozen
class Conjunctions:
    """`masks[first + j]`: all of the literals `operands[j]`, of shape (conjunctions, operands of each)."""

    first: int
    operands: NDArray[np.int64]


@frozen
class Stage:
    """What can be computed once the stages before it are: values, tests on them, then conjunctions in their order."""

    values: tuple[int, ...]
    cuts: tuple[Cuts, ...]
    texts: tuple[Lookups, ...]
    sets: tuple[Lookups, ...]
    flags: tuple[tuple[Flag | HasValue, int], ...]
    conjunctions: tuple[Conjunctions, ...]


@frozen
class Schedule:
    """Stages in order, and how many masks they make; `place` maps a literal of the graph to one of the schedule."""

    stages: tuple[Stage, ...]
    rows: int
    place: dict[Literal, Literal] = field(repr=False)


@frozen
class Residual:
    """An expression that no vector operation computes: evaluated once for each distinct tuple of what it reads."""

    expression: Expr
    paths: tuple[Path, ...]


@frozen
class Batch:
    """A batch builtin's column: of `value` (of type `type`) over each choice set.

    Rows that have none, by the masks `there` and `over`, are left out.
    """

    kind: str
    type: Type
    value: int
    there: Literal
    over: Literal
    schedule: Schedule


@frozen
class MadeTexts:
    """A text column that look-ups make: it stands under `path`, its codes are the value `codes`."""

    path: Path
    dictionary: tuple[str, ...]
    codes: int
    there: Literal
    schedule: Schedule


WholeColumn = Residual | Batch | MadeTexts


@frozen
class Failure:
    """Where the mask holds, the rule or constraint makes the row invalid."""

    mask: Literal
    name: str
    reason: Reason


@frozen
class Contribution:
    """Rule number `rule` adds `amount` (or, where that is None, the value `varying`) where the mask holds."""

    rule: int
    mask: Literal
    amount: int | None
    varying: int | None


@frozen
class Outcomes:
    """The masks, as literals of the graph, that say what is said of an option. Failures stand in source order."""

    rules: tuple[str, ...]
    constraints: tuple[str, ...]
    fired: tuple[Literal, ...]
    violated: tuple[Literal, ...]
    shadows: tuple[str, ...]
    shadow: tuple[Literal, ...]
    contributions: tuple[Contribution, ...]
    infeasible: Literal
    contested: Literal
    failures: tuple[Failure, ...]
    failed: Literal

    @property
    def told(self) -> tuple[Literal, ...]:
        """The masks that details are made of: `fired`, `violated`, `shadow`, those of contributions, `failed`."""
        return (*self.fired, *self.violated, *self.shadow, *(c.mask for c in self.contributions), self.failed)


@frozen
class LastMeanings:
    """Which codes of the dictionary that was met last the tests of a group mean."""

    lookups: Lookups
    dictionary: Sequence[str] | Sequence[int]
    meanings: Meanings


@dataclass(frozen=True)
class Formulas:
    """Values and whole columns by number, for one call: what schedules are bound to a table with."""

    call: Call
    values: tuple[ValueNode, ...]
    wholes: tuple[WholeColumn, ...]

    @cached_property
    def meanings(self) -> dict[int, LastMeanings]:
        """What groups of tests meant for the last dictionary, by their identity: tables of one origin share theirs."""
        return {}


@dataclass(frozen=True)
class Wanted:
    """Masks and values of a graph; the schedule that makes them is made when it is first asked for."""

    graph: Graph = field(repr=False)
    masks: Sequence[Literal]
    values: Sequence[int]

    @cached_property
    def schedule(self) -> Schedule:
        from ucl.kernels.lowering.schedule import schedule  # what lowers reads this module

        with collector_paused():
            return schedule(self.graph, self.masks, self.values)


@dataclass(frozen=True)
class Plan(Formulas):
    """A program for one schema and one call. `scoring` makes what scores need, `detailed` every mask of `outcomes`."""

    outcomes: Outcomes
    wanted: Wanted
    graph: Graph = field(repr=False)

    def for_call(self, call: Call) -> Plan:
        """The plan of another call that differs in nothing that it depends on."""
        plan = replace(self, call=call)
        vars(plan).update(vars(self) | {"call": call})  # what was found of it so far
        return plan

    @property
    def scoring(self) -> Schedule:
        return self.wanted.schedule

    @cached_property
    def constant_literals(self) -> NDArray[np.int64]:
        """Literals of `scoring` that add the same to each row that they hold: how much, `constant_amounts` says."""
        place = self.scoring.place
        return np.array([place[c.mask] for c in self.outcomes.contributions if c.amount], np.int64)

    @cached_property
    def constant_amounts(self) -> NDArray[np.int64]:
        return np.array([c.amount for c in self.outcomes.contributions if c.amount], np.int64)

    @cached_property
    def varying(self) -> list[tuple[Literal, int]]:
        """Literals of the graph, with the value that is added where they hold."""
        return [(c.mask, c.varying) for c in self.outcomes.contributions if c.varying is not None]

    @cached_property
    def told(self) -> Wanted:
        """What is made for the rows that details are asked of."""
        return Wanted(self.graph, self.outcomes.told, [value for _, value in self.varying])

    @property
    def detailed(self) -> Schedule:
        return self.told.schedule
