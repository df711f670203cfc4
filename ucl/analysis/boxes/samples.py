"""Texts and sets that tell a program's tests apart.

In: all tests that a program makes of one text or set field. Out: values, the most natural first, so that each way in
which the tests can turn out together is shown by one of them. Texts are put together from the pieces that the tests
look for: alone, in pairs, joined with and without overlap, in other cases, of other lengths; sets from the elements
that are named and a few that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any

from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.builtins import Signature
from ucl.semantics.operations import like_pieces
from ucl.semantics.parts import children
from ucl.semantics.program import Expr

_MOST = 20_000
_MOST_MEMBERS = 5_000_000  # of all sets together
_ALL_SUBSETS = 7  # pieces (or elements) of which every choice is tried; of more, every pair

_PEOPLE = ("alex", "sam", "kim", "lee", "robin", "pat", "jo", "max", "eli", "ira", "noa", "uma")
# Letters that some folding makes one.
_FOLDED_ALIKE = (("ss", "ß"), ("s", "ſ"), ("σ", "ς"), ("ς", "σ"))
_FILLERS = (" and ", " ", "-", "~", "_", "|", "…")


def _parts(exprs: Iterable[Expr]) -> Iterator[Expr]:
    work = list(exprs)
    while work:
        part = work.pop()
        yield part
        work.extend(children(part))


# --- texts ----------------------------------------------------------------------------------------------------------


def texts(tests: Sequence[Expr], usual: str) -> list[str]:
    """`usual` is what the field holds where nothing is asked of it."""
    whole, starts, inside, ends, lengths = _pieces(tests)
    folded = any(isinstance(part, p.Apply) and part.signature.op in ("lower", "casefold") for part in _parts(tests))
    patterns = {*starts, *inside, *ends}
    found = dict.fromkeys([usual, *(text for text in whole if text not in patterns)])
    pieces = [*((s, "", "") for s in starts), *(("", i, "") for i in inside), *(("", "", e) for e in ends)]
    for chosen in _choices(pieces):
        for text in _put_together(chosen, usual):
            found[text] = None
        if len(found) > _MOST:
            break
    found |= dict.fromkeys([*whole, ""])
    if folded:
        alike = [text.replace(*letters) for text in list(found)[:_MOST] for letters in _FOLDED_ALIKE]
        found |= dict.fromkeys(alike)
        found |= dict.fromkeys(variant for text in list(found)[:_MOST] for variant in _cases(text, [*starts, *ends]))
    for length in sorted(lengths):
        for text in list(found)[: _MOST // max(1, len(lengths))]:
            found |= dict.fromkeys(_of_length(text, length, starts, ends))
    return list(islice(found, 4 * _MOST))


def _pieces(tests: Sequence[Expr]) -> tuple[list[str], list[str], list[str], list[str], set[int]]:
    whole: dict[str, None] = {}
    starts: dict[str, None] = {}
    inside: dict[str, None] = {}
    ends: dict[str, None] = {}
    lengths: set[int] = set()
    for part in _parts(tests):
        match part:
            case p.Const(value=str() as text):
                whole[text] = None
            case p.Const(value=frozenset() as members):
                whole |= dict.fromkeys(sorted(m for m in members if isinstance(m, str)))
            case p.Const(value=int() as number) if not isinstance(part.value, bool):
                lengths |= {n for n in (number - 1, number, number + 1) if 0 <= n <= 10_000}
            case p.Apply(signature=Signature(op=op), arguments=(_, p.Const(value=str() as text))):
                target = {"starts_with": starts, "ends_with": ends, "contains": inside}.get(op)
                if target is not None:
                    target[text] = None
                elif op == "like":
                    first, *middle = like_pieces(text)
                    if middle:
                        whole[first + " ".join(middle)] = None
                        starts[first] = None
                        ends[middle[-1]] = None
                        inside |= dict.fromkeys([*middle[:-1], "".join(middle[:-1])])
                    else:
                        whole[first] = None
    for known in (starts, inside, ends):
        known.pop("", None)
    return sorted(whole), sorted(starts), sorted(inside), sorted(ends), lengths


def _choices(pieces: Sequence[tuple[str, str, str]]) -> Iterator[tuple[tuple[str, str, str], ...]]:
    most = len(pieces) if len(pieces) <= _ALL_SUBSETS else 2
    for size in range(1, most + 1):
        yield from combinations(pieces, size)


def _put_together(chosen: Sequence[tuple[str, str, str]], usual: str) -> Iterator[str]:
    """Texts that begin, contain and end as asked, with something between and with nothing."""
    starts = [start for start, _, _ in chosen if start]
    inside = [piece for _, piece, _ in chosen if piece]
    ends = [end for _, _, end in chosen if end]
    start = max(starts, key=len, default="")
    end = max(ends, key=len, default="")
    kept = [piece for piece in inside if not any(piece != other and piece in other for other in inside)]
    everything = start + "".join(kept) + end
    filler = next((f for f in _FILLERS if f not in everything), "·")
    orders = [kept, kept[::-1]] if len(kept) > 1 else [kept]
    for order in orders:
        if not start and not end:
            yield filler.join(order)
        middle = filler.join(order) if order else ""
        stem = usual if not start and not middle else ""
        yield filler.join(part for part in (start, middle) if part) + stem + end
        yield filler.join(part for part in (start, middle, end) if part)
        yield filler.join(part for part in (start or usual, middle, end or usual) if part)
        yield _overlapped([part for part in (start, *order, end) if part])
        yield "".join(part for part in (start, *order, end) if part)


def _overlapped(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        if part in text:
            continue
        shared = next(n for n in range(min(len(text), len(part)), -1, -1) if text.endswith(part[:n]))
        text += part[shared:]
    return text


def _cases(text: str, pieces: Iterable[str]) -> Iterator[str]:
    yield from (text.upper(), text.capitalize(), text.title(), text.lower(), text.swapcase())
    for piece in pieces:
        if text[: len(piece)].lower() == piece.lower():
            yield piece + text[len(piece) :]
        if text[len(text) - len(piece) :].lower() == piece.lower():
            yield text[: len(text) - len(piece)] + piece


def _of_length(text: str, length: int, starts: Sequence[str], ends: Sequence[str]) -> Iterator[str]:
    """The same text cut or stretched, at its end or before the end that matters."""
    if len(text) >= length:
        yield text[:length]
        yield text[len(text) - length :]
        return
    more = (" and so on" * (1 + length // 10))[: length - len(text)]
    yield text + more
    yield more + text
    for start in starts:
        if text.startswith(start):
            yield start + more + text[len(start) :]


# --- sets -----------------------------------------------------------------------------------------------------------


def sets(tests: Sequence[Expr], element: t.Type, usual: frozenset[Any]) -> list[frozenset[Any]]:
    """Elements that every test treats alike stand for one another."""
    groups, sizes = _alike(tests, element)
    others = _others(element, {member for group in groups for member in group}, max(2, *sizes, 0))
    states: list[list[tuple[Any, ...]]] = []
    for group in groups:
        ways: list[tuple[Any, ...]] = [(), group[:1]]
        if len(group) > 1:
            ways.append(group)
        if len(group) > 2:
            ways.append(group[:2])
        states.append(ways)
    found = dict.fromkeys([usual, frozenset()])
    written = 0
    if len(groups) <= _ALL_SUBSETS:
        chosen: Iterable[tuple[tuple[Any, ...], ...]] = product(*states)
    else:
        chosen = _few_at_once(states)
    for choice in islice(chosen, _MOST):
        members = [member for part in choice for member in part]
        for strangers in sorted({0, 1, *(n - len(members) for n in sizes)}):
            if 0 <= strangers <= len(others):
                found[frozenset([*members, *others[:strangers]])] = None
        written += len(sizes) * max(sizes, default=0)
        if written > _MOST_MEMBERS:
            break
    return list(found)


def _few_at_once(states: Sequence[Sequence[tuple[Any, ...]]]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """None, all, all but one, and every choice of up to two groups."""
    whole = [ways[min(2, len(ways) - 1)] for ways in states]
    yield tuple(whole)
    for i in range(len(states)):
        yield (*whole[:i], (), *whole[i + 1 :])
    for size in (1, 2):
        for places in combinations(range(len(states)), size):
            yield from product(*(states[i][1:] for i in places))


def _alike(tests: Sequence[Expr], element: t.Type) -> tuple[list[tuple[Any, ...]], set[int]]:
    """The named elements in groups that stand in the same constants, and the sizes that matter."""
    constants: list[frozenset[Any]] = []
    sizes: set[int] = set()
    for part in _parts(tests):
        match part:
            case p.InSet(value=p.Const(value=value)):
                constants.append(frozenset([value]))
            case p.Const(value=frozenset() as members):
                constants.append(members)
            case (
                p.Compare(left=p.Apply(), right=p.Const(value=int() as number))
                | p.Compare(left=p.Const(value=int() as number), right=p.Apply())
            ):
                sizes |= {number - 1, number, number + 1}
            case p.InRange(value=p.Apply(), low=low, high=high):
                ends = [end.value for end in (low, high) if isinstance(end, p.Const)]
                sizes |= {int(end) + d for end in ends if isinstance(end, int) for d in (-1, 0, 1)}
    by_signature: dict[tuple[bool, ...], list[Any]] = {}
    for member in sorted({member for constant in constants for member in constant}):
        by_signature.setdefault(tuple(member in constant for constant in constants), []).append(member)
    return [tuple(group) for group in by_signature.values()], {n for n in sizes if n >= 0}


def _others(element: t.Type, named: set[Any], wanted: int) -> list[Any]:
    """Elements that no test names, as many as there are of those wanted."""
    pool: Iterable[Any]
    match element:
        case t.Closed(values):
            pool = values
        case t.Weekday():
            pool = range(7)
        case t.Int():
            pool = range(1, wanted + len(named) + 1)
        case t.Date():
            pool = range(20_515, 20_515 + wanted + len(named) + 1)
        case _:
            mail = any("@" in str(name) for name in named)
            names = [*_PEOPLE, *(f"guest{n}" for n in range(1, wanted + len(named) + 1))]
            pool = [f"{name}@example.com" if mail else name for name in names]
    return [member for member in pool if member not in named][:wanted]


def usual_text(name: str) -> str:
    """What a text field of that name may hold where nothing is asked of it."""
    word = name.lower()
    if "mail" in word or word in ("sender", "recipient", "organizer", "organiser"):
        return "alex@example.com"
    if any(part in word for part in ("name", "who", "person", "owner", "author", "guest", "driver", "host")):
        return "Alex"
    if any(part in word for part in ("city", "place", "town", "location", "from", "to_", "origin", "destination")):
        return "Rome"
    return "something"
