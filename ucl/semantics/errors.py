"""What can be wrong with the names and types of an expression: one function a diagnostic.

In: the place and what is known there. Out: a `Diagnostic` in the user's terms, with the replacement as its help where
one is known. Nothing here decides whether something is wrong; the passes do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ucl.diagnostics import Diagnostic, Span, diagnostic
from ucl.semantics import types as t
from ucl.semantics.suggest import nearest
from ucl.semantics.types import Type
from ucl.syntax.foreign_errors import unit_meant

_LONGEST_QUOTE = 60

# Which module of the standard library brings a unit.
STANDARD_UNITS = {
    **dict.fromkeys(("m", "km", "mi", "ft"), ("std.units", "length")),
    **dict.fromkeys(("kg", "g", "lb"), ("std.units", "mass")),
    **{code: ("std.money", code.lower()) for code in ("USD", "EUR", "CNY", "GBP", "JPY")},
}


def quote(span: Span) -> str:
    """The user's own text, on one line, shortened where it is long."""
    text = " ".join(span.source.text[span.start : min(span.end, span.start + 10 * _LONGEST_QUOTE)].split())
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


def with_article(type: Type) -> str:
    """The type as a sentence says it: `text`, an `int`."""
    if isinstance(type, t.Closed):
        return f"one of {_listed(type.values)}"
    if isinstance(type, t.Quantity):
        return f"a quantity of `{type}`"
    article = "an" if str(type)[0] in "aeiou" else "a"
    return f"`{type}`" if type in (t.TEXT,) else f"{article} `{type}`"


