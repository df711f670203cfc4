"""What the commands say: complaints on standard error, colour only where a person reads, lines of JSON."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, TextIO

from ucl.render import printable
from ucl.widths import text_width

COMPILING = "compiling the kernels, once for this machine"


class CommandError(Exception):
    """Wrong use or unreadable input: the command ends with status 2 and says `message`, with `help` below it."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def use_colour(stream: TextIO) -> bool:
    """Whether `stream` is a terminal whose owner did not turn colour off."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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


def is_protected(path: Path) -> bool:
    """Whether it is a file that is not to be written, though its folder may let it be replaced."""
    return path.is_file() and (not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222)


def replace_file(path: Path, text: str | Iterable[str]) -> None:
    """Writes to `path` as a whole or not at all; the file's mode stays as it was, and a link stays a link. Raises
    `OSError`, for a file that is read-only too."""
    path = path.resolve()
    if is_protected(path):
        raise PermissionError(errno.EACCES, "Read-only file", str(path))
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as device:
            device.writelines([text] if isinstance(text, str) else text)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.writelines([text] if isinstance(text, str) else text)
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


# --- for reading ----------------------------------------------------------------------------------------------------


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[Sequence[str]], right: Set[int]
) -> Iterator[str]:
    """Aligned columns under their heads, those in `right` to the right; each row may have lines below it."""
    shown = [[printable(cell).replace("\n", " ") for cell in row] for row in [heads, *rows]]
    widths = [max(map(text_width, column)) for column in zip(*shown, strict=True)]
    for place, row in enumerate(shown):
        padding = [" " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [p + c if i in right else c + p for i, (c, p) in enumerate(zip(row, padding, strict=True))]
        yield "  ".join(cells).rstrip()
        yield from (f"{' ' * (widths[0] + 2)}{printable(line)}" for line in (below[place - 1] if place else ()))
