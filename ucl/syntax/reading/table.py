"""From `grammar/ucl.lark` to the LALR table that `parse` runs on.

Lark reads the grammar and computes the table; that takes most of a second, so the result is kept beside this module as
`table.json` and is used as long as it was made from the very grammar that is installed (their hashes agree). Where it
was not, Lark computes the table again, in memory. After a change to the grammar:

    python -m ucl.syntax.reading.table

In: the grammar's text. Out: a `Table`, with the terminals called as in `lexer`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.frozen import frozen
from ucl.resources import grammar_text
from ucl.syntax.reading.lexer import END, IN_WORD, LONGEST_NAME, words

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

_FILE = Path(__file__).with_name("table.json")
_FORMAT = 1


class Effect(IntEnum):
    """What a reduction makes of the values of a rule's right-hand side."""

    PASS = 0
    """The one value itself: a `?rule` with one symbol."""
    GATHER = 1
    """A list, to be spliced into the parent: `_rule` and what `*` and `+` expand to."""
    BUILD = 2
    """What the builder's function of that name makes of them."""


@frozen
class Reduction:
    """One production.

    `picks` says which values of the right-hand side count: `i` the i-th, `-1` None for an optional part that is not
    there, `-2 - i` the elements of the i-th, a list.
    """

    effect: Effect
    name: str
    target: str
    size: int
    picks: tuple[int, ...]

    @property
    def is_unit(self) -> bool:
        """Whether reducing changes neither the value nor its extent."""
        return self.effect is Effect.PASS


@frozen
class Table:
    """The machine's states, of which it begins in `initial` and ends in `accepting`, at the end of the file.

    `actions[state][terminal]` is the next state, or `-1 - r` to reduce by reduction r.

    `gotos[state][nonterminal]` is the state after a reduction to it.
    """

    reductions: tuple[Reduction, ...]
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    initial: int
    accepting: int


