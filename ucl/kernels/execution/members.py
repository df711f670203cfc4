"""What tests of texts and of sets mean for one table's dictionaries.

In: a column and the members that tests ask for. Out: tables of shape (tests, codes), true where the code's value is a
member; and maps from one column's codes to another's. Each test is decided once for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def table(call: Call, path: Path, dictionary: Dictionary, tests: Sequence[Members]) -> Bits:
    """Which codes each test means, of shape (tests, codes); there is always a code, since absent rows have 0."""
    found = np.zeros((len(tests), max(1, len(dictionary))), np.bool_)
    code_of: Mapping[Any, int] = {value: code for code, value in enumerate(dictionary)}
    meant: list[int] = []  # places in the table, row after row
    inverted: list[int] = []
    for number, test in enumerate(tests):
        match test:
            case OneOf(values, is_inverted):
                first = number * found.shape[1]
                meant += [first + code_of[value] for value in values if value in code_of]
                if is_inverted:
                    inverted.append(number)
            case Where():
                found[number, : len(dictionary)] = _where(call, path, dictionary, test)
    if meant:
        found.reshape(-1)[meant] = True
    if inverted:
        found[inverted] = ~found[inverted]
    return found


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
