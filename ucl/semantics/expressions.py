"""The meaning of an expression: `evaluate`, slow and obvious. Kernels are equal to it, bit for bit.

In: a typed expression and a `Frame`, the values that its names have. Out: its value, as `semantics.program` describes
values; or one of two signals: `Overflow` where a value that is needed leaves its type, and `Exhausted` where the
program asks for more steps than one call may take.

What is needed: `and`, `or`, `if`, `??`, `any`, `all` and a `first` without keys go from left to right and stop at what
decides; a definition's argument is evaluated where the definition uses it. All else needs all of its parts.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, assert_never

from ucl.frozen import frozen
from ucl.semantics import aggregates
from ucl.semantics import program as p
from ucl.semantics.builtins import Signature
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, Outcome, as_score
from ucl.semantics.program import Expr, Value

# What one call may take, and so much again for each of its options: the cost is linear in the data.
STEPS = 20_000_000
STEPS_PER_OPTION = 20_000


class Exhausted(Exception):  # noqa: N818 - a signal, not an error
    """The call took more steps than it may: a program too costly for its data. Doors say so."""


@contextmanager
def bounded() -> Iterator[None]:
    """Where little of the stack was left to begin with, what does not fit it is too many steps, too."""
    try:
        yield
    except RecursionError:
        raise Exhausted from None


class Budget:
    """Steps left for one call, shared by all of its frames; a step is an expression visited once."""

    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS, options: int = 0) -> None:
        self.left = steps + STEPS_PER_OPTION * options

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise Exhausted


@frozen
class Facts:
    """What the words of a property's `expect` are worth for the option: `rules` by (word, rule's name)."""

    outcome: Outcome
    rules: Callable[[str, str], Value]


@frozen
class Frame:
    """The values of names. `choices` is the option's choice set, `facts` is there in `expect` alone.

    `watch` is told each expression that is evaluated and its value, innermost first; not what goes on inside
    comprehensions and definitions.
    """

    call: Call
    budget: Budget
    option: Mapping[str, Any] | None = None
    choices: ChoiceSet | None = None
    facts: Facts | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Expr, Any], None] | None = None

    def bind(self, name: str, value: object) -> Frame:
        """What a comprehension sees of one of its members."""
        variables = {**self.variables, name: value}
        return Frame(self.call, self.budget, self.option, self.choices, self.facts, variables)

    def within(self, variables: Mapping[str, Any]) -> Frame:
        """What a definition or a let sees: the call and its own parameters."""
        return Frame(self.call, self.budget, variables=variables)


class Argument:
    """A definition's argument, evaluated when it is first used."""

    __slots__ = ("_expr", "_frame", "_value")

    def __init__(self, expr: Expr, frame: Frame) -> None:
        self._expr = expr
        self._frame: Frame | None = frame
        self._value: Any = None

    def value(self) -> Any:
        if self._frame is not None:
            self._value = evaluate(self._expr, self._frame)
            self._frame = None
        return self._value


@frozen
class Ranking:
    """One batch builtin's argument over a choice set: the values that there are, ascending, and their mean."""

    ascending: Sequence[Any]
    mean: Any  # None where the sum overflows


class ChoiceSet:
    """The options that batch builtins compare: those of one group whose data are valid."""

    def __init__(self, options: Sequence[Mapping[str, Any]]) -> None:
        self._options = options
        self._rankings: dict[int, Ranking] = {}

    def ranking(self, expr: p.BatchValue, frame: Frame) -> Ranking:
        """By the identity of the expression, whose program outlives this object."""
        if id(expr) not in self._rankings:
            self._rankings[id(expr)] = self._ranking(expr, frame)
        return self._rankings[id(expr)]

    def _ranking(self, expr: p.BatchValue, frame: Frame) -> Ranking:
        values = []
        for option in self._options:
            try:
                values.append(evaluate(expr.argument, Frame(frame.call, frame.budget, option, self)))
            except Overflow:
                continue  # left out of this builtin
        return ranking_of(expr, values)