@cache
def load() -> Table:
    """The table of the installed grammar."""
    text = grammar_text()
    try:
        kept = json.loads(_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    if kept.get("format") != _FORMAT or kept.get("grammar") != _digest(text):
        kept = encode(text)
    return _decode(kept)


def encode(grammar: str) -> dict[str, Any]:
    """The table as JSON data. Rows that states share are written once, and reductions by the set of their terminals."""
    parser = lark_parser(grammar)
    names = {t.name: _terminal_key(t) for t in parser.terminals} | {END: END}
    lalr = parser.parser.parser._parse_table
    rules = sorted(set(parser.rules), key=str)
    numbers = {rule: number for number, rule in enumerate(rules)}
    order = _in_order(lalr.states, lalr.start_states["start"])
    pool = _Pool()
    states = []
    for state in order:
        shifts: dict[str, int] = {}
        gotos: dict[str, int] = {}
        reduced: dict[int, list[str]] = {}
        for symbol, (action, argument) in lalr.states[state].items():
            if str(action) == "Reduce":
                reduced.setdefault(numbers[argument], []).append(names[symbol])
            elif symbol in names:
                shifts[names[symbol]] = order[argument]
            else:
                gotos[symbol] = order[argument]
        reduces = [[number, pool.add(sorted(terminals))] for number, terminals in sorted(reduced.items())]
        states.append([pool.add(dict(sorted(shifts.items()))), pool.add(dict(sorted(gotos.items()))), reduces])
    return {
        "format": _FORMAT,
        "grammar": _digest(grammar),
        "initial": 0,
        "accepting": order[lalr.end_states["start"]],
        "reductions": [_encode_rule(rule) for rule in rules],
        "shared": pool.items,
        "states": states,
    }


def _in_order(states: dict[int, dict[str, tuple[Any, Any]]], initial: int) -> dict[int, int]:
    """Numbers for the states, in the order of first reaching them: Lark's own change from run to run."""
    order = {initial: 0}
    for state in (reached := [initial]):
        for _, (action, target) in sorted(states[state].items()):
            if str(action) == "Shift" and target not in order:
                order[target] = len(order)
                reached.append(target)
    return order


def lark_parser(grammar: str | None = None) -> Lark:
    """Lark's own parser of the grammar, which knows where words end: slow to make, for tables and for tests."""
    from lark import Lark

    return Lark(
        grammar_text() if grammar is None else grammar,
        parser="lalr",
        lexer="contextual",
        edit_terminals=_end_words,
        maybe_placeholders=True,
    )


def _end_words(terminal: TerminalDef) -> None:
    """Keep a keyword from matching the beginning of a longer word, and prefer it to a name.

    Python's `\\w` leaves out the marks that some scripts write vowels with; names take them as our lexer does.
    """
    from lark.lexer import PatternRE

    if _is_word(terminal):
        terminal.pattern = PatternRE(rf"(?:{terminal.pattern.to_regexp()})(?!\w)", terminal.pattern.flags)
        terminal.priority = 1
    elif terminal.name == "NAME":
        terminal.pattern = PatternRE(rf"[^\W\d]{IN_WORD}{{0,{LONGEST_NAME - 1}}}", terminal.pattern.flags)
    elif terminal.name == "QUALIFIER":
        terminal.pattern = PatternRE(terminal.pattern.value + r"(?!\.)", terminal.pattern.flags)
        terminal.priority = 2


def _is_word(terminal: TerminalDef) -> bool:
    return terminal.pattern.type == "str" and terminal.pattern.value.isalpha()


def _terminal_key(terminal: TerminalDef) -> str:
    """Its fixed text, or its name. `_end_words` has made patterns of the words, whose names are their capitals."""
    if terminal.pattern.type == "str":
        return terminal.pattern.value
    return terminal.name if terminal.name in _PATTERNS else terminal.name.lower()


_PATTERNS = frozenset(
    words(
        "RANGE_OP QUALIFIER INT_RANGE_OP INT LONG_INT FLOAT PERCENT QUANTITY TIME DATE DATETIME TEXT NAME COMMENT SPACE"
    )
)


def _encode_rule(rule: LarkRule) -> list[Any]:
    """Lark's way from a production to a tree node, as data: which children count, and what is made of them."""
    from lark.grammar import Terminal

    absent = rule.options.empty_indices or [False] * len(rule.expansion)
    picks: list[int] = []
    position = 0
    for missing in absent:
        if missing:
            picks.append(-1)
            continue
        symbol = rule.expansion[position]
        if not (isinstance(symbol, Terminal) and symbol.filter_out):
            spliced = not symbol.is_term and symbol.name.startswith("_")
            picks.append(-2 - position if spliced else position)
        position += 1
    target = rule.origin.name
    if target.startswith("_"):
        effect = Effect.GATHER
    elif rule.options.expand1 and rule.alias is None and picks == [0] and len(rule.expansion) == 1:
        effect = Effect.PASS
    else:
        effect = Effect.BUILD
    return [int(effect), rule.alias or target, target, len(rule.expansion), picks]


class _Pool:
    """Gives equal JSON values one number."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[str, int] = {}

    def add(self, item: Any) -> int:
        key = json.dumps(item)
        if key not in self._numbers:
            self._numbers[key] = len(self.items)
            self.items.append(item)
        return self._numbers[key]


def _decode(kept: dict[str, Any]) -> Table:
    shared = kept["shared"]
    actions = []
    for shifts, _, reduces in kept["states"]:
        row: dict[str, int] = dict(shared[shifts])
        for number, terminals in reduces:
            row.update(_same(shared[terminals], -1 - number))
        actions.append(row)
    return Table(
        reductions=tuple(
            Reduction(Effect(effect), name, target, size, tuple(picks))
            for effect, name, target, size, picks in kept["reductions"]
        ),
        actions=tuple(actions),
        gotos=tuple(shared[gotos] for _, gotos, _ in kept["states"]),
        initial=kept["initial"],
        accepting=kept["accepting"],
    )


def _same(keys: Iterable[str], value: int) -> dict[str, int]:
    return dict.fromkeys(keys, value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    _FILE.write_text(json.dumps(encode(grammar_text()), separators=(",", ":")) + "\n", encoding="utf-8")