def _listed(values: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(f'`"{value}"`' for value in values[:most])
    return shown + (", …" if len(values) > most else "")


def _did_you_mean(written: str, known: Iterable[str]) -> str | None:
    near = nearest(written, known)
    return None if near is None else f"did you mean `{near}`?"


# --- names ----------------------------------------------------------------------------------------------------------


def unknown_name(span: Span, name: str, known: Iterable[str] = (), help: str | None = None) -> Diagnostic:
    """Nothing of that name can be seen here."""
    return diagnostic("unknown-name", span, f"there is no `{name}` here", help or _did_you_mean(name, known))


def unknown_prefixed(span: Span, prefix: str, name: str, known: Iterable[str]) -> Diagnostic:
    """`option.x`, `context.x` or `memory.x` where there is no such x."""
    near = nearest(name, known)
    help = None if near is None else f"did you mean `{prefix}.{near}`?"
    return diagnostic("unknown-name", span, f"there is no `{prefix}.{name}` here", help)


def nothing_scored_here(span: Span, name: str) -> Diagnostic:
    """`option.x` where there is no option, as in a `let`, a `def` or an alert."""
    return diagnostic("unknown-name", span, f"no option is scored here, so there is no `option.{name}`")


def unknown_rule(span: Span, name: str, known: Iterable[str]) -> Diagnostic:
    """`fires(r)` of a rule that is not there."""
    return diagnostic("unknown-name", span, f"there is no rule `{name}`", _did_you_mean(name, known))


def unknown_member(span: Span, module: str, name: str, known: Iterable[str]) -> Diagnostic:
    """`base.limit` where the module has no `limit`."""
    return diagnostic("unknown-name", span, f"the module `{module}` has no `{name}`", _did_you_mean(name, known))


def unknown_unit(span: Span, unit: str, known: Iterable[str]) -> Diagnostic:
    """A unit of no dimension that is declared or imported here."""
    known = tuple(known)
    meant = unit_meant(unit)
    help = f"write `{meant}`" if meant is not None else _did_you_mean(unit, known)
    near = meant or nearest(unit, STANDARD_UNITS)
    wanted = unit if unit in STANDARD_UNITS else near if meant is not None or help is None else None
    if wanted is not None and wanted in STANDARD_UNITS and wanted not in known:
        module, dimension = STANDARD_UNITS[wanted]
        help = f"write `import {module} ({dimension})`" + ("" if wanted == unit else f" and the unit `{wanted}`")
    return diagnostic("unknown-name", span, f"there is no unit `{unit}` here", help)


def half_of_day(span: Span, time: str) -> Diagnostic:
    """`1pm`."""
    return diagnostic("bad-literal", span, f"`{quote(span)}` is no time in the form 09:30", f"write `{time}`")


def ambiguous_unit(span: Span, unit: str, dimensions: Sequence[str]) -> Diagnostic:
    """A unit's name that two dimensions have."""
    both = " and ".join(f"`{name}`" for name in dimensions)
    return diagnostic("ambiguous-name", span, f"`{unit}` is a unit of {both}", "import only one of the two")


def ambiguous_name(
    span: Span, name: str, meanings: Sequence[str], replacements: Sequence[str], can_be_renamed: bool
) -> Diagnostic:
    """A bare name that could mean two things; `replacements` are the ways to say which, for those that have one."""
    help = "give one of them another name"
    if replacements:
        help = "write " + " or ".join(f"`{r}`" for r in replacements) + (f", or {help}" if can_be_renamed else "")
    return diagnostic("ambiguous-name", span, f"`{name}` could mean {' or '.join(meanings)}", help)


def shadowed_variable(span: Span, name: str) -> Diagnostic:
    """A comprehension's variable with the name of one around it."""
    return diagnostic(
        "ambiguous-name", span, f"`{name}` is already a name around this", "give the variable a name of its own"
    )


def not_a_value(span: Span, name: str, kind: str, help: str | None = None) -> Diagnostic:
    """A schema, a module, a rule… where a value is wanted."""
    return diagnostic("type-mismatch", span, f"`{name}` is {kind}, which is no value", help)


def not_called(span: Span, name: str, usage: str) -> Diagnostic:
    """A function's name without its arguments."""
    return diagnostic("wrong-arguments", span, f"`{name}` is a function, and needs its arguments", f"write `{usage}`")


def not_a_function(span: Span, name: str, kind: str, help: str | None = None) -> Diagnostic:
    """A call of what is no function."""
    return diagnostic("type-mismatch", span, f"`{name}` is {kind}, and can't be called", help)


def not_a_rule(span: Span, name: str) -> Diagnostic:
    """`fires(x)` where x is something else."""
    return diagnostic("type-mismatch", span, f"`{name}` is no rule")


def unknown_field(span: Span, owner: Span, type: Type, name: str, known: Iterable[str]) -> Diagnostic:
    """`x.name` where x has no such field or part."""
    known = tuple(known)
    help = _did_you_mean(name, known)
    if help is None and known and len(known) <= 12:
        help = "there are " + ", ".join(f"`{k}`" for k in known)
    return diagnostic("unknown-field", span, f"`{quote(owner)}` is {with_article(type)}, and has no `{name}`", help)


def method_call(span: Span, name: str, call: str) -> Diagnostic:
    """`name.contains("x")`, `place.is_null()`: functions stand in front."""
    is_ours = call.startswith(f"{name}(")
    what = "a function, not a part of a value" if is_ours else "no part of a value: functions stand in front"
    return diagnostic("unknown-field", span, f"`{name}` is {what}", f"write `{call}`")


# --- types ----------------------------------------------------------------------------------------------------------


def is_measured_mismatch(a: Type, b: Type) -> bool:
    """Whether two types differ in their unit: two dimensions, or a unit against a plain number."""
    measured = (t.Quantity, t.Duration)
    numeric = (*measured, t.Int, t.Float)
    a, b = t.present(a), t.present(b)
    return isinstance(a, numeric) and isinstance(b, numeric) and (isinstance(a, measured) or isinstance(b, measured))


def mismatch(span: Span, actual: Type, wanted: Type, help: str | None = None) -> Diagnostic:
    """A value of one type where another is wanted."""
    code = "unit-mismatch" if is_measured_mismatch(actual, wanted) else "type-mismatch"
    message = f"`{quote(span)}` is {with_article(actual)}, where {with_article(wanted)} is wanted"
    return diagnostic(code, span, message, help)


def wrong_kind(span: Span, actual: Type, wanted: str, help: str | None = None) -> Diagnostic:
    """A value that is none of several types; `wanted` says of which."""
    return diagnostic(
        "type-mismatch", span, f"`{quote(span)}` is {with_article(actual)}, where {wanted} is wanted", help
    )


def not_comparable(
    span: Span, left: Span, left_type: Type, right: Span, right_type: Type, help: str | None
) -> Diagnostic:
    """Two types that do not compare; two units that do not are `unit-mismatch`."""
    code = "unit-mismatch" if is_measured_mismatch(left_type, right_type) else "type-mismatch"
    message = (
        f"`{quote(left)}` is {with_article(left_type)} and `{quote(right)}` is {with_article(right_type)}; "
        "they can't be compared"
    )
    return diagnostic(code, span, message, help)


def not_in_set(span: Span, value: Span, type: Type, container: Span, element: Type, help: str | None) -> Diagnostic:
    """A value that is of another type than a set's elements."""
    message = (
        f"`{quote(value)}` is {with_article(type)}, and the elements of `{quote(container)}` are of type `{element}`"
    )
    return diagnostic("type-mismatch", span, message, help)


def not_ordered(span: Span, operator: str, type: Type, help: str | None = None) -> Diagnostic:
    """`<` of what has no order, such as text."""
    return diagnostic(
        "type-mismatch", span, f"`{operator}` can't compare {with_article(type)}, which has no order", help
    )


def no_equality(span: Span, operator: str, type: Type, help: str | None) -> Diagnostic:
    """`==` of sets, lists or records."""
    return diagnostic("type-mismatch", span, f"`{operator}` can't compare {with_article(type)}", help)


def no_operation(span: Span, operator: str, left: Type, right: Type, help: str | None = None) -> Diagnostic:
    """An arithmetic operator between types that it has no meaning for."""
    code = "unit-mismatch" if is_measured_mismatch(left, right) else "type-mismatch"
    return diagnostic(
        code, span, f"`{operator}` has no meaning between {with_article(left)} and {with_article(right)}", help
    )


def no_negation(span: Span, type: Type) -> Diagnostic:
    """Unary minus of what is no number."""
    return diagnostic("type-mismatch", span, f"`-` has no meaning before {with_article(type)}")


def absent_unhandled(span: Span, path: bool) -> Diagnostic:
    """A `T?` where a `T` is wanted; `path` where `present(x)` would settle it."""
    text = quote(span)
    default = f"`{text} ?? …`"
    help = f"test `present({text}) and …` first, or give a default: {default}" if path else f"give a default: {default}"
    return diagnostic("absent-unhandled", span, f"`{text}` may be absent here", help)


def divisor_may_be_zero(span: Span, divisor: Span, path: bool) -> Diagnostic:
    """A quotient used as if it were always there."""
    text, below = quote(span), quote(divisor)
    guard = f"test `{below} != 0` first, or give" if path else "give"
    return diagnostic(
        "absent-unhandled",
        span,
        f"`{text}` is absent where `{below}` is zero",
        f"{guard} a default: `{text} ?? …`",
    )


def unknown_variant(span: Span, value: str, closed: t.Closed, known: Iterable[str]) -> Diagnostic:
    """A literal that is none of the listed values; `known` are those to suggest from."""
    near = nearest(value, known)
    help = f'did you mean `"{near}"`?' if near is not None else f"it is one of {_listed(closed.values, 12)}"
    return diagnostic("unknown-variant", span, f'`"{value}"` is none of the values that are possible here', help)


def day_not_whole(span: Span, help: str | None) -> Diagnostic:
    """A date moved by a constant that is not whole days."""
    return diagnostic("type-mismatch", span, f"a date moves by whole days, and `{quote(span)}` is none", help)


def not_whole_microseconds(span: Span) -> Diagnostic:
    """A duration finer than a microsecond."""
    return diagnostic("bad-literal", span, f"`{quote(span)}` is finer than a microsecond")


def metres_for_minutes(span: Span) -> Diagnostic:
    """`30m` where a length of time is wanted."""
    minutes = quote(span)[:-1] + "min"
    return diagnostic("unit-mismatch", span, f"`{quote(span)}` is no length of time", f"write `{minutes}`")


def mixed_dimensions(span: Span, first: str, second: str) -> Diagnostic:
    """`1h30m`: the parts of a quantity are of one dimension."""
    help = "for minutes write `min`" if {first, second} == {"duration", "length"} else None
    return diagnostic("unit-mismatch", span, f"`{quote(span)}` mixes `{first}` and `{second}`", help)


# --- calls ----------------------------------------------------------------------------------------------------------


def wrong_arguments(span: Span, name: str, wanted: int, given: int, usage: str) -> Diagnostic:
    """Too many or too few arguments; `usage` is the help that shows what the function takes."""
    number = f"{wanted} argument" + ("" if wanted == 1 else "s")
    return diagnostic(
        "wrong-arguments",
        span,
        f"`{name}` takes {number}, and {given} {'is' if given == 1 else 'are'} given",
        usage,
    )


def wrong_form(span: Span, name: str, usage: str) -> Diagnostic:
    """A comprehension's word called like a function, or with parts that it does not take."""
    return diagnostic("wrong-arguments", span, f"`{name}` is not used like this", f"write `{usage}`")


def expect_only(span: Span, name: str) -> Diagnostic:
    """`fires(r)` and its like outside a property's `expect`."""
    return diagnostic("type-mismatch", span, f"`{name}` is known only in the `expect` of a property")


def only_applies(span: Span, name: str, asked: str) -> Diagnostic:
    """`contribution(c)`, `fires(c)` of a constraint."""
    message = f"`{name}` is a constraint, of which `{asked}` says nothing"
    return diagnostic("type-mismatch", span, message, f"write `applies({name})`, or `feasible` for all constraints")


def batch_in_function(span: Span, name: str) -> Diagnostic:
    """`lowest(x)` where no option is scored."""
    return diagnostic("type-mismatch", span, f"`{name}` compares the options being scored, and there are none here")


def batch_in_loop(span: Span, name: str) -> Diagnostic:
    """`lowest(x)` within a comprehension, whose variable is no part of any option."""
    return diagnostic("type-mismatch", span, f"`{name}` compares options, and can't stand in a comprehension")


def tolerance_not_positive(span: Span) -> Diagnostic:
    """`near(x, target, 0)`."""
    return diagnostic("out-of-range", span, f"the tolerance `{quote(span)}` must be more than zero")


def share_out_of_range(span: Span) -> Diagnostic:
    """`frequent(…, 150%)`."""
    return diagnostic("out-of-range", span, f"the share `{quote(span)}` must lie between 0% and 100%")


def nested_too_deep(span: Span, cap: int) -> Diagnostic:
    """Comprehensions within comprehensions cost the product of their lengths."""
    return diagnostic("too-deep", span, f"at most {cap} comprehensions may stand within one another, defs included")


# --- constants and ranges -------------------------------------------------------------------------------------------


def not_constant(span: Span, in_let: bool = False) -> Diagnostic:
    """An option, context or memory where only a constant can stand."""
    help = "a constant uses literals and lets" + ("; for more write a `def`" if in_let else "")
    return diagnostic("not-constant", span, f"`{quote(span)}` is not constant", help)


def element_not_constant(span: Span) -> Diagnostic:
    """A set literal lists constants."""
    help = f"join comparisons by `or`, as in `x == {quote(span)} or …`"
    return diagnostic("not-constant", span, f"`{quote(span)}` is not constant, and a set lists constants", help)


def int_out_of_range(span: Span) -> Diagnostic:
    """A literal, or a constant result, outside 64 bits."""
    return diagnostic("out-of-range", span, f"`{quote(span)}` does not fit into 64 bits")


def constant_out_of_range(span: Span) -> Diagnostic:
    """A constant whose value leaves its type."""
    return diagnostic("out-of-range", span, f"the value of `{quote(span)}` is too large")


def range_misplaced(span: Span, name: str | None = None) -> Diagnostic:
    """A range, or a let that is one, where a value is wanted."""
    what = f"`{name}` is a range, which" if name is not None else "a range"
    return diagnostic("type-mismatch", span, f"{what} can stand only after `in` or `valid`, or as a `let`")


def weekday_range(span: Span, replacement: str | None) -> Diagnostic:
    """`mon..fri`: does it hold Friday?"""
    help = f"write `{replacement}`" if replacement is not None else "write both ends, as in `mon..=fri`"
    return diagnostic("type-mismatch", span, "a range of weekdays says both its ends, with `..=`", help)


def empty_range(span: Span, same: bool, help: str | None) -> Diagnostic:
    """A range of constants that nothing lies in."""
    why = "its start is its end" if same else "it ends before it begins"
    return diagnostic("empty-range", span, f"nothing lies in `{quote(span)}`: {why}", help)


def exclusive_end(span: Span, replacement: str) -> Diagnostic:
    """`..` between dates leaves out the last day, which is seldom meant."""
    return diagnostic(
        "exclusive-end",
        span,
        f"`{quote(span)}` leaves out its last day",
        f"write `{replacement}` to keep it in",
    )


# --- what is allowed, and seldom meant ------------------------------------------------------------------------------


def float_equality(span: Span, operator: str, replacement: str | None) -> Diagnostic:
    """`==` of a float that may differ in its last digit; `replacement` tests for a range around a number."""
    help = "compare with a range around the value, or by `near`" if replacement is None else f"write `{replacement}`"
    return diagnostic("float-equality", span, f"`{operator}` between floats depends on their last digit", help)


def ambiguous_night(span: Span, help: str) -> Diagnostic:
    """A night runs into the next day, the weekday beside it does not."""
    return diagnostic(
        "ambiguous-night",
        span,
        f"after midnight `{quote(span)}` is about the next day, not about the day on which the night began",
        help,
    )


def default_unused(span: Span, value: Span, here: bool) -> Diagnostic:
    """`x ?? d` where x is always there, or known to be there `here`."""
    return diagnostic("unreachable", span, f"`{quote(value)}` is {_there(here)}, so its default is not used")


def always_present(span: Span, here: bool) -> Diagnostic:
    """`present(x)` where x is always there, or known to be there `here`."""
    return diagnostic("unreachable", span, f"`{quote(span)}` is {_there(here)}, so testing for it says nothing")


def _there(here: bool) -> str:
    return "known to be present here" if here else "never absent"
