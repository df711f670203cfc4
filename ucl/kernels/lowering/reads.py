"""What an expression looks at: the option's paths, batch builtins, and whether it may overflow.

In: an expression. Out: answers that lowering and residual columns need. Definitions are looked into once.
"""

from __future__ import annotations

from collections.abc import Iterator

from ucl.kernels.columns import Path
from ucl.semantics import program as p
from ucl.semantics.parts import children
from ucl.semantics.program import Definition, Expr

# What can't leave its type, whatever it is given.
_SAFE = frozenset(
    {
        "to_float",
        "neg_float",
        "abs_float",
        "min",
        "max",
        "clamp",
        "ratio_duration",
        "duration_days",
        "duration_hours",
        "duration_minutes",
        "duration_seconds",
        "days_between",
        "near_time",
        "time_of",
        "weekday_of",
        "year_of",
        "month_of",
        "day_of",
        "hour_of",
        "minute_of",
        "night_of",
        "date_weekday",
        "date_year",
        "date_month",
        "date_day",
        "time_hour",
        "time_minute",
        "contains",
        "starts_with",
        "ends_with",
        "like",
        "lower",
        "casefold",
        "length",
        "overlaps",
        "subset",
        "size",
    }
)
_FOLDS_THAT_OVERFLOW = frozenset({"sum", "mean"})


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all inside it, in the order of the source."""
    todo = [expr]
    while todo:
        here = todo.pop()
        yield here
        todo.extend(reversed(list(children(here))))


def paths_read(expr: Expr) -> tuple[Path, ...]:
    """The option's paths, each once, in the order of their first use."""
    return tuple(dict.fromkeys(e.path for e in walk(expr) if isinstance(e, p.OptionValue)))


def reads_option(expr: Expr) -> bool:
    return any(isinstance(e, p.OptionValue | p.BatchValue) for e in walk(expr))


def reads_batch(expr: Expr) -> bool:
    return any(isinstance(e, p.BatchValue) for e in walk(expr))


def free_variables(expr: Expr, bound: frozenset[str] = frozenset()) -> bool:
    """Whether a variable is used that no comprehension inside binds."""
    match expr:
        case p.Variable(name=name):
            return name not in bound
        case p.Comprehension():
            inside = bound | {expr.variable}
            parts = [part for part in (expr.condition, expr.value, *(k.value for k in expr.keys)) if part is not None]
            return free_variables(expr.source, bound) or any(free_variables(part, inside) for part in parts)
        case _:
            return any(free_variables(child, bound) for child in children(expr))


def may_overflow(expr: Expr, seen: frozenset[Definition] = frozenset()) -> bool:
    """Whether evaluating it could leave a type; true where that can't be told at a glance."""
    for e in walk(expr):
        match e:
            case p.Apply(signature=signature) if signature.op not in _SAFE:
                return True
            case p.Comprehension(kind=kind) if kind in _FOLDS_THAT_OVERFLOW:
                return True
            case p.BatchValue() | p.LetValue() | p.LocalInstant():
                return True
            case p.DefCall(definition=definition) if definition not in seen:
                seen = seen | {definition}
                if may_overflow(definition.body, seen):
                    return True
    return False
