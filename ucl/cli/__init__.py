"""The command line `uclc`: arguments in, results on standard output, everything else on standard error.

Exit status: 0 fine; 1 an error found or, with `--strict`, a warning; 2 wrong use or unreadable input; 130 interrupted.
Commands are imported when they are called, and heavy parts inside them, so that `check` and `fmt` start at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status. A user never sees a traceback."""
    try:
        from ucl.cli.app import run

        if arguments is None:
            arguments = sys.argv[1:]
            if arguments[:1] != ["bench"]:
                sys.meta_path.insert(0, _NoPandas())
        return run(list(arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


class _NoPandas:
    """Hides pandas from a process that is ours and has no data frames: pyarrow imports it, where it is installed, to
    convert any list, which would be half the time of scoring a small table."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("not for the command line", name=name)
