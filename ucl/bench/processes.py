"""What a fresh process takes to its first scores, with kernels that are compiled already and without.

In: how many repeats. Out: lines. Without them the table is scored by the path that needs no compiling.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from statistics import median

_TEXT = 'schema S { n: int  kind: "a" | "b" }\nrule r on S { when n > 3 and kind == "a" score 0.5 }'
_PROGRAM = f"""
import ucl
result = ucl.compile({_TEXT!r}).score([{{"n": n, "kind": "ab"[n % 2]}} for n in range(1000)])
assert result.total.sum() > 0
"""


def first_process(repeats: int) -> None:
    """Wall-clock seconds from starting Python to 1,000 scored rows."""
    with tempfile.TemporaryDirectory() as empty:
        known = {**os.environ}
        for name, environment in (("filled", known), ("empty", {**known, "UCL_CACHE_DIR": empty})):
            taken = [_seconds(environment) for _ in range(repeats)]
            spread = f"({min(taken):.2f} to {max(taken):.2f})"
            print(f"a first process to 1,000 scores, kernel cache {name}: {median(taken):.2f} s {spread}")


def _seconds(environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, check=True)
    return time.perf_counter() - start
