"""The tables of the language reference, from the tables that the compiler itself reads.

In: the rows of `semantics.builtins` and the sources of the standard library. Out: Markdown, between the marks that
`grammar/LANGUAGE.md` has for it. `python -m ucl.reference` prints it, and `--write` puts it in its place; a test holds
the two together, so that a builtin can't be there without being documented.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ucl.resources import stdlib_modules, stdlib_source
from ucl.semantics.builtins import (
    FUNCTIONS,
    OPERATORS,
    PARTS,
    SPECIAL_FORMS,
    Pattern,
    SetOf,
    Signature,
    Var,
)

OPENING, CLOSING = "<!-- tables -->", "<!-- /tables -->"
_LEGEND = """\
In these tables `Q` stands for any one dimension, `O` for what has an order (int, float, quantity, duration, date, time,
datetime), `E` for what a set can hold. An int is taken where a float stands; `?` marks a result that may be absent."""


def tables() -> str:
    """The whole generated section, without its marks."""
    sections = (_operators(), _functions(), _special_forms(), _parts(), _standard_library())
    return "\n".join((_LEGEND, *("\n" + "\n".join(lines) for lines in sections)))


def with_tables(reference: str) -> str:
    """The reference's text with what stands between the marks replaced. Raises ValueError where a mark is missing."""
    start = reference.index(OPENING) + len(OPENING)
    return f"{reference[:start]}\n\n{tables()}\n\n{reference[reference.index(CLOSING) :]}"


def _operators() -> Iterator[str]:
    yield from _heading("19.1 Operators", "operator", "types")
    for operator, signatures in OPERATORS.items():
        word = "-" if operator == "negate" else operator
        label = f"{word}x" if operator == "negate" else word
        yield _row(f"`{label}`", " · ".join(f"`{_operation(word, signature)}`" for signature in signatures))


def _operation(word: str, signature: Signature) -> str:
    operands = [_shown(parameter) for parameter in signature.parameters]
    applied = f"{word}{operands[0]}" if len(operands) == 1 else f" {word} ".join(operands)
    return f"{applied} -> {_result(signature)}"


def _functions() -> Iterator[str]:
    yield from _heading("19.2 Functions", "function", "types", "", "example")
    for name, builtin in FUNCTIONS.items():
        types = " · ".join(dict.fromkeys(f"`{_call_types(signature)}`" for signature in builtin.signatures))
        yield _row(f"`{name}`", types, builtin.summary, f"`{builtin.example}`")


def _call_types(signature: Signature) -> str:
    return f"({', '.join(map(_shown, signature.parameters))}) -> {_result(signature)}"


def _special_forms() -> Iterator[str]:
    yield from _heading("19.3 Special forms", "form", "", "example")
    for form in SPECIAL_FORMS.values():
        yield _row(f"`{form.usage}`", form.summary, f"`{form.example}`")


def _parts() -> Iterator[str]:
    yield from _heading("19.4 Parts", "of", "part", "type")
    for (owner, part), signature in PARTS.items():
        yield _row(f"`{owner}`", f"`.{part}`", f"`{signature.result}`")


def _standard_library() -> Iterator[str]:
    yield "### 19.5 The standard library's source"
    for module in stdlib_modules():
        source = stdlib_source(module)
        if source is not None:
            yield from ("", f"#### `{module}`", "", "```ucl", source[1].strip(), "```")


def _heading(title: str, *columns: str) -> Iterator[str]:
    yield from (f"### {title}", "", _row(*columns), _row(*("---" for _ in columns)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _result(signature: Signature) -> str:
    return _shown(signature.result) + ("?" if signature.partial else "")


def _shown(pattern: Pattern) -> str:
    match pattern:
        case Var(name):
            return name
        case SetOf(element):
            return f"set<{element.name}>"
        case _:
            return str(pattern)


def main(arguments: Iterable[str]) -> None:
    """Prints the section; with `--write` puts it into `grammar/LANGUAGE.md` of this checkout."""
    if "--write" in arguments:
        path = Path(__file__).resolve().parent.parent / "grammar" / "LANGUAGE.md"
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(tables())


if __name__ == "__main__":
    main(sys.argv[1:])
