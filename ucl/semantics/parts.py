"""What stands in an expression: its parts, and the same expression with other parts.

In: one node of the typed tree. Out: the nodes directly inside it, or the node made anew. A definition's body and a
let's value are not inside their use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from ucl.semantics import program as p


def children(expr: p.Expr) -> tuple[p.Expr, ...]:
    """The expressions that stand in an expression directly, in the order of the source."""
    match expr:
        case p.Apply(arguments=arguments) | p.DefCall(arguments=arguments):
            return arguments
        case p.Compare(left=left, right=right):
            return (left, right)
        case p.InRange(value=value, low=low, high=high):
            return tuple(part for part in (value, low, high) if part is not None)
        case p.InSet(value=value, container=container):
            return (value, container)
        case p.And(operands=operands) | p.Or(operands=operands):
            return operands
        case p.Not(operand=operand):
            return (operand,)
        case p.If(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case p.Coalesce(value=value, default=default):
            return (value, default)
        case p.Present(value=value):
            return (value,)
        case p.Member(record=record):
            return (record,)
        case p.BatchValue(argument=argument):
            return (argument,)
        case p.Comprehension(source=source, value=value, condition=condition, keys=keys):
            parts = (value, source, condition, *(key.value for key in keys))
            return tuple(part for part in parts if part is not None)
        case (
            p.Const()
            | p.LocalInstant()
            | p.LetValue()
            | p.OptionValue()
            | p.ContextValue()
            | p.MemoryValue()
            | p.Variable()
            | p.RuleFact()
            | p.OutcomeValue()
        ):
            return ()
        case _:
            assert_never(expr)


def expressions_of(declared: p.Rule | p.Constraint) -> tuple[p.Expr, ...]:
    """All that a rule or a constraint consists of."""
    parts = [declared.when, *declared.unless]
    if isinstance(declared, p.Rule):
        parts += [declared.score, *(part for e in declared.exceptions for part in (e.condition, e.score))]
    else:
        parts.append(declared.require)
    return tuple(part for part in parts if part is not None)


def evaluated(expressions: Iterable[p.Expr]) -> Iterator[p.Expr]:
    """These, what stands in them, and what stands in the definitions that they call, each definition once."""
    met: set[int] = set()
    waiting = list(expressions)
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, p.DefCall) and id(here.definition) not in met:
            met.add(id(here.definition))
            waiting.append(here.definition.body)
        waiting += children(here)


def mapped(expr: p.Expr, change: Callable[[p.Expr], p.Expr]) -> p.Expr:
    """The expression with each part that stands in it directly replaced by what `change` makes of it."""
    match expr:
        case p.Apply(arguments=arguments) | p.DefCall(arguments=arguments):
            return replace(expr, arguments=tuple(change(a) for a in arguments))
        # The commonest are made anew by hand: `replace` takes five times as long.
        case p.Compare(type, span, operator, left, right):
            return p.Compare(type, span, operator, change(left), change(right))
        case p.InRange(type, span, value, low, high, inclusive, wraps):
            first = None if low is None else change(low)
            last = None if high is None else change(high)
            return p.InRange(type, span, change(value), first, last, inclusive, wraps)
        case p.InSet(type, span, value, container):
            return p.InSet(type, span, change(value), change(container))
        case p.And(type, span, operands):
            return p.And(type, span, tuple(change(o) for o in operands))
        case p.Or(type, span, operands):
            return p.Or(type, span, tuple(change(o) for o in operands))
        case p.Not(type, span, operand):
            return p.Not(type, span, change(operand))
        case p.If():
            return replace(
                expr, condition=change(expr.condition), then=change(expr.then), otherwise=change(expr.otherwise)
            )
        case p.Coalesce():
            return replace(expr, value=change(expr.value), default=change(expr.default))
        case p.Present():
            return replace(expr, value=change(expr.value))
        case p.Member():
            return replace(expr, record=change(expr.record))
        case p.BatchValue():
            return replace(expr, argument=change(expr.argument))
        case p.Comprehension():
            return replace(
                expr,
                source=change(expr.source),
                value=None if expr.value is None else change(expr.value),
                condition=None if expr.condition is None else change(expr.condition),
                keys=tuple(replace(key, value=change(key.value)) for key in expr.keys),
            )
        case _:
            return expr
