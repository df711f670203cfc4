"""Facts as commands take them: the options that say how to read them, and what is said of a file that can't be opened.

In: the words of a command line. Out: a `FactsFile`; a `CommandError` in place of an `OSError`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ucl.cli.source import unreadable


def add_facts_options(parser: ArgumentParser) -> None:
    """`--schema`, `--vocabulary` and `--habits`."""
    add = parser.add_argument
    add("--schema", metavar="S", help="what the facts are about, where the program has rules on several schemas")
    add("--vocabulary", metavar="F", type=Path, help="TOML or JSON: which field a topic of the facts is about")
    add("--habits", action="store_true", help="test what was only seen too, often enough to be a habit")


@contextmanager
def opened(facts: Path) -> Iterator[None]:
    """Around the reading of facts and of their vocabulary."""
    try:
        yield
    except OSError as error:
        raise unreadable(facts, error) from None
