"""Which engine answers: the portable one at once, or compiled kernels where they pay.

In: how much work there is. Out: an engine. Importing numba takes part of a second and compiling many, so small work
never waits for either. A process loads the compiled engine once the portable one has taken as long as loading takes
(the ski rental rule: at most twice the time of who knows the future). Kernels are compiled once per machine, by another
process, while this one goes on with the portable engine; only where that can't be, or takes too long, it compiles.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ucl.kernels.engines.engine import Engine
from ucl.kernels.engines.portable import Portable

EngineName = Literal["auto", "portable", "numba"]

# What the portable engine takes for one mask of one row, about, and for how many rows as long before the first one; and
# how long starting the other engine takes.
_PORTABLE_SECONDS = 2.5e-9
_ROWS_BEFORE = 1000
_LOADING = 0.4
_COMPILING = 15.0
# Of work without compiled kernels, so many seconds are borne while another process should be compiling them.
_PATIENCE = 60.0


@dataclass
class Process:
    """What this process has done so far: the compiled engine once it is there, seconds of portable work until then,
    and whether it asked another process to compile, and that one started."""

    compiled: Engine | None = None
    portable_seconds: float = 0.0
    asked: bool = False
    helped: bool = False


_process = Process()
_lock = threading.Lock()


# A little less than the largest array by whose size glibc lets itself be told how much to keep.
_KEPT_BYTES = 32_000_000


@cache
def keep_freed_memory() -> None:
    """Asks the C library to keep what one block's arrays took for those of the next one.

    glibc gives free memory back to the system beyond a threshold that starts at 128 KiB, and taking it again, page by
    page, costs nearly as much as scoring does. Freeing a large array raises the threshold to twice its size, for good.
    Other libraries take no notice, and the array's pages are never touched.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def choose(name: EngineName, rows: int, masks: int, on_compile: Callable[[], None] | None = None) -> Engine:
    """The engine of that name, or what suits the work. `on_compile` is called before a wait of several seconds."""
    keep_freed_memory()
    if name == "numba":
        return warm_up(on_compile)
    if name == "portable":
        return Portable()
    if _process.compiled is not None:
        return _process.compiled
    _process.portable_seconds += (_ROWS_BEFORE + rows) * masks * _PORTABLE_SECONDS
    if _process.portable_seconds < _LOADING:
        return Portable()
    from ucl.kernels.engines import kernel_cache

    if not kernel_cache.is_ready() and _process.portable_seconds < (_PATIENCE if _helped() else _COMPILING):
        return Portable()
    try:
        return warm_up(on_compile)
    except ImportError:
        return Portable()


def _helped() -> bool:
    """Whether another process was started that compiles, now or before."""
    from importlib.util import find_spec

    from ucl.kernels.engines import warming

    with _lock:
        if not _process.asked:
            _process.asked = True
            _process.helped = find_spec("numba") is not None and warming.start()
        return _process.helped


def warm_up(on_compile: Callable[[], None] | None = None) -> Engine:
    """The compiled engine, its kernels loaded from the cache or, once `on_compile` was called, compiled now.

    Raises `ImportError` without numba.
    """
    with _lock:
        if _process.compiled is None:
            from ucl.kernels.engines import numba_engine  # imports numba

            numba_engine.load_kernels(on_compile)
            _process.compiled = numba_engine.Compiled()
        return _process.compiled
