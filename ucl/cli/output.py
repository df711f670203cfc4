"""What the commands say: complaints on standard error, colour only where a person reads, lines of JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from ucl.render import printable


class CommandError(Exception):
    """Wrong use or unreadable input: the command ends with status 2 and says `message`, with `help` below it."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def use_colour(stream: TextIO) -> bool:
    """Whether `stream` is a terminal whose owner did not turn colour off."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def complain(message: str, help: str | None = None) -> None:
    """`error: …` on standard error, and how to mend it."""
    head = "\x1b[1;31merror\x1b[0m" if use_colour(sys.stderr) else "error"
    print(f"{head}: {printable(message)}", file=sys.stderr)
    if help is not None:
        print(f"  = help: {printable(help)}", file=sys.stderr)


def remark(text: str) -> None:
    """A line on standard error that is no complaint: a summary, a note."""
    print(printable(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """One value on one line of standard output."""
    print(json.dumps(value, ensure_ascii=False))


def discard_output() -> None:
    """Gives up on standard output, so that the interpreter does not fail on it once more while it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        # Standard output is no file (a test captures it) or is closed: there is nothing to give up.
        return


def replace_file(path: Path, text: str) -> None:
    """Writes `text` to `path` as a whole or not at all; the file's mode stays as it was, and a link stays a link."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
