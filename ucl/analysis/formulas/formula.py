"""Formulas: `and`, `or` and signed atoms, each atom about one term, a linear relation, or unknown.

In: atoms and formulas. Out: formulas in negation normal form, simplified where a part is true or false. What is
`Unknown` later passes treat as free, and call `possible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from ucl.analysis.formulas.line import Intervals
from ucl.analysis.formulas.linear import Sum
from ucl.analysis.formulas.terms import Place, Term
from ucl.frozen import frozen
from ucl.semantics.program import Expr

# --- atoms ----------------------------------------------------------------------------------------------------------


@frozen
class Within:
    """The term has a value, and its key lies in `keys`."""

    term: Term
    keys: Intervals

    @property
    def place(self) -> Place:
        return self.term.place


@frozen
class Is:
    """The place has a value; a record, or a field that may be absent."""

    place: Place


@frozen
class Holds:
    """A test of one text or set, which only values can answer: `expr` over the variable of `term`."""

    term: Term
    expr: Expr

    @property
    def place(self) -> Place:
        return self.term.place


@frozen
class Relation:
    """The sum of `coefficients × terms + constant` compared with 0 by `<`, `<=` or `==`; at least two terms, or one
    that no other atom can say. Where doubles are rounded `rounded` says how: what is one comparison of reals is then
    several."""

    sum: Sum
    operator: str
    expr: Expr = field(compare=False, repr=False)
    rounded: object = None


@frozen
class Unknown:
    """Outside what can be decided: free, unless the values of an option say otherwise."""

    expr: Expr


Atom = Within | Is | Holds | Relation | Unknown


# --- formulas -------------------------------------------------------------------------------------------------------


@frozen
class Literal:
    atom: Atom
    positive: bool


@frozen
class Every:
    parts: tuple[Formula, ...]


@frozen
class Some:
    parts: tuple[Formula, ...]


Formula = Literal | Every | Some

TRUE, FALSE = Every(()), Some(())


def every(parts: Iterable[Formula]) -> Formula:
    found: list[Formula] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        found.extend(part.parts if isinstance(part, Every) else (part,))
    return found[0] if len(found) == 1 else Every(tuple(found))


def some(parts: Iterable[Formula]) -> Formula:
    found: list[Formula] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        found.extend(part.parts if isinstance(part, Some) else (part,))
    return found[0] if len(found) == 1 else Some(tuple(found))


def negated(formula: Formula) -> Formula:
    match formula:
        case Literal(atom, positive):
            return Literal(atom, not positive)
        case Every(parts):
            return some(negated(part) for part in parts)
        case Some(parts):
            return every(negated(part) for part in parts)


def literals(formula: Formula) -> Iterator[Literal]:
    work = [formula]
    while work:
        part = work.pop()
        if isinstance(part, Literal):
            yield part
        else:
            work.extend(part.parts)
