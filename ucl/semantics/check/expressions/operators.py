"""Arithmetic, comparison and `??`.

In: operator nodes and their place. Out: `Apply` by the signature that fits, `Compare`, `Coalesce`. Ints widen where the
other side is a float; nothing else converts. A quotient is optional unless its divisor is seen not to be zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from ucl.diagnostics import Diagnostic
from ucl.semantics import errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import OPERATORS, Signature
from ucl.semantics.check.expressions.constants import applied
from ucl.semantics.check.expressions.facts import path_of, zero_in_range
from ucl.semantics.check.expressions.fitting import (
    adapted,
    instead_of,
    joined,
    literal_instead,
    unwidened,
    value_instead,
    widened,
)
from ucl.semantics.check.expressions.place import Place, wrong
from ucl.semantics.types import BOOL, DATE, DATETIME, DAY, DURATION, TEXT, Type
from ucl.syntax import ast

ORDERED = (t.Int, t.Float, t.Quantity, t.Duration, t.Date, t.Time, t.DateTime)
_EQUATABLE = (t.Bool, t.Text, t.Closed, t.Weekday, *ORDERED)
_ADAPTING = (ast.TextLiteral, ast.QuantityLiteral, ast.SetLiteral)
_ROUNDED = ("add_float", "sub_float", "mul_float", "div_float")


# --- arithmetic -----------------------------------------------------------------------------------------------------


def infer_negate(node: ast.Negate, place: Place, hint: Type | None) -> p.Expr:
    operand = place.present(node.operand, hint)
    if isinstance(operand.type, t.Unknown):
        return operand
    if isinstance(operand, p.Const) and isinstance(operand.value, float) and isinstance(operand.type, t.Float):
        return p.Const(operand.type, node.span, -operand.value)  # half of all scores
    found = overload(OPERATORS["negate"], (operand,))
    if found is None:
        return place.refuse(errors.no_negation(node.span, operand.type))
    return _evaluated(*found, node, place)


def infer_arithmetic(node: ast.Arithmetic, place: Place, hint: Type | None) -> p.Expr:
    left, right = pair(node.left, node.right, place, _other_operand)
    if isinstance(left.type, t.Unknown) or isinstance(right.type, t.Unknown):
        return wrong(node.span)
    found = overload(OPERATORS[node.operator], (left, right))
    if found is None:
        help = _instead_of_operand(node.operator, left, right)
        return place.refuse(errors.no_operation(node.span, node.operator, left.type, right.type, help))
    type, signature, arguments = found
    if signature.op in ("add_days", "sub_days") and isinstance(right, p.Const) and _part_of_day(right):
        return place.refuse(
            errors.day_not_whole(right.span, f"write `at({errors.quote(left.span)}, 09:00)` for an instant")
        )
    if signature.partial and never_zero(right, place):
        type = t.present(type)
    return _evaluated(type, signature, arguments, node, place)


def overload(
    signatures: Iterable[Signature], arguments: Sequence[p.Expr]
) -> tuple[Type, Signature, tuple[p.Expr, ...]] | None:
    """The result's type, the signature that fits, and the arguments as it takes them: exactly, or with ints widened."""
    types = [plain(argument.type) for argument in arguments]
    for signature in signatures:
        result = signature.result_for(types)
        if result is not None:
            return result, signature, tuple(arguments)
    if t.INT not in types:
        return None
    types = [t.FLOAT if type == t.INT else type for type in types]
    for signature in signatures:
        result = signature.result_for(types)
        if result is not None:
            return result, signature, tuple(widened(a) if isinstance(a.type, t.Int) else a for a in arguments)
    return None


def plain(type: Type) -> Type:
    """The type as signatures know it: closed text is text."""
    if isinstance(type, t.Closed):
        return TEXT
    if isinstance(type, t.Set) and isinstance(type.element, t.Closed):
        return t.Set(TEXT)
    return type


def _evaluated(
    type: Type,
    signature: Signature,
    arguments: tuple[p.Expr, ...],
    node: ast.Expr,
    place: Place,
) -> p.Expr:
    """The operation, worked out where it is constant; a constant that leaves its type is `out-of-range`."""
    result = applied(type, node.span, signature, arguments)
    left_over = isinstance(result, p.Apply) and not signature.zoned and not isinstance(type, t.Optional)
    if left_over and all(isinstance(a, p.Const) for a in arguments):
        return place.refuse(errors.constant_out_of_range(node.span))
    return result


