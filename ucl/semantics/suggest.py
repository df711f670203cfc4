"""“Did you mean”: the nearest of the names that are known.

In: what was written and what there is. Out: the one name that is near enough to be meant, or None. Everything that
suggests a name (fields, units, variants, modules, commands) asks here, so that all suggest alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

# Of very many names only the first are looked at, and fewer compared, so that a message costs bounded time.
_MOST_CANDIDATES = 20_000
_MOST_COMPARED = 2_000
_LONGEST_NAME = 64


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name with the least edit distance, at most a third of the length; the first of equals.

    One edit is always near, but not for a single letter; a name that differs in case alone is the nearest of all.
    """
    if not written or len(written) > _LONGEST_NAME:
        return None
    best: str | None = None
    cap = max(1, len(written) // 3) if len(written) > 1 else 0
    folded, letters = written.casefold(), set(written)
    compared = 0
    for name in islice(known, _MOST_CANDIDATES):
        if name == written:
            continue
        if name.casefold() == folded:
            return name
        # An edit changes at most two letters of those that only one of the names has.
        if cap == 0 or compared > _MOST_COMPARED or len(letters ^ set(name)) > 2 * cap:
            continue
        compared += 1
        distance = edit_distance(written, name, cap)
        if distance <= cap:
            best, cap = name, distance - 1
    return best


def edit_distance(a: str, b: str, cap: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`; `cap + 1` where it is more."""
    if abs(len(a) - len(b)) > cap:
        return cap + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > cap:
            return cap + 1
    return min(row[-1], cap + 1)
