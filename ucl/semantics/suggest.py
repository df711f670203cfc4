"""“Did you mean”: the nearest of the names that are known.

In: what was written and what there is. Out: the one name that is near enough to be meant, or None. Everything that
suggests a name (fields, units, variants, modules, commands) asks here, so that all suggest alike.
"""

from __future__ import annotations

from collections.abc import Iterable

# Of very many names only the first are looked at, so that a message costs bounded time.
_MOST_CANDIDATES = 20_000
_LONGEST_NAME = 64


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name with the least edit distance, at most a third of the length; the first of equals.

    One edit is always near, but not for a single letter; a name that differs in case alone is the nearest of all.
    """
    if not written or len(written) > _LONGEST_NAME:
        return None
    best: str | None = None
    cap = max(1, len(written) // 3) if len(written) > 1 else 0
    folded = written.casefold()
    for count, name in enumerate(known):
        if count >= _MOST_CANDIDATES:
            break
        if name == written:
            continue
        distance = 0 if name.casefold() == folded else edit_distance(written, name, cap)
        if distance <= cap:
            best, cap = name, distance - 1
        if cap < 0:
            break
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
