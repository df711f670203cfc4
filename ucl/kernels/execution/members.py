"""What tests of texts and of sets mean for one table's dictionaries.

In: a column and the members that tests ask for. Out: `Meanings`, bits that are set where the code's value is a member;
and maps from one column's codes to another's. Each test is decided once for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.kernels.columns import Columns, Path, Sets, Texts
from ucl.kernels.execution.distinct import Record, evaluate_each
from ucl.kernels.execution.vector import Vector
from ucl.kernels.plan import Members, OneOf, Where
from ucl.semantics import program as p
from ucl.semantics.expressions import Budget, Frame
from ucl.semantics.outcome import Call
from ucl.semantics.program import Expr

Bits = NDArray[np.bool_]
Dictionary = Sequence[str] | Sequence[int]


def coded(column: Sets) -> Sets:
    """A set column whose elements are codes, into a dictionary of ints where they were ints."""
    if column.dictionary is not None:
        return column
    values, codes = np.unique(column.elements, return_inverse=True)
    return Sets(column.offsets, codes.astype(np.int32), column.valid, tuple(values.tolist()), column.repeats)


@frozen
class Meanings:
    """Which codes of a dictionary each test means: a bit for each test and code, since a table of both is large.

    `words` has shape (words of 64 tests, codes): code c has test t where bit `t % 64` of `words[t // 64, c]` is set.
    """

    words: NDArray[np.uint64]
    tests: int

    @property
    def codes(self) -> int:
        return int(self.words.shape[1])

    @property
    def some(self) -> Bits:
        """The codes that any test means."""
        some: Bits = np.logical_or.reduce(self.words != 0, axis=0)
        return some

    def of(self, test: int) -> Bits:
        """The codes that one test means."""
        means: Bits = (self.words[test // 64] & _bit(test)) != 0
        return means

    def each(self) -> Iterator[Bits]:
        """The codes that each test means, in order."""
        return map(self.of, range(self.tests))

    def by_test(self) -> NDArray[np.uint64]:
        """For each test the bits of its codes, of which there are at most 64."""
        bits = self.words[:, None, :] >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(1)
        own = bits.reshape(-1, self.codes)[: self.tests] << np.arange(self.codes, dtype=np.uint64)
        by_test: NDArray[np.uint64] = np.bitwise_or.reduce(own, axis=1)
        return by_test


def meanings(call: Call, path: Path, dictionary: Dictionary, tests: Sequence[Members]) -> Meanings:
    """There is always a code, since absent rows have 0."""
    words = np.zeros((-(-len(tests) // 64), max(1, len(dictionary))), np.uint64)
    code_of: Mapping[Any, int] = {value: code for code, value in enumerate(dictionary)}
    meant: list[tuple[int, int, int]] = []
    inverted: list[int] = []
    for number, test in enumerate(tests):
        match test:
            case OneOf(values, is_inverted):
                part, bit = divmod(number, 64)
                meant += [(part, code_of[value], bit) for value in values if value in code_of]
                if is_inverted:
                    inverted.append(number)
            case Where():
                own = words[number // 64, : len(dictionary)]
                own |= np.where(_where(call, path, dictionary, test), _bit(number), np.uint64(0))
    if meant:
        parts, codes, bits = np.array(meant).T
        np.bitwise_or.at(words, (parts, codes), np.uint64(1) << bits.astype(np.uint64))
    for number in inverted:
        words[number // 64] ^= _bit(number)
    return Meanings(words, len(tests))


def _bit(test: int) -> np.uint64:
    return np.uint64(1) << np.uint64(test % 64)


def _where(call: Call, path: Path, dictionary: Dictionary, test: Where) -> Bits:
    simple = _simple(test)
    if simple is not None:
        return np.fromiter(map(simple, dictionary), np.bool_, len(dictionary))
    vector = of_each(call, path, dictionary, test.expression, test.variable)
    over = np.zeros(len(dictionary), np.bool_) if vector.over is None else vector.over
    return over if test.overflow else vector.values & ~over


def _simple(test: Where) -> Callable[[Any], bool] | None:
    """A text builtin on the value itself and a constant needs no walk over an expression."""
    match test.expression:
        case p.Apply(
            signature=signature, arguments=(p.OptionValue() | p.Variable(), p.Const(value=str() as constant))
        ) if not test.overflow and not signature.zoned:
            run = signature.run
            return lambda value: run(value, constant)
        case _:
            return None


def of_each(
    call: Call, path: Path, dictionary: Dictionary | Sequence[None], expr: Expr, variable: str | None = None
) -> Vector:
    """The expression for each value of a dictionary: as the option's field at `path`, or as a variable."""
    budget = Budget(options=len(dictionary))
    if variable is None:
        frames = (Frame(call, budget, _at(path, value)) for value in dictionary)
    else:
        frames = (Frame(call, budget, variables={variable: value}) for value in dictionary)
    return evaluate_each(expr, frames)


def _at(path: Path, value: object) -> Record:
    *outer, last = path
    record: Record = {last: value}
    for name in reversed(outer):
        record = {name: record}
    return record


def translation(source: Dictionary, target: Dictionary) -> NDArray[np.int64]:
    """For each code of the source the target's code for the same value, or -1; never empty."""
    if source == target:
        return np.arange(max(1, len(source)))
    code_of: Mapping[Any, int] = {value: code for code, value in enumerate(target)}
    return np.array([code_of.get(value, -1) for value in source] or [-1], np.int64)


def dictionary_of(columns: Columns, path: Path) -> Dictionary:
    column = columns.columns[path]
    assert isinstance(column, Texts)
    return column.dictionary
