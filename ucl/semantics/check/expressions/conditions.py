"""Conditions: `and`, `or`, `not`, `if`, `present`, and what they let the parts after them know.

In: logical nodes and their place. Out: `And`, `Or`, `Not`, `If`, `Present`. Each operand is checked knowing what those
before it say (LANGUAGE §6); an `and` that joins a night to a weekday is looked at for `ambiguous-night` (§7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.expressions.facts import IMPOSSIBLE, path_of
from ucl.semantics.check.expressions.fitting import adapted, fit, instead_of, joined
from ucl.semantics.check.expressions.place import Place, is_wrong, wrong
from ucl.semantics.types import BOOL, Type
from ucl.syntax import ast


def infer_and(node: ast.And, place: Place, hint: Type | None) -> p.Expr:
    operands = _operands(node.operands, place, holds=True)
    if is_wrong(*operands):
        return wrong(node.span)
    _look_for_ambiguous_nights(operands, place)
    return p.And(BOOL, node.span, operands)


def infer_or(node: ast.Or, place: Place, hint: Type | None) -> p.Expr:
    operands = _operands(node.operands, place, holds=False)
    if is_wrong(*operands):
        return wrong(node.span)
    return p.Or(BOOL, node.span, operands)


def _operands(nodes: Sequence[ast.Expr], place: Place, holds: bool) -> tuple[p.Expr, ...]:
    """The operands, each knowing that those before it have the value `holds`."""
    operands: list[p.Expr] = []
    for node in nodes:
        if operands:
            place = _after(operands[-1], nodes[len(operands) - 1], holds, place)
        operands.append(place.check(node, BOOL))
    return tuple(operands)


def _after(operand: p.Expr, node: ast.Expr, holds: bool, place: Place) -> Place:
    """What is known after an operand with the value `holds`; all, where it was wrong and spoke of presence."""
    if isinstance(operand.type, t.Unknown) and tests_presence(node):
        return place.knowing(IMPOSSIBLE)
    return place.after(operand, holds)


def tests_presence(node: ast.Expr) -> bool:
    """Whether a condition speaks of presence, so that where it is wrong, what it would have said is not missed."""
    match node:
        case ast.Call(function=ast.Name(text="present" | "absent")):
            return True
        case ast.And(operands=operands) | ast.Or(operands=operands):
            return any(tests_presence(operand) for operand in operands)
        case ast.Not(operand=operand):
            return tests_presence(operand)
        case ast.If(condition=condition, then=then, otherwise=otherwise):
            return any(tests_presence(part) for part in (condition, then, otherwise))
        case _:
            return False


def infer_not(node: ast.Not, place: Place, hint: Type | None) -> p.Expr:
    operand = place.check(node.operand, BOOL)
    return wrong(node.span) if isinstance(operand.type, t.Unknown) else p.Not(BOOL, node.span, operand)


def infer_if(node: ast.If, place: Place, hint: Type | None) -> p.Expr:
    condition = place.check(node.condition, BOOL)
    then = place.after(condition, True).infer(node.then, hint)
    beside = hint if hint is not None or isinstance(then.type, t.Unknown | t.Text) else then.type
    otherwise = place.after(condition, False).infer(node.otherwise, beside)
    if is_wrong(condition, then, otherwise):
        return wrong(node.span)
    together = joined(then.type, otherwise.type)
    if together is None:
        if hint is not None and adapted(then, hint) is None:  # the first branch is what is wrong
            return fit(then, hint, place.report)
        help = instead_of(otherwise, then.type)
        return place.refuse(errors.mismatch(otherwise.span, otherwise.type, then.type, help))
    then = adapted(then, together) or then
    otherwise = adapted(otherwise, together) or otherwise
    return p.If(together, node.span, condition, then, otherwise)


def infer_present(node: ast.Call, negated: bool, place: Place) -> p.Expr:
    """`present(x)` and `absent(x)`, of one argument."""
    argument = node.arguments[0]
    value = place.infer(argument)
    if isinstance(value.type, t.Unknown):
        return wrong(node.span)
    if not isinstance(value.type, t.Optional) and not place.facts.impossible and _is_written(node):
        place.report.add(errors.always_present(argument.span, place.facts.knows_present(path_of(value))))
    test = p.Present(BOOL, node.span, value)
    return p.Not(BOOL, node.span, test) if negated else test


def _is_written(call: ast.Call) -> bool:
    """Whether it is no stand-in of the parser's for `x == null`, of which enough has been said."""
    return call.function.span.end < call.span.end


# --- nights ---------------------------------------------------------------------------------------------------------


def _look_for_ambiguous_nights(operands: Sequence[p.Expr], place: Place) -> None:
    """`start.time in 22:00..06:00 and start.weekday == fri`: one warning for each test of the day."""
    nights: dict[p.Expr, set[int]] = {}
    for i, operand in enumerate(operands):
        for moment in _nights(operand):
            nights.setdefault(moment, set()).add(i)
    if not nights:
        return
    for j, operand in enumerate(operands):
        for day in _days(operand):
            moment = day.arguments[0]
            if nights.get(moment, set()) - {j}:
                place.report.add(errors.ambiguous_night(day.span, _day_of_night(day, errors.quote(moment.span))))
                break


def _day_of_night(day: p.Apply, moment: str) -> str:
    """What to write for the weekday or the date on which the night began."""
    if day.signature.op == "weekday_of":
        return f"write `night_of({moment})`"
    return f"write `(if {moment}.hour < 12 then {moment}.date - 1d else {moment}.date)`"


def _nights(expr: p.Expr) -> Iterator[p.Expr]:
    """The datetimes whose time of day must lie in a constant range that goes over midnight."""
    match expr:
        case p.InRange(wraps=True, low=p.Const(value=int(start)), high=p.Const(value=int(end))) if start > end > 0:
            match expr.value:
                case p.Apply(signature=signature, arguments=(moment,)) if signature.op == "time_of":
                    yield moment
        case p.And(operands=operands):
            for operand in operands:
                yield from _nights(operand)
        case _:
            pass


def _days(expr: p.Expr) -> Iterator[p.Apply]:
    """The weekdays and dates of datetimes that a condition tests."""
    match expr:
        case p.Apply(signature=signature) if signature.op in ("weekday_of", "date_of"):
            yield expr
        case p.And(operands=operands) | p.Or(operands=operands):
            for operand in operands:
                yield from _days(operand)
        case p.Not(operand=operand):
            yield from _days(operand)
        case p.Compare(left=left, right=right):
            yield from _days(left)
            yield from _days(right)
        case p.InRange(value=value) | p.InSet(value=value):
            yield from _days(value)
        case _:
            pass
