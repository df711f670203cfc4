"""Names for new declarations, of which none clashes with what the program has, nor with another of the same answer.

In: the names that are taken. Out: a terminal for the name of an answer's first declaration, which is any name that is
not taken: all words, minus a tree of those that are. A grammar can't compare two names, so those of the second, third,
… declaration begin with just these words, and that of the first with none of them.

The tree of taken names is written out only so far; names that begin like one of those beyond are left out, and can be
had behind the word `new_`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from itertools import chain as joined
from itertools import count

from ucl.llm.grammar.forms import Chars, Form, Literal, chain, chars, choice, maybe, times
from ucl.syntax.reading.lexer import RESERVED

MOST_DECLARATIONS = 8
_ORDINALS = ("second_", "third_", "fourth_", "fifth_", "sixth_", "seventh_", "eighth_")
# A rule called so would hide the prefix of `option.x`.
_PREFIXES = frozenset(("option", "context", "memory"))
_MOST_NODES = 400
_DEEPEST = 40
_LONGEST = 60

_FIRST_ASCII = "A-Z_a-z"
_ASCII = "0-9A-Z_a-z"
# Letters that stand in names everywhere and that NFC leaves alone, next to whatever they stand.
_LETTERS = "À-ÖØ-öø-ʯΑ-ΡΣ-ωЀ-ҁҊ-ԯぁ-ゖァ-ヺ一-鿿가-힣"
REST_OF_NAME = times(chars(_ASCII + _LETTERS), 1, _LONGEST)


def new_names(taken: Collection[str]) -> tuple[Form, tuple[str, ...]]:
    """The terminal for the name of the first declaration; and the words with which those of the others begin."""
    free = _free_prefixes(taken)
    escape, *later = (next(free) for _ in range(MOST_DECLARATIONS))
    tree = _tree([*taken, *RESERVED, *_PREFIXES], later)
    names = _outside(tree)
    if any(node.cut and not node.kept for node in tree.below()):
        names = [*names, chain(escape, REST_OF_NAME)]
    return choice(*names), tuple(later)


def _free_prefixes(taken: Collection[str]) -> Iterator[str]:
    """Words with which no taken name begins."""
    numbered = (f"new{number}_" for number in count(2))
    for prefix in joined(("new_",), _ORDINALS, numbered):
        if not any(name.startswith(prefix) for name in taken):
            yield prefix


class _Node:
    """The names that begin with one prefix. `word`: the prefix itself is taken; `cut`: all that begins with it is left
    out, which is meant where it is `kept` for later declarations."""

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.word = False
        self.cut = False
        self.kept = False

    def below(self) -> Iterator[_Node]:
        work = [self]
        while work:
            node = work.pop()
            yield node
            work.extend(node.next.values())


def _tree(words: Collection[str], kept: Collection[str]) -> _Node:
    root = _Node()
    for word in words:
        _enter(root, word[: _DEEPEST + 1]).word = True
    for prefix in kept:
        node = _enter(root, prefix)
        node.cut = node.kept = True
    waiting = deque([(root, 0)])
    nodes = 0
    while waiting:
        node, depth = waiting.popleft()
        nodes += 1
        if not node.kept and (nodes > _MOST_NODES or depth > _DEEPEST):
            node.cut = True
        if node.cut:
            node.next.clear()
        waiting.extend((child, depth + 1) for child in node.next.values())
    return root


def _enter(node: _Node, word: str) -> _Node:
    for character in word:
        node = node.next.setdefault(character, _Node())
    return node


def _outside(root: _Node) -> list[Form]:
    """The names that leave the tree, and those that end within it at a prefix which is no taken name."""
    ascii_children = {c: node for c, node in root.next.items() if c.isascii()}
    other_children = {c: node for c, node in root.next.items() if not c.isascii()}
    found = []
    for first, after, children in (
        (_FIRST_ASCII, _ASCII, ascii_children),
        (_LETTERS, _ASCII + _LETTERS, other_children),
    ):
        found.append(chain(_leaving(first, after, children), times(chars(after), 0, _LONGEST)))
        ends = _ending(children)
        found += [] if ends is None else [ends]
    return found


def _leaving(here: str, after: str, children: dict[str, _Node]) -> Form:
    """The shortest beginnings that no word of the tree has. `here` and `after` are the characters that names have at
    this place and further on."""
    options: list[Form] = [_without(here, children)]
    for character, node in sorted(children.items()):
        if not node.cut:
            options.append(chain(character, _leaving(after, after, node.next)))
    return choice(*options)


def _ending(children: dict[str, _Node]) -> Form | None:
    """The beginnings of words that are no words themselves."""
    options: list[Form] = []
    for character, node in sorted(children.items()):
        longer = None if node.cut else _ending(node.next)
        if node.word or node.cut:
            options += [] if longer is None else [chain(character, longer)]
        else:
            options.append(Literal(character) if longer is None else chain(character, maybe(longer)))
    return choice(*options) if options else None


def _without(ranges: str, left_out: Collection[str]) -> Form:
    """The characters of `ranges` but these."""
    known = chars(ranges)
    assert isinstance(known, Chars)
    found = list(known.ranges)
    for point in sorted(map(ord, left_out)):
        found = [
            piece
            for low, high in found
            for piece in (((low, point - 1), (point + 1, high)) if low <= point <= high else ((low, high),))
            if piece[0] <= piece[1]
        ]
    return Chars(tuple(found))