def _other_operand(type: Type) -> Type:
    """What a literal beside a value of this type is likely to be."""
    return DURATION if isinstance(type, t.DateTime | t.Date | t.Time) else type


def _part_of_day(duration: p.Const) -> bool:
    return isinstance(duration.value, int) and duration.value % DAY != 0


def _instead_of_operand(operator: str, left: p.Expr, right: p.Expr) -> str | None:
    if operator in "+-":
        if left.type == DATE or left.type == DATETIME:
            if isinstance(right.type, t.Int):
                return f"write `{errors.quote(right.span)}d` for days" if isinstance(right, p.Const) else None
            if left.type == DATE and right.type == DATETIME:
                return f"write `{errors.quote(right.span)}.date`"
            if left.type == DATETIME and right.type == DATE:
                return f"write `{errors.quote(left.span)}.date`"
            return None
        return instead_of(right, left.type) or instead_of(left, right.type)
    return None


def never_zero(divisor: p.Expr, place: Place) -> bool:
    """Whether a divisor is seen not to be zero: by being a constant, by its field's domain, or by a guard in force."""
    divisor = unwidened(divisor)
    if isinstance(divisor, p.Const):
        return divisor.value != 0
    return place.facts.knows_nonzero(path_of(divisor)) or _domain_without_zero(divisor, place)


def _domain_without_zero(expr: p.Expr, place: Place) -> bool:
    field = _field_of(expr, place)
    if field is None:
        return False
    match field.domain:
        case p.RangeDomain(low, high, inclusive):
            return zero_in_range(low, high, inclusive) is False
        case p.SetDomain(values):
            return 0 not in values
        case None:
            return False


def _field_of(expr: p.Expr, place: Place) -> p.Field | None:
    """The declaration of the field that a path ends at."""
    match expr:
        case p.OptionValue(path=(first, *rest)):
            field = None if place.scope.option is None else place.scope.option.field(first)
        case p.ContextValue(path=(first, *rest)):
            field = place.scope.context.get(first)
        case p.Member(record=record, name=name):
            owner = t.present(record.type)
            return owner.schema.field(name) if isinstance(owner, t.Record) else None
        case _:
            return None
    for name in rest:
        inner = None if field is None else t.present(field.type)
        field = inner.schema.field(name) if isinstance(inner, t.Record) else None
    return field


# --- comparison -----------------------------------------------------------------------------------------------------


def _same(type: Type) -> Type:
    return type


def pair(left: ast.Expr, right: ast.Expr, place: Place, other: Callable[[Type], Type] = _same) -> tuple[p.Expr, p.Expr]:
    """Both sides of an operator; a literal adapts to the other side, whichever comes first."""
    if isinstance(left, _ADAPTING) and not isinstance(right, _ADAPTING):
        y = place.present(right)
        return place.present(left, other(y.type)), y
    x = place.present(left)
    return x, place.present(right, other(x.type))


def infer_compare(node: ast.Compare, place: Place, hint: Type | None) -> p.Expr:
    left, right = pair(node.left, node.right, place)
    if isinstance(left.type, t.Unknown) or isinstance(right.type, t.Unknown):
        return wrong(node.span)
    if not comparable(left.type, right.type):
        help = instead_of_side(node.operator, left, right)
        return place.refuse(errors.not_comparable(node.span, left.span, left.type, right.span, right.type, help))
    equality = node.operator in ("==", "!=")
    if not isinstance(left.type, _EQUATABLE if equality else ORDERED):
        return place.refuse(_not_comparable_so(node, left, right, equality))
    left, right = same_number(left, right)
    if equality and _depends_on_last_digit(left, right):
        place.report.add(errors.float_equality(node.span, node.operator, _range_around(node.operator, left, right)))
    return p.Compare(BOOL, node.span, node.operator, left, right)


def comparable(a: Type, b: Type) -> bool:
    return a is b or joined(a, b) is not None


def _not_comparable_so(node: ast.Compare, left: p.Expr, right: p.Expr, equality: bool) -> Diagnostic:
    if equality:
        a, b = errors.quote(left.span), errors.quote(right.span)
        help = None
        if isinstance(left.type, t.Set):
            empty = isinstance(node.right, ast.SetLiteral) and not node.right.elements
            help = f"write `size({a}) == 0`" if empty else f"write `subset({a}, {b}) and subset({b}, {a})`"
        return errors.no_equality(node.span, node.operator, left.type, help)
    help = None
    if isinstance(left.type, t.Weekday):
        help = "a range of weekdays is `mon..=fri`, after `in`"
    elif isinstance(left.type, t.Text | t.Closed):
        help = f"list the values: `{errors.quote(left.span)} in {{…}}`"
    return errors.not_ordered(node.span, node.operator, left.type, help)


