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

        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