def ranking_of(expr: p.BatchValue, values: Sequence[Any]) -> Ranking:
    """Of the values of its argument, in any order."""
    try:
        mean = aggregates.mean(values, expr.argument.type) if expr.kind == "mean_of" else None
    except Overflow:
        mean = None
    return Ranking(sorted(values), mean)


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(expr: Expr, frame: Frame) -> Any:
    """The value of an expression. The type checker has seen to it that absent values come only where they may.

    One level of an expression takes two levels of the stack at most, so that the deepest that the checker lets through
    fits Python's own limit.
    """
    frame.budget.spend()
    value: Any
    match expr:
        case p.Const():
            value = expr.value
        case p.OptionValue():
            value = _follow(frame.option, expr.path)
        case p.ContextValue():
            value = _context(expr.path, frame.call)
        case p.MemoryValue():
            value = frame.call.memory[expr.name]
        case p.Variable():
            value = frame.variables[expr.name]
            if isinstance(value, Argument):
                value = value.value()
        case p.Member():
            value = _follow(evaluate(expr.record, frame), (expr.name,))
        case p.Apply():
            value = _applied(expr.signature, [evaluate(argument, frame) for argument in expr.arguments], frame.call)
        case p.Compare():
            value = _COMPARISONS[expr.operator](evaluate(expr.left, frame), evaluate(expr.right, frame))
        case p.InRange():
            value = _in_range(expr, frame)
        case p.InSet():
            value = evaluate(expr.value, frame) in evaluate(expr.container, frame)
        case p.And():
            value = all(evaluate(operand, frame) for operand in expr.operands)
        case p.Or():
            value = any(evaluate(operand, frame) for operand in expr.operands)
        case p.Not():
            value = not evaluate(expr.operand, frame)
        case p.If():
            value = evaluate(expr.then if evaluate(expr.condition, frame) else expr.otherwise, frame)
        case p.Coalesce():
            value = evaluate(expr.value, frame)
            if value is None:
                value = evaluate(expr.default, frame)
        case p.Present():
            value = evaluate(expr.value, frame) is not None
        case p.Comprehension():
            value = _comprehension(expr, frame)
        case p.BatchValue():
            value = _batch_value(expr, frame)
        case p.DefCall():
            value = evaluate(expr.definition.body, frame.within(_arguments(expr, frame)))
        case p.LetValue():
            value = evaluate(expr.let.value, frame.within({}))
        case p.LocalInstant():
            # A literal is what it says, though far west its instant may lie past the year 9999 in UTC.
            value = frame.call.zone.instant(expr.local).instant
        case p.RuleFact():
            assert frame.facts is not None
            value = frame.facts.rules(expr.kind, expr.rule)
        case p.OutcomeValue():
            assert frame.facts is not None
            value = outcome_value(expr.name, frame.facts.outcome)
        case _:
            assert_never(expr)
    if frame.watch is not None:
        frame.watch(expr, value)
    return value


def _follow(record: Mapping[str, Any] | None, path: tuple[str, ...]) -> Any:
    """The value at a path; absent inside what is absent."""
    value: Any = record
    for name in path:
        if value is None:
            return None
        value = value[name]
    return value


def _context(path: tuple[str, ...], call: Call) -> Any:
    match path:
        case ("now",):
            return call.now
        case ("today",):
            return call.today
        case _:
            return _follow(call.context, path)


def _applied(signature: Signature, values: list[Any], call: Call) -> Any:
    if None in values:
        return None
    return signature.run(call.zone, *values) if signature.zoned else signature.run(*values)


def _arguments(expr: p.DefCall, frame: Frame) -> dict[str, Argument]:
    names = (parameter.name for parameter in expr.definition.parameters)
    return dict(zip(names, (Argument(argument, frame) for argument in expr.arguments), strict=True))


def _in_range(expr: p.InRange, frame: Frame) -> bool:
    value = evaluate(expr.value, frame)
    low = None if expr.low is None else evaluate(expr.low, frame)
    high = None if expr.high is None else evaluate(expr.high, frame)
    return in_range(value, low, high, expr.inclusive, expr.wraps)


