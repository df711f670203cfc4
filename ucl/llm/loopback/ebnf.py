"""Grammars as XGrammar and llama.cpp read them, in the syntax of llguidance.

In: rules `name ::= …` as `ucl.llm.grammar.targets` writes them. Out: the same in Lark. Rules whose names end in `-t`,
and classes of characters, are terminals: each becomes one regular expression, as it was before it was written as rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_RULE = re.compile(r"^([a-z][a-z0-9-]*) ::= ", re.MULTILINE)
_TOKEN = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*")|(?P<class>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-z][a-z0-9-]*)
    |(?P<times>\{[0-9,]+\}|[?*+])|(?P<sign>[()|])|(?P<space>\s+)""", re.VERBOSE)  # fmt: skip
_SIGNS = frozenset(".^$*+?()[]{}|\\/")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def lark_of(grammar: str) -> str | None:
    """None where the text is no such grammar."""
    parts = _RULE.split(grammar)
    if len(parts) < 3 or parts[0].strip():
        return None
    rules = dict(zip(parts[1::2], parts[2::2], strict=True))
    lines = []
    for name, body in rules.items():
        if _is_class(name):
            continue
        try:
            written = f"/{_regex(body, rules)}/" if _is_terminal(name) else " ".join(_in_rule(body))
        except KeyError:
            return None
        lines.append(f"{_named(name)}: {written}")
    return "\n".join(lines) + "\n"


def _is_terminal(name: str) -> bool:
    return name.endswith("-t")


def _is_class(name: str) -> bool:
    return name.startswith("characters-")


def _named(name: str) -> str:
    if name == "root":
        return "start"
    return name.replace("-", "_").upper() if _is_terminal(name) else name.replace("-", "_")


def _tokens(body: str) -> Iterator[tuple[str, str]]:
    """Raises `KeyError` at what is no token."""
    place = 0
    body = body.strip()
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None or match.lastgroup is None:
            raise KeyError(body[place])
        place = match.end()
        if match.lastgroup != "space":
            yield match.lastgroup, match.group()


def _in_rule(body: str) -> Iterator[str]:
    for kind, text in _tokens(body):
        yield _named(text) if kind == "name" else f"/{text}/" if kind == "class" else text


def _regex(body: str, rules: Mapping[str, str]) -> str:
    written = []
    for kind, text in _tokens(body):
        match kind:
            case "name":
                written.append(f"({_regex(rules[text], rules)})")
            case "text":
                inner = re.sub(r"\\(.)", lambda m: _ESCAPES[m.group(1)], text[1:-1])
                quoted = "".join("\\n" if c == "\n" else f"\\{c}" if c in _SIGNS else c for c in inner)
                written.append(quoted if len(inner) == 1 else f"({quoted})")
            case _:
                written.append(text)
    return "".join(written)
