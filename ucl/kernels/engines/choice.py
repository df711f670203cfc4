"""Which engine answers: the portable one at once, or compiled kernels where they pay.

In: how much work there is. Out: an engine. Importing numba takes part of a second and compiling several, so small work
is never made to wait for either; where the portable engine would take longer still, kernels are compiled, once per
machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal

from ucl.kernels.engines import kernel_cache
from ucl.kernels.engines.portable import Portable
from ucl.kernels.execution.schedules import Engine

EngineName = Literal["auto", "portable", "numba"]

# What the portable engine takes for one mask of one row, about, and from how many seconds on the other is worth its
# start.
_PORTABLE_SECONDS = 2.5e-9
_WORTH_LOADING = 0.7
_WORTH_COMPILING = 4.0

_loaded: list[Engine] = []  # the compiled engine, once it is
_lock = threading.Lock()


def choose(name: EngineName, rows: int, masks: int, on_compile: Callable[[], None] | None = None) -> Engine:
    """The engine of that name, or what suits the work. `on_compile` is called before a wait of several seconds."""
    if name == "numba":
        return warm_up(on_compile)
    if name == "portable":
        return Portable()
    if _loaded:
        return _loaded[0]
    seconds = rows * masks * _PORTABLE_SECONDS
    if seconds < _WORTH_LOADING or (seconds < _WORTH_COMPILING and not kernel_cache.is_ready()):
        return Portable()
    try:
        return warm_up(on_compile)
    except ImportError:
        return Portable()


def warm_up(on_compile: Callable[[], None] | None = None) -> Engine:
    """The compiled engine, its kernels loaded from the cache or compiled now. Raises `ImportError` without numba."""
    with _lock:
        if not _loaded:
            if on_compile is not None and not kernel_cache.is_ready():
                on_compile()
            from ucl.kernels.engines import numba_engine  # imports numba

            numba_engine.load_kernels()
            _loaded.append(numba_engine.Compiled())
        return _loaded[0]
