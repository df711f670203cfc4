"""Kernels compiled by a process of its own, so that nobody's request waits for them.

In: nothing. Out: the kernels in the cache, for this process as for later ones. Compiling in a thread would hold
Python's lock for half of the time, and could not end with the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from ucl.kernels.engines import kernel_cache

# A mark that says "somebody compiles" is believed for so many seconds.
_LONGEST = 300.0
_PROGRAM = "from ucl.kernels.engines import warming; warming.compile_here()"


def start() -> bool:
    """Starts the process, unless one is at it. False where none can be started, or nothing could be kept."""
    if not sys.executable or getattr(sys, "frozen", False) or not kernel_cache.is_writable():
        return False
    try:
        # `-P`: what lies in the current folder is not imported.
        subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True


def compile_here() -> None:
    """What that process does, at the lowest priority; nothing where another one is at it."""
    mark = kernel_cache.kernel_folder() / "compiling"
    if not _take(mark):
        return
    try:
        if hasattr(os, "nice"):
            os.nice(19)
        from ucl.kernels.engines.choice import warm_up

        warm_up()
    finally:
        mark.unlink(missing_ok=True)


def _take(mark: os.PathLike[str]) -> bool:
    """Whether the mark is ours. One that was left by a process that died is put aside after a while."""
    try:
        if time.time() - os.stat(mark).st_mtime > _LONGEST:
            os.unlink(mark)
    except OSError:
        pass
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True
