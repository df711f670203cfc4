"""What a value says of all masks at once: an int with a bit for each, 0 where the value rules the mask out.

In: the tests of one value, one text column or one set column, and the conjunctions that they stand in. Out: an int for
each range between cuts (`Ranges`), for each text (`TextCells`), for the elements of a set (`ElementCells`). A mask
holds where no value rules it out, so that a thousand rules are decided by one `and` for each column (bitmap join
indexes, O'Neil and Graefe 1995).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ucl.kernels.plan import Members, OneOf

Sign = bool


class Concern(NamedTuple):
    """A mask that tests of one group decide in part: bit `bit` holds where all `literals` do, each the place of a test
    in its group, and whether it has to hold."""

    bit: int
    literals: Sequence[tuple[int, Sign]]


class Ranges:
    """Of a value with ascending cuts: the int of the cell between two of them."""

    def __init__(self, cuts: Sequence[int | float], concerns: Iterable[Concern], every: int) -> None:
        self._cuts = cuts
        changes = [0] * (len(cuts) + 2)
        concerned = 0
        for bit, literals in concerns:
            concerned |= bit
            first, beyond = 0, len(cuts) + 1
            for place, holds in literals:
                if holds:
                    first = max(first, place + 1)
                else:
                    beyond = min(beyond, place + 1)
            if first < beyond:
                changes[first] ^= bit
                changes[beyond] ^= bit
        held = every & ~concerned
        self._cells = []
        for change in changes[:-1]:
            held ^= change
            self._cells.append(held)

    def at(self, value: Any) -> int:
        return self._cells[bisect_right(self._cuts, value)]

    def all(self) -> tuple[list[int | float], list[int]]:
        """The cuts, and the cells before, between and after them."""
        return list(self._cuts), self._cells

    def held_to(self, low: int | float, beyond: int | float) -> tuple[list[int | float], list[int]]:
        """Cuts, and the cells before, between and after them, of a value that may have any number: outside of
        `low <= value < beyond`, and for NaN, nothing holds."""
        cuts = [low, *(cut for cut in self._cuts if low < cut < beyond)]
        return [*cuts, beyond], [0, *map(self.at, cuts), 0]


@dataclass
class _ByTest:
    """Concerns of a group: those with one literal by its test, the others one by one."""

    neutral: int
    holding: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    failing: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    several: list[Concern] = field(default_factory=list)

    @staticmethod
    def of(concerns: Iterable[Concern], every: int) -> _ByTest:
        found = _ByTest(every)
        for concern in concerns:
            found.neutral &= ~concern.bit
            if len(concern.literals) > 1:
                found.several.append(concern)
            else:
                ((test, holds),) = concern.literals
                (found.holding if holds else found.failing)[test] |= concern.bit
        return found

    @property
    def unless_met(self) -> int:
        """What holds as long as no test that it must fail is met."""
        held = 0
        for bits in self.failing.values():
            held |= bits
        return held


_NONE: frozenset[int] = frozenset()


class _Meanings:
    """Which tests a text or an element is a member of. `decide` evaluates those that are expressions."""

    def __init__(self, tests: Sequence[Members], decide: Callable[[Members, Any], bool]) -> None:
        self._decide = decide
        self._listed: dict[Any, set[int]] = defaultdict(set)
        self._inverted = {n for n, test in enumerate(tests) if isinstance(test, OneOf) and test.inverted}
        self._evaluated = [(n, test) for n, test in enumerate(tests) if not isinstance(test, OneOf)]
        for number, test in enumerate(tests):
            if isinstance(test, OneOf):
                for value in test.values:
                    self._listed[value].add(number)

    def named(self) -> list[Any] | None:
        """The values that tests name: of all others they say the same. None where some have to be evaluated."""
        return None if self._evaluated else list(self._listed)

    @property
    def of_unnamed(self) -> Set[int]:
        return self._inverted

    def of(self, value: Any) -> Set[int]:
        met: Set[int] = self._listed.get(value, _NONE)
        if self._inverted:
            met = met ^ self._inverted
        if self._evaluated:
            met = met | {number for number, test in self._evaluated if self._decide(test, value)}
        return met


class TextCells:
    """Of a text column."""

    def __init__(
        self,
        tests: Sequence[Members],
        concerns: Iterable[Concern],
        every: int,
        decide: Callable[[Members, Any], bool],
    ) -> None:
        self._meanings = _Meanings(tests, decide)
        self._by_test = _ByTest.of(concerns, every)
        self._unless_met = self._by_test.unless_met

    def at(self, text: str | None) -> int:
        """None, where there is no text, is a member of nothing: what is said of it is never looked at."""
        return self._meeting(_NONE if text is None else self._meanings.of(text))

    def named(self) -> tuple[dict[str, int], int] | None:
        """What is said of each text that tests name, and of every other one; None where that depends on more."""
        named = self._meanings.named()
        if named is None:
            return None
        return {text: self.at(text) for text in named}, self._meeting(self._meanings.of_unnamed)

    def _meeting(self, met: Set[int]) -> int:
        by_test = self._by_test
        held, ruled_out = by_test.neutral, 0
        for test in met:
            held |= by_test.holding.get(test, 0)
            ruled_out |= by_test.failing.get(test, 0)
        for concern in by_test.several:
            if all((test in met) == holds for test, holds in concern.literals):
                held |= concern.bit
        return held | (self._unless_met & ~ruled_out)


class ElementCells:
    """Of a set column. What is said of `elements` is `(met ^ unless_met) | neutral`, where `met` is what any of them
    decides: the masks that it lets hold, and those of `unless_met`, which hold for the empty set, that it rules out. No
    concern may have several literals, since several elements may meet them."""

    def __init__(
        self,
        tests: Sequence[Members],
        concerns: Iterable[Concern],
        every: int,
        decide: Callable[[Members, Any], bool],
    ) -> None:
        self._meanings = _Meanings(tests, decide)
        self._by_test = _ByTest.of(concerns, every)
        assert not self._by_test.several
        self.neutral, self.unless_met = self._by_test.neutral, self._by_test.unless_met

    def at(self, elements: Iterable[Any]) -> int:
        met = 0
        for element in elements:
            met |= self.met(element)
        return (met ^ self.unless_met) | self.neutral

    def named(self) -> dict[Any, int] | None:
        """The masks that each element decides that tests name, where no other element decides any."""
        named = self._meanings.named()
        return None if named is None or self._meanings.of_unnamed else {element: self.met(element) for element in named}

    def met(self, element: Any) -> int:
        found = 0
        for test in self._meanings.of(element):
            found |= self._by_test.holding.get(test, 0) | self._by_test.failing.get(test, 0)
        return found
