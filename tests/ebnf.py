"""A recogniser for the EBNF of XGrammar and llama.cpp, in the part that both read: texts, classes, groups, repetition.

In: a grammar's text. Out: whether it has a text as a sentence, by Earley's algorithm over single characters (“An
efficient context-free parsing algorithm”, 1970), with nullable symbols as Aycock and Horspool (2002) treat them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[a-z][a-z0-9-]*)(?P<defines>\s*::=)?
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<class>\[(?:[^\]\\]|\\.)*\])
    | (?P<repeat>\{[0-9]+(?:,[0-9]*)?\}|[*+?])
    | (?P<sign>[()|])
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_SINGLE = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}

Symbol = str | Callable[[str], bool]


class Recogniser:
    def __init__(self, grammar: str) -> None:
        self.productions: dict[str, list[tuple[Symbol, ...]]] = {}
        self._made = 0
        self._tokens = [match for match in _TOKEN.finditer(grammar.rstrip()) if match[0].strip()]
        assert "".join(match[0] for match in self._tokens) == grammar.rstrip(), "the grammar has something else in it"
        self._next = 0
        while self._next < len(self._tokens):
            name = self._tokens[self._next]["name"]
            assert self._tokens[self._next]["defines"], self._tokens[self._next][0]
            self._next += 1
            self.productions.setdefault(name, []).extend(self._choice())
        self._nullable = self._find_nullable()
        used = {s for options in self.productions.values() for option in options for s in option if isinstance(s, str)}
        assert used <= self.productions.keys(), used - self.productions.keys()

    # --- reading ----------------------------------------------------------------------------------------------------

    def _choice(self) -> list[tuple[Symbol, ...]]:
        options = [self._sequence()]
        while self._next < len(self._tokens) and self._tokens[self._next]["sign"] == "|":
            self._next += 1
            options.append(self._sequence())
        return options

    def _sequence(self) -> tuple[Symbol, ...]:
        symbols: list[Symbol] = []
        while self._next < len(self._tokens):
            token = self._tokens[self._next]
            if token["defines"] or token["sign"] in ("|", ")"):
                break
            self._next += 1
            symbols += self._repeated(self._item(token))
        return tuple(symbols)

    def _item(self, token: re.Match[str]) -> tuple[Symbol, ...]:
        if token["name"]:
            return (token["name"],)
        if token["text"]:
            return tuple(_exactly(c) for c in _ESCAPE.sub(lambda m: _character(m[1]), token["text"][1:-1]))
        if token["class"]:
            return (_in_class(token["class"][1:-1]),)
        assert token["sign"] == "(", token[0]
        inner = self._new(self._choice())
        assert self._tokens[self._next]["sign"] == ")"
        self._next += 1
        return (inner,)

    def _repeated(self, item: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        repeat = self._tokens[self._next]["repeat"] if self._next < len(self._tokens) else None
        if repeat is None:
            return item
        self._next += 1
        least, most = _bounds(repeat)
        if most is None:
            more = self._new([()])
            self.productions[more].append((*item, more))
            return (*item * least, more)
        rest: tuple[Symbol, ...] = ()
        for _ in range(most - least):
            rest = (self._new([(), (*item, *rest)]),)
        return (*item * least, *rest)

    def _new(self, options: list[tuple[Symbol, ...]]) -> str:
        self._made += 1
        self.productions[f"_{self._made}"] = options
        return f"_{self._made}"

    def _find_nullable(self) -> set[str]:
        found: set[str] = set()
        while True:
            more = {n for n, options in self.productions.items() if any(all(s in found for s in o) for o in options)}
            if more == found:
                return found
            found = more

    # --- recognising ------------------------------------------------------------------------------------------------

    def accepts(self, text: str) -> bool:
        Item = tuple[str, tuple[Symbol, ...], int]  # noqa: N806
        current: dict[Item, None] = {("root", option, 0): None for option in self.productions["root"]}
        waiting: list[dict[str, list[Item]]] = []
        for position, character in enumerate([*text, None]):
            waiting.append({})
            scanned: dict[Item, None] = {}
            work = list(current)
            done = False
            while work:
                name, rest, origin = work.pop()
                for item in self._step(name, rest, origin, position, waiting):
                    if item not in current:
                        current[item] = None
                        work.append(item)
                if not rest:
                    done = done or (name == "root" and origin == 0)
                elif not isinstance(rest[0], str) and character is not None and rest[0](character):
                    scanned[name, rest[1:], origin] = None
            if character is None:
                return done
            current = scanned
        return False

    def _step(
        self,
        name: str,
        rest: Sequence[Symbol],
        origin: int,
        position: int,
        waiting: list[dict[str, list[tuple[str, tuple[Symbol, ...], int]]]],
    ) -> list[tuple[str, tuple[Symbol, ...], int]]:
        """The items that follow from one without reading on."""
        if not rest:
            return [(n, r[1:], o) for n, r, o in waiting[origin].get(name, ())]
        head = rest[0]
        if not isinstance(head, str):
            return []
        waiting[position].setdefault(head, []).append((name, tuple(rest), origin))
        found = [(head, option, position) for option in self.productions[head]]
        return [*found, (name, tuple(rest[1:]), origin)] if head in self._nullable else found


def _bounds(repeat: str) -> tuple[int, int | None]:
    if repeat in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[repeat]  # type: ignore[return-value]
    least, comma, most = repeat[1:-1].partition(",")
    return int(least), int(most or least) if most or not comma else None


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _SINGLE[escape]


def _exactly(wanted: str) -> Callable[[str], bool]:
    return lambda character: character == wanted


def _in_class(inner: str) -> Callable[[str], bool]:
    negated = inner.startswith("^")
    shown = [(m[0], _character(m[0][1:]) if m[0].startswith("\\") else m[0]) for m in _POINT.finditer(inner[negated:])]
    ranges, index = [], 0
    while index < len(shown):
        spans = index + 2 < len(shown) and shown[index + 1][0] == "-"
        ranges.append((shown[index][1], shown[index + 2 if spans else index][1]))
        index += 3 if spans else 1
    return lambda character: any(low <= character <= high for low, high in ranges) != negated


_POINT = re.compile(_ESCAPE.pattern + "|.", re.DOTALL)
