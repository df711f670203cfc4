"""Commands about the commands and what they say: `explain-code`."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ucl.cli.output import CommandError, print_json, use_colour

if TYPE_CHECKING:
    from ucl.codes import Code, Example


def add_explain_code(parser: ArgumentParser) -> None:
    parser.add_argument("code", metavar="CODE", nargs="?", help="the word in brackets, such as `unknown-name`")
    parser.add_argument("--list", action="store_true", help="print all codes, each with what it means")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="words, or one JSON object a line")


def explain_code(code: str | None, list: bool, format: str) -> int:
    """Prints what a code means, a program that gives it and one that is mended."""
    from ucl.codes import documented

    codes = documented()
    if (code is None) != list:
        raise CommandError("name one code to explain", "`uclc explain-code --list` prints them all")
    chosen = [*codes.values()] if code is None else [_find(code.strip("[]"), codes)]
    if format == "json":
        for found in chosen:
            print_json(_as_json(found))
    elif code is None:
        width = max(map(len, codes))
        for found in chosen:
            print(f"{found.code:<{width}}  {found.severity:<7}  {found.meaning}")
    else:
        print("\n".join(_page(chosen[0])))
    return 0


def _find(word: str, codes: Any) -> Code:
    from ucl.semantics.suggest import nearest

    if word in codes:
        found: Code = codes[word]
        return found
    near = nearest(word, codes)
    mend = "`uclc explain-code --list` prints them all" if near is None else f"did you mean `{near}`?"
    raise CommandError(f"there is no code `{word}`", mend)


def _page(code: Code) -> Iterator[str]:
    import sys

    head = f"{code.severity}[{code.code}]"
    yield f"\x1b[1m{head}\x1b[0m: {code.meaning}" if use_colour(sys.stdout) else f"{head}: {code.meaning}"
    if code.advice:
        yield ""
        yield code.advice
    for title, examples in (("This gives it:", code.bad), ("This does not:", code.good)):
        yield ""
        yield title
        yield from _programs(examples)


def _programs(examples: Sequence[Example]) -> Iterator[str]:
    for example in examples:
        yield ""
        if len(examples) > 1:
            yield f"    # {example.name}"
        yield textwrap.indent(example.shown.rstrip(), "    ")
        if example.repeat > 1:
            yield ""
            yield f"    (what stands between ⟨ and ⟩ is meant {example.repeat} times)"


def _as_json(code: Code) -> dict[str, Any]:
    return {
        "code": code.code,
        "severity": str(code.severity),
        "meaning": code.meaning,
        "advice": code.advice,
        "bad": {example.name: example.text for example in code.bad},
        "good": {example.name: example.text for example in code.good},
    }
