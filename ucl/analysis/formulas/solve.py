"""For which values of one term a test holds, exactly.

In: a test of one ordered term. Out: the keys for which it holds, or None where that can't be told.

A test of few values is asked about each of them. A comparison of the term itself with a constant is read off. Of any
other function that rises or falls all the way, or on known pieces (a `ramp`, a `near`, an `abs`), the place where it
passes the constant is searched by halving, evaluating the very expression, rounding and all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ucl.analysis.formulas import line
from ucl.analysis.formulas.line import Interval, Intervals
from ucl.analysis.formulas.linear import linear
from ucl.analysis.formulas.terms import SPANS, Term, Terms, valued
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.outcome import Call
from ucl.semantics.program import Expr, RangeDomain, SetDomain
from ucl.semantics.types import DAY
from ucl.semantics.values.read import constant

# A term with no more values than this is asked about each of them.
_FEW = 128

_RISING_OR_FALLING = frozenset(
    "to_float neg_int neg_float floor ceil round duration_days duration_hours duration_minutes duration_seconds "
    "date_year time_hour".split()
)
_WITH_CONSTANTS = frozenset(
    "add_int add_float add_instant add_days sub_int sub_float sub_instant sub_days days_between mul_int mul_float "
    "scale_duration scale_duration_by div_float div_duration ratio_duration min max clamp ramp_float ramp_int "
    "next_weekday add_months".split()
)


class Solver:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._domains: dict[str, Intervals] = {}
        self._call = Call(terms.zone, 0, 0)

    def domain(self, term: Term) -> Intervals:
        """The keys that a valid option may have there."""
        known = self._domains.get(term.name)
        if known is None:
            known = self._domains[term.name] = self._domain(term)
        return known

    def _domain(self, term: Term) -> Intervals:
        if term.part in SPANS:
            return (SPANS[term.part],)
        whole = line.span_of(term.type)
        assert whole is not None
        domain = term.place.declared.domain
        if term.part or domain is None:
            return (whole,)
        match domain:
            case SetDomain(values):
                return line.holding(line.key_of(value, term.type) for value in values)
            case RangeDomain(low, high, inclusive, wraps):
                first = None if low is None else constant(low, self.terms.zone)
                last = None if high is None else constant(high, self.terms.zone)
                return _range(first, last, inclusive, wraps, term.type, whole)

    def keys(self, term: Term, expr: Expr) -> Intervals | None:
        """Where the test `expr`, whose only variable is the term's, holds."""
        span = SPANS.get(term.part) or line.span_of(term.type)
        assert span is not None
        direct = _direct(expr, term, span)
        if direct is not None:
            return direct
        domain = self.domain(term)
        if sum(end - low for low, end in domain) <= _FEW:
            holds = self._evaluator(expr, term)
            return line.holding(key for low, end in domain for key in range(low, end) if holds(key))
        return self._solved(expr, term, span)

    def _evaluator(self, expr: Expr, term: Term) -> Callable[[int], Any]:
        """The value of an expression by the term's key; None where it has none."""
        value, type = valued(expr, self._call, term.name), term.type
        return lambda key: value(line.value_at(key, type))

    # --- functions of the term --------------------------------------------------------------------------------------

    def _solved(self, expr: Expr, term: Term, span: Interval) -> Intervals | None:
        match expr:
            case p.Compare(operator=operator, left=left, right=p.Const(value=value)):
                return self._compared(left, operator, value, term, span)
            case p.Compare(operator=operator, left=p.Const(value=value), right=right):
                return self._compared(right, _TURNED[operator], value, term, span)
            case p.InRange(value=value, low=None | p.Const() as low, high=None | p.Const() as high):
                first = None if low is None else self._compared(value, ">=", low.value, term, span)
                strict = "<=" if expr.inclusive else "<"
                last = None if high is None else self._compared(value, strict, high.value, term, span)
                ends = [part for part in (first, last) if part is not None]
                if len(ends) < (low is not None) + (high is not None):
                    return None
                if len(ends) == 2:
                    assert low is not None
                    assert high is not None
                    if expr.wraps and low.value > high.value:  # type: ignore[operator]
                        return line.joined([*ends[0], *ends[1]])
                    return line.common(ends[0], ends[1])
                return ends[0]
            case p.InSet(value=value, container=p.Const(value=frozenset() as members)):
                parts = [self._compared(value, "==", member, term, span) for member in members]
                if any(part is None for part in parts):
                    return None
                return line.joined(interval for part in parts if part is not None for interval in part)
            case _:
                return None

    def _compared(self, f: Expr, operator: str, value: Any, term: Term, span: Interval) -> Intervals | None:
        pieces = self._pieces(f, term, span)
        if pieces is None:
            return None
        at = self._evaluator(f, term)
        found: list[Interval] = []
        for piece in pieces:
            valid = _valid_part(at, piece)
            if valid is None:
                return None
            found.extend(_on_piece(at, operator, value, valid))
        return line.joined(found)

    def _pieces(self, f: Expr, term: Term, span: Interval) -> list[Interval] | None:
        """Parts of the line on each of which `f` only rises or only falls; None where that is not known."""
        match f:
            case p.Variable():
                return [span]
            case p.Apply(signature=signature, arguments=arguments):
                varying = [a for a in arguments if not isinstance(a, p.Const)]
                if len(varying) == 1:
                    return self._through(f, signature.op, varying[0], term, span)
                total = linear(f, self.terms)
                return None if total is None else [span]
            case _:
                return None

    def _through(self, f: p.Apply, op: str, inner: Expr, term: Term, span: Interval) -> list[Interval] | None:
        pieces = self._pieces(inner, term, span)
        if pieces is None or op in _RISING_OR_FALLING:
            return pieces
        if op in _WITH_CONSTANTS and (
            op not in ("div_float", "div_duration", "ratio_duration") or f.arguments[0] is inner
        ):
            # A ramp or a clamp rises or falls in its first argument; what it does in its ends is not looked at.
            return pieces if f.arguments[0] is inner or op in _EITHER_ARGUMENT else None
        if op in ("abs_int", "abs_float"):
            return self._split(pieces, inner, 0, term)
        if op in ("near_float", "near_int", "near_time") and f.arguments[0] is inner:
            target = f.arguments[1]
            assert isinstance(target, p.Const)
            assert isinstance(target.value, int | float)
            pieces = self._split(pieces, inner, target.value, term)
            if op == "near_time":
                pieces = self._split(pieces, inner, (int(target.value) + DAY // 2) % DAY, term)
            return pieces
        return None

    def _split(self, pieces: list[Interval], inner: Expr, value: float, term: Term) -> list[Interval]:
        """Each piece cut where the inner function passes a value, as far as it has one."""
        at = self._evaluator(inner, term)
        found: list[Interval] = []
        for piece in pieces:
            low, end = _valid_part(at, piece) or piece
            start = at(low)
            below = start is not None and start < value
            cut = line.first_where(lambda key, b=below: ((v := at(key)) is not None and v < value) is not b, low, end)  # type: ignore[misc]
            # The value itself belongs to both sides: it gets a piece of its own.
            found.extend(part for part in ((low, cut), (cut, min(cut + 1, end)), (cut + 1, end)) if part[0] < part[1])
        return found


_EITHER_ARGUMENT = frozenset(
    "add_int add_float sub_int sub_float mul_int mul_float scale_duration scale_duration_by days_between "
    "min max".split()
)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _on_piece(at: Callable[[int], Any], operator: str, value: Any, piece: Interval) -> Intervals:
    if operator == "==":
        return line.common(_on_piece(at, "<=", value, piece), _on_piece(at, ">=", value, piece))
    if operator == "!=":
        return line.complement(_on_piece(at, "==", value, piece), piece)
    holds = _HOLDS[operator]
    low, end = piece
    first = holds(at(low), value)
    cut = line.first_where(lambda key: holds(at(key), value) is not first, low, end)
    return line.joined([(low, cut) if first else (cut, end)])


def _valid_part(at: Callable[[int], Any], piece: Interval) -> Interval | None:
    """Where the function has a value: around 0 at least, if anywhere."""
    low, end = piece
    if at(low) is not None and at(end - 1) is not None:
        return piece
    middle = next(
        (key for key in (min(max(0, low), end - 1), (low + end) // 2, low, end - 1) if at(key) is not None), None
    )
    if middle is None:
        return None
    return (
        line.first_where(lambda key: at(key) is not None, low, middle),
        line.first_where(lambda key: at(key) is None, middle, end),
    )


# --- the term itself ------------------------------------------------------------------------------------------------


def _direct(expr: Expr, term: Term, span: Interval) -> Intervals | None:
    match expr:
        case p.Variable() if isinstance(term.type, t.Bool):
            return ((1, 2),)
        case p.Compare(operator=operator, left=p.Variable(), right=p.Const(value=value)):
            return _where(operator, value, term.type, span)
        case p.Compare(operator=operator, left=p.Const(value=value), right=p.Variable()):
            return _where(_TURNED[operator], value, term.type, span)
        case p.InRange(value=p.Variable(), low=None | p.Const() as low, high=None | p.Const() as high):
            first = None if low is None else low.value
            last = None if high is None else high.value
            return _range(first, last, expr.inclusive, expr.wraps, term.type, span)
        case p.InSet(value=p.Variable(), container=p.Const(value=frozenset() as members)):
            return line.joined(part for member in members for part in _where("==", member, term.type, span))
        case _:
            return None


def _where(operator: str, value: Any, type: t.Type, span: Interval) -> Intervals:
    if isinstance(type, t.Closed) and value not in type.values:
        return (span,) if operator == "!=" else ()
    low, above = _around(value, type)
    low, above = max(span[0], min(low, span[1])), max(span[0], min(above, span[1]))
    match operator:
        case "<":
            return line.joined([(span[0], low)])
        case "<=":
            return line.joined([(span[0], above)])
        case ">":
            return line.joined([(above, span[1])])
        case ">=":
            return line.joined([(low, span[1])])
        case "==":
            return line.joined([(low, above)])
        case _:
            return line.joined([(span[0], low), (above, span[1])])


def _around(value: Any, type: t.Type) -> Interval:
    """The first key whose value is not below, and the first whose value is above; ints and doubles compare exactly."""
    if isinstance(type, t.Float | t.Quantity) and isinstance(value, int):
        near = float(value)
        key = line.key_of(near, type)
        return (key if near >= value else key + 1), (key + 1 if near <= value else key)
    if isinstance(value, float) and not isinstance(type, t.Float | t.Quantity):
        return math.ceil(value), math.floor(value) + 1
    key = line.key_of(value, type)
    return key, key + 1


def _range(low: Any, high: Any, inclusive: bool, wraps: bool, type: t.Type, span: Interval) -> Intervals:
    after = (span,) if low is None else _where(">=", low, type, span)
    before = (span,) if high is None else _where("<=" if inclusive else "<", high, type, span)
    if wraps and low is not None and high is not None and low > high:
        return line.joined([*after, *before])
    return line.common(after, before)
