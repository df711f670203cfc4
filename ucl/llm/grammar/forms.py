"""What grammars are made of, before they are written for one engine or another.

Two kinds of definition share these forms. A terminal is regular and is read in one piece, so an enumeration of a
thousand names costs a decoder no more than one; a rule joins terminals and other rules.

In: the constructors below. Out: a `Grammar`, for `targets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ucl.frozen import frozen


@frozen
class Literal:
    text: str


@frozen
class Chars:
    """One character from the ranges, or with `negated` one outside them; ends are code points, both included."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


@frozen
class Chain:
    parts: tuple[Form, ...]


@frozen
class Choice:
    options: tuple[Form, ...]


@frozen
class Times:
    """Between `least` and `most` of it; any number where `most` is None."""

    part: Form
    least: int
    most: int | None


@frozen
class Use:
    """A rule or a terminal, by its name. Stands in rules only."""

    name: str


Form = Literal | Chars | Chain | Choice | Times | Use


@frozen
class Grammar:
    """Rules have names in lower case, the first of them is `start`; terminals have names in upper case."""

    rules: Mapping[str, Form]
    terminals: Mapping[str, Form]


def form(part: Form | str) -> Form:
    return Literal(part) if isinstance(part, str) else part


_NOTHING = Literal("")


def chain(*parts: Form | str) -> Form:
    """One after the other; empty texts are left out."""
    kept = tuple(part for part in map(form, parts) if part != _NOTHING)
    return kept[0] if len(kept) == 1 else Chain(kept)


def choice(*options: Form | str) -> Form:
    """One of the options, of which there must be one at least. In a terminal one that begins another comes after it."""
    assert options
    return form(options[0]) if len(options) == 1 else Choice(tuple(map(form, options)))


def one_of(words: Iterable[str]) -> Form:
    """The longest first: where one word begins another, Python's regular expressions take the first that fits."""
    return choice(*sorted(set(words), key=lambda word: (-len(word), word)))


def maybe(*parts: Form | str) -> Form:
    return Times(chain(*parts), 0, 1)


def many(*parts: Form | str) -> Form:
    return Times(chain(*parts), 0, None)


def times(part: Form | str, least: int, most: int | None = None) -> Form:
    """From `least` to `most`, or exactly `least` where no `most` is given."""
    most = least if most is None else most
    return Times(form(part), least, most) if most else _NOTHING


def chars(ranges: str) -> Form:
    """`chars("0-9_")`, as in a regular expression, without escapes."""
    found = []
    while ranges:
        step = 3 if ranges[1:2] == "-" and len(ranges) > 2 else 1
        found.append((ord(ranges[0]), ord(ranges[step - 1])))
        ranges = ranges[step:]
    return Chars(tuple(found))


DIGIT = chars("0-9")
