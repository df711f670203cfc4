"""Answers that an input may give although no value of it was found for them.

In: everything that one input is asked, and the answers of its known values. Out: the answers that nothing rules out.
A cell for each of them makes an axis complete: a proof over all cells is one, whatever the input can be. No option is
made from such a cell.

Conditions are taken apart into tests. What two tests of one text say together is known where one piece is part of the
other: what contains "window seat" contains "seat", nothing begins both with "a" and with "b"; and of one number, what
lies below 3 lies below 4. All else is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ucl.analysis.cells.inputs import canonical
from ucl.frozen import frozen
from ucl.kernels.lowering.reads import may_overflow
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.operations import casefold, like_pieces, lower
from ucl.semantics.parts import children, mapped
from ucl.semantics.program import Expr
from ucl.semantics.types import BOOL

Answers = tuple[bool, ...]

# Past so many tests, steps or answers an axis stays as incomplete as it was.
_MOST_TESTS = 14
_MOST_STEPS = 20_000
_MOST_ANSWERS = 256
_OPPOSITE = {"!=": "==", ">": "<=", ">=": "<"}
_POSITIONS = ("contains", "starts_with", "ends_with")
_FOLDINGS: Mapping[str, Callable[[str], str]] = {"": str, "lower": lower, "casefold": casefold}


@frozen
class _Piece:
    """`op` of a text (after `folding`) and a constant piece."""

    op: str
    folding: str
    piece: str


@frozen
class _Below:
    """`of` lies below a constant, or is it where `within`."""

    of: object
    end: int | float
    within: bool


_Known = _Piece | _Below | None


def possible_answers(conditions: Sequence[Expr]) -> set[Answers] | None:
    """What the conditions can say together; None where that is too much to go through, or where one may overflow."""
    if any(may_overflow(condition) for condition in conditions):
        return None
    conditions = [_in_tests(condition) for condition in conditions]
    tests: dict[object, int] = {}
    for condition in conditions:
        for test in _tests(condition):
            tests.setdefault(canonical(test), len(tests))
    if len(tests) > _MOST_TESTS:
        return None
    known: list[_Known] = [None] * len(tests)
    for condition in conditions:
        for test in _tests(condition):
            known[tests[canonical(test)]] = _known(test)
    found: set[Answers] = set()
    for steps, told in enumerate(_told_together(known)):
        found.add(tuple(_says(condition, tests, told) for condition in conditions))
        if steps > _MOST_STEPS or len(found) > _MOST_ANSWERS:
            return None
    return found


def _in_tests(expr: Expr) -> Expr:
    """The same, with `in {…}` and `!=` of texts as equalities, so that each can be told from the others."""
    match expr:
        case p.And() | p.Or() | p.Not() | p.If():
            return mapped(expr, _in_tests)
        case p.InSet(value=value, container=p.Const(value=frozenset() as members)) if isinstance(value.type, t.Text):
            parts = [
                p.Compare(BOOL, expr.span, "==", value, p.Const(value.type, expr.span, member))
                for member in sorted(members, key=str)
            ]
            return p.Or(BOOL, expr.span, tuple(parts))
        case p.Compare(operator="!=" | ">" | ">=" as operator):
            return p.Not(BOOL, expr.span, replace(expr, operator=_OPPOSITE[operator]))
        case _:
            return expr


def _connects(expr: Expr) -> bool:
    return isinstance(expr, p.And | p.Or | p.Not | p.If)


def _tests(expr: Expr) -> Iterator[Expr]:
    if not _connects(expr):
        yield expr
        return
    for part in children(expr):
        yield from _tests(part)


def _says(expr: Expr, tests: dict[object, int], told: Sequence[bool]) -> bool:
    match expr:
        case p.And(operands=operands):
            return all(_says(part, tests, told) for part in operands)
        case p.Or(operands=operands):
            return any(_says(part, tests, told) for part in operands)
        case p.Not(operand=operand):
            return not _says(operand, tests, told)
        case p.If(condition=condition, then=then, otherwise=otherwise):
            return _says(then if _says(condition, tests, told) else otherwise, tests, told)
        case p.Const(value=value):
            return bool(value)
        case _:
            return told[tests[canonical(expr)]]


def _told_together(known: Sequence[_Known]) -> Iterator[Answers]:
    """Every way to answer the tests in which no two contradict one another."""
    work: list[Answers] = [()]
    while work:
        told = work.pop()
        if len(told) == len(known):
            yield told
            continue
        here = known[len(told)]
        for answer in (True, False):
            if all(
                _agree(test, before, here, answer) for test, before in zip(known, told, strict=False)
            ):  # the tests so far
                work.append((*told, answer))


def _agree(one: _Known, is_one: bool, other: _Known, is_other: bool) -> bool:
    if isinstance(one, _Below) and isinstance(other, _Below):
        return one.of != other.of or not _parted(*((one, other) if is_one else (other, one)), is_one, is_other)
    if not isinstance(one, _Piece) or not isinstance(other, _Piece):
        return True
    if one.folding != other.folding:
        return _whole_text_agrees(one, is_one, other, is_other) and _whole_text_agrees(other, is_other, one, is_one)
    if is_one and is_other:
        return not _exclude(one, other)
    if is_one != is_other:
        first, second = (one, other) if is_one else (other, one)
        return not _implies(first, second)
    return True


def _parted(below: _Below, above: _Below, is_one: bool, is_other: bool) -> bool:
    """Whether a number below the one end and not below the other can't be."""
    if is_one == is_other:
        return False
    return below.end < above.end or (below.end == above.end and (above.within or not below.within))


