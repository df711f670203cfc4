"""Doing a thing again whenever the files change that it is about.

In: files and folders that a user named, and what to do, which says which other files it looked at. Out: nothing, until
an interrupt ends it. Files are asked for their state, so it works on every system and every kind of disk.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ucl.cli.output import CommandError, complain, remark
from ucl.cli.source import program_files

# Seconds between two looks; a look that takes long is taken more rarely.
_PAUSE = 0.25
_SHARE = 10
# An editor may replace a file in two steps.
_SETTLING = 0.05

_State = dict[Path, tuple[int, int, int] | None]


def repeat(paths: list[Path], run: Callable[[set[Path]], object]) -> int:
    """Runs at once and after each change; `run` puts further files to watch into its argument. Status 0 at the end."""
    imported: set[Path] = set()
    try:
        while True:
            before = _state(paths, imported)
            looked_up: set[Path] = set()
            _clear()
            try:
                run(looked_up)
            except CommandError as error:
                complain(error.message, error.help)
            sys.stdout.flush()
            # What was watched already is compared with what it was before the run, the rest with what it is now.
            before = _state(paths, looked_up) | {
                path: before[path] for path in before if path not in imported - looked_up
            }
            imported = looked_up
            files = sum(state is not None for state in before.values())
            remark(f"watching {files} {'file' if files == 1 else 'files'}; Ctrl-C ends")
            _wait_for_change(paths, imported, before)
    except KeyboardInterrupt:
        return 0


def _wait_for_change(paths: list[Path], imported: set[Path], before: _State) -> None:
    while True:
        started = time.monotonic()
        if _state(paths, imported) != before:
            time.sleep(_SETTLING)
            return
        time.sleep(max(_PAUSE, _SHARE * (time.monotonic() - started)))


def _state(paths: list[Path], imported: Iterable[Path]) -> _State:
    """Of every file: when it was written, its size and its number on the disk; None where there is none."""
    try:
        named = list(program_files(paths))
    except CommandError:  # a folder without programs may get one
        named = []
    return {path: _stamp(path) for path in (*named, *imported)}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _clear() -> None:
    """On a terminal each run begins on an empty screen."""
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
