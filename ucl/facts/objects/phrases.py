"""Phrases of objects: folded, taken apart, and what they can come to.

In: text. Out: its parts, for `moments`, `ordered` and `reading` to read; `Named`, a condition for each subject.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from ucl.facts.objects import words
from ucl.facts.objects.clocks import Unread
from ucl.facts.regions import Condition, Subject
from ucl.frozen import frozen


@frozen
class Named:
    """`turned` where it is the contrary that is meant: `prefers not_after_17:00` speaks against what is after 17:00."""

    conditions: tuple[tuple[Subject, Condition], ...]
    turned: bool = False


Reading = Named | Unread


def nothing(phrase: str, subject: Subject) -> Unread:
    return Unread(f"`{phrase}` names nothing that `{subject.name}` can be")


def plain(text: str) -> str:
    """Full width made half, lower case, `_` for a blank."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(folded.split())


def stripped(phrase: str) -> Iterator[str]:
    """The phrase, and without the words that say nothing about which part it is."""
    yield phrase
    bare = phrase
    while (word := next((w for w in words.ADVERBS if bare.startswith(f"{w} ")), None)) is not None:
        bare = bare.removeprefix(f"{word} ")
    for word in words.CHINESE_ADVERBS:
        bare = bare.replace(word, "")
    if bare != phrase:
        yield bare


def begins(phrase: str, word: str) -> bool:
    """As a whole word, where it is one of letters: `afternoon` is not after noon."""
    after = phrase[len(word) : len(word) + 1]
    return phrase.startswith(word) and not (word[-1].isascii() and word[-1].isalpha() and after.isalpha())


def pairs(phrase: str) -> Iterator[tuple[str, str]]:
    """Both sides of whatever may join the ends of a range."""
    bare = phrase.removeprefix("from ").removeprefix("between ").removeprefix("从")
    joiners = (*words.JOINERS, " and ") if phrase.startswith("between ") else words.JOINERS
    for joiner in joiners:
        first, found, second = bare.partition(joiner)
        if found and first.strip() and second.strip() and joiner not in second:
            yield first.strip(), second.strip()


def split(phrase: str, separators: Sequence[str]) -> list[str]:
    parts = [phrase]
    for separator in separators:
        parts = [each.strip() for part in parts for each in part.split(separator) if each.strip()]
    return parts