def _whole_text_agrees(one: _Piece, is_one: bool, other: _Piece, is_other: bool) -> bool:
    """Of two foldings: what a text is, if that is said, answers everything. Of pieces nothing follows, since what
    stands next to one may change how it folds."""
    if (one.op, one.folding) != ("equals", "") or not is_one:
        return True
    return _passes(_FOLDINGS[other.folding](one.piece), other) is is_other


def _implies(one: _Piece, other: _Piece) -> bool:
    """Whether every text for which the one holds passes the other."""
    match one.op, other.op:
        case "equals", _:
            return _passes(one.piece, other)
        case _, "contains":
            return other.piece in one.piece
        case "starts_with", "starts_with":
            return one.piece.startswith(other.piece)
        case "ends_with", "ends_with":
            return one.piece.endswith(other.piece)
        case _:
            return False


def _exclude(one: _Piece, other: _Piece) -> bool:
    """Whether no text passes both."""
    match one.op, other.op:
        case "equals", _:
            return not _passes(one.piece, other)
        case _, "equals":
            return not _passes(other.piece, one)
        case "starts_with", "starts_with":
            return not (one.piece.startswith(other.piece) or other.piece.startswith(one.piece))
        case "ends_with", "ends_with":
            return not (one.piece.endswith(other.piece) or other.piece.endswith(one.piece))
        case _:
            return False


def _passes(text: str, test: _Piece) -> bool:
    match test.op:
        case "equals":
            return text == test.piece
        case "contains":
            return test.piece in text
        case "starts_with":
            return text.startswith(test.piece)
        case _:
            return text.endswith(test.piece)


def _known(test: Expr) -> _Known:
    match test:
        case p.Compare(operator="<" | "<=" as operator, left=left, right=p.Const(value=int() | float() as end)):
            return _Below(canonical(left), end, operator == "<=")
        case p.Apply(signature=signature, arguments=(text, p.Const(value=str() as piece))):
            folding = _folding(text)
            if folding is None or signature.op not in (*_POSITIONS, "like"):
                return None
            return _Piece(signature.op, folding, piece) if signature.op in _POSITIONS else _like(folding, piece)
        case p.Compare(operator="==", left=text, right=p.Const(value=str() as piece)):
            folding = _folding(text)
            return None if folding is None else _Piece("equals", folding, piece)
        case _:
            return None


def _like(folding: str, pattern: str) -> _Piece | None:
    """None where it has several pieces."""
    match like_pieces(pattern):
        case [whole]:
            return _Piece("equals", folding, whole)
        case [start, ""] if start:
            return _Piece("starts_with", folding, start)
        case ["", end] if end:
            return _Piece("ends_with", folding, end)
        case ["", middle, ""]:
            return _Piece("contains", folding, middle)
        case _:
            return None


def _folding(text: Expr) -> str | None:
    """None where it is not simply the input, or the input folded."""
    if isinstance(text, p.OptionValue | p.ContextValue | p.MemoryValue):
        return ""
    match text:
        case p.Apply(signature=signature, arguments=(p.OptionValue() | p.ContextValue() | p.MemoryValue(),)):
            return signature.op if signature.op in ("lower", "casefold") else None
        case _:
            return None
