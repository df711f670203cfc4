"""A rule, a constraint or a property in plain words, for a person who does not read UCL.

In: a checked declaration. Out: one sentence. Values are shown as explanations show them; what there are no words for is
shown as it is written, in backticks. There is one template for each kind of test, and each is a clause of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from ucl.scoring.words import number, shown
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.trace import written
from ucl.semantics.zones import Zone
from ucl.syntax.reading.lexer import words

_COMPARED = {"==": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
_CLOCK = {"<": "is before", "<=": "is not after", ">": "is after", ">=": "is not before"}
_PARTS = {f"{part}_of": f"the {part}" for part in words("date time weekday year month day hour minute night")}
_MOMENTS = (t.Time, t.Date, t.DateTime)
# From this magnitude on a preference is strong; below the second it is mild.
_STRONG, _MILD = 0.7, 0.35


def in_words(declared: p.Rule | p.Constraint | p.Property, zone: Zone) -> str:
    """One sentence."""
    say = _Say(zone)
    match declared:
        case p.Rule():
            return _rule(declared, say)
        case p.Constraint():
            return _constraint(declared, say)
        case p.Property():
            given = "" if declared.given is None else f"wherever {say.that(declared.given)}, "
            return f"`{declared.name}`: {given}{_joined('and', map(say.that, declared.expect))}"


def _rule(rule: p.Rule, say: _Say) -> str:
    where = "always" if rule.when is None else f"where {say.that(rule.when)}"
    cases = [f"where {say.that(case.condition)}: {_score(case.score)}" for case in rule.exceptions]
    instead = f"; instead, {'; '.join(cases)}" if cases else ""
    stance = f"{_stance(rule.score)} a `{rule.schema.name}` ({_score(rule.score)})"
    return f"`{rule.name}`: {stance} {where}{_unless(rule, say)}{instead}"


def _constraint(constraint: p.Constraint, say: _Say) -> str:
    where = "" if constraint.when is None else f"where {say.that(constraint.when)}"
    if constraint.require is None:
        return f"`{constraint.name}`: never a `{constraint.schema.name}` {where}{_unless(constraint, say)}"
    demand = f"a `{constraint.schema.name}` is possible only if {say.that(constraint.require)}"
    return f"`{constraint.name}`: {where + ', ' if where else ''}{demand}{_unless(constraint, say)}"


def _unless(declared: p.Rule | p.Constraint, say: _Say) -> str:
    return "".join(f", unless {say.that(expr)}" for expr in declared.unless)


def _stance(score: p.Expr) -> str:
    if not isinstance(score, p.Const) or not isinstance(score.value, int | float):
        return "against" if written(score).startswith("-") else "for"
    magnitude = abs(score.value)
    strength = "strongly " if magnitude >= _STRONG else "mildly " if magnitude < _MILD else ""
    return f"{strength}{'against' if score.value < 0 else 'for'}"


def _score(score: p.Expr) -> str:
    match score:
        case p.Const(value=int() | float() as value):
            return number(float(value))
        case _:
            return written(score)


def _joined(word: str, parts: Iterable[str]) -> str:
    return f" {word} ".join(parts)


# --- tests ----------------------------------------------------------------------------------------------------------


class _Say:
    """What holds where a condition does."""

    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    def that(self, expr: p.Expr) -> str:
        match expr:
            case p.And(operands=operands):
                return _joined("and", (self._grouped(o) if isinstance(o, p.Or) else self.that(o) for o in operands))
            case p.Or(operands=operands):
                return _joined("or", (self._grouped(o) if isinstance(o, p.And) else self.that(o) for o in operands))
            case p.Not(operand=p.Present(value=value)):
                return f"{self._value(value)} is not known"
            case p.Not(operand=p.InRange() | p.InSet() as test):
                return self._test(test, "is not")
            case p.Not(operand=operand):
                return f"it is not so that {self.that(operand)}"
            case p.Present(value=value):
                return f"{self._value(value)} is known"
            case p.InRange() | p.InSet():
                return self._test(expr, "is")
            case p.Compare(operator=operator, left=left, right=right):
                by_clock = isinstance(t.present(left.type), _MOMENTS)
                verb = _CLOCK.get(operator, _COMPARED[operator]) if by_clock else _COMPARED[operator]
                return f"{self._value(left)} {verb} {self._value(right)}"
            case p.OptionValue() | p.ContextValue():
                return f"{self._value(expr)} is true"
            case _:
                return f"`{written(expr)}`"

    def _grouped(self, expr: p.Expr) -> str:
        return f"({self.that(expr)})"

    def _test(self, expr: p.InRange | p.InSet, verb: str) -> str:
        match expr:
            case p.InSet(value=value, container=p.Const() as container):
                return f"{self._value(value)} {verb} one of {self._value(container)}"
            case p.InSet(value=value, container=container):
                return f"{self._value(value)} {verb} among {self._value(container)}"
            case p.InRange(value=value, low=low, high=high, inclusive=inclusive):
                return f"{self._value(value)} {verb} {self._range(low, high, inclusive)}"

    def _range(self, low: p.Expr | None, high: p.Expr | None, inclusive: bool) -> str:
        last = "" if high is None else f"{self._value(high)}{' at most' if inclusive else ''}"
        if low is None:
            return f"up to {last}" if inclusive else f"before {last}"
        return f"from {self._value(low)} on" if high is None else f"from {self._value(low)} to {last}"

    def _value(self, expr: p.Expr) -> str:
        match expr:
            case p.Const(value=value, type=type_):
                return shown(value, type_, self._zone)
            case p.Apply(signature=signature, arguments=(argument,)) if signature.op in _PARTS:
                return f"{_PARTS[signature.op]} of {self._value(argument)}"
            case p.Coalesce(value=value, default=default):
                return f"{self._value(value)} (where it is not known, {self._value(default)})"
            case p.OptionValue(path=path):
                return f"`{'.'.join(path)}`"
            case p.OutcomeValue(name=name):
                return f"the {name}"
            case p.RuleFact(kind="contribution", rule=rule):
                return f"what `{rule}` adds"
            case _:
                return f"`{written(expr)}`"