def instead_of_side(operator: str, left: p.Expr, right: p.Expr) -> str | None:
    """The whole comparison as it could be written, where one of two sides that can't be compared can be mended."""
    x, y = errors.quote(left.span), errors.quote(right.span)
    for mend in (literal_instead, value_instead):
        mended = _days_instead(right, left) or mend(right, left.type)
        if mended is not None:
            return f"write `{x} {operator} {mended}`"
        mended = _days_instead(left, right) or mend(left, right.type)
        if mended is not None:
            return f"write `{mended} {operator} {y}`"
    return None


def _days_instead(number: p.Expr, beside: p.Expr) -> str | None:
    """`7d` for a 7 beside a difference of dates."""
    counts_days = isinstance(beside, p.Apply) and beside.signature.op == "days_between"
    return f"{errors.quote(number.span)}d" if counts_days and isinstance(number.type, t.Int) else None


def same_number(left: p.Expr, right: p.Expr) -> tuple[p.Expr, p.Expr]:
    """An int constant beside a float becomes one where that is exact; int and float values compare as they are."""
    if isinstance(left.type, t.Float) and isinstance(right.type, t.Int):
        return left, exact_float(right)
    if isinstance(left.type, t.Int) and isinstance(right.type, t.Float):
        return exact_float(left), right
    return left, right


def exact_float(expr: p.Expr) -> p.Expr:
    if isinstance(expr, p.Const) and isinstance(expr.value, int) and abs(expr.value) <= 2**53:
        return widened(expr)
    return expr


def _depends_on_last_digit(left: p.Expr, right: p.Expr) -> bool:
    """Whether `==` is between a float that was rounded and anything, or with a literal that no double is equal to."""
    if isinstance(left, p.Const) and isinstance(right, p.Const):
        return False
    if not all(isinstance(side.type, t.Float | t.Quantity | t.Int) for side in (left, right)):
        return False
    if _rounded(left) or _rounded(right):
        return True
    return any(_no_double(side) for side in (left, right))


def _range_around(operator: str, left: p.Expr, right: p.Expr) -> str | None:
    """The test for a narrow range around the constant that a float is compared with."""
    value, constant = (right, left) if isinstance(left, p.Const) else (left, right)
    if not isinstance(constant, p.Const) or not isinstance(constant.value, int | float):
        return None
    if not isinstance(constant.type, t.Float | t.Int) or not 1e-6 < abs(constant.value) < 1e9:
        return None
    exact = Decimal(repr(constant.value))
    step = Decimal(1).scaleb(min(int(exact.as_tuple().exponent), 0) - 1)
    word = "in" if operator == "==" else "not in"
    return f"{errors.quote(value.span)} {word} {exact - step}..={exact + step}"


def _rounded(expr: p.Expr) -> bool:
    match expr:
        case p.Apply(signature=signature):
            return signature.op in _ROUNDED
        case p.Coalesce(value=value):
            return _rounded(value)
        case p.Comprehension(kind="sum" | "mean", type=type):
            return isinstance(t.present(type), t.Float | t.Quantity)
        case _:
            return False


def _no_double(expr: p.Expr) -> bool:
    """A decimal such as 0.3, which lies between two doubles."""
    if not isinstance(expr, p.Const) or not isinstance(expr.value, float) or not isinstance(expr.type, t.Float):
        return False
    return Fraction(repr(expr.value)) != Fraction(expr.value)


# --- ?? -------------------------------------------------------------------------------------------------------------


def infer_coalesce(node: ast.Coalesce, place: Place, hint: Type | None) -> p.Expr:
    value = place.infer(node.value, hint)
    if isinstance(value.type, t.Unknown):
        place.infer(node.default, hint)
        return value
    default = place.infer(node.default, t.present(value.type))
    if isinstance(default.type, t.Unknown):
        return default
    if not isinstance(value.type, t.Optional):
        if not place.facts.impossible:
            here = place.facts.knows_present(path_of(value))
            place.report.add(errors.default_unused(node.default.span, node.value.span, here))
        return value
    together = joined(value.type.inner, default.type)
    if together is None:
        return place.refuse(
            errors.mismatch(default.span, default.type, value.type.inner, instead_of(default, value.type))
        )
    value = adapted(value, t.optional(t.present(together))) or value
    default = adapted(default, together) or default
    return p.Coalesce(together, node.span, value, default)
