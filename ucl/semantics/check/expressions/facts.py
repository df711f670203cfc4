"""What is known at a place: which paths are present, and which names are not zero (LANGUAGE §5 on `/`, §6).

In: typed conditions. Out: their `Outlook`, the `Facts` that hold where a condition does and where it does not.
Facts combine as the logic does, as in the occurrence typing of Tobin-Hochstadt and Felleisen (“Logical Types for
Untyped Languages”, 2010), restricted to two kinds of atom so that a type never depends on how clever the checker is.
At most places nobody asks, and what is known there is never worked out (`FactsAfter`).
"""

from __future__ import annotations

from collections.abc import Iterable

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics import types as t

# A path by what it means, such as ("option", "host", "age") or ("variable", "t", "stars"); never by where it stands.
Path = tuple[str, ...]
# Beyond so many, nothing more is learnt at one place: what is learnt one by one costs the square of its number.
MOST_FACTS = 5000


@frozen
class Facts:
    """Paths that are present, paths that are not zero; `impossible` where the place can't be reached at all."""

    present: frozenset[Path] = frozenset()
    nonzero: frozenset[Path] = frozenset()
    impossible: bool = False

    @property
    def facts(self) -> Facts:
        return self

    def __or__(self, other: Facts) -> Facts:
        """Both hold."""
        if self is other or other is NO_FACTS or self.impossible:
            return self
        if self is NO_FACTS or other.impossible:
            return other
        if len(self.present) + len(self.nonzero) > MOST_FACTS:
            return self
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


@frozen
class Outlook:
    """What is known where a condition holds, and where it does not."""

    when_true: Facts
    when_false: Facts


SAYS_NOTHING = Outlook(NO_FACTS, NO_FACTS)
# Outlooks of conditions by identity, with the condition, so that the identity stays its own.
Memo = dict[int, tuple[p.Expr, Outlook]]


def outlook(expr: p.Expr, memo: Memo | None = None) -> Outlook:
    """What a condition lets others know. Both sides are found in one go, since each needs both of its parts."""
    match expr:
        case p.InRange(value=value) | p.InSet(value=value) if not isinstance(value.type, _NUMBER_LIKE):
            return SAYS_NOTHING
        case p.Present(value=value):
            path = path_of(value)
            return SAYS_NOTHING if path is None else Outlook(Facts(present=frozenset((path,))), NO_FACTS)
        case p.Const(value=bool(value)):
            return Outlook(NO_FACTS, IMPOSSIBLE) if value else Outlook(IMPOSSIBLE, NO_FACTS)
        case p.Not(operand=operand):
            inner = outlook(operand, memo)
            return Outlook(inner.when_false, inner.when_true)
        case p.InRange() | p.InSet() | p.Compare() | p.And() | p.Or() | p.If():
            memo = {} if memo is None else memo
            known = memo.get(id(expr))
            if known is None:
                known = memo[id(expr)] = (expr, _of_parts(expr, memo))
            return known[1]
        case _:
            return SAYS_NOTHING


class FactsAfter:
    """The facts that held before a condition, and those that hold as it turned out: worked out when first asked for."""

    __slots__ = ("_before", "_condition", "_found", "_holds", "_memo")

    def __init__(self, before: Known, condition: p.Expr, holds: bool, memo: Memo) -> None:
        self._before = before
        self._condition = condition
        self._holds = holds
        self._memo = memo
        self._found: Facts | None = None

    @property
    def facts(self) -> Facts:
        if self._found is None:
            # A long `and` makes a long chain of these, so it is followed without recursion.
            chain: list[FactsAfter] = []
            here: Known = self
            while isinstance(here, FactsAfter) and here._found is None:
                chain.append(here)
                here = here._before
            found = here.facts
            for link in reversed(chain):
                said = outlook(link._condition, link._memo)
                found = link._found = found | (said.when_true if link._holds else said.when_false)
        assert self._found is not None
        return self._found


Known = Facts | FactsAfter


def _of_parts(expr: p.Compare | p.InRange | p.InSet | p.And | p.Or | p.If, memo: Memo) -> Outlook:
    match expr:
        case p.Compare() | p.InRange() | p.InSet():
            return _of_zero(expr)
        case p.And(operands=operands) | p.Or(operands=operands):
            outlooks = [outlook(operand, memo) for operand in operands]
            if all(found is SAYS_NOTHING for found in outlooks):
                return SAYS_NOTHING
            if isinstance(expr, p.And):
                all_hold, one_fails = _in_turn(outlooks)
                return Outlook(all_hold, one_fails)
            all_fail, one_holds = _in_turn([Outlook(o.when_false, o.when_true) for o in outlooks])
            return Outlook(one_holds, all_fail)
        case p.If(condition=condition, then=then, otherwise=otherwise):
            test, first, second = (outlook(part, memo) for part in (condition, then, otherwise))
            return Outlook(
                (test.when_true | first.when_true) & (test.when_false | second.when_true),
                (test.when_true | first.when_false) & (test.when_false | second.when_false),
            )


def _in_turn(outlooks: Iterable[Outlook]) -> tuple[Facts, Facts]:
    """Of operands from left to right: what is known where all hold, and where one is the first that does not."""
    before, first_that_fails = NO_FACTS, IMPOSSIBLE
    for found in outlooks:
        first_that_fails = first_that_fails & (before | found.when_false)
        before = before | found.when_true
    return before, first_that_fails


def _of_zero(test: p.Compare | p.InRange | p.InSet) -> Outlook:
    """A name is not zero where a test of it against constants says otherwise of zero. What is in a range or a set is a
    number."""
    tested, at_zero = _at_zero(test)
    path = None if at_zero is None else path_of(tested)
    if path is None:
        return SAYS_NOTHING
    nonzero = Facts(nonzero=frozenset((path,)))
    return Outlook(NO_FACTS, nonzero) if at_zero else Outlook(nonzero, NO_FACTS)


def _at_zero(test: p.Compare | p.InRange | p.InSet) -> tuple[p.Expr, bool | None]:
    """What is tested, and what the test says where that is zero (None: no test of a number against constants)."""
    if isinstance(test, p.Compare):
        if isinstance(test.right, p.Const):
            return test.left, _compare(test.operator, 0, _number(test.right))
        if isinstance(test.left, p.Const):
            return test.right, _compare(test.operator, _number(test.left), 0)
        return test.left, None
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
