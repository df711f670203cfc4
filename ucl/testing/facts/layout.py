"""How a test file is laid out: lines that are not too long, words that stay words.

In: expressions and texts. Out: lines of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ucl.testing.facts.python import Edit
from ucl.widths import text_width

WIDTH = 110


def put_text(record: str, edits: Sequence[Edit]) -> str:
    """Edits of nested records by edits of the outer one."""
    if not edits:
        return record
    outer: dict[str, list[Edit]] = {}
    for path, text in edits:
        name, _, rest = path.partition(".")
        outer.setdefault(name, []).append((rest, text))
    written = []
    for name, inner in outer.items():
        written.append(f"{name}={inner[0][1] if not inner[0][0] else put_text(f'{record}.{name}', inner)}")
    return f"put({record}, {', '.join(written)})"


def row_lines(text: str) -> Iterator[str]:
    """One edited option, its changes one a line where they are long."""
    indent = " " * 16
    if text_width(text) + len(indent) < WIDTH or not text.startswith("put("):
        yield f"{indent}{text},"
        return
    yield f"{indent}put("
    for change in _split(text.removeprefix("put(").removesuffix(")")):
        name, _, value = change.partition("=")
        first, names, rest = value.rpartition(" - {")
        if text_width(change) + len(indent) < WIDTH - 6 or not names:
            yield f"{indent}    {change},"
        else:
            yield from (f"{indent}    {name}={first}", f"{indent}    - {{{rest},")
    yield f"{indent}),"


def _split(arguments: str) -> list[str]:
    """At the commas between arguments."""
    found, depth, in_text = [""], 0, False
    for place, c in enumerate(arguments):
        in_text ^= c == '"' and arguments[place - 1] != "\\"
        depth += 0 if in_text else (c in "([{") - (c in ")]}")
        if c == "," and depth == 0 and not in_text:
            found.append("")
        else:
            found[-1] += c
    return [each.strip() for each in found]


def docstring(text: str) -> Iterator[str]:
    lines = wrapped(prose(text), "", WIDTH - 10)
    if len(lines) == 1:
        yield f'    """{lines[0]}"""'
    else:
        yield from (f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """')


def wrapped(text: str, indent: str = "", width: int = 100) -> list[str]:
    """Lines that are no wider; what has no blanks, as Chinese has none, is cut between two letters."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1].strip() and text_width(f"{lines[-1]} {word}") > width:
            lines.append(indent)
        elif lines[-1].strip():
            lines[-1] += " "
        for letter in word:
            if not letter.isascii() and text_width(lines[-1] + letter) > width:
                lines.append(indent)
            lines[-1] += letter
    return lines


def prose(text: str) -> str:
    """Words inside a docstring: nothing in them ends it or is read as an escape."""
    shown = text.replace("\\", "\\\\").replace('"""', "'''")
    return "".join(c if c.isprintable() else " " for c in shown)


def plain_name(name: str) -> str:
    """In ASCII and lower case, as linters want names to be; ids keep them apart."""
    letters = re.sub(r"[^a-z0-9_]+", "_", name.casefold())
    return re.sub("__+", "_", letters).rstrip("_")


def uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.\"]){name}\b(?!=)", text) is not None
