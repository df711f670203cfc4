"""What is known at a place: which paths are present, and which names are not zero (LANGUAGE §5 on `/`, §6).

In: typed conditions. Out: the `Facts` that hold where a condition does, and where it does not. Facts combine as the
logic does, as in the occurrence typing of Tobin-Hochstadt and Felleisen (“Logical Types for Untyped Languages”, 2010),
restricted to two kinds of atom so that a type never depends on how clever the checker is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ucl.semantics import program as p
from ucl.semantics import types as t

# A path by what it means, such as ("option", "host", "age") or ("variable", "t", "stars"); never by where it stands.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Paths that are present, paths that are not zero; `impossible` where the place can't be reached at all."""

    present: frozenset[Path] = frozenset()
    nonzero: frozenset[Path] = frozenset()
    impossible: bool = False

    def __or__(self, other: Facts) -> Facts:
        """Both hold."""
        if self is other or other is NO_FACTS or self.impossible:
            return self
        if self is NO_FACTS or other.impossible:
            return other
        return Facts(self.present | other.present, self.nonzero | other.nonzero)

    def __and__(self, other: Facts) -> Facts:
        """One of the two holds: what both say."""
        if self is other or other.impossible:
            return self
        if self.impossible:
            return other
        present, nonzero = self.present & other.present, self.nonzero & other.nonzero
        return Facts(present, nonzero) if present or nonzero else NO_FACTS

    def knows_present(self, path: Path | None) -> bool:
        return self.impossible or (path is not None and path in self.present)

    def knows_nonzero(self, path: Path | None) -> bool:
        return self.impossible or (path is not None and path in self.nonzero)


NO_FACTS = Facts()
IMPOSSIBLE = Facts(impossible=True)

_NUMBER_LIKE = (t.Int, t.Float, t.Quantity, t.Duration)


def path_of(expr: p.Expr) -> Path | None:
    """The path that an expression is, or None where it is computed."""
    match expr:
        case p.OptionValue(path=path):
            return ("option", *path)
        case p.ContextValue(path=path):
            return ("context", *path)
        case p.MemoryValue(name=name):
            return ("memory", name)
        case p.Variable(name=name):
            return ("variable", name)
        case p.Member(record=record, name=name):
            owner = path_of(record)
            return None if owner is None else (*owner, name)
        case _:
            return None


def known_if(expr: p.Expr, holds: bool) -> Facts:
    """What is known where the condition has the value `holds`."""
    match expr:
        case p.Compare() | p.InRange() | p.InSet():
            return _known_of_zero(expr, holds)
        case p.Not(operand=operand):
            return known_if(operand, not holds)
        case p.And(operands=operands):
            return _all_of(operands, True) if holds else _first_of(operands, False)
        case p.Or(operands=operands):
            return _first_of(operands, True) if holds else _all_of(operands, False)
        case p.Present(value=value):
            path = path_of(value)
            return Facts(present=frozenset((path,))) if holds and path is not None else NO_FACTS
        case p.If(condition=condition, then=then, otherwise=otherwise):
            first = known_if(condition, True) | known_if(then, holds)
            return first & (known_if(condition, False) | known_if(otherwise, holds))
        case p.Const(value=bool(value)):
            return NO_FACTS if value is holds else IMPOSSIBLE
        case _:
            return NO_FACTS


def _all_of(operands: Iterable[p.Expr], holds: bool) -> Facts:
    """Every operand has the value `holds`."""
    facts = NO_FACTS
    for operand in operands:
        facts = facts | known_if(operand, holds)
    return facts


def _first_of(operands: Iterable[p.Expr], holds: bool) -> Facts:
    """Some operand is the first with the value `holds`; those before it have the other."""
    before, some = NO_FACTS, IMPOSSIBLE
    for operand in operands:
        some = some & (before | known_if(operand, holds))
        before = before | known_if(operand, not holds)
    return some


def _known_of_zero(test: p.Compare | p.InRange | p.InSet, holds: bool) -> Facts:
    """A name is not zero where a test of it against constants says otherwise of zero."""
    tested, at_zero = _at_zero(test)
    if at_zero is None or at_zero is holds:
        return NO_FACTS
    path = path_of(tested)
    return NO_FACTS if path is None else Facts(nonzero=frozenset((path,)))


def _at_zero(test: p.Compare | p.InRange | p.InSet) -> tuple[p.Expr, bool | None]:
    """What is tested, and what the test says where that is zero (None: no test of a number against constants)."""
    if isinstance(test, p.Compare):
        if isinstance(test.right, p.Const):
            return test.left, _compare(test.operator, 0, _number(test.right))
        if isinstance(test.left, p.Const):
            return test.right, _compare(test.operator, _number(test.left), 0)
        return test.left, None
    if not isinstance(test.value.type, _NUMBER_LIKE):
        return test.value, None
    if isinstance(test, p.InRange):
        return test.value, zero_in_range(test.low, test.high, test.inclusive)
    elements = test.container.value if isinstance(test.container, p.Const) else None
    return test.value, 0 in elements if isinstance(elements, frozenset) else None


def zero_in_range(low: p.Expr | None, high: p.Expr | None, inclusive: bool) -> bool | None:
    """Whether zero lies in the range; None where an end is not a constant."""
    if not all(end is None or isinstance(end, p.Const) for end in (low, high)):
        return None
    from_zero = low is None or _compare("<=", _number(low), 0)
    to_zero = high is None or _compare("<=" if inclusive else "<", 0, _number(high))
    return None if from_zero is None or to_zero is None else from_zero and to_zero


def _number(expr: p.Expr | None) -> p.Value:
    return expr.value if isinstance(expr, p.Const) and isinstance(expr.type, _NUMBER_LIKE) else None


def _compare(operator: str, left: p.Value, right: p.Value) -> bool | None:
    """Of two numbers; None of anything else."""
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right