def in_range(value: Any, low: Any, high: Any, inclusive: bool, wraps: bool) -> bool:
    """As `program.InRange` says; an open end is None."""
    after_low = low is None or low <= value
    before_high = high is None or (value <= high if inclusive else value < high)
    if wraps and low is not None and high is not None and low > high:
        return after_low or before_high
    return after_low and before_high


def outcome_value(name: str, outcome: Outcome) -> Value:
    """`score`, `feasible`, `contested` or `decision` of a valid option."""
    match name:
        case "score":
            assert outcome.total is not None
            return as_score(outcome.total)
        case "feasible":
            return outcome.feasible
        case "contested":
            return outcome.contested
        case "decision":
            assert outcome.decision is not None
            return str(outcome.decision)
        case _:
            raise AssertionError(name)


# --- comprehensions -------------------------------------------------------------------------------------------------


def _comprehension(expr: p.Comprehension, frame: Frame) -> Any:
    match expr.kind:
        case "count":
            return sum(1 for _ in _chosen(expr, frame))
        case "any":
            return any(True for _ in _chosen(expr, frame))
        case "all":
            return all(_test(expr, inner) for inner in _members(expr, frame))
        case "first":
            inner = next(iter(_ordered(expr, frame)) if expr.keys else _chosen(expr, frame), None)
            return None if inner is None else _value(expr, inner)
        case "last":
            ordered = _ordered(expr, frame)
            return _value(expr, ordered[-1]) if ordered else None
        case _:
            return fold(expr, [_value(expr, inner) for inner in _chosen(expr, frame)])


def fold(expr: p.Comprehension, values: list[Any]) -> Any:
    """What the kinds that need every value make of them."""
    assert expr.value is not None
    match expr.kind:
        case "sum":
            return aggregates.total(values, expr.value.type)
        case "mean":
            return aggregates.mean(values, expr.value.type)
        case "min":
            return min(values, default=None)
        case "max":
            return max(values, default=None)
        case "mode":
            return aggregates.mode(values)
        case "distinct":
            return frozenset(values)
        case "frequent":
            assert expr.share is not None
            return aggregates.frequent(values, expr.share)
        case _:
            raise AssertionError(expr.kind)


def _members(expr: p.Comprehension, frame: Frame) -> Iterator[Frame]:
    """A frame for each record of a list, in its order, or each value of a set, ascending (texts by code point)."""
    source = evaluate(expr.source, frame)
    frame.budget.spend(len(source))
    for value in sorted(source) if isinstance(source, frozenset) else source:
        yield frame.bind(expr.variable, value)


def _test(expr: p.Comprehension, inner: Frame) -> bool:
    return expr.condition is None or evaluate(expr.condition, inner)


def _chosen(expr: p.Comprehension, frame: Frame) -> Iterator[Frame]:
    return (inner for inner in _members(expr, frame) if _test(expr, inner))


def _ordered(expr: p.Comprehension, frame: Frame) -> list[Frame]:
    """By the keys, the first key first; equals stay in the order of the list, under `desc` too."""
    frames = list(_chosen(expr, frame))
    keys = [tuple(evaluate(key.value, inner) for key in expr.keys) for inner in frames]
    places = list(range(len(frames)))
    for i in reversed(range(len(expr.keys))):
        places.sort(key=lambda place: keys[place][i], reverse=expr.keys[i].descending)
    return [frames[place] for place in places]


def _value(expr: p.Comprehension, inner: Frame) -> Any:
    assert expr.value is not None
    return evaluate(expr.value, inner)


# --- the choice set -------------------------------------------------------------------------------------------------


def _batch_value(expr: p.BatchValue, frame: Frame) -> Any:
    """A row whose own argument overflows has no value either; the mean is every row's."""
    assert frame.choices is not None
    ranking = frame.choices.ranking(expr, frame)
    if expr.kind == "mean_of":
        if ranking.mean is None:
            raise Overflow
        return ranking.mean
    value = evaluate(expr.argument, frame)
    match expr.kind:
        case "lowest":
            return value == ranking.ascending[0]
        case "highest":
            return value == ranking.ascending[-1]
        case "rank_of":
            return 1 + bisect_left(ranking.ascending, value)
        case _:
            raise AssertionError(expr.kind)
