"""Texts and sets: one for each way in which they can answer what they are asked.

In: what is asked. Out: values, and whether no way is missed.

A text that starts with, contains and ends with some pieces answers as they do joined by something that is in no piece:
each longest start, each longest end and each choice of contained pieces is tried. That covers all but lengths next to
pieces, pieces that must keep an order, and foldings mixed. A set answers by which of the named elements it holds, and
by whether it holds others: named elements that are always named together are one kind, of which it holds none, some or
all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

from ucl.analysis.cells.questions import Asked
from ucl.frozen import frozen
from ucl.semantics.operations import casefold, lower

NAMES = ("ann", "bo", "cy", "dee", "eve", "finn", "gus", "hal")
WORDS = ("a", "note", "home", "lunch", *NAMES)
_SEPARATORS = " -·_~|+=@#/;!?0123456789xyzq漢字"
_MOST_PIECES = 9
_MOST_SETS = 4096
_LONGEST = 10_000
_FOLDINGS: Mapping[str, Callable[[str], str]] = {"lower": lower, "casefold": casefold, "": str}


def texts_around(asked: Asked) -> tuple[set[str], bool]:
    """Texts for every way to answer; whether that is certain."""
    equal = {text for text in asked.points if isinstance(text, str)}
    pieces = asked.starts | asked.ends | asked.contains
    foldings = asked.foldings or {""}
    fold = _FOLDINGS[min(foldings)] if len(foldings) == 1 else casefold
    usable = {piece for piece in pieces if fold(piece) == piece and piece}
    separator = _separator([*usable, *equal], fold)
    found = {text for text in equal if fold(text) == text} | equal | {""}
    if separator is None or len(asked.contains & usable) > _MOST_PIECES:
        return found | set(WORDS[:2]) | pieces, False
    found |= set(_joined(asked, usable, separator))
    found |= set(_plain(equal, pieces))
    if asked.lengths:
        longest = max(asked.lengths) + 1
        found |= {
            separator * n for length in asked.lengths for n in (length - 1, length, length + 1) if 0 <= n <= _LONGEST
        }
        return found, not pieces and foldings == {""} and longest <= _LONGEST
    certain = len(foldings) == 1 and all(unicodedata.is_normalized("NFC", text) for text in found)
    return {text for text in found if unicodedata.is_normalized("NFC", text)}, certain


def _separator(known: Sequence[str], fold: Callable[[str], str]) -> str | None:
    used = set(chain.from_iterable(known))
    return next((c for c in _SEPARATORS if c not in used and fold(c) == c), None)


def _joined(asked: Asked, usable: set[str], separator: str) -> Iterator[str]:
    starts, ends, inner = (sorted(pieces & usable) for pieces in (asked.starts, asked.ends, asked.contains))
    for chosen in chain.from_iterable(combinations(inner, size) for size in range(len(inner) + 1)):
        yield separator.join(chosen)
        for start, end in product(["", *starts], ["", *ends]):
            yield start + separator + "".join(piece + separator for piece in chosen) + end


def _plain(equal: set[str], pieces: set[str]) -> Iterator[str]:
    """A word that people use and that has none of the pieces; each piece alone."""
    yield from pieces
    fresh = (word for word in WORDS if word not in equal and not any(piece in word for piece in pieces if piece))
    yield from (word for _, word in zip(range(2), fresh))


# --- sets -----------------------------------------------------------------------------------------------------------

Element = int | str
Holds = Callable[[Element], tuple[bool, ...]]


@frozen
class _Kind:
    """Elements that nothing asked tells apart; `named` are all of their kind, others have more like them."""

    elements: tuple[Element, ...]
    named: bool

    def choices(self) -> list[tuple[Element, ...]]:
        if not self.named or len(self.elements) == 1:
            return [(), self.elements[:1]]
        return [(), self.elements[:1], self.elements]


def sets_around(asked: Asked, others: Iterable[Element], holds: Holds) -> tuple[set[frozenset[Element]], bool]:
    """Sets for every way to answer. `others` are elements worth holding, `holds` what the predicates say of one."""
    named = set().union(*asked.literals) | {e for e in others if asked.elements and e in asked.elements.points}
    fresh = [element for element in others if element not in named]
    if asked.sizes:
        return _sized(asked, sorted(named, key=str), fresh)
    kinds: dict[object, list[Element]] = {}
    for element in sorted(named, key=str):
        key = (True, tuple(element in literal for literal in asked.literals), holds(element))
        kinds.setdefault(key, []).append(element)
    for element in fresh:
        kinds.setdefault((False, holds(element)), []).append(element)
    choices = [_Kind(tuple(elements), bool(key[0])).choices() for key, elements in kinds.items()]  # type: ignore[index]
    found: set[frozenset[Element]] = set()
    for picked in product(*choices):
        found.add(frozenset(chain.from_iterable(picked)))
        if len(found) > _MOST_SETS:
            return found, False
    return found, True


def _sized(asked: Asked, named: list[Element], fresh: list[Element]) -> tuple[set[frozenset[Element]], bool]:
    """Where sizes count, each named element is in or out, and others fill up."""
    largest = max(asked.sizes) + 1
    whole = not asked.predicates and len(named) <= 8 and largest <= len(fresh)
    found: set[frozenset[Element]] = set()
    for chosen in chain.from_iterable(combinations(named[:8], size) for size in range(len(named[:8]) + 1)):
        for more in range(min(largest, len(fresh)) + 1):
            found.add(frozenset([*chosen, *fresh[:more]]))
            if len(found) > _MOST_SETS:
                return found, False
    return found, whole


def subsets(elements: Sequence[Element]) -> set[frozenset[Element]]:
    """All sets of the elements of a finite type."""
    sizes = range(len(elements) + 1)
    return {frozenset(chosen) for chosen in chain.from_iterable(combinations(elements, n) for n in sizes)}
