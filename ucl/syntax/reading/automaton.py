"""The table made ready to run: what comes of a token or of a reduction, found once and remembered.

In: the `Table`. Out: its states and reductions as the machine of `parse` asks for them. Three things are found here
that a table says one step at a time. After most tokens come reductions of that one token alone, to a name, to a literal
and on up a dozen levels of operators: a `Move` is the token with all of them. After most reductions come such unit
reductions too: a `Landing` is where they end. And both know what is to be done next, since they know what follows.

What is remembered is the same for every text, so that one process finds it out once. It is bounded by the table: by its
states, times the terminals that can come there, times those that can follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ucl.frozen import frozen
from ucl.syntax.reading.declarations import DECODERS_ONLY, DEEPENING, FUSED, Builder
from ucl.syntax.reading.lexer import END
from ucl.syntax.reading.table import Effect, Reduction, Table, load

Build = Callable[..., Any]
"""A function of `Builder`: of a builder, a span, and the values of a production's parts."""


@frozen
class Step:
    """A reduction, made ready.

    `gone` is what it takes from the top of the stack, `nested` where in it those parts lie that have a depth, `deeper`
    the levels that it adds, 1 or 0. It has no `build` where its value is that of its one part, or, as `gathers` says,
    the list of its parts. Where one or two values count, `parts` says so, and the place of the `first` and the `last`;
    otherwise they are to be picked; a step that `grows` adds the last value to a list that lies at the first place.
    """

    build: Build | None
    target: str
    size: int
    picks: tuple[int, ...]
    gone: slice
    parts: int
    first: int
    last: int
    nested: tuple[int, ...]
    gathers: bool
    grows: bool
    deeper: int

    @property
    def renames(self) -> bool:
        """Whether it changes neither value nor extent."""
        return self.build is None and not self.gathers


class State:
    """A state of the table. `moves` has, for a terminal that is shifted here, the move for each that may follow."""

    __slots__ = ("landings", "moves", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.moves: dict[str, Moves] = {}
        self.landings: dict[tuple[str, str], Landing] = {}


Moves = dict[str, "Move"]
Course = tuple[Step | None, Moves | None]
"""What a state does before a terminal: reduce, else shift (by the move for what follows), else it is a mistake."""

Landing = tuple[State, Step | None, Moves | None]
"""The state after a reduction and the unit reductions behind it, and its course."""

Move = tuple[State, Build | None, int, Step | None, Moves | None]
"""The state after a token and the reductions of it alone, what is built of its text (None: nothing), whether it opens
or closes a bracket (1, -1), and the course of the state."""

_BRACKETS = {"(": 1, ")": -1, "{": 1, "}": -1}


class Automaton:
    """The states and reductions of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._states = [State(number) for number in range(len(table.actions))]
        self._steps: dict[int, Step] = {}
        self.initial = self._states[table.initial]
        self.accepting = self._states[table.accepting]

    def course(self, state: State, terminal: str) -> Course:
        """What `state` does before `terminal`."""
        action = self._table.actions[state.number].get(terminal)
        if action is None:
            return None, None
        return (self._step(-1 - action), None) if action < 0 else (None, state.moves.setdefault(terminal, {}))

    def land(self, state: State, target: str, terminal: str) -> Landing:
        """Where a reduction to `target` leads that leaves `state`, before `terminal`."""
        gotos = self._table.gotos[state.number]
        landed = self._states[gotos[target]]
        step, moves = self.course(landed, terminal)
        while step is not None and step.renames:
            landed = self._states[gotos[step.target]]
            step, moves = self.course(landed, terminal)
        found = state.landings[target, terminal] = landed, step, moves
        return found

    def move(self, state: State, terminal: str, following: str) -> Move:
        """What comes of `terminal`, which `state` shifts, before `following`."""
        gotos = self._table.gotos[state.number]
        landed = self._states[self._table.actions[state.number][terminal]]
        names: list[str] = []
        while (action := self._table.actions[landed.number].get(following, 0)) < 0:
            reduction = self._table.reductions[-1 - action]
            if _wraps(reduction):
                names.append(reduction.name)
            elif not reduction.is_unit:
                break
            landed = self._states[gotos[reduction.target]]
        found = landed, _builder_of(tuple(names)), _BRACKETS.get(terminal, 0), *self.course(landed, following)
        state.moves[terminal][following] = found
        return found

    def takes(self, states: list[State], terminal: str) -> bool:
        """Whether `terminal` can come next, on a stack of states: rows also list reductions that other stacks need."""
        table = self._table
        stack = [state.number for state in states]
        while (action := table.actions[stack[-1]].get(terminal)) is not None:
            if action >= 0:
                return True
            reduction = table.reductions[-1 - action]
            if reduction.size:
                del stack[-reduction.size :]
            stack.append(table.gotos[stack[-1]][reduction.target])
        return terminal == END and stack[-1] == table.accepting

    def row(self, state: State) -> tuple[str, ...]:
        """The terminals before which `state` does something."""
        return tuple(self._table.actions[state.number])

    def _step(self, number: int) -> Step:
        step = self._steps.get(number)
        if step is None:
            step = self._steps[number] = _step(self._table.reductions[number])
        return step


@cache
def automaton() -> Automaton:
    """That of the installed grammar."""
    return Automaton(load())


def _wraps(reduction: Reduction) -> bool:
    """Whether it makes something of one symbol's value; a keyword that is all there is counts."""
    return reduction.effect is Effect.BUILD and reduction.size == 1 and reduction.picks in ((0,), ())


def _builder_of(names: tuple[str, ...]) -> Build | None:
    """The builder's functions of those names in a row, each of what the one before has made."""
    while len(names) > 1 and names[:2] in FUSED:
        names = (FUSED[names[:2]], *names[2:])
    if not names:
        return None
    first, *others = (_function(name) for name in names)
    for function in others:
        first = _one_after_the_other(first, function)
    return first


def _one_after_the_other(first: Build, second: Build) -> Build:
    return lambda builder, span, value: second(builder, span, first(builder, span, value))


def _function(name: str) -> Build:
    function: Build = _unused if name in DECODERS_ONLY else getattr(Builder, name)
    return function


def _unused(*_: Any) -> None:
    """For the rules that only decoders follow."""
    raise AssertionError("no token of ours leads here")


def _step(reduction: Reduction) -> Step:
    size, picks = reduction.size, (0,) if _wraps(reduction) else reduction.picks
    places = [(pick if pick >= 0 else -2 - pick) - size for pick in picks if pick != -1]
    simple = len(picks) in (1, 2) and min(picks) >= 0
    return Step(
        build=_function(reduction.name) if reduction.effect is Effect.BUILD else None,
        target=reduction.target,
        size=size,
        picks=picks,
        gone=slice(-size, None),
        parts=len(picks) if simple else 0,
        first=places[0] if simple else 0,
        last=places[-1] if simple else 0,
        nested=tuple(places),
        gathers=reduction.effect is Effect.GATHER,
        grows=reduction.effect is Effect.GATHER and len(picks) == 2 and picks[0] == -2 and picks[1] == size - 1,
        deeper=int(reduction.name in DEEPENING),
    )
