"""What two actions ask for of one effect, and where that differs.

In: actions. Out: pairs of calls, and formulas for where their arguments are not the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ucl.analysis.formulas.formula import FALSE, TRUE, Formula, some
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.scene.subjects import Subject
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.program import Action, EffectCall, Expr


def calls_of(action: Action, branch: int) -> tuple[EffectCall, ...]:
    return action.exceptions[branch].calls if branch < len(action.exceptions) else action.calls


def difference(a: EffectCall, b: EffectCall, reader: Reader) -> Formula:
    """Where two calls of one effect have different arguments."""
    pairs = zip(a.arguments, b.arguments, strict=True)
    return some(_unequal(left, right, reader) for left, right in pairs)


def _unequal(left: Expr, right: Expr, reader: Reader) -> Formula:
    if isinstance(left.type, t.Closed) or isinstance(right.type, t.Closed):
        same = isinstance(left, p.Const) and isinstance(right, p.Const)
        if same:
            assert isinstance(left, p.Const)
            assert isinstance(right, p.Const)
            return FALSE if left.value == right.value else TRUE
    return reader.different(left, right)


def pairs_of_calls(a: Subject, b: Subject) -> list[tuple[int, int, EffectCall, EffectCall]]:
    """What two actions may ask for of the same effect, by branch."""
    assert isinstance(a.declaration, Action)
    assert isinstance(b.declaration, Action)
    found = []
    for i in range(len(a.exceptions) + 1):
        for j in range(len(b.exceptions) + 1):
            for x in calls_of(a.declaration, i):
                for y in calls_of(b.declaration, j):
                    if x.effect.name == y.effect.name and not x.effect.many:
                        found.append((i, j, x, y))
    return found


def differences(actions: Sequence[Subject], reader: Reader) -> list[Formula]:
    found = []
    for place, a in enumerate(actions):
        for b in actions[place + 1 :]:
            found += [difference(x, y, reader) for _, _, x, y in pairs_of_calls(a, b)]
    return found
