"""What could have been written instead, in one place of a condition: range ends, comparisons, `and`, `or`, `not`, sets.

In: an expression of the tree. Out: an `Edit` for each small mistake that somebody might make in it, the outermost
first. Which of them are worth anything is for the checker and the tests to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from ucl.diagnostics import Source, Span
from ucl.frozen import frozen
from ucl.syntax import ast
from ucl.syntax.layout.documents import render
from ucl.syntax.layout.expressions import Printer
from ucl.syntax.layout.trail import Trail
from ucl.testing.mutants.steps import below_and_above, is_counted, neighbours

N = TypeVar("N")
Meaning = Callable[[ast.Expr], ast.Expr | None]
"""The range or set that an imported name stands for; None for any other expression."""

_MOST_ELEMENTS = 8
_MOST_SHOWN = 60
_TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


class Kind(StrEnum):
    """The mistakes that are made on purpose."""

    END = "range-end"
    OPEN = "open-end"
    COMPARISON = "comparison"
    VALUE = "value"
    LOGIC = "logic"
    NEGATION = "negation"
    ELEMENT = "element"
    UNLESS = "unless"
    EXCEPT = "except"
    SIGN = "sign"
    WEIGHT = "weight"
    OVERRIDE = "override"
    STATUS = "status"
    RESOLUTION = "resolution"


@frozen
class Edit(Generic[N]):
    """`said` is what is otherwise, in words; `make` gives the node as it is then."""

    kind: Kind
    said: str
    span: Span
    make: Callable[[], N]


def edits(expr: ast.Expr, meaning: Meaning) -> Iterator[Edit[ast.Expr]]:
    """Each is the whole expression with one place otherwise."""
    yield from _here(expr, meaning)
    for place, part in _parts(expr):
        for edit in edits(part, meaning):
            yield Edit(edit.kind, edit.said, edit.span, _inside(expr, place, edit))


Place = tuple[str, int | None]


def _parts(node: Any) -> Iterator[tuple[Place, ast.Expr]]:
    """The expressions directly inside, and in which field, at which number, they stand."""
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, ast.Expr):
            yield (field.name, None), value
        elif isinstance(value, tuple):
            yield from (((field.name, number), part) for number, part in enumerate(value) if isinstance(part, ast.Expr))


def _inside(node: Any, place: Place, edit: Edit[ast.Expr]) -> Callable[[], ast.Expr]:
    name, number = place

    def make() -> ast.Expr:
        part: Any = edit.make()
        if number is not None:
            parts = getattr(node, name)
            part = (*parts[:number], part, *parts[number + 1 :])
        made: ast.Expr = replace(node, **{name: part})
        return made

    return make


def names_in(expr: ast.Expr) -> Iterator[str]:
    """The names that an expression speaks of."""
    if isinstance(expr, ast.Name):
        yield expr.text
    for _, part in _parts(expr):
        yield from names_in(part)


# --- one node -------------------------------------------------------------------------------------------------------


def _here(expr: ast.Expr, meaning: Meaning) -> Iterator[Edit[ast.Expr]]:
    match expr:
        case ast.Range():
            yield from _range(expr)
        case ast.In(container=container, negated=negated):
            if negated:
                yield _one(Kind.NEGATION, f"`{written(expr)}` without its `not`", expr, replace(expr, negated=False))
            stands_for = meaning(container)
            if stands_for is not None:
                for edit in _here(stands_for, meaning):
                    said = f"{edit.said}, in place of `{written(container)}`"
                    yield Edit(edit.kind, said, container.span, _inside(expr, ("container", None), edit))
        case ast.Compare():
            yield from _comparison(expr)
        case ast.And(operands=operands):
            yield _one(Kind.LOGIC, f"`or` for `and` in `{written(expr)}`", expr, ast.Or(expr.span, operands))
        case ast.Or(operands=operands):
            yield _one(Kind.LOGIC, f"`and` for `or` in `{written(expr)}`", expr, ast.And(expr.span, operands))
        case ast.Not(operand=operand):
            yield _one(Kind.NEGATION, f"`{written(expr)}` without its `not`", expr, operand)
        case ast.SetLiteral(elements=elements) if len(elements) > 1:
            yield from (_dropped(expr, number) for number in _spread(len(elements)))
        case _:
            return


def _one(kind: Kind, said: str, at: ast.Expr, made: ast.Expr) -> Edit[ast.Expr]:
    return Edit(kind, said, at.span, lambda: made)


def _range(expr: ast.Range) -> Iterator[Edit[ast.Expr]]:
    """Ends moved by a step, both ways, and the last one left out or kept in."""
    if expr.low is not None:
        for start in neighbours(expr.low):
            said = f"range start {written(expr.low)} moved to {written(start)}"
            yield _one(Kind.END, said, expr.low, replace(expr, low=start))
    if expr.high is None:
        return
    opens = not isinstance(expr.high, ast.WeekdayLiteral)
    # Of days and whole numbers, keeping the end in is moving it by one.
    same = int(not expr.inclusive) if is_counted(expr.high) and opens else None
    for direction, moved in enumerate(below_and_above(expr.high)):
        if moved is not None and direction != same:
            said = f"range end {written(expr.high)} moved to {written(moved)}"
            yield _one(Kind.END, said, expr.high, replace(expr, high=moved))
    if opens:
        turned = replace(expr, inclusive=not expr.inclusive)
        yield _one(Kind.OPEN, f"`{written(expr)}` made `{written(turned)}`", expr, turned)


def _comparison(expr: ast.Compare) -> Iterator[Edit[ast.Expr]]:
    turned = replace(expr, operator=_TURNED[expr.operator])
    yield _one(Kind.COMPARISON, f"`{written(expr)}` turned to `{written(turned)}`", expr, turned)
    same = {"<": 1, "<=": 0, ">": 0, ">=": 1}.get(expr.operator) if is_counted(expr.right) else None
    for direction, moved in enumerate(below_and_above(expr.right)):
        if moved is not None and direction != same:
            made = replace(expr, right=moved)
            yield _one(Kind.VALUE, f"`{written(expr)}` made `{written(made)}`", expr.right, made)


def _dropped(expr: ast.SetLiteral, number: int) -> Edit[ast.Expr]:
    gone = expr.elements[number]

    def make() -> ast.Expr:
        return replace(expr, elements=(*expr.elements[:number], *expr.elements[number + 1 :]))

    return Edit(Kind.ELEMENT, f"{written(gone)} left out of a set", gone.span, make)


def _spread(count: int) -> Sequence[int]:
    """So many places, evenly from the first to the last: what holds for one element of a long list holds for its
    neighbours."""
    if count <= _MOST_ELEMENTS:
        return range(count)
    return [round(n * (count - 1) / (_MOST_ELEMENTS - 1)) for n in range(_MOST_ELEMENTS)]


# --- in words -------------------------------------------------------------------------------------------------------


def written(expr: ast.Expr) -> str:
    """An expression as `fmt` has it, on one line, and shortened where it is long."""
    nowhere = Trail(ast.File(Source("", ""), ()))
    text = " ".join(render(Printer(nowhere.stretch(0, 0)).expression(expr), _MOST_SHOWN + 20).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
