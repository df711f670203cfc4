"""What conditions ask of one field: the constants that it is compared with, itself or by its parts.

In: a condition that reads one input (written out). Out: `Asked` for each of the input's fields, and whether that is all
that the condition asks: then a few values answer it in every possible way. What compares two fields, multiplies them or
counts is no question of this kind; its constants are gathered all the same, as values worth trying.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.expressions import Budget, Frame, evaluate
from ucl.semantics.operations import Overflow, like_pieces
from ucl.semantics.outcome import Call
from ucl.semantics.parts import children
from ucl.semantics.program import Expr
from ucl.semantics.zones import Zone

Path = tuple[str, ...]


@dataclass
class Asked:
    """`points` are constants that the value itself is compared with, `parts` those of its local parts, and `steady`
    those of numbers that grow or fall steadily with it.

    Of a text: pieces that it may start or end with or contain, after which foldings, and lengths. Of a set: what its
    elements are asked, as `elements`, with the predicates of `any` and `all`; and sizes.
    """

    points: set[Any] = field(default_factory=set)
    parts: dict[str, set[int]] = field(default_factory=dict)
    steady: list[tuple[Callable[[Any], Any], Any]] = field(default_factory=list)
    starts: set[str] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)
    contains: set[str] = field(default_factory=set)
    foldings: set[str] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    literals: list[frozenset[Any]] = field(default_factory=list)
    predicates: list[tuple[str, Expr]] = field(default_factory=list)
    elements: Asked | None = None


@frozen
class Fixed:
    value: Any


@frozen
class Of:
    """A field, its local `part`, or (`through`) a number that grows or falls steadily with it."""

    path: Path
    part: str = ""
    through: Callable[[Any], Any] | None = None


Term = Fixed | Of

_DATE_PARTS = {"date_weekday": "weekday", "date_year": "year", "date_month": "month", "date_day": "day"}
_TIME_PARTS = {"time_hour": "hour", "time_minute": "minute"}
_MOMENT_PARTS = {
    "date_of": "date",
    "time_of": "time",
    "weekday_of": "weekday",
    "year_of": "year",
    "month_of": "month",
    "day_of": "day",
    "hour_of": "hour",
    "minute_of": "minute",
    "night_of": "night",
}
# Which part an operation takes, of what: the value itself, or a part of it.
_PARTS: Mapping[str, Mapping[str, str]] = {
    "": {**_MOMENT_PARTS, **_DATE_PARTS, **_TIME_PARTS, "lower": "lower", "casefold": "casefold", "length": "length"}
    | {"size": "size"},
    "date": _DATE_PARTS,
    "time": _TIME_PARTS,
    "lower": {"length": "lower length"},
}
# One number in, one out, never turning: the other arguments are constant.
_STEADY = frozenset(
    "to_float neg_int neg_float floor ceil round_even duration_days duration_hours duration_minutes duration_seconds "
    "add_int add_float sub_int sub_float mul_int mul_float div_float".split()
)
_TEXT_TESTS = {"contains": "contains", "starts_with": "starts", "ends_with": "ends"}


class Questions:
    """Gathers what is asked, by the path of the field. `variable` is a set's element, where its predicates are read."""

    def __init__(self, zone: Zone, types: Callable[[Expr], Path | None], variable: str | None = None) -> None:
        self.asked: dict[Path, Asked] = {}
        self._zone = zone
        self._path_of = types
        self._variable = variable

    def of(self, path: Path) -> Asked:
        return self.asked.setdefault(path, Asked())

    # --- conditions -------------------------------------------------------------------------------------------------

    def ask(self, expr: Expr) -> bool:
        """Whether everything that the condition asks is now known."""
        match expr:
            case p.Const():
                return True
            case p.And() | p.Or() | p.Not() | p.If() | p.Coalesce():
                return _every(self.ask(part) for part in children(expr))
            case p.Present(value=value):
                return self._path(value) is not None
            case p.Compare(left=left, right=right):
                return self._compared(self._terms(left), self._terms(right))
            case p.InRange(value=value, low=low, high=high):
                inside = self._terms(value)
                ends = [self._terms(end) for end in (low, high) if end is not None]
                return _every(self._compared(inside, end) for end in ends)
            case p.InSet(value=value, container=container):
                return self._member(self._terms(value), self._terms(container))
            case p.Apply():
                return self._tested(expr)
            case p.Comprehension():
                return self._quantified(expr)
            case _:
                return self._path(expr) is not None

    def _compared(self, left: list[Term] | None, right: list[Term] | None) -> bool:
        if left is None or right is None:
            return False
        return _every(self._pair(a, b) for a in left for b in right)

    def _pair(self, left: Term, right: Term) -> bool:
        match left, right:
            case Fixed(), Fixed():
                return True
            case (Of() as of, Fixed(value)) | (Fixed(value), Of() as of):
                return self._cut(of, value)
            case _:
                return False

    def _cut(self, of: Of, constant: Any) -> bool:
        asked = self.of(of.path)
        if constant is None:
            return True
        if of.through is not None:
            asked.steady.append((of.through, constant))
            return of.part == ""
        if of.part == "":
            asked.points.add(constant)
            if isinstance(constant, str):
                asked.foldings.add("")
        elif of.part in ("lower", "casefold"):
            asked.foldings.add(of.part)
            asked.points.add(constant)
        elif of.part == "length":
            asked.lengths |= _around(constant)
        elif of.part == "size":
            asked.sizes |= _around(constant)
        elif of.part == "lower length":
            return False
        else:
            asked.parts.setdefault(of.part, set()).update(_around(constant))
        return True

    def _member(self, values: list[Term] | None, containers: list[Term] | None) -> bool:
        if values is None or containers is None:
            return False
        return _every(self._contained(value, container) for value in values for container in containers)

    def _contained(self, value: Term, container: Term) -> bool:
        match value, container:
            case Fixed(), Fixed():
                return True
            case Of(), Fixed(values):
                return _every(self._cut(value, item) for item in sorted(values or ()))
            case Fixed(item), Of(path, part="", through=None):
                self.of(path).literals.append(frozenset([item]))
                return True
            case _:
                return False

    def _tested(self, expr: p.Apply) -> bool:
        """Builtins that are true or false."""
        op = expr.signature.op
        terms = [self._terms(argument) for argument in expr.arguments]
        if any(term is None for term in terms):
            return False
        pairs = [(a, b) for a in terms[0] or () for b in (terms[1] or () if len(terms) > 1 else ())]
        return bool(pairs) and _every(self._test(op, a, b) for a, b in pairs)

    def _test(self, op: str, left: Term, right: Term) -> bool:
        match left, right:
            case Fixed(), Fixed():
                return True
            case Of(path, part, through=None), Fixed(str() as piece) if part in ("", "lower", "casefold"):
                return self._text(op, path, part, piece)
            case (Of(path, part="", through=None), Fixed(frozenset() as values)) | (
                Fixed(frozenset() as values),
                Of(path, part="", through=None),
            ) if op in ("overlaps", "subset"):
                self.of(path).literals.append(values)
                return True
            case _:
                return False

    def _text(self, op: str, path: Path, folding: str, piece: str) -> bool:
        asked = self.of(path)
        asked.foldings.add(folding)
        if op in _TEXT_TESTS:
            getattr(asked, _TEXT_TESTS[op]).add(piece)
            return True
        if op != "like":
            return False
        first, *rest = like_pieces(piece)
        if not rest:
            asked.points.add(first)
            return True
        *middle, last = rest
        asked.starts |= {first} - {""}
        asked.ends |= {last} - {""}
        asked.contains |= set(middle)
        # Pieces that need each other's order, or must not overlap, are more than the pieces alone.
        return sum(bool(part) for part in (first, last, *middle)) <= 1

    def _quantified(self, expr: p.Comprehension) -> bool:
        """`any` and `all` over a set's elements, whose condition asks of the element alone."""
        path = self._path(expr.source)
        if path is None or expr.kind not in ("any", "all") or expr.condition is None:
            return False
        inner = Questions(self._zone, lambda _: None, expr.variable)
        alone = inner.ask(expr.condition)
        asked = self.of(path)
        asked.predicates.append((expr.variable, expr.condition))
        asked.elements = merged(asked.elements, inner.asked.get((), Asked()))
        return alone

    # --- terms ------------------------------------------------------------------------------------------------------

    def _path(self, expr: Expr) -> Path | None:
        if isinstance(expr, p.Variable):
            return () if expr.name == self._variable else None
        return self._path_of(expr) if isinstance(expr, p.OptionValue | p.ContextValue | p.MemoryValue) else None

    def _terms(self, expr: Expr) -> list[Term] | None:
        """What the expression is, in one case or another; None where it is more than a field, a part or a constant."""
        match expr:
            case p.ContextValue(path=("today",)):
                return [Of(("now",), "date")] if self._path_of(expr) == ("now",) else None
            case p.OptionValue() | p.ContextValue() | p.MemoryValue() | p.Variable():
                path = self._path(expr)
                return None if path is None else [Of(path)]
            case p.If(condition=condition, then=then, otherwise=otherwise):
                known = self.ask(condition)
                return _joined(self._terms(then), self._terms(otherwise)) if known else None
            case p.Coalesce(value=value, default=default):
                return _joined(self._terms(value), self._terms(default))
            case p.Apply(arguments=arguments) if not self._constant(expr):
                return self._applied(expr, [self._terms(argument) for argument in arguments])
            case _ if self._constant(expr):
                return self._fixed(expr)
            case _:
                return None

    def _constant(self, expr: Expr) -> bool:
        if isinstance(expr, p.OptionValue | p.ContextValue | p.MemoryValue | p.BatchValue | p.Variable):
            return False
        if isinstance(expr, p.RuleFact | p.OutcomeValue | p.Comprehension | p.DefCall | p.Member):
            return False
        return all(self._constant(part) for part in children(expr))

    def _fixed(self, expr: Expr) -> list[Term]:
        """Where the constant overflows there is nothing to compare with."""
        try:
            return [Fixed(evaluate(expr, Frame(Call(self._zone, 0, 0), Budget())))]
        except Overflow:
            return []

    def _applied(self, expr: p.Apply, terms: list[list[Term] | None]) -> list[Term] | None:
        op = expr.signature.op
        if any(term is None for term in terms):
            return None
        if len(terms) == 1:
            return [self._part(op, term, expr) for term in terms[0] or ()] if self._has_parts(op, terms[0]) else None
        return self._steady(expr, terms)

    def _has_parts(self, op: str, terms: list[Term] | None) -> bool:
        return all(
            isinstance(term, Fixed) or (term.through is None and op in _PARTS.get(term.part, {})) or op in _STEADY
            for term in terms or ()
        )

    def _part(self, op: str, term: Term, expr: p.Apply) -> Term:
        if isinstance(term, Fixed):
            zoned = (self._zone,) if expr.signature.zoned else ()
            return Fixed(None if term.value is None else expr.signature.run(*zoned, term.value))
        if op in _PARTS.get(term.part, {}) and term.through is None:
            return Of(term.path, _PARTS[term.part][op])
        return Of(term.path, term.part, _after(term.through, expr.signature.run))

    def _steady(self, expr: p.Apply, terms: list[list[Term] | None]) -> list[Term] | None:
        """Arithmetic of a field and a constant."""
        match [term[0] if term is not None and len(term) == 1 else None for term in terms]:
            case [Of(path, part="") as of, Fixed(value)] if expr.signature.op in _STEADY and value is not None:
                run = expr.signature.run
                return [Of(path, "", _after(of.through, lambda x: run(x, value)))]
            case [Fixed(value), Of(path, part="") as of] if (
                expr.signature.op in _STEADY - {"div_float"} and value is not None
            ):
                run = expr.signature.run
                return [Of(path, "", _after(of.through, lambda x: run(value, x)))]
            case _:
                return None


def _every(answers: Iterable[bool]) -> bool:
    """Whether all are true; each is asked, so that nothing is left unnoted."""
    return min([True, *answers])


def _around(constant: int | float) -> set[int]:
    return {math.floor(constant), math.ceil(constant)}


def _after(first: Callable[[Any], Any] | None, then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return then if first is None else lambda x: then(first(x))


def _joined(left: list[Term] | None, right: list[Term] | None) -> list[Term] | None:
    return None if left is None or right is None else [*left, *right]


def merged(one: Asked | None, other: Asked) -> Asked:
    """What either asks."""
    if one is None:
        return other
    for name in ("points", "starts", "ends", "contains", "foldings", "lengths", "sizes"):
        getattr(one, name).update(getattr(other, name))
    for part, constants in other.parts.items():
        one.parts.setdefault(part, set()).update(constants)
    one.steady += other.steady
    one.literals += other.literals
    one.predicates += other.predicates
    if other.elements is not None:
        one.elements = merged(one.elements, other.elements)
    return one
